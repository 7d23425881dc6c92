//! MCAP files: captures as channels of protobuf messages, and protobuf channels as columns.

mod write; // frames to MCAP
mod records; // bytes to records, checked
mod describe; // schemas and channels
mod wire; // the fields of a protobuf message
mod shred; // protobuf messages to columns
mod read; // MCAP to columns

pub use read::{McapRead, mcap_to_columns};
pub use records::is_mcap;
pub use write::{McapConverted, capture_to_mcap};
pub(crate) use write::{PROTOBUF, topic};
