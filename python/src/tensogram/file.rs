//! `TensogramFile`: messages in files and stores.

use super::descriptor::PyDescriptor;
use super::follow::PyTensogramFileFollow;
use super::html;
use super::input::{self, Take};
use super::iter::advance;
use super::metadata::PyMetadata;
use super::options::{decode_options, encode_options};
use super::output::{self, Elements};
use crate::errors::OrRaise;
use crate::html::escaped;
use crate::interrupt::released;
use crate::promise::left_alone;
use bytes::Bytes;
use framewright::primitives::Span;
use framewright::source::remote::StoreOptions;
use framewright::tensogram::{
    self as tgm, DecodeOptions, MessageDescription, MessageIndex, RemoteFile, TensogramFile, is_remote_url, open_source,
};
use pyo3::exceptions::{PyIndexError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice, PyTuple};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A file of messages: on a disk, or in a store by its URL. It may be shared between threads.
#[pyclass(frozen, module = "fwright.tensogram", name = "TensogramFile")]
pub(crate) struct PyTensogramFile {
    backing: Backing,
    source: String,
    storage_options: Vec<(String, String)>,
    /// The last map that was made of a local file.
    mapped: Mutex<Option<TensogramFile>>,
}

enum Backing {
    Local(Box<TensogramFile>),
    Remote(RemoteFile),
}

/// Asks the file, wherever it is, with the interpreter released.
macro_rules! ask {
    ($self:expr, $py:expr, |$file:ident| $work:expr) => {
        released($py, || match &$self.backing {
            Backing::Local($file) => $work,
            Backing::Remote($file) => $work,
        })?
        .or_raise($py)
    };
}

impl PyTensogramFile {
    fn local(source: String, file: TensogramFile) -> Self {
        Self { backing: Backing::Local(Box::new(file)), source, storage_options: Vec::new(), mapped: Mutex::default() }
    }

    fn remote(py: Python<'_>, source: String, storage_options: Vec<(String, String)>) -> PyResult<Self> {
        let options = store_options(&storage_options);
        let file = released(py, || open_source(&source, &options))?.or_raise(py)?;
        Ok(Self { backing: Backing::Remote(file), source, storage_options, mapped: Mutex::default() })
    }

    pub(super) fn decoded<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        options: &DecodeOptions,
    ) -> PyResult<Bound<'py, PyAny>> {
        let decoded = ask!(self, py, |file| file.decode_message(index, options))?;
        output::message(py, decoded, options)
    }

    /// The bytes of a message of a local file, in place: mapped, and mapped again when the file has grown. Those of a file in
    /// a store are fetched.
    fn shared(&self, message: usize) -> tgm::Result<Bytes> {
        let file = match &self.backing {
            Backing::Local(file) => file,
            Backing::Remote(file) => return file.read_message(message),
        };
        // The file is asked first: it knows whether there is such a message, and says so in the same words as every read.
        let span = file.message_span(message)?;
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        // An earlier map does not show what the file has gained since.
        if let Some(bytes) = mapped.as_ref().map_or(Ok(None), |map| held(map, message, span))? {
            return Ok(bytes);
        }
        let map = mapped.insert(file.to_mapped(left_alone())?);
        held(map, message, span)?.map_or_else(|| file.read_message(message), Ok)
    }
}

/// A message of a mapped file, where it stands as expected.
fn held(map: &TensogramFile, message: usize, span: Span) -> tgm::Result<Option<Bytes>> {
    match map.message_span(message) {
        Ok(found) if found == span => map.read_message(message).map(Some),
        _ => Ok(None),
    }
}

#[pymethods]
impl PyTensogramFile {
    /// Opens a file by its path or URL. `bidirectional` is accepted and changes nothing: files in stores are searched from both
    /// ends where that is cheaper.
    #[staticmethod]
    #[pyo3(signature = (source, *, bidirectional=true))]
    fn open(py: Python<'_>, source: PathBuf, bidirectional: bool) -> PyResult<Self> {
        let _ = bidirectional;
        let name = source.display().to_string();
        if is_remote_url(&name) {
            return Self::remote(py, name, Vec::new());
        }
        let file = released(py, || TensogramFile::open(&source))?.or_raise(py)?;
        Ok(Self::local(name, file))
    }

    /// Opens a file in a store, with settings of the store.
    #[staticmethod]
    #[pyo3(signature = (source, storage_options=None, *, bidirectional=true))]
    fn open_remote(
        py: Python<'_>,
        source: String,
        storage_options: Option<&Bound<'_, PyDict>>,
        bidirectional: bool,
    ) -> PyResult<Self> {
        let _ = bidirectional;
        Self::remote(py, source, settings(storage_options)?)
    }

