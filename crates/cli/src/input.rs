//! Where files come from: opened by path, told apart by content.

use anyhow::{Context, Result, bail};
use framewright::convert::{self, Format, TensorFile};
use framewright::source::{FileSource, ReadAt};
use framewright::tensogram::{TensogramFile, ValidateMode, ValidateOptions, scan_source, validate_file};
use std::path::Path;

/// The format of a file: by its bytes, else by its name.
///
/// # Errors
/// When it cannot be read, or no format fits.
pub(crate) fn format_of(path: &Path) -> Result<Format> {
    let source = FileSource::open(path)?;
    let len = source.len()?;
    if len == 0 {
        bail!("{}: the file is empty", path.display());
    }
    let unknown = match convert::detect(path) {
        Ok(format) => return Ok(format),
        Err(unknown) => unknown,
    };
    // Junk before the first message hides its magic; a scan finds it all the same.
    if !scan_source(&source, &Default::default())?.is_empty() {
        return Ok(Format::Tensogram);
    }
    let mut head = vec![0; len.min(16) as usize];
    source.read_exact_at(0, &mut head)?;
    let hex: Vec<_> = head.iter().map(|byte| format!("{byte:02x}")).collect();
    bail!("{unknown}; found {} at byte 0", hex.join(" "))
}

/// A Tensogram file with at least one message.
///
/// # Errors
/// When it cannot be opened, or holds no message that can be read; then what stands there instead is named.
pub(crate) fn tensogram(path: &Path) -> Result<TensogramFile> {
    let file = TensogramFile::open(path).with_context(|| path.display().to_string())?;
    if file.message_count()? == 0 {
        let report = validate_file(path, &ValidateOptions::mode(ValidateMode::Quick))?;
        let findings = report.findings().map(ToString::to_string).collect::<Vec<_>>();
        bail!("{}: no readable message\n{}", path.display(), findings.join("\n"));
    }
    Ok(file)
}

/// A file of named tensors.
///
/// # Errors
/// When it cannot be opened or is wrong; the message names it.
pub(crate) fn tensors(path: &Path) -> Result<Box<dyn TensorFile>> {
    convert::open(path).or_else(|error| named(path, error))
}

/// Puts the path before an error that does not have it yet.
///
/// # Errors
/// Always.
pub(crate) fn named<T>(path: &Path, error: impl Into<anyhow::Error>) -> Result<T> {
    let (error, path) = (error.into(), path.display().to_string());
    Err(if error.to_string().contains(&path) { error } else { error.context(path) })
}
