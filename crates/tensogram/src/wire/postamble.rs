//! The last 24 bytes of a message (TG-3).

use super::END_MAGIC;
use fw_bytes::{Detail, ParseError};
use zerocopy::byteorder::big_endian::U64;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct PostambleWire {
    first_footer_offset: U64,
    total_length: U64,
    end_magic: [u8; 8],
}

const _: () = assert!(size_of::<PostambleWire>() == 24 && std::mem::offset_of!(PostambleWire, end_magic) == 16);

/// A postamble with the right end magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Postamble {
    /// Where the first footer frame begins, or the postamble itself when there is none.
    pub first_footer_offset: u64,
    /// The length of the preamble once more, or `None` when the writer could not know.
    pub total_length: Option<u64>,
}

impl Postamble {
    /// Reads the first 24 of `bytes`, which stand at absolute position `at`.
    ///
    /// # Errors
    /// Too few bytes or another end magic.
    pub fn read(bytes: &[u8], at: u64) -> Result<Self, ParseError> {
        let short = || ParseError::short("postamble", 24, bytes.len() as u64, at);
        let (wire, _) = PostambleWire::ref_from_prefix(bytes).map_err(|_| short())?;
        if &wire.end_magic != END_MAGIC {
            let (expected, found) = (Detail::raw(END_MAGIC), Detail::raw(&wire.end_magic));
            let at = at.saturating_add(16);
            return Err(ParseError::value("postamble_invalid", "end magic", expected, found, at));
        }
        let total_length = match wire.total_length.get() {
            0 => None,
            length => Some(length),
        };
        Ok(Self { first_footer_offset: wire.first_footer_offset.get(), total_length })
    }

    /// The 24 bytes.
    pub fn to_bytes(self) -> [u8; 24] {
        zerocopy::transmute!(PostambleWire {
            first_footer_offset: U64::new(self.first_footer_offset),
            total_length: U64::new(self.total_length.unwrap_or(0)),
            end_magic: *END_MAGIC,
        })
    }

    /// Compares the mirrored length with the preamble's; an absent mirror is fine.
    ///
    /// # Errors
    /// `postamble_invalid` when both are known and differ.
    pub fn check_mirror(&self, total_length: u64, at: u64) -> Result<(), ParseError> {
        match self.total_length {
            Some(mirror) if mirror != total_length => Err(ParseError::value(
                "postamble_invalid",
                "total_length in the postamble",
                Detail::Number(total_length),
                Detail::Number(mirror),
                at.saturating_add(8),
            )),
            _ => Ok(()),
        }
    }
}
