//! Digests of the objects of a message, gathered in one frame (TG-9.3).

use super::cbor::{Value, read_value, write_array_head, write_map_head, write_text};
use super::metadata::check_len;
use crate::error::{Fault, Result, TensogramError};
use fw_bytes::{Limits, checksum::xxh3_64};

/// The name of the only digest written.
pub(crate) const ALGORITHM: &str = "xxh3";

/// The body of a hash frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashList {
    /// Name of the digest, normally `xxh3`.
    pub algorithm: String,
    /// One digest per object, 16 lower-case hex digits each.
    pub hashes: Vec<String>,
}

impl HashList {
    /// The list for these digests.
    pub fn new(digests: impl IntoIterator<Item = u64>) -> Self {
        let hashes = digests.into_iter().map(digest_text).collect();
        Self { algorithm: ALGORITHM.to_owned(), hashes }
    }

    /// Reads the body of a hash frame, which stands at absolute position `at`.
    ///
    /// # Errors
    /// Metadata errors: not a map with text keys, entries that are not text.
    pub fn from_cbor(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self> {
        check_len(bytes.len(), at, limits)?;
        let Value::Map(entries) = read_value(bytes, at, limits.depth)? else { return Err(wrong("a map", at)) };
        let mut list = Self::default();
        for (key, value) in entries {
            let Value::Text(key) = key else { return Err(wrong("text keys", at)) };
            match (key.as_str(), value) {
                ("algorithm", Value::Text(name)) => list.algorithm = name,
                ("algorithm", _) => return Err(wrong("algorithm as text", at)),
                ("hashes", Value::Array(items)) => {
                    let text = |item| match item {
                        Value::Text(text) => Ok(text),
                        _ => Err(wrong("hashes as text", at)),
                    };
                    list.hashes = items.into_iter().map(text).collect::<Result<_>>()?;
                }
                ("hashes", _) => return Err(wrong("hashes as an array", at)),
                _ => {}
            }
        }
        Ok(list)
    }

    /// The canonical CBOR.
    pub fn to_cbor(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(40 + self.hashes.len() * 17);
        write_map_head(&mut out, 2);
        write_text(&mut out, "hashes");
        write_array_head(&mut out, self.hashes.len());
        self.hashes.iter().for_each(|hash| write_text(&mut out, hash));
        write_text(&mut out, "algorithm");
        write_text(&mut out, &self.algorithm);
        out
    }
}

/// The digest of some bytes as the format spells it: XXH3 of 64 bits, 16 lower-case hex digits.
///
/// ```
/// assert_eq!(fw_tensogram::compute_hash(b"hello world"), "d447b1ea40e6988b");
/// ```
pub fn compute_hash(bytes: &[u8]) -> String {
    digest_text(xxh3_64(bytes))
}

/// A digest as text: 16 lower-case hex digits.
pub(crate) fn digest_text(digest: u64) -> String {
    format!("{digest:016x}")
}

fn wrong(expected: &str, at: u64) -> TensogramError {
    let message = format!("hash list: expected {expected}");
    TensogramError::Metadata(Fault::format("hash_frame_cbor_parse_failed", message).at(at)).on("hashes")
}
