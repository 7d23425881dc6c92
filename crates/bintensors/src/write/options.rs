//! What a writer adds to the tensors.

use crate::digest::Algorithm;
use std::collections::BTreeMap;

/// How to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The user's own map; an empty one is written as present and empty.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Where the data section begins.
    pub align: HeaderAlignment,
    /// Keep the digest of each tensor (`bt.digest/<name>`, BT-10.4) and that of all together (`bt.manifest`, BT-10.6) in the
    /// metadata.
    pub tensor_digests: Option<Algorithm>,
}

impl WriteOptions {
    /// No metadata, canonical alignment.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the user's own map.
    #[must_use]
    pub fn with_metadata(mut self, metadata: BTreeMap<String, String>) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Chooses where the data section begins.
    #[must_use]
    pub const fn with_align(mut self, align: HeaderAlignment) -> Self {
        self.align = align;
        self
    }

    /// Keeps the digest of each tensor, and that of all together, in the metadata.
    #[must_use]
    pub const fn with_tensor_digests(mut self, algorithm: Algorithm) -> Self {
        self.tensor_digests = Some(algorithm);
        self
    }
}

/// Where the data section begins in the file: at a multiple of what? Anything but the canonical 8 adds spaces to the
/// header, which every reader accepts (BT-5.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeaderAlignment(u64);

impl HeaderAlignment {
    /// A multiple of 8, counted from the end of the size field: the canonical form.
    pub const CANONICAL: Self = Self(8);
    /// A cache line, for vector loads from a map.
    pub const CACHE_LINE: Self = Self(64);
    /// A page, for mapping the data section alone or handing it to a device.
    pub const PAGE: Self = Self(4096);

    /// A power of two from 8 to 1 048 576, or `None`.
    pub const fn new(bytes: u64) -> Option<Self> {
        if bytes.is_power_of_two() && bytes >= 8 && bytes <= 1 << 20 { Some(Self(bytes)) } else { None }
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl Default for HeaderAlignment {
    fn default() -> Self {
        Self::CANONICAL
    }
}
