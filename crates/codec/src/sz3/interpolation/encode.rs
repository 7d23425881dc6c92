//! Values to codes.

use super::super::quantizer::{Quantized, Step, quantize};
use super::predict::{Kind, for_each_gap, to_coding_order, whole_block};
use super::{CHECKED, Layout};
use fw_bytes::interrupt;
use std::convert::Infallible;

/// Codes `values` level by level. What the decoder will see is within `error_bound` of each of them.
pub(in super::super) fn encode(values: &[f64], layout: Layout, error_bound: f64, quantized: &mut Quantized) {
    quantized.codes.reserve(values.len());
    let top = layout.top();
    let stride = 1usize.checked_shl(top).unwrap_or(usize::MAX);
    let coarsest = values.iter().step_by(stride);
    // What the decoder will know at each level; two arrays in turn.
    let mut known: Vec<f64> = if layout.is_anchored() {
        coarsest.map(|value| quantized.push_raw(*value)).collect()
    } else {
        let step = Step::new(error_bound, error_bound);
        coarsest.map(|value| quantized.push(*value, 0.0, step)).collect()
    };
    let mut next = Vec::new();
    for level in (1..=top).rev() {
        let step = Step::new(layout.level_bound(error_bound, level), error_bound);
        let count = layout.known_at(level);
        // Nothing follows the finest level, so its values need not be kept.
        next.resize(if level == 1 { 0 } else { count }, 0.0);
        let pass = Pass { kind: layout.tuning.kind, step, stride: 1 << (level - 1) };
        pass.run(values, &known, &mut next, count, quantized);
        std::mem::swap(&mut known, &mut next);
    }
}

/// Appends the interpolation and quantiser sections.
pub(in super::super) fn write_section(layout: Layout, quantized: &Quantized, error_bound: f64, out: &mut Vec<u8>) {
    layout.write(out);
    quantized.write(error_bound, out);
}

/// One level.
#[derive(Clone, Copy)]
struct Pass {
    kind: Kind,
    step: Step,
    stride: usize,
}

impl Pass {
    /// `next` is either as long as the level or empty when its values are not wanted.
    fn run(self, values: &[f64], known: &[f64], next: &mut [f64], count: usize, quantized: &mut Quantized) {
        // A whole block reads one value past its own, the first of the next block.
        let whole = known.len().saturating_sub(1) / 16;
        let (blocks, rest) = next.split_at_mut((whole * 32).min(next.len()));
        let mut targets = blocks.as_chunks_mut::<32>().0.iter_mut();
        let mut known = known;
        for number in 0..whole {
            if number.is_multiple_of(CHECKED) {
                interrupt::check();
            }
            let Some(block) = known.first_chunk::<17>() else { break };
            let actual = self.gather(values, number * 32);
            let recovered = self.whole_block(block, &actual, quantized);
            if let Some(target) = targets.next() {
                for j in 0..16 {
                    target[2 * j] = block[j];
                    target[2 * j + 1] = recovered[j];
                }
            }
            known = &known[16..];
        }
        // What is left is shorter than a whole block.
        for (slot, value) in rest.iter_mut().step_by(2).zip(known) {
            *slot = *value;
        }
        let at = whole * 32;
        let Ok(()) = for_each_gap::<Infallible>(self.kind, known, count - at, |j, prediction| {
            let value = values[(at + 2 * j + 1) * self.stride];
            let recovered = quantized.push(value, prediction, self.step);
            if let Some(slot) = rest.get_mut(2 * j + 1) {
                *slot = recovered;
            }
            Ok(())
        });
    }

    /// The 16 values in the gaps of the block that starts at position `at` of this level.
    #[inline(always)]
    fn gather(self, values: &[f64], at: usize) -> [f64; 16] {
        if self.stride == 1
            && let Some(block) = values.get(at..).and_then(|rest| rest.first_chunk::<32>())
        {
            return std::array::from_fn(|j| block[2 * j + 1]);
        }
        std::array::from_fn(|j| values[(at + 2 * j + 1) * self.stride])
    }

    #[inline(always)]
    fn whole_block(self, known: &[f64; 17], actual: &[f64; 16], quantized: &mut Quantized) -> [f64; 16] {
        let predictions = whole_block(self.kind, known);
        let mut codes = [0u16; 16];
        let mut recovered = [0.0; 16];
        let mut fine = true;
        for j in 0..16 {
            (codes[j], recovered[j]) = quantize(actual[j], predictions[j], self.step);
            fine &= ((recovered[j] - actual[j]).abs() <= self.step.tolerance) & (codes[j] != 0);
        }
        if fine {
            quantized.codes.extend_from_slice(&to_coding_order(self.kind, codes));
            return recovered;
        }
        let Ok(()) = for_each_gap::<Infallible>(self.kind, known, 33, |j, prediction| {
            recovered[j] = quantized.push(actual[j], prediction, self.step);
            Ok(())
        });
        recovered
    }
}
