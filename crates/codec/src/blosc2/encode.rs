//! Bytes to chunks: blocks are packed on any number of threads and joined in order, so the result is always the same.

use super::chunk::{self, HeaderFields};
use super::decode::grown;
use super::inner::Compressor;
use super::params::Blosc2Params;
use super::streams::RUN_TOKEN;
use super::{NAME, filter, frame};
use crate::{CodecError, alloc, parallel};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Appends a whole frame.
///
/// # Errors
/// When the input is empty.
pub(super) fn frame(params: &Blosc2Params, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    frame_of_chunks(params, frame::max_chunk_len(params.typesize), input, threads, out)
}

/// Appends a whole frame whose chunks hold `chunk_len` bytes each.
pub(super) fn frame_of_chunks(
    params: &Blosc2Params,
    chunk_len: usize,
    input: &[u8],
    threads: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    if input.is_empty() {
        return Err(CodecError::misuse(NAME, "empty_input", "blosc2 cannot hold an empty array"));
    }
    let max_len = frame::max_len(input.len(), params.typesize)
        .ok_or_else(|| CodecError::misuse(NAME, "input_too_large", "the frame would not fit in memory"))?;
    alloc::reserve(out, max_len)?;
    let mut writer = frame::Writer::begin(out);
    let mut first_block_len = None;
    for part in input.chunks(chunk_len) {
        let (block_len, split) = params.blocks(part.len());
        first_block_len.get_or_insert(block_len);
        if part.len() >= MIN_SPECIAL_LEN && is_run(part) && part[0] == 0 {
            writer.chunk_of_zeros();
        } else {
            writer.chunk_here(out);
            chunk(params, part, block_len, split, threads, out)?;
        }
    }
    let sizes = frame::Sizes { len: input.len(), chunk_len, block_len: first_block_len.unwrap_or_default() };
    writer.finish(params, sizes, out);
    Ok(())
}

/// Appends one chunk.
fn chunk(
    params: &Blosc2Params,
    input: &[u8],
    block_len: usize,
    split: bool,
    threads: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let start = out.len();
    let mut fields = HeaderFields { len: input.len(), block_len, chunk_len: 0, raw: false, split };
    let fits = params.level > 0 && input.len() > MIN_INPUT_LEN && {
        out.resize(start + chunk::HEADER_LEN, 0);
        blocks(params, input, block_len, split, threads, out)?
    };
    if !fits {
        // Compression did not help: the bytes as they are.
        out.truncate(start);
        out.resize(start + chunk::HEADER_LEN, 0);
        out.extend_from_slice(input);
        fields.raw = true;
    }
    fields.chunk_len = out.len() - start;
    out[start..start + chunk::HEADER_LEN].copy_from_slice(&fields.to_bytes(params));
    Ok(())
}

/// Appends the table of starts and the blocks behind the header that ends `out`; false when storing is shorter.
fn blocks(
    params: &Blosc2Params,
    input: &[u8],
    block_len: usize,
    split: bool,
    threads: usize,
    out: &mut Vec<u8>,
) -> Result<bool, CodecError> {
    let count = input.len().div_ceil(block_len);
    let table = out.len();
    let chunk_start = table - chunk::HEADER_LEN;
    let limit = table + input.len();
    if table + 4 * count >= limit {
        return Ok(false);
    }
    out.resize(table + 4 * count, 0);
    let joiner = Mutex::new(Joiner { out, chunk_start, limit, next: 0, early: BTreeMap::new(), full: false });
    let spare = Mutex::new(Vec::new());
    let streams_of = |block: &[u8]| if split && block.len() == block_len { params.typesize } else { 1 };
    let stream_len = input.chunks(block_len).next().map_or(0, |block| block.len() / streams_of(block));
    parallel::for_each(threads, input.chunks(block_len).enumerate(), |(index, block)| {
        if locked(&joiner).full {
            return Ok(());
        }
        let held = locked(&spare).pop();
        let mut scratch = match held {
            Some(scratch) => scratch,
            None => Scratch::new(params, stream_len)
                .ok_or_else(|| CodecError::limit(NAME, "out_of_memory", "no memory for a compression context"))?,
        };
        let len = pack_block(params, block, streams_of(block), &mut scratch);
        locked(&joiner).join(index, &mut scratch.packed, len);
        locked(&spare).push(scratch);
        Ok(())
    })?;
    Ok(!joiner.into_inner().unwrap_or_else(PoisonError::into_inner).full)
}

/// Appends packed blocks in their order, whichever is ready first.
struct Joiner<'a> {
    out: &'a mut Vec<u8>,
    chunk_start: usize,
    /// Where storing the chunk would end.
    limit: usize,
    next: usize,
    early: BTreeMap<usize, Vec<u8>>,
    /// The chunk is not worth compressing.
    full: bool,
}

