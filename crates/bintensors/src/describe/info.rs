//! One tensor, described.

use crate::{BinTensorError, Dtype, Shape};
use fw_bytes::Span;
use fw_tensor::Selection;

/// What the header says about one tensor. The name is borrowed from the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo<'a> {
    /// Name.
    pub name: &'a str,
    /// Element type.
    pub dtype: Dtype,
    /// Dimensions.
    pub shape: Shape,
    /// First byte and one past the last, counted from the beginning of the data section.
    pub data_offsets: (u64, u64),
}

impl TensorInfo<'_> {
    /// Bytes of data.
    pub const fn data_len(&self) -> u64 {
        self.data_offsets.1.saturating_sub(self.data_offsets.0)
    }

    /// The byte ranges a slice consists of, counted from the beginning of the data section, in output order, and the
    /// shape of the result. Neighbouring elements are one range.
    ///
    /// # Errors
    /// When the selection does not fit the shape.
    pub fn slice_ranges(&self, selection: impl Into<Selection>) -> Result<(Vec<u64>, Vec<Span>), BinTensorError> {
        let plan = selection.into().plan(&self.shape)?;
        let size = self.dtype.size();
        // The plan's elements lie inside the tensor, whose last byte the header check has already reached.
        let spans = plan.runs().map(|run| {
            let start = self.data_offsets.0.saturating_add(run.start.saturating_mul(size));
            Span::new(start, start.saturating_add((run.end.saturating_sub(run.start)).saturating_mul(size)))
        });
        let spans = spans.collect();
        Ok((plan.shape().to_vec(), spans))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_become_byte_ranges() {
        let info = TensorInfo { name: "a", dtype: Dtype::F32, shape: [4, 6].into(), data_offsets: (100, 196) };
        let (shape, spans) = info.slice_ranges(1..3).unwrap();
        assert_eq!((shape, spans), (vec![2, 6], vec![Span::new(124, 172)]));
        let (shape, spans) = info.slice_ranges((0..2, 0)).unwrap();
        assert_eq!((shape, spans), (vec![2], vec![Span::new(100, 104), Span::new(124, 128)]));
        assert!(info.slice_ranges(Selection::new().axis(4)).is_err());
    }
}
