//! Any source as a stream with positions, for the zip reader.

use fw_source::ReadAt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// A source, however it is held.
pub(crate) trait ToReadAt {
    fn to(&self) -> &dyn ReadAt;
}

impl ToReadAt for Arc<dyn ReadAt + Send + Sync> {
    fn to(&self) -> &dyn ReadAt {
        &**self
    }
}

impl ToReadAt for &dyn ReadAt {
    fn to(&self) -> &dyn ReadAt {
        *self
    }
}

/// A buffered reader of a shared source. Copies share the source and nothing else.
pub(crate) struct SourceReader<S> {
    source: S,
    len: u64,
    position: u64,
    /// Bytes that were read ahead, and where they begin.
    held: Vec<u8>,
    start: u64,
    /// Bytes to read ahead next: more when bytes are read one after the other.
    ahead: u64,
    /// The most of them that suit the source.
    most: u64,
}

impl<S: ToReadAt> SourceReader<S> {
    /// # Errors
    /// When the length cannot be told.
    pub(super) fn new(source: S) -> io::Result<Self> {
        let (len, most) = (source.to().len()?, source.to().cost().stream_len());
        Ok(Self { source, len, position: 0, held: Vec::new(), start: 0, ahead: LEAST, most })
    }

    /// The bytes at the position that are at hand.
    fn at_hand(&self) -> &[u8] {
        let skipped = self.position.checked_sub(self.start).and_then(|skipped| usize::try_from(skipped).ok());
        skipped.and_then(|skipped| self.held.get(skipped..)).unwrap_or_default()
    }
}

impl<S: Clone> Clone for SourceReader<S> {
    fn clone(&self) -> Self {
        let (source, len, most) = (self.source.clone(), self.len, self.most);
        Self { source, len, position: self.position, held: Vec::new(), start: 0, ahead: LEAST, most }
    }
}

impl<S: ToReadAt> Read for SourceReader<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.len.saturating_sub(self.position);
        if left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        if self.at_hand().is_empty() {
            let follows = self.position == self.start.saturating_add(self.held.len() as u64);
            self.ahead =
                if follows && !self.held.is_empty() { self.ahead.saturating_mul(2).min(self.most) } else { LEAST };
            let wanted = self.ahead.max(buffer.len() as u64).min(self.most).min(left);
            // At most what is left of the source, and never more than suits it.
            self.held.clear();
            self.held.resize(wanted as usize, 0);
            self.start = self.position;
            if let Err(error) = self.source.to().read_exact_at(self.start, &mut self.held) {
                self.held.clear();
                return Err(error);
            }
        }
        let at_hand = self.at_hand();
        let len = at_hand.len().min(buffer.len());
        buffer[..len].copy_from_slice(&at_hand[..len]);
        self.position = self.position.saturating_add(len as u64);
        Ok(len)
    }
}

impl<S> Seek for SourceReader<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "seek to a negative position");
        self.position = place.ok_or_else(outside)?;
        Ok(self.position)
    }
}

/// Bytes of the first read in a place.
const LEAST: u64 = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_those_of_a_cursor() {
        let bytes: Vec<u8> = (0..200_000u32).map(|number| (number % 251) as u8).collect();
        let source: Arc<dyn ReadAt + Send + Sync> = Arc::new(bytes.clone().into_boxed_slice());
        let mut ours = SourceReader::new(source).unwrap();
        let mut plain = io::Cursor::new(bytes);
        for (to, len) in [
            (SeekFrom::Start(5), 10),
            (SeekFrom::Current(0), 50_000),
            (SeekFrom::Current(-3), 7),
            (SeekFrom::End(-22), 22),
            (SeekFrom::End(0), 1),
            (SeekFrom::Start(1 << 40), 1),
            (SeekFrom::Start(100), 199_900),
        ] {
            assert_eq!(ours.seek(to).unwrap(), plain.seek(to).unwrap());
            let (mut one, mut other) = (vec![0; len], vec![0; len]);
            assert_eq!(ours.read_exact(&mut one).is_ok(), plain.read_exact(&mut other).is_ok());
            assert_eq!(one, other);
            let mut copy = ours.clone();
            assert_eq!((copy.stream_position().unwrap(), copy.read(&mut [0; 4]).is_ok()), (ours.position, true));
        }
        assert!(ours.seek(SeekFrom::Current(-1 << 50)).is_err());
    }
}