impl Joiner<'_> {
    /// Takes the first `len` bytes of `packed`, which may come back as another buffer.
    fn join(&mut self, index: usize, packed: &mut Vec<u8>, len: usize) {
        if index != self.next {
            let mut early = std::mem::take(packed);
            early.truncate(len);
            self.early.insert(index, early);
            return;
        }
        self.append(&packed[..len]);
        while let Some(block) = self.early.remove(&self.next) {
            self.append(&block);
            if packed.capacity() < block.capacity() {
                *packed = block;
            }
        }
    }

    fn append(&mut self, block: &[u8]) {
        if self.full || self.out.len() + block.len() >= self.limit {
            self.full = true;
            return;
        }
        let entry = self.chunk_start + chunk::HEADER_LEN + 4 * self.next;
        // A chunk that is not full is shorter than its 256 MiB of input.
        let start = (self.out.len() - self.chunk_start) as u32;
        self.out[entry..entry + 4].copy_from_slice(&start.to_le_bytes());
        self.out.extend_from_slice(block);
        self.next += 1;
    }
}

/// Memory of one worker, used for block after block.
struct Scratch {
    inner: Compressor,
    filtered: Vec<u8>,
    packed: Vec<u8>,
}

impl Scratch {
    fn new(params: &Blosc2Params, stream_len: usize) -> Option<Self> {
        Some(Self { inner: Compressor::new(params, stream_len)?, filtered: Vec::new(), packed: Vec::new() })
    }
}

/// Packs one block into `scratch.packed` and says how long it is.
fn pack_block(params: &Blosc2Params, block: &[u8], streams: usize, scratch: &mut Scratch) -> usize {
    let Scratch { inner, filtered, packed } = scratch;
    let filtered = if filter::is_identity(params.filter, params.typesize) {
        block
    } else {
        let filtered = grown(filtered, block.len());
        filter::apply(params.filter, params.typesize, block, filtered);
        filtered
    };
    // Blocks are never empty, and split only when they hold that many whole streams.
    let stream_len = filtered.len() / streams;
    let packed = grown(packed, block.len() + SIZE_LEN * streams + inner.room(stream_len));
    let mut at = 0;
    for stream in filtered.chunks_exact(stream_len) {
        let body = at + SIZE_LEN;
        let size = if is_run(stream) {
            match stream[0] {
                0 => 0,
                byte => {
                    packed[body] = RUN_TOKEN;
                    at += 1;
                    -i32::from(byte)
                }
            }
        } else {
            let len = inner.compress(stream, &mut packed[body..]).unwrap_or_else(|| {
                packed[body..body + stream.len()].copy_from_slice(stream);
                stream.len()
            });
            at += len;
            len as i32
        };
        packed[body - SIZE_LEN..body].copy_from_slice(&size.to_le_bytes());
        at += SIZE_LEN;
    }
    at
}

/// True when every byte equals the first.
fn is_run(bytes: &[u8]) -> bool {
    bytes.split_last().is_some_and(|(_, head)| *head == bytes[1..])
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A worker that panicked poisons the lock; the panic itself is reported when the workers are joined.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In front of every stream.
const SIZE_LEN: usize = 4;
/// Shorter inputs are always stored.
const MIN_INPUT_LEN: usize = 32;
/// Shorter runs of zeros are stored like anything else.
const MIN_SPECIAL_LEN: usize = 32;

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::super::frame::Frame;
    use super::super::view::View;
    use super::*;

    /// Several chunks, one of them all zeros, the last one short: as for inputs above 256 MiB.
    #[test]
    fn chunks_are_read_back_whole_and_across_their_borders() {
        let mut input: Vec<u8> = (0..10_003u32).flat_map(|i| (f64::from(i) * 0.25).to_le_bytes()).collect();
        input.push(9);
        input[16_000..24_000].fill(0);
        let params = Blosc2Params { typesize: 8, ..Blosc2Params::default() };
        for threads in [1, 3] {
            let mut bytes = Vec::new();
            frame_of_chunks(&params, 8000, &input, threads, &mut bytes).unwrap();
            let frame = Frame::read(View::whole(&bytes), input.len() as u64).unwrap();
            let mut whole = vec![1; input.len()];
            decode::range(&frame, 0, threads, &mut whole).unwrap();
            assert!(whole == input);
            for (start, len) in [(7999, 2), (7000, 20_000), (15_990, 8020), (80_024, 1), (80_000, 25), (80_025, 0)] {
                let mut part = vec![1; len];
                decode::range(&frame, start as u64, threads, &mut part).unwrap();
                assert!(part == input[start..start + len], "{len} from {start}");
            }
        }
    }
}
