//! How far long work has come, for whoever waits for it.

use crate::ReadAt;
use crate::plan::Cost;
use fw_bytes::Span;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Is told how far a long job has come: bytes done, and bytes in all. Options of long jobs hold one; by default nobody is told.
///
/// ```
/// use fw_source::Watch;
/// use std::sync::Mutex;
///
/// static SEEN: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());
/// let watch = Watch::new(|done, total| SEEN.lock().unwrap().push((done, total)));
/// watch.tell(1, 2);
/// Watch::default().tell(2, 2);
/// assert_eq!(*SEEN.lock().unwrap(), [(1, 2)]);
/// ```
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<dyn Fn(u64, u64) + Send + Sync>>);

impl Watch {
    /// Tells a function, on whichever thread works.
    pub fn new(watch: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    /// Tells how far the job has come.
    pub fn tell(&self, done: u64, total: u64) {
        if let Some(watch) = &self.0 {
            watch(done, total);
        }
    }
}

/// The same function, or nobody.
impl PartialEq for Watch {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other)),
            (None, None) => true,
            _ => false,
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watch(..)" } else { "Watch(nobody)" })
    }
}

/// A source that tells how many of its bytes were read, for jobs that read a source from its start to its end.
#[derive(Debug)]
pub struct Watched<S> {
    source: S,
    watch: Watch,
    total: u64,
    read: AtomicU64,
}

impl<S: ReadAt> Watched<S> {
    /// Watches a source that is read `passes` times.
    ///
    /// # Errors
    /// When the source cannot be asked for its length.
    pub fn new(source: S, passes: u64, watch: Watch) -> io::Result<Self> {
        let total = source.len()?.saturating_mul(passes);
        Ok(Self::of(source, total, watch))
    }

    /// Watches a source of which this many bytes are read.
    pub fn of(source: S, total: u64, watch: Watch) -> Self {
        Self { source, watch, total, read: AtomicU64::new(0) }
    }

    fn count(&self, bytes: u64) {
        let read = self.read.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        // Headers may be read more often than the rest.
        self.watch.tell(read.min(self.total), self.total);
    }
}

impl<S: ReadAt> ReadAt for Watched<S> {
    fn len(&self) -> io::Result<u64> {
        self.source.len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.source.read_exact_at(offset, buffer)?;
        self.count(buffer.len() as u64);
        Ok(())
    }

    fn cost(&self) -> Cost {
        self.source.cost()
    }

    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let pieces = self.source.read_many(spans)?;
        self.count(pieces.iter().map(|(_, bytes)| bytes.len() as u64).sum());
        Ok(pieces)
    }

    fn prepare(&self, rounds: u64) -> io::Result<()> {
        self.source.prepare(rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn bytes_that_are_read_are_told() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&seen);
        let watch = Watch::new(move |done, total| told.lock().unwrap().push((done, total)));
        let source = Watched::new(&b"abcdef"[..], 1, watch).unwrap();
        let mut two = [0; 2];
        source.read_exact_at(2, &mut two).unwrap();
        assert_eq!(&two, b"cd");
        source.read_many(&[Span::new(0, 3)]).unwrap();
        source.read_exact_at(0, &mut [0; 6]).unwrap();
        assert!(source.read_exact_at(5, &mut two).is_err());
        assert_eq!(*seen.lock().unwrap(), [(2, 6), (5, 6), (6, 6)]);
    }
}
