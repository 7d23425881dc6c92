//! Infos first, then tensors in any order, from any thread, in pieces of any size: files larger than memory.

use super::digested::{subject, with_digests};
use super::{Plan, PlannedTensor, WriteOptions};
use crate::digest::{Algorithm, Hasher, ManifestEntry, TensorHasher};
use crate::error::BinTensorError;
use crate::{Dtype, Shape};
use fw_source::{AtomicFile, ReadAt};
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// A file whose header is already settled and whose tensors arrive in any order.
///
/// ```
/// use fw_bintensors::{Algorithm, Dtype, PlannedWriter, Reader, WriteOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.bt");
/// let infos = [("bias", Dtype::F32, vec![2]), ("weight", Dtype::F32, vec![2, 2])];
/// let writer = PlannedWriter::create(&path, infos, &WriteOptions::new())?.with_file_digest(Algorithm::Sha256);
/// std::thread::scope(|scope| {
///     scope.spawn(|| writer.write("weight", &[1; 16]));
///     scope.spawn(|| writer.write("bias", &[2; 8]));
/// });
/// let written = writer.finish()?;
/// assert_eq!(written.digest.map(|digest| digest.len()), Some(32));
/// assert_eq!(Reader::open(&path)?.tensor("bias")?, [2; 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PlannedWriter {
    plan: Plan,
    options: WriteOptions,
    file: AtomicFile,
    index: HashMap<String, usize>,
    state: Mutex<State>,
    progress: Option<Box<ProgressFn>>,
    tensor_digests: Option<Algorithm>,
}

type ProgressFn = dyn Fn(Progress) + Send + Sync;

/// How far a planned write has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of tensor data written.
    pub bytes_done: u64,
    /// Bytes of tensor data planned.
    pub bytes_total: u64,
    /// Tensors complete.
    pub tensors_done: usize,
    /// Tensors planned.
    pub tensors_total: usize,
}

/// A finished file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Bytes of the file.
    pub file_len: u64,
    /// The digest of all its bytes, when one was asked for.
    pub digest: Option<Vec<u8>>,
}

#[derive(Debug)]
struct State {
    slots: Vec<Slot>,
    bytes_done: u64,
    tensors_done: usize,
    file_hash: Option<FileHash>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Slot {
    Waiting,
    Open(u64),
    Done(Option<String>),
}

/// A digest of the whole file that follows writes while they come in file order and catches up at the end.
#[derive(Debug)]
struct FileHash {
    hasher: Hasher,
    done: u64,
}

impl PlannedWriter {
    /// Starts a file: plans it, and writes the header to a temporary file beside `path`.
    ///
    /// # Errors
    /// Those of [`Plan::new`], and when the file cannot be made.
    pub fn create<S: Into<String>, D: Into<Shape>>(
        path: impl AsRef<Path>,
        tensors: impl IntoIterator<Item = (S, Dtype, D)>,
        options: &WriteOptions,
    ) -> Result<Self, BinTensorError> {
        let tensors: Vec<(String, Dtype, Shape)> =
            tensors.into_iter().map(|(name, dtype, shape)| (name.into(), dtype, shape.into())).collect();
        let mut options = options.clone();
        if let Some(algorithm) = options.tensor_digests {
            // Digests have a fixed length: the header can be laid out before they are known.
            let blank = algorithm.spell(&vec![0; algorithm.digest_len()]);
            let entry = |(name, dtype, shape): &(String, Dtype, Shape)| {
                let (dtype, shape) = subject(&options, name, *dtype, shape);
                ManifestEntry { name: name.clone(), dtype, shape, digest: blank.clone() }
            };
            let entries = tensors.iter().map(entry).collect();
            options = with_digests(options, entries)?;
        }
        let plan = Plan::new(tensors, &options)?;
        let file = AtomicFile::create(path)?;
        file.file().set_len(plan.file_len())?;
        write_all_at(file.file(), plan.head(), 0)?;
        let index = plan.tensors().iter().enumerate().map(|(place, tensor)| (tensor.name.clone(), place)).collect();
        let state =
            State { slots: vec![Slot::Waiting; plan.tensors().len()], bytes_done: 0, tensors_done: 0, file_hash: None };
        let tensor_digests = options.tensor_digests;
        Ok(Self { plan, options, file, index, state: Mutex::new(state), progress: None, tensor_digests })
    }

