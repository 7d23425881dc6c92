//! A conversion on its way: what is read, what is written, and how far it has come.

use super::plan::{Planned, Target};
use super::{ConvertOptions, Converted, Progress, check_output};
use crate::model::{Block, TensorFile};
use crate::{ConvertError, Loss, shards};
use fw_source::AtomicFile;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// One conversion: its ends, its plan, and the bytes that are done.
pub(super) struct Run<'a> {
    pub(super) source: &'a dyn TensorFile,
    pub(super) target: &'a Target,
    pub(super) input: &'a Path,
    pub(super) output: &'a Path,
    pub(super) options: &'a ConvertOptions,
    pub(super) meter: Meter<'a>,
}

/// Counts bytes for the caller.
pub(crate) struct Meter<'a> {
    options: &'a ConvertOptions,
    done: u64,
    total: u64,
}

impl<'a> Meter<'a> {
    pub(crate) const fn new(options: &'a ConvertOptions, total: u64) -> Self {
        Self { options, done: 0, total }
    }

    pub(crate) fn advance(&mut self, tensor: &str, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if let Some(progress) = &self.options.progress {
            progress(Progress { tensor, bytes_done: self.done, bytes_total: self.total });
        }
    }
}

impl<'a> Run<'a> {
    /// Writes all tensors, or those of one shard, and says what went missing on the way.
    pub(super) fn write(&mut self, group: Option<&[usize]>, path: &Path) -> Result<Vec<Loss>, ConvertError> {
        let writable = self.target.writable;
        let written = writable.write(&mut Output { run: self, group, path });
        // Failed reads name the input already.
        written.map_err(|error| error.in_file(path))
    }

    /// Writes a file per group, and the index of them all.
    pub(super) fn write_shards(&mut self, groups: &[Vec<usize>], done: &mut Converted) -> Result<(), ConvertError> {
        let extension = self.target.format.extension();
        let path_of = |number| shards::shard_path(self.output, extension, number, groups.len());
        let index_path = shards::index_path(self.output, extension);
        let paths: Vec<_> = (0..groups.len()).map(path_of).collect();
        for path in paths.iter().chain([&index_path]) {
            check_output(path, self.options.existing)?;
        }
        let mut index = shards::Index::default();
        index.metadata.insert("total_size".to_owned(), done.bytes.into());
        let mut weight_map = BTreeMap::new();
        for (group, path) in groups.iter().zip(paths) {
            self.write(Some(group), &path)?;
            let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            for tensor in self.target.group(Some(group)) {
                weight_map.insert(tensor.name.clone(), file.clone());
            }
            done.files.push(path);
        }
        index.weight_map = weight_map;
        let mut json = serde_json::to_vec_pretty(&index).map_err(std::io::Error::from)?;
        json.push(b'\n');
        write_file(&index_path, &json).map_err(|error| error.in_file(&index_path))?;
        done.files.push(index_path);
        Ok(())
    }

    /// Where every tensor stays where it is, only the header is written anew, and the data is copied behind it as one block, by
    /// the system (`copy_file_range`, shared extents) where it can. False when that cannot be.
    pub(super) fn copy_whole(&mut self) -> Result<bool, ConvertError> {
        let (source, target) = (self.source, self.target);
        if self.options.tensor_digests.is_some() || target.tensors.len() != source.entries().len() {
            return Ok(false);
        }
        let Some(Block { file, span }) = source.block() else { return Ok(false) };
        let Some(head) = target.writable.head(target, self.options)? else { return Ok(false) };
        // The plan has the tensors in the order of the source, and none was left out.
        if !head.order.is_sorted() || head.data_len != span.len() {
            return Ok(false);
        }
        let mut from = file;
        from.seek(SeekFrom::Start(span.start))?;
        let copied = copy_behind(&head.bytes, file, span.len(), self.output, &mut self.meter)
            .map_err(|error| error.in_file(self.output))?;
        if copied != span.len() {
            let message = format!("need {} bytes of data, have {copied}", span.len());
            return Err(ConvertError::format("truncated", message, span.start).in_file(self.input));
        }
        Ok(true)
    }
}

/// A file to write: which tensors, and where to.
pub(crate) struct Output<'r, 'a> {
    run: &'r mut Run<'a>,
    group: Option<&'r [usize]>,
    path: &'r Path,
}

impl<'a> Output<'_, 'a> {
    /// Where it goes.
    pub(crate) const fn path(&self) -> &Path {
        self.path
    }

    /// What was asked for.
    pub(crate) const fn options(&self) -> &'a ConvertOptions {
        self.run.options
    }

    /// What is read.
    pub(crate) fn source(&self) -> &'a dyn TensorFile {
        self.run.source
    }

    /// The tensors of this file, in the order of the plan.
    pub(crate) fn tensors(&self) -> Vec<&'a Planned> {
        self.run.target.group(self.group)
    }

    /// The metadata of this file.
    pub(crate) fn metadata(&self) -> Option<BTreeMap<String, String>> {
        self.run.target.metadata_of(self.group)
    }

    /// Hands the data of a tensor to `put`, piece by piece, and proves that it is all there.
    ///
    /// # Errors
    /// When the input fails or is too short; those of `put`.
    pub(crate) fn stream(
        &mut self,
        tensor: &Planned,
        mut put: impl FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        let mut done = 0u64;
        let (input, path, meter) = (self.run.input, self.path, &mut self.run.meter);
        let read = self.run.source.stream(tensor.index, &mut |piece| {
            put(piece).map_err(|error| error.in_file(path))?;
            done = done.saturating_add(piece.len() as u64);
            meter.advance(&tensor.name, piece.len() as u64);
            Ok(())
        });
        read.map_err(|error| error.in_file(input))?;
        if done != tensor.len {
            let message = format!("tensor {:?}: need {} bytes of data, have {done}", tensor.name, tensor.len);
            return Err(ConvertError::format("truncated", message, None).in_file(input));
        }
        Ok(())
    }

    /// A buffered file at its path, which appears when it is [committed](commit).
    ///
    /// # Errors
    /// When it cannot be created.
    pub(crate) fn create(&self) -> Result<BufWriter<AtomicFile>, ConvertError> {
        Ok(BufWriter::with_capacity(BUFFER, AtomicFile::create(self.path)?))
    }
}

/// Puts a complete file in its place.
///
/// # Errors
/// When writing fails.
pub(crate) fn commit(out: BufWriter<AtomicFile>) -> Result<(), ConvertError> {
    out.into_inner().map_err(|error| ConvertError::Io(error.into_error()))?.commit()?;
    Ok(())
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

/// A small file, whole or not at all.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ConvertError> {
    let mut out = AtomicFile::create(path)?;
    out.write_all(bytes)?;
    out.commit()?;
    Ok(())
}

const BUFFER: usize = 1 << 20;
/// Bytes that the system copies between two reports of progress.
const STEP: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;
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
