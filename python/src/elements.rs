//! The elements of arrays as bytes: any memory order, any strides, any byte order.

use crate::buffer;
use bytes::Bytes;
use framewright::tensor::{ByteOrder, DType};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;

/// The array that an object is, or that it can be seen as; `None` for plain buffers.
pub(crate) fn as_array<'py>(data: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    let py = data.py();
    if data.is_instance_of::<pyo3::types::PyBytes>() {
        return Ok(None);
    }
    if let Ok(array) = data.cast::<PyUntypedArray>() {
        return Ok(Some(array.clone()));
    }
    if data.hasattr(intern!(py, "__array__"))? || data.hasattr(intern!(py, "__array_interface__"))? {
        let array = py.import("numpy")?.call_method1("asarray", (data,))?;
        return Ok(Some(array.cast_into::<PyUntypedArray>()?));
    }
    Ok(None)
}

/// The elements of an array, row after row, in this byte order. They are shared with the array where it holds them so.
///
/// # Errors
/// When NumPy fails.
pub(crate) fn row_major(array: &Bound<'_, PyUntypedArray>, element: DType, order: ByteOrder) -> PyResult<Bytes> {
    let py = array.py();
    let numpy_type = array.dtype();
    let wanted = if order == ByteOrder::Big { '>' } else { '<' };
    let swapped = element.swap_unit() > 1 && order_of(&numpy_type) != wanted;
    let mut array = array.clone().into_any();
    if swapped {
        let target = numpy_type.call_method1(intern!(py, "newbyteorder"), (wanted.to_string(),))?;
        array = array.call_method1(intern!(py, "astype"), (target,))?;
    }
    // Types that are not NumPy's own have no buffer: their bytes do.
    let own = numpy_type.num() < FIRST_USER_TYPE;
    if let Some(bytes) = own.then(|| buffer::shared(&array).ok()).flatten() {
        return Ok(bytes);
    }
    let flat = py.import("numpy")?.call_method1(intern!(py, "ascontiguousarray"), (&array,))?;
    let flat = flat.call_method1(intern!(py, "reshape"), (-1,))?;
    buffer::shared(&flat.call_method1(intern!(py, "view"), ("uint8",))?)
}

/// `<` or `>`.
fn order_of(descriptor: &Bound<'_, numpy::PyArrayDescr>) -> char {
    match descriptor.byteorder() {
        b'>' => '>',
        b'<' => '<',
        _ if ByteOrder::NATIVE == ByteOrder::Big => '>',
        _ => '<',
    }
}

/// Type numbers from here on belong to types that other packages register.
const FIRST_USER_TYPE: i32 = 256;
