//! What is to be encoded: metadata, descriptors and data, from dicts and arrays.

use crate::buffer;
use crate::dtype;
use crate::elements::{self, as_array};
use crate::value::{from_python, map_from_python, text_key, type_name};
use bytes::Bytes;
use framewright::tensogram::describe::is_tensogram_dtype;
use framewright::tensogram::{DataObjectDescriptor, GlobalMetadata, MetadataMap};
use framewright::tensor::{ByteOrder, DType, row_major_strides};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

/// One object to write.
pub(crate) struct ObjectData {
    pub(crate) descriptor: DataObjectDescriptor,
    pub(crate) data: Bytes,
}

impl ObjectData {
    /// As the library takes it.
    pub(super) fn pair(&self) -> (&DataObjectDescriptor, &[u8]) {
        (&self.descriptor, &self.data)
    }
}

/// All of them as the library takes them.
pub(super) fn pairs(objects: &[ObjectData]) -> Vec<(&DataObjectDescriptor, &[u8])> {
    objects.iter().map(ObjectData::pair).collect()
}

/// Message metadata from a dict: `base`, `_extra_` or `extra`, and any other key for the message.
///
/// # Errors
/// `ValueError` for parts of the wrong type and for `_reserved_`.
pub(super) fn metadata(dict: &Bound<'_, PyDict>) -> PyResult<GlobalMetadata> {
    let (mut metadata, mut loose) = (GlobalMetadata::default(), MetadataMap::new());
    let explicit = dict.contains("_extra_")?;
    for (key, value) in dict.iter() {
        let key = text_key(&key)?;
        match key.as_str() {
            "base" => metadata.base = base(&value)?,
            "_reserved_" => {
                return Err(PyValueError::new_err(
                    "'_reserved_' must not be set by client code: the encoder writes it",
                ));
            }
            "_extra_" => metadata.extra = part(&value, "_extra_")?,
            "extra" if !explicit => metadata.extra = part(&value, "extra")?,
            _ => drop(loose.insert(key, from_python(&value)?)),
        }
    }
    for (key, value) in loose {
        metadata.extra.entry(key).or_insert(value);
    }
    Ok(metadata)
}

/// Pairs of descriptor and data: a list or tuple of tuples or lists.
///
/// # Errors
/// `TypeError` and `ValueError` for anything else; as [`object`].
pub(super) fn objects(pairs: &Bound<'_, PyAny>, take: Take) -> PyResult<Vec<ObjectData>> {
    if !pairs.is_instance_of::<PyList>() && !pairs.is_instance_of::<PyTuple>() {
        return Err(PyTypeError::new_err(format!(
            "argument 'descriptors_and_data': '{}' object is not an instance of 'list'",
            type_name(pairs)
        )));
    }
    pairs.try_iter()?.map(|pair| one(&pair?, take)).collect()
}

/// What data may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    /// Arrays, and bytes of elements.
    Elements,
    /// Bytes of an encoded payload.
    Payload,
}

/// One object from its descriptor and its data.
///
/// # Errors
/// `ValueError` for descriptors that lack something, or that do not fit the array.
pub(crate) fn object(descriptor: &Bound<'_, PyDict>, data: &Bound<'_, PyAny>, take: Take) -> PyResult<ObjectData> {
    let mut described = Described::read(descriptor)?;
    if take == Take::Payload {
        if data.cast::<PyUntypedArray>().is_ok() {
            return Err(not_a_payload(data));
        }
        let data = buffer::shared(data).map_err(|_| not_a_payload(data))?;
        return Ok(ObjectData { descriptor: described.finish()?, data });
    }
    let data = match as_array(data)? {
        Some(array) => stored_elements(&mut described, &array)?,
        None => buffer::shared(data).map_err(|_| PyValueError::new_err(NOT_DATA))?,
    };
    Ok(ObjectData { descriptor: described.finish()?, data })
}

fn one(pair: &Bound<'_, PyAny>, take: Take) -> PyResult<ObjectData> {
    let wrong = || PyValueError::new_err("each element must be a (descriptor_dict, data) tuple");
    if !pair.is_instance_of::<PyTuple>() && !pair.is_instance_of::<PyList>() || pair.len()? != 2 {
        return Err(wrong());
    }
    let (descriptor, data) = (pair.get_item(0)?, pair.get_item(1)?);
    let descriptor = descriptor
        .cast::<PyDict>()
        .map_err(|_| PyValueError::new_err("first element of each pair must be a descriptor dict"))?;
    object(descriptor, &data, take)
}

