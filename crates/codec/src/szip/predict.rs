//! The unit-delay predictor: samples to non-negative residuals and back.
//!
//! Both work on ranks, i.e. on samples shifted so that the smallest is zero; for unsigned samples that is the sample.
//! A step that stays inside the symmetric range around its predecessor alternates between positive (even) and negative
//! (odd) residuals; beyond it only one sign is possible and the residual counts from the nearer end of the range.

/// Samples handled between two checks when undoing the prediction.
const STRIDE: usize = 16;

/// The residual of each of `current`, predicted by its neighbour in `previous`.
#[inline(always)]
pub(super) fn residuals(max: u32, previous: &[u32], current: &[u32], out: &mut [u32]) {
    for ((residual, before), sample) in out.iter_mut().zip(previous).zip(current) {
        *residual = residual_of(max, *before, *sample);
    }
}

#[inline(always)]
fn residual_of(max: u32, before: u32, sample: u32) -> u32 {
    let up = sample.wrapping_sub(before);
    let down = before.wrapping_sub(sample);
    let rising = if up <= before { up << 1 } else { sample };
    let falling = if down <= max - before { (down << 1).wrapping_sub(1) } else { max - sample };
    if sample >= before { rising } else { falling }
}

/// Turns residuals into samples in place, starting behind the sample `before`; every residual must be at most `max`.
///
/// Most steps stay in the symmetric range, where a sample is its predecessor plus a signed step. So each stride is
/// first summed up without looking, then checked as a whole, and only redone step by step where the check fails.
#[inline(always)]
pub(super) fn restore(max: u32, mut before: u32, values: &mut [u32]) -> u32 {
    let (strides, rest) = values.as_chunks_mut::<STRIDE>();
    for stride in strides {
        let mut sums = [0u32; STRIDE];
        let mut sum = before;
        for (slot, residual) in sums.iter_mut().zip(stride.iter()) {
            sum = sum.wrapping_add(signed_step(*residual));
            *slot = sum;
        }
        let mut previous = [before; STRIDE];
        previous[1..].copy_from_slice(&sums[..STRIDE - 1]);
        let mut outside = false;
        for (residual, previous) in stride.iter().zip(previous) {
            // A wrong earlier sum may lie outside 0..=max; wrapping then makes one of the two sides look large or
            // small by chance, but the first step that left the range has already been noticed by then.
            outside |= magnitude(*residual) > previous.min(max.wrapping_sub(previous));
        }
        if outside {
            before = restore_stepwise(max, before, stride);
        } else {
            *stride = sums;
            before = sum;
        }
    }
    restore_stepwise(max, before, rest)
}

/// The plain form of [`restore`].
#[inline(always)]
fn restore_stepwise(max: u32, mut before: u32, values: &mut [u32]) -> u32 {
    for value in values {
        let residual = *value;
        before = if magnitude(residual) <= before.min(max - before) {
            before.wrapping_add(signed_step(residual))
        } else if before <= max - before {
            residual
        } else {
            max - residual
        };
        *value = before;
    }
    before
}

/// 0, -1, 1, -2, 2, … for 0, 1, 2, 3, 4, …, modulo 2^32.
#[inline(always)]
fn signed_step(residual: u32) -> u32 {
    (residual >> 1) ^ (residual & 1).wrapping_neg()
}

/// How far a residual steps.
#[inline(always)]
fn magnitude(residual: u32) -> u32 {
    (residual >> 1) + (residual & 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition of the residual, in wide arithmetic.
    fn defined(max: u64, a: u64, x: u64) -> u64 {
        match x >= a {
            true if x - a <= a => 2 * (x - a),
            true => x,
            false if a - x <= max - a => 2 * (a - x) - 1,
            false => max - x,
        }
    }

    #[test]
    fn every_pair_of_small_samples() {
        for bits in 1..=7 {
            let max = (1u32 << bits) - 1;
            for before in 0..=max {
                let mut seen = vec![false; max as usize + 1];
                for sample in 0..=max {
                    let residual = residual_of(max, before, sample);
                    assert_eq!(u64::from(residual), defined(max.into(), before.into(), sample.into()));
                    assert!(!std::mem::replace(&mut seen[residual as usize], true), "the mapping is one to one");
                    let mut values = [residual; 1];
                    assert_eq!(restore(max, before, &mut values), sample);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn restore_undoes_residuals(
            bits in 1u32..=32,
            raw in proptest::collection::vec(prop_oneof![any::<u32>(), 0u32..200, 0x7fff_ff00u32..0x8000_0100], 2..200),
        ) {
            let max = u32::MAX >> (32 - bits);
            let samples: Vec<u32> = raw.iter().map(|v| v & max).collect();
            let mut values = vec![0; samples.len() - 1];
            residuals(max, &samples, &samples[1..], &mut values);
            prop_assert!(values.iter().all(|v| *v <= max));
            let last = restore(max, samples[0], &mut values);
            prop_assert_eq!(&values, &samples[1..]);
            prop_assert_eq!(last, *samples.last().unwrap());
        }

        #[test]
        fn strides_agree_with_steps(
            bits in 1u32..=32,
            before in any::<u32>(),
            raw in proptest::collection::vec(prop_oneof![any::<u32>(), 0u32..20], 0..100),
        ) {
            let max = u32::MAX >> (32 - bits);
            let mut fast: Vec<u32> = raw.iter().map(|v| v & max).collect();
            let mut plain = fast.clone();
            prop_assert_eq!(restore(max, before & max, &mut fast), restore_stepwise(max, before & max, &mut plain));
            prop_assert_eq!(fast, plain);
        }
    }
}
