//! Entry points for writing: to memory, to a file, or by plan, tensor after tensor.

mod digested; // digests of tensors for the header
mod options; // metadata and alignment
mod plan; // sorted infos, offsets, header bytes
mod planned; // infos first, tensors in any order
mod serialize; // everything at once
mod view; // what can be written

pub use options::{HeaderAlignment, WriteOptions};
pub use plan::{Plan, PlannedTensor};
pub use planned::{PlannedWriter, Progress, TensorWriter, Written};
pub use serialize::{
    DigestBuffer, Prepared, serialize, serialize_to_file, serialize_to_file_with, serialize_to_writer, serialize_with,
    serialize_with_checksum,
};
pub use view::View;
