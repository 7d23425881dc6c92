//! `fwright.tensogram`: the names that users of the format know.

mod options; // keywords to options
pub(crate) mod input; // dicts and arrays to what is encoded
mod metadata; // Metadata
mod descriptor; // DataObjectDescriptor
mod output; // decoded things to arrays
mod html; // what notebooks show
mod iter; // messages of a buffer
mod functions; // messages in memory
mod validate; // findings
mod file; // messages in files and stores
mod follow; // messages of a file that grows
mod awaited; // the same, awaited
mod stream; // messages written object by object
mod stream_awaited; // the same, awaited
mod doctor; // what this build can do
mod absent; // converters that are not built

pub(crate) use file::settings;

use crate::errors::{HashMismatchError, IntegrityError, MissingHashError};
use pyo3::prelude::*;

/// The functions and classes of `fwright.tensogram`.
#[pymodule]
pub(crate) mod tensogram {
    #[pymodule_export]
    use super::absent::{convert_grib, convert_grib_buffer, convert_netcdf, to_grib, to_netcdf};
    #[pymodule_export]
    use super::awaited::{PyAsyncTensogramFile, PyAsyncTensogramFileIter};
    #[pymodule_export]
    use super::descriptor::PyDescriptor;
    #[pymodule_export]
    use super::doctor::doctor;
    #[pymodule_export]
    use super::file::{PyTensogramFile, PyTensogramFileIter};
    #[pymodule_export]
    use super::follow::PyTensogramFileFollow;
    #[pymodule_export]
    use super::functions::{
        compute_hash, compute_packing_params, decode, decode_descriptors, decode_metadata, decode_object, decode_range,
        decode_with_masks, encode, encode_pre_encoded, is_remote_url, iter_messages, scan,
    };
    #[pymodule_export]
    use super::html::_message_html;
    #[pymodule_export]
    use super::iter::PyMessageIter;
    #[pymodule_export]
    use super::metadata::PyMetadata;
    #[pymodule_export]
    use super::stream::PyStreamingEncoder;
    #[pymodule_export]
    use super::stream_awaited::PyAsyncStreamingEncoder;
    #[pymodule_export]
    use super::validate::{validate, validate_file};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("IntegrityError", py.get_type::<IntegrityError>())?;
        module.add("HashMismatchError", py.get_type::<HashMismatchError>())?;
        module.add("MissingHashError", py.get_type::<MissingHashError>())?;
        module.add("__has_grib__", false)?;
        module.add("__has_netcdf__", false)?;
        module.add("WIRE_VERSION", super::metadata::WIRE_VERSION)
    }
}
