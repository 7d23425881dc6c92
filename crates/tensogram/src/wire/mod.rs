//! Room 1, bytes to records: the fixed layouts of preamble, postamble, frame header and frame footer.
//!
//! What leaves this room is checked: a [`Preamble`] has the right magic and version.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod flags;
mod frame_footer;
mod frame_header;
mod frame_type; // the table of frame types
mod postamble;
mod preamble;

pub use flags::{FrameFlags, MessageFlags};
pub use frame_footer::FrameFooter;
pub use frame_header::{FRAME_VERSION, FrameHeader};
pub use frame_type::{FrameContent, FrameType, KnownFrame, Phase};
pub use postamble::Postamble;
pub use preamble::Preamble;

/// First bytes of every message (TG-2.1).
pub const MAGIC: &[u8; 8] = b"TENSOGRM";
/// Last bytes of every message (TG-3.1).
pub const END_MAGIC: &[u8; 8] = b"39277777";
/// The only format version read and written.
pub const VERSION: u16 = 3;
/// First bytes of every frame (TG-4.1).
pub const FRAME_MAGIC: &[u8; 2] = b"FR";
/// Last bytes of every frame (TG-4.2).
pub const FRAME_END: &[u8; 4] = b"ENDF";
/// Bytes of a preamble.
pub const PREAMBLE_LEN: u64 = 24;
/// Bytes of a postamble.
pub const POSTAMBLE_LEN: u64 = 24;
/// Bytes of a frame header.
pub const FRAME_HEADER_LEN: u64 = 16;
/// The smallest message that can exist.
pub const MIN_MESSAGE_LEN: u64 = 48;
/// Frames begin at multiples of this (TG-4.5).
pub const ALIGNMENT: u64 = 8;
