//! Element types as NumPy knows them.

use framewright::tensor::{ByteOrder, DType};
use numpy::{Complex32, Complex64, PyArrayDescr, PyArrayDescrMethods, dtype};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// The NumPy type of elements in this order. Types that NumPy lacks come from `ml_dtypes` where that can be imported, otherwise
/// as unsigned integers of the same width; elements smaller than a byte come packed in bytes.
///
/// # Errors
/// When NumPy cannot be imported.
pub(crate) fn array_type(py: Python<'_>, element: DType, order: ByteOrder) -> PyResult<Bound<'_, PyArrayDescr>> {
    let native = native_type(py, element)?;
    if order == ByteOrder::NATIVE || element.swap_unit() == 1 {
        return Ok(native);
    }
    let letter = if order == ByteOrder::Big { ">" } else { "<" };
    Ok(native.call_method1(intern!(py, "newbyteorder"), (letter,))?.cast_into::<PyArrayDescr>()?)
}

fn native_type(py: Python<'_>, element: DType) -> PyResult<Bound<'_, PyArrayDescr>> {
    Ok(match element {
        DType::Float32 => dtype::<f32>(py),
        DType::Float64 => dtype::<f64>(py),
        DType::Complex64 => dtype::<Complex32>(py),
        DType::Complex128 => dtype::<Complex64>(py),
        DType::Int8 => dtype::<i8>(py),
        DType::Int16 => dtype::<i16>(py),
        DType::Int32 => dtype::<i32>(py),
        DType::Int64 => dtype::<i64>(py),
        DType::UInt8 => dtype::<u8>(py),
        DType::UInt16 => dtype::<u16>(py),
        DType::UInt32 => dtype::<u32>(py),
        DType::UInt64 => dtype::<u64>(py),
        DType::Bool => dtype::<bool>(py),
        DType::Float16 => PyArrayDescr::new(py, intern!(py, "float16"))?,
        other => match (ML_DTYPES.iter().find(|(known, _)| *known == other), ml_dtypes(py)) {
            (Some((_, name)), Some(module)) => PyArrayDescr::new(py, module.getattr(*name)?)?,
            _ if other.byte_width() == Some(2) => dtype::<u16>(py),
            _ => dtype::<u8>(py),
        },
    })
}

/// Which element type a NumPy type is, whatever its byte order; `None` for types that no format has.
pub(crate) fn element_type(descriptor: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    let by_kind = match (descriptor.kind(), descriptor.itemsize()) {
        (b'f', 2) => Some(DType::Float16),
        (b'f', 4) => Some(DType::Float32),
        (b'f', 8) => Some(DType::Float64),
        (b'c', 8) => Some(DType::Complex64),
        (b'c', 16) => Some(DType::Complex128),
        (b'i', 1) => Some(DType::Int8),
        (b'i', 2) => Some(DType::Int16),
        (b'i', 4) => Some(DType::Int32),
        (b'i', 8) => Some(DType::Int64),
        (b'u', 1) => Some(DType::UInt8),
        (b'u', 2) => Some(DType::UInt16),
        (b'u', 4) => Some(DType::UInt32),
        (b'u', 8) => Some(DType::UInt64),
        (b'b', 1) => Some(DType::Bool),
        _ => None,
    };
    // Types of ml_dtypes share letters with those of NumPy: their names tell.
    let name = descriptor.getattr("name").ok()?;
    let name = name.cast::<PyString>().ok()?.to_string();
    ML_DTYPES.iter().find(|(_, known)| *known == name).map(|(element, _)| *element).or(by_kind)
}

/// Types that NumPy lacks, under the names of `ml_dtypes`.
const ML_DTYPES: &[(DType, &str)] = &[
    (DType::BFloat16, "bfloat16"),
    (DType::Float8E4M3, "float8_e4m3fn"),
    (DType::Float8E5M2, "float8_e5m2"),
    (DType::Float8E4M3Fnuz, "float8_e4m3fnuz"),
    (DType::Float8E5M2Fnuz, "float8_e5m2fnuz"),
    (DType::Float8E8M0, "float8_e8m0fnu"),
];

/// The module `ml_dtypes`, where it is installed; it is looked for once.
fn ml_dtypes(py: Python<'_>) -> Option<&Bound<'_, PyAny>> {
    static MODULE: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    MODULE
        .get_or_init(py, || py.import("ml_dtypes").ok().map(|module| module.into_any().unbind()))
        .as_ref()
        .map(|module| module.bind(py))
}
