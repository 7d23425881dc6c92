//! Files written whole or not at all.

mod litter; // what a signal must not leave behind
mod private; // what arrives once, to be read in any order
#[cfg(target_os = "linux")]
mod unnamed; // files without a name

pub use litter::{TemporaryDirectory, remove_temporary_files_on_signals};
pub use private::TemporaryFile;

use fw_bytes::interrupt;
use litter::Listed;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file under construction; [`AtomicFile::commit`] puts it in place of its target.
///
/// Dropping it without committing leaves the target untouched and nothing behind. Someone who has the old target open or
/// mapped keeps seeing the old bytes.
///
/// On Linux the file has no name until it is complete, so nothing is left however the process ends. Elsewhere it is a
/// sibling of the target, which [`remove_temporary_files_on_signals`] takes care of.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: Temporary,
    target: PathBuf,
}

#[derive(Debug)]
enum Temporary {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    // The file first: it is removed before it is taken off the list.
    Named(NamedTempFile, Listed),
}

impl AtomicFile {
    /// Starts a new version of `target`, in the same directory, with the permissions of the version there now.
    ///
    /// # Errors
    /// When no file can be made there; the message names the target.
    pub fn create(target: impl AsRef<Path>) -> io::Result<Self> {
        let target = resolved(target.as_ref());
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed::create(directory_of(&target)).map_err(|error| named(&target, &error))? {
            return Self::with(Temporary::Unnamed(file), target);
        }
        Self::named(target)
    }

    /// The same with a temporary file that has a name, as on systems that know no others.
    ///
    /// # Errors
    /// As [`AtomicFile::create`].
    #[doc(hidden)]
    pub fn create_named(target: impl AsRef<Path>) -> io::Result<Self> {
        Self::named(resolved(target.as_ref()))
    }

    fn named(target: PathBuf) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The process's umask applies to new files, exactly as for `File::create`.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let made = litter::list(|| {
            let file = builder.tempfile_in(directory_of(&target))?;
            let path = file.path().to_owned();
            Ok((file, path))
        });
        let (file, listed) = made.map_err(|error| named(&target, &plain(error)))?;
        Self::with(Temporary::Named(file, listed), target)
    }

    fn with(temporary: Temporary, target: PathBuf) -> io::Result<Self> {
        let file = Self { temporary, target };
        if let Ok(existing) = std::fs::metadata(&file.target) {
            file.file().set_permissions(existing.permissions()).map_err(|error| named(&file.target, &error))?;
        }
        Ok(file)
    }

    /// Puts the file in place after its bytes have reached the disk.
    ///
    /// After a crash of the system there is the old version or the new one, both whole. Which of them is certain only after
    /// [`sync_directory_of`] the target.
    ///
    /// # Errors
    /// When syncing, linking or renaming fails; the old target is then still there.
    ///
    /// Watched work that was stopped meanwhile unwinds here, and the old target is then still there, too.
    pub fn commit(self) -> io::Result<File> {
        interrupt::check();
        self.file().sync_all().map_err(|error| named(&self.target, &error))?;
        let Self { temporary, target } = self;
        let placed = match temporary {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => unnamed::place(&file, &target).map(|()| file),
            Temporary::Named(file, _listed) => file.persist(&target).map_err(|error| error.error),
        };
        placed.map_err(|error| named(&target, &error))
    }

    /// The temporary file, for positioned writes.
    pub fn file(&self) -> &File {
        match &self.temporary {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => file,
            Temporary::Named(file, _) => file.as_file(),
        }
    }
}

/// Waits until the disk holds the directory entry of `path`: after that a committed file survives a crash of the system.
///
/// # Errors
/// When the directory cannot be opened or synced; the message names it.
pub fn sync_directory_of(path: impl AsRef<Path>) -> io::Result<()> {
    // Elsewhere a directory cannot be opened, and the file system looks after its entries.
    #[cfg(unix)]
    {
        let path = resolved(path.as_ref());
        let directory = directory_of(&path);
        File::open(directory).and_then(|file| file.sync_all()).map_err(|error| named(directory, &error))?;
    }
    let _ = path;
    Ok(())
}

/// A symbolic link stays a link: the file it points to is what gets replaced.
fn resolved(target: &Path) -> PathBuf {
    std::fs::canonicalize(target).unwrap_or_else(|_| pointed_to(target))
}

fn directory_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
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

/// The system's own words: where the temporary file would have been does not help.
fn plain(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((words, _)) => io::Error::new(error.kind(), words),
        None => error,
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file().seek(position)
    }
}

/// How temporary files are called.
const PREFIX: &str = ".fw-";
const SUFFIX: &str = ".tmp";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_changes_only_on_commit() {
        let both: [fn(PathBuf) -> io::Result<AtomicFile>; 2] = [AtomicFile::create, AtomicFile::create_named];
        for create in both {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("weights.bt");
            for (before, after) in [(None, &b"new"[..]), (Some(&b"new"[..]), b"newer")] {
                let mut abandoned = create(path.clone()).unwrap();
                abandoned.write_all(b"half").unwrap();
                drop(abandoned);
                assert_eq!(std::fs::read(&path).ok().as_deref(), before);
                let mut written = create(path.clone()).unwrap();
                written.write_all(b"...er").unwrap();
                written.seek(SeekFrom::Start(0)).unwrap();
                written.write_all(after).unwrap();
                written.file().set_len(after.len() as u64).unwrap();
                written.commit().unwrap();
                sync_directory_of(&path).unwrap();
                assert_eq!(std::fs::read(&path).unwrap(), after);
                assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left behind");
            }
        }
    }

    #[test]
    fn a_missing_directory_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let both: [fn(PathBuf) -> io::Result<AtomicFile>; 2] = [AtomicFile::create, AtomicFile::create_named];
        for create in both {
            let path = dir.path().join("no/such/file");
            let error = create(path.clone()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
            assert!(!error.to_string().contains(PREFIX), "{error}");
        }
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
