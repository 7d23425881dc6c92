//! A whole file in memory: a buffer, or a map.

use super::TensorView;
use crate::{BinTensorError, Dtype, Metadata, ReadOptions, Shape};
use std::fmt;

/// A file whose bytes are at hand. Nothing is copied: names and data are borrowed from the buffer.
///
/// ```
/// use fw_bintensors::{BinTensors, Dtype, TensorView, serialize};
///
/// let data = [0u8; 4];
/// let bytes = serialize([("weight_1", TensorView::new(Dtype::BOOL, [2, 2], &data)?)], &None)?;
/// assert_eq!(bytes.len(), 36);
///
/// let file = BinTensors::deserialize(&bytes)?;
/// assert_eq!(file.names().collect::<Vec<_>>(), ["weight_1"]);
/// let weight = file.tensor("weight_1")?;
/// assert_eq!((weight.dtype(), weight.shape(), weight.data()), (Dtype::BOOL, &[2, 2][..], &data[..]));
/// # Ok::<(), fw_bintensors::BinTensorError>(())
/// ```
#[derive(Clone)]
pub struct BinTensors<'data> {
    metadata: Metadata<'data>,
    data: &'data [u8],
}

impl<'data> BinTensors<'data> {
    /// Opens a file in memory with the default profile.
    ///
    /// # Errors
    /// The faults of BT-7 and BT-8.
    #[inline]
    pub fn deserialize(bytes: &'data [u8]) -> Result<Self, BinTensorError> {
        Self::deserialize_with(bytes, &ReadOptions::default())
    }

    /// Opens a file in memory.
    ///
    /// # Errors
    /// The faults of BT-7, and those of the profile.
    #[inline]
    pub fn deserialize_with(bytes: &'data [u8], options: &ReadOptions) -> Result<Self, BinTensorError> {
        let metadata = Metadata::parse(bytes, Some(bytes.len() as u64), options)?;
        // The header check has proved that the data section is there and as long as the tensors need.
        let data = bytes.get(metadata.data_start() as usize..).unwrap_or(&[]);
        Ok(Self { metadata, data })
    }

    /// Reads the header of a whole file: its length in bytes, and what it says.
    ///
    /// # Errors
    /// The faults of BT-7 and BT-8.
    pub fn read_metadata(bytes: &'data [u8]) -> Result<(u64, Metadata<'data>), BinTensorError> {
        let metadata = Metadata::parse(bytes, Some(bytes.len() as u64), &ReadOptions::default())?;
        Ok((metadata.header_len(), metadata))
    }

    /// The tensor of that name.
    ///
    /// # Errors
    /// `TensorNotFound`.
    pub fn tensor(&self, name: &str) -> Result<TensorView<'data>, BinTensorError> {
        match self.metadata.entry(name) {
            Some(entry) => Ok(self.view(entry.dtype, entry.shape, entry.data_offsets)),
            None => Err(BinTensorError::TensorNotFound(name.to_owned())),
        }
    }

    /// Every tensor with its name, in file order.
    pub fn tensors(&self) -> Vec<(&'data str, TensorView<'data>)> {
        self.iter().collect()
    }

    /// Every tensor with its name, in file order, one at a time.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'data str, TensorView<'data>)> + '_ {
        self.metadata.infos().map(|info| (info.name, self.view(info.dtype, info.shape, info.data_offsets)))
    }

    /// Names in file order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'data str> + '_ {
        self.metadata.names()
    }

    /// What the header says.
    pub const fn metadata(&self) -> &Metadata<'data> {
        &self.metadata
    }

    /// Tensors.
    pub fn len(&self) -> usize {
        self.metadata.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.metadata.is_empty()
    }

    /// The data section.
    pub const fn data(&self) -> &'data [u8] {
        self.data
    }

    #[inline]
    fn view(&self, dtype: Dtype, shape: Shape, (start, end): (u64, u64)) -> TensorView<'data> {
        match self.data.get(start as usize..end as usize) {
            Some(data) => TensorView::checked(dtype, shape, data),
            // The header check bounds every range; an empty tensor keeps this total.
            None => TensorView::checked(dtype, Shape::from([0]), &[]),
        }
    }
}

impl fmt::Debug for BinTensors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinTensors").field("metadata", &self.metadata).finish()
    }
}
