//! Files and streams that are awaited (feature `async`): the machines of [`crate::access`], fed by concurrent requests.

mod file; // a file behind an awaited source
mod known; // what was learnt of it so far
mod reads; // metadata, objects, ranges, slices
mod stream; // objects as they arrive

pub use file::AsyncTensogramFile;
pub use stream::decode_stream;
