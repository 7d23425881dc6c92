//! safetensors: an eight-byte length, a JSON header, the tensors' bytes.

mod dtype; // its element types
mod header; // JSON to entries, checked
mod read; // an open file
mod write; // entries to a header, in the reference's order

pub(crate) use dtype::type_name;
pub(crate) use header::parse;
pub(crate) use read::{open, open_source};
pub(crate) use write::{Layout, layout};

/// The reference refuses longer headers.
pub(crate) const MAX_HEADER_LEN: u64 = 100_000_000;
/// Bytes of the length.
pub(crate) const SIZE_LEN: u64 = 8;
