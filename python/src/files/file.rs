//! `TensorFile`: an open file of named tensors.

use super::tensor::PyTensor;
use crate::errors::OrRaise;
use crate::promise::left_alone;
use crate::{buffer, value};
use bytes::Bytes;
use framewright::convert::{self, ConvertError, Entry, Format, TensorFile};
use framewright::source::nonblocking::Blocking;
use framewright::source::plan::Cost;
use framewright::source::remote::{StoreOptions, is_url, open_source};
use framewright::source::{MappedFile, ReadAt};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A file of named tensors of any format: names, shapes and types at once, data when it is asked for.
#[pyclass(frozen, module = "fwright", name = "TensorFile", mapping)]
pub(crate) struct PyTensorFile {
    pub(super) inner: Arc<Opened>,
}

/// What tensors share with their file, and keep open.
pub(super) struct Opened {
    file: Mutex<Box<dyn TensorFile>>,
    pub(super) entries: Vec<Entry>,
    places: HashMap<String, usize>,
    format: Format,
    metadata: Vec<(String, String)>,
    source: Source,
}

/// Where the bytes are.
enum Source {
    /// A local file, mapped when a view is first asked for.
    Path(PathBuf, OnceLock<MappedFile>),
    Url(String),
    Buffer(Bytes),
}

impl Opened {
    fn new(file: Box<dyn TensorFile>, source: Source) -> Self {
        let entries = file.entries().to_vec();
        // Of equal names the first is found by name; all are listed.
        let mut places = HashMap::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            places.entry(entry.name.clone()).or_insert(index);
        }
        let metadata = file.metadata().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
        Self { format: file.format(), file: Mutex::new(file), entries, places, metadata, source }
    }

    /// The file, for one reader at a time.
    pub(super) fn file(&self) -> MutexGuard<'_, Box<dyn TensorFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of a tensor where they stand, when they stand there as they are.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub(super) fn in_place(&self, index: usize) -> std::io::Result<Option<Bytes>> {
        let Some(span) = self.entries[index].span else { return Ok(None) };
        let whole = match &self.source {
            Source::Url(_) => return Ok(None),
            Source::Buffer(bytes) => bytes.clone(),
            // An index of shards has its tensors in other files.
            Source::Path(..) if self.format == Format::ShardIndex => return Ok(None),
            Source::Path(path, map) => match map.get() {
                Some(map) => map.bytes(),
                None => map.get_or_init_with(path)?,
            },
        };
        let range = usize::try_from(span.start).ok().zip(usize::try_from(span.end).ok());
        Ok(range.filter(|(_, end)| *end <= whole.len()).map(|(start, end)| whole.slice(start..end)))
    }

    fn name(&self) -> String {
        match &self.source {
            Source::Path(path, _) => path.display().to_string(),
            Source::Url(url) => url.clone(),
            Source::Buffer(bytes) => format!("<{} bytes>", bytes.len()),
        }
    }
}

/// A buffer as a source.
struct Held(Bytes);

impl ReadAt for Held {
    fn len(&self) -> std::io::Result<u64> {
        ReadAt::len(&*self.0)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.0.read_exact_at(offset, buffer)
    }

    fn cost(&self) -> Cost {
        ReadAt::cost(&*self.0)
    }
}

/// A map that is made once.
trait MapOnce {
    fn get_or_init_with(&self, path: &Path) -> std::io::Result<Bytes>;
}

impl MapOnce for OnceLock<MappedFile> {
    fn get_or_init_with(&self, path: &Path) -> std::io::Result<Bytes> {
        let map = MappedFile::map(path, left_alone())?;
        // Another thread may have been faster; its map is as good.
        Ok(self.get_or_init(|| map).bytes())
    }
}

/// Opens a file of named tensors by its content: a path, a URL, or bytes.
#[pyfunction]
#[pyo3(signature = (source, *, storage_options=None))]
pub(crate) fn open(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyTensorFile> {
    let opened: Result<Opened, ConvertError> = if let Ok(path) = source.extract::<PathBuf>() {
        match path.to_str().filter(|text| is_url(text) && !text.to_ascii_lowercase().starts_with("file:")) {
            Some(url) => {
                let (url, mut options) = (url.to_owned(), StoreOptions::new());
                for (name, value) in storage_options.into_iter().flatten() {
                    options = options.with_setting(value::text_key(&name)?, value.str()?.to_str()?);
                }
                py.detach(|| {
                    let source = Blocking::new(open_source(&url, &options)?);
                    Ok(Opened::new(convert::open_source(source, &url)?, Source::Url(url)))
                })
            }
            None => py.detach(|| Ok(Opened::new(convert::open(&path)?, Source::Path(path, OnceLock::new())))),
        }
    } else {
        let bytes = if source.hasattr("read")? {
            let read = source.call_method0("read")?;
            buffer::shared(&read)?
        } else {
            buffer::shared(source).map_err(|_| {
                let name = value::type_name(source);
                PyTypeError::new_err(format!("cannot open '{name}': a path, a URL, bytes or a binary file is needed"))
            })?
        };
        py.detach(|| Ok(Opened::new(convert::open_source(Held(bytes.clone()), "")?, Source::Buffer(bytes))))
    };
    Ok(PyTensorFile { inner: Arc::new(opened.or_raise(py)?) })
}

#[pymethods]
impl PyTensorFile {
    /// The name of the format, such as `safetensors`.
    #[getter]
    fn format(&self) -> &'static str {
        self.inner.format.name()
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
        for (key, value) in &self.inner.metadata {
            dict.set_item(key, value)?;
        }
        Ok(dict)
    }

    /// The names of the tensors, in file order.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.inner.entries.iter().map(|entry| &entry.name))
    }

    /// The tensors, in file order; nothing is read.
    fn values(&self) -> Vec<PyTensor> {
        (0..self.inner.entries.len()).map(|index| PyTensor::new(Arc::clone(&self.inner), index)).collect()
    }

    /// Names and tensors, in file order; nothing is read.
    fn items(&self) -> Vec<(String, PyTensor)> {
        self.inner.entries.iter().map(|entry| entry.name.clone()).zip(self.values()).collect()
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
        self.inner.entries.len()
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

    fn _repr_html_(&self) -> String {
        let rows = self.inner.entries.iter().take(SHOWN).map(|entry| {
            let bytes = entry.byte_len().unwrap_or(0);
            format!(
                "<tr><td>{}</td><td>{}</td><td>{:?}</td><td>{bytes}</td></tr>",
                escaped(&entry.name),
                entry.type_name(),
                entry.shape
            )
        });
        let rows: String = rows.collect();
        let more = self.inner.entries.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!("<tr><td colspan=\"4\">and {more} more</td></tr>") } else { String::new() };
        format!(
            "<table><caption>{} ({})</caption><tr><th>name</th><th>type</th><th>shape</th><th>bytes</th></tr>{rows}{more}</table>",
            escaped(&self.inner.name()),
            self.format()
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let py = slf.py();
        let open = py.import("fwright")?.getattr("open")?;
        let argument = match &slf.get().inner.source {
            Source::Buffer(bytes) => pyo3::types::PyBytes::new(py, bytes).into_any(),
            _ => slf.get().inner.name().into_pyobject(py)?.into_any(),
        };
        Ok((open, (argument,)))
    }
}

/// Text as HTML shows it.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Rows of a table before it is cut.
const SHOWN: usize = 100;
