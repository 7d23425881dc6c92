//! Misuse of the accumulators.

use fw_tensor::DType;
use thiserror::Error;

/// Why statistics cannot be formed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StatsError {
    /// Elements smaller than a byte.
    #[error("statistics of {0} elements are not supported; unpack them to whole bytes first")]
    Unsupported(DType),
    /// Typed values of another element type.
    #[error("statistics are of {expected} elements, the values are {found}")]
    WrongType {
        /// Element type of the accumulator.
        expected: DType,
        /// Element type of the values.
        found: DType,
    },
    /// The bytes end inside an element.
    #[error("the data ends inside a {dtype} element: {bytes} bytes are left over")]
    PartialElement {
        /// Element type.
        dtype: DType,
        /// Bytes after the last whole element.
        bytes: usize,
    },
    /// A part that does not start at a whole block.
    #[error("a part must start at a multiple of {} elements, not at {start}", crate::sizes::BLOCK)]
    NotAtBlock {
        /// Where it starts.
        start: u64,
    },
    /// Parts that are merged do not follow each other.
    #[error("the next part must start at element {expected}, it starts at {found}")]
    NotAdjacent {
        /// End of the first part.
        expected: u64,
        /// Start of the second.
        found: u64,
    },
    /// Two accumulators that were set up differently.
    #[error("accumulators of different {0} cannot be merged")]
    Mismatch(&'static str),
    /// Two tensors of different length.
    #[error("the first tensor has {first} elements, the second {second}")]
    LengthMismatch {
        /// Elements of the first.
        first: u64,
        /// Elements of the second.
        second: u64,
    },
    /// A range that is empty or not finite, or a number of bins out of range.
    #[error("a histogram needs a finite range with low < high and 1 to {max} bins", max = crate::sizes::MOST_BINS)]
    BadHistogram,
}

impl StatsError {
    /// Stable snake_case code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unsupported(_) => "unsupported_element_type",
            Self::WrongType { .. } => "wrong_element_type",
            Self::PartialElement { .. } => "partial_element",
            Self::NotAtBlock { .. } => "part_not_at_block",
            Self::NotAdjacent { .. } => "parts_not_adjacent",
            Self::Mismatch(_) => "accumulator_mismatch",
            Self::LengthMismatch { .. } => "length_mismatch",
            Self::BadHistogram => "bad_histogram",
        }
    }
}
