//! Where results go: which files may be replaced, and which may not.

use crate::error::{EditError, Result};
use fw_convert::Format;
use fw_source::same_file;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file to read: where it lies, its format, and what people call it.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Where it lies.
    pub path: &'a Path,
    /// Its format.
    pub format: Format,
    /// What people call it.
    pub name: &'a str,
}

/// What to do with an output file that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Existing {
    /// Stop before anything is written.
    #[default]
    Refuse,
    /// Put the new file in its place once that is complete.
    Replace,
    /// Add to it: what it holds stays before what is new. Tensogram only.
    Append,
}

/// Refuses an output that would replace something unasked: an input, a directory, a special file, an existing file.
///
/// # Errors
/// `same_file`, `is_directory`, `not_a_file`, `output_exists`, `no_directory`.
pub fn check_output(inputs: &[&Path], output: &Path, existing: Existing) -> Result<()> {
    let shown = output.display();
    if let Some(input) = inputs.iter().find(|input| same_file(input, output)) {
        let message = format!("{shown}: input and output are the same file ({})", input.display());
        return Err(EditError::refused("same_file", message).with_hint("name another output"));
    }
    match std::fs::metadata(output) {
        Ok(found) if found.is_dir() => {
            Err(EditError::refused("is_directory", format!("{shown}: is a directory; name a file to write")))
        }
        Ok(found) if !found.is_file() => {
            Err(EditError::refused("not_a_file", format!("{shown}: is not a regular file")))
        }
        Ok(_) if existing == Existing::Refuse => {
            Err(EditError::refused("output_exists", format!("{shown}: already exists"))
                .with_hint("use --force to overwrite it"))
        }
        Ok(_) => Ok(()),
        Err(_) => match output.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
            Some(parent) => {
                let message = format!("{shown}: the directory {} does not exist", parent.display());
                Err(EditError::refused("no_directory", message))
            }
            None => Ok(()),
        },
    }
}

/// Refuses an output whose name asks for another format than the input has: that is a conversion.
///
/// # Errors
/// `format_differs`.
pub(crate) fn check_format(format: Format, output: &Path) -> Result<()> {
    match Format::of_name(output) {
        Some(named) if named != format => {
            let message = format!("{}: the input is {format}, and this name is for {named}", output.display());
            Err(EditError::refused("format_differs", message).with_hint("use fw convert to change the format"))
        }
        _ => Ok(()),
    }
}

/// Refuses formats that only Tensogram commands take.
pub(crate) fn only_tensogram(input: &Input<'_>, what: &str) -> Result<()> {
    if input.format == Format::Tensogram {
        return Ok(());
    }
    let message = format!("{}: {what} works on Tensogram files; this one is {}", input.name, input.format);
    Err(EditError::refused("tensogram_only", message))
}

/// Where a changed file goes.
pub enum Target<'a> {
    /// To a file.
    File {
        /// Where.
        path: &'a Path,
        /// What to do when it exists.
        existing: Existing,
    },
    /// In place of the input.
    InPlace,
    /// To a stream.
    Stream(&'a mut dyn Write),
}

impl<'a> Target<'a> {
    /// A file that must not exist.
    pub const fn new_file(path: &'a Path) -> Self {
        Self::File { path, existing: Existing::Refuse }
    }

    /// The path to write, where there is one, after everything that can be refused was.
    pub(crate) fn checked(&self, input: &Input<'_>) -> Result<Option<PathBuf>> {
        match self {
            Self::File { path, existing } => {
                check_output(&[input.path], path, *existing).map_err(|error| match error.code() {
                    "same_file" => error.with_hint("use --in-place to change the file itself, or name another output"),
                    _ => error,
                })?;
                check_format(input.format, path)?;
                Ok(Some(path.to_path_buf()))
            }
            Self::InPlace => Ok(Some(input.path.to_owned())),
            Self::Stream(_) => Ok(None),
        }
    }
}

impl std::fmt::Debug for Target<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path, existing } => f.debug_tuple("File").field(path).field(existing).finish(),
            Self::InPlace => f.write_str("InPlace"),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}
