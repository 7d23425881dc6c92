//! What is encoded: elements, and what they are.

use crate::describe::DataObjectDescriptor;
use crate::error::Result;
use fw_tensor::{Element, TensorError, byte_len};

/// One object to encode: its descriptor, and its elements in the byte order of the descriptor.
///
/// A pair of descriptor and elements converts into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectInput<'a> {
    /// What the object is and how it is coded.
    pub descriptor: &'a DataObjectDescriptor,
    /// Its elements, or its payload if that is already encoded.
    pub data: &'a [u8],
}

impl<'a, D: AsRef<[u8]> + ?Sized> From<(&'a DataObjectDescriptor, &'a D)> for ObjectInput<'a> {
    fn from((descriptor, data): (&'a DataObjectDescriptor, &'a D)) -> Self {
        Self { descriptor, data: data.as_ref() }
    }
}

/// The descriptor of a row-major tensor of these values, in the byte order of this machine.
///
/// # Errors
/// When the number of values does not match the shape.
pub(super) fn describe_values<T: Element>(shape: &[u64], values: &[T]) -> Result<DataObjectDescriptor> {
    let descriptor = DataObjectDescriptor::new(T::DTYPE, shape)?;
    let (expected, found) = (byte_len(T::DTYPE, shape)?, size_of_val(values) as u64);
    if expected != found {
        return Err(TensorError::LengthMismatch { dtype: T::DTYPE, shape: shape.to_vec(), expected, found }.into());
    }
    Ok(descriptor)
}
