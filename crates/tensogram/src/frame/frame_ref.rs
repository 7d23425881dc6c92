//! One frame's place and parts (TG-4).

use crate::wire::{ALIGNMENT, FRAME_HEADER_LEN, FrameContent, FrameFlags, FrameFooter, FrameHeader, FrameType};
use fw_bytes::{Span, align_up};

/// A frame whose header was read and whose length was checked: it lies inside its message and is not too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRef {
    start: u64,
    header: FrameHeader,
}

impl FrameRef {
    /// Takes a header found at `start`; the caller has checked that `start + length` does not overflow and that the
    /// length is at least the minimum of its type.
    pub(super) const fn new(start: u64, header: FrameHeader) -> Self {
        Self { start, header }
    }

    /// The same for tools that look for frames where the chain is broken; they check as the walk does.
    pub(crate) const fn of(start: u64, header: FrameHeader) -> Self {
        Self::new(start, header)
    }

    /// The same frame, with positions counted from `base` instead of the first byte of the message.
    pub const fn rebased(self, base: u64) -> Self {
        Self { start: self.start.saturating_sub(base), header: self.header }
    }

    /// The same frame, with positions counted from an origin `base` bytes before the first byte of the message.
    pub const fn shifted(self, base: u64) -> Self {
        Self { start: self.start.saturating_add(base), header: self.header }
    }

    /// Where it begins, from the first byte of the message.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// One past its end marker.
    pub const fn end(&self) -> u64 {
        self.start.saturating_add(self.header.length)
    }

    /// From header through end marker.
    pub const fn span(&self) -> Span {
        Span { start: self.start, end: self.end() }
    }

    /// Where the next frame should begin: padding is counted from the start of this frame (TG-4.5).
    pub const fn next_start(&self) -> Option<u64> {
        match align_up(self.header.length, ALIGNMENT) {
            Some(padded) => self.start.checked_add(padded),
            None => None,
        }
    }

    /// What it is.
    pub const fn frame_type(&self) -> FrameType {
        self.header.frame_type
    }

    /// What its body holds, or `None` for a type that version 3 does not have.
    pub const fn content(&self) -> Option<FrameContent> {
        self.header.frame_type.content()
    }

    /// The header.
    pub const fn header(&self) -> &FrameHeader {
        &self.header
    }

    /// Whether the hash slot holds a digest.
    pub const fn has_hash(&self) -> bool {
        self.header.flags.contains(FrameFlags::HASH_PRESENT)
    }

    /// The hashed bytes: between header and footer.
    pub const fn body(&self) -> Span {
        let start = self.start.saturating_add(FRAME_HEADER_LEN);
        let end = self.end().saturating_sub(self.header.frame_type.footer().len());
        Span::new(start, end)
    }

    /// The eight bytes of the digest.
    pub const fn hash_slot(&self) -> Span {
        FrameFooter::hash_slot(self.end())
    }

    /// The eight bytes of the descriptor offset; only data objects have them.
    pub const fn cbor_offset_slot(&self) -> Span {
        FrameFooter::descriptor_offset_slot(self.end())
    }

    /// The four bytes of the end marker.
    pub const fn end_marker(&self) -> Span {
        FrameFooter::end_marker(self.end())
    }
}
