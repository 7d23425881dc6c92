//! Mapped files.
//!
//! What is promised, by whom, and what breaks it: a map is borrowed as `&[u8]`, which Rust requires to stay unchanged.
//! The operating system cannot promise that: another process may write to the file or cut it short, and reading a page
//! past a new end raises SIGBUS. So the caller judges whether the file is left alone, and says so in one unsafe word:
//! [`LeftAlone::promised`], or [`MappedFile::open`], which includes it. Our own writers always rename a complete new file
//! into place (see `atomic`) or append at the end, and so never change bytes that a map already covers.
#![allow(unsafe_code)]

use crate::plan::Cost;
use crate::{FileSource, ReadAt};
use bytes::Bytes;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// The promise that a file stays as it is while it is mapped. Crates without unsafe code take it as a value, so that the
/// one who knows about the file is the one who promises.
#[derive(Clone, Copy, Debug)]
pub struct LeftAlone(());

impl LeftAlone {
    /// Promises it.
    ///
    /// # Safety
    /// Until every map made with this value, and everything borrowed or shared from it, is dropped, no process may change
    /// the bytes of the mapped file that existed when it was mapped, or make it shorter. Appending is fine.
    pub const unsafe fn promised() -> Self {
        Self(())
    }
}

/// A file mapped read-only. The bytes live as long as this value, or longer: see [`MappedFile::bytes`].
#[derive(Clone, Debug)]
pub struct MappedFile {
    bytes: Bytes,
}

impl MappedFile {
    /// Maps `path`. An empty file gives an empty slice.
    ///
    /// # Errors
    /// When the file cannot be opened or mapped; the message names the path.
    ///
    /// # Safety
    /// As [`LeftAlone::promised`].
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        // SAFETY: the caller of this unsafe function promises exactly that.
        Self::map(path, unsafe { LeftAlone::promised() })
    }

    /// Maps `path`, which its caller has promised to be left alone.
    ///
    /// # Errors
    /// As [`MappedFile::open`].
    pub fn map(path: impl AsRef<Path>, promise: LeftAlone) -> io::Result<Self> {
        Self::map_file(&FileSource::open(path)?, promise)
    }

    /// Maps a file that is open already: whatever its name stands for now, this is what was opened.
    ///
    /// # Errors
    /// As [`MappedFile::open`].
    pub fn map_file(source: &FileSource, _: LeftAlone) -> io::Result<Self> {
        if source.is_empty()? {
            return Ok(Self { bytes: Bytes::new() });
        }
        // SAFETY: `memmap2::Mmap::map` requires that the file is not changed or cut while mapped; whoever made the
        // `LeftAlone` has promised exactly that, for as long as the map lives.
        let map = unsafe { memmap2::Mmap::map(source.file()) };
        map.map(|map| Self { bytes: Bytes::from_owner(map) })
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", source.path().display())))
    }

    /// The bytes, shared: they and every slice of them keep the map alive.
    pub fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }
}

impl Deref for MappedFile {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl ReadAt for MappedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.bytes.read_exact_at(offset, buffer)
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}

/// A file mapped privately: what is written to this memory is seen here only and never reaches the file. Pages that are not
/// written to stay in the system's cache and cost no memory of their own.
///
/// The memory is never lent as a slice, so that holders of the pointer may write to it, from other languages for example.
#[derive(Debug)]
pub struct PrivateMap {
    map: Option<memmap2::MmapRaw>,
}

impl PrivateMap {
    /// Maps all of an open file. An empty file is mapped as no bytes.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn map(source: &FileSource, _: LeftAlone) -> io::Result<Self> {
        if source.is_empty()? {
            return Ok(Self { map: None });
        }
        // SAFETY: `map_copy` requires that the file is not changed or cut while mapped; the `LeftAlone` promises that.
        // No swap is reserved: most pages are only ever read.
        let map = unsafe { memmap2::MmapOptions::new().no_reserve_swap().map_copy(source.file()) };
        map.map(|map| Self { map: Some(map.into()) })
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", source.path().display())))
    }

    /// Bytes that are mapped.
    pub fn len(&self) -> usize {
        self.map.as_ref().map_or(0, memmap2::MmapRaw::len)
    }

    /// True for an empty file.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first of [`len`](Self::len) bytes that may be read and written as long as this value lives; dangling when there
    /// are none.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.map.as_ref().map_or(std::ptr::dangling_mut(), memmap2::MmapRaw::as_mut_ptr)
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

    #[test]
    fn a_private_map_never_reaches_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"hello").unwrap();
        // SAFETY: nothing else writes to a file of this test's own directory.
        let promised = unsafe { LeftAlone::promised() };
        let map = PrivateMap::map(&FileSource::open(&path).unwrap(), promised).unwrap();
        assert_eq!((map.len(), map.is_empty()), (5, false));
        // SAFETY: the first of five bytes that live as long as `map`, and nobody else uses them.
        unsafe {
            map.as_mut_ptr().write(b'j');
            assert_eq!(map.as_mut_ptr().read(), b'j');
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
        std::fs::write(&path, b"").unwrap();
        assert!(PrivateMap::map(&FileSource::open(&path).unwrap(), promised).unwrap().is_empty());
    }
}
