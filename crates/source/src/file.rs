//! Positioned reads on one file handle.

use crate::ReadAt;
use crate::read_at::short_read;
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
        let file = File::open(path).map_err(named)?;
        if !file.metadata().map_err(named)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{}: not a regular file", path.display())));
        }
        Ok(Self { file, path: path.to_owned() })
    }

    /// A file that is open; `name` is for people.
    #[cfg(feature = "remote")]
    pub(crate) fn of(file: File, name: impl Into<PathBuf>) -> Self {
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
        self.file.read_exact_at(buffer, offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => short_read(offset, buffer.len(), ReadAt::len(self).unwrap_or(0)),
            _ => error,
        })
    }

    #[cfg(windows)]
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        let mut done = 0;
        while done < buffer.len() {
            match self.file.seek_read(&mut buffer[done..], offset + done as u64) {
                Ok(0) => return Err(short_read(offset, buffer.len(), ReadAt::len(self).unwrap_or(0))),
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
