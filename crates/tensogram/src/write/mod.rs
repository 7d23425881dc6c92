//! Entry points for writing.

#[cfg(feature = "async")]
mod awaited; // a message object by object, onto an awaited sink
mod builder; // messages from typed slices
mod envelope; // a message around object frames that are known
mod frames; // one frame onto a sink
mod input; // what is encoded
mod layout; // where everything goes
mod message; // a message in one call
mod stream; // a message object by object

#[cfg(feature = "async")]
pub use awaited::AsyncStreamingEncoder;
pub use builder::MessageBuilder;
pub use input::ObjectInput;
pub use message::{encode, encode_pre_encoded};
pub use stream::{Lengths, StreamingEncoder};

use crate::options::EncodeOptions;
pub(crate) use envelope::{Envelope, Framed, HashFrames};
pub(crate) use frames::{COPIED, frame_len, padded, write_object};
pub(crate) use message::tensor_information;
