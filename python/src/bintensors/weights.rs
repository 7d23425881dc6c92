//! An open file of weights: descriptions of its tensors, and where their bytes are.

use crate::array::{Layout, Pages};
use crate::buffer::Held;
use crate::promise::left_alone;
use bytes::Bytes;
use framewright::bintensors::{
    BinTensorError, DTYPE_KEY_PREFIX, Dtype, OwnedMetadata, ReadOptions, Shape, StoredDigests, TensorInfo,
    UserMetadata, logical,
};
use framewright::convert::{ConvertError, Format, TensorFile, check_manifest, safetensors_name, stored_digests};
use framewright::primitives::Span;
use framewright::source::{Buffers, FileSource, MappedFile, PrivateMap, ReadAt, drive, read_runs, stream};
use framewright::tensor::{ByteOrder, DType, Selection, TensorError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A file of weights. Slices and tensors keep it open.
pub(super) struct Weights {
    tensors: Tensors,
    /// The files that hold data: one, or the shards of an index.
    files: Vec<DataFile>,
    /// Where in them the arrays lie that were handed out, by file and first byte.
    handed_out: Mutex<HashSet<(usize, u64)>>,
    /// What the file keeps to check its tensors by, once it was asked for.
    digests: OnceLock<Digests>,
}

/// Digests, and the places of the tensors that they are of.
struct Digests {
    stored: StoredDigests,
    places: HashMap<String, usize>,
}

enum Tensors {
    /// A BinTensors file, whose header is its own index. The flag tells that some of its tensors carry newer types.
    Bin(OwnedMetadata, bool),
    /// A file of another format, or an index of several files. Its names are put into a map when one is first looked for.
    Any(Box<dyn TensorFile>, OnceLock<HashMap<String, usize>>),
}

/// One tensor.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub(super) dtype: DType,
    pub(super) shape: Shape,
    pub(super) place: Place,
}

/// Where the bytes of a tensor are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In this file, as they are.
    Bytes { file: usize, span: Span },
    /// Nowhere as they are: they are decoded from the entry of this number.
    Entry(usize),
}

impl Described {
    /// As an array of NumPy.
    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { dtype: self.dtype, order: ByteOrder::Little, shape: &self.shape }
    }

    /// The name of the element type in weight files, such as `BF16`.
    pub(super) fn type_name(&self) -> &'static str {
        let bin = || Dtype::from_common(self.dtype).map(Dtype::name);
        bin().or_else(|| safetensors_name(self.dtype)).unwrap_or_else(|| self.dtype.name())
    }
}

/// A file that holds data, mapped when that is first asked for.
struct DataFile {
    source: Source,
    /// For views that are only read.
    map: OnceLock<Bytes>,
    /// For arrays that may be written to.
    pages: PyOnceLock<Py<Pages>>,
}

enum Source {
    File(FileSource),
    Memory(Held),
}

impl Source {
    fn reader(&self) -> &(dyn ReadAt + Sync) {
        match self {
            Self::File(file) => file,
            Self::Memory(held) => held,
        }
    }
}

impl DataFile {
    fn new(source: Source) -> Self {
        Self { source, map: OnceLock::new(), pages: PyOnceLock::new() }
    }

    /// All bytes, mapped.
    fn bytes(&self) -> std::io::Result<Bytes> {
        if let Some(bytes) = self.map.get() {
            return Ok(bytes.clone());
        }
        let bytes = match &self.source {
            Source::Memory(held) => held.0.clone(),
            Source::File(file) => MappedFile::map_file(file, left_alone())?.bytes(),
        };
        Ok(self.map.get_or_init(|| bytes).clone())
    }

    fn read(&self, span: Span) -> std::io::Result<Vec<u8>> {
        let mut data = vec![0; usize::try_from(span.len()).map_err(std::io::Error::other)?];
        self.source.reader().read_exact_at(span.start, &mut data)?;
        Ok(data)
    }
}

impl Weights {
    /// Opens a BinTensors file, a safetensors file, an index of several or a directory with one, by its content.
    ///
    /// # Errors
    /// When it cannot be read or is wrong; what is none of them fails as a BinTensors file.
    pub(super) fn open(path: &Path) -> Result<Self, ConvertError> {
        if Format::of_name(path) == Some(Format::ShardIndex) || path.is_dir() {
            return Ok(Self::any(Format::ShardIndex.open(path, &ReadOptions::default())?, None));
        }
        let source = FileSource::open(path)?;
        let mut head = vec![0; source.len()?.min(HEAD_LEN) as usize];
        source.read_exact_at(0, &mut head)?;
        match is_safetensors(&head) {
            true => {
                // The same open file twice: nobody can replace it in between.
                let same = FileSource::of(source.file().try_clone()?, path);
                let file = Format::SafeTensors.open_source(same, "", &ReadOptions::default())?;
                Ok(Self::any(file, Some(Source::File(source))))
            }
            false => Ok(Self::bin(Source::File(source))?),
        }
    }

