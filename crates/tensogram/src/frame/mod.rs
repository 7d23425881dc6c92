//! Room 3, records to frames: following the chain of frames, finding objects by the index, finding messages in files.
//!
//! Nothing here reads from anywhere: each machine says which bytes it needs ([`fw_bytes::Step`]) and goes on when a
//! [`Lookup`] has them. Positions count from the first byte of the message, except in [`scan`].
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod frame_ref; // one frame's place and parts
mod locate; // random access: the index, or the walk
mod lookup; // where a machine finds its bytes
mod object_parts; // descriptor and payload inside a data object frame
mod order; // which frame may follow which
mod outline; // every frame of a message, with the order rules
pub mod scan; // messages in a file full of anything
mod walk; // frame after frame

pub use frame_ref::FrameRef;
pub(crate) use locate::FIRST_READ;
pub use locate::{Directory, Locate, object_frame};
pub use lookup::{Based, Lookup, on_slice};
pub use object_parts::{ObjectParts, object_parts};
pub use order::{Order, Placed};
pub use outline::{Gap, ObjectRef, Outline, OutlineBuilder};
pub(crate) use outline::{check_message_len, in_doubt};
pub use walk::{UnknownFrames, Walk, WalkEvent};

/// Takes the bytes of a span from a lookup, or asks the driver for them and returns.
macro_rules! take {
    ($have:expr, $span:expr) => {{
        let span: fw_bytes::Span = $span;
        match $have.lookup(span) {
            Some(bytes) => bytes,
            None => return Ok(fw_bytes::Step::need(span)),
        }
    }};
}

/// Goes on with a finished step, or hands the request for bytes to the driver.
macro_rules! advance {
    ($step:expr) => {
        match $step {
            fw_bytes::Step::Done(value) => value,
            fw_bytes::Step::Need(spans) => return Ok(fw_bytes::Step::Need(spans)),
        }
    };
}
pub(crate) use {advance, take};
