//! A tensor that borrows its bytes, and one that owns them. Both hold elements in the machine's byte order, row-major.

use crate::{DType, Element, TensorError, byte_len, element_count};
use std::borrow::Cow;
use zerocopy::{FromBytes, IntoBytes};

/// A tensor whose bytes belong to someone else: a message in memory, a mapped file, a caller's slice.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorView<'a> {
    dtype: DType,
    shape: Cow<'a, [u64]>,
    data: &'a [u8],
}

impl<'a> TensorView<'a> {
    /// A view of `data` as a tensor.
    ///
    /// # Errors
    /// When the length does not match shape and element type.
    pub fn new(dtype: DType, shape: impl Into<Cow<'a, [u64]>>, data: &'a [u8]) -> Result<Self, TensorError> {
        let shape = shape.into();
        check_length(dtype, &shape, data.len())?;
        Ok(Self { dtype, shape, data })
    }

    /// A view of typed values.
    ///
    /// # Errors
    /// When the number of values does not match the shape.
    pub fn from_values<T: Element>(shape: &'a [u64], values: &'a [T]) -> Result<Self, TensorError> {
        Self::new(T::DTYPE, shape, values.as_bytes())
    }

    /// Element type.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The bytes.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Number of elements.
    pub fn element_count(&self) -> u64 {
        // The constructor proved that the product fits.
        element_count(&self.shape).unwrap_or(0)
    }

    /// The elements in place, without copying.
    ///
    /// # Errors
    /// When the element type differs, or the bytes are not aligned for `T` (then [`TensorView::to_vec`] works).
    pub fn values<T: Element>(&self) -> Result<&'a [T], TensorError> {
        check_type::<T>(self.dtype)?;
        <[T]>::ref_from_bytes(self.data).map_err(|_| TensorError::Misaligned { dtype: self.dtype })
    }

    /// The elements, copied.
    ///
    /// # Errors
    /// When the element type differs.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, TensorError> {
        check_type::<T>(self.dtype)?;
        if let Ok(values) = self.values::<T>() {
            return Ok(values.to_vec());
        }
        let mut values = vec![T::new_zeroed(); self.data.len() / size_of::<T>()];
        values.as_mut_bytes().copy_from_slice(self.data);
        Ok(values)
    }

    /// A tensor that owns a copy of the bytes.
    pub fn to_owned(&self) -> TensorBuf {
        TensorBuf { dtype: self.dtype, shape: self.shape.to_vec(), data: self.data.to_vec() }
    }
}

/// A tensor that owns its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorBuf {
    dtype: DType,
    shape: Vec<u64>,
    data: Vec<u8>,
}

impl TensorBuf {
    /// A tensor from its bytes.
    ///
    /// # Errors
    /// When the length does not match shape and element type.
    pub fn new(dtype: DType, shape: Vec<u64>, data: Vec<u8>) -> Result<Self, TensorError> {
        check_length(dtype, &shape, data.len())?;
        Ok(Self { dtype, shape, data })
    }

    /// A borrowed view of it.
    pub fn view(&self) -> TensorView<'_> {
        TensorView { dtype: self.dtype, shape: Cow::Borrowed(&self.shape), data: &self.data }
    }

    /// Element type.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The bytes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Gives up the bytes.
    pub fn into_data(self) -> Vec<u8> {
        self.data
    }
}

fn check_length(dtype: DType, shape: &[u64], found: usize) -> Result<(), TensorError> {
    let expected = byte_len(dtype, shape)?;
    if expected == found as u64 {
        return Ok(());
    }
    Err(TensorError::LengthMismatch { dtype, shape: shape.to_vec(), expected, found: found as u64 })
}

fn check_type<T: Element>(found: DType) -> Result<(), TensorError> {
    if T::DTYPE == found { Ok(()) } else { Err(TensorError::WrongType { expected: T::DTYPE, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misaligned_bytes_still_copy_out() {
        let values = [1.0f64, 2.0, 3.0];
        let mut bytes = [0u8; 25];
        bytes[1..].copy_from_slice(values.as_bytes());
        let odd = TensorView::new(DType::Float64, &[3u64][..], &bytes[1..]).unwrap();
        assert_eq!(odd.to_vec::<f64>().unwrap(), values);
        assert!(matches!(odd.values::<f32>(), Err(TensorError::WrongType { .. })));
        assert!(TensorView::new(DType::Float64, &[4u64][..], &bytes[1..]).is_err());
    }
}
