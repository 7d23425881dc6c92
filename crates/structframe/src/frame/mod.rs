//! Bytes to frames and back.

mod event; // what readers tell
mod frames; // a whole buffer
mod look; // what stands at a position
mod machine; // the one state machine
mod stream; // chunks of any size
mod write; // into the caller's buffer

pub use event::{BadChecksum, Counters, Event, Frame};
pub use frames::Frames;
pub use stream::Stream;
pub(crate) use write::seal;
pub use write::{WriteError, frame_len, write};
