//! Functions on messages in memory.

use super::descriptor::PyDescriptor;
use super::input::{self, Take};
use super::iter::PyMessageIter;
use super::metadata::PyMetadata;
use super::options::{decode_options, encode_options, hashing};
use super::output::{self, Elements};
use crate::buffer::Input;
use crate::errors::OrRaise;
use crate::interrupt::released;
use crate::value::type_name;
use framewright::codec::packing::{Packing, Request};
use framewright::tensogram::{self as tgm, EncodeOptions, Message};
use framewright::tensor::ByteOrder;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Encodes a message: metadata, and pairs of descriptor and array (or bytes of elements).
#[pyfunction]
#[pyo3(signature = (global_meta_dict, descriptors_and_data, hash=Some("xxh3"), threads=0, allow_nan=false, allow_inf=false,
    nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None, aggregate_hash=None),
    text_signature = "(global_meta_dict, descriptors_and_data, hash='xxh3', threads=0, allow_nan=False, allow_inf=False, nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None, aggregate_hash=None)")]
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn encode<'py>(
    py: Python<'py>,
    global_meta_dict: &Bound<'py, PyDict>,
    descriptors_and_data: &Bound<'py, PyAny>,
    hash: Option<&str>,
    threads: usize,
    allow_nan: bool,
    allow_inf: bool,
    nan_mask_method: Option<&str>,
    pos_inf_mask_method: Option<&str>,
    neg_inf_mask_method: Option<&str>,
    small_mask_threshold_bytes: Option<u64>,
    aggregate_hash: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let options = encode_options(
        [hash, aggregate_hash],
        [allow_nan, allow_inf],
        [nan_mask_method, pos_inf_mask_method, neg_inf_mask_method],
        small_mask_threshold_bytes,
        threads,
    )?;
    let metadata = input::metadata(global_meta_dict)?;
    let objects = input::objects(descriptors_and_data, Take::Elements)?;
    let message = released(py, || tgm::encode(&metadata, &input::pairs(&objects), &options))?;
    Ok(PyBytes::new(py, &message.or_raise(py)?))
}

/// Wraps payloads that are encoded already: metadata, and pairs of descriptor and bytes.
#[pyfunction]
#[pyo3(signature = (global_meta_dict, descriptors_and_data, hash=Some("xxh3"), threads=0),
    text_signature = "(global_meta_dict, descriptors_and_data, hash='xxh3', threads=0)")]
pub(crate) fn encode_pre_encoded<'py>(
    py: Python<'py>,
    global_meta_dict: &Bound<'py, PyDict>,
    descriptors_and_data: &Bound<'py, PyAny>,
    hash: Option<&str>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let options = EncodeOptions { hashing: hashing(hash)?, threads, ..EncodeOptions::default() };
    let metadata = input::metadata(global_meta_dict)?;
    let objects = input::objects(descriptors_and_data, Take::Payload)?;
    let message = released(py, || tgm::encode_pre_encoded(&metadata, &input::pairs(&objects), &options))?;
    Ok(PyBytes::new(py, &message.or_raise(py)?))
}

/// Decodes a message: `Message(metadata, objects)` with objects as pairs of descriptor and array. With `copy=False` raw objects
/// come as read-only views of the buffer.
#[pyfunction]
#[pyo3(signature = (buf, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false, *, copy=true))]
pub(crate) fn decode(
    py: Python<'_>,
    buf: Input,
    native_byte_order: bool,
    threads: usize,
    restore_non_finite: bool,
    verify_hash: bool,
    copy: bool,
) -> PyResult<Bound<'_, PyAny>> {
    let options = decode_options(native_byte_order, threads, restore_non_finite, verify_hash);
    if !copy {
        return output::message_of_views(py, buf.0, &options);
    }
    let decoded = released(py, || tgm::decode(&buf.0, &options))?.or_raise(py)?;
    output::message(py, decoded, &options)
}

/// Decodes a message without putting NaN and infinities back; beside each array stands a dict of its masks.
#[pyfunction]
#[pyo3(signature = (buf, native_byte_order=true, threads=0))]
pub(crate) fn decode_with_masks(
    py: Python<'_>,
    buf: Input,
    native_byte_order: bool,
    threads: usize,
) -> PyResult<Bound<'_, PyAny>> {
    let options = decode_options(native_byte_order, threads, false, false);
    let decoded = released(py, || tgm::decode_with_masks(&buf.0, &options))?.or_raise(py)?;
    output::masked_message(py, decoded, &options)
}

/// Reads the metadata of a message.
#[pyfunction]
pub(crate) fn decode_metadata(py: Python<'_>, buf: Input) -> PyResult<PyMetadata> {
    released(py, || tgm::decode_metadata(&buf.0))?.or_raise(py).map(PyMetadata::new)
}

/// Reads metadata and descriptors of a message; no payload is decoded.
#[pyfunction]
pub(crate) fn decode_descriptors(py: Python<'_>, buf: Input) -> PyResult<(PyMetadata, Vec<PyDescriptor>)> {
    let described = released(py, || tgm::decode_descriptors(&buf.0))?.or_raise(py)?;
    Ok((PyMetadata::new(described.metadata), described.descriptors.into_iter().map(PyDescriptor::new).collect()))
}

