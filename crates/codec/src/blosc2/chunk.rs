//! Chunk header: sizes, filter, codec, and where the blocks are.

use super::params::{Blosc2Params, Filter, StreamFormat};
use super::streams::Streams;
use super::view::{Stop, View};
use super::{fault, parse, unsupported};
use crate::CodecError;
use fw_bytes::{Cursor, Span};

/// A chunk whose header was checked against the room it has and the length it must decode to.
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
    /// The decoded bytes themselves, all of them there.
    Raw(Raw<'a>),
    /// Compressed blocks.
    Blocks(Blocks<'a>),
}

/// Where the bytes of a chunk that is not compressed are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a> {
    view: View<'a>,
    at: u64,
    end: u64,
}

/// Where the compressed blocks of a chunk are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks<'a> {
    view: View<'a>,
    /// Position of the chunk in the payload, which block starts count from.
    at: u64,
    /// Where the chunk ends.
    end: u64,
    /// How many there are; the chunk has room for as many starts.
    count: usize,
    pub(super) format: StreamFormat,
    /// Full blocks hold one stream per byte of an element.
    pub(super) split: bool,
}

impl<'a> Chunk<'a> {
    /// The chunk at `at`, which ends before `end`; there may be something else between the two ends.
    ///
    /// # Errors
    /// When the header contradicts itself, the room it has, or `expected_len`.
    pub(super) fn read(view: View<'a>, at: u64, end: u64, expected_len: usize) -> Result<Self, Stop> {
        let room = end.saturating_sub(at);
        let mut cursor = Cursor::at(view.up_to(at, HEADER_LEN, end)?, at);
        let [version, _, flags, typesize] = cursor.array("chunk header").map_err(parse)?;
        if version != VERSION {
            let message = format!("chunk version is {version}, expected {VERSION}");
            return Err(unsupported("chunk_version", at, message).into());
        }
        if flags & FLAG_EXTENDED != FLAG_EXTENDED {
            let message = format!("chunk flags are {flags:#04x}, expected an extended header (0x05)");
            return Err(unsupported("chunk_header_short", at.saturating_add(2), message).into());
        }
        let typesize = usize::from(typesize);
        if typesize == 0 {
            let message = "chunk type size is 0, expected 1 to 255";
            return Err(fault("chunk_typesize", at.saturating_add(3), message).into());
        }
        let len = cursor.i32_le("chunk length").map_err(parse)?;
        if usize::try_from(len) != Ok(expected_len) {
            let message = format!("chunk decodes to {len} bytes, expected {expected_len}");
            return Err(fault("chunk_length", at.saturating_add(4), message).into());
        }
        let block_len = cursor.i32_le("block size").map_err(parse)?;
        let chunk_len = cursor.i32_le("chunk size").map_err(parse)?;
        let slots: [u8; 6] = cursor.array("filters").map_err(parse)?;
        let _codec: [u8; 2] = cursor.array("codec").map_err(parse)?;
        let metas: [u8; 6] = cursor.array("filter parameters").map_err(parse)?;
        let [_, flags2] = cursor.array("flags").map_err(parse)?;
        let filter = read_filter(slots, metas, at.saturating_add(16))?;

        let too_short = |message: String| fault("chunk_size", at.saturating_add(12), message);
        let claimed = u64::try_from(chunk_len).ok().filter(|len| *len <= room);
        let claimed =
            claimed.ok_or_else(|| too_short(format!("chunk claims {chunk_len} bytes, {room} are available")))?;
        // Whatever the header claims, the chunk ends where it says.
        let (body_at, end) = (at.saturating_add(HEADER_LEN as u64), at.saturating_add(claimed));
        let held = claimed
            .checked_sub(HEADER_LEN as u64)
            .ok_or_else(|| too_short(format!("chunk claims {chunk_len} bytes, expected at least {HEADER_LEN}")))?;
        if flags2 & FLAGS2_UNKNOWN != 0 {
            let message = format!("chunk flags are {flags2:#04x}: dictionaries and lazy chunks are not supported");
            return Err(unsupported("chunk_flags", at.saturating_add(31), message).into());
        }
        let body = match (flags2 >> 4) & 7 {
            0 if flags & FLAG_RAW != 0 => {
                if held < expected_len as u64 {
                    return Err(too_short(format!("chunk stores {held} bytes, expected {expected_len}")).into());
                }
                Body::Raw(Raw { view, at: body_at, end })
            }
            0 => {
                let Some(format) = StreamFormat::from_number(flags >> 5) else {
                    let message = format!("codec number {} of the chunk flags is unknown", flags >> 5);
                    return Err(unsupported("chunk_codec", at.saturating_add(2), message).into());
                };
                let split = flags & FLAG_NOT_SPLIT == 0;
                Body::Blocks(Blocks {
                    count: block_count(expected_len, block_len, held, at)?,
                    view,
                    at,
                    end,
                    format,
                    split,
                })
            }
            SPECIAL_REPEAT => {
                if held < typesize as u64 {
                    return Err(too_short(format!("repeated value has {held} bytes, expected {typesize}")).into());
                }
                Body::Pattern(view.take(body_at, typesize, end, "repeated value")?)
            }
            special => Body::Pattern(special_pattern(special, typesize, at.saturating_add(31))?),
        };
        let block_len = match body {
            // No block structure to honour: any cut will do.
            Body::Pattern(_) | Body::Raw(_) => FREE_BLOCK_LEN,
            Body::Blocks(blocks) => {
                let size = usize::try_from(block_len).unwrap_or(0);
                if blocks.split && !size.is_multiple_of(typesize) {
                    let message = format!("split blocks of {size} bytes do not hold whole elements of {typesize}");
                    return Err(fault("block_size", at.saturating_add(8), message).into());
                }
                size
            }
        };
        Ok(Self { len: expected_len, block_len, typesize, filter, body })
    }

