//! Where bytes come from, and where finished files go.
//!
//! Decoders do no input or output: they answer [`fw_bytes::Step`]. [`drive`] fetches the ranges a decoder asks for from
//! any [`ReadAt`], a slice, a file or a map, and asks again. [`AtomicFile`] writes a sibling temporary file and renames
//! it, so that readers of the old file are never cut off.
#![deny(unsafe_code)]

mod atomic; // temporary file + rename
mod coalesce; // neighbouring ranges become one read
mod drive; // runs a decoder on any source
mod file; // positioned reads on one handle
#[cfg(feature = "mmap")]
mod mmap; // mapped files
#[cfg(feature = "async")]
pub mod nonblocking; // sources that are awaited
mod read_at; // the trait, and slices
#[cfg(feature = "remote")]
pub mod remote; // object stores

pub use atomic::AtomicFile;
pub use coalesce::coalesce;
pub use drive::{Buffers, drive};
pub use file::FileSource;
#[cfg(feature = "mmap")]
pub use mmap::{LeftAlone, MappedFile};
pub use read_at::ReadAt;
