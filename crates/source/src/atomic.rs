//! Files written whole or not at all.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file under construction beside its target; [`AtomicFile::commit`] renames it into place.
///
/// Dropping it without committing leaves the target untouched and removes the temporary file. Someone who has the old
/// target open or mapped keeps seeing the old bytes.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    target: PathBuf,
}

impl AtomicFile {
    /// Starts a new version of `target`, in the same directory, with the permissions of the version there now.
    ///
    /// # Errors
    /// When the temporary file cannot be made; the message names the target.
    pub fn create(target: impl AsRef<Path>) -> io::Result<Self> {
        // A symbolic link stays a link: the file it points to is what gets replaced.
        let target = std::fs::canonicalize(target.as_ref()).unwrap_or_else(|_| pointed_to(target.as_ref()));
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", target.display()));
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".fw-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The process's umask applies to new files, exactly as for `File::create`.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(directory).map_err(|error| named(plain(error)))?;
        if let Ok(existing) = std::fs::metadata(&target) {
            temporary.as_file().set_permissions(existing.permissions()).map_err(named)?;
        }
        Ok(Self { temporary, target })
    }

    /// Renames the file into place after its bytes have reached the disk.
    ///
    /// # Errors
    /// When syncing or renaming fails; the old target is then still there.
    pub fn commit(self) -> io::Result<File> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.target.display()));
        self.temporary.as_file().sync_all().map_err(named)?;
        self.temporary.persist(&self.target).map_err(|error| named(error.error))
    }

    /// The temporary file, for positioned writes.
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }
}

/// Where a chain of links leads that ends at no file yet.
fn pointed_to(target: &Path) -> PathBuf {
    let mut target = target.to_owned();
    // As many as the system follows.
    for _ in 0..40 {
        let Ok(next) = std::fs::read_link(&target) else { break };
        target = match target.parent() {
            Some(parent) => parent.join(next),
            None => next,
        };
    }
    target
}

/// The system's own words: where the temporary file would have been is nobody's concern.
fn plain(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((words, _)) => io::Error::new(error.kind(), words),
        None => error,
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.temporary.seek(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_changes_only_on_commit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("weights.bt");
        std::fs::write(&path, b"old").unwrap();
        let mut abandoned = AtomicFile::create(&path).unwrap();
        abandoned.write_all(b"half").unwrap();
        drop(abandoned);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left behind");

        let mut written = AtomicFile::create(&path).unwrap();
        written.write_all(b"new").unwrap();
        written.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&path, b"old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);

        // A link to a file that is yet to come.
        let (first, second, late) = (dir.path().join("c"), dir.path().join("d"), dir.path().join("late"));
        symlink("late", &second).unwrap();
        symlink("d", &first).unwrap();
        let mut file = AtomicFile::create(&first).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(first.is_symlink() && second.is_symlink() && !late.is_symlink());
        assert_eq!(std::fs::read(&first).unwrap(), b"new");
    }
}
