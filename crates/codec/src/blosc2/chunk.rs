//! Chunk header: sizes, filter, codec, and where the blocks are.

use super::params::{Blosc2Params, Filter, StreamFormat};
use super::{fault, parse, unsupported};
use crate::CodecError;
use fw_bytes::Cursor;

/// A chunk whose header was checked against the bytes at hand and the length it must decode to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    /// Decoded length.
    pub(super) len: usize,
    /// Decoded length of every block but the last.
    pub(super) block_len: usize,
    pub(super) typesize: usize,
    pub(super) filter: Filter,
    pub(super) body: Body<'a>,
}

/// What a chunk holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body<'a> {
    /// One pattern (at least a byte) over and over.
    Pattern(&'a [u8]),
    /// The decoded bytes themselves.
    Raw(&'a [u8]),
    /// Compressed blocks.
    Blocks(Blocks<'a>),
}

/// Where the compressed blocks of a chunk are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks<'a> {
    /// The whole chunk, which block starts count from.
    bytes: &'a [u8],
    /// Position of the chunk in the payload.
    at: u64,
    starts: &'a [[u8; 4]],
    pub(super) format: StreamFormat,
    /// Full blocks hold one stream per byte of an element.
    pub(super) split: bool,
}

impl<'a> Chunk<'a> {
    /// The chunk at the beginning of `bytes`, which stand at `at` and may go on behind it.
    ///
    /// # Errors
    /// When the header contradicts itself, the bytes at hand, or `expected_len`.
    pub(super) fn read(bytes: &'a [u8], at: u64, expected_len: usize) -> Result<Self, CodecError> {
        let mut cursor = Cursor::at(bytes, at);
        let [version, _, flags, typesize] = cursor.array("chunk header").map_err(parse)?;
        if version != VERSION {
            return Err(unsupported("chunk_version", at, format!("chunk version is {version}, expected {VERSION}")));
        }
        if flags & FLAG_EXTENDED != FLAG_EXTENDED {
            let message = format!("chunk flags are {flags:#04x}, expected an extended header (0x05)");
            return Err(unsupported("chunk_header_short", at.saturating_add(2), message));
        }
        let typesize = usize::from(typesize);
        if typesize == 0 {
            return Err(fault("chunk_typesize", at.saturating_add(3), "chunk type size is 0, expected 1 to 255"));
        }
        let len = cursor.i32_le("chunk length").map_err(parse)?;
        if usize::try_from(len) != Ok(expected_len) {
            let message = format!("chunk decodes to {len} bytes, expected {expected_len}");
            return Err(fault("chunk_length", at.saturating_add(4), message));
        }
        let block_len = cursor.i32_le("block size").map_err(parse)?;
        let chunk_len = cursor.i32_le("chunk size").map_err(parse)?;
        let slots: [u8; 6] = cursor.array("filters").map_err(parse)?;
        let _codec: [u8; 2] = cursor.array("codec").map_err(parse)?;
        let metas: [u8; 6] = cursor.array("filter parameters").map_err(parse)?;
        let [_, flags2] = cursor.array("flags").map_err(parse)?;
        let filter = read_filter(slots, metas, at.saturating_add(16))?;

        let chunk_bytes = usize::try_from(chunk_len).ok().and_then(|len| bytes.get(..len)).ok_or_else(|| {
            let message = format!("chunk claims {chunk_len} bytes, {} are there", bytes.len());
            fault("chunk_size", at.saturating_add(12), message)
        })?;
        // Whatever the header claims, the chunk ends where it says.
        let held = chunk_bytes.get(HEADER_LEN..).ok_or_else(|| {
            let message = format!("chunk claims {chunk_len} bytes, expected at least {HEADER_LEN}");
            fault("chunk_size", at.saturating_add(12), message)
        })?;
        if flags2 & FLAGS2_UNKNOWN != 0 {
            let message = format!("chunk flags are {flags2:#04x}: dictionaries and lazy chunks are not supported");
            return Err(unsupported("chunk_flags", at.saturating_add(31), message));
        }
        let body = match (flags2 >> 4) & 7 {
            0 if flags & FLAG_RAW != 0 => Body::Raw(held.get(..expected_len).ok_or_else(|| {
                let message = format!("chunk stores {} bytes, expected {expected_len}", held.len());
                fault("chunk_size", at.saturating_add(12), message)
            })?),
            0 => {
                let Some(format) = StreamFormat::from_number(flags >> 5) else {
                    let message = format!("codec number {} of the chunk flags is unknown", flags >> 5);
                    return Err(unsupported("chunk_codec", at.saturating_add(2), message));
                };
                let split = flags & FLAG_NOT_SPLIT == 0;
                Body::Blocks(Blocks::read(chunk_bytes, at, len, block_len, format, split)?)
            }
            SPECIAL_REPEAT => Body::Pattern(held.get(..typesize).ok_or_else(|| {
                let message = format!("repeated value has {} bytes, expected {typesize}", held.len());
                fault("chunk_size", at.saturating_add(12), message)
            })?),
            special => Body::Pattern(special_pattern(special, typesize, at.saturating_add(31))?),
        };
        let block_len = match body {
            // No block structure to honour: any cut will do.
            Body::Pattern(_) | Body::Raw(_) => FREE_BLOCK_LEN,
            Body::Blocks(blocks) => {
                let size = usize::try_from(block_len).unwrap_or(0);
                if blocks.split && !size.is_multiple_of(typesize) {
                    let message = format!("split blocks of {size} bytes do not hold whole elements of {typesize}");
                    return Err(fault("block_size", at.saturating_add(8), message));
                }
                size
            }
        };
        Ok(Self { len: expected_len, block_len, typesize, filter, body })
    }

    /// A chunk that exists only as a number in the index of the frame.
    pub(super) fn special(number: u8, len: usize, typesize: usize, at: u64) -> Result<Self, CodecError> {
        let body = Body::Pattern(special_pattern(number, typesize, at)?);
        Ok(Self { len, block_len: FREE_BLOCK_LEN, typesize, filter: Filter::None, body })
    }
}

impl<'a> Blocks<'a> {
    fn read(
        bytes: &'a [u8],
        at: u64,
        len: i32,
        block_len: i32,
        format: StreamFormat,
        split: bool,
    ) -> Result<Self, CodecError> {
        let (Ok(len), Ok(block_len @ 1..)) = (usize::try_from(len), usize::try_from(block_len)) else {
            let message = format!("block size is {block_len}, expected 1 or more");
            return Err(fault("block_size", at.saturating_add(8), message));
        };
        let count = len.div_ceil(block_len);
        let (table, _) = bytes.get(HEADER_LEN..).unwrap_or_default().as_chunks::<4>();
        let starts = table.get(..count).ok_or_else(|| {
            let message = format!("{count} blocks need a table of as many starts, {} fit the chunk", table.len());
            fault("block_table", at.saturating_add(HEADER_LEN as u64), message)
        })?;
        Ok(Self { bytes, at, starts, format, split })
    }

    /// A cursor at the first stream of a block.
    pub(super) fn open(&self, index: usize) -> Result<Cursor<'a>, CodecError> {
        let entry_at = self.at.saturating_add(HEADER_LEN as u64).saturating_add(4 * index as u64);
        let start = self.starts.get(index).map_or(-1, |entry| i32::from_le_bytes(*entry));
        let rest = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..)).ok_or_else(|| {
            let message = format!("block {index} starts at {start}, the chunk has {} bytes", self.bytes.len());
            fault("block_start", entry_at, message)
        })?;
        Ok(Cursor::at(rest, self.at.saturating_add((self.bytes.len() - rest.len()) as u64)))
    }
}

