//! Where schema text comes from, and where in it something stands.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Larger files are refused: a schema of this size is a mistake, or an import of something that is not a schema.
pub const MAX_FILE_LEN: u64 = 16 << 20;

/// Which file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct FileId(pub u32);

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Span {
    /// Which file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From the beginning of this range to the end of the other.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.start), ..self }
    }

    /// The empty range just after this one, where a missing token belongs.
    #[must_use]
    pub fn after(self) -> Self {
        Self { start: self.end, ..self }
    }
}

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

/// One file: its name as it is shown, its text, and where its lines begin.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Path as found, for messages.
    pub path: PathBuf,
    /// Contents.
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(path: PathBuf, text: String) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect();
        Self { path, text, line_starts }
    }

    /// Line and column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0) as usize;
        let mut end = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = self.text.get(start..end).unwrap_or("");
        Position { line: line as u32, column: before.chars().count() as u32 + 1 }
    }

    /// Text of a line counted from 1, without its line break.
    pub fn line(&self, line: u32) -> &str {
        let index = (line as usize).saturating_sub(1);
        let start = self.line_starts.get(index).copied().unwrap_or(0) as usize;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |next| *next as usize);
        self.text.get(start..end).unwrap_or("").trim_end_matches(['\n', '\r'])
    }
}

/// All files of one compilation, in load order; the root is file 0.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    include: Vec<PathBuf>,
}

impl SourceMap {
    /// A map of one file, for tools that look at a single text.
    pub fn single(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let mut map = Self::default();
        map.add(path.into(), text.into());
        map
    }

    /// Says where imports were looked for besides the usual places.
    pub(crate) fn including(directories: &[PathBuf]) -> Self {
        Self { files: Vec::new(), include: directories.to_vec() }
    }

    /// The include directories that the files were found with.
    pub fn include(&self) -> &[PathBuf] {
        &self.include
    }

    /// What the next file will be called.
    pub(crate) fn next(&self) -> FileId {
        FileId(self.files.len() as u32)
    }

    pub(crate) fn add(&mut self, path: PathBuf, text: String) -> FileId {
        let id = self.next();
        self.files.push(SourceFile::new(path, text));
        id
    }

    /// The files, in load order.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// One file.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// `path:line:column` of the beginning of a span.
    pub fn describe(&self, span: Span) -> String {
        match self.file(span.file) {
            Some(file) => {
                let at = file.position(span.start);
                format!("{}:{}:{}", file.path.display(), at.line, at.column)
            }
            None => "<unknown>".to_owned(),
        }
    }
}

/// Finds and reads schema files. Implemented by the file system ([`Disk`]) and by a map in memory ([`Memory`]).
pub trait Loader {
    /// One name per file, however it was reached; `None` when there is no such file.
    fn identify(&self, path: &Path) -> Option<PathBuf>;

    /// One name per directory, of the same kind as those of files: names of files in it begin with it.
    fn directory(&self, path: &Path) -> Option<PathBuf>;

    /// The bytes of a file.
    ///
    /// # Errors
    /// When the file cannot be read, or is larger than [`MAX_FILE_LEN`].
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// Schema files on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Loader for Disk {
    fn identify(&self, path: &Path) -> Option<PathBuf> {
        // A device or pipe has no length to check before reading it: only plain files are schemas.
        fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        fs::canonicalize(path).ok()
    }

    fn directory(&self, path: &Path) -> Option<PathBuf> {
        fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path }).ok()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let len = fs::metadata(path)?.len();
        if len > MAX_FILE_LEN {
            return Err(io::Error::other(format!(
                "{len} bytes is more than the {MAX_FILE_LEN} a schema file may have"
            )));
        }
        fs::read(path)
    }
}

/// Schema files held in memory, by path.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Memory {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    #[must_use]
    pub fn with(mut self, path: impl AsRef<Path>, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(normalise(path.as_ref()), text.into());
        self
    }
}

impl Loader for Memory {
    fn identify(&self, path: &Path) -> Option<PathBuf> {
        let path = normalise(path);
        self.files.contains_key(&path).then_some(path)
    }

    fn directory(&self, path: &Path) -> Option<PathBuf> {
        Some(normalise(path))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(&normalise(path)).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Removes `.` and `..` without asking a file system.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let map = SourceMap::single("a.sf", "one\r\ntwö x\n");
        let file = map.file(FileId(0)).unwrap();
        assert_eq!(file.position(0), Position { line: 1, column: 1 });
        let x = file.text.find('x').unwrap() as u32;
        assert_eq!(file.position(x), Position { line: 2, column: 5 });
        assert_eq!((file.line(1), file.line(2), file.line(3)), ("one", "twö x", ""));
        assert_eq!(map.describe(Span { file: FileId(0), start: x, end: x + 1 }), "a.sf:2:5");
    }

    #[test]
    fn memory_paths_are_normalised() {
        let files = Memory::new().with("a/./b/../c.sf", "x");
        assert_eq!(files.identify(Path::new("a/c.sf")), Some(PathBuf::from("a/c.sf")));
        assert_eq!(files.identify(Path::new("c.sf")), None);
    }
}
