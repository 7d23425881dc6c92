//! Metadata values as Python objects, and back.

use framewright::tensogram::{MetadataMap, Value};
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// A metadata value as a Python object. Tags are left out; keys that Python cannot hash become tuples.
///
/// # Errors
/// When an object cannot be made.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Map(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(key_to_python(py, key)?, to_python(py, value)?)?;
            }
            dict.into_any()
        }
        Value::Tag(_, inner) => to_python(py, inner)?,
        other => return Err(PyTypeError::new_err(format!("cannot convert {} to a Python object", other.kind()))),
    })
}

/// A map of metadata as a dict.
///
/// # Errors
/// As [`to_python`].
pub(crate) fn map_to_python<'py>(py: Python<'py>, map: &MetadataMap) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in map {
        dict.set_item(key, to_python(py, value)?)?;
    }
    Ok(dict)
}

/// A Python object as a metadata value: `None`, `bool`, `int`, `float`, `str`, bytes, lists, tuples and dicts of them, and NumPy
/// scalars and arrays as the numbers they hold.
///
/// # Errors
/// `ValueError` for anything else, and for integers outside what CBOR can hold.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    nested(object, 0)
}

/// A dict with text keys as a map of metadata.
///
/// # Errors
/// `TypeError` for other keys; as [`from_python`].
pub(crate) fn map_from_python(dict: &Bound<'_, PyDict>) -> PyResult<MetadataMap> {
    dict.iter().map(|(key, value)| Ok((text_key(&key)?, from_python(&value)?))).collect()
}

/// A key that must be text.
///
/// # Errors
/// `TypeError` when it is not.
pub(crate) fn text_key(key: &Bound<'_, PyAny>) -> PyResult<String> {
    match key.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.to_owned()),
        Err(_) => Err(PyTypeError::new_err(format!("'{}' object is not an instance of 'str'", type_name(key)))),
    }
}

/// The name of an object's type, for messages.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

fn nested(object: &Bound<'_, PyAny>, depth: u32) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyRecursionError::new_err(format!("metadata is nested more than {DEEPEST} deep")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.to_str()?.to_owned()));
    }
    if object.is_instance_of::<PyInt>() {
        return integer(object);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok((nested(&key, depth + 1)?, nested(&value, depth + 1)?))
        };
        return Ok(Value::Map(dict.iter().map(entry).collect::<PyResult<_>>()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.map(|item| nested(&item?, depth + 1));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        return Ok(Value::Bytes(object.extract()?));
    }
    // Scalars and arrays of NumPy: an array without axes gives a scalar.
    if object.hasattr(intern!(object.py(), "dtype"))? && object.hasattr(intern!(object.py(), "tolist"))? {
        let plain = object.call_method0(intern!(object.py(), "tolist"))?;
        if !plain.is(object) {
            return nested(&plain, depth + 1);
        }
    }
    Err(PyValueError::new_err(format!("cannot convert {} to CBOR", type_name(object))))
}

fn integer(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let number: i128 = object.extract().unwrap_or(i128::MAX);
    if number > i128::from(u64::MAX) || number < -1 - i128::from(u64::MAX) {
        let words = "cannot convert int to CBOR: it is outside -2^64..2^64-1";
        return Err(PyValueError::new_err(format!("{words}: {object}")));
    }
    Ok(Value::Integer(number))
}

/// A key of a map: lists are tuples there, and what cannot be hashed at all is text.
fn key_to_python<'py>(py: Python<'py>, key: &Value) -> PyResult<Bound<'py, PyAny>> {
    match key.untagged() {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| key_to_python(py, item)).collect::<PyResult<_>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
        Value::Map(_) => Ok(to_python(py, key.untagged())?.repr()?.into_any()),
        other => to_python(py, other),
    }
}

/// As deep as metadata may be read back by default.
const DEEPEST: u32 = 250;
