//! A temporary file for what arrives once and is read in any order.

use super::TemporaryDirectory;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A temporary file that only its owner can read, with a path to open it by as long as the value lives.
///
/// On Linux it has no name: whatever ends the process, the kernel removes it, and the path is that of its descriptor in `/proc`.
/// Where that cannot be, it is in a [`TemporaryDirectory`].
///
/// ```
/// use fw_source::TemporaryFile;
/// use std::io::Write;
///
/// let (kept, mut file) = TemporaryFile::new("input")?;
/// file.write_all(b"what came")?;
/// assert_eq!(std::fs::read(kept.path())?, b"what came");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TemporaryFile {
    path: PathBuf,
    _kept: Kept,
}

#[derive(Debug)]
enum Kept {
    #[cfg(target_os = "linux")]
    Nameless {
        _file: File,
    },
    Named {
        _directory: TemporaryDirectory,
    },
}

impl TemporaryFile {
    /// A new file where the system keeps temporary files, and a handle to write it; `name` is what it is called where it must be
    /// called something.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(name: &str) -> io::Result<(Self, File)> {
        #[cfg(target_os = "linux")]
        if let Some(found) = Self::nameless() {
            return Ok(found);
        }
        let directory = TemporaryDirectory::new()?;
        let path = directory.path().join(name);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        Ok((Self { path, _kept: Kept::Named { _directory: directory } }, file))
    }

    #[cfg(target_os = "linux")]
    fn nameless() -> Option<(Self, File)> {
        use std::os::fd::AsRawFd;
        let file = tempfile::tempfile().ok()?;
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).ok()?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        // Some systems have no /proc.
        File::open(&path).ok()?;
        let write = file.try_clone().ok()?;
        Some((Self { path, _kept: Kept::Nameless { _file: file } }, write))
    }

    /// Where it can be opened.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_reads_it_and_it_leaves_nothing() {
        let (kept, mut file) = TemporaryFile::new("input").unwrap();
        file.write_all(b"secret").unwrap();
        let mode = std::fs::metadata(kept.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(file.metadata().unwrap().nlink(), 0, "it has no name");
        }
        assert_eq!(std::fs::read(kept.path()).unwrap(), b"secret");
        let directory = TemporaryDirectory::new().unwrap();
        let mode = std::fs::metadata(directory.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
