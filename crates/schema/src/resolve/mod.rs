//! From syntax trees to a checked schema: imports, packages, names, options, rules, then the layout engine.

mod default; // defaults (SF-10)
mod field; // types and sizes of fields and members
mod load; // files and imports
mod message; // messages and their options
mod option; // reading options
mod package; // packages and their ids
mod suggest; // did you mean
mod symbol; // enums, declarations, name lookup
mod union; // oneofs

use crate::diagnose::{Diagnostics, Faults};
use crate::layout::{Schema, lay_out};
use crate::source::{Disk, Loader, Memory, SourceMap};
use std::path::Path;

/// How to compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which messages are variable.
    pub variable: Variable,
}

impl Options {
    /// Chooses which messages are variable.
    #[must_use]
    pub fn with_variable(mut self, variable: Variable) -> Self {
        self.variable = variable;
        self
    }
}

/// Which messages have a trimmed wire layout (SF-8.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variable {
    /// Those that say `option variable = true`.
    #[default]
    AsDeclared,
    /// All of them, as with the original's `--no_packed`.
    All,
}

/// What came out of compiling: a schema if nothing is wrong, and everything worth saying.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The schema; `None` when there are errors.
    pub schema: Option<Schema>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

impl Compilation {
    /// The schema, or everything that is wrong.
    ///
    /// # Errors
    /// All diagnostics, when one of them is an error.
    pub fn into_result(self) -> Result<Schema, Diagnostics> {
        self.schema.ok_or(self.diagnostics)
    }
}

/// Compiles a schema file on disk and what it imports.
pub fn check(root: impl AsRef<Path>) -> Compilation {
    check_with(&Disk, root.as_ref(), &Options::default())
}

/// Compiles a schema text that imports nothing.
pub fn check_text(name: &str, text: &str) -> Compilation {
    check_with(&Memory::new().with(name, text), Path::new(name), &Options::default())
}

/// Compiles a schema from any source, with options.
pub fn check_with(loader: &dyn Loader, root: &Path, options: &Options) -> Compilation {
    let mut diagnostics = Faults::default();
    let (sources, files) = load::load(loader, root, &mut diagnostics);
    let packages = package::packages(&files, &mut diagnostics);
    let mut symbols = symbol::declare(&files, packages, &mut diagnostics);
    let drafts = message::draft(&files, &mut symbols, *options, &mut diagnostics);
    let schema = lay_out(symbols.packages, symbols.enums, drafts, &mut diagnostics);
    finish(sources, schema, diagnostics)
}

fn finish(sources: SourceMap, schema: Option<Schema>, diagnostics: Faults) -> Compilation {
    let diagnostics = Diagnostics::new(sources, diagnostics);
    let schema = schema.filter(|_| diagnostics.is_ok()).map(|mut schema| {
        schema.sources = diagnostics.sources().clone();
        schema
    });
    Compilation { schema, diagnostics }
}
