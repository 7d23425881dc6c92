//! The frame around the chunks: header, index of chunk offsets, trailer.

use super::chunk::{self, Chunk, HeaderFields};
use super::params::{Blosc2Params, InnerCodec};
use super::{NAME, decode, fault, parse, unsupported};
use crate::CodecError;
use fw_bytes::Cursor;

/// A frame whose header, trailer and index were checked against the payload and the length it must decode to.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Decoded length of all chunks.
    len: u64,
    /// Decoded length of every chunk but the last.
    chunk_len: u64,
    typesize: usize,
    /// The bytes of all chunks, which offsets count from.
    chunks: &'a [u8],
    chunks_at: u64,
    /// One offset per chunk.
    index: Vec<[u8; 8]>,
    index_at: u64,
}

impl<'a> Frame<'a> {
    /// Reads everything but the chunks.
    ///
    /// # Errors
    /// When a field contradicts another, the payload or `expected_len`.
    pub(super) fn read(payload: &'a [u8], expected_len: u64) -> Result<Self, CodecError> {
        let mut cursor = Cursor::new(payload);
        cursor.expect(MAGIC, "magic", "frame magic").map_err(parse)?;
        let header_len = tagged(&mut cursor, 0xd2, "header size", Cursor::i32_be)?;
        if usize::try_from(header_len) != Ok(HEADER_LEN) {
            let message = format!("frame header has {header_len} bytes, expected {HEADER_LEN} (no metalayers)");
            return Err(unsupported("header_size", 10, message));
        }
        let frame_len = tagged(&mut cursor, 0xcf, "frame size", Cursor::u64_be)?;
        if frame_len != payload.len() as u64 {
            let message = format!("frame claims {frame_len} bytes, the payload has {}", payload.len());
            return Err(fault("frame_size", 15, message));
        }
        let [flags, kind, _, _] = tagged(&mut cursor, 0xa4, "frame flags", Cursor::array::<4>)?;
        if flags & 0x0f != FORMAT_VERSION || flags & FLAG_OFFSETS_64 == 0 || kind != 0 {
            let message = format!("frame flags are {flags:02x} {kind:02x}, expected 12 00 (version 2, contiguous)");
            return Err(unsupported("frame_flags", 25, message));
        }
        let len = tagged(&mut cursor, 0xd3, "uncompressed size", Cursor::i64_be)?;
        if u64::try_from(len) != Ok(expected_len) {
            let message = format!("frame decodes to {len} bytes, expected {expected_len}");
            return Err(CodecError { message, ..CodecError::length(NAME, expected_len, 0) }.at(29));
        }
        let compressed_len = tagged(&mut cursor, 0xd3, "compressed size", Cursor::i64_be)?;
        let typesize = tagged(&mut cursor, 0xd2, "type size", Cursor::i32_be)?;
        let typesize = usize::try_from(typesize)
            .ok()
            .filter(|size| *size > 0)
            .ok_or_else(|| fault("frame_typesize", 47, format!("type size is {typesize}, expected 1 or more")))?;
        let _block_len = tagged(&mut cursor, 0xd2, "block size", Cursor::i32_be)?;
        let chunk_len = tagged(&mut cursor, 0xd2, "chunk size", Cursor::i32_be)?;
        let _threads = tagged(&mut cursor, 0xd1, "threads", Cursor::i16_be)?;
        let _threads = tagged(&mut cursor, 0xd1, "threads", Cursor::i16_be)?;
        let at = cursor.position();
        let has_trailing_metadata = cursor.u8("metalayer flag").map_err(parse)?;
        if !matches!(has_trailing_metadata, 0xc2 | 0xc3) {
            let message = format!("metalayer flag is {has_trailing_metadata:#04x}, expected c2 or c3");
            return Err(fault("frame_field", at, message));
        }
        cursor.expect(&[0xd8, 0x06], "frame_field", "filter record").map_err(parse)?;
        let _filters: [u8; 16] = cursor.array("filters").map_err(parse)?;
        cursor.expect(NO_METALAYERS, "metalayers", "empty metalayers").map_err(parse)?;

        let chunks_at = cursor.position();
        let chunks = u64::try_from(compressed_len)
            .map_err(|_| fault("compressed_size", 38, format!("compressed size is {compressed_len}")))
            .and_then(|len| cursor.take_u64(len, "chunks").map_err(parse))?;
        let index_at = cursor.position();
        let trailer_len = trailer_len(payload)?;
        let index_len = cursor.remaining().checked_sub(trailer_len).ok_or_else(|| {
            let have = cursor.remaining();
            fault("trailer", index_at, format!("trailer of {trailer_len} bytes in the last {have} of the frame"))
        })?;
        let index_bytes = cursor.take(index_len, "index").map_err(parse)?;

        let chunk_len = match u64::try_from(chunk_len) {
            Ok(chunk_len @ 1..) => chunk_len,
            _ => return Err(fault("frame_chunk_size", 57, format!("chunk size is {chunk_len}, expected 1 or more"))),
        };
        let index = read_index(index_bytes, index_at, expected_len, chunk_len)?;
        Ok(Self { len: expected_len, chunk_len, typesize, chunks, chunks_at, index, index_at })
    }

