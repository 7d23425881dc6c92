//! Digests by name, over bytes at hand and over parts of a source. The format stores none of its own (BT-10.1): a digest is
//! handed to the caller, or kept in the user metadata.

use crate::error::BinTensorError;
use digest::{Digest, DynDigest};
use fw_bytes::{Span, interrupt};
use fw_source::{ReadAt, stream};
use std::fmt;
use std::str::FromStr;

/// A digest by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// The default of the reference package.
    Sha1,
    /// The sound choice against tampering.
    Sha256,
    /// The newer standard.
    Sha3_256,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [Self::Sha1, Self::Sha256, Self::Sha3_256];

    /// Lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha3_256 => "sha3-256",
        }
    }

    /// Bytes of a digest.
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 | Self::Sha3_256 => 32,
        }
    }

    /// The digest of bytes at hand.
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        let mut hasher = self.hasher();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The digest of part of a source, read piece by piece.
    ///
    /// # Errors
    /// When the source fails.
    pub fn digest_range(
        self,
        source: &(impl ReadAt + ?Sized),
        start: u64,
        end: u64,
    ) -> Result<Vec<u8>, BinTensorError> {
        let mut hasher = self.hasher();
        hasher.read(source, start, end)?;
        Ok(hasher.finish())
    }

    pub(crate) fn hasher(self) -> Hasher {
        Hasher(match self {
            Self::Sha1 => Box::new(sha1::Sha1::new()),
            Self::Sha256 => Box::new(sha2::Sha256::new()),
            Self::Sha3_256 => Box::new(sha3::Sha3_256::new()),
        })
    }

    /// How the user metadata spells a digest: `sha256:<hex>`.
    pub(crate) fn spell(self, digest: &[u8]) -> String {
        format!("{}:{}", self.name(), hex(digest))
    }
}

impl Algorithm {
    /// The algorithm of a spelt digest, which must have the right number of hexadecimal digits.
    pub(crate) fn of_spelt(text: &str) -> Result<Self, BinTensorError> {
        let wrong = || BinTensorError::EncodeError(format!("digest {text:?} is not in the form algorithm:hex"));
        let (name, digits) = text.split_once(':').ok_or_else(wrong)?;
        let algorithm: Self = name.parse()?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        (is_hex && digits.len() == algorithm.digest_len().saturating_mul(2)).then_some(algorithm).ok_or_else(wrong)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = BinTensorError;
    fn from_str(name: &str) -> Result<Self, BinTensorError> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name).ok_or_else(|| {
            BinTensorError::EncodeError(format!("{name:?} is not a digest algorithm; use sha1, sha256 or sha3-256"))
        })
    }
}

/// Checks the digest of a whole file, from bytes, a file or any other source.
///
/// # Errors
/// `ChecksumMismatch`, or when the source fails.
pub fn verify(source: &(impl ReadAt + ?Sized), digest: &[u8], algorithm: Algorithm) -> Result<(), BinTensorError> {
    let found = algorithm.digest_range(source, 0, source.len()?)?;
    if found == digest {
        return Ok(());
    }
    let (expected, found) = (algorithm.spell(digest), algorithm.spell(&found));
    Err(BinTensorError::ChecksumMismatch { name: None, expected, found })
}

/// A running digest.
pub(crate) struct Hasher(Box<dyn DynDigest + Send>);

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        // In steps, so that watched work can be stopped in the middle of a large tensor.
        for step in bytes.chunks(PIECE) {
            interrupt::check();
            self.0.update(step);
        }
    }

    pub(crate) fn read(&mut self, source: &(impl ReadAt + ?Sized), start: u64, end: u64) -> Result<(), BinTensorError> {
        stream(source, Span::new(start, end.max(start)), |piece| {
            self.update(piece);
            Ok(())
        })
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.finalize().into_vec()
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hasher")
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len().saturating_mul(2)), |mut text, byte| {
        for nibble in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(nibble), 16));
        }
        text
    })
}

/// Bytes hashed between two looks at whether the work is to stop.
const PIECE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests() {
        assert_eq!(hex(&Algorithm::Sha1.digest(b"abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(
            Algorithm::Sha256.spell(&Algorithm::Sha256.digest(b"")),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse::<Algorithm>().unwrap(), algorithm);
            assert_eq!(algorithm.digest(b"x").len(), algorithm.digest_len());
        }
        verify(&b"abc"[..], &Algorithm::Sha256.digest(b"abc"), Algorithm::Sha256).unwrap();
        assert_eq!(verify(&b"abd"[..], &[0; 20], Algorithm::Sha1).unwrap_err().class(), "ChecksumMismatch");
    }
}
