//! Local files, read where waiting for a disk holds up nobody.

use super::AsyncReadAt;
use crate::read_at::{short_read, zeroed};
use crate::{FileSource, ReadAt};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use fw_bytes::Span;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A regular file, opened once; every read runs on the runtime's blocking threads.
#[derive(Clone, Debug)]
pub struct AsyncFile {
    source: Arc<FileSource>,
}

impl AsyncFile {
    /// Opens `path` for reading.
    ///
    /// # Errors
    /// As [`FileSource::open`].
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let source = off_runtime(move || FileSource::open(path)).await?;
        Ok(Self::new(Arc::new(source)))
    }

    /// Reads from a file that is open.
    pub const fn new(source: Arc<FileSource>) -> Self {
        Self { source }
    }

    /// The file underneath.
    pub fn source(&self) -> &FileSource {
        &self.source
    }
}

impl AsyncReadAt for AsyncFile {
    fn total_len(&self) -> BoxFuture<'_, io::Result<u64>> {
        let source = Arc::clone(&self.source);
        off_runtime(move || ReadAt::len(&*source)).boxed()
    }

    fn read(&self, span: Span) -> BoxFuture<'_, io::Result<Bytes>> {
        let source = Arc::clone(&self.source);
        off_runtime(move || {
            let wanted = usize::try_from(span.len()).map_err(io::Error::other)?;
            // The size may come from the input: prove that the bytes exist before memory is taken for them.
            let len = ReadAt::len(&*source)?;
            if span.end > len {
                return Err(short_read(span.start, wanted, len));
            }
            let mut bytes = zeroed(wanted)?;
            source.read_exact_at(span.start, &mut bytes)?;
            Ok(bytes.into())
        })
        .boxed()
    }
}

/// Runs long work where it holds up no other task of the runtime.
///
/// # Errors
/// The work's own; when it panicked, or the runtime is shutting down.
pub async fn off_runtime<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<io::Error> + Send + 'static,
{
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
