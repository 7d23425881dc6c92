//! NaN set aside on vector registers, for single and double precision in the byte order of the machine.
//!
//! What most objects with holes hold: numbers and NaN, no infinities. A register is compared once, its lanes are kept or
//! cleared, and the comparison becomes bits of the mask, 64 elements at a time.

use pulp::x86::V3;
use pulp::{NullaryFnOnce, cast};
use std::arch::x86_64::__m256i;

/// Copies elements with zeros in place of NaN and writes their bits. False when it did not, or not all of it: elements of
/// another width, no multiple of 64 of them, infinities among them, or no such registers.
pub(super) fn set_nan_aside(width: usize, input: &[u8], bytes: &mut [u8], nan: &mut [u8]) -> bool {
    let Some(simd) = V3::try_new() else { return false };
    if !input.len().is_multiple_of(64 * width) || bytes.len() != input.len() || nan.len() != input.len() / width / 8 {
        return false;
    }
    match width {
        4 => simd.vectorize(Lanes::<8> { simd, input, bytes, nan }),
        8 => simd.vectorize(Lanes::<4> { simd, input, bytes, nan }),
        _ => false,
    }
}

/// Registers of `N` elements.
struct Lanes<'a, const N: usize> {
    simd: V3,
    input: &'a [u8],
    bytes: &'a mut [u8],
    nan: &'a mut [u8],
}

impl<const N: usize> NullaryFnOnce for Lanes<'_, N> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let V3 { avx, avx2, .. } = self.simd;
        let (magnitude, exponent): (__m256i, __m256i) = match N {
            8 => (cast([0x7fff_ffff_u32; 8]), cast([0x7f80_0000_u32; 8])),
            _ => (cast([0x7fff_ffff_ffff_ffff_u64; 4]), cast([0x7ff0_0000_0000_0000_u64; 4])),
        };
        // Lanes in which every value so far was a number or NaN.
        let mut no_infinity: __m256i = cast([u64::MAX; 4]);
        let (input, out) = (self.input.as_chunks::<32>().0, self.bytes.as_chunks_mut::<32>().0);
        let words = input.chunks_exact(64 / N).zip(out.chunks_exact_mut(64 / N));
        for ((input, out), nan) in words.zip(self.nan.as_chunks_mut::<8>().0) {
            let mut bits = 0_u64;
            for (place, (word, out)) in input.iter().zip(out).enumerate() {
                let word: __m256i = cast(*word);
                let value = avx2._mm256_and_si256(word, magnitude);
                let (nan, finite) = (above::<N>(self.simd, value, exponent), above::<N>(self.simd, exponent, value));
                no_infinity = avx2._mm256_and_si256(no_infinity, avx2._mm256_or_si256(nan, finite));
                *out = cast(avx2._mm256_and_si256(word, finite));
                let found = match N {
                    8 => avx._mm256_movemask_ps(cast(nan)),
                    _ => avx._mm256_movemask_pd(cast(nan)),
                };
                bits |= u64::from(found as u32) << (place * N);
            }
            *nan = first_bit_first(bits).to_le_bytes();
        }
        avx2._mm256_movemask_epi8(no_infinity) == -1
    }
}

/// Lanes that are greater. Without their signs all numbers are positive integers, in the same order.
#[inline(always)]
fn above<const N: usize>(simd: V3, a: __m256i, b: __m256i) -> __m256i {
    if N == 8 { simd.avx2._mm256_cmpgt_epi32(a, b) } else { simd.avx2._mm256_cmpgt_epi64(a, b) }
}

/// The bits of each byte in the opposite order: masks begin with the most significant one.
#[inline(always)]
const fn first_bit_first(bits: u64) -> u64 {
    bits.reverse_bits().swap_bytes()
}
