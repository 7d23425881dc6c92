//! Chunks to bytes: every block straight into its place in the output, on any number of threads.

use super::chunk::{Blocks, Body, Chunk};
use super::frame::Frame;
use super::inner::Decompressor;
use super::params::Filter;
use super::streams::Stream;
use super::{fault, filter};
use crate::shuffle::unshuffle_range;
use crate::{CodecError, alloc, parallel};
use std::sync::{Mutex, PoisonError};

/// Decodes the bytes from `start` on so that they fill `out`. The caller has checked that they exist.
///
/// # Errors
/// When a chunk or block that is needed is malformed.
pub(super) fn range(frame: &Frame<'_>, start: u64, threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
    let mut number = start / frame.chunk_len();
    let mut skip = start % frame.chunk_len();
    let mut rest = out;
    while !rest.is_empty() {
        let chunk = frame.chunk(number)?;
        // `skip` is inside the chunk, whose length fits in memory; only the first chunk has one.
        let len = rest.len().min(chunk.len.saturating_sub(skip as usize));
        let (part, after) = rest.split_at_mut(len);
        chunk_range(&chunk, skip as usize, threads, part)?;
        (rest, number, skip) = (after, number + 1, 0);
    }
    Ok(())
}

/// Decodes everything on one thread: `len` bytes, as the frame was checked to hold. Memory is cleared a block or less at a time,
/// right before it is filled, as in [`alloc::in_pieces`].
///
/// # Errors
/// When a chunk or block is malformed, or there is no memory.
pub(super) fn append(frame: &Frame<'_>, len: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = alloc::with_capacity(len)?;
    let mut scratch = Scratch::default();
    for number in 0.. {
        if out.len() >= len {
            break;
        }
        let chunk = frame.chunk(number)?;
        let mut start = 0;
        while start < chunk.len {
            let block_len = chunk.block_len.min(chunk.len - start);
            let shuffled = chunk.filter == Filter::Shuffle && chunk.typesize > 1;
            match chunk.body {
                Body::Blocks(blocks) if shuffled => {
                    let filtered = grown(&mut scratch.filtered, block_len);
                    read_streams(&chunk, &blocks, start / chunk.block_len, filtered, &mut scratch.inner)?;
                    // Leftover bytes stay behind the planes.
                    let elements = block_len / chunk.typesize;
                    let (planes, rest) = filtered.split_at(elements * chunk.typesize);
                    let piece = (PIECE / chunk.typesize).max(1);
                    for first in (0..elements).step_by(piece) {
                        let part = alloc::extend(&mut out, piece.min(elements - first) * chunk.typesize)?;
                        unshuffle_range(planes, chunk.typesize, first, part);
                    }
                    out.extend_from_slice(rest);
                }
                _ => {
                    let part = alloc::extend(&mut out, block_len)?;
                    let piece = Piece { block: start / chunk.block_len, skip: 0, out: part };
                    decode_piece(&chunk, piece, &mut scratch)?;
                }
            }
            start += block_len;
        }
    }
    Ok(out)
}

/// Decodes the bytes of one chunk from `start` on so that they fill `out`, which ends inside the chunk.
///
/// # Errors
/// When a block that is needed is malformed.
pub(super) fn chunk_range(chunk: &Chunk<'_>, start: usize, threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
    let spare = Mutex::new(Vec::new());
    parallel::for_each(threads, Pieces::new(chunk.block_len, start, out), |piece| {
        let held = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch: Scratch = held.unwrap_or_default();
        decode_piece(chunk, piece, &mut scratch)?;
        spare.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        Ok(())
    })
}

/// The part of one block that is wanted.
struct Piece<'a> {
    block: usize,
    /// How many bytes of the block come before.
    skip: usize,
    out: &'a mut [u8],
}

/// Cuts an output at the borders of blocks.
struct Pieces<'a> {
    block_len: usize,
    block: usize,
    skip: usize,
    rest: &'a mut [u8],
}

