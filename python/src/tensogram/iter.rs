//! Messages of a buffer, one after the other.

use super::functions;
use super::output;
use crate::buffer::Input;
use crate::errors::OrRaise;
use crate::interrupt::released;
use bytes::Bytes;
use framewright::primitives::Span;
use framewright::tensogram::{self as tgm, DecodeOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Decodes the messages of a buffer one at a time. After an error the next call goes on with the message after it.
#[pyclass(frozen, module = "fwright.tensogram", name = "MessageIter")]
pub(crate) struct PyMessageIter {
    buffer: Bytes,
    spans: Vec<Span>,
    options: DecodeOptions,
    position: AtomicUsize,
}

impl PyMessageIter {
    pub(super) fn new(buffer: Bytes, spans: Vec<Span>, options: DecodeOptions) -> Self {
        Self { buffer, spans, options, position: AtomicUsize::new(0) }
    }
}

#[pymethods]
impl PyMessageIter {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(position) = advance(&self.position, self.spans.len()) else { return Ok(None) };
        let span = self.spans[position];
        let message = self.buffer.slice(span.start as usize..span.end as usize);
        let decoded = released(py, || tgm::decode(&message, &self.options).map_err(|error| error.shifted(span.start)))?;
        output::message(py, decoded.or_raise(py)?, &self.options).map(Some)
    }

    /// The bytes, the options and the position.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, iter) = (slf.py(), slf.get());
        let position = iter.position.load(Ordering::Relaxed);
        let resume = py.get_type::<Self>().getattr("_resume")?;
        (resume, (PyBytes::new(py, &iter.buffer), iter.options.verify_hash, position)).into_pyobject(py)
    }

    /// Messages of a buffer from a position on.
    #[staticmethod]
    fn _resume(py: Python<'_>, buf: Input, verify_hash: bool, position: usize) -> PyResult<Self> {
        let iter = functions::iter_messages(py, buf, verify_hash)?;
        iter.position.store(position.min(iter.spans.len()), Ordering::Relaxed);
        Ok(iter)
    }

    fn __len__(&self) -> usize {
        self.spans.len() - self.position.load(Ordering::Relaxed)
    }

    fn __repr__(&self) -> String {
        let position = self.position.load(Ordering::Relaxed);
        format!("MessageIter(position={position}, remaining={})", self.spans.len() - position)
    }
}

/// The next position below `count`, each handed out once, whichever threads ask.
pub(super) fn advance(position: &AtomicUsize, count: usize) -> Option<usize> {
    position.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| (at < count).then_some(at + 1)).ok()
}
