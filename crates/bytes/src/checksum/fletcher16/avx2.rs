//! Long runs, sixty-four bytes at a time from an aligned place.
//!
//! A frame begins anywhere. Read from there, every other vector would lie in two lines of the cache, which costs a third of the
//! speed as soon as the frames do not come from the nearest cache.
//!
//! What stands before the aligned blocks and behind them is fed as a block of its own, with zeros for the bytes that do not
//! belong to it, so that nothing branches on where a frame happens to lie. Every zero behind bytes adds their sum to the second
//! sum once more; that is taken off at the end.

use super::Fletcher16;
use core::arch::x86_64::__m256i;
use pulp::x86::V3;
use pulp::{NullaryFnOnce, cast};

/// Feeds many bytes; `None` when they are few, or the processor has no such vectors.
#[inline(always)]
pub(super) fn feed(sums: Fletcher16, bytes: &[u8]) -> Option<Fletcher16> {
    if bytes.len() < MANY {
        return None;
    }
    let simd = V3::try_new()?;
    simd.vectorize(Feed { simd, sums, bytes })
}

/// From this many bytes on it is worth asking what the processor can do.
const MANY: usize = 256;

/// Bytes of a vector.
const WIDTH: usize = 32;

struct Feed<'b> {
    simd: V3,
    sums: Fletcher16,
    bytes: &'b [u8],
}

impl NullaryFnOnce for Feed<'_> {
    type Output = Option<Fletcher16>;

    /// As in [`lanes`](Fletcher16::lanes), every lane keeps the sum of its own bytes and the sum of those sums before each
    /// block.
    #[inline(always)]
    fn call(self) -> Option<Fletcher16> {
        let Self { simd: V3 { avx, avx2, .. }, sums, bytes } = self;
        let (head, body) = bytes.split_at_checked(bytes.as_ptr().align_offset(WIDTH))?;
        let (blocks, tail) = body.as_chunks::<{ 2 * WIDTH }>();
        // Of a block's two vectors, only the second for the head: it is shorter than that.
        let first = FIRST.get(WIDTH.checked_sub(head.len())?..)?.first_chunk()?;
        let head_1 = avx2._mm256_and_si256(vector(bytes.first_chunk()?), vector(first));
        let [last_0, last_1] = halves(LAST.get(tail.len()..)?.first_chunk()?)?;
        let [tail_0, tail_1] = halves(bytes.last_chunk()?)?;
        let [tail_0, tail_1] = [avx2._mm256_and_si256(tail_0, last_0), avx2._mm256_and_si256(tail_1, last_1)];
        let zero = avx._mm256_setzero_si256();
        let (mut own_0, mut own_1) = (zero, head_1);
        let (mut before_0, mut before_1) = (zero, zero);
        let mut add = |x_0: __m256i, x_1: __m256i| {
            (before_0, before_1) = (avx2._mm256_add_epi8(before_0, own_0), avx2._mm256_add_epi8(before_1, own_1));
            (own_0, own_1) = (avx2._mm256_add_epi8(own_0, x_0), avx2._mm256_add_epi8(own_1, x_1));
        };
        for block in blocks {
            let [x_0, x_1] = halves(block)?;
            add(x_0, x_1);
        }
        add(tail_0, tail_1);
        // Four sums of less than 2¹⁴, added up across side by side.
        let sum = |x: __m256i| avx2._mm256_sad_epu8(x, zero);
        let own = avx2._mm256_add_epi64(sum(own_0), sum(own_1));
        let before = sum(avx2._mm256_add_epi8(before_0, before_1));
        let tail_sum = avx2._mm256_add_epi64(sum(tail_0), sum(tail_1));
        let pair_0 = avx2._mm256_or_si256(own, avx2._mm256_slli_epi64::<16>(before));
        let pair_1 = avx2._mm256_or_si256(tail_sum, avx2._mm256_slli_epi64::<16>(sum(head_1)));
        let four = avx2._mm256_or_si256(pair_0, avx2._mm256_slli_epi64::<32>(pair_1));
        let [a, b, c, d]: [u64; 4] = cast(four);
        let across = a.wrapping_add(b).wrapping_add(c.wrapping_add(d));
        let [own, before, tail_sum, head_sum] = [0, 16, 32, 48].map(|at| (across >> at) as u8);
        // Σ (64 - j) · own[j]; only the low byte of a product's sum counts, whatever happens to the others.
        let near = avx2._mm256_maddubs_epi16(own_0, vector(&weights(64)));
        let far = avx2._mm256_maddubs_epi16(own_1, vector(&weights(32)));
        let weighted = sum(avx2._mm256_and_si256(avx2._mm256_add_epi16(near, far), avx._mm256_set1_epi16(0xff)));
        let [a, b, c, d]: [u64; 4] = cast(weighted);
        let weighted = a.wrapping_add(b).wrapping_add(c.wrapping_add(d)) as u8;
        let behind_head = (WIDTH as u8).wrapping_sub(head.len() as u8).wrapping_mul(head_sum);
        let before_tail = (2 * WIDTH as u8).wrapping_sub(tail.len() as u8).wrapping_mul(own.wrapping_sub(tail_sum));
        let b = (2 * WIDTH as u8).wrapping_mul(before).wrapping_add(weighted);
        Some(sums.and(bytes.len() as u8, own, b.wrapping_sub(behind_head).wrapping_sub(before_tail)))
    }
}

#[inline(always)]
fn vector(bytes: &[u8; WIDTH]) -> __m256i {
    cast(*bytes)
}

/// The two vectors of a block.
#[inline(always)]
fn halves(block: &[u8; 2 * WIDTH]) -> Option<[__m256i; 2]> {
    Some([vector(block.first_chunk()?), vector(block.last_chunk()?)])
}

const fn weights(first: u8) -> [u8; WIDTH] {
    let mut weights = [0; WIDTH];
    let mut at = 0;
    while at < WIDTH {
        weights[at] = first - at as u8;
        at += 1;
    }
    weights
}

/// Masks of vectors: from byte `WIDTH - n` on, the first n bytes.
const FIRST: [u8; 2 * WIDTH] = {
    let mut mask = [0xff; 2 * WIDTH];
    mask.split_at_mut(WIDTH).1.copy_from_slice(&[0; WIDTH]);
    mask
};

/// Masks of blocks: from byte n on, the last n bytes.
const LAST: [u8; 4 * WIDTH] = {
    let mut mask = [0; 4 * WIDTH];
    mask.split_at_mut(2 * WIDTH).1.copy_from_slice(&[0xff; 2 * WIDTH]);
    mask
};
