//! Our own golden bytes: what our encoders write, one file per feature of a format, compared byte by byte.
//!
//! - [`tensogram`] messages, [`bintensors`] weight files
//! - this file: comparing, rewriting on purpose, and the rule for files of earlier formats: whatever lies under
//!   `legacy/` must still read, and each folder there says in `MIGRATION.md` what changed.

pub mod bintensors;
pub mod tensogram;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::row::Rows;

/// One golden file.
pub struct Golden {
    /// Its path below `golden/`.
    pub path: &'static str,
    /// What our encoder writes.
    pub bytes: Vec<u8>,
}

/// What became of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Compare.
    Verify,
    /// Rewrite those that differ; their old bytes go to `legacy/`.
    Update,
}

/// Compares every golden file, or rewrites them.
///
/// # Errors
/// The folder cannot be read or written.
pub fn run(folder: &Path, mode: Mode, rows: &mut Rows) -> Result<()> {
    let mut on_disk = BTreeMap::new();
    if folder.exists() {
        files(folder, folder, &mut on_disk)?;
    }
    for golden in all() {
        let old = on_disk.remove(golden.path);
        if mode == Mode::Update && old.as_ref() != Some(&golden.bytes) {
            write(folder, &golden, old.as_deref())?;
        } else {
            rows.check(&format!("golden/{}", golden.path), |row| match old {
                None => row.deviates("not on disk; `cargo xtask golden --update` writes it"),
                Some(old) if old != golden.bytes => {
                    let at = old.iter().zip(&golden.bytes).position(|(old, new)| old != new);
                    let at = at.unwrap_or(old.len().min(golden.bytes.len()));
                    row.deviates(format!("byte {at} differs: a wire-format change (see CONTRIBUTING.md)"));
                }
                Some(bytes) => drop(row.accept("read", read(Path::new(golden.path), &bytes))),
            });
        }
    }
    for (path, bytes) in &on_disk {
        check_other(folder, path, bytes, rows);
    }
    Ok(())
}

/// Every golden file of every format.
fn all() -> Vec<Golden> {
    let mut all = tensogram::all();
    all.extend(bintensors::all());
    all
}

/// A file that no encoder of today writes: one of an earlier format, or one that should not be there.
fn check_other(folder: &Path, path: &str, bytes: &[u8], rows: &mut Rows) {
    if path.ends_with(".md") {
        return;
    }
    rows.check(&format!("golden/{path}"), |row| {
        let mut parts = path.split('/');
        let (Some("legacy"), Some(version)) = (parts.next(), parts.next()) else {
            return row.deviates("written by no encoder; old files belong under legacy/");
        };
        if !folder.join("legacy").join(version).join("MIGRATION.md").exists() {
            row.deviates(format!("legacy/{version} has no MIGRATION.md"));
        }
        row.accept("read", read(Path::new(path), bytes));
    });
}

/// Whether a file still reads, whatever wrote it.
fn read(path: &Path, bytes: &[u8]) -> Result<()> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("tgm") => tensogram::read(bytes),
        Some("bt") => bintensors::read(bytes),
        other => bail!("no reader for golden files of kind {other:?}"),
    }
}

/// Writes the new bytes and keeps the old ones.
fn write(folder: &Path, golden: &Golden, old: Option<&[u8]>) -> Result<()> {
    let put = |path: PathBuf, bytes: &[u8]| -> Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    if let Some(old) = old {
        let legacy = format!("legacy/{}/{}", env!("CARGO_PKG_VERSION"), golden.path);
        println!("{}: changed; the old bytes are in {legacy}", golden.path);
        println!("  a wire-format change needs the spec page, a version bump, MIGRATION.md and a CHANGELOG entry too");
        put(folder.join(legacy), old)?;
    } else {
        println!("{}: new", golden.path);
    }
    put(folder.join(golden.path), &golden.bytes)
}

fn files(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files(root, &path, found)?;
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            found.insert(name, fs::read(&path)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::KnownFailures;
    use crate::row::{Meter, Show};

    fn verdict(folder: &Path, mode: Mode) -> (u64, u64) {
        let mut rows = Rows::new(KnownFailures::default(), Meter::NONE, Show::Deviations);
        run(folder, mode, &mut rows).unwrap();
        (rows.passed(), rows.failed())
    }

    #[test]
    fn a_changed_byte_is_seen_and_an_update_keeps_the_old_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let count = all().len() as u64;
        assert_eq!(verdict(folder.path(), Mode::Verify), (0, count), "nothing on disk");
        assert_eq!(verdict(folder.path(), Mode::Update).1, 0);
        assert_eq!(verdict(folder.path(), Mode::Verify), (count, 0));

        let file = folder.path().join(all()[0].path);
        let mut bytes = fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&file, bytes).unwrap();
        assert_eq!(verdict(folder.path(), Mode::Verify), (count - 1, 1));
        verdict(folder.path(), Mode::Update);
        // The old bytes are kept, damaged as they are and without a note: both are told.
        assert_eq!(verdict(folder.path(), Mode::Verify), (count, 1));
        fs::write(folder.path().join("stray.tgm"), b"?").unwrap();
        assert_eq!(verdict(folder.path(), Mode::Verify), (count, 2));
    }
}
