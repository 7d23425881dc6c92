//! Checkpoints in several files: `<name>.index.json` says which tensor lies in which file.

use crate::model::{Entry, Pieces, TensorFile};
use crate::{ConvertError, Feature, Format, Loss};
use fw_bytes::Span;
use fw_tensor::Selection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The index, as the safetensors world writes it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Index {
    #[serde(default)]
    pub(crate) metadata: serde_json::Map<String, serde_json::Value>,
    pub(crate) weight_map: BTreeMap<String, String>,
}

#[derive(Default)]
struct Sharded {
    shards: Vec<Box<dyn TensorFile>>,
    /// What each of them is called.
    names: Vec<String>,
    /// Where each of them lies, when they are on this machine.
    paths: Vec<PathBuf>,
    /// Shard and place in it, for each entry.
    places: Vec<(usize, usize)>,
    entries: Vec<Entry>,
    metadata: Option<BTreeMap<String, String>>,
    json_keys: BTreeSet<String>,
    remarks: Vec<Loss>,
}

/// Opens an index and every file it names, with `open`. Tensors that the index does not name are not there.
pub(crate) fn open_beside(
    path: &Path,
    open: impl Fn(&Path) -> Result<Box<dyn TensorFile>, ConvertError>,
) -> Result<Box<dyn TensorFile>, ConvertError> {
    let text = std::fs::read(path)
        .map_err(|error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let mut sharded = opened(&text, &path.display().to_string(), &|file| {
        let path = folder.join(file);
        open(&path).map_err(|error| error.in_file(&path))
    })?;
    sharded.paths = sharded.names.iter().map(|name| folder.join(name)).collect();
    Ok(Box::new(sharded))
}

/// Opens a checkpoint from the text of its index, in a store for example. `open` opens a file beside the index by its name,
/// and `name` names the index in errors.
///
/// # Errors
/// When the index is wrong, names a file that is not beside it or lacks a tensor; those of `open`.
pub fn open_index(text: &[u8], name: &str, open: &ShardOpener<'_>) -> Result<Box<dyn TensorFile>, ConvertError> {
    Ok(Box::new(opened(text, name, open)?))
}

/// Opens a file of a checkpoint by its name.
pub type ShardOpener<'a> = dyn Fn(&str) -> Result<Box<dyn TensorFile>, ConvertError> + 'a;

fn opened(text: &[u8], name: &str, open: &ShardOpener<'_>) -> Result<Sharded, ConvertError> {
    let index: Index = serde_json::from_slice(text)
        .map_err(|error| ConvertError::format("invalid_index", format!("{name}: {error}"), None))?;
    let mut files: Vec<&String> = index.weight_map.values().collect();
    files.sort_unstable();
    files.dedup();
    let mut sharded = Sharded::default();
    let mut found = HashMap::new();
    for file in files {
        plain_name(file)?;
        let shard = open(file)?;
        sharded.add(file, shard, &index, &mut found);
        sharded.names.push(file.clone());
    }
    if let Some((name, file)) = index.weight_map.iter().find(|(name, _)| !found.contains_key(*name)) {
        let message = format!("the index lists tensor {name:?} in {file:?}, which does not contain it");
        return Err(ConvertError::format("missing_tensor", message, None));
    }
    let dropped: Vec<&str> = index.metadata.keys().map(String::as_str).filter(|key| *key != "total_size").collect();
    if !dropped.is_empty() {
        sharded.remarks.push(Loss::new(Feature::IndexMetadata, None, dropped.join(", ")));
    }
    Ok(sharded)
}

/// A file beside the index: an index may not reach into other folders.
fn plain_name(file: &str) -> Result<(), ConvertError> {
    let path = Path::new(file);
    if path.components().count() == 1
        && path.file_name().is_some_and(|name| name == file)
        && !file.ends_with(".index.json")
    {
        return Ok(());
    }
    let message = format!("the index names {file:?}; only files beside it are opened");
    Err(ConvertError::format("unsafe_path", message, None))
}

impl Sharded {
    fn add(&mut self, file: &str, shard: Box<dyn TensorFile>, index: &Index, found: &mut HashMap<String, ()>) {
        let number = self.shards.len();
        for (place, entry) in shard.entries().iter().enumerate() {
            if index.weight_map.get(&entry.name).is_some_and(|wanted| wanted == file) {
                found.insert(entry.name.clone(), ());
                self.places.push((number, place));
                self.entries.push(Entry { span: None, ..entry.clone() });
            }
        }
        for (key, value) in shard.metadata().into_iter().flatten() {
            let map = self.metadata.get_or_insert_default();
            match map.get(key) {
                None => {
                    map.insert(key.clone(), value.clone());
                    self.json_keys.extend(shard.json_keys().get(key).cloned());
                }
                Some(earlier) if earlier == value => {}
                Some(_) => {
                    let what = format!("metadata {key:?} of {file}: another shard has a different value");
                    self.remarks.push(Loss::new(Feature::Metadata, None, what));
                }
            }
        }
        self.remarks.extend(shard.remarks());
        self.shards.push(shard);
    }

    fn held(&self, index: usize) -> Result<(&dyn TensorFile, usize), ConvertError> {
        let place = self.places.get(index).and_then(|(shard, place)| Some((self.shards.get(*shard)?, *place)));
        place.map(|(shard, place)| (&**shard, place)).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))
    }
}

