//! Bytes that can be read from any position.

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
}

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
}

impl<S: ReadAt + ?Sized> ReadAt for &S {
    fn len(&self) -> io::Result<u64> {
        (**self).len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read_exact_at(offset, buffer)
    }
}

pub(crate) fn short_read(offset: u64, need: usize, len: u64) -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        format!("need {need} bytes at byte {offset} (0x{offset:x}), the source has {len}"),
    )
}
