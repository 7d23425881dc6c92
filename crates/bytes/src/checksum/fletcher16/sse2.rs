//! Sixteen bytes at a time, in vectors that every x86-64 has.

use super::Fletcher16;
use core::arch::x86_64::__m128i;
pub(super) use pulp::core_arch::x86::Sse2 as Simd;

/// Feeds at most `16 * PAIRS + 15` bytes. A small number makes straight code of what is a loop otherwise.
///
/// As in [`lanes`](Fletcher16::lanes), every lane keeps the sum of its own bytes and the sum of those sums before each vector.
#[inline(always)]
pub(super) fn feed<const PAIRS: usize>(simd: Simd, mut sums: Fletcher16, bytes: &[u8]) -> Fletcher16 {
    let Some(first) = bytes.first_chunk::<8>() else {
        for x in bytes {
            sums.roll(*x);
        }
        return sums;
    };
    // Zeros in front change nothing: what is left over goes first, behind as many zeros as make it eight bytes, or sixteen.
    let (rest, words) = bytes.as_rchunks::<8>();
    // In two steps: all eight bytes must go when none is left over.
    let rest = (u64::from_le_bytes(*first) << 8) << (56 - 8 * rest.len());
    let (single, pairs) = words.as_rchunks::<2>();
    let mut own = match single {
        [word] => vector(simd, rest, u64::from_le_bytes(*word)),
        _ => vector(simd, 0, rest),
    };
    let zero = simd._mm_setzero_si128();
    let mut before = zero;
    for [low, high] in pairs.iter().take(PAIRS) {
        before = simd._mm_add_epi8(before, own);
        own = simd._mm_add_epi8(own, vector(simd, u64::from_le_bytes(*low), u64::from_le_bytes(*high)));
    }
    // The second sum is Σ (16 · before[j] + (16 - j) · own[j]), less than 2²⁰; the first, Σ own[j], less than 2¹², is added up
    // above it in the same lanes.
    let near = simd._mm_unpacklo_epi8(own, zero);
    let near = simd._mm_madd_epi16(near, simd._mm_set_epi16(9, 10, 11, 12, 13, 14, 15, 16));
    let far = simd._mm_unpackhi_epi8(own, zero);
    let far = simd._mm_madd_epi16(far, simd._mm_set_epi16(1, 2, 3, 4, 5, 6, 7, 8));
    let before = simd._mm_slli_epi64::<4>(simd._mm_sad_epu8(before, zero));
    let own = simd._mm_slli_epi64::<20>(simd._mm_sad_epu8(own, zero));
    let four = simd._mm_add_epi32(simd._mm_add_epi32(near, far), simd._mm_add_epi32(before, own));
    let two = simd._mm_add_epi32(four, simd._mm_shuffle_epi32::<0b01_00_11_10>(four));
    let one = simd._mm_add_epi32(two, simd._mm_shuffle_epi32::<0b10_11_00_01>(two));
    let one = simd._mm_cvtsi128_si32(one) as u32;
    sums.and(bytes.len() as u8, (one >> 20) as u8, one as u8)
}

#[inline(always)]
fn vector(simd: Simd, low: u64, high: u64) -> __m128i {
    simd._mm_set_epi64x(high as i64, low as i64)
}
