//! A file read range by range: the header when it is opened, then only what is asked for.

use crate::{BinTensorError, OwnedMetadata, ReadOptions, TensorInfo};
use fw_source::{Buffers, FileSource, ReadAt, drive, read_runs};
use fw_tensor::Selection;
use std::path::Path;

/// A file behind any source of byte ranges. Opening reads the header in one or two requests; the data section is
/// touched only by the reads that need it.
///
/// Safe for files that others replace or cut short while they are open: a lost byte is an error, never a crash. For
/// reading in place from a map, give the map's bytes to [`crate::BinTensors`].
#[derive(Debug)]
pub struct Reader<S> {
    source: S,
    metadata: OwnedMetadata,
}

impl Reader<FileSource> {
    /// Opens a file with the default profile.
    ///
    /// # Errors
    /// When the file cannot be read, and the faults of BT-7 and BT-8.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, BinTensorError> {
        Self::open_with(path, &ReadOptions::default())
    }

    /// Opens a file.
    ///
    /// # Errors
    /// When the file cannot be read, and the faults of BT-7 and of the profile.
    pub fn open_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, BinTensorError> {
        Self::new(FileSource::open(path)?, options)
    }
}

impl<S: ReadAt> Reader<S> {
    /// Opens a file behind `source`.
    ///
    /// # Errors
    /// When the source cannot be read, and the faults of BT-7 and of the profile.
    pub fn new(source: S, options: &ReadOptions) -> Result<Self, BinTensorError> {
        let len = source.len()?;
        let metadata = drive(&source, &mut Buffers::new(), |have| OwnedMetadata::step(have, len, options))?;
        Ok(Self { source, metadata })
    }

    /// What the header says.
    pub const fn metadata(&self) -> &OwnedMetadata {
        &self.metadata
    }

    /// Where the bytes come from.
    pub const fn source(&self) -> &S {
        &self.source
    }

    /// The description of a tensor.
    ///
    /// # Errors
    /// `TensorNotFound`.
    pub fn info(&self, name: &str) -> Result<TensorInfo<'_>, BinTensorError> {
        self.metadata.info(name).ok_or_else(|| BinTensorError::TensorNotFound(name.to_owned()))
    }

    /// The bytes of a tensor.
    ///
    /// # Errors
    /// `TensorNotFound`, or when the source fails.
    pub fn tensor(&self, name: &str) -> Result<Vec<u8>, BinTensorError> {
        let info = self.info(name)?;
        let mut bytes = zeroed(info.data_len())?;
        self.source.read_exact_at(self.metadata.span(&info).start, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the bytes of a tensor into `buffer`, which must have exactly their length.
    ///
    /// # Errors
    /// `TensorNotFound`, `TensorInvalidInfo` for a buffer of another length, or when the source fails.
    pub fn read_into(&self, name: &str, buffer: &mut [u8]) -> Result<(), BinTensorError> {
        let info = self.info(name)?;
        let (expected, found) = (info.data_len(), buffer.len() as u64);
        if expected != found {
            return Err(BinTensorError::TensorInvalidInfo { name: name.to_owned(), expected, found });
        }
        Ok(self.source.read_exact_at(self.metadata.span(&info).start, buffer)?)
    }

    /// The shape and bytes of a slice, read by as few requests as its runs allow.
    ///
    /// # Errors
    /// `TensorNotFound`, `InvalidSlice`, or when the source fails.
    pub fn slice(&self, name: &str, selection: impl Into<Selection>) -> Result<(Vec<u64>, Vec<u8>), BinTensorError> {
        let info = self.info(name)?;
        let plan = selection.into().plan(&info.shape)?;
        // The elements lie inside the tensor, whose last byte the header check has reached.
        let (start, size) = (self.metadata.span(&info).start, info.dtype.size());
        let mut bytes = zeroed(plan.element_count().saturating_mul(size))?;
        let run = usize::try_from(plan.run_len().saturating_mul(size)).map_err(std::io::Error::other)?;
        let places = plan.runs().map(|run| start.saturating_add(run.start.saturating_mul(size)));
        read_runs(&self.source, places, run, &mut bytes)?;
        Ok((plan.shape().to_vec(), bytes))
    }
}

/// A buffer for bytes that the header check has proved to be in the source.
fn zeroed(len: u64) -> Result<Vec<u8>, BinTensorError> {
    let len = usize::try_from(len).map_err(std::io::Error::other)?;
    Ok(vec![0; len])
}