    /// Creates an empty file, or replaces one by an empty one; directories are made on the way.
    #[staticmethod]
    fn create(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let file = released(py, || TensogramFile::create(&path))?.or_raise(py)?;
        Ok(Self::local(path.display().to_string(), file))
    }

    /// Number of messages.
    pub(super) fn message_count(&self, py: Python<'_>) -> PyResult<usize> {
        ask!(self, py, |file| file.message_count())
    }

    /// Encodes a message and writes it after the last one; arguments are those of `encode`.
    #[pyo3(signature = (global_meta_dict, descriptors_and_data, hash=Some("xxh3"), threads=0, allow_nan=false, allow_inf=false,
        nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None,
        aggregate_hash=None),
        text_signature = "($self, global_meta_dict, descriptors_and_data, hash='xxh3', threads=0, allow_nan=False, allow_inf=False, nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None, aggregate_hash=None)")]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn append(
        &self,
        py: Python<'_>,
        global_meta_dict: &Bound<'_, PyDict>,
        descriptors_and_data: &Bound<'_, PyAny>,
        hash: Option<&str>,
        threads: usize,
        allow_nan: bool,
        allow_inf: bool,
        nan_mask_method: Option<&str>,
        pos_inf_mask_method: Option<&str>,
        neg_inf_mask_method: Option<&str>,
        small_mask_threshold_bytes: Option<u64>,
        aggregate_hash: Option<&str>,
    ) -> PyResult<()> {
        let Backing::Local(file) = &self.backing else {
            return Err(PyOSError::new_err(
                "RemoteError: files in stores are read-only: append to a local file and upload it",
            ));
        };
        let options = encode_options(
            [hash, aggregate_hash],
            [allow_nan, allow_inf],
            [nan_mask_method, pos_inf_mask_method, neg_inf_mask_method],
            small_mask_threshold_bytes,
            threads,
        )?;
        let metadata = input::metadata(global_meta_dict)?;
        let objects = input::objects(descriptors_and_data, Take::Elements)?;
        let done = released(py, || file.append(&metadata, &input::pairs(&objects), &options))?;
        done.or_raise(py)
    }

    /// Decodes one message. With `copy=False` raw objects come as read-only views of the mapped file.
    #[pyo3(signature = (index, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false, *, copy=true))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn decode_message<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        native_byte_order: bool,
        threads: usize,
        restore_non_finite: bool,
        verify_hash: bool,
        copy: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decode_options(native_byte_order, threads, restore_non_finite, verify_hash);
        if !copy {
            let bytes = released(py, || self.shared(index))?.or_raise(py)?;
            return output::message_of_views(py, bytes, &options);
        }
        self.decoded(py, index, &options)
    }

    /// Reads the metadata of one message.
    fn file_decode_metadata(&self, py: Python<'_>, msg_index: usize) -> PyResult<PyMetadata> {
        // A stream has two copies of its metadata: the one at its start, and the complete one at its end.
        let read = released(py, || match &self.backing {
            Backing::Local(file) => file.decode_metadata(msg_index),
            Backing::Remote(file) => file.metadata(msg_index),
        })?;
        read.or_raise(py).map(PyMetadata::new)
    }

    /// Reads metadata and descriptors of one message: a dict of `metadata` and `descriptors`.
    fn file_decode_descriptors<'py>(&self, py: Python<'py>, msg_index: usize) -> PyResult<Bound<'py, PyDict>> {
        let described = ask!(self, py, |file| file.decode_descriptors(msg_index))?;
        described_dict(py, described)
    }

    /// Decodes one object: a dict of `metadata`, `descriptor` and `data`. With `copy=False` a raw object comes as a read-only
    /// view of the mapped file.
    #[pyo3(signature = (msg_index, obj_index, native_byte_order=true, threads=0, verify_hash=false, *, copy=true))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn file_decode_object<'py>(
        &self,
        py: Python<'py>,
        msg_index: usize,
        obj_index: usize,
        native_byte_order: bool,
        threads: usize,
        verify_hash: bool,
        copy: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = decode_options(native_byte_order, threads, true, verify_hash);
        if !copy {
            let read: tgm::Result<_> = released(py, || {
                let message = tgm::Message::from_bytes_with(self.shared(msg_index)?, &options)?;
                Ok((message.metadata()?, Elements::of(message.object(obj_index)?, &options)?))
            })?;
            let (metadata, elements) = read.or_raise(py)?;
            return output::object_dict(py, metadata, elements.parts(py, &options)?);
        }
        let (metadata, object) = ask!(self, py, |file| {
            file.metadata_with(msg_index, &options)
                .and_then(|metadata| Ok((metadata, file.decode_object(msg_index, obj_index, &options)?)))
        })?;
        output::object_dict(py, metadata, output::parts(py, object, &options)?)
    }

    /// Decodes runs of elements of one object, `(start, count)` over the flattened tensor; only what they need is read.
    #[pyo3(signature = (msg_index, obj_index, ranges, join=false, native_byte_order=true, threads=0))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn file_decode_range<'py>(
        &self,
        py: Python<'py>,
        msg_index: usize,
        obj_index: usize,
        ranges: Vec<(u64, u64)>,
        join: bool,
        native_byte_order: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decode_options(native_byte_order, threads, true, false);
        let decoded = ask!(self, py, |file| file.decode_range(msg_index, obj_index, &ranges, &options))?;
        output::ranges(py, decoded, join, &options)
    }

    /// Decodes the same object of many messages of a file in a store, with their requests side by side.
    #[pyo3(signature = (msg_indices, obj_index, native_byte_order=true, threads=0, verify_hash=false))]
    fn file_decode_object_batch<'py>(
        &self,
        py: Python<'py>,
        msg_indices: Vec<usize>,
        obj_index: usize,
        native_byte_order: bool,
        threads: usize,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let Backing::Remote(file) = &self.backing else { return Err(not_remote("object")) };
        let options = decode_options(native_byte_order, threads, true, verify_hash);
        let indices: Vec<MessageIndex> = msg_indices.iter().map(|index| (*index).into()).collect();
        let read: tgm::Result<_> = released(py, || {
            let objects = file.decode_object_batch(&indices, obj_index, &options)?;
            let metadata =
                indices.iter().map(|index| file.metadata_with(*index, &options)).collect::<tgm::Result<Vec<_>>>()?;
            Ok((metadata, objects))
        })?;
        let (metadata, objects) = read.or_raise(py)?;
        let dicts = metadata
            .into_iter()
            .zip(objects)
            .map(|(metadata, object)| output::object_dict(py, metadata, output::parts(py, object, &options)?));
        PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
    }

    /// Decodes the same runs of elements of many messages of a file in a store, with their requests side by side.
    #[pyo3(signature = (msg_indices, obj_index, ranges, join=false, native_byte_order=true, threads=0))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn file_decode_range_batch<'py>(
        &self,
        py: Python<'py>,
        msg_indices: Vec<usize>,
        obj_index: usize,
        ranges: Vec<(u64, u64)>,
        join: bool,
        native_byte_order: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let Backing::Remote(file) = &self.backing else { return Err(not_remote("range")) };
        let options = decode_options(native_byte_order, threads, true, false);
        let indices: Vec<MessageIndex> = msg_indices.iter().map(|index| (*index).into()).collect();
        let read = released(py, || file.decode_range_batch(&indices, obj_index, &ranges, &options))?.or_raise(py)?;
        let arrays = read.into_iter().map(|decoded| output::ranges(py, decoded, join, &options));
        PyList::new(py, arrays.collect::<PyResult<Vec<_>>>()?)
    }

    /// The bytes of one message.
    fn read_message<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = ask!(self, py, |file| file.read_message(index))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The bytes of every message.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for index in 0..self.message_count(py)? {
            list.append(self.read_message(py, index)?)?;
        }
        Ok(list)
    }

    /// Whether the file is in a store.
    fn is_remote(&self) -> bool {
        matches!(self.backing, Backing::Remote(_))
    }

    /// The path or URL that the file was opened by.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.message_count(py)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let count = self.message_count(py)?;
        let options = DecodeOptions::default();
        if let Ok(slice) = key.cast::<PySlice>() {
            let range = slice.indices(count as isize)?;
            let list = PyList::empty(py);
            let mut at = range.start;
            for _ in 0..range.slicelength {
                list.append(self.decoded(py, at as usize, &options)?)?;
                at += range.step;
            }
            return Ok(list.into_any());
        }
        let index: isize = key.extract().map_err(|_| PyTypeError::new_err("indices must be integers or slices"))?;
        let position = if index < 0 { count.checked_add_signed(index) } else { usize::try_from(index).ok() };
        match position.filter(|position| *position < count) {
            Some(position) => self.decoded(py, position, &options),
            None => {
                let words = format!("message index {index} out of range for file with {count} messages");
                Err(PyIndexError::new_err(words))
            }
        }
    }

    fn __iter__(slf: Bound<'_, Self>) -> PyResult<PyTensogramFileIter> {
        if slf.get().is_remote() {
            return Err(PyRuntimeError::new_err("iteration not supported on remote files: use indices"));
        }
        let count = slf.get().message_count(slf.py())?;
        Ok(PyTensogramFileIter { file: slf.unbind(), count, position: AtomicUsize::new(0) })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (_exc_type=None, _exc_val=None, _exc_tb=None))]
    fn __exit__(
        &self,
        _exc_type: Option<Bound<'_, PyAny>>,
        _exc_val: Option<Bound<'_, PyAny>>,
        _exc_tb: Option<Bound<'_, PyAny>>,
    ) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        format!("TensogramFile(source='{}')", self.source)
    }

    /// The first messages; nothing is fetched for it.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let Backing::Local(file) = &self.backing else {
            return Ok(format!("<div><b>{}</b> (tensogram, in a store)</div>", escaped(&self.source)));
        };
        let read: tgm::Result<_> = released(py, || {
            let count = file.message_count()?;
            let described = (0..count.min(SHOWN_MESSAGES)).map(|index| file.decode_descriptors(index));
            Ok((count, described.collect::<tgm::Result<Vec<_>>>()?))
        })?;
        let (count, described) = read.or_raise(py)?;
        Ok(html::file(&self.source, count, &described))
    }

    /// Iterates over the messages that are there and over those that others add: `for message in file.follow(): …` waits for the
    /// next one, which it looks for every `poll_interval` seconds, and ends after `idle_timeout` seconds without one. `start` is the
    /// index of the first message; negative ones count from the end.
    #[pyo3(signature = (*, start=0, poll_interval=0.2, idle_timeout=None))]
    fn follow(
        slf: Bound<'_, Self>,
        start: isize,
        poll_interval: f64,
        idle_timeout: Option<f64>,
    ) -> PyResult<PyTensogramFileFollow> {
        if slf.get().is_remote() {
            return Err(PyRuntimeError::new_err("files in stores do not grow: open the file again"));
        }
        PyTensogramFileFollow::new(slf, start, poll_interval, idle_timeout)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, file) = (slf.py(), slf.get());
        let class = py.get_type::<Self>();
        if file.is_remote() {
            let settings = PyDict::new(py);
            for (name, value) in &file.storage_options {
                settings.set_item(name, value)?;
            }
            let arguments = (&file.source, settings).into_pyobject(py)?;
            return Ok((class.getattr("open_remote")?, arguments.into_any()));
        }
        Ok((class.getattr("open")?, (&file.source,).into_pyobject(py)?.into_any()))
    }
}