    /// The same for bytes in memory.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) fn of_bytes(bytes: Bytes) -> Result<Self, ConvertError> {
        let known = is_safetensors(bytes.get(..HEAD_LEN as usize).unwrap_or(&bytes));
        let held = Held(bytes);
        match known {
            true => {
                let file = Format::SafeTensors.open_source(held.clone(), "", &ReadOptions::default())?;
                Ok(Self::any(file, Some(Source::Memory(held))))
            }
            false => Ok(Self::bin(Source::Memory(held))?),
        }
    }

    fn bin(source: Source) -> Result<Self, BinTensorError> {
        let options = ReadOptions::default();
        let reader = source.reader();
        let len = reader.len()?;
        let metadata = drive(reader, &mut Buffers::default(), |have| OwnedMetadata::step(have, len, &options))?;
        let carries =
            metadata.metadata().is_some_and(|user| user.iter().any(|(key, _)| key.starts_with(DTYPE_KEY_PREFIX)));
        Ok(Self::new(Tensors::Bin(metadata, carries), vec![DataFile::new(source)]))
    }

    fn any(file: Box<dyn TensorFile>, source: Option<Source>) -> Self {
        let mut files = Vec::new();
        match source {
            Some(source) => files.push(DataFile::new(source)),
            // Shards that cannot be opened a second time are read through the index.
            None => {
                let shards = (0..file.entries().len()).filter_map(|index| Some(file.shard(index)?.0));
                let paths: std::collections::BTreeSet<&Path> = shards.collect();
                let opened = paths.into_iter().filter_map(|path| FileSource::open(path).ok());
                files.extend(opened.map(|file| DataFile::new(Source::File(file))));
            }
        }
        Self::new(Tensors::Any(file, OnceLock::new()), files)
    }

    fn new(tensors: Tensors, files: Vec<DataFile>) -> Self {
        Self { tensors, files, handed_out: Mutex::default(), digests: OnceLock::new() }
    }

    /// The name of the format.
    pub(super) fn format(&self) -> &'static str {
        match &self.tensors {
            Tensors::Bin(..) => Format::BinTensors.name(),
            Tensors::Any(file, _) => file.format().name(),
        }
    }

    /// The tensor of a name.
    pub(super) fn find(&self, name: &str) -> Option<Described> {
        match &self.tensors {
            Tensors::Bin(metadata, carries) => Some(of_info(metadata, &metadata.info(name)?, *carries)),
            Tensors::Any(file, places) => self.of_entry(&**file, place(&**file, places, name)?),
        }
    }

    /// Whether there is a tensor of that name.
    pub(super) fn contains(&self, name: &str) -> bool {
        match &self.tensors {
            Tensors::Bin(metadata, _) => metadata.info(name).is_some(),
            Tensors::Any(file, places) => place(&**file, places, name).is_some(),
        }
    }

    /// How many tensors there are.
    pub(super) fn len(&self) -> usize {
        match &self.tensors {
            Tensors::Bin(metadata, _) => metadata.len(),
            Tensors::Any(file, _) => file.entries().len(),
        }
    }

    /// Names in file order.
    pub(super) fn names(&self) -> Vec<&str> {
        match &self.tensors {
            Tensors::Bin(metadata, _) => metadata.names().collect(),
            Tensors::Any(file, _) => file.entries().iter().map(|entry| entry.name.as_str()).collect(),
        }
    }

    /// Hands every tensor to `take`, in file order.
    ///
    /// # Errors
    /// Those of `take`.
    pub(super) fn each<E>(&self, mut take: impl FnMut(&str, Described) -> Result<(), E>) -> Result<(), E> {
        match &self.tensors {
            Tensors::Bin(metadata, carries) => {
                metadata.infos().try_for_each(|info| take(info.name, of_info(metadata, &info, *carries)))
            }
            Tensors::Any(file, _) => (0..file.entries().len()).try_for_each(|index| {
                let Some(described) = self.of_entry(&**file, index) else { return Ok(()) };
                take(&file.entries()[index].name, described)
            }),
        }
    }

    /// The text map of the file, where it has one.
    pub(super) fn metadata(&self) -> Option<BTreeMap<String, String>> {
        match &self.tensors {
            Tensors::Bin(metadata, _) => metadata.metadata().as_ref().map(UserMetadata::to_map),
            Tensors::Any(file, _) => file.metadata().cloned(),
        }
    }

    /// The header of a BinTensors file, and the source that its tensors are in.
    pub(super) fn as_bin(&self) -> Option<(&OwnedMetadata, &(dyn ReadAt + Sync))> {
        match &self.tensors {
            Tensors::Bin(metadata, _) => Some((metadata, self.files.first()?.source.reader())),
            Tensors::Any(..) => None,
        }
    }

    /// The file of any other format.
    pub(super) fn as_any(&self) -> Option<&dyn TensorFile> {
        match &self.tensors {
            Tensors::Bin(..) => None,
            Tensors::Any(file, _) => Some(&**file),
        }
    }

    fn of_entry(&self, file: &dyn TensorFile, index: usize) -> Option<Described> {
        let entry = file.entries().get(index)?;
        let at = |path: &Path| {
            self.files.iter().position(|data| matches!(&data.source, Source::File(file) if file.path() == path))
        };
        let shard = || file.shard(index).and_then(|(path, span)| Some((at(path)?, span)));
        let place = match entry.span.map(|span| (0, span)).or_else(shard) {
            Some((file, span)) => Place::Bytes { file, span },
            None => Place::Entry(index),
        };
        Some(Described { dtype: entry.dtype, shape: entry.shape.as_slice().into(), place })
    }

    /// The elements, read into memory of their own.
    ///
    /// # Errors
    /// When reading fails.
    pub(super) fn elements(&self, described: &Described) -> Result<Vec<u8>, ConvertError> {
        match (described.place, &self.tensors) {
            (Place::Bytes { file, span }, _) => Ok(self.data_file(file)?.read(span)?),
            (Place::Entry(index), Tensors::Any(file, _)) => file.data(index),
            (Place::Entry(index), Tensors::Bin(..)) => Err(ConvertError::NotFound(format!("#{index}"))),
        }
    }

    /// Compares a tensor with the digest that the file has of it.
    ///
    /// # Errors
    /// `missing_digest`, `checksum_mismatch`; when reading fails.
    pub(super) fn compare(&self, name: &str, described: &Described) -> Result<(), ConvertError> {
        let Digests { stored, places } = self.digests.get_or_init(|| self.digests());
        let missing = || {
            let message = format!("the file has no digest of tensor {name:?}");
            ConvertError::format("missing_digest", message, None)
        };
        let place = places.get(name).copied().ok_or_else(missing)?;
        let check = stored.check(place, name, described.dtype, &described.shape)?;
        let mut check = check.ok_or_else(missing)?;
        match (described.place, &self.tensors) {
            (Place::Bytes { file, span }, _) => {
                stream::<std::io::Error>(self.data_file(file)?.source.reader(), span, |piece| {
                    check.update(piece);
                    Ok(())
                })?;
            }
            (Place::Entry(index), Tensors::Any(file, _)) => file.stream(index, &mut |piece| {
                check.update(piece);
                Ok(())
            })?,
            (Place::Entry(index), Tensors::Bin(..)) => return Err(ConvertError::NotFound(format!("#{index}"))),
        }
        Ok(check.finish()?)
    }

    /// Compares the digest of the manifest that the file has, if it has one, with the digests of its tensors; no data is read.
    ///
    /// # Errors
    /// `manifest_mismatch`.
    pub(super) fn check_manifest(&self) -> Result<(), ConvertError> {
        match &self.tensors {
            Tensors::Any(file, _) => check_manifest(&**file),
            Tensors::Bin(..) => {
                let mut tensors = Vec::new();
                self.each::<ConvertError>(|name, described| {
                    tensors.push((name.to_owned(), described));
                    Ok(())
                })?;
                let all =
                    tensors.iter().map(|(name, described)| (name.as_str(), described.dtype, &described.shape[..]));
                Ok(self.digests.get_or_init(|| self.digests()).stored.check_manifest(all)?)
            }
        }
    }

    fn digests(&self) -> Digests {
        let names = self.names();
        let stored = match &self.tensors {
            Tensors::Any(file, _) => stored_digests(&**file),
            Tensors::Bin(metadata, _) => {
                let user = metadata.metadata();
                StoredDigests::new(names.iter().copied(), user.into_iter().flat_map(|user| user.iter()))
            }
        };
        let places = names.iter().enumerate().map(|(place, name)| ((*name).to_owned(), place)).collect();
        Digests { stored, places }
    }

    /// Part of the elements, and its shape; only that part is read.
    ///
    /// # Errors
    /// When the selection does not fit, or reading fails.
    pub(super) fn part(
        &self,
        described: &Described,
        selection: &Selection,
    ) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let (file, span) = match (described.place, &self.tensors) {
            (Place::Bytes { file, span }, _) => (file, span),
            (Place::Entry(index), Tensors::Any(file, _)) => return file.slice(index, selection),
            (Place::Entry(index), Tensors::Bin(..)) => return Err(ConvertError::NotFound(format!("#{index}"))),
        };
        let plan = selection.plan(&described.shape)?;
        let Some(width) = described.dtype.byte_width() else {
            // Elements that share bytes are read all together or not at all.
            if plan.shape() == &*described.shape && plan.run_count() <= 1 {
                return Ok((described.shape.to_vec(), self.elements(described)?));
            }
            return Err(TensorError::Unsliceable { dtype: described.dtype }.into());
        };
        let bytes = |elements: u64| elements.saturating_mul(width as u64);
        let len = |elements: u64| usize::try_from(bytes(elements)).map_err(std::io::Error::other);
        let mut taken = vec![0; len(plan.element_count())?];
        let places = plan.runs().map(|run| span.start.saturating_add(bytes(run.start)));
        read_runs(self.data_file(file)?.source.reader(), places, len(plan.run_len())?, &mut taken)?;
        Ok((plan.shape().to_vec(), taken))
    }

    /// The elements where they are, to be read only; `None` when they must be decoded or do not lie on their boundaries.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub(super) fn in_place(&self, described: &Described) -> std::io::Result<Option<Bytes>> {
        let Place::Bytes { file, span } = described.place else { return Ok(None) };
        let bytes = self.data_file(file)?.bytes()?;
        let Some(range) = range_of(span).filter(|range| range.end <= bytes.len()) else { return Ok(None) };
        Ok(Some(bytes.slice(range)))
    }

    /// The file as private memory, and the part of it that a tensor takes; `None` when the elements must be decoded, or do not lie
    /// on the boundaries that their type needs. Each tensor of the shared memory is handed out once: a second array of
    /// it must not see what was written to the first, and gets memory of its own.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub(super) fn pages<'py>(
        &self,
        py: Python<'py>,
        described: &Described,
        sharing: Sharing,
    ) -> PyResult<Option<(Bound<'py, Pages>, Range<usize>)>> {
        let Place::Bytes { file, span } = described.place else { return Ok(None) };
        let width = described.dtype.swap_unit().max(1) as u64;
        let Some(range) = range_of(span).filter(|_| span.start.is_multiple_of(width)) else { return Ok(None) };
        let data = self.data_file(file)?;
        let Source::File(source) = &data.source else { return Ok(None) };
        let fresh = || Py::new(py, Pages { map: PrivateMap::map(source, left_alone())? });
        let again = sharing == Sharing::Apart && {
            let mut handed_out = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
            !handed_out.insert((file, span.start))
        };
        let pages =
            if again { fresh()?.into_bound(py) } else { data.pages.get_or_try_init(py, fresh)?.bind(py).clone() };
        // The file may have been replaced by a shorter one since its header was read.
        if range.end > pages.get().map.len() {
            return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the file became shorter").into());
        }
        Ok(Some((pages, range)))
    }

    fn data_file(&self, file: usize) -> std::io::Result<&DataFile> {
        self.files.get(file).ok_or_else(|| std::io::Error::other("internal error: no such file; please report it"))
    }
}

