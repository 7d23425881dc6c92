//! Room 4, how to read and how to write: values that every later room takes.

mod decode; // how to read
mod encode; // how to write

pub use decode::DecodeOptions;
pub use encode::{AggregateHash, EncodeOptions, MaskMethod};
