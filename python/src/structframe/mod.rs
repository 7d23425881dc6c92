//! `fwright.structframe`: frames of small devices as values, records and columns.

mod errors; // faults as exceptions
mod value; // values as Python objects, and back
mod events; // frames and damage
mod schema; // a compiled schema
mod describe; // what is in it
mod decoder; // bytes to events
mod columns; // bytes to columns

use pyo3::prelude::*;

/// The classes of `fwright.structframe`.
#[pymodule]
pub(crate) mod structframe {
    #[pymodule_export]
    use super::decoder::PyDecoder;
    #[pymodule_export]
    use super::events::{PyDamage, PyFrame};
    #[pymodule_export]
    use super::schema::PySchema;
}
