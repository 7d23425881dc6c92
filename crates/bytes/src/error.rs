//! What went wrong while reading bytes, and where. No allocation: this travels through `no_std` parsers.

use core::fmt;

/// A fault found while reading: what was being read, what was needed, what was found, at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Stable snake_case code.
    pub code: &'static str,
    /// What was being read, in the words of the specification.
    pub what: &'static str,
    /// What should have been there.
    pub expected: Detail,
    /// What was there.
    pub found: Detail,
    /// Absolute position of the fault.
    pub at: u64,
}

impl ParseError {
    /// Fewer bytes are left than the record needs.
    pub const fn short(what: &'static str, need: u64, have: u64, at: u64) -> Self {
        Self { code: "truncated", what, expected: Detail::Bytes(need), found: Detail::Bytes(have), at }
    }

    /// A value that the format does not allow.
    pub const fn value(code: &'static str, what: &'static str, expected: Detail, found: Detail, at: u64) -> Self {
        Self { code, what, expected, found, at }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.expected, self.found) {
            (Detail::Bytes(need), Detail::Bytes(have)) => {
                write!(f, "need {need} bytes for {}, have {have}", self.what)?;
            }
            (expected, Detail::None) => write!(f, "{}: expected {expected}", self.what)?,
            (Detail::None, found) => write!(f, "{}: found {found}", self.what)?,
            (expected, found) => write!(f, "{}: expected {expected}, found {found}", self.what)?,
        }
        write!(f, " at byte {} (0x{:x})", self.at, self.at)
    }
}

impl core::error::Error for ParseError {}

/// One side of an expectation, printable without allocating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// Nothing to say.
    None,
    /// A number of bytes.
    Bytes(u64),
    /// A number.
    Number(u64),
    /// A number best read in hexadecimal.
    Hex(u64),
    /// At least this number.
    AtLeast(u64),
    /// At most this number.
    AtMost(u64),
    /// Fixed words.
    Text(&'static str),
    /// Up to eight bytes, printed as text when they are text and as hex otherwise.
    Raw([u8; 8], u8),
}

impl Detail {
    /// The first eight of `bytes`, to show what stood where a magic was expected.
    pub fn raw(bytes: &[u8]) -> Self {
        let mut held = [0u8; 8];
        let len = bytes.len().min(8);
        for (to, from) in held.iter_mut().zip(bytes) {
            *to = *from;
        }
        Self::Raw(held, len as u8)
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("nothing"),
            Self::Bytes(n) => write!(f, "{n} bytes"),
            Self::Number(n) => write!(f, "{n}"),
            Self::Hex(n) => write!(f, "0x{n:x}"),
            Self::AtLeast(n) => write!(f, "at least {n}"),
            Self::AtMost(n) => write!(f, "at most {n}"),
            Self::Text(text) => f.write_str(text),
            Self::Raw(held, len) => {
                let bytes = held.get(..usize::from(*len)).unwrap_or(&[]);
                if !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_graphic()) {
                    f.write_str("\"")?;
                    for byte in bytes {
                        write!(f, "{}", char::from(*byte))?;
                    }
                    f.write_str("\"")
                } else {
                    f.write_str("0x")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn messages_read_like_sentences() {
        let short = ParseError::short("preamble", 24, 20, 100);
        assert_eq!(short.to_string(), "need 24 bytes for preamble, have 20 at byte 100 (0x64)");
        let magic = ParseError::value("bad_magic", "magic", Detail::raw(b"TENSOGRM"), Detail::raw(&[0, 1]), 0);
        assert_eq!(magic.to_string(), "magic: expected \"TENSOGRM\", found 0x0001 at byte 0 (0x0)");
    }
}
