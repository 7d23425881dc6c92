//! Ranges of bytes that come later.

use crate::plan::Cost;
use crate::read_at::short_read;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use fw_bytes::Span;
use std::io;
use std::sync::Arc;

/// A source of bytes with positions that is awaited: a remote object, a file read off the runtime.
///
/// Several reads may be in flight at once; a source never answers with fewer bytes than were asked for.
pub trait AsyncReadAt: Send + Sync {
    /// How many bytes there are.
    ///
    /// # Errors
    /// When the source cannot be asked.
    fn total_len(&self) -> BoxFuture<'_, io::Result<u64>>;

    /// The bytes of `span`, all of them.
    ///
    /// # Errors
    /// `UnexpectedEof` when the source ends earlier; otherwise whatever the source reports.
    fn read(&self, span: Span) -> BoxFuture<'_, io::Result<Bytes>>;

    /// What requests to this source cost; a local file unless it says otherwise.
    fn cost(&self) -> Cost {
        Cost::QUEUED_FILE
    }
}

impl AsyncReadAt for Bytes {
    fn total_len(&self) -> BoxFuture<'_, io::Result<u64>> {
        ready(Ok(Bytes::len(self) as u64)).boxed()
    }

    fn read(&self, span: Span) -> BoxFuture<'_, io::Result<Bytes>> {
        let len = Bytes::len(self) as u64;
        let found = match (usize::try_from(span.start), usize::try_from(span.end)) {
            (Ok(start), Ok(end)) if start <= end && span.end <= len => Ok(self.slice(start..end)),
            _ => Err(short_read(span.start, usize::try_from(span.len()).unwrap_or(usize::MAX), len)),
        };
        ready(found).boxed()
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}

impl<S: AsyncReadAt + ?Sized> AsyncReadAt for Arc<S> {
    fn total_len(&self) -> BoxFuture<'_, io::Result<u64>> {
        (**self).total_len()
    }

    fn read(&self, span: Span) -> BoxFuture<'_, io::Result<Bytes>> {
        (**self).read(span)
    }

    fn cost(&self) -> Cost {
        (**self).cost()
    }
}