fn not_a_payload(data: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!(
        "encode_pre_encoded requires bytes data (got {}): the payload must already be in its final wire form",
        type_name(data)
    ))
}

fn base(value: &Bound<'_, PyAny>) -> PyResult<Vec<MetadataMap>> {
    let wrong = || PyValueError::new_err("'base' must be a list of dicts");
    if !value.is_instance_of::<PyList>() && !value.is_instance_of::<PyTuple>() {
        return Err(wrong());
    }
    let entry = |entry: PyResult<Bound<'_, PyAny>>| {
        let entry = map_from_python(entry?.cast::<PyDict>().map_err(|_| wrong())?)?;
        match entry.contains_key("_reserved_") {
            true => Err(PyValueError::new_err("base entries must not contain '_reserved_' key: the encoder writes it")),
            false => Ok(entry),
        }
    };
    value.try_iter()?.map(entry).collect()
}

fn part(value: &Bound<'_, PyAny>, name: &str) -> PyResult<MetadataMap> {
    let dict = value.cast::<PyDict>().map_err(|_| PyValueError::new_err(format!("'{name}' must be a dict")))?;
    map_from_python(dict)
}

/// A descriptor as far as its dict says.
struct Described {
    shape: Option<Vec<u64>>,
    dtype: Option<DType>,
    strides: Option<Vec<u64>>,
    descriptor: DataObjectDescriptor,
}

impl Described {
    fn read(dict: &Bound<'_, PyDict>) -> PyResult<Self> {
        let descriptor = DataObjectDescriptor::default();
        let mut described = Self { shape: None, dtype: None, strides: None, descriptor };
        let mut misplaced = Vec::new();
        for (key, value) in dict.iter() {
            let key = text_key(&key)?;
            let target = &mut described.descriptor;
            match key.as_str() {
                "type" => target.obj_type = value.extract()?,
                "shape" => described.shape = Some(value.extract()?),
                "strides" => described.strides = Some(value.extract()?),
                "dtype" => described.dtype = Some(element_type(&value)?),
                "byte_order" => target.byte_order = byte_order(&value)?,
                "encoding" => target.encoding = value.extract()?,
                "filter" => target.filter = value.extract()?,
                "compression" => target.compression = value.extract()?,
                // Both follow from the rest.
                "ndim" | "hash" => {}
                _ => {
                    target.params.insert(key.clone(), from_python(&value)?);
                    if APPLICATION_KEYS.contains(&key.as_str()) {
                        misplaced.push(format!("'{key}'"));
                    }
                }
            }
        }
        if !misplaced.is_empty() {
            let text = format!(
                "descriptor contains application-metadata-like keys ({}) that are stored as codec parameters; application \
                 metadata belongs in meta['base'][i]",
                misplaced.join(", ")
            );
            let text = std::ffi::CString::new(text).map_err(|_| PyValueError::new_err("a key holds a zero byte"))?;
            PyErr::warn(dict.py(), &dict.py().get_type::<PyUserWarning>(), &text, 1)?;
        }
        Ok(described)
    }

    fn finish(self) -> PyResult<DataObjectDescriptor> {
        let missing = |key: &str| PyValueError::new_err(format!("descriptor missing '{key}'"));
        let shape = self.shape.ok_or_else(|| missing("shape"))?;
        let dtype = self.dtype.ok_or_else(|| missing("dtype"))?;
        let strides = match self.strides {
            Some(strides) => strides,
            None => {
                row_major_strides(&shape).map_err(|error| PyValueError::new_err(format!("MetadataError: {error}")))?
            }
        };
        Ok(DataObjectDescriptor { ndim: shape.len() as u64, shape, strides, dtype, ..self.descriptor })
    }
}

/// An element type by its name, or as NumPy spells types.
fn element_type(value: &Bound<'_, PyAny>) -> PyResult<DType> {
    let unknown = |name: &str| PyValueError::new_err(format!("unknown dtype: {name}"));
    let known = |dtype: &DType| is_tensogram_dtype(*dtype);
    if let Ok(name) = value.cast::<PyString>() {
        let name = name.to_str()?;
        return name.parse::<DType>().ok().filter(known).ok_or_else(|| unknown(name));
    }
    let descriptor = numpy::PyArrayDescr::new(value.py(), value)?;
    stored(&descriptor).ok_or_else(|| unknown(&descriptor.to_string()))
}

