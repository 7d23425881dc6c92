//! Values as Python objects, and back.
//!
//! Integers, floats, truth values, text and bytes are themselves; enums are names (numbers where they have none), messages are
//! dicts and arrays are lists. A `oneof` is `None`, or `{"which": name, "value": …}`.

use crate::value::type_name;
use framewright::dynamic::{EnumStyle, UnionValue, Value};
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value as Json};

/// A value as a Python object.
///
/// # Errors
/// When an object cannot be made.
pub(super) fn to_python<'py>(py: Python<'py>, value: &Value<'_>, enums: EnumStyle) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Unsigned(number) | Value::Unsigned64(number) => number.into_pyobject(py)?.into_any(),
        Value::Signed(number) | Value::Signed64(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, f64::from(*number)).into_any(),
        Value::Double(number) => PyFloat::new(py, *number).into_any(),
        Value::Enum(_, Some(name)) if enums == EnumStyle::Names => PyString::intern(py, name).into_any(),
        Value::Enum(number, _) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::List(list) => {
            let made = PyList::empty(py);
            for item in list {
                made.append(to_python(py, item, enums)?)?;
            }
            made.into_any()
        }
        Value::Message(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(PyString::intern(py, name), to_python(py, value, enums)?)?;
            }
            dict.into_any()
        }
        Value::Union(value) => union_to_python(py, value, enums)?,
        other => return Err(PyTypeError::new_err(format!("internal error: no Python object for {other:?}"))),
    })
}

fn union_to_python<'py>(py: Python<'py>, value: &UnionValue<'_>, enums: EnumStyle) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    match value {
        UnionValue::Unset => return Ok(py.None().into_bound(py)),
        UnionValue::Untagged(bytes) => return Ok(PyBytes::new(py, bytes).into_any()),
        UnionValue::Member { name, value } => {
            dict.set_item(intern!(py, "which"), PyString::intern(py, name))?;
            dict.set_item(intern!(py, "value"), to_python(py, value, enums)?)?;
        }
        UnionValue::Unknown { tag, region } => {
            dict.set_item(intern!(py, "unknown_discriminator"), tag)?;
            dict.set_item(intern!(py, "region"), PyBytes::new(py, region))?;
        }
    }
    Ok(dict.into_any())
}

/// A Python object in the form that the codec reads: numbers, text, lists and objects; bytes as `{"hex": …}`.
///
/// # Errors
/// `TypeError` for objects that no field holds, `OverflowError` for integers beyond 64 bits.
pub(super) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Json> {
    nested(object, 0)
}

fn nested(object: &Bound<'_, PyAny>, depth: u32) -> PyResult<Json> {
    if depth > DEEPEST {
        return Err(PyRecursionError::new_err(format!("values are nested more than {DEEPEST} deep")));
    }
    if object.is_none() {
        return Ok(Json::Null);
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(Json::Bool(truth.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        let number = object.extract::<i64>().map(Number::from).or_else(|_| object.extract::<u64>().map(Number::from));
        let wide = |_| PyOverflowError::new_err(format!("{object} does not fit in 64 bits"));
        return number.map(Json::Number).map_err(wide);
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = number.value();
        let named = || {
            if number.is_nan() {
                "NaN"
            } else if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            }
        };
        return Ok(Number::from_f64(number).map_or_else(|| Json::String(named().to_owned()), Json::Number));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Json::String(text.to_str()?.to_owned()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let mut map = Map::with_capacity(dict.len());
        for (key, value) in dict {
            let key = key.cast_into::<PyString>().map_err(|_| PyTypeError::new_err("names of fields must be text"))?;
            map.insert(key.to_str()?.to_owned(), nested(&value, depth + 1)?);
        }
        return Ok(Json::Object(map));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return object.try_iter()?.map(|item| nested(&item?, depth + 1)).collect::<PyResult<_>>().map(Json::Array);
    }
    // Arrays and numbers of NumPy.
    let py = object.py();
    if object.hasattr(intern!(py, "dtype"))? {
        return nested(&object.call_method0(intern!(py, "tolist"))?, depth + 1);
    }
    match crate::buffer::shared(object) {
        Ok(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Ok(Json::Object(Map::from_iter([("hex".to_owned(), Json::String(hex))])))
        }
        Err(_) => Err(PyTypeError::new_err(format!("no field holds a '{}'", type_name(object)))),
    }
}

/// Deeper than messages can be nested.
const DEEPEST: u32 = 250;