/// What the header of a chunk to be written says.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderFields {
    pub(super) len: usize,
    pub(super) block_len: usize,
    pub(super) chunk_len: usize,
    pub(super) raw: bool,
    pub(super) split: bool,
}

impl HeaderFields {
    /// The 32 bytes of a chunk header.
    pub(super) fn to_bytes(self, params: &Blosc2Params) -> [u8; HEADER_LEN] {
        let mut header = [0; HEADER_LEN];
        let stored = if self.raw { FLAG_RAW } else { 0 };
        let whole = if self.split { 0 } else { FLAG_NOT_SPLIT };
        header[0] = VERSION;
        header[1] = CODEC_VERSION;
        header[2] = FLAG_EXTENDED | stored | whole | (params.codec.format().number() << 5);
        header[3] = params.typesize as u8;
        // A chunk is at most 256 MiB, so its lengths fit.
        header[4..8].copy_from_slice(&(self.len as u32).to_le_bytes());
        header[8..12].copy_from_slice(&(self.block_len as u32).to_le_bytes());
        header[12..16].copy_from_slice(&(self.chunk_len as u32).to_le_bytes());
        header[16..22].copy_from_slice(&params.filter.slots());
        header[22] = params.codec.code();
        header
    }
}

/// The one filter a pipeline names, wherever it stands.
fn read_filter(slots: [u8; 6], metas: [u8; 6], at: u64) -> Result<Filter, CodecError> {
    let mut filter = Filter::None;
    for (slot, meta) in slots.into_iter().zip(metas) {
        filter = match (slot, meta, filter) {
            (0, _, filter) => filter,
            (1, 0, Filter::None) => Filter::Shuffle,
            (2, 0, Filter::None) => Filter::BitShuffle,
            _ => {
                let message = format!("filters {slots:?} with parameters {metas:?}: expected one shuffle or none");
                return Err(unsupported("filters", at, message));
            }
        };
    }
    Ok(filter)
}

/// The bytes that a special chunk repeats.
fn special_pattern(number: u8, typesize: usize, at: u64) -> Result<&'static [u8], CodecError> {
    match (number, typesize) {
        // Uninitialised memory has no value to restore; zeros give nothing away.
        (SPECIAL_ZEROS | SPECIAL_UNINITIALISED, _) => Ok(&[0]),
        (SPECIAL_NAN, 4) => Ok(&NAN_F32),
        (SPECIAL_NAN, 8) => Ok(&NAN_F64),
        (SPECIAL_NAN, _) => {
            Err(fault("special_chunk", at, format!("NaN chunk with type size {typesize}, expected 4 or 8")))
        }
        _ => Err(unsupported("special_chunk", at, format!("special chunk number {number} is unknown"))),
    }
}

/// Length of a chunk header.
pub(super) const HEADER_LEN: usize = 32;
/// Number of an all-zero chunk.
pub(super) const SPECIAL_ZEROS: u8 = 1;
const SPECIAL_NAN: u8 = 2;
const SPECIAL_REPEAT: u8 = 3;
const SPECIAL_UNINITIALISED: u8 = 4;
const NAN_F32: [u8; 4] = f32::from_bits(0x7fc0_0000).to_le_bytes();
const NAN_F64: [u8; 8] = f64::from_bits(0x7ff8_0000_0000_0000).to_le_bytes();
const VERSION: u8 = 5;
const CODEC_VERSION: u8 = 1;
const FLAG_EXTENDED: u8 = 0x05;
const FLAG_RAW: u8 = 0x02;
const FLAG_NOT_SPLIT: u8 = 0x10;
/// Everything but the number of a special chunk.
const FLAGS2_UNKNOWN: u8 = 0x8f;
/// How chunks without blocks are cut for threads.
const FREE_BLOCK_LEN: usize = 1 << 20;