    /// Decoded length of every chunk but the last.
    pub(super) fn chunk_len(&self) -> u64 {
        self.chunk_len
    }

    /// Decoded length of the blocks, when they lie at multiples of it in the whole.
    pub(super) fn block_len(&self) -> Option<u64> {
        let block_len = self.chunk(0).ok()?.block_len as u64;
        let aligned = self.index.len() <= 1 || self.chunk_len.is_multiple_of(block_len.max(1));
        (block_len > 0 && aligned).then_some(block_len)
    }

    /// The chunk that holds the decoded bytes from `number * chunk_len` on.
    pub(super) fn chunk(&self, number: u64) -> Result<Chunk<'a>, CodecError> {
        let entry_at = self.index_at;
        let entry = usize::try_from(number).ok().and_then(|number| self.index.get(number));
        let start = number.checked_mul(self.chunk_len).filter(|start| *start < self.len);
        let (Some(entry), Some(start)) = (entry, start) else {
            let message = format!("chunk {number} is not in the index of {} chunks", self.index.len());
            return Err(fault("chunk_index", entry_at, message));
        };
        let offset = u64::from_le_bytes(*entry);
        // Both are at most an `i32`, so the length of one chunk fits in memory.
        let len = self.chunk_len.min(self.len - start) as usize;
        if offset >> 63 != 0 {
            return Chunk::special(((offset >> 56) & 7) as u8, len, self.typesize, entry_at);
        }
        let bytes = usize::try_from(offset).ok().and_then(|offset| self.chunks.get(offset..)).ok_or_else(|| {
            let message = format!("chunk {number} starts at {offset}, the chunks have {} bytes", self.chunks.len());
            fault("chunk_offset", entry_at, message)
        })?;
        Chunk::read(bytes, self.chunks_at.saturating_add(offset), len)
    }
}

/// Decoded sizes that the header of a frame states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) len: usize,
    pub(super) chunk_len: usize,
    pub(super) block_len: usize,
}

/// Writes a frame: the caller appends the chunks between [`Writer::begin`] and [`Writer::finish`].
#[derive(Debug)]
pub(super) struct Writer {
    start: usize,
    index: Vec<u8>,
}

impl Writer {
    /// Leaves room for the header.
    pub(super) fn begin(out: &mut Vec<u8>) -> Self {
        let start = out.len();
        out.resize(start + HEADER_LEN, 0);
        Self { start, index: Vec::new() }
    }

    /// The next chunk is what is appended to `out` from now on.
    pub(super) fn chunk_here(&mut self, out: &[u8]) {
        let offset = (out.len() - self.start - HEADER_LEN) as u64;
        self.index.extend_from_slice(&offset.to_le_bytes());
    }

    /// The next chunk has only zeros and no body.
    pub(super) fn chunk_of_zeros(&mut self) {
        let entry = (1 << 63) | (u64::from(chunk::SPECIAL_ZEROS) << 56);
        self.index.extend_from_slice(&entry.to_le_bytes());
    }

    /// Appends index and trailer and fills in the header.
    pub(super) fn finish(self, params: &Blosc2Params, sizes: Sizes, out: &mut Vec<u8>) {
        let Sizes { len, chunk_len, block_len } = sizes;
        let chunks_len = out.len() - self.start - HEADER_LEN;
        let index_params =
            Blosc2Params { codec: InnerCodec::BloscLz, level: 0, typesize: 8, filter: super::Filter::Shuffle };
        let index_len = self.index.len();
        let fields = HeaderFields {
            len: index_len,
            block_len: index_len,
            chunk_len: chunk::HEADER_LEN + index_len,
            raw: true,
            split: true,
        };
        out.extend_from_slice(&fields.to_bytes(&index_params));
        out.extend_from_slice(&self.index);
        out.extend_from_slice(TRAILER);

        let mut header = Vec::with_capacity(HEADER_LEN);
        header.extend_from_slice(MAGIC);
        header.push(0xd2);
        header.extend_from_slice(&(HEADER_LEN as u32).to_be_bytes());
        header.push(0xcf);
        header.extend_from_slice(&((out.len() - self.start) as u64).to_be_bytes());
        let codec = params.codec.code() | ((params.level as u8) << 4);
        header.extend_from_slice(&[0xa4, FLAG_OFFSETS_64 | FORMAT_VERSION, 0, codec, SPLIT_MODE]);
        for size in [len, chunks_len] {
            header.push(0xd3);
            header.extend_from_slice(&(size as u64).to_be_bytes());
        }
        for size in [params.typesize, block_len, len.min(chunk_len)] {
            header.push(0xd2);
            header.extend_from_slice(&(size as u32).to_be_bytes());
        }
        header.extend_from_slice(&[0xd1, 0, 0, 0xd1, 0, 1, 0xc2, 0xd8, 0x06]);
        header.extend_from_slice(&params.filter.slots());
        header.push(params.codec.code());
        header.extend_from_slice(&[0; 9]);
        header.extend_from_slice(NO_METALAYERS);
        out[self.start..self.start + HEADER_LEN].copy_from_slice(&header);
    }
}

