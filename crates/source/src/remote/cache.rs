//! What was fetched lately, up to a size.

use bytes::Bytes;
use fw_bytes::Span;
use std::collections::BTreeMap;

/// Pieces of one object by position; the one that was not used for the longest time goes first.
#[derive(Debug)]
pub(super) struct Cache {
    pieces: BTreeMap<u64, Piece>,
    held: u64,
    limit: u64,
    clock: u64,
}

#[derive(Debug)]
struct Piece {
    bytes: Bytes,
    used: u64,
}

impl Piece {
    fn span(&self, start: u64) -> Span {
        Span::new(start, start.saturating_add(self.bytes.len() as u64))
    }
}

impl Cache {
    pub(super) const fn new(limit: u64) -> Self {
        Self { pieces: BTreeMap::new(), held: 0, limit, clock: 0 }
    }

    /// Keeps a piece, unless it would push out most of the others: payloads are read once, headers again and again.
    pub(super) fn insert(&mut self, start: u64, bytes: &Bytes) {
        let len = bytes.len() as u64;
        if len == 0 || len > self.limit / 4 {
            return;
        }
        let span = Span::new(start, start.saturating_add(len));
        // What the new piece covers is not needed twice.
        let covered: Vec<u64> = self
            .pieces
            .range(span.start..span.end)
            .filter(|(at, piece)| piece.span(**at).end <= span.end)
            .map(|(at, _)| *at)
            .collect();
        covered.into_iter().for_each(|at| self.remove(at));
        self.clock = self.clock.saturating_add(1);
        self.held = self.held.saturating_add(len);
        if let Some(earlier) = self.pieces.insert(start, Piece { bytes: bytes.clone(), used: self.clock }) {
            self.held = self.held.saturating_sub(earlier.bytes.len() as u64);
        }
        while self.held > self.limit {
            let oldest = self.pieces.iter().min_by_key(|(_, piece)| piece.used).map(|(at, _)| *at);
            match oldest {
                Some(at) => self.remove(at),
                None => break,
            }
        }
    }

    /// The bytes of `span`, when one piece has them all.
    pub(super) fn find(&mut self, span: Span) -> Option<Bytes> {
        self.clock = self.clock.saturating_add(1);
        let (at, piece) = self
            .pieces
            .range_mut(..=span.start)
            .rev()
            .take(NEAR)
            .find(|(at, piece)| span.end <= piece.span(**at).end)?;
        piece.used = self.clock;
        let from = usize::try_from(span.start.checked_sub(*at)?).ok()?;
        let len = usize::try_from(span.len()).ok()?;
        Some(piece.bytes.slice(from..from.checked_add(len)?))
    }

    /// The longest cached beginning of `span`: what follows it is all that is missing.
    pub(super) fn head(&mut self, span: Span) -> Option<Bytes> {
        self.clock = self.clock.saturating_add(1);
        let (at, piece) = self
            .pieces
            .range_mut(..=span.start)
            .rev()
            .take(NEAR)
            .find(|(at, piece)| span.start < piece.span(**at).end)?;
        piece.used = self.clock;
        let from = usize::try_from(span.start.checked_sub(*at)?).ok()?;
        Some(piece.bytes.slice(from..))
    }

    fn remove(&mut self, at: u64) {
        if let Some(piece) = self.pieces.remove(&at) {
            self.held = self.held.saturating_sub(piece.bytes.len() as u64);
        }
    }
}

/// Pieces overlap little: the holder of a position starts close before it.
const NEAR: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(len: usize) -> Bytes {
        Bytes::from((0..len).map(|i| i as u8).collect::<Vec<_>>())
    }

    #[test]
    fn what_was_not_used_goes_first() {
        let mut cache = Cache::new(400);
        for start in [0, 1000, 2000, 3000] {
            cache.insert(start, &piece(100));
        }
        assert_eq!(cache.find(Span::new(10, 20)).unwrap(), &piece(100)[10..20]);
        cache.insert(4000, &piece(100));
        assert!(cache.find(Span::new(0, 100)).is_some(), "used a moment ago");
        assert!(cache.find(Span::new(1000, 1001)).is_none(), "the oldest is gone");
        assert_eq!(cache.held, 400);
        cache.insert(9000, &piece(101));
        assert!(cache.find(Span::new(9000, 9001)).is_none(), "too large to keep");
    }

    #[test]
    fn covered_pieces_are_replaced_and_beginnings_found() {
        let mut cache = Cache::new(4000);
        cache.insert(10, &piece(10));
        cache.insert(0, &piece(100));
        assert_eq!((cache.pieces.len(), cache.held), (1, 100));
        assert_eq!(cache.head(Span::new(90, 300)).unwrap(), &piece(100)[90..]);
        assert!(cache.find(Span::new(90, 101)).is_none());
        assert!(cache.head(Span::new(100, 101)).is_none());
    }
}
