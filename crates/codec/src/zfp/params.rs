//! The modes a caller may ask for, checked once.

use super::NAME;
use crate::CodecError;
use fw_tensor::ByteOrder;

/// What bounds the size or the error of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ZfpMode {
    /// Bits per value, above 0 and at most 256. Blocks are rounded to whole bits and never below 3 bits per value.
    FixedRate(f64),
    /// Bit planes kept per block; 0 and anything above 64 mean all 64.
    FixedPrecision(u32),
    /// Largest absolute error wanted; positive and finite.
    FixedAccuracy(f64),
}

/// The zfp codec for float64 values, with checked parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zfp {
    pub(super) mode: ZfpMode,
    pub(super) order: ByteOrder,
    pub(super) limits: BlockLimits,
}

/// The four numbers that govern every block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockLimits {
    /// A shorter block is padded with zeros to this many bits.
    pub(super) min_bits: u32,
    /// A longer block is cut to this many bits; never below the 12 bits of the header.
    pub(super) max_bits: u32,
    /// Most bit planes.
    pub(super) max_planes: u32,
    /// Exponent of the least significant bit worth coding.
    pub(super) min_exponent: i32,
}

impl Zfp {
    /// A codec whose decoded bytes are float64 values in `order`.
    ///
    /// # Errors
    /// `bad_rate` unless the rate is above 0 and at most 256; `bad_tolerance` unless the tolerance is positive and
    /// finite.
    pub fn new(mode: ZfpMode, order: ByteOrder) -> Result<Self, CodecError> {
        let open = BlockLimits { min_bits: 1, max_bits: OPEN_BITS, max_planes: 64, min_exponent: LEAST_EXPONENT };
        let limits = match mode {
            ZfpMode::FixedRate(rate) => {
                if !(rate > 0.0 && rate <= MAX_RATE) {
                    let message = format!("rate {rate} is not above 0 and at most {MAX_RATE} bits per value");
                    return Err(CodecError::parameter(NAME, "bad_rate", message));
                }
                let bits = ((4.0 * rate + 0.5) as u32).max(HEADER_BITS);
                BlockLimits { min_bits: bits, max_bits: bits, ..open }
            }
            ZfpMode::FixedPrecision(planes) => {
                BlockLimits { max_planes: if planes == 0 { 64 } else { planes.min(64) }, ..open }
            }
            ZfpMode::FixedAccuracy(tolerance) => {
                if !(tolerance > 0.0 && tolerance.is_finite()) {
                    let message = format!("tolerance {tolerance} is not positive and finite");
                    return Err(CodecError::parameter(NAME, "bad_tolerance", message));
                }
                BlockLimits { min_exponent: floor_log2(tolerance), ..open }
            }
        };
        Ok(Self { mode, order, limits })
    }

    /// The mode asked for.
    pub const fn mode(&self) -> ZfpMode {
        self.mode
    }

    /// Byte order of the decoded side.
    pub const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Bits of every block at a fixed rate; `None` in the other modes.
    pub const fn fixed_block_bits(&self) -> Option<u32> {
        match self.mode {
            ZfpMode::FixedRate(_) => Some(self.limits.max_bits),
            ZfpMode::FixedPrecision(_) | ZfpMode::FixedAccuracy(_) => None,
        }
    }
}

impl BlockLimits {
    /// How many planes a block with values below 2^`exponent` gets.
    #[inline(always)]
    pub(super) fn planes(&self, exponent: i32) -> u32 {
        // Both exponents are those of float64 values, so nothing here can overflow.
        self.max_planes.min((exponent - self.min_exponent + GUARD_PLANES).max(0) as u32)
    }
}

/// One flag and eleven bits of exponent.
pub(super) const HEADER_BITS: u32 = 12;
/// More padding than data long before this; untrusted streams may claim anything.
const MAX_RATE: f64 = 256.0;
/// "No limit": more than any block of four can use.
const OPEN_BITS: u32 = 16658;
/// Exponent of the smallest subnormal.
const LEAST_EXPONENT: i32 = -1074;
/// Planes below the tolerance that absorb the growth of errors in the inverse transform.
const GUARD_PLANES: i32 = 4;

/// The largest e with 2^e <= `value`, for positive finite values.
fn floor_log2(value: f64) -> i32 {
    let bits = value.to_bits();
    match (bits >> 52) as i32 {
        0 => LEAST_EXPONENT + 63 - bits.leading_zeros() as i32,
        biased => biased - 1023,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_parameters_are_refused() {
        for rate in [0.0, -0.0, -1.0, 256.5, 1e9, 1e12, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = Zfp::new(ZfpMode::FixedRate(rate), ByteOrder::Little).unwrap_err();
            assert_eq!(error.code, "bad_rate", "{rate}");
        }
        for tolerance in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = Zfp::new(ZfpMode::FixedAccuracy(tolerance), ByteOrder::Little).unwrap_err();
            assert_eq!(error.code, "bad_tolerance", "{tolerance}");
        }
    }

    #[test]
    fn rates_round_to_block_bits() {
        let bits = |rate| Zfp::new(ZfpMode::FixedRate(rate), ByteOrder::Little).unwrap().fixed_block_bits();
        assert_eq!(bits(1e-300), Some(12));
        assert_eq!(bits(3.0), Some(12));
        assert_eq!(bits(7.25), Some(29));
        assert_eq!(bits(7.3), Some(29));
        assert_eq!(bits(7.375), Some(30));
        assert_eq!(bits(256.0), Some(1024));
    }

    #[test]
    fn tolerances_become_exponents() {
        for (value, expected) in
            [(1.0, 0), (0.99, -1), (0.125, -3), (1e-6, -20), (f64::MAX, 1023), (f64::MIN_POSITIVE, -1022)]
        {
            assert_eq!(floor_log2(value), expected, "{value}");
        }
        assert_eq!(floor_log2(f64::from_bits(1)), -1074);
        assert_eq!(floor_log2(f64::from_bits(3)), -1073);
        assert_eq!(floor_log2(f64::from_bits((1 << 52) - 1)), -1023);
    }
}
