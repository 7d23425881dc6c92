//! `DataObjectDescriptor`: what one object is.

use crate::errors::OrRaise;
use crate::value::{map_to_python, to_python};
use framewright::primitives::Limits;
use framewright::tensogram::DataObjectDescriptor;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// What one object is: its elements, its shape, and how it was encoded.
#[pyclass(frozen, module = "fwright.tensogram", name = "DataObjectDescriptor")]
pub(crate) struct PyDescriptor {
    inner: DataObjectDescriptor,
}

impl PyDescriptor {
    pub(super) fn new(descriptor: DataObjectDescriptor) -> Self {
        Self { inner: descriptor }
    }

    pub(super) fn described(&self) -> &DataObjectDescriptor {
        &self.inner
    }
}

#[pymethods]
impl PyDescriptor {
    /// The kind of object, usually `ntensor`.
    #[getter]
    fn obj_type(&self) -> &str {
        &self.inner.obj_type
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self) -> u64 {
        self.inner.ndim
    }

    /// Lengths of the axes.
    #[getter]
    fn shape(&self) -> Vec<u64> {
        self.inner.shape.clone()
    }

    /// Steps between neighbours along each axis, in elements.
    #[getter]
    fn strides(&self) -> Vec<u64> {
        self.inner.strides.clone()
    }

    /// The element type, such as `float32`.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.inner.dtype.name()
    }

    /// `little` or `big`.
    #[getter]
    fn byte_order(&self) -> &'static str {
        self.inner.byte_order.name()
    }

    /// The encoding, or `none`.
    #[getter]
    fn encoding(&self) -> &str {
        &self.inner.encoding
    }

    /// The filter, or `none`.
    #[getter]
    fn filter(&self) -> &str {
        &self.inner.filter
    }

    /// The compression, or `none`.
    #[getter]
    fn compression(&self) -> &str {
        &self.inner.compression
    }

    /// Parameters of the codecs, and every other key of the descriptor.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        map_to_python(py, &self.inner.params)
    }

    /// Always `None`: digests belong to frames.
    #[getter]
    fn hash(&self) -> Option<String> {
        None
    }

    /// How the masks of non-finite values are stored, by kind (`nan`, `inf+`, `inf-`); empty where there are none.
    #[getter]
    fn masks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (kind, mask) in self.inner.masks.iter().flat_map(|masks| masks.iter()) {
            let stored = PyDict::new(py);
            stored.set_item("method", &mask.method)?;
            stored.set_item("length", mask.length)?;
            for (key, value) in &mask.params {
                stored.set_item(key, to_python(py, value)?)?;
            }
            dict.set_item(kind.key(), stored)?;
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let DataObjectDescriptor { obj_type, shape, dtype, encoding, compression, .. } = &self.inner;
        format!(
            "DataObjectDescriptor(type='{obj_type}', shape={shape:?}, dtype='{dtype}', encoding='{encoding}', \
             compression='{compression}')"
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = slf.py().get_type::<Self>().getattr("_from_cbor")?;
        Ok((make, (PyBytes::new(slf.py(), &slf.get().inner.to_cbor()),)))
    }

    /// A descriptor from the CBOR that pickling wrote.
    #[staticmethod]
    fn _from_cbor(py: Python<'_>, cbor: &[u8]) -> PyResult<Self> {
        DataObjectDescriptor::from_cbor(cbor, 0, &Limits::default()).or_raise(py).map(Self::new)
    }
}
