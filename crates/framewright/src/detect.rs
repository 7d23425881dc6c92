//! Which format is this? Decided by content, never by name.

use std::fmt;

/// A format this library knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Tensogram messages, one or many.
    Tensogram,
    /// A NumPy array.
    Npy,
    /// A zip archive, such as NumPy's `.npz`.
    Zip,
    /// A safetensors file.
    Safetensors,
    /// A BinTensors file.
    BinTensors,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tensogram => "tensogram",
            Self::Npy => "npy",
            Self::Zip => "zip",
            Self::Safetensors => "safetensors",
            Self::BinTensors => "bintensors",
        })
    }
}

/// The format of a file that begins with `head`, or `None`.
///
/// The unmistakable magics come first; BinTensors has none and is recognised by its whole header, last. Captures of
/// struct-frame need their schema to be told from noise, and are never guessed.
pub fn detect(head: &[u8]) -> Option<Format> {
    if head.starts_with(fw_tensogram::wire::MAGIC) {
        return Some(Format::Tensogram);
    }
    if head.starts_with(b"\x93NUMPY") {
        return Some(Format::Npy);
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Some(Format::Zip);
    }
    if head.get(8) == Some(&b'{') {
        return Some(Format::Safetensors);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        assert_eq!(detect(b"TENSOGRM\0\x03"), Some(Format::Tensogram));
        assert_eq!(detect(b"\x93NUMPY\x01\0"), Some(Format::Npy));
        assert_eq!(detect(b"PK\x03\x04rest"), Some(Format::Zip));
        assert_eq!(detect(b"\x02\0\0\0\0\0\0\0{}"), Some(Format::Safetensors));
        assert_eq!(detect(b""), None);
        assert_eq!(detect(b"plain text"), None);
    }
}
