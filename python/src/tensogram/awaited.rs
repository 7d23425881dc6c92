//! `AsyncTensogramFile`: the same reads, awaited.

use super::file::{described_dict, not_remote, settings, store_options};
use super::metadata::PyMetadata;
use super::options::decode_options;
use super::output;
use crate::awaitable::awaitable;
use crate::errors::OrRaise;
use crate::interrupt::released;
use framewright::source::nonblocking::wait_for;
use framewright::tensogram::{
    self as tgm, AsyncTensogramFile, DecodeOptions, DecodedRanges, MessageIndex, is_remote_url,
};
use futures_util::future::try_join_all;
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file of messages that is awaited: on a disk, or in a store by its URL. Independent calls overlap.
#[pyclass(frozen, module = "fwright.tensogram", name = "AsyncTensogramFile")]
pub(crate) struct PyAsyncTensogramFile {
    file: AsyncTensogramFile,
    source: String,
    storage_options: Vec<(String, String)>,
    remote: bool,
    /// The number of messages when it was last awaited.
    count: Arc<AtomicUsize>,
}

/// What `count` holds before anyone asked.
const UNKNOWN: usize = usize::MAX;

impl PyAsyncTensogramFile {
    async fn opened(source: String, storage_options: Vec<(String, String)>) -> tgm::Result<Self> {
        // A URL of any scheme, `file` included, is the store's; anything else is a path.
        let remote = is_remote_url(&source) || source.contains("://");
        let file = if remote {
            AsyncTensogramFile::open_url(&source, &store_options(&storage_options)).await?
        } else {
            AsyncTensogramFile::open(&source).await?
        };
        Ok(Self { file, source, storage_options, remote, count: Arc::new(AtomicUsize::new(UNKNOWN)) })
    }

    /// An awaitable of what `read` finds with these options, which `show` turns into a Python object.
    fn read<'py, T, R, F>(
        &self,
        py: Python<'py>,
        options: DecodeOptions,
        read: impl FnOnce(AsyncTensogramFile, DecodeOptions) -> F,
        show: impl for<'a> FnOnce(Python<'a>, T, &DecodeOptions) -> PyResult<R> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        F: Future<Output = tgm::Result<T>> + Send + 'static,
        T: Send + 'static,
        R: for<'a> IntoPyObject<'a> + Send + 'static,
    {
        shown(py, read(self.file.clone(), options.clone()), move |py, found| show(py, found, &options))
    }

    fn known_count(&self) -> PyResult<usize> {
        match self.count.load(Ordering::Relaxed) {
            UNKNOWN => {
                Err(PyRuntimeError::new_err("message count not yet known; call 'await f.message_count()' first"))
            }
            count => Ok(count),
        }
    }
}

/// An awaitable of `read`, whose result `show` turns into a Python object.
fn shown<'py, T, R>(
    py: Python<'py>,
    read: impl Future<Output = tgm::Result<T>> + Send + 'static,
    show: impl for<'a> FnOnce(Python<'a>, T) -> PyResult<R> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>>
where
    T: Send + 'static,
    R: for<'a> IntoPyObject<'a> + Send + 'static,
{
    awaitable(py, async move {
        let read = read.await;
        Python::attach(|py| show(py, read.or_raise(py)?))
    })
}

#[pymethods]
impl PyAsyncTensogramFile {
    /// Opens a file by its path or URL.
    #[staticmethod]
    #[pyo3(signature = (source, *, bidirectional=true))]
    fn open(py: Python<'_>, source: PathBuf, bidirectional: bool) -> PyResult<Bound<'_, PyAny>> {
        let _ = bidirectional;
        let source = source.display().to_string();
        shown(py, Self::opened(source, Vec::new()), |_, file| Ok(file))
    }

    /// Opens a file in a store, with settings of the store.
    #[staticmethod]
    #[pyo3(signature = (source, storage_options=None, *, bidirectional=true))]
    fn open_remote<'py>(
        py: Python<'py>,
        source: String,
        storage_options: Option<&Bound<'py, PyDict>>,
        bidirectional: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = bidirectional;
        shown(py, Self::opened(source, settings(storage_options)?), |_, file| Ok(file))
    }

