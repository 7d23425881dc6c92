//! Entry points for reading: a buffer or map borrowed whole, or any source read range by range.

mod buffer; // BinTensors over bytes at hand
mod reader; // Reader over files and other sources
mod slice; // parts of tensors
mod view; // one tensor's bytes

pub use buffer::BinTensors;
pub use reader::Reader;
pub use slice::Sliced;
pub use view::TensorView;
