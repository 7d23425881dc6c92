//! The frame around the chunks: header, index of chunk offsets, trailer.

use super::chunk::{self, Body, Chunk, HeaderFields};
use super::params::{Blosc2Params, InnerCodec};
use super::view::{Stop, View, inside};
use super::{NAME, decode, fault, locate, parse, unsupported};
use crate::CodecError;
use fw_bytes::{Cursor, Span};

/// A frame whose header, trailer and index were checked against the payload and the length it must decode to.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Decoded length of all chunks.
    len: u64,
    /// Decoded length of every chunk but the last.
    chunk_len: u64,
    typesize: usize,
    /// Decoded length of blocks, as far as the header is to be believed.
    stated_block_len: Option<u64>,
    view: View<'a>,
    /// Where the chunks are; offsets count from its start.
    chunks: Span,
    /// One offset per chunk.
    index: Vec<[u8; 8]>,
    index_at: u64,
}

impl<'a> Frame<'a> {
    /// Reads everything but the chunks.
    ///
    /// # Errors
    /// When a field contradicts another, the payload or `expected_len`.
    pub(super) fn read(view: View<'a>, expected_len: u64) -> Result<Self, Stop> {
        let mut cursor = Cursor::new(view.up_to(0, HEADER_LEN, view.len())?);
        cursor.expect(MAGIC, "magic", "frame magic").map_err(parse)?;
        let header_len = tagged(&mut cursor, 0xd2, "header size", Cursor::i32_be)?;
        if usize::try_from(header_len) != Ok(HEADER_LEN) {
            let message = format!("frame header has {header_len} bytes, expected {HEADER_LEN} (no metalayers)");
            return Err(unsupported("header_size", 10, message).into());
        }
        let frame_len = tagged(&mut cursor, 0xcf, "frame size", Cursor::u64_be)?;
        if frame_len != view.len() {
            let message = format!("frame claims {frame_len} bytes, the payload has {}", view.len());
            return Err(fault("frame_size", 15, message).into());
        }
        let [flags, kind, _, _] = tagged(&mut cursor, 0xa4, "frame flags", Cursor::array::<4>)?;
        if flags & 0x0f != FORMAT_VERSION || flags & FLAG_OFFSETS_64 == 0 || kind != 0 {
            let message = format!("frame flags are {flags:02x} {kind:02x}, expected 12 00 (version 2, contiguous)");
            return Err(unsupported("frame_flags", 25, message).into());
        }
        let len = tagged(&mut cursor, 0xd3, "uncompressed size", Cursor::i64_be)?;
        if u64::try_from(len) != Ok(expected_len) {
            let message = format!("frame decodes to {len} bytes, expected {expected_len}");
            return Err(CodecError { message, ..CodecError::length(NAME, expected_len, 0) }.at(29).into());
        }
        let compressed_len = tagged(&mut cursor, 0xd3, "compressed size", Cursor::i64_be)?;
        let typesize = tagged(&mut cursor, 0xd2, "type size", Cursor::i32_be)?;
        let typesize = usize::try_from(typesize)
            .ok()
            .filter(|size| *size > 0)
            .ok_or_else(|| fault("frame_typesize", 47, format!("type size is {typesize}, expected 1 or more")))?;
        let block_len = tagged(&mut cursor, 0xd2, "block size", Cursor::i32_be)?;
        let chunk_len = tagged(&mut cursor, 0xd2, "chunk size", Cursor::i32_be)?;
        let _threads = tagged(&mut cursor, 0xd1, "threads", Cursor::i16_be)?;
        let _threads = tagged(&mut cursor, 0xd1, "threads", Cursor::i16_be)?;
        let at = cursor.position();
        let has_trailing_metadata = cursor.u8("metalayer flag").map_err(parse)?;
        if !matches!(has_trailing_metadata, 0xc2 | 0xc3) {
            let message = format!("metalayer flag is {has_trailing_metadata:#04x}, expected c2 or c3");
            return Err(fault("frame_field", at, message).into());
        }
        cursor.expect(&[0xd8, 0x06], "frame_field", "filter record").map_err(parse)?;
        let _filters: [u8; 16] = cursor.array("filters").map_err(parse)?;
        cursor.expect(NO_METALAYERS, "metalayers", "empty metalayers").map_err(parse)?;

        let chunks_at = cursor.position();
        let chunks = u64::try_from(compressed_len)
            .map_err(|_| fault("compressed_size", 38, format!("compressed size is {compressed_len}")))
            .and_then(|len| inside(chunks_at, len, view.len(), "chunks"))?;
        let (index_at, trailer_len) = (chunks.end, trailer_len(view)?);
        let have = view.len().saturating_sub(index_at);
        let index_end = view.len().checked_sub(trailer_len).filter(|end| *end >= index_at).ok_or_else(|| {
            fault("trailer", index_at, format!("trailer of {trailer_len} bytes in the last {have} of the frame"))
        })?;

        let chunk_len = match u64::try_from(chunk_len) {
            Ok(chunk_len @ 1..) => chunk_len,
            _ => {
                let message = format!("chunk size is {chunk_len}, expected 1 or more");
                return Err(fault("frame_chunk_size", 57, message).into());
            }
        };
        let index = read_index(view, Span::new(index_at, index_end), expected_len, chunk_len)?;
        let stated_block_len = u64::try_from(block_len).ok().filter(|len| (1..=chunk_len).contains(len));
        Ok(Self { len: expected_len, chunk_len, typesize, stated_block_len, view, chunks, index, index_at })
    }

