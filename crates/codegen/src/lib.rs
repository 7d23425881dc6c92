//! Source code from a struct-frame schema.
//!
//! Generators only print what `fw-schema` decided: offsets, sizes, ids, seeds and layouts come from the checked model, so
//! that every language agrees with every other and with the dynamic codec. What does not depend on the schema (framing,
//! checksums, readers) is a fixed runtime file per language, kept as source under `runtime/` and shipped as it is.
//!
//! ```
//! use fw_codegen::{Lang, Options, generate};
//!
//! let schema = fw_schema::check_text("demo.sf", "package demo; message Ping { option msgid = 7; uint16 seq = 1; }")
//!     .into_result()
//!     .unwrap();
//! let files = generate(&schema, Lang::Rust, &Options::default()).unwrap();
//! assert!(files.iter().any(|file| file.text.contains("pub struct Ping")));
//! ```
//!
//! The same schema and options give the same bytes, on every machine.
#![forbid(unsafe_code)]

// Rooms in the order data flows; each uses only those before it.
mod text; // an indent tree
mod names; // schema names to names a language accepts
pub mod lang; // one folder per language, and the table of languages
mod output; // files on disk: written when they change, compared for --check
mod memory; // which schemas a directory was generated from
mod build; // for build scripts

pub use build::{BuildError, build, build_into};
pub use lang::{Error, File, Lang, LangKind, Options, generate};
pub use memory::{MEMORY, Remembered, memory, remembered};
pub use output::{Freshness, compare, write};
