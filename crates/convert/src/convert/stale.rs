//! What an earlier output under the same name left: which names are free, and what is removed when the new output is complete.

use super::Door;
use crate::contract::{Target, check_output};
use crate::model::TensorFile;
use crate::shards::{Checkpoint, Names, find_checkpoint, index_at, plain_name};
use crate::{ConvertError, ConvertOptions, Existing};
use fw_source::same_file;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Where a new output goes, and what stands in its place.
pub(super) struct Stale {
    index: PathBuf,
    shards: Vec<PathBuf>,
    /// What readers that take all files of a directory would read beside the new output; an index before its files.
    old: Vec<PathBuf>,
}

/// Files, each once.
struct Old {
    found: Vec<PathBuf>,
}

impl Old {
    fn add(&mut self, path: PathBuf) {
        if path.is_file() && !self.found.contains(&path) {
            self.found.push(path);
        }
    }
}

impl Stale {
    /// Looks before anything is written.
    ///
    /// # Errors
    /// `output_exists`, `not_a_file`; when the directory cannot be read.
    pub(super) fn find(
        input: &Path,
        source: &dyn TensorFile,
        output: &Path,
        target: &Target,
        count: usize,
        (options, door): (&ConvertOptions, Door),
    ) -> Result<Self, ConvertError> {
        let is_split = count > 1;
        if !is_split {
            check_output(output, options.existing)?;
        }
        if !target.writable.takes().shards || !(is_split || door == Door::Conversion) {
            return Ok(Self { index: PathBuf::new(), shards: Vec::new(), old: Vec::new() });
        }
        let names = Names::of(output, target.format.extension());
        let index = names.index();
        let input = match input.is_dir().then(|| find_checkpoint(input)) {
            Some(Ok(Checkpoint::Index(index))) => index,
            _ => input.to_owned(),
        };
        let is_index_read = same_file(&input, &index);
        let mut old = Old { found: Vec::new() };
        // Whoever writes the output says what is wrong with its directory.
        let existing = names.existing().unwrap_or_default();
        if is_split {
            check_output(&index, options.existing)?;
            old.add(output.to_owned());
        } else if index.exists() && !is_index_read {
            check_output(&index, options.existing)?;
            old.add(index.clone());
        }
        if is_split || index.exists() && !is_index_read {
            let named = index_at(&index);
            let named = named.iter().flat_map(|index| index.files()).filter(|file| plain_name(file).is_ok());
            named.for_each(|file| old.add(names.beside(file)));
            existing.iter().for_each(|(_, path)| old.add(path.clone()));
        }
        // What is read stays, unless it is replaced: by a new index under the same name.
        if !(is_split && is_index_read) {
            let read: Vec<&Path> =
                (0..source.entries().len()).filter_map(|place| Some(source.shard(place)?.0)).collect();
            let read: HashSet<&Path> = read.into_iter().collect();
            old.found.retain(|path| !same_file(path, &input) && !read.iter().any(|read| same_file(read, path)));
        }
        if options.existing == Existing::Refuse
            && let Some(path) = old.found.first()
        {
            return Err(ConvertError::unsupported("output_exists", "already exists").in_file(path));
        }
        let is_free = |generation: &u64| existing.iter().all(|(used, _)| used != generation);
        let generation = (0..).find(is_free).unwrap_or(0);
        Ok(Self { index, shards: names.shards(generation, count), old: old.found })
    }

    /// Where the shards go: under names that no file has.
    pub(super) fn shards(&self) -> &[PathBuf] {
        &self.shards
    }

    /// Where their index goes.
    pub(super) fn index(&self) -> &Path {
        &self.index
    }

    /// Removes what is no part of the new output, and returns what that was.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub(super) fn remove(&self, new: &[PathBuf]) -> Result<Vec<PathBuf>, ConvertError> {
        let mut removed = Vec::new();
        for path in self.old.iter().filter(|path| !new.contains(path)) {
            match std::fs::remove_file(path) {
                Ok(()) => removed.push(path.clone()),
                // Someone else was faster.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(ConvertError::Io(error).in_file(path)),
            }
        }
        Ok(removed)
    }
}