    /// Decoded length of every chunk but the last.
    pub(super) fn chunk_len(&self) -> u64 {
        self.chunk_len
    }

    /// Decoded length of the blocks: those of the first chunk, which the others are likely to share.
    pub(super) fn block_len(&self) -> Option<u64> {
        let first = self.chunk(0).ok()?;
        match first.body {
            Body::Blocks(_) => Some(first.block_len as u64),
            // A chunk without blocks says nothing about the others; what is stored can be read from any byte on.
            Body::Raw(_) if self.index.len() == 1 => Some(STORED_TOGETHER),
            _ => Some(self.stated_block_len.unwrap_or(chunk::FREE_BLOCK_LEN as u64)),
        }
    }

    /// About how many bytes the header of a chunk and the table of its blocks take.
    pub(super) fn chunk_head_len(&self) -> u64 {
        let blocks = self.stated_block_len.map_or(1, |len| self.chunk_len.min(self.len).div_ceil(len));
        blocks.saturating_mul(4).saturating_add(chunk::HEADER_LEN as u64).clamp(MIN_CHUNK_HEAD, MAX_CHUNK_HEAD)
    }

    /// Where the chunks end.
    pub(super) const fn chunks_end(&self) -> u64 {
        self.chunks.end
    }

    /// The chunk that holds the decoded bytes from `number * chunk_len` on.
    pub(super) fn chunk(&self, number: u64) -> Result<Chunk<'a>, Stop> {
        let entry_at = self.index_at;
        let entry = usize::try_from(number).ok().and_then(|number| self.index.get(number));
        let start = number.checked_mul(self.chunk_len).filter(|start| *start < self.len);
        let (Some(entry), Some(start)) = (entry, start) else {
            let message = format!("chunk {number} is not in the index of {} chunks", self.index.len());
            return Err(fault("chunk_index", entry_at, message).into());
        };
        let offset = u64::from_le_bytes(*entry);
        // Both are at most an `i32`, so the length of one chunk fits in memory.
        let len = self.chunk_len.min(self.len - start) as usize;
        if offset >> 63 != 0 {
            return Ok(Chunk::special(((offset >> 56) & 7) as u8, len, self.typesize, entry_at)?);
        }
        let at = self.chunks.start.checked_add(offset).filter(|at| *at <= self.chunks.end).ok_or_else(|| {
            let message = format!("chunk {number} starts at {offset}, the chunks have {} bytes", self.chunks.len());
            fault("chunk_offset", entry_at, message)
        })?;
        Chunk::read(self.view, at, self.chunks.end, len)
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
fn trailer_len(view: View<'_>) -> Result<u64, Stop> {
    let at = view.len().saturating_sub(TRAILER_END as u64);
    // The header stands before, so a payload is longer than this.
    let mut cursor = Cursor::at(view.up_to(at, TRAILER_END, view.len())?, at);
    let len = tagged(&mut cursor, 0xce, "trailer length", Cursor::u32_be)?;
    cursor.expect(&[0xd8], "trailer", "frame fingerprint").map_err(parse)?;
    if (len as usize) < TRAILER.len() {
        let message = format!("trailer has {len} bytes, expected at least {}", TRAILER.len());
        return Err(fault("trailer", at, message).into());
    }
    Ok(u64::from(len))
}

/// The index is a chunk of offsets.
fn read_index(view: View<'_>, place: Span, len: u64, chunk_len: u64) -> Result<Vec<[u8; 8]>, Stop> {
    let count = len.div_ceil(chunk_len);
    // Chunks of a few bytes would let an index outgrow what it describes.
    if count > 1 && count.checked_mul(8).is_none_or(|index_len| index_len > len) {
        let message = format!("{count} chunks of {chunk_len} bytes, expected chunks of at least 8");
        return Err(unsupported("frame_chunk_size", 57, message).into());
    }
    let Ok(count) = usize::try_from(count) else {
        return Err(fault("chunk_index", place.start, format!("{count} chunks do not fit in memory")).into());
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    let chunk = Chunk::read(view, place.start, place.end, count.saturating_mul(8))?;
    let absent = if view.is_whole() { Vec::new() } else { locate::whole_chunk(&chunk)? };
    if !absent.is_empty() {
        return Err(Stop::Absent(absent));
    }
    let mut index = vec![[0; 8]; count];
    decode::chunk_range(&chunk, 0, 1, index.as_flattened_mut())?;
    Ok(index)
}

/// `9e`: array of 14; `a8`: text of 8.
const MAGIC: &[u8] = b"\x9e\xa8b2frame\0";
pub(super) const HEADER_LEN: usize = 97;
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
/// Runs of stored bytes this close are read in one go.
const STORED_TOGETHER: u64 = 4096;
/// A last chunk may have a few more blocks than the others.
const MIN_CHUNK_HEAD: u64 = 256;
/// More than this is not fetched of a chunk before its header was seen.
const MAX_CHUNK_HEAD: u64 = 64 << 10;
