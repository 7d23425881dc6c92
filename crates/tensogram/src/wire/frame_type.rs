//! Frame types and the phases they belong to.

use std::fmt;

/// The type code of a frame; unknown codes survive and print as numbers (TG-4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameType(pub u16);

/// The part of a message a frame belongs to; a message only ever moves forward through them (TG-4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Before the objects.
    Header,
    /// Objects and their preceders.
    Body,
    /// After the objects.
    Footer,
}

impl FrameType {
    /// Message metadata before the objects.
    pub const HEADER_METADATA: Self = Self(1);
    /// Positions of the objects, before them.
    pub const HEADER_INDEX: Self = Self(2);
    /// Digests of the objects, before them.
    pub const HEADER_HASH: Self = Self(3);
    /// Digests of the objects, after them.
    pub const FOOTER_HASH: Self = Self(5);
    /// Positions of the objects, after them.
    pub const FOOTER_INDEX: Self = Self(6);
    /// Message metadata after the objects.
    pub const FOOTER_METADATA: Self = Self(7);
    /// Metadata of the object that follows.
    pub const PRECEDER_METADATA: Self = Self(8);
    /// One tensor.
    pub const NTENSOR: Self = Self(9);

    /// The phase, or `None` for a code that version 3 does not have.
    pub const fn phase(self) -> Option<Phase> {
        match self.0 {
            1..=3 => Some(Phase::Header),
            8 | 9 => Some(Phase::Body),
            5..=7 => Some(Phase::Footer),
            _ => None,
        }
    }

    /// Bytes behind the body: the digest and the end marker, and for tensors the descriptor offset before them.
    pub const fn footer_len(self) -> u64 {
        if self.0 == Self::NTENSOR.0 { 20 } else { 12 }
    }

    /// The smallest length a frame of this type can have.
    pub const fn min_len(self) -> u64 {
        if self.0 == Self::NTENSOR.0 { 36 } else { 28 }
    }

    /// The name in the words of the specification.
    pub const fn name(self) -> &'static str {
        match self.0 {
            1 => "header metadata",
            2 => "header index",
            3 => "header hash",
            4 => "reserved (version 2 data object)",
            5 => "footer hash",
            6 => "footer index",
            7 => "footer metadata",
            8 => "preceder metadata",
            9 => "data object (NTensorFrame)",
            _ => "unknown",
        }
    }
}

impl fmt::Display for FrameType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type {}, {}", self.0, self.name())
    }
}
