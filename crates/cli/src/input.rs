//! Where files come from: opened by path, told apart by content.

use anyhow::{Context, Result, bail};
use framewright::source::{FileSource, ReadAt};
use framewright::tensogram::{TensogramFile, scan_source};
use framewright::{Format, detect};
use std::path::Path;

/// The format of a file.
///
/// # Errors
/// When it cannot be read, or no format fits.
pub(crate) fn format_of(path: &Path) -> Result<Format> {
    let source = FileSource::open(path)?;
    let len = source.len()?;
    let mut head = vec![0; len.min(HEAD) as usize];
    source.read_exact_at(0, &mut head)?;
    if let Some(format) = detect(&head) {
        return Ok(format);
    }
    // Junk before the first message hides its magic; a scan finds it all the same.
    if !scan_source(&source, &Default::default())?.is_empty() {
        return Ok(Format::Tensogram);
    }
    if len == 0 {
        bail!("{}: the file is empty", path.display());
    }
    bail!(
        "{}: no known format: expected a Tensogram message, npy, zip, safetensors or BinTensors, found {}",
        path.display(),
        first_bytes(&head)
    )
}

/// A Tensogram file, or an error that says what the file is instead.
///
/// # Errors
/// When it cannot be opened, or is something else.
pub(crate) fn tensogram(path: &Path) -> Result<TensogramFile> {
    match format_of(path) {
        Ok(Format::Tensogram) => TensogramFile::open(path).with_context(|| path.display().to_string()),
        Ok(other) => bail!("{}: {other} files are not supported by this command yet", path.display()),
        Err(error) => Err(error),
    }
}

fn first_bytes(head: &[u8]) -> String {
    let shown = head.get(..16).unwrap_or(head);
    let hex: Vec<_> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} at byte 0", hex.join(" "))
}

const HEAD: u64 = 4096;
