//! Entry points for writing.

#[cfg(feature = "async")]
mod awaited; // a message object by object, onto an awaited sink
mod builder; // messages from typed slices
mod frames; // one frame onto a sink
mod layout; // where everything goes
mod message; // a message in one call
mod options; // how
mod stream; // a message object by object

#[cfg(feature = "async")]
pub use awaited::AsyncStreamingEncoder;
pub use builder::MessageBuilder;
pub use message::{encode, encode_pre_encoded};
pub use options::{AggregateHash, EncodeOptions, MaskMethod};
pub use stream::{Lengths, StreamingEncoder};

pub(crate) use frames::{padded, write_frame};
pub(crate) use layout::layout;
pub(crate) use message::tensor_information;
