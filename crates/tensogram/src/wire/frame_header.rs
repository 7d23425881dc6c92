//! The first 16 bytes of a frame (TG-4.1).

use super::{FRAME_MAGIC, FrameFlags, FrameType};
use fw_bytes::{Detail, ParseError};
use zerocopy::byteorder::big_endian::{U16, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct FrameHeaderWire {
    magic: [u8; 2],
    frame_type: U16,
    version: U16,
    flags: U16,
    length: U64,
}

const _: () = assert!(size_of::<FrameHeaderWire>() == 16 && std::mem::offset_of!(FrameHeaderWire, length) == 8);

/// The version of every frame that is written.
pub const FRAME_VERSION: u16 = 1;

/// A frame header with the right marker; type and length are as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// The type code.
    pub frame_type: FrameType,
    /// Always written as 1, never checked.
    pub version: u16,
    /// Flags.
    pub flags: FrameFlags,
    /// Bytes from the header through the end marker, padding excluded.
    pub length: u64,
}

impl FrameHeader {
    /// Reads the first 16 of `bytes`, which stand at absolute position `at`.
    ///
    /// # Errors
    /// Too few bytes or another marker.
    pub fn read(bytes: &[u8], at: u64) -> Result<Self, ParseError> {
        let short = || ParseError {
            code: "truncated_frame_header",
            ..ParseError::short("frame header", 16, bytes.len() as u64, at)
        };
        let (wire, _) = FrameHeaderWire::ref_from_prefix(bytes).map_err(|_| short())?;
        if &wire.magic != FRAME_MAGIC {
            let (expected, found) = (Detail::raw(FRAME_MAGIC), Detail::raw(&wire.magic));
            return Err(ParseError::value("invalid_frame_header", "frame marker", expected, found, at));
        }
        Ok(Self {
            frame_type: FrameType(wire.frame_type.get()),
            version: wire.version.get(),
            flags: FrameFlags(wire.flags.get()),
            length: wire.length.get(),
        })
    }

    /// The 16 bytes.
    pub fn to_bytes(self) -> [u8; 16] {
        zerocopy::transmute!(FrameHeaderWire {
            magic: *FRAME_MAGIC,
            frame_type: U16::new(self.frame_type.0),
            version: U16::new(self.version),
            flags: U16::new(self.flags.0),
            length: U64::new(self.length),
        })
    }
}
