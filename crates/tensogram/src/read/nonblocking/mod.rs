//! Files and streams that are awaited (feature `async`): the machines of [`crate::access`], fed by concurrent requests.

mod file; // a file behind an awaited source
mod known; // what was learnt of it so far
mod reads; // metadata, objects, ranges, slices
mod stream; // objects as they arrive

pub use file::AsyncTensogramFile;
pub use stream::decode_stream;

use crate::error::TensogramError;

/// An error of the source; one of a store keeps its code.
pub(crate) fn from_source(error: std::io::Error) -> TensogramError {
    #[cfg(feature = "remote")]
    if let Some(remote) = fw_source::remote::RemoteError::of(&error) {
        let fault = crate::error::Fault::new(crate::error::ErrorKind::Io, remote.code(), remote.to_string());
        return TensogramError::Remote(fault);
    }
    TensogramError::Io(error)
}
