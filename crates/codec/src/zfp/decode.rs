//! A stream to values: blocks in known places, or one behind the other.

use super::bits::Bits;
use super::params::{BlockLimits, Zfp};
use super::{BLOCK, BLOCK_BYTES, NAME, TASK_BLOCKS, block};
use crate::{CodecError, parallel};
use fw_tensor::ByteOrder;
use pulp::NullaryFnOnce;
use std::sync::atomic::{AtomicU64, Ordering};

/// Decodes a fixed-rate stream from `first_bit` of `bits` on. `skip` bytes of the first block are left out, and `out`
/// ends anywhere.
pub(super) fn decode_fixed(
    zfp: &Zfp,
    block_bits: u32,
    bits: Bits<'_>,
    first_bit: u64,
    skip: usize,
    threads: usize,
    out: &mut [u8],
) -> Result<(), CodecError> {
    let (head, whole) = out.split_at_mut(if skip == 0 { 0 } else { (BLOCK_BYTES - skip).min(out.len()) });
    let mut start = first_bit;
    if !head.is_empty() {
        let (values, _) = block::decode(&zfp.limits, bits, [start]);
        copy_part(&values[0], zfp.order, skip, head);
        start += u64::from(block_bits);
    }
    let task_bits = TASK_BLOCKS as u64 * u64::from(block_bits);
    let tasks = whole.chunks_mut(TASK_BLOCKS * BLOCK_BYTES).enumerate();
    parallel::for_each(threads, tasks, |(index, out)| {
        let start = start + index as u64 * task_bits;
        let task = FixedTask { limits: &zfp.limits, order: zfp.order, bits, start, block_bits, out };
        pulp::Arch::new().dispatch(task);
        Ok(())
    })
}

