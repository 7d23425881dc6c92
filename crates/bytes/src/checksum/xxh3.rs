//! XXH3, 64 bits, seed 0, default secret.

use core::hash::Hasher as _;
use twox_hash::XxHash3_64;

/// The digest of `bytes`.
///
/// ```
/// assert_eq!(fw_bytes::checksum::xxh3_64(b""), 0x2d06_8005_38d3_94c2);
/// ```
pub fn xxh3_64(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The same digest, fed piece by piece.
#[cfg(feature = "alloc")]
pub struct Xxh3(XxHash3_64);

#[cfg(feature = "alloc")]
impl Xxh3 {
    /// Nothing fed yet.
    pub fn new() -> Self {
        Self(XxHash3_64::new())
    }

    /// Feeds more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The digest of everything fed so far.
    pub fn digest(&self) -> u64 {
        self.0.finish()
    }
}

#[cfg(feature = "alloc")]
impl Default for Xxh3 {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "alloc")]
impl core::fmt::Debug for Xxh3 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Xxh3({:016x})", self.digest())
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_whole_agree() {
        let bytes: alloc::vec::Vec<u8> = (0..1000u32).map(|i| (i * 7) as u8).collect();
        for split in [0, 1, 16, 240, 241, 999, 1000] {
            let mut hash = Xxh3::new();
            let (head, tail) = bytes.split_at(split);
            hash.update(head);
            hash.update(tail);
            assert_eq!(hash.digest(), xxh3_64(&bytes), "split at {split}");
        }
        assert_eq!(xxh3_64(&[0xa0]), 0x2b98_bb92_609b_d6f8);
    }
}