    /// Calls `progress` after every piece written, from the thread that wrote it.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Computes the digest of the whole file: on the fly as far as tensors come in file order, by reading back the rest.
    #[must_use]
    pub fn with_file_digest(self, algorithm: Algorithm) -> Self {
        let mut hasher = algorithm.hasher();
        // With digests of tensors the header changes at the end, so nothing can be hashed before.
        let done = if self.tensor_digests.is_some() {
            0
        } else {
            hasher.update(self.plan.head());
            self.plan.head().len() as u64
        };
        self.lock().file_hash = Some(FileHash { hasher, done });
        self
    }

    /// Writes a whole tensor.
    ///
    /// # Errors
    /// `TensorNotFound` for a name outside the plan, `IncompleteWrite` for another length or a second time, or when
    /// writing fails.
    pub fn write(&self, name: &str, data: &[u8]) -> Result<(), BinTensorError> {
        let mut writer = self.tensor(name)?;
        writer.put(data)?;
        writer.finish()
    }

    /// Opens a tensor for writing piece by piece.
    ///
    /// # Errors
    /// `TensorNotFound` for a name outside the plan, `IncompleteWrite` when it was opened before.
    pub fn tensor(&self, name: &str) -> Result<TensorWriter<'_>, BinTensorError> {
        let missing = || BinTensorError::TensorNotFound(name.to_owned());
        let place = *self.index.get(name).ok_or_else(missing)?;
        let (start, end) = self.plan.tensors().get(place).ok_or_else(missing)?.data_offsets;
        let mut state = self.lock();
        let slot = state.slots.get_mut(place).ok_or_else(missing)?;
        if *slot != Slot::Waiting {
            let (expected, found) = (end.saturating_sub(start), end.saturating_sub(start).saturating_mul(2));
            return Err(BinTensorError::IncompleteWrite { name: name.to_owned(), expected, found });
        }
        *slot = Slot::Open(0);
        drop(state);
        let hasher = match (self.tensor_digests, self.plan.tensors().get(place)) {
            (Some(algorithm), Some(tensor)) => {
                let (dtype, shape) = subject(&self.options, name, tensor.dtype, &tensor.shape);
                Some(TensorHasher::new(algorithm, name, dtype, &shape))
            }
            _ => None,
        };
        let base = self.plan.head().len() as u64;
        let (position, end) = (base.saturating_add(start), base.saturating_add(end));
        Ok(TensorWriter { owner: self, place, start: position, position, end, hasher })
    }

    /// The layout.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Completes the header, flushes everything to disk and renames the file into place.
    ///
    /// # Errors
    /// `IncompleteWrite` naming the first tensor that is not complete, or when writing fails. The target is untouched
    /// then, and the temporary file is gone.
    pub fn finish(self) -> Result<Written, BinTensorError> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (tensor, slot) in self.plan.tensors().iter().zip(&state.slots) {
            let found = match slot {
                Slot::Done(_) => continue,
                Slot::Waiting => 0,
                Slot::Open(written) => *written,
            };
            let expected = tensor.data_offsets.1.saturating_sub(tensor.data_offsets.0);
            return Err(BinTensorError::IncompleteWrite { name: tensor.name.clone(), expected, found });
        }
        let mut plan = self.plan;
        if self.tensor_digests.is_some() {
            plan = digested(plan, self.options, &state.slots)?;
            write_all_at(self.file.file(), plan.head(), 0)?;
        }
        let file_len = plan.file_len();
        let digest = match state.file_hash {
            None => None,
            Some(mut hash) => {
                hash.hasher.read(&BorrowedFile(self.file.file()), hash.done, file_len)?;
                Some(hash.hasher.finish())
            }
        };
        self.file.commit()?;
        Ok(Written { file_len, digest })
    }

    fn advance(&self, place: usize, at: u64, data: &[u8], tensor_done: u64) {
        let mut state = self.lock();
        state.bytes_done = state.bytes_done.saturating_add(data.len() as u64);
        if let Some(slot) = state.slots.get_mut(place) {
            *slot = Slot::Open(tensor_done);
        }
        if let Some(hash) = &mut state.file_hash
            && hash.done == at
            && self.tensor_digests.is_none()
        {
            hash.hasher.update(data);
            hash.done = hash.done.saturating_add(data.len() as u64);
        }
        self.report(state);
    }

    fn close(&self, place: usize, digest: Option<String>) {
        let mut state = self.lock();
        state.tensors_done = state.tensors_done.saturating_add(1);
        if let Some(slot) = state.slots.get_mut(place) {
            *slot = Slot::Done(digest);
        }
        self.report(state);
    }

    fn report(&self, state: MutexGuard<'_, State>) {
        let progress = Progress {
            bytes_done: state.bytes_done,
            bytes_total: self.plan.data_len(),
            tensors_done: state.tensors_done,
            tensors_total: self.plan.tensors().len(),
        };
        // The callback runs outside the lock: it may take its time, or write another tensor.
        drop(state);
        if let Some(callback) = &self.progress {
            callback(progress);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent after every statement that changes it, also when a callback panicked.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl fmt::Debug for PlannedWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlannedWriter").field("file_len", &self.plan.file_len()).finish_non_exhaustive()
    }
}