/// Decodes a stream of blocks without fixed places from its beginning, and returns the bit behind the last block.
///
/// With several threads each takes one segment, and skims the segment before its own to find where to begin. Skimming
/// costs about half of decoding, so that segments which halve from one to the next all end at the same time.
pub(super) fn decode_open(zfp: &Zfp, bits: Bits<'_>, threads: usize, out: &mut [u8]) -> Result<u64, CodecError> {
    let segments = segments(out, threads);
    let last = segments.len() - 1;
    let (mut start, mut blocks_before) = (0, 0);
    // `for_each` asks for the next task under its lock: skims run one at a time, in order.
    let tasks = segments.into_iter().enumerate().map(|(index, out)| {
        if start <= bits.len() {
            start = skim(zfp, bits, start, blocks_before);
        }
        blocks_before = out.len().div_ceil(BLOCK_BYTES) as u64;
        (index, start, out)
    });
    let end = AtomicU64::new(0);
    parallel::for_each(threads, tasks, |(index, start, out)| {
        let task = OpenTask { limits: &zfp.limits, order: zfp.order, bits, start, out };
        let task_end = if start > bits.len() { start } else { pulp::Arch::new().dispatch(task) };
        if task_end > bits.len() {
            return Err(exhausted(bits));
        }
        if index == last {
            end.store(task_end, Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(end.into_inner())
}

/// Decodes a part of a stream of blocks without fixed places: `skip` bytes from the beginning of block `first_block`.
pub(super) fn decode_open_range(
    zfp: &Zfp,
    bits: Bits<'_>,
    first_block: u64,
    skip: usize,
    out: &mut [u8],
) -> Result<(), CodecError> {
    let mut start = skim(zfp, bits, 0, first_block);
    if start > bits.len() {
        return Err(exhausted(bits));
    }
    let (head, whole) = out.split_at_mut(if skip == 0 { 0 } else { (BLOCK_BYTES - skip).min(out.len()) });
    if !head.is_empty() {
        let (values, ends) = block::decode(&zfp.limits, bits, [start]);
        copy_part(&values[0], zfp.order, skip, head);
        start = ends[0];
    }
    decode_open_from(zfp, bits, start, whole).map(drop)
}

/// Decodes the blocks without fixed places from bit `start` on that fill `out`, and returns the bit behind the last.
pub(super) fn decode_open_from(zfp: &Zfp, bits: Bits<'_>, start: u64, out: &mut [u8]) -> Result<u64, CodecError> {
    let task = OpenTask { limits: &zfp.limits, order: zfp.order, bits, start, out };
    let end = pulp::Arch::new().dispatch(task);
    if end > bits.len() { Err(exhausted(bits)) } else { Ok(end) }
}

/// Cuts `out` into whole blocks for each thread, each segment half as long as the one before. At least one segment.
fn segments(out: &mut [u8], threads: usize) -> Vec<&mut [u8]> {
    let mut segments = Vec::new();
    let mut rest = out;
    // The fifth thread would get a thirty-first of the whole: more than five gain nothing.
    for later in (1..threads.clamp(1, 5)).rev() {
        let blocks = rest.len() / BLOCK_BYTES;
        let share = blocks / ((2 << later) - 1) * (1 << later);
        if blocks - share < TASK_BLOCKS {
            break;
        }
        let (segment, after) = rest.split_at_mut(share * BLOCK_BYTES);
        segments.push(segment);
        rest = after;
    }
    segments.push(rest);
    segments
}

/// The bit behind `blocks` blocks from `start`; past the end of `bits` when they are not all there.
fn skim(zfp: &Zfp, bits: Bits<'_>, start: u64, blocks: u64) -> u64 {
    pulp::Arch::new().dispatch(SkimTask { limits: &zfp.limits, bits, start, blocks })
}

/// Blocks in fixed places.
struct FixedTask<'a> {
    limits: &'a BlockLimits,
    order: ByteOrder,
    bits: Bits<'a>,
    start: u64,
    block_bits: u32,
    out: &'a mut [u8],
}

impl NullaryFnOnce for FixedTask<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let mut start = self.start;
        let (groups, rest) = self.out.as_chunks_mut::<{ LANES * BLOCK_BYTES }>();
        for group in groups {
            let starts = std::array::from_fn(|lane| start + lane as u64 * u64::from(self.block_bits));
            let (values, _) = block::decode::<LANES>(self.limits, self.bits, starts);
            let (blocks, _) = group.as_chunks_mut::<BLOCK_BYTES>();
            blocks.iter_mut().zip(&values).for_each(|(out, values)| store(values, self.order, out));
            start += LANES as u64 * u64::from(self.block_bits);
        }
        for out in rest.chunks_mut(BLOCK_BYTES) {
            let (values, _) = block::decode(self.limits, self.bits, [start]);
            copy_part(&values[0], self.order, 0, out);
            start += u64::from(self.block_bits);
        }
    }
}

/// Blocks one behind the other.
struct OpenTask<'a> {
    limits: &'a BlockLimits,
    order: ByteOrder,
    bits: Bits<'a>,
    start: u64,
    out: &'a mut [u8],
}

impl NullaryFnOnce for OpenTask<'_> {
    /// The bit behind the last block decoded; past the end of the stream when it was exhausted.
    type Output = u64;

    #[inline(always)]
    fn call(self) -> u64 {
        let (mut start, len) = (self.start, self.bits.len());
        let (blocks, rest) = self.out.as_chunks_mut::<BLOCK_BYTES>();
        for out in blocks {
            let (values, ends) = block::decode(self.limits, self.bits, [start]);
            store(&values[0], self.order, out);
            start = ends[0];
            if start > len {
                return start;
            }
        }
        if !rest.is_empty() {
            let (values, ends) = block::decode(self.limits, self.bits, [start]);
            copy_part(&values[0], self.order, 0, rest);
            start = ends[0];
        }
        start
    }
}

/// Finding the end of blocks without decoding them.
struct SkimTask<'a> {
    limits: &'a BlockLimits,
    bits: Bits<'a>,
    start: u64,
    blocks: u64,
}

