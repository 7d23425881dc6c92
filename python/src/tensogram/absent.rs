//! Converters that this build does not have; they say so under the names that programs call.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;

const GRIB: &str = "tensogram was built without GRIB support: fwright has no GRIB converter yet";
const NETCDF: &str = "tensogram was built without NetCDF support: fwright has no NetCDF converter yet";

/// # Errors
/// `TypeError` for a keyword that the signature does not have.
fn known(name: &str, signature: &str, keywords: Option<&Bound<'_, pyo3::types::PyDict>>) -> PyResult<()> {
    for key in keywords.into_iter().flat_map(|keywords| keywords.keys()) {
        let key: String = key.extract()?;
        if !signature.contains(&format!(" {key}=")) {
            return Err(PyTypeError::new_err(format!("{name}() got an unexpected keyword argument '{key}'")));
        }
    }
    Ok(())
}

macro_rules! absent {
    ($($(#[$doc:meta])* fn $name:ident($($parameter:ident),*; $signature:literal) => $why:expr;)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = ($($parameter,)* **_keywords), text_signature = $signature)]
            pub(crate) fn $name(
                $($parameter: &Bound<'_, PyAny>,)*
                _keywords: Option<&Bound<'_, pyo3::types::PyDict>>,
            ) -> PyResult<()> {
                $(let _ = $parameter;)*
                known(stringify!($name), $signature, _keywords)?;
                Err(PyRuntimeError::new_err($why))
            }
        )*
    };
}

absent! {
    /// Converts a GRIB file to messages; raises `RuntimeError` where the converter is not built.
    fn convert_grib(path; "(path, *, grouping='merge_all', preserve_all_keys=False, encoding='none', bits=None, filter='none', compression='none', compression_level=None, threads=0, hash='xxh3')") => GRIB;
    /// Converts GRIB in memory to messages; raises `RuntimeError` where the converter is not built.
    fn convert_grib_buffer(buffer; "(buffer, *, grouping='merge_all', preserve_all_keys=False, encoding='none', bits=None, filter='none', compression='none', compression_level=None, threads=0, hash='xxh3')") => GRIB;
    /// Converts a NetCDF file to messages; raises `RuntimeError` where the converter is not built.
    fn convert_netcdf(path; "(path, *, split_by='file', cf=False, encoding='none', bits=None, filter='none', compression='none', compression_level=None, threads=0, hash='xxh3')") => NETCDF;
    /// Converts messages to GRIB; raises `RuntimeError` where the converter is not built.
    fn to_grib(messages; "(messages)") => GRIB;
    /// Converts messages to a NetCDF file; raises `RuntimeError` where the converter is not built.
    fn to_netcdf(messages, path; "(messages, path)") => NETCDF;
}
