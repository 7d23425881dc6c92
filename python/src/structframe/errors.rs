//! Faults as exceptions, whose classes are written in Python so that they can be pickled.

use framewright::dynamic::Error;
use framewright::schema::Diagnostics;
use pyo3::prelude::*;

fn raised(py: Python<'_>, class: &str, text: String, code: &str) -> PyResult<Py<PyAny>> {
    let value = py.import("fwright.structframe._errors")?.getattr(class)?.call1((text,))?;
    value.setattr("code", code)?;
    Ok(value.unbind())
}

fn exception(py: Python<'_>, made: PyResult<Py<PyAny>>) -> PyErr {
    match made {
        Ok(value) => PyErr::from_value(value.into_bound(py)),
        Err(error) => error,
    }
}

/// A payload or a value that does not fit its message.
pub(super) fn frame_error(py: Python<'_>, error: &Error) -> PyErr {
    let made = raised(py, "FrameError", error.to_string(), error.code).and_then(|value| {
        value.setattr(py, "path", &error.path)?;
        value.setattr(py, "offset", error.at)?;
        Ok(value)
    });
    exception(py, made)
}

/// A request that cannot be met.
pub(super) fn request_error(py: Python<'_>, text: String, code: &str) -> PyErr {
    exception(py, raised(py, "FrameError", text, code))
}

/// A schema that cannot be used: the text shows every fault with its line, `findings` lists them.
pub(super) fn schema_error(py: Python<'_>, faults: &Diagnostics) -> PyErr {
    let code = faults.errors().next().map_or("invalid_schema", |fault| fault.code.name());
    let made = raised(py, "SchemaError", faults.to_string().trim_end().to_owned(), code).and_then(|value| {
        let findings: Vec<_> = faults
            .list()
            .iter()
            .map(|fault| {
                let place = faults.sources().describe(fault.span);
                (fault.severity().to_string(), fault.code.name(), place, fault.message.clone(), fault.hint.clone())
            })
            .collect();
        value.call_method1(py, "_found", (findings,))?;
        Ok(value)
    });
    exception(py, made)
}
