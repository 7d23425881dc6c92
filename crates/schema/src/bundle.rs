//! A schema as text that travels with its data.

use crate::layout::{Schema, Variable};
use crate::resolve::{Compilation, Options, check_with};
use crate::source::Memory;
use std::path::Path;

/// The text of a schema with everything it imports, and how it is compiled: all that a file needs to explain its frames.
///
/// ```
/// let schema = fw_schema::check_text("demo.sf", "package demo; message Ping { option msgid = 7; uint16 seq = 1; }")
///     .into_result()
///     .unwrap();
/// let bundle = fw_schema::Bundle::of(&schema);
/// assert_eq!(bundle.root, "demo.sf");
/// assert!(bundle.compile().into_result().unwrap().by_id(7).is_some());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// The path of the root file.
    pub root: String,
    /// Paths and texts of all files, in load order. Paths are relative to the directory of the root file where they can be.
    pub files: Vec<(String, String)>,
    /// Which messages are variable: the texts alone do not tell what is on the wire.
    pub variable: Variable,
}

impl Bundle {
    /// The texts that a schema was compiled from.
    pub fn of(schema: &Schema) -> Self {
        let files = schema.sources().files();
        let root = files.first().map_or(Path::new(""), |file| file.path.as_path());
        let folder = root.parent().unwrap_or(Path::new(""));
        let relative = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        Self {
            root: relative(root),
            files: files.iter().map(|file| (relative(&file.path), file.text.clone())).collect(),
            variable: schema.variable(),
        }
    }

    /// Compiles the texts again.
    pub fn compile(&self) -> Compilation {
        let files = self.files.iter().fold(Memory::new(), |files, (path, text)| files.with(path, text.as_str()));
        check_with(&files, Path::new(&self.root), &Options::default().with_variable(self.variable))
    }
}
