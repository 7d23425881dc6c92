//! The next marker in bytes that cannot be followed.

use crate::error::Result;
use crate::wire::{END_MAGIC, FRAME_MAGIC, MAGIC};
use fw_source::ReadAt;
use memchr::memmem;

/// Something that looks like the beginning of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// The magic of a preamble.
    Preamble,
    /// The two letters of a frame header.
    Frame,
    /// The end magic of a postamble.
    End,
}

/// Looks for markers, forward, a block at a time.
pub(super) struct Finder {
    block: Vec<u8>,
    start: u64,
    /// The next place of each marker at or behind some position, `None` when there is none in the block.
    next: [(u64, Option<u64>); 3],
}

const MARKERS: [(Marker, &[u8]); 3] =
    [(Marker::Preamble, MAGIC), (Marker::Frame, FRAME_MAGIC), (Marker::End, END_MAGIC)];

impl Finder {
    pub(super) const fn new() -> Self {
        Self { block: Vec::new(), start: 0, next: [(u64::MAX, None); 3] }
    }

    /// The first marker at or behind `from` that lies before `end`.
    pub(super) fn find(
        &mut self,
        source: &(impl ReadAt + ?Sized),
        from: u64,
        end: u64,
    ) -> Result<Option<(u64, Marker)>> {
        let mut from = from;
        while from < end {
            if !self.holds(from, end) {
                self.load(source, from, end)?;
            }
            let reached = self.start + self.block.len() as u64;
            let mut nearest: Option<(u64, Marker)> = None;
            for (slot, (marker, pattern)) in self.next.iter_mut().zip(MARKERS) {
                // A place found earlier stays the next one until the search has moved past it.
                let known = slot.0 <= from && slot.1.is_none_or(|at| at >= from);
                if !known {
                    let rest = self.block.get((from - self.start) as usize..).unwrap_or(&[]);
                    *slot = (from, memmem::find(rest, pattern).map(|skip| from + skip as u64));
                }
                if let Some(at) = slot.1.filter(|at| nearest.is_none_or(|(best, _)| *at < best)) {
                    nearest = Some((at, marker));
                }
            }
            match nearest {
                Some((at, _)) if at >= end => return Ok(None),
                Some(found) => return Ok(Some(found)),
                None if reached >= end => return Ok(None),
                // A marker may straddle the end of the block.
                None => from = from.max(reached.saturating_sub(MAGIC.len() as u64 - 1)),
            }
        }
        Ok(None)
    }

    /// Whether the block at hand can be searched from `from` on.
    fn holds(&self, from: u64, end: u64) -> bool {
        let reached = self.start + self.block.len() as u64;
        from >= self.start && from < reached && (reached >= end || reached - from >= MAGIC.len() as u64)
    }

    fn load(&mut self, source: &(impl ReadAt + ?Sized), from: u64, end: u64) -> Result<()> {
        let len = (end - from).min(BLOCK) as usize;
        self.block.resize(len, 0);
        source.read_exact_at(from, &mut self.block)?;
        self.start = from;
        self.next = [(u64::MAX, None); 3];
        Ok(())
    }
}

const BLOCK: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_wherever_blocks_end() {
        for place in [0, 5, BLOCK - 9, BLOCK - 8, BLOCK - 4, BLOCK - 1, BLOCK, BLOCK + 100] {
            let mut bytes = vec![7u8; 2 * BLOCK as usize];
            bytes[place as usize..place as usize + 8].copy_from_slice(MAGIC);
            bytes[place as usize + 20..place as usize + 22].copy_from_slice(FRAME_MAGIC);
            let len = bytes.len() as u64;
            let mut finder = Finder::new();
            assert_eq!(finder.find(&bytes[..], 0, len).unwrap(), Some((place, Marker::Preamble)));
            assert_eq!(finder.find(&bytes[..], place + 1, len).unwrap(), Some((place + 20, Marker::Frame)));
            assert_eq!(finder.find(&bytes[..], place + 21, len).unwrap(), None);
            assert_eq!(finder.find(&bytes[..], 0, place).unwrap(), None);
        }
    }
}
