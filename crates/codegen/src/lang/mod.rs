//! One folder per language, each with the same door: a schema and options in, files out.

pub mod c;
pub mod cpp;
pub mod csharp;
mod graphql;
mod js;
mod markdown;
pub mod python;
pub mod rust;
pub mod ts;
mod wireshark;

mod table; // what there is, in one table

pub use table::{Lang, LangKind};

use fw_schema::Schema;

/// How to generate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How C structs lie in memory.
    pub packing: Packing,
    /// Root namespace of C# code; `StructFrame` when not given.
    pub csharp_namespace: Option<String>,
    /// What serde knows of Rust code.
    pub rust_serde: RustSerde,
    /// Where Rust code finds its runtime.
    pub rust_runtime: RustRuntime,
}

/// Where Rust code finds its runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RustRuntime {
    /// In the crate `fw-structframe`, which the crate must depend on.
    #[default]
    Crate,
    /// In a module beside the generated code, which then depends on nothing. There are no serde traits in it, and checksums of
    /// long frames use no wide registers.
    Module,
}

/// What serde knows of Rust code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RustSerde {
    /// Nothing.
    #[default]
    None,
    /// Types are serializable when the crate's feature `serde` is on; the crate must declare it.
    Feature,
}

/// How C structs lie in memory; what is on the wire does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// Without gaps, so that on a little-endian machine the struct is the fixed layout.
    #[default]
    Packed,
    /// As the compiler aligns them.
    Natural,
}

impl Options {
    /// Chooses how C structs lie in memory.
    #[must_use]
    pub const fn with_packing(mut self, packing: Packing) -> Self {
        self.packing = packing;
        self
    }

    /// Chooses what serde knows of Rust code.
    #[must_use]
    pub const fn with_rust_serde(mut self, serde: RustSerde) -> Self {
        self.rust_serde = serde;
        self
    }

    /// Chooses where Rust code finds its runtime.
    #[must_use]
    pub const fn with_rust_runtime(mut self, runtime: RustRuntime) -> Self {
        self.rust_runtime = runtime;
        self
    }

    /// Chooses the root namespace of C# code.
    #[must_use]
    pub fn with_csharp_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.csharp_namespace = Some(namespace.into());
        self
    }
}

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it belongs below the output folder, with `/` between folders.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl File {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// Generates the files of one language, sorted by path.
///
/// # Errors
/// When the schema has something that the language cannot say; the error names it.
pub fn generate(schema: &Schema, lang: Lang, options: &Options) -> Result<Vec<File>, Error> {
    let mut files = lang.files(schema, options)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Why nothing was generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such language.
    #[error("unknown language `{word}`: expected one of {}", Lang::names())]
    UnknownLanguage {
        /// What was asked for.
        word: String,
    },
    /// The language cannot say this.
    #[error("{lang} cannot express {what}")]
    Unsupported {
        /// The language.
        lang: Lang,
        /// What of the schema.
        what: String,
    },
}

impl Error {
    /// Stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownLanguage { .. } => "unknown_language",
            Self::Unsupported { .. } => "unsupported_by_language",
        }
    }
}
