//! Indices as NumPy writes them: integers, slices, `...`, and tuples of them.

use crate::errors::coded;
use crate::value::type_name;
use framewright::tensor::{AxisSlice, Selection, TensorError};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyTuple};

/// The selection that a key of `[]` means.
///
/// # Errors
/// `TypeError` for keys that only whole arrays take, `ValueError` for a step of zero.
pub(crate) fn selection(key: &Bound<'_, PyAny>) -> PyResult<Selection> {
    match key.cast::<PyTuple>() {
        Ok(keys) => keys.iter().try_fold(Selection::new(), |selection, key| Ok(selection.axis(axis(&key)?))),
        Err(_) => Ok(Selection::new().axis(axis(key)?)),
    }
}

/// An index that does not fit: the class that NumPy raises, with a stable code.
pub(super) fn index_error(py: Python<'_>, error: &TensorError) -> PyErr {
    let text = error.to_string();
    let exception = match error {
        TensorError::OutOfBounds { .. } | TensorError::TooManyAxes { .. } => PyIndexError::new_err(text),
        _ => PyValueError::new_err(text),
    };
    coded(py, exception, "invalid_slice")
}

fn axis(key: &Bound<'_, PyAny>) -> PyResult<AxisSlice> {
    if key.is_instance_of::<PyEllipsis>() {
        return Ok(AxisSlice::Ellipsis);
    }
    if let Ok(slice) = key.cast::<PySlice>() {
        let bound = |name: &str| -> PyResult<Option<i64>> {
            let value = slice.getattr(name)?;
            if value.is_none() { Ok(None) } else { Ok(Some(index(&value)?)) }
        };
        let step = bound("step")?.unwrap_or(1);
        if step == 0 {
            return Err(PyValueError::new_err("slice step cannot be zero"));
        }
        return Ok(AxisSlice::Range { start: bound("start")?, end: bound("stop")?, step });
    }
    index(key).map(AxisSlice::Index)
}

/// An integer, as far as one can lie inside an axis.
fn index(key: &Bound<'_, PyAny>) -> PyResult<i64> {
    let number: i128 = key.extract().map_err(|_| {
        let words = "use numpy() for other indices";
        PyTypeError::new_err(format!("indices must be integers, slices or ..., not {}: {words}", type_name(key)))
    })?;
    Ok(number.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
}
