//! `TensorFile`: an open file of named tensors.

use super::html;
use super::source::{Given, Source, open_path, open_url};
use super::tensor::PyTensor;
use crate::buffer::Held;
use crate::errors::OrRaise;
use crate::interrupt::released;
use crate::promise::left_alone;
use crate::tensogram::settings;
use bytes::Bytes;
use framewright::convert::{self, Checked, ConvertError, Entry, TensorFile};
use framewright::source::remote::{file_path, is_url};
use framewright::source::{FileSource, MappedFile};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyTuple};
use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// A file of named tensors of any format: names, shapes and types at once, data when it is asked for.
#[pyclass(frozen, module = "fwright", name = "TensorFile", mapping)]
pub(crate) struct PyTensorFile {
    pub(super) inner: Arc<Opened>,
}

/// What tensors share with their file, and keep open.
pub(super) struct Opened {
    pub(super) file: Box<dyn TensorFile>,
    places: HashMap<String, usize>,
    source: Source,
    /// Whether a tensor that is read as a whole must be the one that a digest in the file is of.
    verifies: bool,
}

impl Opened {
    fn new(file: Box<dyn TensorFile>, source: Source) -> Self {
        // Of equal names the first is found by name; all are listed.
        let mut places = HashMap::with_capacity(file.entries().len());
        for (index, entry) in file.entries().iter().enumerate() {
            places.entry(entry.name.clone()).or_insert(index);
        }
        Self { file, places, source, verifies: false }
    }

    /// The same file, whose tensors are compared with their digests when they are read as a whole.
    ///
    /// # Errors
    /// When the digests in the file are not those of its tensors, as far as headers tell.
    fn verified(self) -> Result<Self, ConvertError> {
        convert::check_manifest(&*self.file)?;
        Ok(Self { file: Box::new(Checked::new(self.file)), verifies: true, ..self })
    }

    /// Refuses a tensor that the file has no digest of, where tensors are to be verified. One whose bytes are a view is compared
    /// here: nobody reads it on the way.
    ///
    /// # Errors
    /// `missing_digest`; when the data differs, or cannot be read.
    pub(super) fn check(&self, index: usize, is_view: bool) -> Result<(), ConvertError> {
        if !self.verifies {
            return Ok(());
        }
        if !self.file.verifies(index) {
            let name = self.entries().get(index).map_or("", |entry| &entry.name);
            let message = format!("the file has no digest of tensor {name:?}");
            return Err(ConvertError::format("missing_digest", message, None));
        }
        if is_view { self.file.stream(index, &mut |_| Ok(())) } else { Ok(()) }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        self.file.entries()
    }

    /// The bytes of a tensor where they stand, when they stand there as they are.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub(super) fn in_place(&self, index: usize) -> std::io::Result<Option<Bytes>> {
        // An index of shards has its tensors in other files.
        let (span, shard) = match (self.entries()[index].span, self.file.shard(index)) {
            (Some(span), _) => (span, None),
            (None, Some((shard, span))) => (span, Some(shard)),
            (None, None) => return Ok(None),
        };
        let Some(whole) = self.source.in_place(shard)? else { return Ok(None) };
        let range = usize::try_from(span.start).ok().zip(usize::try_from(span.end).ok());
        Ok(range.filter(|(_, end)| *end <= whole.len()).map(|(start, end)| whole.slice(start..end)))
    }

    pub(super) fn name(&self) -> String {
        self.source.name()
    }

    /// Whether a picture of a tensor may be read: from this machine, where reading costs nothing to speak of.
    pub(super) fn is_near(&self) -> bool {
        !matches!(self.source, Source::Url(..))
    }
}