/// The messages of a file, decoded one at a time.
#[pyclass(frozen, module = "fwright.tensogram", name = "TensogramFileIter")]
pub(crate) struct PyTensogramFileIter {
    file: Py<PyTensogramFile>,
    count: usize,
    position: AtomicUsize,
}

#[pymethods]
impl PyTensogramFileIter {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(position) = advance(&self.position, self.count) else { return Ok(None) };
        self.file.get().decoded(py, position, &DecodeOptions::default()).map(Some)
    }

    /// The file and the position.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, iter) = (slf.py(), slf.get());
        let resume = py.get_type::<Self>().getattr("_resume")?;
        (resume, (&iter.file, iter.position.load(Ordering::Relaxed))).into_pyobject(py)
    }

    /// Messages of a file from a position on.
    #[staticmethod]
    fn _resume(py: Python<'_>, file: Py<PyTensogramFile>, position: usize) -> PyResult<Self> {
        let count = file.get().message_count(py)?;
        Ok(Self { file, count, position: AtomicUsize::new(position.min(count)) })
    }

    fn __len__(&self) -> usize {
        self.count - self.position.load(Ordering::Relaxed)
    }

    fn __repr__(&self) -> String {
        let position = self.position.load(Ordering::Relaxed);
        format!("TensogramFileIter(position={position}, remaining={})", self.count - position)
    }
}

