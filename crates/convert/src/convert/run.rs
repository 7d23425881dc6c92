//! A conversion on its way: plans to files.

use super::stale::Stale;
use crate::contract::{Output, Work};
use crate::{ConvertError, Converted, Loss, shards};
use std::path::{Path, PathBuf};

/// Shards that no index names yet: they go when the conversion fails.
struct Unfinished(Vec<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        for path in &self.0 {
            // The failure that led here is the one to tell.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// One conversion.
pub(super) struct Run<'a> {
    pub(super) work: Work<'a>,
}

impl Run<'_> {
    /// Writes all tensors, or those of one shard, and says what went missing on the way.
    pub(super) fn write(&mut self, group: Option<&[usize]>, path: &Path) -> Result<Vec<Loss>, ConvertError> {
        let writable = self.work.target.writable;
        let written = writable.write(&mut Output { work: &mut self.work, group, path });
        // Failed reads name the input already.
        written.map_err(|error| error.in_file(path))
    }

    /// Writes a file per group under new names, and the index of them all, which makes them the output, last. Nothing is left of
    /// them when that fails.
    pub(super) fn write_shards(
        &mut self,
        groups: &[Vec<usize>],
        stale: &Stale,
        done: &mut Converted,
    ) -> Result<(), ConvertError> {
        let mut index = shards::Index::default();
        index.metadata.insert("total_size".to_owned(), done.bytes.into());
        index.metadata.extend(self.work.target.seal.of_index().into_iter().map(|(key, text)| (key, text.into())));
        let mut unfinished = Unfinished(Vec::new());
        for (group, path) in groups.iter().zip(stale.shards()) {
            self.write(Some(group), path)?;
            unfinished.0.push(path.clone());
            let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            for tensor in self.work.target.group(Some(group)) {
                index.weight_map.insert(tensor.name.clone(), file.clone());
            }
        }
        // The names of the shards are on disk before the index that needs them.
        fw_source::sync_directory_of(stale.index())?;
        index.write(stale.index())?;
        done.files.append(&mut unfinished.0);
        done.files.push(stale.index().to_owned());
        Ok(())
    }
}
