//! Mapped files.
//!
//! What is promised, by whom, and what breaks it: a map is borrowed as `&[u8]`, which Rust requires to stay unchanged.
//! The operating system cannot promise that: another process may write to the file or cut it short, and reading a page
//! past a new end raises SIGBUS. So [`MappedFile::open`] is unsafe and the caller judges whether the file is left
//! alone. Our own writers always rename a complete new file into place (see `atomic`) or append at the end, and so never
//! change bytes that a map already covers.
#![allow(unsafe_code)]

use crate::{FileSource, ReadAt};
use std::io;
use std::ops::Deref;
use std::path::Path;

/// A file mapped read-only; the bytes live as long as this value.
#[derive(Debug)]
pub struct MappedFile {
    map: Option<memmap2::Mmap>,
}

impl MappedFile {
    /// Maps `path`. An empty file gives an empty slice.
    ///
    /// # Errors
    /// When the file cannot be opened or mapped; the message names the path.
    ///
    /// # Safety
    /// Until this value is dropped, no process may change the bytes of the file that exist now, or make it shorter.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let source = FileSource::open(path)?;
        if source.is_empty()? {
            return Ok(Self { map: None });
        }
        // SAFETY: `memmap2::Mmap::map` requires that the file is not changed or cut while mapped; the caller of this
        // unsafe function promises exactly that.
        let map = unsafe { memmap2::Mmap::map(source.file()) };
        map.map(|map| Self { map: Some(map) })
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", source.path().display())))
    }
}

impl Deref for MappedFile {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_equal_files_and_empty_files_are_fine() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        for content in [&b""[..], b"hello"] {
            std::fs::write(&path, content).unwrap();
            // SAFETY: the file lives in this test's own temporary directory and nothing writes to it below.
            let map = unsafe { MappedFile::open(&path) }.unwrap();
            assert_eq!(&*map, content);
        }
        // SAFETY: nothing is mapped, the path does not exist.
        let error = unsafe { MappedFile::open(dir.path().join("absent")) }.unwrap_err();
        assert!(error.to_string().contains("absent"));
    }
}
