//! The compiled half of the Python package `fwright`: bindings by room, no logic of their own.

mod array; // NumPy arrays on memory of ours
mod buffer; // bytes of Python objects
mod dtype; // element types as NumPy knows them
mod errors; // errors as exceptions
mod files; // fwright.open
mod promise; // mapped files are left alone
mod tensogram; // fwright.tensogram
mod value; // metadata values

use pyo3::prelude::*;

/// The private module behind `fwright`.
#[pymodule]
mod _fwright {
    use super::*;

    #[pymodule_export]
    use crate::files::{PyTensor, PyTensorFile, open};
    #[pymodule_export]
    use crate::tensogram::tensogram;

    /// Runs a command line, whose first word is the name of the program, and returns its exit code.
    #[pyfunction]
    fn run(py: Python<'_>, words: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| fw_cli::run(words))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