    /// Number of messages.
    fn message_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (file, known) = (self.file.clone(), Arc::clone(&self.count));
        shown(py, async move { file.message_count().await }, move |_, count| {
            known.store(count, Ordering::Relaxed);
            Ok(count)
        })
    }

    /// Decodes one message.
    #[pyo3(signature = (index, native_byte_order=true, threads=0, verify_hash=false))]
    fn decode_message<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        native_byte_order: bool,
        threads: usize,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decode_options(native_byte_order, threads, true, verify_hash);
        decoded(py, self.file.clone(), index, options)
    }

    /// Reads the metadata of one message.
    fn file_decode_metadata<'py>(&self, py: Python<'py>, msg_index: usize) -> PyResult<Bound<'py, PyAny>> {
        let (file, remote) = (self.file.clone(), self.remote);
        // As in `TensogramFile`.
        let read =
            async move { if remote { file.metadata(msg_index).await } else { file.decode_metadata(msg_index).await } };
        shown(py, read, |_, metadata| Ok(PyMetadata::new(metadata)))
    }

    /// Reads metadata and descriptors of one message: a dict of `metadata` and `descriptors`.
    fn file_decode_descriptors<'py>(&self, py: Python<'py>, msg_index: usize) -> PyResult<Bound<'py, PyAny>> {
        let file = self.file.clone();
        shown(py, async move { file.decode_descriptors(msg_index).await }, |py, described| {
            Ok(described_dict(py, described)?.unbind())
        })
    }

    /// Decodes one object: a dict of `metadata`, `descriptor` and `data`.
    #[pyo3(signature = (msg_index, obj_index, native_byte_order=true, threads=0, verify_hash=false))]
    fn file_decode_object<'py>(
        &self,
        py: Python<'py>,
        msg_index: usize,
        obj_index: usize,
        native_byte_order: bool,
        threads: usize,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decode_options(native_byte_order, threads, true, verify_hash);
        let read = |file, options| async move { object(&file, msg_index, obj_index, &options).await };
        self.read(py, options, read, |py, read, options| Ok(dict_of(py, read, options)?.unbind()))
    }

    /// Decodes runs of elements of one object, `(start, count)` over the flattened tensor.
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
        let read = move |file: AsyncTensogramFile, options| async move {
            file.decode_range(msg_index, obj_index, &ranges, &options).await
        };
        self.read(py, options, read, move |py, decoded, options| {
            Ok(output::ranges(py, decoded, join, options)?.unbind())
        })
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
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decode_options(native_byte_order, threads, true, verify_hash);
        let remote = self.remote;
        let read = move |file, options| async move {
            if !remote {
                return Ok(None);
            }
            let reads = msg_indices.iter().map(|index| object(&file, *index, obj_index, &options));
            try_join_all(reads).await.map(Some)
        };
        self.read(py, options, read, |py, read: Option<Vec<Read>>, options| {
            let read = read.ok_or_else(|| not_remote("object"))?.into_iter();
            let dicts = read.map(|read| dict_of(py, read, options)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, dicts)?.unbind())
        })
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
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decode_options(native_byte_order, threads, true, false);
        let remote = self.remote;
        let read = move |file: AsyncTensogramFile, options| async move {
            if !remote {
                return Ok(None);
            }
            let indices: Vec<MessageIndex> = msg_indices.iter().map(|index| (*index).into()).collect();
            file.decode_range_batch(&indices, obj_index, &ranges, &options).await.map(Some)
        };
        self.read(py, options, read, move |py, read: Option<Vec<DecodedRanges>>, options| {
            let read = read.ok_or_else(|| not_remote("range"))?.into_iter();
            let arrays = read.map(|decoded| output::ranges(py, decoded, join, options));
            Ok(PyList::new(py, arrays.collect::<PyResult<Vec<_>>>()?)?.unbind())
        })
    }

    /// Reads where the objects of these messages are, so that later reads need fewer requests.
    fn prefetch_layouts<'py>(&self, py: Python<'py>, msg_indices: Vec<usize>) -> PyResult<Bound<'py, PyAny>> {
        let file = self.file.clone();
        let read = async move { try_join_all(msg_indices.iter().map(|index| file.decode_descriptors(*index))).await };
        shown(py, read, |py, _| Ok(PyTuple::empty(py).unbind()))
    }

    /// The bytes of one message.
    fn read_message<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let file = self.file.clone();
        shown(py, async move { file.read_message(index).await }, |py, bytes| Ok(PyBytes::new(py, &bytes).unbind()))
    }

    /// The bytes of every message.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (file, known) = (self.file.clone(), Arc::clone(&self.count));
        let read = async move {
            let count = file.message_count().await?;
            known.store(count, Ordering::Relaxed);
            try_join_all((0..count).map(|index| file.read_message(index))).await
        };
        shown(py, read, |py, messages| {
            Ok(PyList::new(py, messages.iter().map(|bytes| PyBytes::new(py, bytes)))?.unbind())
        })
    }

    /// Whether the file is in a store.
    fn is_remote(&self) -> bool {
        self.remote
    }

    /// The path or URL that the file was opened by.
    fn source(&self) -> &str {
        &self.source
    }

    fn __len__(&self) -> PyResult<usize> {
        self.known_count()
    }

    fn __aiter__(&self) -> PyResult<PyAsyncTensogramFileIter> {
        let count = self.known_count()?;
        Ok(PyAsyncTensogramFileIter { file: self.file.clone(), count, position: AtomicUsize::new(0) })
    }

    fn __aenter__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, file) = (slf.py(), slf.unbind());
        awaitable(py, async move { Ok(file) })
    }

    #[pyo3(signature = (_exc_type=None, _exc_val=None, _exc_tb=None))]
    fn __aexit__<'py>(
        &self,
        py: Python<'py>,
        _exc_type: Option<Bound<'py, PyAny>>,
        _exc_val: Option<Bound<'py, PyAny>>,
        _exc_tb: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        awaitable(py, async move { Ok(false) })
    }

    fn __repr__(&self) -> String {
        format!("AsyncTensogramFile(source='{}')", self.source)
    }

    /// Pickled by path or URL and settings; opening waits.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, file) = (slf.py(), slf.get());
        let reopen = py.get_type::<Self>().getattr("_reopen")?;
        (reopen, (&file.source, file.storage_options.clone())).into_pyobject(py)
    }

    /// Opens a file again where nothing can be awaited.
    #[staticmethod]
    fn _reopen(py: Python<'_>, source: String, storage_options: Vec<(String, String)>) -> PyResult<Self> {
        released(py, || wait_for(Self::opened(source, storage_options)))?.or_raise(py)
    }

    /// The settings of the store, as text.
    #[getter]
    fn storage_options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in &self.storage_options {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }
}