/// Open a file of named tensors by its content: Tensogram, BinTensors, safetensors, npy, npz, GGUF, PyTorch, or an index of shards.
///
/// `source` is a path, a URL (`http(s)://`, `s3://`, `gs://`, `az://`, `file://`; `storage_options` are settings of the store), an
/// object with a buffer, or a binary file. Only what is asked for is read; files that cannot be searched are read whole.
///
/// With `verify` a tensor that is read as a whole is compared with the digest that the file has of it; one without a digest is
/// refused. Parts of a tensor are never compared.
///
/// >>> import numpy as np, fwright as fw
/// >>> fw.save("w.bt", {"a": np.arange(4.0)})
/// >>> with fw.open("w.bt") as file:
/// ...     file["a"][1:3]
/// array([1., 2.])
#[pyfunction]
#[pyo3(signature = (source, *, verify=false, storage_options=None))]
pub(crate) fn open(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    verify: bool,
    storage_options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyTensorFile> {
    let opened = opened(py, source, storage_options)?;
    let opened = opened.and_then(|opened| if verify { opened.verified() } else { Ok(opened) });
    Ok(PyTensorFile { inner: Arc::new(opened.or_raise(py)?) })
}

/// The same for functions that need nothing but the file.
///
/// # Errors
/// When it cannot be read, is of no known format, or is wrong.
pub(crate) fn tensor_file(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Result<Box<dyn TensorFile>, ConvertError>> {
    Ok(opened(py, source, storage_options)?.map(|opened| opened.file))
}

fn opened(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Result<Opened, ConvertError>> {
    let settings = settings(storage_options)?;
    if let Ok(path) = source.extract::<PathBuf>() {
        let url = path.to_str().filter(|text| is_url(text)).map(str::to_owned);
        released(py, || match url.as_deref().map(|url| (url, file_path(url))) {
            Some((url, None)) => Ok(Opened::new(open_url(url, &settings)?, Source::Url(url.to_owned(), settings))),
            Some((_, Some(path))) => local(path),
            None => local(path),
        })
    } else {
        match Given::of(source)? {
            Given::Bytes(bytes) => {
                released(py, || Ok(Opened::new(convert::open_source(Held(bytes.clone()), "")?, Source::Buffer(bytes))))
            }
            Given::File(path, name) => released(py, || {
                let file = convert::open_source(FileSource::of(File::open(&path)?, &name), &name)?;
                // Mapped now: the caller may close the file.
                Ok(Opened::new(file, Source::Object(name, MappedFile::map(&path, left_alone()).ok())))
            }),
            Given::Object(object) => released(py, || {
                let name = object.name().to_owned();
                Ok(Opened::new(convert::open_source(object, &name)?, Source::Object(name, None)))
            }),
        }
    }
}

fn local(path: PathBuf) -> Result<Opened, ConvertError> {
    let (file, files) = open_path(&path)?;
    Ok(Opened::new(file, Source::Path(path, files)))
}

#[pymethods]
impl PyTensorFile {
    /// The name of the format, such as `safetensors`.
    #[getter]
    fn format(&self) -> &'static str {
        self.inner.file.format().name()
    }

    /// The path or URL that the file was opened by.
    #[getter]
    fn source(&self) -> String {
        self.inner.name()
    }

    /// The text map of the file.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (key, value) in self.inner.file.metadata().into_iter().flatten() {
            dict.set_item(key, value)?;
        }
        Ok(dict)
    }

    /// The names of the tensors, in file order.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.inner.entries().iter().map(|entry| &entry.name))
    }

    /// The tensors, in file order; nothing is read.
    fn values(&self) -> Vec<PyTensor> {
        (0..self.inner.entries().len()).map(|index| PyTensor::new(Arc::clone(&self.inner), index)).collect()
    }

    /// Names and tensors, in file order; nothing is read.
    fn items(&self) -> Vec<(String, PyTensor)> {
        self.inner.entries().iter().map(|entry| entry.name.clone()).zip(self.values()).collect()
    }

    /// The tensor of a name, or the default.
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(&self, py: Python<'py>, key: &str, default: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        match self.inner.places.get(key) {
            Some(index) => Ok(Bound::new(py, PyTensor::new(Arc::clone(&self.inner), *index))?.into_any()),
            None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
        }
    }

    fn __getitem__(&self, key: &str) -> PyResult<PyTensor> {
        let index = self.inner.places.get(key).ok_or_else(|| PyKeyError::new_err(key.to_owned()))?;
        Ok(PyTensor::new(Arc::clone(&self.inner), *index))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> bool {
        key.extract::<std::borrow::Cow<'_, str>>().is_ok_and(|key| self.inner.places.contains_key(&*key))
    }

    fn __len__(&self) -> usize {
        self.inner.entries().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
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
        format!("TensorFile({:?}, format='{}', tensors={})", self.inner.name(), self.format(), self.__len__())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        released(py, || html::file(&self.inner))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let file = &slf.get().inner;
        let keywords = PyDict::new(py);
        if file.verifies {
            keywords.set_item("verify", true)?;
        }
        if let Source::Url(_, settings) = &file.source {
            keywords.set_item("storage_options", settings.iter().cloned().collect::<HashMap<_, _>>())?;
        }
        let open = py.import("fwright")?.getattr("open")?;
        let open = match keywords.is_empty() {
            true => open,
            false => py.import("functools")?.getattr("partial")?.call((open,), Some(&keywords))?,
        };
        match &file.source {
            Source::Buffer(bytes) => (open, (PyBytes::new(py, bytes),)).into_pyobject(py),
            Source::Path(path, _) => (open, (path,)).into_pyobject(py),
            Source::Url(url, _) => (open, (url,)).into_pyobject(py),
            Source::Object(name, _) => {
                let words = format!("{name}: a file object is not pickled: open the file by its path");
                Err(PyTypeError::new_err(words))
            }
        }
    }
}
