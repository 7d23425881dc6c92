//! Everything at once: to memory, to a writer, to a file.

use super::digested::{subject, with_digests};
use super::plan::{Row, byte_len, canonical_order, encode_head};
use super::{View, WriteOptions};
use crate::digest::{Algorithm, ManifestEntry, tensor_digest};
use crate::error::BinTensorError;
use digest::Digest;
use fw_bytes::interrupt;
use fw_source::{AtomicFile, Watch};
use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A file in memory. The bytes depend on the tensors and the metadata alone, not on the order in which they come.
///
/// # Errors
/// `TensorInvalidInfo` when a tensor's length does not match its shape, `ValidationMismatch` for a name given twice,
/// `ValidationOverflow`, `HeaderTooLarge`.
pub fn serialize<S: AsRef<str>, V: View>(
    tensors: impl IntoIterator<Item = (S, V)>,
    metadata: &Option<HashMap<String, String>>,
) -> Result<Vec<u8>, BinTensorError> {
    serialize_with(tensors, &with_map(metadata))
}

/// A file in memory, with options.
///
/// # Errors
/// As [`serialize`].
pub fn serialize_with<S: AsRef<str>, V: View>(
    tensors: impl IntoIterator<Item = (S, V)>,
    options: &WriteOptions,
) -> Result<Vec<u8>, BinTensorError> {
    let prepared = Prepared::new(tensors, options)?;
    let total = prepared.file_len();
    let mut bytes = Vec::new();
    // A total that does not fit in memory is an error, not an abort.
    let reserved = usize::try_from(total).ok().and_then(|total| bytes.try_reserve_exact(total).ok());
    reserved.ok_or_else(|| BinTensorError::EncodeError(format!("{total} bytes do not fit in memory")))?;
    prepared.write(&mut bytes)?;
    Ok(bytes)
}

/// A file in memory beside the digest of all its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestBuffer {
    /// The digest.
    pub checksum: Vec<u8>,
    /// The file.
    pub buffer: Vec<u8>,
}

/// A file in memory beside the digest of all its bytes. The bytes are those of [`serialize`].
///
/// # Errors
/// As [`serialize`].
pub fn serialize_with_checksum<S: AsRef<str>, V: View, D: Digest>(
    tensors: impl IntoIterator<Item = (S, V)>,
    metadata: &Option<HashMap<String, String>>,
    hasher: D,
) -> Result<DigestBuffer, BinTensorError> {
    let buffer = serialize(tensors, metadata)?;
    let checksum = hasher.chain_update(&buffer).finalize().to_vec();
    Ok(DigestBuffer { checksum, buffer })
}

/// Writes a file whole or not at all: a temporary file beside the target, renamed when it is complete. Whoever has the
/// old file open or mapped keeps it. One tensor's data is in memory at a time.
///
/// # Errors
/// As [`serialize`], and when writing fails; the old file is then still there.
pub fn serialize_to_file<S: AsRef<str>, V: View>(
    tensors: impl IntoIterator<Item = (S, V)>,
    metadata: &Option<HashMap<String, String>>,
    path: impl AsRef<Path>,
) -> Result<(), BinTensorError> {
    serialize_to_file_with(tensors, &with_map(metadata), path)
}

/// Writes a file whole or not at all, with options.
///
/// # Errors
/// As [`serialize_to_file`].
pub fn serialize_to_file_with<S: AsRef<str>, V: View>(
    tensors: impl IntoIterator<Item = (S, V)>,
    options: &WriteOptions,
    path: impl AsRef<Path>,
) -> Result<(), BinTensorError> {
    Prepared::new(tensors, options)?.write_file(path, &Watch::default())
}

/// Writes a file to any writer, one tensor's data in memory at a time.
///
/// # Errors
/// As [`serialize`], and when writing fails.
pub fn serialize_to_writer<S: AsRef<str>, V: View>(
    tensors: impl IntoIterator<Item = (S, V)>,
    options: &WriteOptions,
    mut out: impl Write,
) -> Result<(), BinTensorError> {
    Prepared::new(tensors, options)?.write(&mut out)?;
    Ok(out.flush()?)
}

/// Tensors that are ready to be written: header and order are settled, and so is the length of the file.
///
/// ```
/// use fw_bintensors::{Dtype, Prepared, TensorView, WriteOptions};
///
/// let tensors = [("w", TensorView::new(Dtype::U8, [3], &[1, 2, 3])?)];
/// let prepared = Prepared::new(tensors, &WriteOptions::new())?;
/// let mut room = vec![0; prepared.file_len() as usize];
/// prepared.write(&mut &mut room[..])?;
/// assert!(room.ends_with(&[1, 2, 3]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Prepared<S, V> {
    head: Vec<u8>,
    data_len: u64,
    items: Vec<(S, V)>,
    order: Vec<u32>,
}