/// The largest chunk: 256 MiB of whole elements.
pub(super) fn max_chunk_len(typesize: usize) -> usize {
    MAX_CHUNK_LEN - MAX_CHUNK_LEN % typesize.max(1)
}

/// No frame of `len` bytes is longer than this: every chunk stored as it is.
pub(super) fn max_len(len: usize, typesize: usize) -> Option<usize> {
    let chunks = len.div_ceil(max_chunk_len(typesize)).max(1);
    let fixed = HEADER_LEN + chunk::HEADER_LEN + TRAILER.len();
    chunks.checked_mul(chunk::HEADER_LEN + 8)?.checked_add(fixed)?.checked_add(len)
}

/// A msgpack value with a fixed type byte.
fn tagged<'a, T>(
    cursor: &mut Cursor<'a>,
    tag: u8,
    what: &'static str,
    read: impl FnOnce(&mut Cursor<'a>, &'static str) -> Result<T, fw_bytes::ParseError>,
) -> Result<T, CodecError> {
    cursor.expect(&[tag], "frame_field", what).map_err(parse)?;
    read(cursor, what).map_err(parse)
}

/// The trailer says its own length in front of its last record.
fn trailer_len(payload: &[u8]) -> Result<usize, CodecError> {
    let at = (payload.len() as u64).saturating_sub(TRAILER_END as u64);
    let tail = payload.len().checked_sub(TRAILER_END).and_then(|start| payload.get(start..)).unwrap_or_default();
    let mut cursor = Cursor::at(tail, at);
    let len = tagged(&mut cursor, 0xce, "trailer length", Cursor::u32_be)?;
    cursor.expect(&[0xd8], "trailer", "frame fingerprint").map_err(parse)?;
    match usize::try_from(len) {
        Ok(len) if len >= TRAILER.len() => Ok(len),
        _ => Err(fault("trailer", at, format!("trailer has {len} bytes, expected at least {}", TRAILER.len()))),
    }
}

/// The index is a chunk of offsets.
fn read_index(bytes: &[u8], at: u64, len: u64, chunk_len: u64) -> Result<Vec<[u8; 8]>, CodecError> {
    let count = len.div_ceil(chunk_len);
    // Chunks of a few bytes would let an index outgrow what it describes.
    if count > 1 && count.checked_mul(8).is_none_or(|index_len| index_len > len) {
        let message = format!("{count} chunks of {chunk_len} bytes, expected chunks of at least 8");
        return Err(unsupported("frame_chunk_size", 57, message));
    }
    let Ok(count) = usize::try_from(count) else {
        return Err(fault("chunk_index", at, format!("{count} chunks do not fit in memory")));
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    let chunk = Chunk::read(bytes, at, count.saturating_mul(8))?;
    let mut index = vec![[0; 8]; count];
    decode::chunk_range(&chunk, 0, 1, index.as_flattened_mut())?;
    Ok(index)
}

/// `9e`: array of 14; `a8`: text of 8.
const MAGIC: &[u8] = b"\x9e\xa8b2frame\0";
const HEADER_LEN: usize = 97;
const FORMAT_VERSION: u8 = 2;
const FLAG_OFFSETS_64: u8 = 0x10;
/// "Forward compatible".
const SPLIT_MODE: u8 = 3;
const NO_METALAYERS: &[u8] = &[0x93, 0xcd, 0x00, 0x07, 0xde, 0x00, 0x00, 0xdc, 0x00, 0x00];
const TRAILER: &[u8] = b"\x94\x01\x93\xcd\x00\x06\xde\x00\x00\xdc\x00\x00\xce\x00\x00\x00\x23\xd8\x00\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// From the length field of the trailer to its end: length, type, fingerprint.
const TRAILER_END: usize = 5 + 2 + 16;
const MAX_CHUNK_LEN: usize = 256 << 20;