    /// Decoded bytes of a block, and how many streams it has: a short last block is never split.
    pub(super) fn block(&self, blocks: &Blocks<'_>, index: usize) -> (usize, usize) {
        let start = index.saturating_mul(self.block_len);
        let len = self.block_len.min(self.len.saturating_sub(start));
        (len, if blocks.split && len == self.block_len { self.typesize } else { 1 })
    }

    /// A chunk that exists only as a number in the index of the frame.
    pub(super) fn special(number: u8, len: usize, typesize: usize, at: u64) -> Result<Self, CodecError> {
        let body = Body::Pattern(special_pattern(number, typesize, at)?);
        Ok(Self { len, block_len: FREE_BLOCK_LEN, typesize, filter: Filter::None, body })
    }
}

impl<'a> Raw<'a> {
    /// The bytes from `start` of the chunk on.
    pub(super) fn bytes(&self, start: usize, len: usize) -> Result<&'a [u8], Stop> {
        self.view.take(self.at.saturating_add(start as u64), len, self.end, "stored bytes")
    }

    /// Where they are.
    pub(super) fn span(&self, start: usize, len: usize) -> Span {
        let at = self.at.saturating_add(start as u64);
        Span::new(at, at.saturating_add(len as u64))
    }
}

impl<'a> Blocks<'a> {
    /// Where the block begins in the payload.
    pub(super) fn start(&self, index: usize) -> Result<u64, Stop> {
        let entry_at = self.table().start.saturating_add(4 * index as u64);
        let start = i32::from_le_bytes(self.view.array(entry_at, self.end, "block start")?);
        self.checked_start(index, start).map_err(Stop::Fault)
    }

    /// Where every block begins, in the order of these places.
    pub(super) fn sorted_starts(&self) -> Result<Vec<u64>, Stop> {
        let table = self.view.take(self.table().start, 4 * self.count, self.end, "block starts")?;
        // One that is out of the chunk is a fault of that block, not of the others.
        let starts = table.as_chunks::<4>().0.iter().map(|entry| i32::from_le_bytes(*entry));
        let mut starts: Vec<u64> = starts.filter_map(|start| self.checked_start(0, start).ok()).collect();
        starts.sort_unstable();
        Ok(starts)
    }

    /// The streams of a block.
    pub(super) fn open(&self, index: usize) -> Result<Streams<'a>, Stop> {
        Ok(Streams::new(self.view, self.start(index)?, self.end))
    }

    /// Where the table of starts is.
    pub(super) fn table(&self) -> Span {
        let at = self.at.saturating_add(HEADER_LEN as u64);
        Span::new(at, at.saturating_add(4 * self.count as u64))
    }

    /// Where the chunk ends.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    pub(super) const fn view(&self) -> &View<'a> {
        &self.view
    }

    fn checked_start(&self, index: usize, start: i32) -> Result<u64, CodecError> {
        let place = u64::try_from(start).ok().and_then(|start| self.at.checked_add(start));
        place.filter(|place| *place <= self.end).ok_or_else(|| {
            let len = self.end.saturating_sub(self.at);
            let message = format!("block {index} starts at {start}, the chunk has {len} bytes");
            fault("block_start", self.table().start.saturating_add(4 * index as u64), message)
        })
    }
}

/// How many blocks a chunk has, when its `held` bytes have room for as many starts.
fn block_count(len: usize, block_len: i32, held: u64, at: u64) -> Result<usize, CodecError> {
    let Ok(block_len @ 1..) = usize::try_from(block_len) else {
        let message = format!("block size is {block_len}, expected 1 or more");
        return Err(fault("block_size", at.saturating_add(8), message));
    };
    let (count, room) = (len.div_ceil(block_len), held / 4);
    if count as u64 > room {
        let message = format!("{count} blocks need a table of as many starts, {room} fit the chunk");
        return Err(fault("block_table", at.saturating_add(HEADER_LEN as u64), message));
    }
    Ok(count)
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
pub(super) const FREE_BLOCK_LEN: usize = 1 << 20;
