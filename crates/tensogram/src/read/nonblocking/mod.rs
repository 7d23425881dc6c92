//! Files and streams that are awaited (feature `async`): the machines of [`super::access`], fed by concurrent requests.

mod file; // a file behind an awaited source
mod known; // what was learnt of it so far
mod local; // local files, off the runtime
mod stream; // objects as they arrive

pub use file::AsyncTensogramFile;
#[cfg(feature = "remote")]
pub(crate) use file::told;
pub use stream::decode_stream;
