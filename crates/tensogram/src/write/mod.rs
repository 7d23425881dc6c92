//! Entry points for writing.

mod builder; // messages from typed slices
mod frames; // one frame onto a sink
mod layout; // where everything goes
mod message; // a message in one call
mod options; // how
mod stream; // a message object by object

pub use builder::MessageBuilder;
pub use message::{encode, encode_pre_encoded};
pub use options::{AggregateHash, EncodeOptions, MaskMethod};
pub use stream::{Lengths, StreamingEncoder};

pub(crate) use frames::{padded, write_frame};
pub(crate) use layout::layout;
pub(crate) use message::tensor_information;
