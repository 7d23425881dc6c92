//! Misuse of shapes, types and slices.

use crate::DType;
use thiserror::Error;

/// A shape, type or slice that does not fit the tensor.
///
/// Complete: formats give each member a code and a class of their own, and a new one is met by the compiler there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TensorError {
    /// The product of the dimensions does not fit in 64 bits.
    #[error("shape {shape:?} has more elements than 64 bits can count")]
    ShapeOverflow {
        /// The shape.
        shape: Vec<u64>,
    },
    /// The bytes do not match shape and element type.
    #[error("{dtype} tensor of shape {shape:?} needs {expected} bytes, has {found}")]
    LengthMismatch {
        /// Element type.
        dtype: DType,
        /// The shape.
        shape: Vec<u64>,
        /// Bytes the shape asks for.
        expected: u64,
        /// Bytes given.
        found: u64,
    },
    /// Typed access with another element type.
    #[error("tensor holds {found}, expected {expected}")]
    WrongType {
        /// Element type of the Rust type asked for.
        expected: DType,
        /// Element type of the tensor.
        found: DType,
    },
    /// Typed access to bytes that are not aligned for the Rust type; copy them out instead.
    #[error("{dtype} data is not aligned for borrowing as values; copy it out instead")]
    Misaligned {
        /// Element type.
        dtype: DType,
    },
    /// A slice names more axes than the tensor has, or more than one ellipsis.
    #[error("slice names {found} axes, tensor has {rank}")]
    TooManyAxes {
        /// Axes of the tensor.
        rank: usize,
        /// Axes named.
        found: usize,
    },
    /// An index lies outside its axis.
    #[error("index {index} is out of bounds for axis {axis} with {len} elements")]
    OutOfBounds {
        /// Which axis.
        axis: usize,
        /// The index asked for.
        index: i64,
        /// Length of the axis.
        len: u64,
    },
    /// A step of zero.
    #[error("slice step of axis {axis} is zero")]
    ZeroStep {
        /// Which axis.
        axis: usize,
    },
    /// Elements smaller than a byte cannot be cut at any place.
    #[error("{dtype} elements cannot be sliced: they do not begin at byte boundaries")]
    Unsliceable {
        /// Element type.
        dtype: DType,
    },
}
