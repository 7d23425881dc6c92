//! Positions and checked reading of bytes: the ground under every Framewright format.
//!
//! Nothing in here knows a wire format. A [`Cursor`] reads without ever indexing past its end and remembers the
//! absolute position of what it reads; a [`ParseError`] says what was being read, what was needed, what was found
//! and at which byte; a [`Step`] lets a decoder ask for byte ranges without doing any input or output itself.
//!
//! ```
//! use fw_bytes::Cursor;
//!
//! let mut cursor = Cursor::at(&[0x00, 0x03, 0xff], 100);
//! assert_eq!(cursor.u16_be("version").unwrap(), 3);
//! let error = cursor.u32_be("length").unwrap_err();
//! assert_eq!(error.to_string(), "need 4 bytes for length, have 1 at byte 102 (0x66)");
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

// Rooms in the order data flows: each uses only those before it.
mod offset; // spans and alignment
mod limits; // caps on bytes, depth and items
mod error; // what went wrong, and where
mod cursor; // reading, with an absolute position
#[cfg(feature = "alloc")]
mod step; // a decoder's answer: done, or these ranges first
#[cfg(feature = "alloc")]
mod sink; // appending, with lengths patched in later
pub mod checksum; // digests over byte ranges
#[cfg(feature = "std")]
pub mod interrupt; // long work, stopped from outside
#[cfg(feature = "std")]
pub mod parallel; // many things by several threads, results in order

pub use cursor::Cursor;
pub use error::{Detail, ParseError};
#[cfg(target_has_atomic = "64")]
pub use limits::DefaultFloor;
pub use limits::Limits;
pub use offset::{Span, align_up};
#[cfg(feature = "alloc")]
pub use sink::Sink;
#[cfg(feature = "alloc")]
pub use step::Step;
