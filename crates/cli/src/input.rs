//! Where files come from: opened by path, told apart by content.

use crate::args::Command;
use crate::exit::Failure;
use anyhow::{Context, Result};
use framewright::convert::{self, Format, TensorFile};
use framewright::source::{FileSource, ReadAt};
use framewright::tensogram::{TensogramFile, ValidateMode, ValidateOptions, scan_source, validate_file};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Where a file that came from elsewhere was put, and what people call it.
static COPIED: OnceLock<(PathBuf, String)> = OnceLock::new();

/// What people call a file: its path, or where it came from.
pub(crate) fn shown(path: &Path) -> String {
    match COPIED.get() {
        Some((copy, name)) if copy == path => name.clone(),
        _ => path.display().to_string(),
    }
}

/// Words about a file in which it has the name that people know.
pub(crate) fn renamed(text: String) -> String {
    match COPIED.get() {
        Some((copy, name)) => text.replace(&copy.display().to_string(), name),
        None => text,
    }
}

/// Lets a command look at a copy of what it was to look at.
pub(crate) fn stand_in(command: &mut Command, copy: PathBuf, name: String) {
    if let Some(file) = command.looked_at() {
        file.clone_from(&copy);
        // A process runs one command.
        let _ = COPIED.set((copy, name));
    }
}

/// Puts standard input into a file, when that is what a command is to look at and it does not read it as it comes.
///
/// # Errors
/// When it cannot be read, or written down.
pub(crate) fn piped(command: &mut Command) -> Result<Option<TempDir>> {
    if matches!(command, Command::Ls(_)) || command.looked_at().is_none_or(|file| file.as_os_str() != "-") {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("standard-input");
    io::copy(&mut io::stdin().lock(), &mut File::create(&copy)?).context("standard input")?;
    stand_in(command, copy, "standard input".to_owned());
    Ok(Some(folder))
}

/// The format of a file: by its bytes, else by its name.
///
/// # Errors
/// When it cannot be read, or no format fits.
pub(crate) fn format_of(path: &Path) -> Result<Format> {
    let source = FileSource::open(path)?;
    let len = source.len()?;
    if len == 0 {
        return Err(Failure::new("empty_file", format!("{}: the file is empty", shown(path))).into());
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
    let text = format!("{unknown}; found {} at byte 0", hex.join(" "));
    Err(Failure::new("unknown_format", text).at(0).into())
}

/// A Tensogram file with at least one message.
///
/// # Errors
/// When it cannot be opened, or holds no message that can be read; then what stands there instead is named.
pub(crate) fn tensogram(path: &Path) -> Result<TensogramFile> {
    let file = TensogramFile::open(path).with_context(|| shown(path))?;
    if file.message_count()? == 0 {
        let report = validate_file(path, &ValidateOptions::mode(ValidateMode::Quick))?;
        let findings = report.findings().map(ToString::to_string).collect::<Vec<_>>();
        let text = format!("{}: no readable message\n{}", shown(path), findings.join("\n"));
        return Err(Failure::new("no_message", text).into());
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
