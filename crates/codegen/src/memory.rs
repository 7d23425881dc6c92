//! Which schemas a directory was generated from: a language that lists all packages in one file needs them all again.

use crate::{File, Lang};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The file that lists the schemas of a directory.
pub const MEMORY: &str = "structframe.schemas";

/// A schema from which a directory was generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The language.
    pub lang: Lang,
    /// Whether `--no-packed` was given.
    pub no_packed: bool,
    /// The schema.
    pub schema: PathBuf,
}

/// The schemas that a directory was generated from, in the order in which they were first used; none when it was not.
///
/// # Errors
/// When the list is there and cannot be read, or has a line that was not written by [`memory`].
pub fn remembered(folder: &Path) -> io::Result<Vec<Remembered>> {
    let path = folder.join(MEMORY);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            parse(folder, line).ok_or_else(|| {
                let words = "expected a language, packed or no-packed, and a path";
                io::Error::new(io::ErrorKind::InvalidData, format!("{}:{}: {words}: {line:?}", path.display(), at + 1))
            })
        })
        .collect()
}

fn parse(folder: &Path, line: &str) -> Option<Remembered> {
    let mut words = line.splitn(3, ' ');
    let lang = words.next()?.parse().ok()?;
    let no_packed = match words.next()? {
        "packed" => false,
        "no-packed" => true,
        _ => return None,
    };
    Some(Remembered { lang, no_packed, schema: folder.join(words.next()?) })
}

/// The list of a directory's schemas as a file of it.
///
/// # Errors
/// When a path has no absolute form.
pub fn memory(folder: &Path, schemas: &[Remembered]) -> io::Result<File> {
    let mut text =
        "# What this directory was generated from. `fw gen` reads it to keep all packages when it runs again.\n"
            .to_owned();
    let from = plain(folder)?;
    for remembered in schemas {
        let packing = if remembered.no_packed { "no-packed" } else { "packed" };
        text += &format!("{} {packing} {}\n", remembered.lang, relative(&from, &plain(&remembered.schema)?));
    }
    Ok(File { path: MEMORY.to_owned(), text })
}

/// An absolute path without `.` and `..`; links are followed where the path exists.
fn plain(path: &Path) -> io::Result<PathBuf> {
    if let Ok(path) = path.canonicalize() {
        return Ok(path);
    }
    let mut out = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    Ok(out)
}

/// The way from a directory to a file, with `/` between names.
fn relative(from: &Path, to: &Path) -> String {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let (out, schema) = (folder.path().join("out/rust"), folder.path().join("a b.sf"));
        fs::create_dir_all(&out).unwrap();
        fs::write(&schema, "package a;").unwrap();
        assert_eq!(remembered(&out).unwrap(), []);
        let one = Remembered { lang: Lang::Rust, no_packed: true, schema: schema.clone() };
        let file = memory(&out, &[one]).unwrap();
        assert!(file.text.ends_with("\nrust no-packed ../../a b.sf\n"), "{}", file.text);
        fs::write(out.join(MEMORY), &file.text).unwrap();
        let found = remembered(&out).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].schema.canonicalize().unwrap(), schema.canonicalize().unwrap());
        fs::write(out.join(MEMORY), "rust sideways x.sf\n").unwrap();
        assert!(remembered(&out).unwrap_err().to_string().contains("structframe.schemas:1: expected a language"));
    }
}
