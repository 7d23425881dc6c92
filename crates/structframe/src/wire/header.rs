//! The bytes between start and payload, and the checksum behind it.

use super::{Framing, MessageInfo, PayloadKind};
use fw_bytes::checksum::Fletcher16;

/// What a frame says besides its payload; zero where its framing has no such field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Header {
    /// SEQ.
    pub sequence: u8,
    /// SYS.
    pub system: u8,
    /// COMP.
    pub component: u8,
}

/// All that stands between start bytes and payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) header: Header,
    /// Zero where the framing has no length.
    pub(crate) len: u16,
    /// Effective id.
    pub(crate) id: u16,
}

/// Reads what follows the start bytes; `None` when bytes are missing.
#[inline(always)]
pub(crate) fn read_fields(framing: Framing, bytes: &[u8]) -> Option<Fields> {
    let short = |len: u8, id: u16| Fields { header: Header::default(), len: len.into(), id };
    Some(match framing.payload {
        PayloadKind::Minimal => {
            let [id] = *bytes.first_chunk()?;
            short(0, id.into())
        }
        PayloadKind::Default => {
            let [len, id] = *bytes.first_chunk()?;
            short(len, id.into())
        }
        PayloadKind::ExtendedMsgIds => {
            let [len, package, id] = *bytes.first_chunk()?;
            short(len, u16::from_be_bytes([package, id]))
        }
        PayloadKind::ExtendedLength => {
            let [low, high, id] = *bytes.first_chunk()?;
            Fields { header: Header::default(), len: u16::from_le_bytes([low, high]), id: id.into() }
        }
        PayloadKind::Extended => {
            let [low, high, package, id] = *bytes.first_chunk()?;
            let id = u16::from_be_bytes([package, id]);
            Fields { header: Header::default(), len: u16::from_le_bytes([low, high]), id }
        }
        PayloadKind::SysComp => {
            let [system, component, len, id] = *bytes.first_chunk()?;
            Fields { header: Header { sequence: 0, system, component }, len: len.into(), id: id.into() }
        }
        PayloadKind::Seq => {
            let [sequence, len, id] = *bytes.first_chunk()?;
            Fields { header: Header { sequence, ..Header::default() }, len: len.into(), id: id.into() }
        }
        PayloadKind::MultiSystemStream => {
            let [sequence, system, component, len, id] = *bytes.first_chunk()?;
            Fields { header: Header { sequence, system, component }, len: len.into(), id: id.into() }
        }
        PayloadKind::ExtendedMultiSystemStream => {
            let [sequence, system, component, low, high, package, id] = *bytes.first_chunk()?;
            let id = u16::from_be_bytes([package, id]);
            Fields { header: Header { sequence, system, component }, len: u16::from_le_bytes([low, high]), id }
        }
    })
}

/// Writes start bytes and fields to the beginning of a frame, which has room for them.
#[inline(always)]
pub(crate) fn write_head(framing: Framing, fields: Fields, frame: &mut [u8]) {
    let Header { sequence, system, component } = fields.header;
    let [low, high] = fields.len.to_le_bytes();
    let [package, id] = fields.id.to_be_bytes();
    let (start, behind) = frame.split_at_mut(framing.start_len().min(frame.len()));
    match (start, framing.start()) {
        ([], _) => {}
        ([a], [first, _]) => *a = first,
        ([a, b, ..], [first, second]) => (*a, *b) = (first, second),
    }
    match framing.payload {
        PayloadKind::Minimal => put(behind, [id]),
        PayloadKind::Default => put(behind, [low, id]),
        PayloadKind::ExtendedMsgIds => put(behind, [low, package, id]),
        PayloadKind::ExtendedLength => put(behind, [low, high, id]),
        PayloadKind::Extended => put(behind, [low, high, package, id]),
        PayloadKind::SysComp => put(behind, [system, component, low, id]),
        PayloadKind::Seq => put(behind, [sequence, low, id]),
        PayloadKind::MultiSystemStream => put(behind, [sequence, system, component, low, id]),
        PayloadKind::ExtendedMultiSystemStream => {
            put(behind, [sequence, system, component, low, high, package, id]);
        }
    }
}

/// The checksum of bytes that were written a moment ago.
#[inline(always)]
pub(crate) fn fresh_checksum(covered: &[u8], seeds: Seeds) -> [u8; 2] {
    if covered.len() > seeds.at {
        return checksum(covered, seeds);
    }
    let mut sums = Fletcher16::new();
    sums.update_fresh(covered);
    sums.roll(seeds.magic[0]);
    sums.roll(seeds.magic[1]);
    sums.value()
}

#[inline(always)]
fn put<const N: usize>(to: &mut [u8], bytes: [u8; N]) {
    if let Some(to) = to.first_chunk_mut() {
        *to = bytes;
    }
}

/// The checksum over what follows the start bytes, with the seeds where they belong (SF-12).
#[inline(always)]
pub(crate) fn checksum(covered: &[u8], seeds: Seeds) -> [u8; 2] {
    let Seeds { at, magic } = seeds;
    if covered.len() > at { split_checksum(covered, at, magic) } else { plain_checksum(covered, magic) }
}

/// The same of frames that may be long: a call costs them little, and spares every reader the code.
#[inline(never)]
pub(crate) fn long_checksum(covered: &[u8], seeds: Seeds) -> [u8; 2] {
    checksum(covered, seeds)
}

/// What is summed up besides the bytes of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeds {
    /// Behind how many bytes after the start.
    at: usize,
    magic: [u8; 2],
}

impl Seeds {
    /// After the base part of the payload; for an unknown id, zeros behind all of it.
    #[inline(always)]
    pub(crate) fn new(framing: Framing, info: Option<&MessageInfo>) -> Self {
        let fields_len = framing.header_len().saturating_sub(framing.start_len());
        let (at, magic) = info.map_or((usize::MAX, [0; 2]), |info| (info.base_size.into(), info.magic));
        Self { at: fields_len.saturating_add(at), magic }
    }
}

#[inline(always)]
fn plain_checksum(covered: &[u8], magic: [u8; 2]) -> [u8; 2] {
    let mut sums = Fletcher16::new();
    sums.update(covered);
    sums.roll(magic[0]);
    sums.roll(magic[1]);
    sums.value()
}

fn split_checksum(covered: &[u8], base: usize, magic: [u8; 2]) -> [u8; 2] {
    let (base, extensions) = covered.split_at_checked(base).unwrap_or((covered, &[]));
    let mut sums = Fletcher16::new();
    sums.update(base);
    sums.roll(magic[0]);
    sums.roll(magic[1]);
    sums.update(extensions);
    sums.value()
}
