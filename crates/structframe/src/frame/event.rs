//! What readers tell.

use crate::wire::{Header, MessageInfo};
use fw_bytes::Span;

/// What a reader found. Complete: every byte belongs to exactly one of these, except that a recovered frame lies inside
/// what was reported before as damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'b> {
    /// A good frame.
    Frame(Frame<'b>),
    /// A complete frame whose checksum is wrong.
    BadChecksum(BadChecksum),
    /// Bytes between frames.
    Skipped(Span),
    /// A frame that was not complete when the input ended.
    Truncated(Span),
}

/// A good frame, borrowed from the reader's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame<'b> {
    /// Effective id.
    pub id: u16,
    /// SEQ, SYS and COMP.
    pub header: Header,
    /// The payload, in the layout of the framing.
    pub payload: &'b [u8],
    /// Sizes and seeds of the message; `None` for an id that the lookup does not know.
    pub info: Option<MessageInfo>,
    /// Where the frame stands in the input.
    pub span: Span,
    /// True when it was found inside damaged bytes.
    pub recovered: bool,
}

/// A complete frame whose checksum is wrong. Nothing in it can be relied upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadChecksum {
    /// The effective id it claims.
    pub id: u16,
    /// SEQ, SYS and COMP as it claims.
    pub header: Header,
    /// The payload length it claims.
    pub len: u16,
    /// Where it stands in the input, as long as it claims to be.
    pub span: Span,
    /// The checksum computed from its bytes.
    pub expected: [u8; 2],
    /// The checksum it carries.
    pub found: [u8; 2],
}

/// What a reader has counted. Counters stop at their largest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Good frames, recovered ones included.
    pub frames: u32,
    /// Good frames found inside damaged bytes.
    pub recovered: u32,
    /// Good frames of unknown ids.
    pub unknown_ids: u32,
    /// Complete frames with a wrong checksum.
    pub crc_failures: u32,
    /// Wrong checksums, and start bytes that turned out to begin nothing.
    pub sync_recoveries: u32,
    /// Bytes of both.
    pub failed_bytes: u32,
    /// Bytes outside frames that did not even look like a start.
    pub noise_bytes: u32,
    /// Frames whose length lies outside `MIN_SIZE` to `MAX_SIZE` of their message. Newer peers may send such frames.
    pub len_errors: u32,
    /// Good frames whose sequence number is not the one after the frame before.
    pub seq_gaps: u32,
}

#[inline]
pub(super) fn count(counter: &mut u32, more: u64) {
    *counter = counter.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
}
