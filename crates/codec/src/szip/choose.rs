//! Which code option a block gets: the rules every writer must share for identical bytes.

use super::params::Layout;
use std::ops::RangeInclusive;

/// How a block that is not all zero is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// High parts in unary, then so many low bits as they are.
    Split(u32),
    /// Pairs of residuals as one unary number.
    SecondExtension,
    /// All bits as they are.
    Raw,
}

/// Chooses the code for `residuals`, of which `coded` are coded (all but a reference sample, whose residual is zero).
///
/// `k` is the split of the block before, where the search starts, and becomes the one found for this block; it is the
/// only thing a block inherits.
#[inline(always)]
pub(super) fn choose(layout: &Layout, residuals: &[u32], coded: u64, k: &mut u32) -> Coding {
    let raw = coded * u64::from(layout.bits);
    let mut split = u64::MAX;
    let mut sum_at_least = 0;
    if layout.split_count > 0 {
        let (best, sum) = best_split(layout, residuals, coded, *k);
        *k = best;
        split = split_len(sum, coded, best);
        sum_at_least = sum.saturating_mul(1 << best);
    }
    let rival = split.min(raw);
    if may_be_as_short(sum_at_least, layout.block as u64 / 2, rival) {
        let second = second_extension_len(residuals, rival);
        // On equal lengths the second extension beats a split but not raw.
        if second < rival || (second == rival && split < raw) {
            return Coding::SecondExtension;
        }
    }
    if split < raw { Coding::Split(*k) } else { Coding::Raw }
}

/// All splits that are equally short for `residuals`, given that `k` is one of them.
pub(super) fn tied_splits(layout: &Layout, residuals: &[u32], coded: u64, k: u32) -> RangeInclusive<u32> {
    let len = |k| split_len(shifted_sum(layout, residuals, k), coded, k);
    let best = len(k);
    let low = (0..k).rev().take_while(|k| len(*k) == best).last().unwrap_or(k);
    let high = (k + 1..layout.split_count).take_while(|k| len(*k) == best).last().unwrap_or(k);
    low..=high
}

/// The split that is best, seen from `k`, and the sum of the high parts it leaves.
///
/// The length is convex in the split. One more bit saves `sum(ceil(high / 2))` and costs `coded`, so going up can only
/// pay when the high parts sum up to more than `coded`, and going down only when to less: one direction is enough.
#[inline(always)]
fn best_split(layout: &Layout, residuals: &[u32], coded: u64, mut k: u32) -> (u32, u64) {
    let mut sum = shifted_sum(layout, residuals, k);
    if sum > coded {
        while k + 1 < layout.split_count {
            let next = shifted_sum(layout, residuals, k + 1);
            if next + coded >= sum {
                break;
            }
            k += 1;
            sum = next;
        }
    } else {
        while k > 0 && sum < coded {
            let next = shifted_sum(layout, residuals, k - 1);
            if next >= sum + coded {
                break;
            }
            k -= 1;
            sum = next;
        }
    }
    (k, sum)
}

#[inline(always)]
fn split_len(sum: u64, coded: u64, k: u32) -> u64 {
    sum + coded * u64::from(k + 1)
}

#[inline(always)]
fn shifted_sum(layout: &Layout, residuals: &[u32], k: u32) -> u64 {
    if layout.narrow {
        let (groups, rest) = residuals.as_chunks::<8>();
        let mut lanes = [0u32; 8];
        for group in groups {
            for (lane, residual) in lanes.iter_mut().zip(group) {
                *lane += residual >> k;
            }
        }
        u64::from(lanes.iter().sum::<u32>() + rest.iter().map(|residual| residual >> k).sum::<u32>())
    } else {
        residuals.iter().map(|residual| u64::from(residual >> k)).sum()
    }
}

/// False when the second extension of `pairs` pairs that sum up to `sum` or more is certainly longer than `rival`.
///
/// It is shortest when the sum is spread evenly: `1 + (sum² / pairs + sum) / 2 + pairs`.
#[inline(always)]
fn may_be_as_short(sum: u64, pairs: u64, rival: u64) -> bool {
    let sum = sum.min(1 << 31);
    rival > pairs && sum * (sum + pairs) <= 2 * pairs * (rival - pairs - 1)
}

/// The length of the second extension, or more than `limit` when it is more.
fn second_extension_len(residuals: &[u32], limit: u64) -> u64 {
    let mut len = 1;
    for pair in residuals.as_chunks::<2>().0 {
        len += pair_code(*pair) + 1;
        if len > limit {
            break;
        }
    }
    len
}

/// The number that stands for a pair of residuals: pairs counted along the diagonals of equal sum.
#[inline(always)]
pub(super) fn pair_code([first, second]: [u32; 2]) -> u64 {
    // Past this the code is longer than any block; the clamp keeps the product inside 64 bits.
    let sum = (u64::from(first) + u64::from(second)).min(1 << 31);
    sum * (sum + 1) / 2 + u64::from(second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::szip::params::{SzipFlags, SzipParams};
    use proptest::prelude::*;

    fn layout(bits: u32, block_size: u32) -> Layout {
        let flags = SzipFlags::PREPROCESS | SzipFlags::NOT_ENFORCE;
        Layout::new(&SzipParams { rsi: 2, block_size, flags, bits_per_sample: bits }).unwrap()
    }

    /// The rule in its plain words: climb while strictly better, else descend while strictly better; then compare.
    fn plainly(layout: &Layout, residuals: &[u32], coded: u64, k: &mut u32) -> Coding {
        let len = |k: u32| residuals.iter().map(|r| u64::from(r >> k)).sum::<u64>() + coded * u64::from(k + 1);
        let start = *k;
        while *k + 1 < layout.split_count && len(*k + 1) < len(*k) {
            *k += 1;
        }
        while *k <= start && *k > 0 && len(*k - 1) < len(*k) {
            *k -= 1;
        }
        let split = len(*k);
        let raw = coded * u64::from(layout.bits);
        let codes = residuals.chunks(2).map(|pair| pair_code([pair[0], pair[1]]) + 1);
        let second = codes.fold(1, u64::saturating_add);
        if split < raw {
            if split < second { Coding::Split(*k) } else { Coding::SecondExtension }
        } else if raw <= second {
            Coding::Raw
        } else {
            Coding::SecondExtension
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn shortcuts_do_not_change_the_choice(
            bits in 1u32..=32,
            pairs in 1u32..40,
            spread in 0u32..32,
            start in 0u32..30,
            with_reference in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let layout = layout(bits, pairs * 2);
            let mut state = seed;
            let mut residuals: Vec<u32> = (0..layout.block).map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let value = (state >> 32) as u32;
                (value >> spread >> (state >> 20 & 3)) & layout.max
            }).collect();
            if with_reference {
                residuals[0] = 0;
            }
            let coded = layout.block as u64 - u64::from(with_reference);
            let start = start % layout.split_count;
            let (mut k, mut plain_k) = (start, start);
            let coding = choose(&layout, &residuals, coded, &mut k);
            prop_assert_eq!(coding, plainly(&layout, &residuals, coded, &mut plain_k));
            prop_assert_eq!(k, plain_k);
            // What makes parallel writing possible: the result is the start moved to the nearest tied split.
            let tied = tied_splits(&layout, &residuals, coded, k);
            for other in 0..layout.split_count {
                let mut k = other;
                choose(&layout, &residuals, coded, &mut k);
                prop_assert_eq!(k, other.clamp(*tied.start(), *tied.end()));
            }
        }
    }
}