/// Whether arrays of one tensor see each other's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// They do, as those of PyTorch in the reference.
    Together,
    /// They do not, as those of NumPy in the reference.
    Apart,
}

/// The entry of a name.
fn place(file: &dyn TensorFile, places: &OnceLock<HashMap<String, usize>>, name: &str) -> Option<usize> {
    let named = || file.entries().iter().enumerate().map(|(index, entry)| (entry.name.clone(), index)).collect();
    places.get_or_init(named).get(name).copied()
}

fn of_info(metadata: &OwnedMetadata, info: &TensorInfo<'_>, carries: bool) -> Described {
    let place = Place::Bytes { file: 0, span: metadata.span(info) };
    if carries && info.dtype == Dtype::U8 {
        let user = metadata.metadata();
        let (dtype, shape) = logical(info, |key| user.and_then(|user| user.get(key)));
        return Described { dtype, shape: shape.into(), place };
    }
    Described { dtype: info.dtype.common(), shape: info.shape.clone(), place }
}

fn range_of(span: Span) -> Option<Range<usize>> {
    Some(usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?)
}

/// Whether bytes begin a safetensors file: a JSON object after eight bytes, of which the first could also be a wrong byte of a
/// BinTensors file.
fn is_safetensors(head: &[u8]) -> bool {
    let object = head.get(9).is_some_and(|next| b"\"} \t\r\n".contains(next));
    object && Format::of_bytes(head) == Some(Format::SafeTensors)
}

/// An open file, as long as anything needs it.
pub(super) type Shared = Arc<Weights>;

/// A path: text, bytes, or an object that is one.
pub(super) struct FilePath(pub(super) PathBuf);

impl<'a, 'py> FromPyObject<'a, 'py> for FilePath {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let decoded = object.py().import("os")?.call_method1("fsdecode", (object,))?;
        decoded.extract().map(Self)
    }
}

/// Enough to tell formats by.
const HEAD_LEN: u64 = 16;
