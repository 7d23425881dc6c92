//! Caps on what a decoder may hold or follow, as a value.

/// How much work and memory input may ask for.
///
/// The default never refuses a file that a well-behaved writer makes; [`Limits::untrusted`] is for untrusted files.
/// Independently of these, no decoder reserves memory for a claimed size before checking it against the bytes at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest message or file header taken into memory, in bytes.
    pub message_len: u64,
    /// Objects or tensors in one message or file.
    pub object_count: u64,
    /// Bytes of one metadata or descriptor block.
    pub metadata_len: u64,
    /// Nesting of metadata containers, the outermost included.
    pub depth: u32,
    /// Decoded bytes of one object.
    pub object_len: u64,
    /// An object whose decoded size is above [`Limits::expansion_floor`] may be at most this many times its payload.
    pub expansion_ratio: u64,
    /// Decoded sizes up to this are never refused for their ratio.
    pub expansion_floor: u64,
}

impl Limits {
    /// Tight caps for input from strangers: 64 MiB objects, 4 096 of them, 1 MiB of metadata each, 32 deep.
    pub const fn untrusted() -> Self {
        Self {
            message_len: 256 << 20,
            object_count: 4096,
            metadata_len: 1 << 20,
            depth: 32,
            object_len: 64 << 20,
            expansion_ratio: 64,
            expansion_floor: 1 << 20,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_len: u64::MAX,
            object_count: u64::MAX,
            metadata_len: u64::MAX,
            depth: 256,
            object_len: u64::MAX,
            expansion_ratio: 256,
            expansion_floor: 4 << 30,
        }
    }
}
