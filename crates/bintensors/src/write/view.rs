//! What can be written: anything that can say its type and shape, and later hand over its bytes.

use crate::{BinTensorError, Dtype, Shape, TensorView};
use std::borrow::Cow;

/// A tensor for the writer. `data_len` is asked before any `data`, so that a tensor can be made when its turn comes.
pub trait View {
    /// Element type.
    fn dtype(&self) -> Dtype;
    /// Dimensions.
    fn shape(&self) -> &[u64];
    /// The bytes: little endian, row-major.
    fn data(&self) -> Cow<'_, [u8]>;
    /// Number of bytes that `data` will return.
    fn data_len(&self) -> u64;
}

impl View for TensorView<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype()
    }

    fn shape(&self) -> &[u64] {
        self.shape()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.data())
    }

    fn data_len(&self) -> u64 {
        self.data().len() as u64
    }
}

impl<V: View + ?Sized> View for &V {
    fn dtype(&self) -> Dtype {
        (**self).dtype()
    }

    fn shape(&self) -> &[u64] {
        (**self).shape()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        (**self).data()
    }

    fn data_len(&self) -> u64 {
        (**self).data_len()
    }
}

impl<'a> TryFrom<&fw_tensor::TensorView<'a>> for TensorView<'a> {
    type Error = BinTensorError;

    /// The common view as one of this format; on a big-endian machine only for types of one byte.
    fn try_from(view: &fw_tensor::TensorView<'a>) -> Result<Self, BinTensorError> {
        let common = view.dtype();
        let dtype = Dtype::from_common(common).ok_or_else(|| {
            BinTensorError::EncodeError(format!("type {common} has no counterpart in this format; see BT-9"))
        })?;
        if fw_tensor::ByteOrder::NATIVE == fw_tensor::ByteOrder::Big && dtype.size() > 1 {
            return Err(BinTensorError::EncodeError("data must be little endian; swap it first".to_owned()));
        }
        TensorView::new(dtype, Shape::from(view.shape()), view.data())
    }
}
