//! Checkpoints in several files: `<name>.index.json` says which tensor lies in which file.

mod check; // every fault of a checkpoint
mod folder; // directories as checkpoints
mod names; // what files of a split output are called

pub(crate) use check::validate;
pub use check::{Beside, validate_index};
pub use folder::checkpoint_in;
pub(crate) use folder::{Checkpoint, find as find_checkpoint};
pub(crate) use names::Names;

use crate::contract::check_output;
use crate::digests::is_seal_key;
use crate::model::{Entry, Located, Pieces, TensorFile};
use crate::{ConvertError, Existing, Feature, Format, Loss, is_digest_key};
use fw_bintensors::{Manifest, SIGNATURE_KEY, digest_subject};
use fw_bytes::Span;
use fw_source::{AtomicFile, ReadAt};
use fw_tensor::Selection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The index, as the safetensors world writes it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Index {
    #[serde(default)]
    pub(crate) metadata: serde_json::Map<String, serde_json::Value>,
    pub(crate) weight_map: BTreeMap<String, String>,
}

impl Index {
    /// # Errors
    /// `invalid_index`.
    fn parse(text: &[u8], name: &str) -> Result<Self, ConvertError> {
        if text.len() as u64 > MAX_INDEX {
            return Err(too_long(name, text.len() as u64));
        }
        serde_json::from_slice(text)
            .map_err(|error| ConvertError::format("invalid_index", format!("{name}: {error}"), None))
    }

    /// Writes it whole or not at all.
    ///
    /// # Errors
    /// When writing fails.
    pub(crate) fn write(&self, path: &Path) -> Result<(), ConvertError> {
        let mut json = serde_json::to_vec_pretty(self).map_err(std::io::Error::from)?;
        json.push(b'\n');
        let write = || {
            let mut out = AtomicFile::create(path)?;
            out.write_all(&json)?;
            out.commit()
        };
        write().map(|_| ()).map_err(|error: std::io::Error| ConvertError::Io(error).in_file(path))
    }

    /// The files that it names, sorted.
    pub(crate) fn files(&self) -> BTreeSet<&str> {
        self.weight_map.values().map(String::as_str).collect()
    }

    /// What it keeps to check its tensors by.
    fn digests(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.metadata.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
        texts.filter(|(key, _)| is_digest_key(key))
    }
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
    /// What the index keeps to check the tensors by.
    digests: BTreeMap<String, String>,
    json_keys: BTreeSet<String>,
    remarks: Vec<Loss>,
}

/// Opens an index and every file it names, with `open`; or a directory that holds a checkpoint. Tensors that the index does not
/// name are not there.
pub(crate) fn open_beside(
    path: &Path,
    open: impl Fn(&Path) -> Result<Box<dyn TensorFile>, ConvertError>,
) -> Result<Box<dyn TensorFile>, ConvertError> {
    let checkpoint = if path.is_dir() { find_checkpoint(path)? } else { Checkpoint::Index(path.to_owned()) };
    let open_in = |folder: &Path, file: &str| {
        let path = folder.join(file);
        open(&path).map_err(|error| error.in_file(&path))
    };
    let (folder, mut sharded) = match &checkpoint {
        Checkpoint::Index(path) => {
            let folder = path.parent().unwrap_or_else(|| Path::new(""));
            let index = Index::parse(&read(path)?, &path.display().to_string())?;
            (folder, Sharded::of(&index, |file| open_in(folder, file))?)
        }
        Checkpoint::Shards(names) => (path, Sharded::without_index(names, |file| open_in(path, file))?),
    };
    sharded.paths = sharded.names.iter().map(|name| folder.join(name)).collect();
    Ok(Box::new(sharded))
}

/// The text of an index on this machine.
fn read(path: &Path) -> Result<Vec<u8>, ConvertError> {
    let named = |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    Ok(std::fs::read(path).map_err(named)?)
}

