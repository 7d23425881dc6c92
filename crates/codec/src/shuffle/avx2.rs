//! Transposition on vector registers, for element sizes 2, 4, 8 and 16.
//!
//! `S` registers hold `32` elements: lane 0 of register `v` the 16 bytes at `16 v`, lane 1 the 16 bytes at
//! `16 (S + v)`. Within a lane, bytes are first grouped by significance (`16 / S` bytes per group); then `log2 S` rounds
//! of interleaving transpose the `S × S` groups of all registers, which leaves 32 consecutive bytes of plane `p` in
//! register `p`. A transposition undoes itself, so the way back is the same network followed by the inverse grouping.

use pulp::x86::V3;
use pulp::{NullaryFnOnce, cast};
use std::arch::x86_64::__m256i;

/// Transposes as many leading elements as whole registers hold, and says how many those were.
pub(super) fn shuffle(elements: &[u8], size: usize, planes: &mut [&mut [u8]]) -> usize {
    let Some(simd) = V3::try_new() else { return 0 };
    match size {
        2 => simd.vectorize(Forward::<2> { simd, elements, planes }),
        4 => simd.vectorize(Forward::<4> { simd, elements, planes }),
        8 => simd.vectorize(Forward::<8> { simd, elements, planes }),
        16 => simd.vectorize(Forward::<16> { simd, elements, planes }),
        _ => 0,
    }
}

/// Fills the front of `out` with elements from `first` on, and says how many it wrote.
pub(super) fn unshuffle(planes: &[u8], count: usize, first: usize, size: usize, out: &mut [u8]) -> usize {
    let Some(simd) = V3::try_new() else { return 0 };
    match size {
        2 => simd.vectorize(Backward::<2> { simd, planes, count, first, out }),
        4 => simd.vectorize(Backward::<4> { simd, planes, count, first, out }),
        8 => simd.vectorize(Backward::<8> { simd, planes, count, first, out }),
        16 => simd.vectorize(Backward::<16> { simd, planes, count, first, out }),
        _ => 0,
    }
}

struct Forward<'a, 'p, const S: usize> {
    simd: V3,
    elements: &'a [u8],
    planes: &'a mut [&'p mut [u8]],
}

impl<const S: usize> NullaryFnOnce for Forward<'_, '_, S> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        let group = grouping::<S>();
        let (lanes, _) = self.elements.as_chunks::<16>();
        let blocks = lanes.chunks_exact(2 * S);
        let count = blocks.len();
        let Ok(planes) = <&mut [&mut [u8]; S]>::try_from(self.planes) else { return 0 };
        let planes = planes.each_mut().map(|plane| plane.as_chunks_mut::<32>().0);
        for (index, block) in blocks.enumerate() {
            let registers: [__m256i; S] = std::array::from_fn(|v| {
                let bytes: __m256i = cast([block[v], block[S + v]]);
                if S == 16 { bytes } else { self.simd.avx2._mm256_shuffle_epi8(bytes, group) }
            });
            let registers = transpose(self.simd, registers);
            for p in 0..S {
                planes[p][index] = cast(registers[p]);
            }
        }
        count * 32
    }
}

struct Backward<'a, const S: usize> {
    simd: V3,
    planes: &'a [u8],
    count: usize,
    first: usize,
    out: &'a mut [u8],
}

impl<const S: usize> NullaryFnOnce for Backward<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn call(self) -> usize {
        let group = ungrouping::<S>();
        let len = self.out.len() / S;
        let planes: [&[[u8; 32]]; S] =
            std::array::from_fn(|p| self.planes[p * self.count + self.first..][..len].as_chunks().0);
        let (lanes, _) = self.out.as_chunks_mut::<16>();
        let blocks = lanes.chunks_exact_mut(2 * S);
        let count = blocks.len();
        for (index, block) in blocks.enumerate() {
            let registers: [__m256i; S] = std::array::from_fn(|p| cast(planes[p][index]));
            let registers = transpose(self.simd, registers);
            for v in 0..S {
                let bytes =
                    if S == 16 { registers[v] } else { self.simd.avx2._mm256_shuffle_epi8(registers[v], group) };
                let [low, high]: [[u8; 16]; 2] = cast(bytes);
                block[v] = low;
                block[S + v] = high;
            }
        }
        count * 32
    }
}

/// Transposes `S` registers of `S` groups per lane, both lanes at once: `log2 S` rounds of interleaving register `i`
/// with register `i + S / 2`.
#[inline(always)]
fn transpose<const S: usize>(simd: V3, mut registers: [__m256i; S]) -> [__m256i; S] {
    let mut width = 1;
    while width < S {
        registers = std::array::from_fn(|i| interleave::<S>(simd, registers[i / 2], registers[i / 2 + S / 2], i % 2));
        width *= 2;
    }
    registers
}

/// Groups of `a` and `b` in turn: those of the low halves of the lanes (`half` 0) or of the high halves (1).
#[inline(always)]
fn interleave<const S: usize>(simd: V3, a: __m256i, b: __m256i, half: usize) -> __m256i {
    let avx2 = simd.avx2;
    match (S, half) {
        (2, 0) => avx2._mm256_unpacklo_epi64(a, b),
        (2, _) => avx2._mm256_unpackhi_epi64(a, b),
        (4, 0) => avx2._mm256_unpacklo_epi32(a, b),
        (4, _) => avx2._mm256_unpackhi_epi32(a, b),
        (8, 0) => avx2._mm256_unpacklo_epi16(a, b),
        (8, _) => avx2._mm256_unpackhi_epi16(a, b),
        (_, 0) => avx2._mm256_unpacklo_epi8(a, b),
        (_, _) => avx2._mm256_unpackhi_epi8(a, b),
    }
}

/// Takes the bytes of equal significance of a lane together.
#[inline(always)]
fn grouping<const S: usize>() -> __m256i {
    let lane: [u8; 16] = std::array::from_fn(|i| ((i % (16 / S)) * S + i / (16 / S)) as u8);
    cast([lane, lane])
}

/// The inverse of [`grouping`].
#[inline(always)]
fn ungrouping<const S: usize>() -> __m256i {
    let lane: [u8; 16] = std::array::from_fn(|i| ((i % S) * (16 / S) + i / S) as u8);
    cast([lane, lane])
}
