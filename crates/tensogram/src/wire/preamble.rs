//! The first 24 bytes of a message (TG-2).

use super::{MAGIC, MIN_MESSAGE_LEN, MessageFlags, VERSION};
use fw_bytes::{Detail, ParseError};
use zerocopy::byteorder::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct PreambleWire {
    magic: [u8; 8],
    version: U16,
    flags: U16,
    reserved: U32,
    total_length: U64,
}

const _: () = assert!(size_of::<PreambleWire>() == 24 && std::mem::offset_of!(PreambleWire, total_length) == 16);

/// A preamble with the right magic and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// What the message contains.
    pub flags: MessageFlags,
    /// Always written as zero; kept to report other values.
    pub reserved: u32,
    /// Bytes of the whole message, or `None` when its writer could not know.
    pub total_length: Option<u64>,
}

impl Preamble {
    /// Reads the first 24 of `bytes`, which stand at absolute position `at`.
    ///
    /// # Errors
    /// Too few bytes, another magic, or another version. The length is not compared with anything here.
    pub fn read(bytes: &[u8], at: u64) -> Result<Self, ParseError> {
        let short = || ParseError::short("preamble", 24, bytes.len() as u64, at);
        let (wire, _) = PreambleWire::ref_from_prefix(bytes).map_err(|_| short())?;
        if &wire.magic != MAGIC {
            let (expected, found) = (Detail::raw(MAGIC), Detail::raw(&wire.magic));
            return Err(ParseError::value("invalid_magic", "message magic", expected, found, at));
        }
        if wire.version.get() != VERSION {
            let hint = match wire.version.get() {
                1 | 2 => "version 3 (versions 1 and 2 must be re-encoded by their producer)",
                _ => "version 3",
            };
            let found = Detail::Number(wire.version.get().into());
            let at = at.saturating_add(8);
            return Err(ParseError::value("preamble_parse_failed", "format version", Detail::Text(hint), found, at));
        }
        let total_length = match wire.total_length.get() {
            0 => None,
            length => Some(length),
        };
        Ok(Self { flags: MessageFlags(wire.flags.get()), reserved: wire.reserved.get(), total_length })
    }

    /// The 24 bytes.
    pub fn to_bytes(self) -> [u8; 24] {
        zerocopy::transmute!(PreambleWire {
            magic: *MAGIC,
            version: U16::new(VERSION),
            flags: U16::new(self.flags.0),
            reserved: U32::new(self.reserved),
            total_length: U64::new(self.total_length.unwrap_or(0)),
        })
    }

    /// The length, when it is known and possible: at least the smallest message, at most `available` bytes.
    ///
    /// # Errors
    /// `total_length_too_small` or `total_length_exceeds_buffer`.
    pub fn checked_length(&self, available: u64, at: u64) -> Result<Option<u64>, ParseError> {
        let Some(length) = self.total_length else { return Ok(None) };
        let at = at.saturating_add(16);
        let fail = |code, expected| Err(ParseError::value(code, "total_length", expected, Detail::Number(length), at));
        match length {
            _ if length < MIN_MESSAGE_LEN => fail("total_length_too_small", Detail::AtLeast(MIN_MESSAGE_LEN)),
            _ if length > available => fail("total_length_exceeds_buffer", Detail::AtMost(available)),
            _ => Ok(Some(length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preambles_round_trip_and_old_versions_get_a_hint() {
        let preamble = Preamble { flags: MessageFlags(0x95), reserved: 0, total_length: Some(560) };
        let mut bytes = preamble.to_bytes();
        assert_eq!(Preamble::read(&bytes, 0), Ok(preamble));
        bytes[9] = 2;
        let error = Preamble::read(&bytes, 100).unwrap_err();
        assert!(error.to_string().contains("re-encoded by their producer), found 2 at byte 108"), "{error}");
        assert_eq!(Preamble::read(&bytes[..20], 0).unwrap_err().code, "truncated");
    }
}
