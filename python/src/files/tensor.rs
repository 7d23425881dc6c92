//! `Tensor`: one tensor of a file, read when it is asked for.

use super::file::{Opened, PyTensorFile};
use super::html;
use super::selection::{index_error, selection};
use crate::array::{self, Layout};
use crate::dtype;
use crate::errors::OrRaise;
use crate::interrupt::released;
use framewright::convert::Entry;
use framewright::tensor::{ByteOrder, element_count};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// One tensor of a file. Indices and slices read only what they need; `numpy()` gives all of it.
#[pyclass(frozen, module = "fwright", name = "Tensor")]
pub(crate) struct PyTensor {
    opened: Arc<Opened>,
    index: usize,
}

impl PyTensor {
    pub(super) fn new(opened: Arc<Opened>, index: usize) -> Self {
        Self { opened, index }
    }

    fn entry(&self) -> &Entry {
        &self.opened.entries()[self.index]
    }

    fn layout<'a>(&self, shape: &'a [u64]) -> Layout<'a> {
        // Files hand data out little endian, whatever they hold.
        Layout { dtype: self.entry().dtype, order: ByteOrder::Little, shape }
    }
}

#[pymethods]
impl PyTensor {
    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.entry().name
    }

    /// Lengths of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.entry().shape)
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.entry().shape.len()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> PyResult<u64> {
        element_count(&self.entry().shape).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The type of the elements, as NumPy knows it.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        dtype::array_type(py, self.entry().dtype, ByteOrder::Little)
    }

    /// The type of the elements as the file names it: `bfloat16`, `float8_e4m3`, `q4_0`.
    #[getter]
    fn type_name(&self) -> &'static str {
        self.entry().type_name()
    }

    /// Bytes of the elements.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.entry().byte_len().or_raise(py)
    }

    /// What the file says about the tensor.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let text = serde_json::to_string(&self.entry().attributes)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(py.import("json")?.call_method1("loads", (text,))?.cast_into::<PyDict>()?)
    }

    /// The whole tensor. With `copy=None` elements that stand in a local file or a buffer as they are come as a read-only view of
    /// it, and others are decoded; `copy=True` always gives an array of its own, `copy=False` a view or `ValueError`.
    ///
    /// A view of a file maps it: the file must not be cut short or changed in place while the view lives.
    #[pyo3(signature = (*, copy=None))]
    fn numpy<'py>(&self, py: Python<'py>, copy: Option<bool>) -> PyResult<Bound<'py, PyAny>> {
        let layout = self.layout(&self.entry().shape);
        if copy != Some(true) {
            if let Some(bytes) = self.opened.in_place(self.index)? {
                released(py, || self.opened.check(self.index, true))?.or_raise(py)?;
                return array::view(py, &layout, bytes);
            }
            if copy == Some(false) {
                let words =
                    "the tensor does not stand in the file as it is: it must be decoded, so there is no view of it";
                return Err(PyValueError::new_err(format!("{}: {words}", self.entry().name)));
            }
        }
        let read = || {
            self.opened.check(self.index, false)?;
            self.opened.file.data(self.index)
        };
        let data = released(py, read)?.or_raise(py)?;
        array::owned(py, &layout, data)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let selection = selection(key)?;
        // Said in the same words and with the same class for every format.
        selection.plan(&self.entry().shape).map_err(|error| index_error(py, &error))?;
        let (shape, data) = released(py, || self.opened.file.slice(self.index, &selection))?.or_raise(py)?;
        array::owned(py, &self.layout(&shape), data)
    }

    /// The rows, one after the other: each is read when its turn comes.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let builtins = slf.py().import(intern!(slf.py(), "builtins"))?;
        let rows = builtins.call_method1(intern!(slf.py(), "range"), (slf.get().__len__()?,))?;
        builtins.call_method1(intern!(slf.py(), "map"), (slf.getattr(intern!(slf.py(), "__getitem__"))?, rows))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(dtype) = dtype else { return self.numpy(py, copy) };
        let dtype = PyArrayDescr::new(py, dtype)?;
        if dtype.is_equiv_to(&self.dtype(py)?) {
            return self.numpy(py, copy);
        }
        if copy == Some(false) {
            let words = format!("{}: elements of type {} are not a view of those in the file", self.name(), dtype);
            return Err(PyValueError::new_err(words));
        }
        self.numpy(py, None)?.call_method1(intern!(py, "astype"), (dtype,))
    }

    #[pyo3(signature = (**keywords))]
    fn __dlpack__<'py>(&self, py: Python<'py>, keywords: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let keywords = keywords.map_or_else(|| Ok(PyDict::new(py)), |keywords| keywords.copy())?;
        let copy = keywords.get_item("copy")?.filter(|copy| !copy.is_none());
        // What takes it over may write to it: unless it asks for the elements in the file, it gets some of its own.
        let shared = copy.is_some_and(|copy| !copy.is_truthy().unwrap_or(true));
        if !shared {
            keywords.set_item("copy", py.None())?;
        }
        let array = match self.numpy(py, Some(!shared)) {
            Err(error) if shared => return Err(PyBufferError::new_err(error.value(py).to_string())),
            array => array?,
        };
        array.call_method(intern!(py, "__dlpack__"), (), Some(&keywords))
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self
            .entry()
            .shape
            .first()
            .ok_or_else(|| PyTypeError::new_err("a tensor without axes has no length and no rows"))?;
        usize::try_from(*first).map_err(|_| PyValueError::new_err("the axis does not fit in the address space"))
    }

    fn __repr__(&self) -> String {
        let Entry { name, shape, .. } = self.entry();
        format!("Tensor({name:?}, shape={shape:?}, dtype='{}')", self.entry().type_name())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        released(py, || html::tensor(&self.opened, self.index))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, tensor) = (slf.py(), slf.get());
        let file = PyTensorFile { inner: Arc::clone(&tensor.opened) };
        (py.import("operator")?.getattr("getitem")?, (file, tensor.name())).into_pyobject(py)
    }
}
