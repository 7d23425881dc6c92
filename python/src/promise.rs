//! The promise that mapped files are left alone.
//!
//! What is promised, by whom, and what breaks it: a map is read as `&[u8]`, which Rust requires to stay unchanged, and the
//! operating system cannot promise that. Whoever asks for a view of a file does, as with `numpy.memmap`: the documentation of the
//! functions that map says that the file must not be cut short or changed in place while views of it live. Our own writers only
//! append and rename. A file that is cut short all the same raises SIGBUS where its lost pages are read.
#![allow(unsafe_code)]

use framewright::source::LeftAlone;

/// The caller's promise, passed on.
pub(crate) fn left_alone() -> LeftAlone {
    // SAFETY: every call of this function serves a caller who asked for views (`copy=False`, or `numpy()` of a tensor that stands in
    // the file as it is) and thereby promised what `LeftAlone::promised` asks for; see the top.
    unsafe { LeftAlone::promised() }
}
