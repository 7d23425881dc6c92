//! Files without a name (`O_TMPFILE`): the kernel removes them when the process ends, however that is.

use super::{PREFIX, SUFFIX, directory_of, litter};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A new file in `directory`; `None` where the file system knows only files with names.
///
/// # Errors
/// When nothing can be made there under any name either.
pub(super) fn create(directory: &Path) -> io::Result<Option<File>> {
    // The process's umask applies, exactly as for `File::create`.
    let mode = Mode::from_raw_mode(0o666);
    match open(directory, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        Ok(file) => {
            let file = File::from(file);
            // Without /proc the file could never be given a name.
            Ok(handle(&file).exists().then_some(file))
        }
        // An old kernel takes the flag for a request to open the directory itself.
        Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::ISDIR | Errno::NOSYS) => Ok(None),
        // Some network and user file systems answer other things: a name is tried, and its error is told.
        Err(_) if directory.is_dir() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Gives a file the name `target`. Where there is no such file that is one step; else the new file gets a name beside it,
/// and is renamed.
///
/// # Errors
/// When linking or renaming fails.
pub(super) fn place(file: &File, target: &Path) -> io::Result<()> {
    match link(file, target) {
        Err(Errno::EXIST) => {}
        done => return Ok(done?),
    }
    let ((), listed) = litter::list(|| {
        let sibling = beside(file, target)?;
        Ok(((), sibling))
    })?;
    let renamed = std::fs::rename(listed.path(), target);
    if renamed.is_err() {
        let _ = std::fs::remove_file(listed.path());
    }
    renamed
}

/// A name in the directory of `target` that nobody has.
fn beside(file: &File, target: &Path) -> io::Result<PathBuf> {
    for attempt in 0..1000u32 {
        let name = format!("{PREFIX}{}-{}-{attempt}{SUFFIX}", std::process::id(), file.as_raw_fd());
        let path = directory_of(target).join(name);
        match link(file, &path) {
            Ok(()) => return Ok(path),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::EXIST.into())
}

fn link(file: &File, path: &Path) -> Result<(), Errno> {
    linkat(CWD, handle(file), CWD, path, AtFlags::SYMLINK_FOLLOW)
}

/// A path that leads to an open file.
fn handle(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