impl<S: AsRef<str>, V: View> Prepared<S, V> {
    /// Settles header and order.
    ///
    /// # Errors
    /// As [`serialize_with`].
    pub fn new(tensors: impl IntoIterator<Item = (S, V)>, options: &WriteOptions) -> Result<Self, BinTensorError> {
        let items: Vec<(S, V)> = tensors.into_iter().collect();
        let order = canonical_order(&items, |(name, view)| (view.dtype(), name.as_ref()))?;
        let mut rows = Vec::with_capacity(items.len());
        for (name, view) in order.iter().filter_map(|place| items.get(*place as usize)) {
            let (name, dtype, shape, found) = (name.as_ref(), view.dtype(), view.shape(), view.data_len());
            let expected = byte_len(name, dtype, shape)?;
            if expected != found {
                return Err(BinTensorError::TensorInvalidInfo { name: name.to_owned(), expected, found });
            }
            rows.push(Row { name, dtype, shape, len: found });
        }
        let (head, data_len) = match options.tensor_digests {
            None => encode_head(&rows, options)?,
            Some(algorithm) => encode_head(&rows, &digested(options, algorithm, &items)?)?,
        };
        Ok(Self { head, data_len, items, order })
    }

    /// Bytes of the whole file.
    pub fn file_len(&self) -> u64 {
        (self.head.len() as u64).saturating_add(self.data_len)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When writing fails, or a tensor does not hand over as many bytes as it said.
    pub fn write(&self, out: &mut impl Write) -> Result<(), BinTensorError> {
        self.write_watched(out, &Watch::default())
    }

    /// Writes the file whole or not at all; `watch` hears how many of its bytes are written.
    ///
    /// # Errors
    /// As [`write`](Self::write); the old file is then still there.
    pub fn write_file(&self, path: impl AsRef<Path>, watch: &Watch) -> Result<(), BinTensorError> {
        let mut file = AtomicFile::create(path)?;
        let mut buffered = BufWriter::with_capacity(WRITE_BUFFER, &mut file);
        self.write_watched(&mut buffered, watch)?;
        buffered.flush()?;
        drop(buffered);
        file.commit()?;
        Ok(())
    }

    fn write_watched(&self, out: &mut impl Write, watch: &Watch) -> Result<(), BinTensorError> {
        out.write_all(&self.head)?;
        let mut done = self.head.len() as u64;
        for (name, view) in self.order.iter().filter_map(|place| self.items.get(*place as usize)) {
            let data = view.data();
            let (expected, found) = (view.data_len(), data.len() as u64);
            if expected != found {
                return Err(BinTensorError::TensorInvalidInfo { name: name.as_ref().to_owned(), expected, found });
            }
            // In steps, so that watched work can be stopped in the middle of a large tensor.
            for step in data.chunks(STEP) {
                interrupt::check();
                out.write_all(step)?;
                done = done.saturating_add(step.len() as u64);
                watch.tell(done, self.file_len());
            }
        }
        Ok(())
    }
}

/// The header comes first, so each tensor is asked for its data once more, to hash it.
fn digested<S: AsRef<str>, V: View>(
    options: &WriteOptions,
    algorithm: Algorithm,
    items: &[(S, V)],
) -> Result<WriteOptions, BinTensorError> {
    let entry = |(name, view): &(S, V)| {
        let name = name.as_ref();
        let (dtype, shape) = subject(options, name, view.dtype(), view.shape());
        let digest = tensor_digest(algorithm, name, dtype, &shape, &view.data());
        ManifestEntry { name: name.to_owned(), dtype, shape, digest }
    };
    with_digests(options.clone(), items.iter().map(entry).collect())
}

fn with_map(metadata: &Option<HashMap<String, String>>) -> WriteOptions {
    let metadata = metadata.as_ref().map(|map| map.iter().map(|(key, value)| (key.clone(), value.clone())).collect());
    WriteOptions { metadata, ..WriteOptions::default() }
}

/// Small tensors are gathered into writes of this size; larger ones go straight through.
const WRITE_BUFFER: usize = 1 << 20;
/// Bytes written between two reports. No less than the buffer, which larger writes go past.
const STEP: usize = 16 << 20;
