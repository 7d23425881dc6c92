//! Codes for differences: the value is the prediction plus an even multiple of the bound, or stored as it is.

use super::fault;
use crate::CodecError;
use fw_bytes::{Cursor, Detail};

/// The quantiser section of a stream being decoded: bound, radius and the values no code could express.
#[derive(Debug)]
pub(super) struct Quantizer<'a> {
    /// Bound of the finest level.
    pub(super) error_bound: f64,
    /// The code of "as predicted".
    pub(super) radius: i32,
    unpredictable: &'a [u8],
}

impl<'a> Quantizer<'a> {
    pub(super) fn parse(cursor: &mut Cursor<'a>) -> Result<Self, CodecError> {
        let at = cursor.position();
        let tag = cursor.u8("quantiser tag").map_err(fault::inner)?;
        if tag != TAG {
            let (expected, found) = (Detail::Number(TAG.into()), Detail::Number(tag.into()));
            return Err(fault::wrong_inside("bad_quantiser", "quantiser tag", expected, found, at));
        }
        let error_bound = cursor.f64_le("quantiser bound").map_err(fault::inner)?;
        let at = cursor.position();
        let radius = cursor.i32_le("quantiser radius").map_err(fault::inner)?;
        if !(0..=MAX_SYMBOL).contains(&radius) {
            let (expected, found) = (Detail::AtMost(MAX_SYMBOL as u64), Detail::Hex((radius as u32).into()));
            return Err(fault::wrong_inside("bad_quantiser", "quantiser radius", expected, found, at));
        }
        let count = cursor.u64_le("number of unpredictable values").map_err(fault::inner)?;
        let unpredictable = cursor.take_u64(count.saturating_mul(8), "unpredictable values").map_err(fault::inner)?;
        Ok(Self { error_bound, radius, unpredictable })
    }

    /// The value a code stands for.
    #[inline]
    pub(super) fn recover(&mut self, prediction: f64, code: u32, error_bound: f64) -> Result<f64, CodecError> {
        if code == UNPREDICTABLE { self.take() } else { Ok(dequantize(prediction, code, self.radius, error_bound)) }
    }

    /// The next value that was stored as it is.
    pub(super) fn take(&mut self) -> Result<f64, CodecError> {
        match self.unpredictable.split_first_chunk() {
            Some((value, rest)) => {
                self.unpredictable = rest;
                Ok(f64::from_le_bytes(*value))
            }
            None => Err(fault::exhausted("unpredictable values")),
        }
    }
}

/// Quantises while encoding, and keeps what the decoder will need.
#[derive(Debug, Default)]
pub(super) struct Quantized {
    /// One code per value, in coding order.
    pub(super) codes: Vec<u16>,
    /// The values behind code 0, in the same order.
    pub(super) unpredictable: Vec<f64>,
}

impl Quantized {
    /// Codes one value and returns what the decoder will see.
    #[inline]
    pub(super) fn push(&mut self, value: f64, prediction: f64, step: Step) -> f64 {
        let (code, recovered) = quantize(value, prediction, step);
        if (recovered - value).abs() <= step.tolerance && code != 0 {
            self.codes.push(code);
            return recovered;
        }
        self.push_raw(value)
    }

    /// Stores one value as it is.
    pub(super) fn push_raw(&mut self, value: f64) -> f64 {
        self.codes.push(UNPREDICTABLE as u16);
        self.unpredictable.push(value);
        value
    }

    /// Appends the quantiser section.
    pub(super) fn write(&self, error_bound: f64, out: &mut Vec<u8>) {
        out.push(TAG);
        out.extend_from_slice(&error_bound.to_le_bytes());
        out.extend_from_slice(&RADIUS.to_le_bytes());
        out.extend_from_slice(&(self.unpredictable.len() as u64).to_le_bytes());
        for value in &self.unpredictable {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// How finely to quantise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Half the distance between neighbouring codes.
    error_bound: f64,
    /// One over the whole distance.
    inverse: f64,
    /// How far the recovered value may be off.
    pub(super) tolerance: f64,
}

impl Step {
    /// Codes `2 * error_bound` apart, for values that may be off by `tolerance`.
    pub(super) fn new(error_bound: f64, tolerance: f64) -> Self {
        Self { error_bound, inverse: 0.5 / error_bound, tolerance }
    }
}

/// The nearest code and the value it stands for; a code of 0 means that there is none.
///
/// Written without branches so that loops over it vectorise. Adding 1.5 * 2^52 leaves the rounded quotient in the low
/// bits of the sum; a quotient beyond that, or no number at all, shows in the comparison with the radius.
#[inline(always)]
pub(super) fn quantize(value: f64, prediction: f64, step: Step) -> (u16, f64) {
    let shifted = (value - prediction) * step.inverse + ROUNDING;
    let rounded = shifted - ROUNDING;
    let fits = rounded.abs() < f64::from(RADIUS);
    let code = (shifted.to_bits() as u32).wrapping_add(RADIUS as u32) as u16;
    // `2.0 * rounded` is the even integer of the decoder's formula, exactly.
    let recovered = prediction + (2.0 * rounded) * step.error_bound;
    (if fits { code } else { 0 }, recovered)
}

/// The decoder's formula: one rounding per operation, never fused.
#[inline(always)]
pub(super) fn dequantize(prediction: f64, code: u32, radius: i32, error_bound: f64) -> f64 {
    prediction + f64::from(2 * (code as i32 - radius)) * error_bound
}

/// The code of a value that is stored as it is.
pub(super) const UNPREDICTABLE: u32 = 0;
/// The largest radius and symbol accepted: their doubled difference stays in 32 bits.
pub(super) const MAX_SYMBOL: i32 = (1 << 30) - 1;
/// The radius we write.
pub(super) const RADIUS: i32 = 32_768;

const TAG: u8 = 2;
const ROUNDING: f64 = 6_755_399_441_055_744.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_recovers_what_the_encoder_expects() {
        let step = Step::new(0.01, 0.01);
        for i in -40_000..40_000 {
            let value = f64::from(i) * 0.013;
            let (code, recovered) = quantize(value, 1.5, step);
            if code == 0 {
                assert!((value - 1.5).abs() > 0.02 * 32_767.0 - 0.02, "{value}");
                continue;
            }
            assert_eq!(recovered, dequantize(1.5, code.into(), RADIUS, 0.01));
            assert!((recovered - value).abs() <= 0.01 * (1.0 + 1e-9));
        }
    }

    #[test]
    fn what_has_no_code_is_kept_as_it_is() {
        let mut quantized = Quantized::default();
        let step = Step::new(1e-3, 1e-3);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 65.537] {
            quantized.push(value, 0.0, step);
        }
        quantized.push(1.0, f64::NAN, step);
        assert_eq!(quantized.codes, [0; 7]);
        assert_eq!(quantized.unpredictable.len(), 7);
    }
}
