//! What a decoder finds: frames and damage.

use super::errors::frame_error;
use super::value::to_python;
use framewright::dynamic::{EnumStyle, FrameCodec};
use framewright::primitives::Span;
use framewright::structframe::{BadChecksum, Event, Frame};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// A good frame. `frame["field"]` is `frame.values["field"]`.
#[pyclass(frozen, get_all, module = "fwright.structframe", name = "Frame")]
pub(crate) struct PyFrame {
    /// The name of the message; `None` when the schema has no message of this id.
    message: Option<String>,
    /// The id of the message.
    id: u16,
    /// The fields by name; `None` when the id is unknown or the payload cannot be read.
    values: Option<Py<PyAny>>,
    /// The payload as it was received.
    payload: Py<PyBytes>,
    /// Why the payload cannot be read.
    error: Option<Py<PyAny>>,
    /// The sequence number, where the profile has one.
    sequence: Option<u8>,
    /// The system, where the profile has one.
    system: Option<u8>,
    /// The component, where the profile has one.
    component: Option<u8>,
    /// The first byte of the frame.
    at: u64,
    /// One past its last byte.
    end: u64,
    /// Whether it was found inside damaged bytes.
    recovered: bool,
}

#[pymethods]
impl PyFrame {
    fn __getitem__<'py>(&self, py: Python<'py>, field: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match &self.values {
            Some(values) => values.bind(py).get_item(field),
            None => Err(PyKeyError::new_err(field.clone().unbind())),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shown = match (&self.values, &self.error) {
            (Some(values), _) => values.bind(py).repr()?.to_string(),
            (None, Some(error)) => format!("error={}", error.bind(py).str()?),
            (None, None) => format!("payload={}", self.payload.bind(py).repr()?),
        };
        let name = self.message.clone().unwrap_or_else(|| format!("id {}", self.id));
        Ok(format!("Frame({name}, {shown}, at={})", self.at))
    }
}

/// Bytes that are not a good frame.
#[pyclass(frozen, get_all, module = "fwright.structframe", name = "Damage")]
pub(crate) struct PyDamage {
    /// `bad_checksum`, `skipped` (bytes between frames) or `truncated` (the input ends inside a frame).
    kind: &'static str,
    /// The first byte.
    at: u64,
    /// One past the last byte.
    end: u64,
    /// The id that a frame with a wrong checksum claims.
    id: Option<u16>,
    /// The checksum that was computed.
    expected: Option<Py<PyBytes>>,
    /// The checksum that was found.
    found: Option<Py<PyBytes>>,
}

#[pymethods]
impl PyDamage {
    fn __repr__(&self) -> String {
        let id = self.id.map_or_else(String::new, |id| format!(", id={id}"));
        format!("Damage({}, at={}, end={}{id})", self.kind, self.at, self.end)
    }
}

/// An event as an object.
///
/// # Errors
/// When an object cannot be made.
pub(super) fn event<'py>(
    py: Python<'py>,
    frames: &FrameCodec<'_, '_>,
    event: &Event<'_>,
    enums: EnumStyle,
) -> PyResult<Bound<'py, PyAny>> {
    let bytes = |pair: &[u8; 2]| PyBytes::new(py, pair).unbind();
    let damage = |kind, span: &Span, claimed: Option<&BadChecksum>| {
        let made = PyDamage {
            kind,
            at: span.start,
            end: span.end,
            id: claimed.map(|claimed| claimed.id),
            expected: claimed.map(|claimed| bytes(&claimed.expected)),
            found: claimed.map(|claimed| bytes(&claimed.found)),
        };
        Ok(Bound::new(py, made)?.into_any())
    };
    match event {
        Event::Frame(frame) => Ok(Bound::new(py, good(py, frames, frame, enums)?)?.into_any()),
        Event::BadChecksum(claimed) => damage("bad_checksum", &claimed.span, Some(claimed)),
        Event::Skipped(span) => damage("skipped", span, None),
        Event::Truncated(span) => damage("truncated", span, None),
    }
}

fn good(py: Python<'_>, frames: &FrameCodec<'_, '_>, frame: &Frame<'_>, enums: EnumStyle) -> PyResult<PyFrame> {
    let line = frames.line(frame);
    let values = line.values.as_ref().map(|value| to_python(py, value, enums)).transpose()?;
    let error = line.error.as_ref().map(|error| frame_error(py, error).into_value(py).into_any());
    Ok(PyFrame {
        message: line.message,
        id: line.id,
        values: values.map(Bound::unbind),
        payload: PyBytes::new(py, frame.payload).unbind(),
        error,
        sequence: line.sequence,
        system: line.system,
        component: line.component,
        at: line.at,
        end: frame.span.end,
        recovered: line.recovered,
    })
}

/// What was counted, by name.
///
/// # Errors
/// When an object cannot be made.
pub(super) fn counters<'py>(
    py: Python<'py>,
    counters: &framewright::structframe::Counters,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, count) in [
        ("frames", counters.frames),
        ("recovered", counters.recovered),
        ("unknown_ids", counters.unknown_ids),
        ("crc_failures", counters.crc_failures),
        ("sync_recoveries", counters.sync_recoveries),
        ("failed_bytes", counters.failed_bytes),
        ("noise_bytes", counters.noise_bytes),
        ("len_errors", counters.len_errors),
        ("seq_gaps", counters.seq_gaps),
    ] {
        dict.set_item(name, count)?;
    }
    Ok(dict)
}
