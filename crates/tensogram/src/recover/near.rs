//! Short reads next to earlier ones, of which damaged bytes need many: most of them cost no call to the system.

use fw_source::ReadAt;
use fw_source::plan::Cost;
use std::cell::RefCell;
use std::io;

/// A source read in windows where reads come close after one another. Looking for frames reads a header, and an end marker
/// wherever the header says: both move on steadily, each at its own place.
pub(super) struct Near<'s, S: ?Sized> {
    source: &'s S,
    len: u64,
    kept: RefCell<Kept>,
}

#[derive(Default)]
struct Kept {
    windows: [Window; 2],
    /// The window to be replaced next.
    oldest: usize,
    /// Where the last reads were that no window had.
    missed: [u64; 4],
    next_missed: usize,
}

#[derive(Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn part(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let at = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(at..at.checked_add(len)?)
    }
}

impl<'s, S: ReadAt + ?Sized> Near<'s, S> {
    pub(super) fn new(source: &'s S, len: u64) -> Self {
        Self { source, len, kept: RefCell::default() }
    }
}

impl<S: ReadAt + ?Sized> ReadAt for Near<'_, S> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if buffer.len() > SHORT {
            return self.source.read_exact_at(offset, buffer);
        }
        let mut kept = self.kept.borrow_mut();
        if let Some(part) = kept.windows.iter().find_map(|window| window.part(offset, buffer.len())) {
            buffer.copy_from_slice(part);
            return Ok(());
        }
        let is_near = kept.missed.iter().any(|missed| (*missed..missed.saturating_add(WINDOW)).contains(&offset));
        let place = kept.next_missed;
        if let Some(missed) = kept.missed.get_mut(place) {
            *missed = offset;
        }
        kept.next_missed = (place + 1) % 4;
        let room = self.len.saturating_sub(offset).min(WINDOW) as usize;
        if !is_near || room < buffer.len() {
            // A lone read, or one past the end, which is the source's to tell.
            return self.source.read_exact_at(offset, buffer);
        }
        let oldest = kept.oldest;
        kept.oldest = (oldest + 1) % 2;
        let Some(window) = kept.windows.get_mut(oldest) else { return self.source.read_exact_at(offset, buffer) };
        // What cannot be read is not kept.
        let mut bytes = std::mem::take(&mut window.bytes);
        bytes.resize(room, 0);
        self.source.read_exact_at(offset, &mut bytes)?;
        *window = Window { start: offset, bytes };
        if let Some(part) = window.part(offset, buffer.len()) {
            buffer.copy_from_slice(part);
        }
        Ok(())
    }

    fn cost(&self) -> Cost {
        self.source.cost()
    }
}

/// Bytes of a window.
const WINDOW: u64 = 64 << 10;
/// Longer reads are not kept.
const SHORT: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_those_of_the_source() {
        let source: Vec<u8> = (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let near = Near::new(&source[..], source.len() as u64);
        let mut state = 7u64;
        for step in 0..20_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let len = [1, 4, 16, 40, 4096, 5000][(state >> 40) as usize % 6];
            // Steadily, far away, and at random.
            let offset = match step % 3 {
                0 => step * 10,
                1 => step * 10 + 90_000,
                _ => (state >> 20) % 310_000,
            };
            let mut found = vec![0; len];
            let mut expected = vec![0; len];
            let (read, wanted) =
                (near.read_exact_at(offset, &mut found), source[..].read_exact_at(offset, &mut expected));
            assert_eq!(read.is_ok(), wanted.is_ok(), "{len} bytes at {offset}");
            if wanted.is_ok() {
                assert_eq!(found, expected, "{len} bytes at {offset}");
            }
        }
    }
}
