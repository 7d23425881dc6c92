//! One tensor, borrowed from the file's bytes.

use super::Sliced;
use crate::{BinTensorError, Dtype, Shape};
use fw_tensor::{ByteOrder, Element, Selection, TensorError};

/// A tensor whose data lies in someone else's buffer or map. Data is little endian, row-major, as in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorView<'data> {
    dtype: Dtype,
    shape: Shape,
    data: &'data [u8],
}

impl<'data> TensorView<'data> {
    /// A view of `data` as a tensor.
    ///
    /// # Errors
    /// `InvalidTensorView` when the length does not match shape and element type.
    pub fn new(dtype: Dtype, shape: impl Into<Shape>, data: &'data [u8]) -> Result<Self, BinTensorError> {
        let shape = shape.into();
        match fw_tensor::byte_len(dtype.common(), &shape) {
            Ok(len) if len == data.len() as u64 => Ok(Self { dtype, shape, data }),
            _ => Err(BinTensorError::InvalidTensorView { dtype, shape: shape.to_vec(), len: data.len() as u64 }),
        }
    }

    /// A view of a header's record; the header check has matched the length already.
    pub(crate) const fn checked(dtype: Dtype, shape: Shape, data: &'data [u8]) -> Self {
        Self { dtype, shape, data }
    }

    /// Element type.
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The bytes, as in the file.
    pub const fn data(&self) -> &'data [u8] {
        self.data
    }

    /// Part of the tensor, without copying: an index, a range, a tuple of them, or any [`Selection`].
    ///
    /// An index must lie inside its axis and removes it from the result. The bounds of a range are clamped to the axis, as
    /// in NumPy, so `0..100` of an axis of 4 is all of it and `3..1` is empty; check the shape where that matters.
    ///
    /// ```
    /// use fw_bintensors::{Dtype, TensorView};
    ///
    /// let data: Vec<u8> = (0..24).collect();
    /// let tensor = TensorView::new(Dtype::U8, [2, 3, 4], &data)?;
    ///
    /// let part = tensor.slice((0..2, 2, ..))?;
    /// assert_eq!((part.shape(), part.to_vec()), (&[2, 4][..], vec![8, 9, 10, 11, 20, 21, 22, 23]));
    /// assert_eq!(tensor.slice(1)?.as_contiguous(), Some(&data[12..]));
    /// assert_eq!(tensor.slice((.., .., 1..100))?.shape(), [2, 3, 3]);
    /// assert_eq!(tensor.slice((2, 0)).unwrap_err().class(), "InvalidSlice");
    /// # Ok::<(), fw_bintensors::BinTensorError>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidSlice` when the selection does not fit the shape: an index outside its axis, more axes than there are.
    pub fn slice(&self, selection: impl Into<Selection>) -> Result<Sliced<'data>, BinTensorError> {
        Sliced::new(self, &selection.into())
    }

    /// The elements in place.
    ///
    /// # Errors
    /// When the element type differs, when the bytes are not aligned for `T` (files of other writers may leave them
    /// so), or on a big-endian machine; [`TensorView::to_vec`] works in the last two cases.
    pub fn values<T: Element>(&self) -> Result<&'data [T], TensorError> {
        let common = self.dtype.common();
        if ByteOrder::NATIVE == ByteOrder::Big && self.dtype.size() > 1 {
            return Err(TensorError::Misaligned { dtype: common });
        }
        fw_tensor::TensorView::new(common, self.shape.to_vec(), self.data)?.values()
    }

    /// The elements, copied.
    ///
    /// # Errors
    /// When the element type differs.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, TensorError> {
        let common = self.dtype.common();
        if ByteOrder::NATIVE == ByteOrder::Big {
            let mut data = self.data.to_vec();
            fw_tensor::swap_in_place(&mut data, common.swap_unit());
            return fw_tensor::TensorView::new(common, self.shape.to_vec(), &data)?.to_vec();
        }
        fw_tensor::TensorView::new(common, self.shape.to_vec(), self.data)?.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_checks_its_length_without_overflow() {
        assert!(TensorView::new(Dtype::F32, [2, 3], &[0; 24]).is_ok());
        assert!(TensorView::new(Dtype::F32, [2, 3], &[0; 23]).is_err());
        let error = TensorView::new(Dtype::U8, [1 << 63, 2], &[]).unwrap_err();
        assert_eq!(error.class(), "InvalidTensorView");
        assert!(TensorView::new(Dtype::F16, Shape::SCALAR, &[0; 2]).unwrap().shape().is_empty());
    }

    #[test]
    fn values_in_place_or_copied() {
        let mut bytes = [0u8; 9];
        bytes[1..5].copy_from_slice(&1.5f32.to_le_bytes());
        bytes[5..].copy_from_slice(&(-2f32).to_le_bytes());
        let view = TensorView::new(Dtype::F32, [2], &bytes[1..]).unwrap();
        assert_eq!(view.to_vec::<f32>().unwrap(), [1.5, -2.0]);
        assert!(view.values::<f64>().is_err());
    }
}