/// The text of an index behind any source.
///
/// # Errors
/// `invalid_index` when it is too long for one; when it cannot be read.
pub fn index_text(source: &(impl ReadAt + ?Sized), name: &str) -> Result<Vec<u8>, ConvertError> {
    let len = source.len()?;
    if len > MAX_INDEX {
        return Err(too_long(name, len));
    }
    let mut text = vec![0; len as usize];
    source.read_exact_at(0, &mut text)?;
    Ok(text)
}

fn too_long(name: &str, len: u64) -> ConvertError {
    let message = format!("{name}: an index of {len} bytes is above the limit of {MAX_INDEX}");
    ConvertError::format("invalid_index", message, None)
}

/// The index at a path, where there is one that can be read.
pub(crate) fn index_at(path: &Path) -> Option<Index> {
    Index::parse(&std::fs::read(path).ok()?, "").ok()
}

/// Opens a checkpoint from the text of its index, in a store for example. `open` opens a file beside the index by its name,
/// and `name` names the index in errors.
///
/// # Errors
/// When the index is wrong, names a file that is not beside it or lacks a tensor; those of `open`.
pub fn open_index(text: &[u8], name: &str, open: &ShardOpener<'_>) -> Result<Box<dyn TensorFile>, ConvertError> {
    Ok(Box::new(Sharded::of(&Index::parse(text, name)?, open)?))
}

/// The names of the files that the text of an index names: each a plain name of a file beside it.
///
/// # Errors
/// When the index is wrong, or names a file that is not beside it.
pub fn index_files(text: &[u8], name: &str) -> Result<Vec<String>, ConvertError> {
    let index = Index::parse(text, name)?;
    index.files().into_iter().map(|file| plain_name(file).map(|()| file.to_owned())).collect()
}

/// Writes an index once more, with a manifest of its tensors and the signature of that.
///
/// # Errors
/// `output_exists`, `no_index`; when reading or writing fails.
pub(crate) fn sign_index(
    input: &Path,
    output: &Path,
    (manifest, signature): (&Manifest, &str),
    existing: Existing,
) -> Result<(), ConvertError> {
    let input = match checkpoint_in(input) {
        Ok(path) if path.is_dir() => {
            let message = "the shards in this directory have no index, which would hold the signature";
            return Err(ConvertError::unsupported("no_index", message));
        }
        Ok(index) => index,
        Err(_) => input.to_owned(),
    };
    let output = if output.is_dir() { &input } else { output };
    if !fw_source::same_file(&input, output) {
        check_output(output, existing)?;
        if input.parent() != output.parent() {
            let message = "the shards are found beside their index; name an output in the same directory";
            return Err(ConvertError::unsupported("option_not_applicable", message));
        }
    }
    let mut index = Index::parse(&read(&input)?, &input.display().to_string())?;
    index.metadata.retain(|key, _| !is_digest_key(key));
    index.metadata.extend(manifest.to_metadata().into_iter().map(|(key, text)| (key, text.into())));
    index.metadata.insert(SIGNATURE_KEY.to_owned(), signature.into());
    index.write(output)
}

/// Opens a file of a checkpoint by its name.
pub type ShardOpener<'a> = dyn Fn(&str) -> Result<Box<dyn TensorFile>, ConvertError> + 'a;