/// Decodes one object of a message: metadata, descriptor and array. With `copy=False` a raw object comes as a read-only view.
#[pyfunction]
#[pyo3(signature = (buf, index, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false, *, copy=true))]
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn decode_object(
    py: Python<'_>,
    buf: Input,
    index: usize,
    native_byte_order: bool,
    threads: usize,
    restore_non_finite: bool,
    verify_hash: bool,
    copy: bool,
) -> PyResult<(PyMetadata, PyDescriptor, Bound<'_, PyAny>)> {
    let options = decode_options(native_byte_order, threads, restore_non_finite, verify_hash);
    let read: tgm::Result<_> = released(py, || {
        let message = Message::from_bytes_with(buf.0, &options)?;
        let (metadata, object) = (message.metadata()?, message.object(index)?);
        if !copy {
            return Ok((metadata, Elements::of(object, &options)?));
        }
        let bytes = object.decode(&options)?;
        Ok((metadata, Elements::Decoded(tgm::DecodedObject { descriptor: object.into_descriptor(), bytes })))
    })?;
    let (metadata, elements) = read.or_raise(py)?;
    let (descriptor, array) = elements.parts(py, &options)?;
    Ok((PyMetadata::new(metadata), descriptor, array))
}

/// Decodes runs of elements of one object, `(start, count)` over the flattened tensor.
#[pyfunction]
#[pyo3(signature = (buf, object_index, ranges, join=false, native_byte_order=true, threads=0, restore_non_finite=true))]
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn decode_range<'py>(
    py: Python<'py>,
    buf: Input,
    object_index: usize,
    ranges: Vec<(u64, u64)>,
    join: bool,
    native_byte_order: bool,
    threads: usize,
    restore_non_finite: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = decode_options(native_byte_order, threads, restore_non_finite, false);
    let decoded = released(py, || tgm::decode_range(&buf.0, object_index, &ranges, &options))?.or_raise(py)?;
    output::ranges(py, decoded, join, &options)
}

/// Finds messages in a buffer: `(offset, length)` of each; anything else is skipped.
#[pyfunction]
pub(crate) fn scan(py: Python<'_>, buf: Input) -> PyResult<Vec<(u64, u64)>> {
    released(py, || tgm::scan(&buf.0).into_iter().map(|span| (span.start, span.len())).collect())
}

/// Iterates over the messages of a buffer, decoding one at a time.
#[pyfunction]
#[pyo3(signature = (buf, *, verify_hash=false))]
pub(crate) fn iter_messages(py: Python<'_>, buf: Input, verify_hash: bool) -> PyResult<PyMessageIter> {
    let spans = released(py, || tgm::scan(&buf.0))?;
    Ok(PyMessageIter::new(buf.0, spans, decode_options(true, 0, true, verify_hash)))
}

/// The digest of bytes: 16 hexadecimal digits.
#[pyfunction]
#[pyo3(signature = (data, algo="xxh3"))]
pub(crate) fn compute_hash(py: Python<'_>, data: Input, algo: &str) -> PyResult<String> {
    if algo != "xxh3" {
        hashing(Some(algo)).map_err(|error| PyValueError::new_err(format!("MetadataError: {}", error.value(py))))?;
        return Err(PyValueError::new_err(format!("MetadataError: unknown hash type: {algo}; expected \"xxh3\"")));
    }
    released(py, || tgm::compute_hash(&data.0))
}

/// Parameters of simple packing for an array: a dict of four `sp_` keys to put into a descriptor.
#[pyfunction]
pub(crate) fn compute_packing_params<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    bits_per_value: u32,
    decimal_scale_factor: i32,
) -> PyResult<Bound<'py, PyDict>> {
    let wrong = || {
        PyTypeError::new_err(format!(
            "argument 'values': '{}' object is not an instance of 'ndarray'",
            type_name(values)
        ))
    };
    let array = values.cast::<PyUntypedArray>().map_err(|_| wrong())?;
    if !matches!(array.dtype().kind(), b'f' | b'i' | b'u' | b'b') {
        return Err(PyTypeError::new_err(format!(
            "argument 'values': elements of type {} are not numbers",
            array.dtype()
        )));
    }
    let doubles = py.import("numpy")?.call_method1("ascontiguousarray", (array, "float64"))?;
    let bytes = crate::buffer::shared(&doubles)?;
    let request =
        Request { sp_decimal_scale_factor: Some(decimal_scale_factor), ..Request::bits(bits_per_value.into()) };
    let packing = released(py, || Packing::derive(request, &bytes, ByteOrder::NATIVE, 1))?;
    let packing = packing.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let dict = PyDict::new(py);
    dict.set_item("sp_reference_value", packing.reference_value())?;
    dict.set_item("sp_binary_scale_factor", packing.binary_scale_factor())?;
    dict.set_item("sp_decimal_scale_factor", packing.decimal_scale_factor())?;
    dict.set_item("sp_bits_per_value", packing.bits_per_value())?;
    Ok(dict)
}

/// Whether a source is a URL of a store: http, https, s3, s3a, gs, az, azure.
#[pyfunction]
pub(crate) fn is_remote_url(source: &str) -> bool {
    tgm::is_remote_url(source)
}