fn byte_order(value: &Bound<'_, PyAny>) -> PyResult<ByteOrder> {
    let name: String = value.extract()?;
    ByteOrder::from_name(&name)
        .ok_or_else(|| PyValueError::new_err(format!("unknown byte_order: '{name}', expected 'little' or 'big'")))
}

/// The element type that an array is stored as: truth values are bytes of 0 and 1.
fn stored(descriptor: &Bound<'_, numpy::PyArrayDescr>) -> Option<DType> {
    match dtype::element_type(descriptor)? {
        DType::Bool => Some(DType::UInt8),
        other => Some(other).filter(|dtype| is_tensogram_dtype(*dtype)),
    }
}

/// The elements of an array as the descriptor wants them stored; what the descriptor leaves out comes from the array.
fn stored_elements(described: &mut Described, array: &Bound<'_, PyUntypedArray>) -> PyResult<Bytes> {
    let py = array.py();
    let numpy_type = array.dtype();
    let Some(found) = stored(&numpy_type) else {
        return Err(PyValueError::new_err(format!("{NOT_DATA}: no element type of the format is {numpy_type}")));
    };
    let declared = *described.dtype.get_or_insert(found);
    let shape: Vec<u64> = array.shape().iter().map(|axis| *axis as u64).collect();
    if declared == DType::Bitmask && dtype::element_type(&numpy_type) == Some(DType::Bool) {
        described.shape.get_or_insert(shape);
        return buffer::shared(&py.import("numpy")?.call_method1("packbits", (array,))?);
    }
    if declared != found {
        // The bits of elements, in a type that NumPy has for them.
        let bits = found == DType::UInt8
            || found == DType::UInt16 && matches!(declared, DType::Float16 | DType::BFloat16)
            || found == DType::Float32 && declared == DType::Complex64
            || found == DType::Float64 && declared == DType::Complex128;
        if !bits {
            return Err(PyValueError::new_err(format!(
                "MetadataError: the array has elements of type {numpy_type}, which does not match expected {declared} of the descriptor"
            )));
        }
    } else {
        let expected = described.shape.get_or_insert_with(|| shape.clone());
        check_shape(&shape, expected)?;
    }
    // An array of bits keeps the order it has; values are brought into the order of the descriptor.
    elements::row_major(array, found, described.descriptor.byte_order)
}

/// An array as formats of plain elements hold it: its type, its shape, and its elements, little endian and by rows.
///
/// # Errors
/// `ValueError` for what is no array, and for types that no format has.
pub(crate) fn plain_elements(data: &Bound<'_, PyAny>) -> PyResult<(DType, Vec<u64>, Bytes)> {
    let array = match as_array(data)? {
        Some(array) => array,
        None => data.py().import("numpy")?.call_method1("asarray", (data,))?.cast_into::<PyUntypedArray>()?,
    };
    let numpy_type = array.dtype();
    let Some(dtype) = dtype::element_type(&numpy_type) else {
        return Err(PyValueError::new_err(format!("cannot save elements of type {numpy_type}")));
    };
    let shape = array.shape().iter().map(|axis| *axis as u64).collect();
    Ok((dtype, shape, elements::row_major(&array, dtype, ByteOrder::Little)?))
}

/// Whether an array of shape `found` holds the elements of `expected` in their order: the same axes, axes of length one
/// aside, or all elements in one axis.
fn check_shape(found: &[u64], expected: &[u64]) -> PyResult<()> {
    let long = |shape: &[u64]| shape.iter().copied().filter(|axis| *axis != 1).collect::<Vec<_>>();
    let count = |shape: &[u64]| shape.iter().try_fold(1u64, |count, axis| count.checked_mul(*axis));
    if long(found) == long(expected) || found.len() == 1 && count(found) == count(expected) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "MetadataError: the array has shape {found:?}, which does not match expected {expected:?} of the descriptor"
    )))
}

const NOT_DATA: &str = "data must be a numpy array or bytes";

/// Keys that describe a field, not how it is stored.
const APPLICATION_KEYS: &[&str] = &[
    "name",
    "param",
    "shortName",
    "long_name",
    "description",
    "units",
    "dim_names",
    "mars",
    "cf",
    "product",
    "instrument",
];
