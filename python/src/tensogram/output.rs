//! What reading returns: messages, objects, ranges and masks, as Python objects.

use super::descriptor::PyDescriptor;
use super::metadata::PyMetadata;
use crate::array::{self, Layout};
use crate::errors::OrRaise;
use crate::interrupt::released;
use bytes::Bytes;
use framewright::tensogram::{
    self as tgm, DataObjectDescriptor, DecodeOptions, DecodedMessage, DecodedObject, DecodedRanges, GlobalMetadata,
    MaskKind, MaskedMessage, MaskedObject, Object, open_objects,
};
use framewright::tensor::{ByteOrder, DType};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

/// `Message(metadata, objects)`, with objects as pairs of descriptor and array.
pub(super) fn message<'py>(
    py: Python<'py>,
    decoded: DecodedMessage,
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let pairs = decoded.objects.into_iter().map(|object| pair(py, object, options)).collect::<PyResult<Vec<_>>>()?;
    named_tuple(py, decoded.metadata, PyList::new(py, pairs)?)
}

/// The same for a message whose bytes are shared: raw objects come as views of them, which can only be read; others are
/// decoded.
pub(super) fn message_of_views<'py>(
    py: Python<'py>,
    bytes: Bytes,
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let opened: tgm::Result<_> = released(py, || {
        let (metadata, objects) = open_objects(bytes, options)?;
        let payloads =
            objects.into_iter().map(|object| Elements::of(object, options)).collect::<Result<Vec<_>, _>>()?;
        Ok((metadata, payloads))
    })?;
    let (metadata, payloads) = opened.or_raise(py)?;
    let pairs = payloads.into_iter().map(|elements| elements.pair(py, options)).collect::<PyResult<Vec<_>>>()?;
    named_tuple(py, metadata, PyList::new(py, pairs)?)
}

/// Elements of one object: where they stand, or decoded.
pub(super) enum Elements {
    /// Shared with the message.
    InPlace(DataObjectDescriptor, Bytes),
    /// Decoded for the caller.
    Decoded(DecodedObject),
}

impl Elements {
    /// In place where nothing about them needs to change.
    ///
    /// # Errors
    /// As [`Object::decode`].
    pub(super) fn of(object: Object, options: &DecodeOptions) -> framewright::tensogram::Result<Self> {
        if options.verify_hash {
            object.verify_hash()?;
        }
        if let Some(bytes) = object.bytes() {
            return Ok(Self::InPlace(object.into_descriptor(), bytes));
        }
        let bytes = object.decode(options)?;
        Ok(Self::Decoded(DecodedObject { descriptor: object.into_descriptor(), bytes }))
    }

    /// Descriptor and array.
    pub(super) fn parts<'py>(
        self,
        py: Python<'py>,
        options: &DecodeOptions,
    ) -> PyResult<(PyDescriptor, Bound<'py, PyAny>)> {
        match self {
            Self::InPlace(descriptor, bytes) => {
                let array = array::view(py, &layout(&descriptor, options), bytes)?;
                Ok((PyDescriptor::new(descriptor), array))
            }
            Self::Decoded(object) => parts(py, object, options),
        }
    }

    fn pair<'py>(self, py: Python<'py>, options: &DecodeOptions) -> PyResult<Bound<'py, PyTuple>> {
        self.parts(py, options)?.into_pyobject(py)
    }
}

/// Descriptor and array of one decoded object.
pub(super) fn parts<'py>(
    py: Python<'py>,
    object: DecodedObject,
    options: &DecodeOptions,
) -> PyResult<(PyDescriptor, Bound<'py, PyAny>)> {
    let array = array::owned(py, &layout(&object.descriptor, options), object.bytes)?;
    Ok((PyDescriptor::new(object.descriptor), array))
}

/// A dict of the metadata of a message, and the descriptor and array of one of its objects.
pub(super) fn object_dict<'py>(
    py: Python<'py>,
    metadata: GlobalMetadata,
    (descriptor, array): (PyDescriptor, Bound<'py, PyAny>),
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("metadata", Bound::new(py, PyMetadata::new(metadata))?)?;
    dict.set_item("descriptor", Bound::new(py, descriptor)?)?;
    dict.set_item("data", array)?;
    Ok(dict)
}

/// `Message(metadata, objects)` with zeros where the masks are, and the masks beside each array.
pub(super) fn masked_message<'py>(
    py: Python<'py>,
    decoded: MaskedMessage,
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let triple = |object: MaskedObject| -> PyResult<Bound<'py, PyTuple>> {
        let MaskedObject { descriptor, bytes, masks } = object;
        let count = descriptor.element_count().or_raise(py)?;
        let dict = PyDict::new(py);
        for kind in MaskKind::ALL {
            if let Some(mask) = masks.get(kind) {
                let truths: Vec<u8> = (0..count).map(|index| u8::from(mask.contains(index))).collect();
                let flat = Layout { dtype: DType::Bool, order: ByteOrder::NATIVE, shape: &[count] };
                dict.set_item(kind.key(), array::owned(py, &flat, truths)?)?;
            }
        }
        let (descriptor, array) = parts(py, DecodedObject { descriptor, bytes }, options)?;
        (descriptor, array, dict).into_pyobject(py)
    };
    let triples = decoded.objects.into_iter().map(triple).collect::<PyResult<Vec<_>>>()?;
    named_tuple(py, decoded.metadata, PyList::new(py, triples)?)
}

/// Runs of elements: a list of one array per run, or all of them in one array.
pub(super) fn ranges<'py>(
    py: Python<'py>,
    decoded: DecodedRanges,
    join: bool,
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let DecodedRanges { descriptor, parts } = decoded;
    let order = order(&descriptor, options);
    let width = descriptor.dtype.byte_width().unwrap_or(1) as u64;
    let flat = |bytes: Vec<u8>| {
        // Packed elements stay packed: their arrays are bytes.
        let dtype = if descriptor.dtype.byte_width().is_some() { descriptor.dtype } else { DType::UInt8 };
        let shape = [bytes.len() as u64 / width];
        array::owned(py, &Layout { dtype, order, shape: &shape }, bytes)
    };
    if join {
        return flat(parts.concat());
    }
    let arrays = parts.into_iter().map(flat).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, arrays)?.into_any())
}

/// What an array of an object is.
pub(super) fn layout<'a>(descriptor: &'a DataObjectDescriptor, options: &DecodeOptions) -> Layout<'a> {
    Layout { dtype: descriptor.dtype, order: order(descriptor, options), shape: &descriptor.shape }
}

fn pair<'py>(py: Python<'py>, object: DecodedObject, options: &DecodeOptions) -> PyResult<Bound<'py, PyTuple>> {
    parts(py, object, options)?.into_pyobject(py)
}

fn order(descriptor: &DataObjectDescriptor, options: &DecodeOptions) -> ByteOrder {
    if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order }
}

/// The named tuple that the package declares.
fn named_tuple<'py>(
    py: Python<'py>,
    metadata: GlobalMetadata,
    objects: Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyAny>> {
    static MESSAGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = MESSAGE.import(py, "fwright.tensogram._message", "Message")?;
    class.call1((PyMetadata::new(metadata), objects))
}
