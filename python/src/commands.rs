//! The command line, as the program `fw` and as functions.

use crate::interrupt::reported;
use fw_cli::ProgressListener;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use std::sync::Arc;

/// Runs a command line, whose first word is the name of the program, and returns its exit code.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, words: Vec<OsString>) -> u8 {
    // As the program does: this is the whole process.
    framewright::source::remove_temporary_files_on_signals();
    py.detach(|| fw_cli::run(words))
}

/// Runs a command line and returns its exit code, its output, and what went wrong as JSON. Nothing is printed.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
pub(crate) fn answer<'py>(
    py: Python<'py>,
    words: Vec<OsString>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(u8, Bound<'py, PyBytes>, Option<String>)> {
    let answer = reported(py, progress, |progress| {
        let listener =
            progress.map(|progress| -> ProgressListener { Arc::new(move |done, total| progress.tell(done, total)) });
        fw_cli::answer(words, listener)
    })?;
    Ok((answer.code, PyBytes::new(py, &answer.output), answer.fault.map(|fault| fault.to_string())))
}
