//! `TensogramFile.follow`: messages of a file that grows.

use super::file::PyTensogramFile;
use super::iter::advance;
use crate::interrupt::released;
use framewright::primitives::interrupt::{PAUSE, check};
use framewright::tensogram::DecodeOptions;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The messages of a file that grows, decoded one at a time.
#[pyclass(frozen, module = "fwright.tensogram", name = "TensogramFileFollow")]
pub(crate) struct PyTensogramFileFollow {
    file: Py<PyTensogramFile>,
    position: AtomicUsize,
    poll: Duration,
    idle: Option<Duration>,
}

impl PyTensogramFileFollow {
    /// # Errors
    /// `ValueError` for times that are no seconds.
    pub(super) fn new(
        file: Bound<'_, PyTensogramFile>,
        start: isize,
        poll_interval: f64,
        idle_timeout: Option<f64>,
    ) -> PyResult<Self> {
        let seconds = |name: &str, value: f64| {
            let wrong = |_| PyValueError::new_err(format!("{name} must be a number of seconds, 0 or greater"));
            Duration::try_from_secs_f64(value).map_err(wrong)
        };
        let poll = seconds("poll_interval", poll_interval)?;
        let idle = idle_timeout.map(|value| seconds("idle_timeout", value)).transpose()?;
        let count = if start < 0 { file.get().message_count(file.py())? } else { 0 };
        let position = if start < 0 { count.saturating_add_signed(start) } else { start.unsigned_abs() };
        Ok(Self { file: file.unbind(), position: AtomicUsize::new(position), poll, idle })
    }
}

#[pymethods]
impl PyTensogramFileFollow {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let begun = Instant::now();
        loop {
            if let Some(position) = advance(&self.position, self.file.get().message_count(py)?) {
                return self.file.get().decoded(py, position, &DecodeOptions::default()).map(Some);
            }
            if self.idle.is_some_and(|idle| begun.elapsed() >= idle) {
                return Ok(None);
            }
            let left = self.idle.map_or(Duration::MAX, |idle| idle.saturating_sub(begun.elapsed()));
            released(py, || wait(self.poll.min(left)))?;
        }
    }

    fn __repr__(&self) -> String {
        let (source, position) = (&self.file.get().source(), self.position.load(Ordering::Relaxed));
        format!("TensogramFileFollow(source='{source}', position={position})")
    }
}

/// Waits, and stops when the work is to stop.
fn wait(time: Duration) {
    let begun = Instant::now();
    while let Some(left) = time.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        std::thread::sleep(left.min(PAUSE));
        check();
    }
}
