//! A conversion on its way: plans to files.

use super::stale::Stale;
use crate::contract::{Meter, Output, Work};
use crate::model::Block;
use crate::{ConvertError, Converted, Loss, shards};
use fw_source::AtomicFile;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
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

/// One conversion, and where its files go.
pub(super) struct Run<'a> {
    pub(super) work: Work<'a>,
    pub(super) output: &'a Path,
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

    /// Where every tensor stays where it is, only the header is written anew, and the data is copied behind it as one block, by
    /// the system (`copy_file_range`, shared extents) where it can. False when that cannot be.
    pub(super) fn copy_whole(&mut self) -> Result<bool, ConvertError> {
        let (source, target) = (self.work.source, self.work.target);
        if target.tensors.len() != source.entries().len() {
            return Ok(false);
        }
        let Some(Block { file, span }) = source.block() else { return Ok(false) };
        let Some(head) = target.writable.head(target, self.work.options)? else { return Ok(false) };
        // The plan has the tensors in the order of the source, and none was left out.
        if !head.order.is_sorted() || head.data_len != span.len() {
            return Ok(false);
        }
        let mut from = file;
        from.seek(SeekFrom::Start(span.start))?;
        let copied = copy_behind(&head.bytes, file, span.len(), self.output, &mut self.work.meter)
            .map_err(|error| error.in_file(self.output))?;
        if copied != span.len() {
            let message = format!("need {} bytes of data, have {copied}", span.len());
            return Err(ConvertError::format("truncated", message, span.start).in_file(self.work.input));
        }
        Ok(true)
    }
}

/// Writes a header and copies data behind it; a file that ends too early is not committed.
fn copy_behind(
    head: &[u8],
    from: &File,
    data_len: u64,
    output: &Path,
    meter: &mut Meter<'_>,
) -> Result<u64, ConvertError> {
    let mut out = AtomicFile::create(output)?;
    out.write_all(head)?;
    let mut done = 0u64;
    while done < data_len {
        // In steps, so that there is progress to tell.
        let step = std::io::copy(&mut from.take(data_len.saturating_sub(done).min(STEP)), &mut out.file())?;
        if step == 0 {
            return Ok(done);
        }
        done = done.saturating_add(step);
        meter.advance("", step);
    }
    out.commit()?;
    Ok(done)
}

/// Bytes that the system copies between two reports of progress.
const STEP: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConvertOptions;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The data stands after the new header, from where the source was to where it says; a source that is too short leaves no file.
    #[test]
    fn data_is_copied_behind_a_header() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let bytes: Vec<u8> = (0..100_000u32).map(|number| (number % 251) as u8).collect();
        std::fs::write(&from, &bytes).unwrap();
        let seen = Arc::new(AtomicU64::new(0));
        let last = Arc::clone(&seen);
        let options =
            ConvertOptions::new().with_progress(move |progress| last.store(progress.bytes_done, Ordering::Relaxed));
        let copy = |start: u64, len: u64| {
            let file = File::open(&from).unwrap();
            (&file).seek(SeekFrom::Start(start)).unwrap();
            copy_behind(b"head", &file, len, &to, &mut Meter::new(&options, len)).unwrap()
        };
        assert_eq!(copy(60_000, 50_000), 40_000, "only so many are there");
        assert!(!to.exists());
        assert_eq!(copy(7, 90_000), 90_000);
        assert_eq!(std::fs::read(&to).unwrap(), [b"head", &bytes[7..90_007]].concat());
        assert_eq!(seen.load(Ordering::Relaxed), 90_000);
        assert_eq!(copy(0, 0), 0);
        assert_eq!(std::fs::read(&to).unwrap(), b"head");
    }
}
