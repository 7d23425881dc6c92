//! Sources that are awaited: the same decoders, fed by concurrent range requests (feature `async`).
//!
//! An [`AsyncReadAt`] answers ranges of bytes; [`drive_async`] runs a decoder that does no input or output on it, with all
//! ranges of one step in flight at once. [`Blocking`] turns any such source into a [`crate::ReadAt`] that works on every
//! thread, those of other runtimes included.

mod blocking; // the other way round: waiting for futures anywhere
mod drive_async; // runs a decoder on any awaited source
mod file; // local files, read off the runtime
mod kept; // a source that may be read whole, and is answered for from memory then
mod source; // the trait, and bytes in memory

pub use blocking::{Blocking, handle, wait_for};
pub(crate) use drive_async::read_planned;
pub use drive_async::{drive_async, fetch};
pub use file::{AsyncFile, off_runtime};
pub use kept::Kept;
pub use source::AsyncReadAt;
