//! Values to a stream: the input is cut into tasks, and the tasks' bits join without a seam.

use super::bits::{BitJoiner, BitWriter};
use super::block::{self, Block};
use super::params::{BlockLimits, Zfp};
use super::{BLOCK_BYTES, BLOCK_MAX_BITS, NAME, TASK_BLOCKS};
use crate::{CodecError, parallel};
use fw_tensor::ByteOrder;
use std::sync::Mutex;

/// Appends the stream of `input`, whose length is a multiple of 8, to `out`.
pub(super) fn encode(zfp: &Zfp, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    match zfp.fixed_block_bits() {
        Some(block_bits) => encode_fixed(zfp, block_bits, input, threads, out),
        None if threads <= 1 || input.len() <= TASK_BYTES => encode_joined(zfp, input, out),
        None => encode_parts(zfp, input, threads, out),
    }
}

/// At a fixed rate every task knows its place in the output.
fn encode_fixed(zfp: &Zfp, block_bits: u32, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let blocks = input.len().div_ceil(BLOCK_BYTES);
    let encoded_len =
        blocks.checked_mul(block_bits as usize).map(|bits| bits.div_ceil(64) * 8).ok_or_else(too_large)?;
    reserve(out, encoded_len)?;
    let start = out.len();
    out.resize(start + encoded_len, 0);
    let task_len = TASK_BLOCKS / 8 * block_bits as usize;
    let tasks = input.chunks(TASK_BYTES).zip(out[start..].chunks_mut(task_len)).enumerate();
    parallel::for_each(threads, tasks, |(index, (input, out))| {
        EncodeTask { limits: &zfp.limits, order: zfp.order, input, out }.run(index).map(|_| ())
    })
}

/// One task after the other, each through the same scratch memory.
fn encode_joined(zfp: &Zfp, input: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    let mut scratch = vec![0; task_capacity(input.len().min(TASK_BYTES))];
    let mut joiner = BitJoiner::new(out);
    for (index, input) in input.chunks(TASK_BYTES).enumerate() {
        let task = EncodeTask { limits: &zfp.limits, order: zfp.order, input, out: &mut scratch };
        let len = task.run(index)?;
        joiner.append(&scratch, len);
    }
    joiner.finish();
    Ok(())
}

/// All tasks into memory of their own, then joined in order.
fn encode_parts(zfp: &Zfp, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let parts: Vec<Mutex<(Vec<u8>, u64)>> = input.chunks(TASK_BYTES).map(|_| Mutex::default()).collect();
    let tasks = input.chunks(TASK_BYTES).zip(&parts).enumerate();
    parallel::for_each(threads, tasks, |(index, (input, part))| {
        let mut bytes = vec![0; task_capacity(input.len())];
        let task = EncodeTask { limits: &zfp.limits, order: zfp.order, input, out: &mut bytes };
        let len = task.run(index)?;
        bytes.truncate(len.div_ceil(64) as usize * 8);
        bytes.shrink_to_fit();
        if let Ok(mut part) = part.lock() {
            *part = (bytes, len);
        }
        Ok(())
    })?;
    let parts: Vec<(Vec<u8>, u64)> = parts.into_iter().filter_map(|part| part.into_inner().ok()).collect();
    reserve(out, parts.iter().map(|(bytes, _)| bytes.len()).sum())?;
    let mut joiner = BitJoiner::new(out);
    parts.iter().for_each(|(bytes, len)| joiner.append(bytes, *len));
    joiner.finish();
    Ok(())
}

/// Values to bits that begin on a word. Compiled for the processor's instruction set and for the baseline.
struct EncodeTask<'a> {
    limits: &'a BlockLimits,
    order: ByteOrder,
    input: &'a [u8],
    out: &'a mut [u8],
}

impl EncodeTask<'_> {
    /// Returns the number of bits written.
    fn run(self, index: usize) -> Result<u64, CodecError> {
        pulp::Arch::new().dispatch(self).map_err(|value| {
            let position = index * TASK_BYTES / 8 + value;
            let message = format!("value {position} is not finite; zfp codes only finite values");
            CodecError::misuse(NAME, "non_finite_value", message)
        })
    }
}

