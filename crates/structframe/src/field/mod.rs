//! What generated code is made of: values with a fixed place, bounded containers, and the trimmed wire layout.
//!
//! Every container holds its bound in its type and refuses what does not fit when it is filled, so that a message that
//! exists can always be encoded.

mod bounded; // arrays with a count
mod fixed; // values with a fixed number of bytes
#[cfg(feature = "serde")]
mod serde; // the containers for serde
mod text; // text with a length, and text up to a zero
mod trimmed; // the wire layout of variable messages
mod view; // borrowed arrays and text

pub use bounded::Bounded;
pub use fixed::{Field, padded, read_fixed, take, write_fixed, zeroed};
#[cfg(feature = "serde")]
pub use serde::{array, blobs, bounded_blobs};
pub use text::{FitError, FixedText, Text};
pub use trimmed::{Reader, Trim, Writer};
pub use view::{ArrayView, Item, TextView, content, item, part, whole};
