//! All tensors of a file, or of bytes.

use super::errors::{Doing, any_fault, fault};
use super::frameworks::{Device, Framework};
use super::open::opened;
use super::verify::verify_stored;
use super::weights::{Described, FilePath, Sharing, Weights};
use crate::buffer::Input;
use crate::interrupt::released;
use framewright::bintensors::BinTensors;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList, PyString};

/// All tensors of a file, in file order. With `mmap` they are views of a private map: nothing is read before it is used, and what is
/// written to them does not reach the file. With `verify` all data is read and compared with the digests in the file first.
#[pyfunction]
#[pyo3(signature = (filename, framework, device=None, *, mmap=true, verify=false))]
pub(crate) fn load_file<'py>(
    py: Python<'py>,
    filename: FilePath,
    framework: &str,
    device: Option<&Bound<'py, PyAny>>,
    mmap: bool,
    verify: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let (framework, device) = (Framework::of(py, framework)?, Device::of(device)?);
    device.check(py, framework)?;
    let weights = opened(py, &filename.0)?;
    if verify {
        verify_stored(py, &weights, None)?;
    }
    let mapping = if mmap { Mapping::Private } else { Mapping::None };
    all(py, &weights, framework, &device, mapping)
}

/// All tensors of a file in memory, in file order. They have memory of their own.
#[pyfunction]
pub(crate) fn load<'py>(py: Python<'py>, data: Input, framework: &str) -> PyResult<Bound<'py, PyDict>> {
    let framework = Framework::of(py, framework)?;
    let weights =
        released(py, || Weights::of_bytes(data.0))?.map_err(|error| any_fault(py, Doing::Deserializing, error))?;
    all(py, &weights, framework, &Device::Cpu, Mapping::None)
}

/// Names and tensors of a BinTensors file in memory: `[(name, {"shape": …, "dtype": …, "data": …})]`, in file order.
#[pyfunction]
pub(crate) fn deserialize<'py>(py: Python<'py>, bytes: Input) -> PyResult<Bound<'py, PyList>> {
    let file = BinTensors::deserialize(&bytes.0).map_err(|error| fault(py, Doing::Deserializing, error))?;
    let list = PyList::empty(py);
    for (name, view) in file.iter() {
        let tensor = PyDict::new(py);
        tensor.set_item("shape", view.shape())?;
        tensor.set_item("dtype", view.dtype().name())?;
        tensor.set_item("data", PyByteArray::new(py, view.data()))?;
        list.append((name, tensor))?;
    }
    Ok(list)
}

/// Whether tensors are views of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapping {
    Private,
    None,
}

fn all<'py>(
    py: Python<'py>,
    weights: &Weights,
    framework: Framework,
    device: &Device,
    mapping: Mapping,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    weights.each(|name, described| {
        // Each tensor is handed out once here.
        let tensor = one(py, weights, &described, framework, device, mapping, Sharing::Together)?;
        dict.set_item(PyString::new(py, name), tensor)
    })?;
    Ok(dict)
}

/// One tensor of a file.
///
/// # Errors
/// When reading fails, or the framework lacks the element type.
pub(super) fn one<'py>(
    py: Python<'py>,
    weights: &Weights,
    described: &Described,
    framework: Framework,
    device: &Device,
    mapping: Mapping,
    sharing: Sharing,
) -> PyResult<Bound<'py, PyAny>> {
    if mapping == Mapping::Private
        && let Some((pages, part)) = weights.pages(py, described, sharing)?
    {
        return framework.on_pages(described, &pages, part, device);
    }
    let elements =
        released(py, || weights.elements(described))?.map_err(|error| any_fault(py, Doing::Opening, error))?;
    framework.on_elements(py, described, elements, device)
}
