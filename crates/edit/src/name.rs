//! File names from keys: templates that cannot leave their directory.

use crate::error::{EditError, Result};
use fw_query::{Item, Path as Key, Segment, Template, Value};
use std::path::{Path, PathBuf};

/// How output files are named: a [`Template`], in which `[index]` is a running number of at least four digits.
#[derive(Clone, Debug)]
pub struct Names {
    template: Template,
    /// What stands for keys that an item does not have.
    missing: Option<String>,
    /// Make directories that do not exist.
    parents: bool,
}

impl Names {
    /// Reads a template.
    ///
    /// ```
    /// assert!(fw_edit::Names::parse("out/[mars.param]-[mars.step].tgm")?.has_keys());
    /// # Ok::<(), fw_edit::EditError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Template::parse`].
    pub fn parse(text: &str) -> Result<Self> {
        let template = Template::parse(&text.replace("[index]", "[index:04]"))?;
        Ok(Self { template, missing: None, parents: false })
    }

    /// The same with a text for keys that an item does not have; by default such an item is an error.
    #[must_use]
    pub fn with_missing(mut self, text: Option<String>) -> Self {
        self.missing = text;
        self
    }

    /// The same, with directories made that do not exist.
    #[must_use]
    pub const fn with_parents(mut self, parents: bool) -> Self {
        self.parents = parents;
        self
    }

    /// True when names differ from item to item.
    pub fn has_keys(&self) -> bool {
        self.template.has_keys()
    }

    /// The name for an item with this running number.
    pub(crate) fn expand(&self, item: &dyn Item, number: usize) -> Result<PathBuf> {
        Ok(self.template.expand_or(&Numbered { item, number }, self.missing.as_deref())?)
    }

    /// The name for an item where the template has no keys: the number goes before the extension.
    pub(crate) fn numbered(&self, item: &dyn Item, number: usize) -> Result<PathBuf> {
        let name = self.expand(item, number)?;
        if self.has_keys() {
            return Ok(name);
        }
        let stem = name.file_stem().unwrap_or_default().to_string_lossy();
        let end = name.extension().map_or_else(String::new, |end| format!(".{}", end.to_string_lossy()));
        Ok(name.with_file_name(format!("{stem}_{number:04}{end}")))
    }

    /// Makes the directory of a file, where that is wanted.
    pub(crate) fn make_directory(&self, path: &Path) -> Result<()> {
        match path.parent().filter(|parent| self.parents && !parent.as_os_str().is_empty()) {
            Some(parent) => std::fs::create_dir_all(parent).map_err(|error| EditError::from(error).in_file(parent)),
            None => Ok(()),
        }
    }

    /// Whether directories are made.
    pub(crate) const fn makes_directories(&self) -> bool {
        self.parents
    }
}

/// An item with a running number.
struct Numbered<'a> {
    item: &'a dyn Item,
    number: usize,
}

impl Item for Numbered<'_> {
    fn lookup(&self, path: &Key) -> Option<Value<'_>> {
        match path.segments() {
            [Segment::Key(key)] if key == "index" => Some(Value::from(self.number as u64)),
            _ => self.item.lookup(path),
        }
    }
}
