//! struct-frame framing: no allocator, no unsafe code, for microcontrollers and servers alike.
//!
//! A [`Framing`] says which bytes stand around a payload; [`Profile`] names the five usual ones. Whoever reads or checks
//! frames needs to know the sizes and checksum seeds of messages: a [`Lookup`], usually a sorted slice of [`MessageInfo`].
//!
//! [`write()`] puts a frame into the caller's buffer. [`Frames`] reads a whole buffer, [`Stream`] chunks of any size; both run
//! the same state machine and tell the same [`Event`]s, whichever way the bytes were split. A frame with a wrong checksum is
//! reported and then searched for good frames, so that a damaged length swallows nothing.
//!
//! ```
//! use fw_structframe::{Event, Frames, Header, MessageInfo, Profile, write};
//!
//! const PING: MessageInfo = MessageInfo { id: 7, max_size: 4, base_size: 4, min_size: 4, magic: [0x1d, 0x2e] };
//! let mut buffer = [0; 32];
//! let frame = write(Profile::Standard.framing(), Header::default(), &PING, &[0x34, 0x12, 1, 1], &mut buffer).unwrap();
//! assert_eq!(frame, [0x90, 0x71, 4, 7, 0x34, 0x12, 1, 1, 0x9e, 0x52]);
//!
//! let mut events = Frames::new(Profile::Standard.framing(), [PING], frame);
//! let Some(Event::Frame(frame)) = events.next() else { panic!() };
//! assert_eq!((frame.id, frame.payload), (7, [0x34, 0x12, 1, 1].as_slice()));
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "std"))]
extern crate std;

// Rooms in the order data flows; each uses only those before it.
mod wire; // which bytes stand around a payload
mod frame; // bytes <-> frames: writer, state machine, readers
mod message; // what generated code implements
pub mod field; // what generated code is made of
mod client; // send, hand on, wait for an answer
#[cfg(feature = "std")]
pub mod transport; // TCP, UDP, streams

pub use client::{Client, ClientError, Subscribers, Transport};
pub use field::{ArrayView, Bounded, FitError, FixedText, Text, TextView};
pub use frame::{BadChecksum, Counters, Event, Frame, Frames, Stream, WriteError, frame_len, write};
pub use message::{Message, MessageError, read_message, write_message};
pub use wire::{
    Framing, Header, HeaderKind, Layout, Lookup, MessageInfo, PayloadKind, Profile, UnknownFraming, UnknownProfile,
};

/// The messages that `fw_codegen::build` made from a schema of this name: a `pub mod` for each package, `MESSAGES` and
/// `AnyMessage`.
///
/// ```ignore
/// mod messages {
///     fw_structframe::include_schema!("robot");
/// }
/// ```
#[macro_export]
macro_rules! include_schema {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, "/mod.rs"));
    };
}
