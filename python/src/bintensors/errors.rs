//! Faults as `BintensorError`, which is written in Python so that it can be pickled.

use framewright::bintensors::BinTensorError;
use framewright::convert::ConvertError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Which class of `fwright.bintensors._errors` to raise.
#[derive(Clone, Copy)]
pub(super) enum Class {
    /// `BintensorError` itself.
    Fault,
    /// Also a `KeyError`: no tensor of that name.
    NotFound,
    /// Also an `IndexError`: an index outside the tensor.
    Slice,
    /// Also an `OSError`: a file that could not be written.
    Write,
}

impl Class {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Fault, "BintensorError"),
        (Self::NotFound, "TensorNotFoundError"),
        (Self::Slice, "SliceError"),
        (Self::Write, "WriteError"),
    ];

    fn get(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static CLASSES: PyOnceLock<Vec<Py<PyType>>> = PyOnceLock::new();
        let all = CLASSES.get_or_try_init(py, || -> PyResult<_> {
            let module = py.import("fwright.bintensors._errors")?;
            let class = |name: &str| Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind());
            Self::ALL.iter().map(|(_, name)| class(name)).collect()
        })?;
        let class = all.get(self as usize).ok_or_else(|| PyRuntimeError::new_err("no such class"))?;
        Ok(class.bind(py))
    }

    /// The exception, with its code and, where it is known, its byte.
    pub(super) fn error(self, py: Python<'_>, text: impl Into<String>, code: &str, at: Option<u64>) -> PyErr {
        let made = || -> PyResult<PyErr> {
            let value = self.get(py)?.call1((text.into(),))?;
            value.setattr("code", code)?;
            value.setattr("offset", at)?;
            Ok(PyErr::from_value(value))
        };
        made().unwrap_or_else(|error| error)
    }
}

/// What was being done, for the beginning of the text.
#[derive(Clone, Copy)]
pub(super) enum Doing {
    Opening,
    Deserializing,
    Serializing,
    Slicing,
    Verifying,
}

impl Doing {
    const fn words(self) -> &'static str {
        match self {
            Self::Opening => "Error while deserializing header: ",
            Self::Deserializing => "Error while deserializing: ",
            Self::Serializing => "Error while serializing: ",
            Self::Slicing => "Error during slicing: ",
            Self::Verifying => "",
        }
    }
}

/// A fault of the format.
pub(super) fn fault(py: Python<'_>, doing: Doing, error: BinTensorError) -> PyErr {
    match error {
        // Programs that catch either class of a failed write find it.
        BinTensorError::IoError(error) if matches!(doing, Doing::Serializing) => {
            let text = format!("{}IoError: {error}", doing.words());
            let exception = Class::Write.error(py, text, "io_error", None);
            let _ = exception.value(py).setattr("errno", error.raw_os_error());
            exception
        }
        BinTensorError::IoError(error) => error.into(),
        error => Class::Fault.error(py, format!("{}{error}", doing.words()), error.code(), error.position()),
    }
}

/// A fault of a file of any of the formats.
pub(super) fn any_fault(py: Python<'_>, doing: Doing, error: ConvertError) -> PyErr {
    match error {
        ConvertError::Io(error) => error.into(),
        ConvertError::BinTensors(error) => fault(py, doing, error),
        ConvertError::NotFound(name) => not_found(py, &name),
        ConvertError::Tensor(error) => {
            Class::Slice.error(py, format!("{}{error}", doing.words()), "invalid_slice", None)
        }
        error => match error.io() {
            Some(cause) => std::io::Error::new(cause.kind(), error.to_string()).into(),
            None => Class::Fault.error(py, format!("{}{error}", doing.words()), error.code(), error.position()),
        },
    }
}

/// No tensor of that name.
pub(super) fn not_found(py: Python<'_>, name: &str) -> PyErr {
    Class::NotFound.error(py, format!("File does not contain tensor {name}"), "tensor_not_found", None)
}

/// An argument that is not one of those allowed.
pub(super) fn invalid(py: Python<'_>, text: String) -> PyErr {
    Class::Fault.error(py, text, "invalid_argument", None)
}
