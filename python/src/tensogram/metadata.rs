//! `Metadata`: what a message says about itself and its objects.

use super::html;
use crate::errors::OrRaise;
use crate::value::{map_to_python, to_python};
use framewright::primitives::Limits;
use framewright::tensogram::describe::RESERVED;
use framewright::tensogram::{GlobalMetadata, Value};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList};
use std::sync::Arc;

/// Metadata of a message: a mapping over the keys of its objects and of the message, and both of them by themselves.
#[pyclass(frozen, module = "fwright.tensogram", name = "Metadata", mapping)]
pub(crate) struct PyMetadata {
    inner: Arc<GlobalMetadata>,
}

impl PyMetadata {
    pub(super) fn new(metadata: GlobalMetadata) -> Self {
        Self { inner: Arc::new(metadata) }
    }

    pub(super) fn described(&self) -> &GlobalMetadata {
        &self.inner
    }

    /// Keys and values as the mapping shows them: those of the objects first, the first object that has a key wins.
    fn flat(&self) -> Vec<(&str, &Value)> {
        let mut entries: Vec<(&str, &Value)> = Vec::new();
        for (key, value) in
            self.inner.base.iter().flatten().filter(|(key, _)| *key != RESERVED).chain(&self.inner.extra)
        {
            if !entries.iter().any(|(seen, _)| *seen == key.as_str()) {
                entries.push((key, value));
            }
        }
        entries
    }

    fn find(&self, key: &str) -> Option<&Value> {
        if key == RESERVED {
            return self.inner.extra.get(key);
        }
        self.inner.base.iter().chain([&self.inner.extra]).find_map(|entry| entry.get(key))
    }
}

#[pymethods]
impl PyMetadata {
    fn _repr_html_(&self) -> String {
        html::metadata(&self.inner)
    }

    /// The wire version, always 3.
    #[getter]
    fn version(&self) -> u16 {
        WIRE_VERSION
    }

    /// One dict per object.
    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let entries = self.inner.base.iter().map(|entry| map_to_python(py, entry)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, entries)
    }

    /// The keys of the message.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        map_to_python(py, &self.inner.extra)
    }

    /// What the encoder wrote: who, when, and a UUID.
    #[getter]
    fn reserved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        map_to_python(py, &self.inner.reserved)
    }

    /// Number of objects that the metadata describes.
    #[getter]
    fn num_objects(&self) -> usize {
        self.inner.base.len()
    }

    /// The value of a key, or the default.
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(&self, py: Python<'py>, key: &str, default: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        value_or(py, self.find(key), default)
    }

    /// The value at a dotted path, looked up in every object and then in the message, or the default.
    #[pyo3(signature = (path, default=None))]
    fn get_path<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        value_or(py, self.inner.get(path).value(), default)
    }

    /// Whether there is a value at a dotted path.
    fn has_path(&self, path: &str) -> bool {
        self.inner.get(path).exists()
    }

    /// The value at a dotted path of one object, or the default.
    #[pyo3(signature = (obj, path, default=None))]
    fn get_path_at<'py>(
        &self,
        py: Python<'py>,
        obj: usize,
        path: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        value_or(py, self.inner.get_at(obj, path).value(), default)
    }

    /// Whether one object has a value at a dotted path.
    fn has_path_at(&self, obj: usize, path: &str) -> bool {
        self.inner.get_at(obj, path).exists()
    }

    /// The keys.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.flat().into_iter().map(|(key, _)| key))
    }

    /// The values, in the order of the keys.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values = self.flat().into_iter().map(|(_, value)| to_python(py, value)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, values)
    }

    /// Keys and values.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let pairs = self.flat().into_iter().map(|(key, value)| Ok((key, to_python(py, value)?)));
        PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        self.find(key).map_or_else(|| Err(PyKeyError::new_err(key.to_owned())), |value| to_python(py, value))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> bool {
        key.extract::<std::borrow::Cow<'_, str>>().is_ok_and(|key| self.find(&key).is_some())
    }

    fn __len__(&self) -> usize {
        self.flat().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
    }

    fn __repr__(&self) -> String {
        let keys: Vec<&String> = self.inner.extra.keys().collect();
        format!("Metadata(version={WIRE_VERSION}, base_len={}, extra_keys={keys:?})", self.inner.base.len())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = slf.py().get_type::<Self>().getattr("_from_cbor")?;
        Ok((make, (PyBytes::new(slf.py(), &slf.get().inner.to_cbor()),)))
    }

    /// Metadata from the CBOR that pickling wrote.
    #[staticmethod]
    fn _from_cbor(py: Python<'_>, cbor: &[u8]) -> PyResult<Self> {
        GlobalMetadata::from_cbor(cbor, 0, &Limits::default()).or_raise(py).map(Self::new)
    }
}

fn value_or<'py>(
    py: Python<'py>,
    value: Option<&Value>,
    default: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Some(value) => to_python(py, value),
        None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
    }
}

/// The version of the wire format.
pub(super) const WIRE_VERSION: u16 = 3;