/// Messages of a file that a notebook shows.
const SHOWN_MESSAGES: usize = 20;

/// Metadata and descriptors as a dict.
pub(super) fn described_dict(py: Python<'_>, described: MessageDescription) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("metadata", Bound::new(py, PyMetadata::new(described.metadata))?)?;
    let descriptors: Vec<PyDescriptor> = described.descriptors.into_iter().map(PyDescriptor::new).collect();
    dict.set_item("descriptors", descriptors)?;
    Ok(dict)
}

/// Settings of a store, as text.
///
/// # Errors
/// `ValueError` for a value that has no text.
pub(crate) fn settings(options: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let Some(options) = options else { return Ok(Vec::new()) };
    let setting = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key = crate::value::text_key(&key)?;
        let value = value.str().and_then(|text| Ok(text.to_str()?.to_owned())).map_err(|_| {
            PyValueError::new_err(format!("storage_options value for key '{key}' must be convertible to string"))
        })?;
        Ok((key, value))
    };
    options.iter().map(setting).collect()
}

/// The same as the library takes them.
pub(super) fn store_options(settings: &[(String, String)]) -> StoreOptions {
    settings.iter().fold(StoreOptions::new(), |options, (name, value)| options.with_setting(name, value))
}

/// The refusal of a batch on a local file, which users of the format know.
pub(super) fn not_remote(what: &str) -> PyErr {
    PyOSError::new_err(format!("batch {what} decode requires a remote backend"))
}
