//! Generated files on disk.

use crate::File;
use fw_source::AtomicFile;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How a file on disk relates to what would be generated now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The same bytes.
    Fresh,
    /// Other bytes.
    Stale,
    /// Not there.
    Missing,
}

/// Compares files below `folder` with what they should hold, in the order given.
///
/// # Errors
/// When a file is there and cannot be read.
pub fn compare<'f>(folder: &Path, files: &'f [File]) -> io::Result<Vec<(&'f File, Freshness)>> {
    files.iter().map(|file| Ok((file, freshness(&place(folder, file), file)?))).collect()
}

/// Writes the files that are missing or stale and returns what each one was before; fresh ones keep their times, so that
/// build tools do not start again.
///
/// # Errors
/// When a folder or file cannot be written; each file is whole or as it was.
pub fn write<'f>(folder: &Path, files: &'f [File]) -> io::Result<Vec<(&'f File, Freshness)>> {
    let before = compare(folder, files)?;
    for (file, freshness) in &before {
        if *freshness != Freshness::Fresh {
            replace(&place(folder, file), &file.text)?;
        }
    }
    Ok(before)
}

fn place(folder: &Path, file: &File) -> PathBuf {
    file.path.split('/').fold(folder.to_owned(), |path, part| path.join(part))
}

fn freshness(path: &Path, file: &File) -> io::Result<Freshness> {
    match fs::read(path) {
        Ok(bytes) if bytes == file.text.as_bytes() => Ok(Freshness::Fresh),
        Ok(_) => Ok(Freshness::Stale),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Freshness::Missing),
        Err(error) => Err(named(path, &error)),
    }
}

/// A build may read the file at any moment: it sees the old text or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| named(path, &error))?;
    file.commit()?;
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let files = [File::new("a/x.txt", "one"), File::new("y.txt", "two")];
        let was = |outcome: Vec<(&File, Freshness)>| outcome.into_iter().map(|(_, was)| was).collect::<Vec<_>>();
        assert_eq!(was(write(folder.path(), &files).unwrap()), [Freshness::Missing; 2]);
        fs::write(folder.path().join("y.txt"), "other").unwrap();
        let time = fs::metadata(folder.path().join("a/x.txt")).unwrap().modified().unwrap();
        assert_eq!(was(compare(folder.path(), &files).unwrap()), [Freshness::Fresh, Freshness::Stale]);
        assert_eq!(was(write(folder.path(), &files).unwrap()), [Freshness::Fresh, Freshness::Stale]);
        assert_eq!(was(compare(folder.path(), &files).unwrap()), [Freshness::Fresh; 2]);
        assert_eq!(fs::metadata(folder.path().join("a/x.txt")).unwrap().modified().unwrap(), time);
    }
}
