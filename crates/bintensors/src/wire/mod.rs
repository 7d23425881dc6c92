//! Bytes to numbers and text: the primitives of the header (BT-2).
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod scan; // reading
mod sink; // writing

pub(crate) use scan::{Fault, Scan};
pub(crate) use sink::{Fields, put_text, put_varint, text_len, varint_len};

/// Bytes of the size field (BT-1.1).
pub(crate) const SIZE_LEN: usize = 8;
/// The largest header, padding included (BT-1.3).
pub const MAX_HEADER_LEN: u64 = 100_000_000;
/// The byte that fills the header up to its length (BT-5.6).
pub(crate) const PADDING: u8 = b' ';
/// A header written by the default writer is a multiple of this (BT-5.6).
pub(crate) const HEADER_ALIGNMENT: u64 = 8;
/// The fewest bytes a record can have (BT-3.4).
pub(crate) const MIN_RECORD_LEN: usize = 5;
/// The fewest bytes a metadata entry can have (BT-3.4).
pub(crate) const MIN_ENTRY_LEN: usize = 2;
