//! Positioned reads on one file handle.

use crate::ReadAt;
use crate::read_at::short_read;
#[cfg(unix)]
use fw_bytes::interrupt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A regular file opened once for positioned reads; safe to share between threads.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    path: PathBuf,
}

impl FileSource {
    /// Opens `path` for reading.
    ///
    /// # Errors
    /// When it does not exist, cannot be read, or is not a regular file (a directory would never end); the message
    /// names the path.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let irregular =
            || io::Error::new(io::ErrorKind::InvalidInput, format!("{}: not a regular file", path.display()));
        // Before it is opened, too: opening a pipe that nobody writes to never returns.
        if !std::fs::metadata(path).map_err(named)?.is_file() {
            return Err(irregular());
        }
        let file = File::open(path).map_err(named)?;
        if !file.metadata().map_err(named)?.is_file() {
            return Err(irregular());
        }
        Ok(Self { file, path: path.to_owned() })
    }

    /// A regular file that is open for reading, one without a name for example; `name` is what errors call it.
    pub fn of(file: File, name: impl Into<PathBuf>) -> Self {
        Self { file, path: name.into() }
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open handle.
    pub const fn file(&self) -> &File {
        &self.file
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        let (len, mut at) = (buffer.len(), offset);
        // In steps, so that watched work can be stopped in the middle of a long read.
        for step in buffer.chunks_mut(STEP) {
            interrupt::check();
            self.file.read_exact_at(step, at).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => short_read(offset, len, ReadAt::len(self).unwrap_or(0)),
                _ => error,
            })?;
            at = at.saturating_add(step.len() as u64);
        }
        Ok(())
    }

    #[cfg(windows)]
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        let mut done = 0;
        while done < buffer.len() {
            let at = offset.saturating_add(done as u64);
            match self.file.seek_read(&mut buffer[done..], at) {
                Ok(0) => return Err(short_read(offset, buffer.len(), ReadAt::len(self).unwrap_or(0))),
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Bytes of one system call.
#[cfg(unix)]
const STEP: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let error = FileSource::open(dir.path()).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        let error = FileSource::open(dir.path().join("absent")).unwrap_err();
        assert!(error.kind() == io::ErrorKind::NotFound && error.to_string().contains("absent"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_nobody_writes_to_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || send.send(FileSource::open(path).map(drop)));
        let opened = receive.recv_timeout(std::time::Duration::from_secs(20)).expect("it does not wait for a writer");
        assert!(opened.unwrap_err().to_string().contains("not a regular file"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_places_past_the_end_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), b"hello").unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("b")).unwrap();
        let source = FileSource::open(dir.path().join("b")).unwrap();
        let mut two = [0; 2];
        source.read_exact_at(3, &mut two).unwrap();
        assert_eq!(&two, b"lo");
        let error = source.read_exact_at(4, &mut two).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(error.to_string().contains("need 2 bytes at byte 4") && error.to_string().contains("has 5"), "{error}");
        assert!(source.read_exact_at(u64::MAX, &mut two).is_err());
    }
}