impl pulp::NullaryFnOnce for EncodeTask<'_> {
    /// The number of bits, or the position of a value that is not finite.
    type Output = Result<u64, usize>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let mut writer = BitWriter::new(self.out);
        let mut total = 0;
        let mut done = 0;
        let (groups, rest) = self.input.as_chunks::<{ LANES * BLOCK_BYTES }>();
        for group in groups {
            let (bytes, _) = group.as_chunks::<BLOCK_BYTES>();
            let mut blocks = [Block::default(); LANES];
            blocks.iter_mut().zip(bytes).for_each(|(block, bytes)| *block = load(bytes, self.order));
            match block::encode(self.limits, &blocks, &mut writer) {
                Ok(len) => total += len,
                Err(lane) => return Err(done + lane * 4 + first_non_finite(&blocks[lane])),
            }
            done += LANES * 4;
        }
        for bytes in rest.chunks(BLOCK_BYTES) {
            let block = load_short(bytes, self.order);
            match block::encode(self.limits, &[block], &mut writer) {
                Ok(len) => total += len,
                Err(_) => return Err(done + first_non_finite(&block)),
            }
            done += 4;
        }
        writer.finish();
        Ok(total)
    }
}

/// Blocks coded in step.
const LANES: usize = 4;
/// Input bytes of a task.
const TASK_BYTES: usize = TASK_BLOCKS * BLOCK_BYTES;

/// Enough for any code of so much input.
fn task_capacity(input_len: usize) -> usize {
    (input_len.div_ceil(BLOCK_BYTES) * BLOCK_MAX_BITS as usize).div_ceil(64) * 8
}

#[inline(always)]
fn load(bytes: &[u8; BLOCK_BYTES], order: ByteOrder) -> Block {
    let (values, _) = bytes.as_chunks::<8>();
    let mut block = Block::default();
    for (slot, value) in block.iter_mut().zip(values) {
        *slot = match order {
            ByteOrder::Little => u64::from_le_bytes(*value),
            ByteOrder::Big => u64::from_be_bytes(*value),
        };
    }
    block
}

/// The last block repeats values so that the padding costs few bits: `aaaa`, `abba`, `abca`.
#[inline(always)]
fn load_short(bytes: &[u8], order: ByteOrder) -> Block {
    let mut padded = [0; BLOCK_BYTES];
    padded.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let [a, b, c, d] = load(&padded, order);
    match bytes.len() / 8 {
        1 => [a, a, a, a],
        2 => [a, b, b, a],
        3 => [a, b, c, a],
        _ => [a, b, c, d],
    }
}

#[cold]
fn first_non_finite(block: &Block) -> usize {
    block.iter().position(|bits| !f64::from_bits(*bits).is_finite()).unwrap_or(0)
}

fn reserve(out: &mut Vec<u8>, len: usize) -> Result<(), CodecError> {
    out.try_reserve(len)
        .map_err(|_| CodecError::limit(NAME, "out_of_memory", format!("no memory for {len} bytes of encoded values")))
}

fn too_large() -> CodecError {
    CodecError::misuse(NAME, "input_too_large", "the encoded values do not fit the address space")
}

#[cfg(test)]
mod tests {
    use super::super::{ZfpMode, plain};
    use super::*;
    use proptest::prelude::*;

    /// Values of very different sizes, zeros, subnormals and neighbours that differ little.
    fn values() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            4 => -1000.0..1000.0f64,
            1 => Just(0.0),
            1 => any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite()),
            1 => (0u64..1 << 53).prop_map(f64::from_bits),
        ];
        let smooth = (1usize..90, -1e3..1e3f64, 0.0..10.0f64)
            .prop_map(|(n, base, step)| (0..n).map(|i| base + step * (i as f64 * 0.1).sin()).collect());
        prop_oneof![prop::collection::vec(value, 0..90), smooth]
    }

    fn mode() -> impl Strategy<Value = ZfpMode> {
        prop_oneof![
            (0.1..70.0f64).prop_map(ZfpMode::FixedRate),
            (0u32..70).prop_map(ZfpMode::FixedPrecision),
            (-1074i32..1023).prop_map(|e| ZfpMode::FixedAccuracy(2f64.powi(e / 2) * 2f64.powi(e - e / 2))),
            (-60i32..20).prop_map(|e| ZfpMode::FixedAccuracy(2f64.powi(e) * 1.37)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_plain_twin_agrees(values in values(), mode in mode(), big: bool) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let zfp = Zfp::new(mode, order).unwrap();
            let bytes: Vec<u8> =
                values.iter().flat_map(|v| if big { v.to_be_bytes() } else { v.to_le_bytes() }).collect();
            let expected = plain::encode(&zfp.limits, &values);
            let mut encoded = Vec::new();
            encode(&zfp, &bytes, 1, &mut encoded).unwrap();
            prop_assert_eq!(&encoded, &expected);

            // The same code without the processor's extensions.
            let mut baseline = vec![0; task_capacity(bytes.len()).max(expected.len())];
            let task = EncodeTask { limits: &zfp.limits, order, input: &bytes, out: &mut baseline };
            let len = pulp::NullaryFnOnce::call(task).unwrap();
            prop_assert_eq!(len.div_ceil(64) as usize * 8, expected.len());
            prop_assert_eq!(&baseline[..expected.len()], &expected[..]);
        }
    }
}
