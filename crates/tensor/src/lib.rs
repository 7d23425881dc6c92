//! What a tensor is: element type, shape, byte order, views and slices. Shared by every format.
//!
//! ```
//! use fw_tensor::{DType, TensorView};
//!
//! let values = [1.5f32, -2.25, 1024.0, 0.0];
//! let view = TensorView::from_values(&[2, 2], &values).unwrap();
//! assert_eq!(view.dtype(), DType::Float32);
//! assert_eq!(view.values::<f32>().unwrap(), &values);
//! ```
#![forbid(unsafe_code)]

// Rooms in the order data flows: each uses only those before it.
mod dtype; // element types: the union of those of all formats
mod order; // byte order and swapping
#[cfg(feature = "serde")]
mod serial; // element types and byte orders by name
mod element; // Rust types that are elements
mod error; // misuse of shapes, types and slices
mod shape; // counts and strides, checked
mod slice; // N-dimensional selections, planned as contiguous ranges
mod tuple; // selections from indices, ranges and tuples
mod view; // borrowed and owned tensors

pub use dtype::{DType, UnknownDType};
pub use element::Element;
pub use error::TensorError;
pub use order::{ByteOrder, swap_in_place};
pub use shape::{byte_len, element_count, row_major_strides};
pub use slice::{AxisSlice, Selection, SlicePlan};
pub use view::{TensorBuf, TensorView};
