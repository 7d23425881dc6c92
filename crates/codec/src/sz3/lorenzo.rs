//! Prediction from the values just before: the previous one, or the straight line through the previous two.

use super::{
    fault,
    huffman::{self, Count, Decoder},
    quantizer::{Quantized, Quantizer, Step},
};
use crate::CodecError;
use fw_bytes::{Cursor, Detail, interrupt};

/// Decodes the unpacked part of a Lorenzo stream so that it fills `out`.
pub(super) fn decode(unpacked: &[u8], block_size: u32, out: &mut [f64]) -> Result<(), CodecError> {
    let mut cursor = Cursor::new(unpacked);
    let found = cursor.u64_le("number of blocks").map_err(fault::inner)?;
    let block_count = out.len().div_ceil(block_size as usize) as u64;
    if found != block_count {
        let (expected, found) = (Detail::Number(block_count), Detail::Number(found));
        return Err(fault::wrong_inside("block_count_mismatch", "number of blocks", expected, found, 0));
    }
    let mut selectors = Decoder::parse(&mut cursor, block_count, Count::Implied)?;
    let mut quantizer = Quantizer::parse(&mut cursor)?;
    let mut codes = Decoder::parse(&mut cursor, out.len() as u64, Count::Stored)?;

    let error_bound = quantizer.error_bound;
    let mut before = Before::default();
    for (number, block) in out.chunks_mut(block_size as usize).enumerate() {
        if number.is_multiple_of(CHECKED) {
            interrupt::check();
        }
        let order = match selectors.take(1)? {
            [0] => Order::First,
            [1] => Order::Second,
            other => {
                let message = format!("predictor selectors {other:?} are not 0 or 1");
                return Err(CodecError::format(super::NAME, "bad_selector", message));
            }
        };
        for group in block.chunks_mut(Decoder::MAX_TAKE) {
            let codes = codes.take(group.len())?;
            for (value, code) in group.iter_mut().zip(codes) {
                *value = quantizer.recover(before.predict(order), *code, error_bound)?;
                before.push(*value);
            }
        }
    }
    Ok(())
}

/// What an encoder chose, value by value and block by block.
#[derive(Debug, Default)]
pub(super) struct Encoded {
    pub(super) quantized: Quantized,
    /// One per block.
    pub(super) selectors: Vec<u16>,
}

/// How selectors are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The same predictor everywhere.
    Always(Order),
    /// Whichever fits the block better.
    PerBlock,
}

/// Codes `values`, which follow `before`, one after the other.
pub(super) fn encode(
    mut before: Before,
    values: &[f64],
    block_size: u32,
    choice: Choice,
    error_bound: f64,
    encoded: &mut Encoded,
) {
    encoded.quantized.codes.reserve(values.len());
    let step = Step::new(error_bound, error_bound);
    let mut original = before;
    for (number, block) in values.chunks(block_size as usize).enumerate() {
        if number.is_multiple_of(CHECKED) {
            interrupt::check();
        }
        let order = match choice {
            Choice::Always(order) => order,
            Choice::PerBlock => better(original, block, error_bound),
        };
        original = Before::of(block);
        encoded.selectors.push(order as u16);
        for value in block {
            let recovered = encoded.quantized.push(*value, before.predict(order), step);
            before.push(recovered);
        }
    }
}

/// Appends the selector and quantiser sections.
pub(super) fn write_section(encoded: &Encoded, error_bound: f64, out: &mut Vec<u8>) -> Result<(), CodecError> {
    out.extend_from_slice(&(encoded.selectors.len() as u64).to_le_bytes());
    huffman::write_section(&encoded.selectors, Count::Implied, out)?;
    encoded.quantized.write(error_bound, out);
    Ok(())
}

/// Blocks between two looks at whether to stop.
const CHECKED: usize = 64;

/// Which predictor a block uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The previous value.
    First = 0,
    /// Twice the previous value less the one before it.
    Second = 1,
}

/// The two values before the current one; zeros before the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    previous: f64,
    second: f64,
}

impl Before {
    /// What stands before a value that follows `values`.
    pub(super) fn of(values: &[f64]) -> Self {
        let mut last = values.iter().rev().copied();
        Self { previous: last.next().unwrap_or(0.0), second: last.next().unwrap_or(0.0) }
    }

    /// The same values as far off as a decoder may see them: on a grid of twice the bound.
    ///
    /// Started from the original values, a sample of a straight line would never meet the noise that the second order
    /// amplifies.
    pub(super) fn as_if_decoded(self, error_bound: f64) -> Self {
        let near = |value: f64| {
            let rounded = (value / (2.0 * error_bound)).round() * (2.0 * error_bound);
            if (rounded - value).abs() <= error_bound { rounded } else { value }
        };
        Self { previous: near(self.previous), second: near(self.second) }
    }

    #[inline(always)]
    fn predict(self, order: Order) -> f64 {
        match order {
            Order::First => self.previous,
            Order::Second => 2.0 * self.previous - self.second,
        }
    }

    #[inline(always)]
    fn push(&mut self, value: f64) {
        *self = Self { previous: value, second: self.previous };
    }
}

/// The predictor whose differences cost fewer bits on the original values.
///
/// The decoder predicts from values that are off by up to the bound; the second order carries up to three times as much
/// of that noise, which the terms added to the differences stand for.
fn better(mut before: Before, block: &[f64], error_bound: f64) -> Order {
    let (mut first, mut second) = (0.0, 0.0);
    for value in block {
        first += ((value - before.predict(Order::First)).abs() / error_bound + 0.5).rough_log2();
        second += ((value - before.predict(Order::Second)).abs() / error_bound + 1.25).rough_log2();
        before.push(*value);
    }
    if second < first { Order::Second } else { Order::First }
}

/// A cheap stand-in for the logarithm: exponent plus linear mantissa, read from the bits.
trait RoughLog {
    fn rough_log2(self) -> f64;
}

impl RoughLog for f64 {
    #[inline(always)]
    fn rough_log2(self) -> f64 {
        (self.to_bits() >> 32) as u32 as i32 as f64 * (1.0 / 1_048_576.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_predictor_is_found() {
        let line: Vec<f64> = (0..128).map(|i| f64::from(i) * 5.0).collect();
        assert_eq!(better(Before::default(), &line, 0.1), Order::Second);
        let steps: Vec<f64> = (0..128).map(|i| f64::from(i / 7 % 3) * 5.0).collect();
        assert_eq!(better(Before::default(), &steps, 0.1), Order::First);
    }

    #[test]
    fn the_rough_logarithm_is_close() {
        for value in [0.5, 0.7, 1.0, 1.4, 3.0, 1e6, 1e300] {
            let rough = value.rough_log2() - 1.0f64.rough_log2();
            assert!((rough - value.log2()).abs() < 0.1, "{value}: {rough}");
        }
    }
}
