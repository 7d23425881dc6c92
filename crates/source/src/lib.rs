//! Where bytes come from, and where finished files go.
//!
//! Decoders do no input or output: they answer [`fw_bytes::Step`]. [`drive`] fetches the ranges a decoder asks for from
//! any [`ReadAt`], a slice, a file or a map, and asks again. [`plan`] decides which ranges share a request, for every source
//! and every format. [`AtomicFile`] writes a file that replaces another when it is complete, so that readers of the old
//! one are never cut off.
#![deny(unsafe_code)]

pub mod plan; // which bytes to request
mod read_at; // the trait, and slices
mod kept; // a source that may be read whole
mod file; // positioned reads on one handle
#[cfg(feature = "mmap")]
mod mmap; // mapped files
mod buffers; // ranges already fetched
mod drive; // runs decoders on any source
mod watch; // how far reading has come
mod runs; // the runs of a selection, a long range in order
#[cfg(feature = "async")]
pub mod nonblocking; // sources that are awaited
#[cfg(feature = "remote")]
pub mod remote; // object stores
mod same_file; // whether two names lead to one file
mod atomic; // files that appear when they are complete
mod assembled; // such files of bytes of other files

pub use assembled::AssembledFile;
pub use atomic::{AtomicFile, TemporaryDirectory, TemporaryFile, remove_temporary_files_on_signals, sync_directory_of};
pub use buffers::Buffers;
pub use drive::{drive, drive_all};
pub use file::FileSource;
pub use kept::Kept;
#[cfg(feature = "mmap")]
pub use mmap::{LeftAlone, MappedFile, PrivateMap};
pub use read_at::ReadAt;
pub use runs::{read_runs, stream};
pub use same_file::same_file;
pub use watch::{Watch, Watched};

/// The stable snake_case code of a read or write that failed: `not_found`, `permission_denied` or `io_error`; of a store the code
/// of its `RemoteError`.
///
/// ```
/// let missing = std::fs::File::open("no such file").unwrap_err();
/// assert_eq!(fw_source::io_code(&missing), "not_found");
/// ```
pub fn io_code(error: &std::io::Error) -> &'static str {
    #[cfg(feature = "remote")]
    if let Some(remote) = remote::RemoteError::of(error) {
        return remote.code();
    }
    match error.kind() {
        std::io::ErrorKind::NotFound => "not_found",
        std::io::ErrorKind::PermissionDenied => "permission_denied",
        _ => "io_error",
    }
}

/// A defect of this library, never of the input.
pub(crate) fn internal(what: &str) -> std::io::Error {
    let text = format!("internal error: {what}; please report it, with the file if you can");
    std::io::Error::other(text)
}