/// The messages of an awaited file, decoded one at a time.
#[pyclass(frozen, module = "fwright.tensogram", name = "AsyncTensogramFileIter")]
pub(crate) struct PyAsyncTensogramFileIter {
    file: AsyncTensogramFile,
    count: usize,
    position: AtomicUsize,
}

#[pymethods]
impl PyAsyncTensogramFileIter {
    fn __aiter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __anext__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match super::iter::advance(&self.position, self.count) {
            Some(position) => decoded(py, self.file.clone(), position, DecodeOptions::default()),
            None => Err(PyStopAsyncIteration::new_err(())),
        }
    }

    fn __len__(&self) -> usize {
        self.count - self.position.load(Ordering::Relaxed)
    }

    fn __repr__(&self) -> String {
        let position = self.position.load(Ordering::Relaxed);
        format!("AsyncTensogramFileIter(position={position}, remaining={})", self.count - position)
    }
}

fn decoded(
    py: Python<'_>,
    file: AsyncTensogramFile,
    index: usize,
    options: DecodeOptions,
) -> PyResult<Bound<'_, PyAny>> {
    let read_options = options.clone();
    shown(py, async move { file.decode_message(index, &read_options).await }, move |py, decoded| {
        Ok(output::message(py, decoded, &options)?.unbind())
    })
}

type Read = (tgm::GlobalMetadata, tgm::DecodedObject);

async fn object(
    file: &AsyncTensogramFile,
    message: usize,
    object: usize,
    options: &DecodeOptions,
) -> tgm::Result<Read> {
    let decoded = file.decode_object(message, object, options).await?;
    Ok((file.metadata_with(message, options).await?, decoded))
}

fn dict_of<'py>(py: Python<'py>, (metadata, object): Read, options: &DecodeOptions) -> PyResult<Bound<'py, PyDict>> {
    output::object_dict(py, metadata, output::parts(py, object, options)?)
}
