//! The compiled half of the Python package `fwright`: bindings by room, no logic of their own.

mod awaitable; // awaitables of Python
mod array; // NumPy arrays on memory of ours
mod bintensors; // fwright.bintensors
mod buffer; // bytes of Python objects
mod dtype; // element types as NumPy knows them
mod elements; // elements of arrays as bytes
mod errors; // errors as exceptions
mod commands; // the command line, as a program and as functions
mod html; // what notebooks show
mod files; // fwright.open
mod interrupt; // long work: signals and progress
mod promise; // mapped files are left alone
mod save; // fwright.save
mod structframe; // fwright.structframe
mod tensogram; // fwright.tensogram
mod value; // metadata values

use pyo3::prelude::*;

/// The private module behind `fwright`.
#[pymodule]
mod _fwright {
    use super::*;

    #[pymodule_export]
    use crate::bintensors::bintensors;
    #[pymodule_export]
    use crate::commands::{answer, run};
    #[pymodule_export]
    use crate::files::{PyTensor, PyTensorFile, open};
    #[pymodule_export]
    use crate::save::save;
    #[pymodule_export]
    use crate::structframe::structframe;
    #[pymodule_export]
    use crate::tensogram::tensogram;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
