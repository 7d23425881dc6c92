//! Parts of a tensor.

use super::errors::{Class, Doing, any_fault};
use super::frameworks::{Device, Framework};
use super::load::{Mapping, one};
use super::weights::{Described, Shared, Sharing};
use crate::array::{self, Layout};
use crate::files::selection;
use crate::interrupt::released;
use framewright::tensor::ByteOrder;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A tensor of a file, read in parts: `[]` takes what an array of NumPy takes, and reads only these elements.
#[pyclass(frozen, module = "fwright.bintensors", name = "PySafeSlice")]
pub(crate) struct PySafeSlice {
    weights: Shared,
    described: Described,
    framework: Framework,
    device: Device,
    mapping: Mapping,
}

impl PySafeSlice {
    pub(super) fn new(
        weights: Shared,
        described: Described,
        framework: Framework,
        device: Device,
        mapping: Mapping,
    ) -> Self {
        Self { weights, described, framework, device, mapping }
    }

    /// An array of the part, with memory of its own.
    fn array<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let packed = self.described.dtype.byte_width().is_none();
        if self.mapping == Mapping::Private
            && !packed
            && let Some(bytes) = self.weights.in_place(&self.described)?
        {
            return indexed(array::view(py, &self.described.layout(), bytes)?, key);
        }
        match selection(key) {
            Ok(selection) => {
                let part = released(py, || self.weights.part(&self.described, &selection))?;
                let (shape, data) = part.map_err(|error| any_fault(py, Doing::Slicing, error))?;
                let layout = Layout { dtype: self.described.dtype, order: ByteOrder::Little, shape: &shape };
                array::owned(py, &layout, data)
            }
            // Lists, masks and new axes: NumPy picks from all elements.
            Err(_) if !packed => {
                let all = released(py, || self.weights.elements(&self.described))?;
                let all = all.map_err(|error| any_fault(py, Doing::Slicing, error))?;
                indexed(array::owned(py, &self.described.layout(), all)?, key)
            }
            Err(error) => Err(error),
        }
    }
}

#[pymethods]
impl PySafeSlice {
    /// Lengths of the axes.
    fn get_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.described.shape.iter())
    }

    /// The name of the element type, such as `F32`.
    fn get_dtype(&self) -> &'static str {
        self.described.type_name()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.framework == Framework::Torch {
            let Self { weights, described, device, mapping, .. } = self;
            let whole = one(py, weights, described, Framework::Torch, &Device::Cpu, *mapping, Sharing::Together)?;
            let part = whole.get_item(key)?;
            return match device {
                Device::Cpu => Ok(part),
                other => part.call_method1(intern!(py, "to"), (other.argument(py)?,)),
            };
        }
        self.framework.wrap(self.array(py, key)?, self.described.type_name())
    }

    fn __repr__(&self) -> String {
        let shape = &*self.described.shape;
        format!("PySafeSlice(shape={shape:?}, dtype='{}')", self.get_dtype())
    }
}

/// `array[key]`, as an array that owns its elements.
fn indexed<'py>(array: Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let part = array.get_item(key).map_err(|error| {
        if !error.is_instance_of::<PyIndexError>(py) {
            return error;
        }
        let text = error.value(py).to_string();
        match text.starts_with("only integers") {
            true => PyTypeError::new_err(text),
            false => Class::Slice.error(py, format!("Error during slicing: {text}"), "invalid_slice", None),
        }
    })?;
    if part.is_instance_of::<PyUntypedArray>() {
        return part.call_method0(intern!(py, "copy"));
    }
    // One element comes as a number of NumPy.
    py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "array"), (part,))
}
