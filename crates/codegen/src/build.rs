//! For build scripts.

use crate::lang::RustSerde;
use crate::{Error, Lang, Options, generate, write};
use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Generates the Rust code of a schema where `fw_structframe::include_schema!` finds it, and tells Cargo to run the build
/// script again when one of the schema's files changes. Types are serializable if the crate has a feature `serde` and it is
/// on. The whole `build.rs`:
///
/// ```no_run
/// fn main() -> Result<(), fw_codegen::BuildError> {
///     fw_codegen::build("robot.proto")
/// }
/// ```
///
/// # Errors
/// When the schema has faults, all of which the error shows; when `OUT_DIR` is not set or cannot be written.
pub fn build(schema: impl AsRef<Path>) -> Result<(), BuildError> {
    let out = env::var_os("OUT_DIR").ok_or(BuildError::NoOutDir)?;
    // Whether the crate has a feature of this name is its own affair.
    println!("cargo::rustc-check-cfg=cfg(feature, values(\"serde\"))");
    for path in build_into(schema.as_ref(), Path::new(&out))? {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(())
}

/// Like [`build`], into the folder `out`; returns the schema's files instead of telling Cargo.
///
/// # Errors
/// As [`build`].
pub fn build_into(schema: &Path, out: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let name = schema.file_stem().unwrap_or_default();
    let compiled = fw_schema::check(schema).into_result().map_err(|faults| BuildError::Schema(faults.to_string()))?;
    let files = generate(&compiled, Lang::Rust, &Options::default().with_rust_serde(RustSerde::Feature))?;
    let folder = out.join(name);
    fs::create_dir_all(&folder)?;
    write(&folder, &files)?;
    Ok(compiled.sources().files().iter().map(|file| file.path.clone()).collect())
}

/// Why a build script could not generate code.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// What is wrong with the schema, with places and hints.
    #[error("{0}")]
    Schema(String),
    /// The schema has something that Rust cannot say.
    #[error(transparent)]
    Generate(#[from] Error),
    /// Not run by Cargo.
    #[error("the environment variable OUT_DIR is not set: call this function from a build script")]
    NoOutDir,
    /// A file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Cargo shows what `main` returns in this form: the words, with their line breaks.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
