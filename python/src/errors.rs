//! Errors as exceptions: the classes and prefixes that users of the format know.

use framewright::convert::ConvertError;
use framewright::tensogram::{Fault, TensogramError};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    fwright.tensogram,
    IntegrityError,
    PyException,
    "A digest that was asked for is missing or does not match."
);
create_exception!(fwright.tensogram, HashMismatchError, IntegrityError, "The stored digest does not match the bytes.");
create_exception!(fwright.tensogram, MissingHashError, IntegrityError, "The object carries no digest to verify.");

/// An error of Tensogram as an exception. Besides their text, exceptions carry `code`, and `offset` and `path` where they are
/// known.
pub(crate) fn tensogram(py: Python<'_>, error: TensogramError) -> PyErr {
    match named(py, error) {
        Ok(exception) | Err(exception) => exception,
    }
}

fn named(py: Python<'_>, error: TensogramError) -> PyResult<PyErr> {
    let (code, offset, path) = (error.code(), error.offset(), error.path().to_owned());
    let exception = match error {
        TensogramError::Framing(fault) => value_error("FramingError", &fault),
        // Programs look for these words.
        TensogramError::Metadata(fault) if fault.code() == "data_length_mismatch" => {
            PyValueError::new_err(format!("MetadataError: data length does not match expected: {fault}"))
        }
        TensogramError::Metadata(fault) => value_error("MetadataError", &fault),
        TensogramError::Encoding(fault) => value_error("EncodingError", &fault),
        TensogramError::Compression(fault) => value_error("CompressionError", &fault),
        TensogramError::Object(fault) => value_error("ObjectError", &fault),
        TensogramError::Selection(fault) => value_error("SelectionError", &fault),
        TensogramError::Remote(fault) => PyOSError::new_err(format!("RemoteError: {fault}")),
        TensogramError::Io(error) => error.into(),
        TensogramError::HashMismatch { object_index, expected, actual, place } => {
            let index = object_index.map_or_else(|| "none".to_owned(), |index| index.to_string());
            let text = format!("HashMismatch: object_index={index}, expected={expected}, actual={actual}{place}");
            let exception = HashMismatchError::new_err(text);
            let value = exception.value(py);
            value.setattr("object_index", object_index)?;
            value.setattr("expected", expected)?;
            value.setattr("actual", actual)?;
            exception
        }
        TensogramError::MissingHash { object_index, place } => {
            let exception = MissingHashError::new_err(format!(
                "MissingHash: object_index={object_index}; the message was encoded without hashes: encode it with hash=\"xxh3\", \
                 or decode it without verify_hash=True{place}"
            ));
            exception.value(py).setattr("object_index", object_index)?;
            exception
        }
        other => PyValueError::new_err(format!("{}Error: {other}", other.class())),
    };
    let value = exception.value(py);
    value.setattr("code", code)?;
    value.setattr("offset", offset)?;
    value.setattr("path", path)?;
    Ok(exception)
}

fn value_error(class: &str, fault: &Fault) -> PyErr {
    PyValueError::new_err(format!("{class}: {fault}"))
}

/// Results of the library as results of Python.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, ConvertError> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| match error {
            ConvertError::Tensogram(error) => tensogram(py, error),
            ConvertError::Io(error) => error.into(),
            ConvertError::NotFound(name) => PyKeyError::new_err(name),
            // The words name the file; the class is that of what the system said.
            other if other.io().is_some() => {
                let kind = other.io().map_or(std::io::ErrorKind::Other, std::io::Error::kind);
                std::io::Error::new(kind, other.to_string()).into()
            }
            other => coded(py, PyValueError::new_err(other.to_string()), other.code()),
        })
    }
}

/// The exception with its stable code as an attribute.
pub(crate) fn coded(py: Python<'_>, exception: PyErr, code: &str) -> PyErr {
    match exception.value(py).setattr("code", code) {
        Ok(()) => exception,
        Err(other) => other,
    }
}

impl<T> OrRaise<T> for framewright::tensogram::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| tensogram(py, error))
    }
}
