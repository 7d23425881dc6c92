//! `doctor()`: what this build can do, as a dict.

use crate::interrupt::released;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Lists the parts of this build and tries them: a dict of `build`, `features` and `self_test`.
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let found = released(py, framewright::doctor::examine)?;
    let text = serde_json::to_string(&found).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let dict = py.import("json")?.call_method1("loads", (text,))?.cast_into::<PyDict>()?;
    // What `fw doctor` knows of the processor has no place in the reference's dict.
    dict.del_item("cpu")?;
    Ok(dict)
}
