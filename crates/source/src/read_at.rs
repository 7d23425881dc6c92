//! Bytes that can be read from any position.

use crate::plan::{Cost, plan};
use fw_bytes::Span;
use std::io;

/// A source of bytes with positions: a slice, a file, a map, a remote object.
pub trait ReadAt {
    /// How many bytes there are.
    ///
    /// # Errors
    /// When the source cannot be asked.
    fn len(&self) -> io::Result<u64>;

    /// True when there are no bytes.
    ///
    /// # Errors
    /// When the source cannot be asked.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when the source ends earlier; otherwise whatever the source reports.
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// What requests to this source cost; a local file unless it says otherwise.
    fn cost(&self) -> Cost {
        Cost::FILE
    }

    /// Reads several ranges: pieces, each with its position, that cover all of them, each range inside one piece. The
    /// default sends the requests of a [plan](crate::plan::plan) one after the other; sources whose requests take long
    /// send them all at once.
    ///
    /// # Errors
    /// As [`ReadAt::read_exact_at`]; a large range past the end, before memory is reserved for it.
    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let mut pieces = Vec::new();
        for span in plan(spans, &self.cost()) {
            let len = usize::try_from(span.len()).map_err(io::Error::other)?;
            // Sizes came from the input: prove that the bytes exist before reserving much memory for them.
            if span.len() > UNPROVEN {
                let source_len = self.len()?;
                if span.end > source_len {
                    return Err(short_read(span.start, len, source_len));
                }
            }
            let mut bytes = zeroed(len)?;
            self.read_exact_at(span.start, &mut bytes)?;
            pieces.push((span.start, bytes));
        }
        Ok(pieces)
    }

    /// Says that about `rounds` rounds of requests come next, each of which depends on the one before. A source that can hold
    /// itself in memory ([`Kept`](crate::Kept)) does so where that is cheaper; others do nothing.
    ///
    /// # Errors
    /// As [`ReadAt::read_exact_at`].
    fn prepare(&self, _rounds: u64) -> io::Result<()> {
        Ok(())
    }
}

/// So many bytes may be reserved on the word of the input: a read that fails costs less than asking for the length.
const UNPROVEN: u64 = 64 << 10;

impl ReadAt for [u8] {
    fn len(&self) -> io::Result<u64> {
        Ok(<[u8]>::len(self) as u64)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let found = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..)?.get(..buffer.len()))
            .ok_or_else(|| short_read(offset, buffer.len(), <[u8]>::len(self) as u64))?;
        buffer.copy_from_slice(found);
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}

impl<S: ReadAt + ?Sized> ReadAt for Box<S> {
    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read_exact_at(offset, buffer)
    }

    fn cost(&self) -> Cost {
        (**self).cost()
    }

    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        (**self).read_many(spans)
    }

    fn prepare(&self, rounds: u64) -> io::Result<()> {
        (**self).prepare(rounds)
    }
}

impl<S: ReadAt + ?Sized> ReadAt for &S {
    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read_exact_at(offset, buffer)
    }

    fn cost(&self) -> Cost {
        (**self).cost()
    }

    fn read_many(&self, spans: &[Span]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        (**self).read_many(spans)
    }

    fn prepare(&self, rounds: u64) -> io::Result<()> {
        (**self).prepare(rounds)
    }
}

/// Memory for bytes that are there, as far as a sparse file's word goes: too many of them are an error, not the end of the
/// process.
///
/// # Errors
/// `OutOfMemory`.
pub(crate) fn zeroed(len: usize) -> io::Result<Vec<u8>> {
    if len > UNPROVEN as usize {
        // Asked for and given back: what follows takes pages that are zero already, which no fallible call does.
        let asked = Vec::<u8>::new().try_reserve_exact(len);
        asked.map_err(|_| io::Error::new(io::ErrorKind::OutOfMemory, format!("no memory for {len} bytes")))?;
    }
    Ok(vec![0; len])
}

pub(crate) fn short_read(offset: u64, need: usize, len: u64) -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        format!("need {need} bytes at byte {offset} (0x{offset:x}), the source has {len}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that says it has more than any memory.
    struct Endless;

    impl ReadAt for Endless {
        fn len(&self) -> io::Result<u64> {
            Ok(u64::MAX)
        }

        fn read_exact_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn more_than_the_memory_holds_is_an_error() {
        let error = Endless.read_many(&[Span::new(0, 1 << 62)]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory, "{error}");
        assert_eq!(Endless.read_many(&[Span::new(5, 100_005)]).unwrap()[0].1.len(), 100_000);
    }
}
