//! A source that may be read whole and then answers from memory.

use super::AsyncReadAt;
use crate::plan::Cost;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use fw_bytes::Span;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

/// A source whose bytes can be fetched all at once; every later read is answered from memory.
///
/// Worth it where [`crate::plan::reads_whole`] says so.
pub struct Kept {
    source: Arc<dyn AsyncReadAt>,
    whole: OnceLock<Bytes>,
}

impl Kept {
    /// Reads from `source`, range by range, until [`Kept::keep`] is called.
    pub const fn new(source: Arc<dyn AsyncReadAt>) -> Self {
        Self { source, whole: OnceLock::new() }
    }

    /// Reads everything, and keeps it.
    ///
    /// # Errors
    /// Those of the source.
    pub async fn keep(&self) -> io::Result<()> {
        if self.whole.get().is_none() {
            let len = self.source.total_len().await?;
            let bytes = self.source.read(Span::new(0, len)).await?;
            // Another reader may have been faster; the bytes are the same.
            drop(self.whole.set(bytes));
        }
        Ok(())
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("whole", &self.whole.get().map(Bytes::len)).finish_non_exhaustive()
    }
}

impl AsyncReadAt for Kept {
    fn total_len(&self) -> BoxFuture<'_, io::Result<u64>> {
        self.source.total_len()
    }

    fn read(&self, span: Span) -> BoxFuture<'_, io::Result<Bytes>> {
        match self.whole.get() {
            Some(whole) => whole.read(span).boxed(),
            None => self.source.read(span),
        }
    }

    fn cost(&self) -> Cost {
        self.whole.get().map_or_else(|| self.source.cost(), AsyncReadAt::cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Counts how often it is asked.
    struct Counting(Bytes, AtomicU32);

    impl AsyncReadAt for Counting {
        fn total_len(&self) -> BoxFuture<'_, io::Result<u64>> {
            self.0.total_len()
        }

        fn read(&self, span: Span) -> BoxFuture<'_, io::Result<Bytes>> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.read(span)
        }
    }

    #[test]
    fn what_was_kept_is_not_asked_for_again() {
        let source = Arc::new(Counting(Bytes::from_static(b"hello"), AtomicU32::new(0)));
        let kept = Kept::new(source.clone());
        crate::nonblocking::wait_for(async move {
            assert_eq!(kept.read(Span::new(1, 3)).await.unwrap(), "el");
            assert_eq!(kept.cost(), Cost::QUEUED_FILE);
            for _ in 0..2 {
                kept.keep().await.unwrap();
                assert_eq!(kept.read(Span::new(0, 5)).await.unwrap(), "hello");
            }
            assert_eq!(kept.cost(), Cost::MEMORY);
            assert!(kept.read(Span::new(3, 9)).await.is_err());
        });
        assert_eq!(source.1.load(Ordering::Relaxed), 2);
    }
}
