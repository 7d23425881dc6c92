//! `fwright.bintensors`: weights in files, under the names that users of the format know.

mod errors; // faults as BintensorError
mod frameworks; // what a tensor becomes, and on which device
mod weights; // an open file: descriptions, and where the bytes are
mod load; // tensors of a file as arrays
mod open; // safe_open
mod slice; // parts of a tensor
mod write; // serialize and its kin
mod trust; // manifests, signatures, keys
mod verify; // digests

use pyo3::prelude::*;

/// The functions and classes of `fwright.bintensors`.
#[pymodule]
pub(crate) mod bintensors {
    #[pymodule_export]
    use super::load::{deserialize, load, load_file};
    #[pymodule_export]
    use super::open::SafeOpen;
    #[pymodule_export]
    use super::slice::PySafeSlice;
    #[pymodule_export]
    use super::trust::{digest, generate_key, manifest, sign};
    #[pymodule_export]
    use super::verify::verify;
    #[pymodule_export]
    use super::write::{save, save_file, serialize, serialize_file};
}
