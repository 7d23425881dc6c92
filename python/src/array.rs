//! NumPy arrays on memory that Rust owns: no element is copied.
//!
//! What is promised, by whom, and what breaks it: an array made here points into memory of its base object, which NumPy keeps
//! alive as long as the array, and every view of it, lives. The base owns that memory and never moves, frees or (where the
//! array may be written to) looks at it again before it is dropped.
#![allow(unsafe_code)]

use crate::dtype;
use bytes::Bytes;
use framewright::source::PrivateMap;
use framewright::tensor::{ByteOrder, DType};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object, npy_intp};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use std::ffi::c_int;
use std::ops::Range;

/// What an array is: the type of its elements, how they are ordered, and its shape.
pub(crate) struct Layout<'a> {
    pub(crate) dtype: DType,
    pub(crate) order: ByteOrder,
    pub(crate) shape: &'a [u64],
}

/// An array that may be written to, on elements that were decoded for it.
///
/// # Errors
/// When the bytes are not as many as the layout takes, or NumPy cannot be imported.
pub(crate) fn owned<'py>(py: Python<'py>, layout: &Layout<'_>, elements: Vec<u8>) -> PyResult<Bound<'py, PyAny>> {
    let (data, len) = (elements.as_ptr().cast_mut(), elements.len());
    // SAFETY: `data` points to `len` bytes that the base owns. Moving the vector into it does not move its heap memory, and
    // nothing in Rust reads or writes it before the base is dropped, so writing through the array is sound.
    unsafe {
        on_base(py, layout, data, len, Bound::new(py, Decoded { _elements: elements })?.into_any(), NPY_ARRAY_WRITEABLE)
    }
}

/// An array that can only be read, on bytes that are shared with their owner: a mapped file, a buffer.
///
/// # Errors
/// As [`owned`].
pub(crate) fn view<'py>(py: Python<'py>, layout: &Layout<'_>, elements: Bytes) -> PyResult<Bound<'py, PyAny>> {
    let (data, len) = (elements.as_ptr().cast_mut(), elements.len());
    // SAFETY: `data` points to `len` bytes that stay in place as long as `elements`, which the base holds, and the array is
    // made without the flag that would let NumPy write to them.
    unsafe { on_base(py, layout, data, len, Bound::new(py, Shared { _elements: elements })?.into_any(), 0) }
}

/// An array that may be written to, on a part of a privately mapped file. All arrays of a map share one base.
///
/// # Errors
/// As [`owned`], and when the part lies outside the map.
pub(crate) fn private<'py>(
    py: Python<'py>,
    layout: &Layout<'_>,
    pages: &Bound<'py, Pages>,
    part: Range<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let map = &pages.get().map;
    if part.start > part.end || part.end > map.len() {
        return Err(PyValueError::new_err(format!("bytes {part:?} are outside a map of {} bytes", map.len())));
    }
    // SAFETY: the part lies inside the map, which the base holds and never moves. Rust never reads or writes the memory of a
    // private map, and what NumPy writes to it stays in this process.
    unsafe {
        let data = map.as_mut_ptr().add(part.start);
        on_base(py, layout, data, part.len(), pages.clone().into_any(), NPY_ARRAY_WRITEABLE)
    }
}

/// A privately mapped file.
#[pyclass(frozen, module = "fwright._fwright")]
pub(crate) struct Pages {
    pub(crate) map: PrivateMap,
}

/// Elements that were decoded for one array.
#[pyclass(frozen, module = "fwright._fwright")]
struct Decoded {
    _elements: Vec<u8>,
}

/// Elements that belong to a buffer or a mapped file.
#[pyclass(frozen, module = "fwright._fwright")]
struct Shared {
    _elements: Bytes,
}

/// # Safety
/// `data` must point to `len` bytes that stay valid and in place as long as `base` lives; with `NPY_ARRAY_WRITEABLE` Rust may
/// not use them meanwhile.
unsafe fn on_base<'py>(
    py: Python<'py>,
    layout: &Layout<'_>,
    data: *mut u8,
    len: usize,
    base: Bound<'py, PyAny>,
    flags: c_int,
) -> PyResult<Bound<'py, PyAny>> {
    let descriptor = dtype::array_type(py, layout.dtype, layout.order)?;
    let mut shape = dimensions(layout)?;
    check_len(&descriptor, &shape, len)?;
    // SAFETY: the type object is NumPy's own. `PyArray_NewFromDescr` takes the reference to the descriptor that `into_ptr` gives
    // up, reads `shape.len()` lengths from `shape`, and neither reads nor frees `data`. It returns a new reference or null with
    // an exception set, which is what `from_owned_ptr_or_err` expects. `check_len` proved that the array covers `len` bytes.
    let array = unsafe {
        let made = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descriptor.into_dtype_ptr(),
            shape.len() as c_int,
            shape.as_mut_ptr(),
            std::ptr::null_mut(),
            data.cast(),
            flags,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, made)?
    };
    // SAFETY: `array` is an array without a base, made on the lines above; the reference to `base` is given up to it, also
    // when the call fails.
    let set = unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), base.into_ptr()) };
    if set != 0 {
        return Err(PyErr::fetch(py));
    }
    Ok(array)
}

/// Lengths of the axes as NumPy counts them; elements smaller than a byte come packed, as one axis of bytes.
fn dimensions(layout: &Layout<'_>) -> PyResult<Vec<npy_intp>> {
    let too_large = || PyOverflowError::new_err("the shape does not fit in the address space");
    if layout.dtype.byte_width().is_none() {
        let len = framewright::tensor::byte_len(layout.dtype, layout.shape).map_err(|_| too_large())?;
        return Ok(vec![npy_intp::try_from(len).map_err(|_| too_large())?]);
    }
    layout.shape.iter().map(|len| npy_intp::try_from(*len).map_err(|_| too_large())).collect()
}

fn check_len(descriptor: &Bound<'_, PyArrayDescr>, shape: &[npy_intp], len: usize) -> PyResult<()> {
    let count = shape.iter().try_fold(1usize, |count, axis| count.checked_mul(usize::try_from(*axis).ok()?));
    match count.and_then(|count| count.checked_mul(descriptor.itemsize())) {
        Some(expected) if expected == len => Ok(()),
        _ => Err(PyValueError::new_err(format!("{len} bytes are not an array of shape {shape:?}"))),
    }
}