impl NullaryFnOnce for SkimTask<'_> {
    type Output = u64;

    #[inline(always)]
    fn call(self) -> u64 {
        let mut start = self.start;
        for _ in 0..self.blocks {
            start = block::skim(self.limits, self.bits, start);
            if start > self.bits.len() {
                break;
            }
        }
        start
    }
}

/// Blocks decoded in step.
const LANES: usize = 4;

#[inline(always)]
fn store(values: &[f64; BLOCK], order: ByteOrder, out: &mut [u8; BLOCK_BYTES]) {
    let (slots, _) = out.as_chunks_mut::<8>();
    for (slot, value) in slots.iter_mut().zip(values) {
        *slot = match order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        };
    }
}

/// The bytes of a block from `skip` on, as many as `out` takes.
fn copy_part(values: &[f64; BLOCK], order: ByteOrder, skip: usize, out: &mut [u8]) {
    let mut bytes = [0; BLOCK_BYTES];
    store(values, order, &mut bytes);
    out.iter_mut().zip(bytes.iter().skip(skip)).for_each(|(to, from)| *to = *from);
}

fn exhausted(bits: Bits<'_>) -> CodecError {
    CodecError::format(NAME, "stream_exhausted", "the stream ends inside a block").at(bits.len() / 8)
}

#[cfg(test)]
mod tests {
    use super::super::{ZfpMode, plain};
    use super::*;
    use proptest::prelude::*;

    fn mode() -> impl Strategy<Value = ZfpMode> {
        prop_oneof![
            (0.1..70.0f64).prop_map(ZfpMode::FixedRate),
            (0u32..70).prop_map(ZfpMode::FixedPrecision),
            (-600i32..600).prop_map(|e| ZfpMode::FixedAccuracy(2f64.powi(e))),
        ]
    }

    #[test]
    fn segments_cover_everything_and_halve() {
        for (len, threads, expected) in [
            (0, 4, vec![0]),
            (31, 4, vec![31]),
            (10_000 * 32 + 8, 1, vec![10_000 * 32 + 8]),
            (9_000 * 32 + 8, 2, vec![6_000 * 32, 3_000 * 32 + 8]),
            (150_000 * 32, 4, vec![80_000 * 32, 40_000 * 32, 20_000 * 32, 10_000 * 32]),
        ] {
            let mut out = vec![0; len];
            let lens: Vec<usize> = segments(&mut out, threads).iter().map(|segment| segment.len()).collect();
            assert_eq!(lens, expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Any bits are a stream; both ways of reading them must agree, with and without the processor's extensions.
        #[test]
        fn the_plain_twin_agrees_on_any_bits(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(1)], 0..400),
            mode in mode(),
            count in 1usize..70,
        ) {
            let zfp = Zfp::new(mode, ByteOrder::Little).unwrap();
            let bits = Bits::new(&bytes);
            let expected = plain::decode(&zfp.limits, &bytes, count);
            let mut out = vec![0; count * 8];
            let mut baseline = vec![0; count * 8];
            if let Some(block_bits) = zfp.fixed_block_bits() {
                decode_fixed(&zfp, block_bits, bits, 0, 0, 1, &mut out).unwrap();
                FixedTask { limits: &zfp.limits, order: zfp.order, bits, start: 0, block_bits, out: &mut baseline }.call();
            } else {
                let end = OpenTask { limits: &zfp.limits, order: zfp.order, bits, start: 0, out: &mut baseline }.call();
                prop_assert_eq!(skim(&zfp, bits, 0, count.div_ceil(4) as u64).min(bits.len() + 1), end.min(bits.len() + 1));
                let result = decode_open(&zfp, bits, 1, &mut out);
                prop_assert_eq!(result.is_ok(), end <= bits.len());
                if result.is_err() {
                    return Ok(());
                }
            }
            let expected: Vec<u8> = expected.iter().flat_map(|v| v.to_le_bytes()).collect();
            prop_assert_eq!(&out, &expected);
            prop_assert_eq!(&baseline, &expected);
        }
    }
}
