//! Quantising on vector registers, to fewer than 32 bits.

use super::Quantiser;
use pulp::cast;
use pulp::x86::V3;
use std::arch::x86_64::__m256d;

/// Quantises as many leading values as whole registers hold, and says how many those were.
#[inline(always)]
pub(super) fn quantise<const SWAP: bool>(quantiser: &Quantiser, values: &[[u8; 8]], integers: &mut [u32]) -> usize {
    let Some(V3 { avx, avx2, .. }) = V3::try_new() else { return 0 };
    let all = |value: f64| -> __m256d { cast([value; 4]) };
    let (reference, scale) = (all(quantiser.reference), all(quantiser.scale));
    let (zero, largest, almost_half) = (all(0.0), all(quantiser.largest as f64), all(0.5f64.next_down()));
    let reversed: [u8; 32] = std::array::from_fn(|i| (i % 16 / 8 * 8 + 7 - i % 8) as u8);
    let (groups, _) = values.as_chunks::<4>();
    let (targets, _) = integers.as_chunks_mut::<4>();
    for (group, target) in groups.iter().zip(targets) {
        let value = if SWAP { cast(avx2._mm256_shuffle_epi8(cast(*group), cast(reversed))) } else { cast(*group) };
        let x = avx._mm256_mul_pd(avx._mm256_sub_pd(value, reference), scale);
        // The second operand is what a NaN leaves.
        let x = avx._mm256_min_pd(avx._mm256_max_pd(x, zero), largest);
        // For what a double can hold between 0 and 2^51, adding the number just below one half and cutting off is
        // rounding with halves up: one half itself rounds to 1 in the addition, anything smaller stays below.
        *target = cast(avx._mm256_cvttpd_epi32(avx._mm256_add_pd(x, almost_half)));
    }
    groups.len() * 4
}
