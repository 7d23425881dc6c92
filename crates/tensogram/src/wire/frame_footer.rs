//! The last bytes of a frame (TG-4.2). Positions are found from the end of the frame, because the body has any length.

use super::FRAME_END;
use fw_bytes::Span;

/// The fields after the body of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameFooter {
    /// Digest and end marker.
    Plain,
    /// The position of the descriptor in the frame, then digest and end marker.
    WithDescriptorOffset,
}

impl FrameFooter {
    /// Bytes of all fields.
    #[expect(clippy::len_without_is_empty, reason = "a footer is never empty")]
    pub const fn len(self) -> u64 {
        match self {
            Self::Plain => AFTER_OFFSET,
            Self::WithDescriptorOffset => AFTER_OFFSET.saturating_add(SLOT),
        }
    }

    /// The eight bytes of the digest, in a frame that ends at `end`.
    pub const fn hash_slot(end: u64) -> Span {
        Span::new(end.saturating_sub(AFTER_OFFSET), end.saturating_sub(MARKER))
    }

    /// The eight bytes of the descriptor's position, in a data object that ends at `end`.
    pub const fn descriptor_offset_slot(end: u64) -> Span {
        Span::new(end.saturating_sub(Self::WithDescriptorOffset.len()), end.saturating_sub(AFTER_OFFSET))
    }

    /// The four bytes of the end marker, in a frame that ends at `end`.
    pub const fn end_marker(end: u64) -> Span {
        Span::new(end.saturating_sub(MARKER), end)
    }
}

/// Bytes of the digest, and of the descriptor's position.
const SLOT: u64 = 8;
/// Bytes of the end marker.
const MARKER: u64 = FRAME_END.len() as u64;
/// Bytes of what every frame ends with: digest and end marker.
const AFTER_OFFSET: u64 = SLOT.saturating_add(MARKER);

#[cfg(test)]
mod tests {
    use super::*;

    /// TG-4.2: descriptor position, digest and end marker follow each other to the end of the frame.
    #[test]
    fn the_fields_fill_the_footer() {
        let (offset, hash, marker) =
            (FrameFooter::descriptor_offset_slot(100), FrameFooter::hash_slot(100), FrameFooter::end_marker(100));
        assert_eq!([offset, hash, marker], [Span::new(80, 88), Span::new(88, 96), Span::new(96, 100)]);
        assert_eq!((FrameFooter::Plain.len(), FrameFooter::WithDescriptorOffset.len()), (12, 20));
    }
}
