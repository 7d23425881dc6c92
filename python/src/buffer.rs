//! Bytes of Python objects, shared without a copy.
//!
//! What is promised, by whom, and what breaks it: an exported buffer is read as `&[u8]`, which Rust requires to stay
//! unchanged. The buffer protocol keeps the memory alive and in place until the export is released; `bytes` cannot change at
//! all. A `bytearray`, an array or a map can: the caller, who handed the object over, promises to leave it alone while a call
//! runs and while views of it live, as with every function of Python that releases the interpreter over a buffer. Lengths and
//! positions are checked against the slice on every access, so bytes that change all the same give wrong values or an error.
#![allow(unsafe_code)]

use bytes::Bytes;
use framewright::source::ReadAt;
use framewright::source::plan::Cost;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;

/// The bytes of an argument: `bytes`, `bytearray`, `memoryview`, `mmap`, an array; anything with a contiguous buffer.
pub(crate) struct Input(pub(crate) Bytes);

impl<'a, 'py> FromPyObject<'a, 'py> for Input {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        shared(&object).map(Self).map_err(|error| {
            if error.is_instance_of::<PyTypeError>(object.py()) {
                let name = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
                return PyTypeError::new_err(format!(
                    "'{name}' object is not an instance of 'bytes | bytearray' and has no buffer"
                ));
            }
            error
        })
    }
}

/// Bytes as a source.
#[derive(Clone)]
pub(crate) struct Held(pub(crate) Bytes);

impl ReadAt for Held {
    fn len(&self) -> std::io::Result<u64> {
        ReadAt::len(&*self.0)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.0.read_exact_at(offset, buffer)
    }

    fn cost(&self) -> Cost {
        ReadAt::cost(&*self.0)
    }
}

/// The bytes of an object's buffer; the object stays alive, and its memory in place, as long as any part of them is held.
///
/// # Errors
/// `TypeError` for an object without a buffer, `BufferError` for one that is not contiguous.
pub(crate) fn shared(object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    let buffer = PyUntypedBuffer::get(object)?;
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("the buffer is not contiguous: make a copy of it first"));
    }
    if buffer.len_bytes() == 0 {
        return Ok(Bytes::new());
    }
    Ok(Bytes::from_owner(Exported(buffer)))
}

/// A buffer that is released when the last part of it is dropped, on whichever thread that happens.
struct Exported(PyUntypedBuffer);

impl AsRef<[u8]> for Exported {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `shared` made this value only for a C-contiguous buffer that is not empty, so the protocol says that
        // `buf_ptr` points to `len_bytes` readable bytes, valid until the export is released; that happens when `self`, which
        // the slice borrows, is dropped. That nobody writes to them meanwhile is the caller's promise (see the top).
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<u8>(), self.0.len_bytes()) }
    }
}