/// One tensor of a planned file, written piece by piece; [`TensorWriter::finish`] closes it.
#[derive(Debug)]
pub struct TensorWriter<'a> {
    owner: &'a PlannedWriter,
    place: usize,
    start: u64,
    position: u64,
    end: u64,
    hasher: Option<TensorHasher>,
}

impl TensorWriter<'_> {
    /// Appends bytes.
    ///
    /// # Errors
    /// `IncompleteWrite` when they are more than planned; nothing is written then. Or when writing fails.
    pub fn put(&mut self, data: &[u8]) -> Result<(), BinTensorError> {
        let end = self.position.saturating_add(data.len() as u64);
        if end > self.end {
            return Err(self.wrong_length(end));
        }
        write_all_at(self.owner.file.file(), data, self.position)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(data);
        }
        let at = std::mem::replace(&mut self.position, end);
        self.owner.advance(self.place, at, data, end.saturating_sub(self.start));
        Ok(())
    }

    /// Closes the tensor.
    ///
    /// # Errors
    /// `IncompleteWrite` when fewer bytes came than planned.
    pub fn finish(mut self) -> Result<(), BinTensorError> {
        if self.position != self.end {
            return Err(self.wrong_length(self.position));
        }
        self.owner.close(self.place, self.hasher.take().map(TensorHasher::finish));
        Ok(())
    }

    fn wrong_length(&self, end: u64) -> BinTensorError {
        let name = self.owner.plan.tensors().get(self.place).map_or_else(String::new, |tensor| tensor.name.clone());
        let (expected, found) = (self.end.saturating_sub(self.start), end.saturating_sub(self.start));
        BinTensorError::IncompleteWrite { name, expected, found }
    }
}

impl io::Write for TensorWriter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self.put(data) {
            Ok(()) => Ok(data.len()),
            Err(BinTensorError::IoError(error)) => Err(error),
            Err(other) => Err(io::Error::other(other)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The same plan with the digests in place of the blanks; every length stays as it was.
fn digested(plan: Plan, options: WriteOptions, slots: &[Slot]) -> Result<Plan, BinTensorError> {
    let entry = |(tensor, slot): (&PlannedTensor, &Slot)| {
        let Slot::Done(Some(digest)) = slot else { return None };
        let (dtype, shape) = subject(&options, &tensor.name, tensor.dtype, &tensor.shape);
        Some(ManifestEntry { name: tensor.name.clone(), dtype, shape, digest: digest.clone() })
    };
    let entries = plan.tensors().iter().zip(slots).filter_map(entry).collect();
    let options = with_digests(options, entries)?;
    let tensors = plan.tensors().iter().map(|tensor| (tensor.name.clone(), tensor.dtype, tensor.shape.clone()));
    let finished = Plan::new(tensors, &options)?;
    debug_assert_eq!(finished.head().len(), plan.head().len());
    Ok(finished)
}

struct BorrowedFile<'a>(&'a File);

impl ReadAt for BorrowedFile<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self.0, buffer, offset)
    }

    #[cfg(not(unix))]
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        // Only called once every writer is done.
        let mut file = self.0;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, data: &[u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, data, position)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut data: &[u8], mut position: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !data.is_empty() {
        let written = file.seek_write(data, position)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        data = data.get(written..).unwrap_or(&[]);
        position = position.saturating_add(written as u64);
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn write_all_at(_file: &File, _data: &[u8], _position: u64) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "positioned writes are not available on this platform"))
}
