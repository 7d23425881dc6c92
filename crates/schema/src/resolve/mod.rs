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

use crate::diagnose::{Code, Diagnostic, Diagnostics, Faults};
use crate::layout::{Schema, Variable, lay_out};
use crate::source::{Disk, Loader, Memory, SourceMap};
use std::path::{Path, PathBuf};

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which messages are variable.
    pub variable: Variable,
    /// Which ids frames can carry, if that is known.
    pub ids: IdRoom,
    /// Directories, besides those of the root files, that imports may be in.
    pub include: Vec<PathBuf>,
    /// Whether imports may be anywhere the loader has files: those of a bundle were judged when it was made.
    pub(crate) anywhere: bool,
}

/// Which ids the framing in use can carry (SF-13.2). Ids that do not fit are warned about, not refused: a schema may be used
/// with several framings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdRoom {
    /// Not known: an id over 255 is remarkable only in a package without an id of its own.
    #[default]
    Unknown,
    /// Up to 255, as with Standard, Sensor and IPC.
    OneByte,
    /// Any, as with Bulk and Network.
    TwoBytes,
}

impl Options {
    /// Chooses which messages are variable.
    #[must_use]
    pub fn with_variable(mut self, variable: Variable) -> Self {
        self.variable = variable;
        self
    }

    /// Says which ids frames can carry.
    #[must_use]
    pub const fn with_ids(mut self, ids: IdRoom) -> Self {
        self.ids = ids;
        self
    }

    /// Adds directories that imports may be in, and are looked for in after the usual ones (SF-2.12).
    #[must_use]
    pub fn with_include(mut self, directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.include.extend(directories.into_iter().map(Into::into));
        self
    }
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
    check_all(loader, &[root], options)
}

/// Compiles several schemas and what they import into one, in which their packages stand beside each other.
///
/// ```
/// use fw_schema::{Memory, Options, check_all};
/// use std::path::Path;
///
/// let files = Memory::new()
///     .with("a.sf", "package aaa; message A { option msgid = 1; uint8 x = 1; }")
///     .with("b.sf", "package bbb; message B { option msgid = 2; uint8 x = 1; }");
/// let both = check_all(&files, &[Path::new("a.sf"), Path::new("b.sf")], &Options::default());
/// assert_eq!(both.into_result().unwrap().packages().len(), 2);
/// ```
pub fn check_all(loader: &dyn Loader, roots: &[&Path], options: &Options) -> Compilation {
    let mut diagnostics = Faults::default();
    let (sources, files) = load::load(loader, roots, options, &mut diagnostics);
    let packages = package::packages(&files, &mut diagnostics);
    let mut symbols = symbol::declare(&files, packages, &mut diagnostics);
    let drafts = message::draft(&files, &mut symbols, options, &mut diagnostics);
    let schema = lay_out(symbols.packages, symbols.enums, drafts, options.variable, &mut diagnostics);
    if let Some(schema) = &schema {
        wide_ids(schema, options.ids, &mut diagnostics);
    }
    finish(sources, schema, diagnostics)
}

/// Warns about ids that a one-byte field cannot carry.
fn wide_ids(schema: &Schema, room: IdRoom, diagnostics: &mut Faults) {
    for message in schema.messages() {
        let Some(id) = message.id.filter(|id| *id > 0xff) else { continue };
        let warned = match room {
            IdRoom::Unknown => schema[message.package].id.is_none(),
            IdRoom::OneByte => true,
            IdRoom::TwoBytes => false,
        };
        if warned {
            let words = format!("the id of message `{}` is {id}, which does not fit one byte", message.name);
            diagnostics.push(Diagnostic::new(Code::IdOverByte, message.span, words).hint(
                "Standard, Sensor and IPC frames carry ids up to 255; Bulk, Network and others with a package byte carry all",
            ));
        }
    }
}

fn finish(sources: SourceMap, schema: Option<Schema>, diagnostics: Faults) -> Compilation {
    let diagnostics = Diagnostics::new(sources, diagnostics);
    let schema = schema.filter(|_| diagnostics.is_ok()).map(|mut schema| {
        schema.sources = diagnostics.sources().clone();
        schema
    });
    Compilation { schema, diagnostics }
}