/// A file beside the index: an index may not reach into other folders.
pub(crate) fn plain_name(file: &str) -> Result<(), ConvertError> {
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
    /// The tensors that an index names, from the files that it says.
    fn of(
        index: &Index,
        open: impl Fn(&str) -> Result<Box<dyn TensorFile>, ConvertError>,
    ) -> Result<Self, ConvertError> {
        let mut sharded = Self::default();
        let mut found = HashMap::new();
        for file in index.files() {
            plain_name(file)?;
            let shard = open(file)?;
            sharded.add(file, shard, index, &mut found);
        }
        if let Some((name, file)) = index.weight_map.iter().find(|(name, _)| !found.contains_key(*name)) {
            let message = format!("the index lists tensor {name:?} in {file:?}, which does not contain it");
            return Err(ConvertError::format("missing_tensor", message, None));
        }
        sharded.keep_digests(index)?;
        let is_told = |key: &&str| *key != "total_size" && !is_digest_key(key);
        let dropped: Vec<&str> = index.metadata.keys().map(String::as_str).filter(is_told).collect();
        if !dropped.is_empty() {
            sharded.remarks.push(Loss::new(Feature::IndexMetadata, None, dropped.join(", ")));
        }
        Ok(sharded)
    }

    /// All tensors of these files.
    fn without_index(
        names: &[String],
        open: impl Fn(&str) -> Result<Box<dyn TensorFile>, ConvertError>,
    ) -> Result<Self, ConvertError> {
        let shards = names.iter().map(|name| Ok((name.as_str(), open(name)?)));
        let shards = shards.collect::<Result<Vec<_>, ConvertError>>()?;
        let held = |shard: &dyn TensorFile| shard.entries().iter().map(|entry| entry.name.clone()).collect();
        let index = folder::index_of(shards.iter().map(|(name, shard)| (*name, held(&**shard))))?;
        let (mut sharded, mut found) = (Self::default(), HashMap::new());
        for (name, shard) in shards {
            sharded.add(name, shard, &index, &mut found);
        }
        Ok(sharded)
    }

    /// Takes over what an index keeps to check its tensors by. A shard that keeps another digest of a tensor is of another
    /// checkpoint.
    fn keep_digests(&mut self, index: &Index) -> Result<(), ConvertError> {
        for (key, value) in index.digests() {
            let own = self.metadata.as_ref().and_then(|map| map.get(key));
            let other = own.filter(|kept| !kept.eq_ignore_ascii_case(value));
            if let (Some(_), Some(name)) = (other, digest_subject(key)) {
                let file = index.weight_map.get(name).map_or("", String::as_str);
                let message = format!(
                    "the index and {file} keep different digests of tensor {name:?}: they are not of the same checkpoint"
                );
                return Err(ConvertError::format("digest_conflict", message, None));
            }
            self.digests.insert(key.to_owned(), value.to_owned());
        }
        Ok(())
    }

    fn add(&mut self, file: &str, shard: Box<dyn TensorFile>, index: &Index, found: &mut HashMap<String, ()>) {
        let (number, called) = (self.shards.len(), Arc::<str>::from(file));
        self.names.push(file.to_owned());
        for (place, entry) in shard.entries().iter().enumerate() {
            match index.weight_map.get(&entry.name) {
                Some(wanted) if wanted == file => {
                    found.insert(entry.name.clone(), ());
                    self.places.push((number, place));
                    self.entries.push(Entry { span: None, shard: Some(Arc::clone(&called)), ..entry.clone() });
                }
                // The index says which one counts.
                Some(_) => {}
                None => {
                    let what = format!("is in {file}, and the index does not list it");
                    self.remarks.push(Loss::new(Feature::Tensor, Some(entry.name.clone()), what));
                }
            }
        }
        // What is about all tensors of one file says nothing about those of several.
        for (key, value) in shard.metadata().into_iter().flatten().filter(|(key, _)| !is_seal_key(key)) {
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

    fn index_digests(&self) -> &BTreeMap<String, String> {
        &self.digests
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

    fn located(&self, index: usize) -> Option<Located<'_>> {
        let (shard, place) = self.held(index).ok()?;
        shard.located(place)
    }

    fn shards_len(&self) -> Option<u64> {
        let lens = self.paths.iter().map(|path| std::fs::metadata(path).ok().map(|found| found.len()));
        let sum = lens.sum::<Option<u64>>()?;
        (!self.paths.is_empty()).then_some(sum)
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

/// Bytes of the largest index that is read.
pub const MAX_INDEX: u64 = 256 << 20;

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