impl TensorFile for Sharded {
    fn format(&self) -> Format {
        Format::ShardIndex
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        self.metadata.as_ref()
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        &self.json_keys
    }

    fn has_order(&self) -> bool {
        false
    }

    fn shard(&self, index: usize) -> Option<(&Path, Span)> {
        let (number, place) = self.places.get(index)?;
        let span = self.shards.get(*number)?.entries().get(*place)?.span?;
        Some((self.paths.get(*number)?, span))
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let (shard, place) = self.held(index)?;
        shard.stream(place, take)
    }

    fn check_held(&self, index: usize) -> Result<(), ConvertError> {
        let (shard, place) = self.held(index)?;
        shard.check_held(place)
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let (shard, place) = self.held(index)?;
        shard.slice(place, selection)
    }

    fn remarks(&self) -> Vec<Loss> {
        self.remarks.clone()
    }
}

/// Splits tensors of the given sizes, in order, into groups of at most `max` bytes; a larger tensor is alone.
pub(crate) fn split(sizes: &[u64], max: u64) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![Vec::new()];
    let mut held = 0u64;
    for (place, size) in sizes.iter().enumerate() {
        let full = held.saturating_add(*size) > max;
        match groups.last_mut() {
            Some(group) if !full || group.is_empty() => group.push(place),
            _ => {
                groups.push(vec![place]);
                held = 0;
            }
        }
        held = held.saturating_add(*size);
    }
    groups
}

/// `model-00001-of-00003.bt` beside `model.bt`.
pub(crate) fn shard_path(output: &Path, extension: &str, number: usize, count: usize) -> PathBuf {
    let stem = output.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy());
    output.with_file_name(format!("{stem}-{:05}-of-{count:05}.{extension}", number.saturating_add(1)))
}

/// `model.bt.index.json` beside `model.bt`.
pub(crate) fn index_path(output: &Path, extension: &str) -> PathBuf {
    let stem = output.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy());
    output.with_file_name(format!("{stem}.{extension}.index.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_below_the_limit() {
        assert_eq!(split(&[4, 4, 4, 9, 1, 1], 8), [vec![0, 1], vec![2], vec![3], vec![4, 5]]);
        assert_eq!(split(&[], 8), [Vec::<usize>::new()]);
        assert_eq!(split(&[1; 3], u64::MAX).len(), 1);
    }

    #[test]
    fn an_index_stays_in_its_folder() {
        for bad in ["../x.bt", "/etc/passwd", "a/b.bt", "", ".", "..", "x.index.json"] {
            assert_eq!(plain_name(bad).unwrap_err().code(), "unsafe_path", "{bad}");
        }
        assert!(plain_name("model-00001-of-00002.safetensors").is_ok());
    }
}
