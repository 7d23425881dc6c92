//! Files put together of new bytes and of bytes of other files.

use crate::{AtomicFile, FileSource, ReadAt, stream};
use fw_bytes::{Span, interrupt};
use std::io::{self, Seek, Write};
use std::path::Path;

/// A file under construction that takes bytes from memory and from other files, in order, and appears when it is complete.
///
/// What comes from other files is copied by the system where it can (`copy_file_range`), so that it does not pass through this process, and
/// a file system that lets files share blocks (Btrfs, XFS) copies none of the whole blocks that lie on borders of blocks in both files.
///
/// ```
/// use fw_bytes::Span;
/// use fw_source::{AssembledFile, FileSource};
///
/// let folder = tempfile::tempdir()?;
/// let (old, new) = (folder.path().join("old"), folder.path().join("new"));
/// std::fs::write(&old, b"headDATA")?;
/// let source = FileSource::open(&old)?;
/// let mut file = AssembledFile::create(&new)?;
/// file.put(b"longer head")?;
/// file.copy(&source, Span::new(4, 8), &mut |_| {})?;
/// file.commit()?;
/// assert_eq!(std::fs::read(&new)?, b"longer headDATA");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AssembledFile {
    file: AtomicFile,
    /// What was put and not written yet.
    pending: Vec<u8>,
}

impl AssembledFile {
    /// Starts a new version of `target`.
    ///
    /// # Errors
    /// As [`AtomicFile::create`].
    pub fn create(target: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { file: AtomicFile::create(target)?, pending: Vec::new() })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// When writing fails.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.pending.len().saturating_add(bytes.len()) > PENDING {
            self.flush()?;
        }
        if bytes.len() >= PENDING {
            return self.file.write_all(bytes);
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends bytes of another file, in bounded memory; `told` hears of every piece.
    ///
    /// # Errors
    /// When reading or writing fails; `UnexpectedEof` when the other file is shorter than that.
    pub fn copy(&mut self, source: &FileSource, span: Span, told: &mut dyn FnMut(u64)) -> io::Result<()> {
        if span.len() <= SMALL {
            let mut bytes = vec![0; usize::try_from(span.len()).map_err(io::Error::other)?];
            source.read_exact_at(span.start, &mut bytes).map_err(|error| shorter(source, error))?;
            told(span.len());
            return self.put(&bytes);
        }
        self.flush()?;
        let at = self.file.stream_position()?;
        for part in blocks(span, at) {
            self.copy_part(source, part, told)?;
        }
        Ok(())
    }

    /// Puts the file in place.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub fn commit(mut self) -> io::Result<()> {
        self.flush()?;
        self.file.commit().map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// By the system as far as that goes, and through a buffer from there.
    fn copy_part(&mut self, source: &FileSource, span: Span, told: &mut dyn FnMut(u64)) -> io::Result<()> {
        let mut from = span.start;
        while from < span.end {
            interrupt::check();
            // In steps, so that there is progress to tell; they keep to borders of blocks.
            let copied = by_system(source, from, self.file.file(), span.end.saturating_sub(from).min(STEP))?;
            if copied == 0 {
                break;
            }
            from = from.saturating_add(copied);
            told(copied);
        }
        let file = &mut self.file;
        stream(source, Span::new(from, span.end), |piece| {
            file.write_all(piece)?;
            told(piece.len() as u64);
            Ok(())
        })
        .map_err(|error| shorter(source, error))
    }
}

impl Write for AssembledFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }
}

fn shorter(source: &FileSource, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::UnexpectedEof {
        return error;
    }
    let text = format!("{}: the file became shorter while it was read: {error}", source.path().display());
    io::Error::new(io::ErrorKind::UnexpectedEof, text)
}

/// Copies up to so many bytes to where the other file stands; zero where the system has no way to.
#[cfg(target_os = "linux")]
fn by_system(source: &FileSource, from: u64, to: &std::fs::File, len: u64) -> io::Result<u64> {
    use rustix::io::Errno;
    let mut from = from;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    loop {
        match rustix::fs::copy_file_range(source.file(), Some(&mut from), to, None, len) {
            Ok(copied) => return Ok(copied as u64),
            Err(Errno::INTR) => {}
            // Two file systems, or one that cannot.
            Err(Errno::XDEV | Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP | Errno::PERM | Errno::BADF) => {
                return Ok(0);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn by_system(_: &FileSource, _: u64, _: &std::fs::File, _: u64) -> io::Result<u64> {
    Ok(0)
}

/// The bytes up to a border of blocks, whole blocks, and the rest: apart, so that the whole ones can be shared.
fn blocks(span: Span, at: u64) -> [Span; 3] {
    if span.start % BLOCK != at % BLOCK {
        return [span, Span::new(span.end, span.end), Span::new(span.end, span.end)];
    }
    let first = span.start.checked_next_multiple_of(BLOCK).unwrap_or(span.end).min(span.end);
    let last = (span.end / BLOCK).saturating_mul(BLOCK).max(first);
    [Span::new(span.start, first), Span::new(first, last), Span::new(last, span.end)]
}

/// The blocks that file systems share, or a multiple of them.
const BLOCK: u64 = 4096;
/// Bytes that the system copies between two reports of progress.
const STEP: u64 = 64 << 20;
/// Bytes that are written at a time.
const PENDING: usize = 1 << 20;
/// Up to here a read and a copy in memory cost less than a call to the system for each span.
const SMALL: u64 = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks_are_copied_apart() {
        let parts = |start, end, at| blocks(Span::new(start, end), at).map(|part| (part.start, part.end));
        assert_eq!(parts(100, 20_000, 8_292), [(100, 4096), (4096, 16_384), (16_384, 20_000)]);
        assert_eq!(parts(100, 20_000, 8_291), [(100, 20_000), (20_000, 20_000), (20_000, 20_000)]);
        assert_eq!(parts(0, 4096, 0), [(0, 0), (0, 4096), (4096, 4096)]);
        assert_eq!(parts(10, 20, 4106), [(10, 20), (20, 20), (20, 20)]);
    }

    #[test]
    fn bytes_come_in_order_and_a_source_that_is_too_short_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let bytes: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
        std::fs::write(&from, &bytes).unwrap();
        let source = FileSource::open(&from).unwrap();
        let spans = [(0, 100), (4096, 2_000_003), (7, 7), (1, 300_000), (2_999_999, 3_000_000)];
        let (mut file, mut told, mut expected) = (AssembledFile::create(&to).unwrap(), 0, Vec::new());
        for (start, end) in spans {
            file.put(b"head").unwrap();
            file.copy(&source, Span::new(start, end), &mut |done| told += done).unwrap();
            expected.extend_from_slice(b"head");
            expected.extend_from_slice(&bytes[start as usize..end as usize]);
        }
        file.put(&bytes).unwrap();
        expected.extend_from_slice(&bytes);
        assert!(!to.exists());
        file.commit().unwrap();
        assert!(std::fs::read(&to).unwrap() == expected);
        assert_eq!(told, spans.iter().map(|(start, end)| end - start).sum::<u64>());
        std::fs::remove_file(&to).unwrap();
        for (start, end) in [(2_999_999, 3_000_001), (1_000_000, 3_000_001), (5_000_000, 9_000_000)] {
            let mut file = AssembledFile::create(&to).unwrap();
            let error = file.copy(&source, Span::new(start, end), &mut |_| {}).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            assert!(error.to_string().contains("became shorter") && error.to_string().contains("from"), "{error}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
