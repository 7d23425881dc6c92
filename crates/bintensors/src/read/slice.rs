//! Part of a tensor, as contiguous pieces of its bytes.

use super::TensorView;
use crate::BinTensorError;
use fw_tensor::{Selection, SlicePlan};

/// A slice of a tensor: its shape, and its bytes as the fewest contiguous pieces, found as they are asked for.
#[derive(Clone, Debug)]
pub struct Sliced<'data> {
    data: &'data [u8],
    size: u64,
    plan: SlicePlan,
}

impl<'data> Sliced<'data> {
    pub(super) fn new(view: &TensorView<'data>, selection: &Selection) -> Result<Self, BinTensorError> {
        let plan = selection.plan(view.shape())?;
        Ok(Self { data: view.data(), size: view.dtype().size(), plan })
    }

    /// Dimensions of the result.
    pub fn shape(&self) -> &[u64] {
        self.plan.shape()
    }

    /// Bytes of the result.
    pub fn byte_len(&self) -> u64 {
        // The slice is no larger than the tensor, whose bytes are in memory.
        self.plan.element_count().saturating_mul(self.size)
    }

    /// The pieces, in output order.
    pub fn chunks(&self) -> impl Iterator<Item = &'data [u8]> + '_ {
        self.plan.runs().map(|run| {
            let range = run.start.saturating_mul(self.size) as usize..run.end.saturating_mul(self.size) as usize;
            // A plan never leaves the tensor it was made for.
            self.data.get(range).unwrap_or(&[])
        })
    }

    /// The bytes in place, when they are one piece.
    pub fn as_contiguous(&self) -> Option<&'data [u8]> {
        match self.plan.run_count() {
            0 => Some(&[]),
            1 => self.chunks().next(),
            _ => None,
        }
    }

    /// The bytes, copied together.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.byte_len() as usize);
        self.chunks().for_each(|chunk| bytes.extend_from_slice(chunk));
        bytes
    }
}
