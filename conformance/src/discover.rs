//! Finds manifests below a folder and hands each to the adapter of its format.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::row::Rows;
use crate::{bintensors, codecs, structframe, tensogram};

/// A manifest that was found.
pub struct Manifest {
    /// The folder it lies in; the files it names are relative to it.
    pub folder: PathBuf,
    /// Its name, for row ids of the manifest as a whole.
    pub name: String,
    /// Its text.
    pub json: Value,
}

impl Manifest {
    /// Reads a file that the manifest names.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn file(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.folder.join(name);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

/// What an adapter answers: the JSON files beside the manifest that it has read as part of it.
pub type Companions = Vec<PathBuf>;

/// Runs everything below `folder`.
///
/// # Errors
/// The folder cannot be read.
pub fn run(folder: &Path, rows: &mut Rows) -> Result<()> {
    let mut files = Vec::new();
    json_files(folder, &mut files).with_context(|| format!("cannot read {}", folder.display()))?;
    let (mut companions, mut unknown) = (BTreeSet::new(), Vec::new());
    for path in files {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let json =
            match fs::read(&path).map_err(anyhow::Error::from).and_then(|text| Ok(serde_json::from_slice(&text)?)) {
                Ok(json) => json,
                Err(error) => {
                    rows.check(&format!("manifest/{name}"), |row| row.deviates(format!("unreadable: {error}")));
                    continue;
                }
            };
        let manifest = Manifest { folder: path.parent().unwrap_or(folder).to_path_buf(), name, json };
        match adapter(&manifest.json) {
            Some(adapter) => companions.extend(adapter(&manifest, rows)),
            None => unknown.push((path, manifest)),
        }
    }
    for (path, manifest) in unknown.iter().filter(|(path, _)| !companions.contains(path)) {
        let marker =
            ["format", "schema", "title"].iter().find_map(|key| manifest.json[*key].as_str()).unwrap_or("none");
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        rows.check(&format!("manifest/{}", manifest.name), |row| {
            row.deviates(format!("no adapter for the format of {file} (marker: {marker})"));
        });
    }
    Ok(())
}

/// Runs one manifest.
pub type Adapter = fn(&Manifest, &mut Rows) -> Companions;

/// Which adapter understands this manifest.
fn adapter(json: &Value) -> Option<Adapter> {
    type Recognises = fn(&Value) -> bool;
    let adapters: [(Recognises, Adapter); 3] = [
        (tensogram::robustness::recognises, tensogram::robustness::run),
        (tensogram::recognises, tensogram::run),
        (codecs::recognises, codecs::run),
    ];
    let found = adapters.into_iter().find(|(recognises, _)| recognises(json)).map(|(_, adapter)| adapter);
    found.or_else(|| structframe::adapter(json)).or_else(|| bintensors::adapter(json))
}

/// Every `.json` file below `folder`, in a fixed order.
fn json_files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            json_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    Ok(())
}
