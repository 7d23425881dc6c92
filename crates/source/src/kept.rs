//! A source that may be read whole and then answers from memory.

use crate::ReadAt;
use crate::plan::{Cost, reads_whole};
use crate::read_at::zeroed;
use fw_bytes::Span;
use std::io;
use std::sync::OnceLock;

/// A source that reads itself whole when that is cheaper than what a reader is [about to do](ReadAt::prepare), and then answers
/// from memory. [`nonblocking::Kept`](crate::nonblocking::Kept) is the same for awaited sources.
///
/// ```
/// use fw_source::{Kept, ReadAt};
///
/// let source = Kept::new(&b"hello"[..]);
/// source.prepare(1000)?; // bytes in memory are not copied: asking them again costs nothing
/// let mut two = [0; 2];
/// source.read_exact_at(1, &mut two)?;
/// assert_eq!(&two, b"el");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Kept<S> {
    source: S,
    whole: OnceLock<Vec<u8>>,
}

impl<S> Kept<S> {
    /// Reads from `source`, range by range, until reading it whole is cheaper.
    pub const fn new(source: S) -> Self {
        Self { source, whole: OnceLock::new() }
    }

    /// Where the bytes come from.
    pub const fn source(&self) -> &S {
        &self.source
    }
}

impl<S: ReadAt> ReadAt for Kept<S> {
    fn len(&self) -> io::Result<u64> {
        self.whole.get().map_or_else(|| self.source.len(), |whole| Ok(whole.len() as u64))
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match self.whole.get() {
            Some(whole) => whole[..].read_exact_at(offset, buffer),
            None => self.source.read_exact_at(offset, buffer),
        }
    }

    fn cost(&self) -> Cost {
        self.whole.get().map_or_else(|| self.source.cost(), |_| Cost::MEMORY)
    }

    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        match self.whole.get() {
            Some(whole) => whole[..].read_many(spans),
            None => self.source.read_many(spans),
        }
    }

    fn prepare(&self, rounds: u64) -> io::Result<()> {
        if self.whole.get().is_some() {
            return Ok(());
        }
        let len = self.source.len()?;
        if !reads_whole(len, rounds, &self.source.cost()) {
            return self.source.prepare(rounds);
        }
        // No longer than what is read whole without being asked for.
        let mut bytes = zeroed(usize::try_from(len).map_err(io::Error::other)?)?;
        self.source.read_exact_at(0, &mut bytes)?;
        // Another reader may have been faster; the bytes are the same.
        drop(self.whole.set(bytes));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::time::Duration;

    /// A slow source that counts how often it is asked.
    struct Far(Vec<u8>, Cell<u32>);

    impl ReadAt for Far {
        fn len(&self) -> io::Result<u64> {
            Ok(self.0.len() as u64)
        }

        fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.1.set(self.1.get() + 1);
            self.0[..].read_exact_at(offset, buffer)
        }

        fn cost(&self) -> Cost {
            Cost::new(Duration::from_millis(50), 32 << 20, 8)
        }
    }

    #[test]
    fn a_source_is_read_whole_before_many_rounds_and_never_again() {
        let source = Kept::new(Far((0..200).collect(), Cell::new(0)));
        let mut two = [0; 2];
        source.prepare(3).unwrap();
        source.read_exact_at(7, &mut two).unwrap();
        assert_eq!((two, source.source().1.get()), ([7, 8], 1));
        source.prepare(100).unwrap();
        source.prepare(100).unwrap();
        source.read_exact_at(9, &mut two).unwrap();
        let pieces = source.read_many(&[Span::new(0, 4), Span::new(190, 200)]).unwrap();
        assert_eq!((two, pieces.last().unwrap().1.last()), ([9, 10], Some(&199)));
        assert_eq!((source.source().1.get(), source.cost(), source.len().unwrap()), (2, Cost::MEMORY, 200));
        assert!(source.read_exact_at(199, &mut two).is_err());
    }
}