impl<'a> Pieces<'a> {
    fn new(block_len: usize, start: usize, rest: &'a mut [u8]) -> Self {
        Self { block_len, block: start / block_len, skip: start % block_len, rest }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let rest = std::mem::take(&mut self.rest);
        let (out, after) = rest.split_at_mut(rest.len().min(self.block_len - self.skip));
        let piece = Piece { block: self.block, skip: self.skip, out };
        (self.rest, self.block, self.skip) = (after, self.block + 1, 0);
        Some(piece)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let first = self.rest.len().min(self.block_len - self.skip);
        let count = usize::from(first > 0) + (self.rest.len() - first).div_ceil(self.block_len);
        (count, Some(count))
    }
}

impl ExactSizeIterator for Pieces<'_> {}

/// Memory of one worker, used for block after block.
#[derive(Default)]
struct Scratch {
    inner: Decompressor,
    filtered: Vec<u8>,
    block: Vec<u8>,
}

fn decode_piece(chunk: &Chunk<'_>, piece: Piece<'_>, scratch: &mut Scratch) -> Result<(), CodecError> {
    let block_start = piece.block.saturating_mul(chunk.block_len);
    let Piece { block, skip, out } = piece;
    let blocks = match chunk.body {
        Body::Pattern(pattern) => {
            fill(pattern, block_start.saturating_add(skip), out);
            return Ok(());
        }
        Body::Raw(raw) => {
            out.copy_from_slice(raw.bytes(block_start.saturating_add(skip), out.len())?);
            return Ok(());
        }
        Body::Blocks(blocks) => blocks,
    };
    let (block_len, _) = chunk.block(&blocks, block);
    let whole = out.len() == block_len;
    let plain = filter::is_identity(chunk.filter, chunk.typesize);
    if whole && plain {
        return read_streams(chunk, &blocks, block, out, &mut scratch.inner);
    }
    let filtered = grown(&mut scratch.filtered, block_len);
    read_streams(chunk, &blocks, block, filtered, &mut scratch.inner)?;
    if whole {
        filter::undo(chunk.filter, chunk.typesize, filtered, out);
        return Ok(());
    }
    let decoded = if plain {
        filtered
    } else {
        let decoded = grown(&mut scratch.block, block_len);
        filter::undo(chunk.filter, chunk.typesize, filtered, decoded);
        decoded
    };
    // `Pieces` never reaches past a block.
    out.copy_from_slice(&decoded[skip..skip + out.len()]);
    Ok(())
}

/// Fills `out` with the still filtered bytes of a block.
fn read_streams(
    chunk: &Chunk<'_>,
    blocks: &Blocks<'_>,
    block: usize,
    out: &mut [u8],
    inner: &mut Decompressor,
) -> Result<(), CodecError> {
    let mut streams = blocks.open(block)?;
    let (_, count) = chunk.block(blocks, block);
    let stream_len = out.len() / count;
    for part in out.chunks_exact_mut(stream_len.max(1)) {
        match streams.next(part.len())? {
            Stream::Run(byte) => part.fill(byte),
            Stream::Stored(bytes) => part.copy_from_slice(bytes),
            Stream::Compressed(bytes, at) => inner
                .decompress(blocks.format, bytes, part)
                .map_err(|what| fault("stream_malformed", at, format!("block {block}: {what}")))?,
        }
    }
    Ok(())
}

/// Repeats a pattern whose first byte stands at 0; `out` begins at `start`.
fn fill(pattern: &[u8], start: usize, out: &mut [u8]) {
    match pattern {
        [byte] => out.fill(*byte),
        _ => {
            let endless = pattern.iter().cycle().skip(start % pattern.len().max(1));
            out.iter_mut().zip(endless).for_each(|(to, from)| *to = *from);
        }
    }
}

/// The first `len` bytes of a buffer that only ever grows.
pub(super) fn grown(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}

/// Bytes unshuffled at a time: they stay in the first-level cache.
const PIECE: usize = 16 << 10;
