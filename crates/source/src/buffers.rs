//! Ranges already fetched.

use fw_bytes::Span;
use std::collections::BTreeMap;
use std::io;

/// Ranges already fetched, by position. Decoders look their bytes up here.
///
/// No range held lies inside another. So the later one begins, the later it ends, and of all that begin before a position
/// the last one reaches furthest: it is the only one to look at, however many there are.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    held: BTreeMap<u64, Vec<u8>>,
}

impl Buffers {
    /// Nothing fetched yet.
    pub const fn new() -> Self {
        Self { held: BTreeMap::new() }
    }

    /// Adds bytes that begin at `start`.
    pub fn insert(&mut self, start: u64, bytes: Vec<u8>) {
        let end = start.saturating_add(bytes.len() as u64);
        if self.held.range(..=start).next_back().is_some_and(|earlier| end_of(earlier) >= end) {
            return;
        }
        while let Some(inside) = self.held.range(start..).next().filter(|later| end_of(*later) <= end) {
            let inside = *inside.0;
            self.held.remove(&inside);
        }
        self.held.insert(start, bytes);
    }

    /// The bytes of `span`, when one fetched range holds them all.
    pub fn get(&self, span: Span) -> Option<&[u8]> {
        let (start, bytes) = self.held.range(..=span.start).next_back()?;
        span.slice_of(bytes, *start)
    }

    /// Those of `needed` that must be fetched. What is here in several pieces becomes one.
    ///
    /// # Errors
    /// An internal error when a decoder has asked for nothing but what it could have looked up: it would never finish.
    pub(crate) fn missing(&mut self, mut needed: Vec<Span>) -> io::Result<Vec<Span>> {
        let mut joined = false;
        needed.retain(|span| {
            if self.get(*span).is_some() {
                return false;
            }
            let found = self.join(*span);
            joined |= found;
            !found
        });
        if needed.is_empty() && !joined {
            return Err(crate::internal("a decoder asked again for bytes that it already has"));
        }
        Ok(needed)
    }

    /// Makes one piece of those that hold `span` together; false when they do not.
    fn join(&mut self, span: Span) -> bool {
        let mut whole = Vec::new();
        let mut at = span.start;
        while at < span.end {
            let Some((start, bytes)) = self.held.range(..=at).next_back() else { return false };
            // Sizes come from the input: memory is taken only for what is here.
            match Span::new(at, end_of((start, bytes)).min(span.end)).slice_of(bytes, *start) {
                Some(part) if !part.is_empty() => {
                    whole.extend_from_slice(part);
                    at = at.saturating_add(part.len() as u64);
                }
                _ => return false,
            }
        }
        self.insert(span.start, whole);
        true
    }

    /// Forgets everything before `position`, to bound memory while walking forward.
    pub fn release_before(&mut self, position: u64) {
        while let Some(first) = self.held.first_key_value().filter(|first| end_of(*first) <= position) {
            let first = *first.0;
            self.held.remove(&first);
        }
    }

    /// Bytes held.
    pub fn len(&self) -> usize {
        self.held.values().map(Vec::len).sum()
    }

    /// True when nothing is held.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

fn end_of((start, bytes): (&u64, &Vec<u8>)) -> u64 {
    start.saturating_add(bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever overlaps, a range that was fetched is found, and so is each part of it.
    #[test]
    fn every_part_of_what_was_fetched_is_found() {
        let bytes: Vec<u8> = (0..200).map(|at| at as u8).collect();
        let mut state = 7u64;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..300 {
            let (mut buffers, mut fetched) = (Buffers::new(), Vec::new());
            for _ in 0..12 {
                let start = random(180);
                let span = Span::new(start, start + random(40).min(200 - start));
                buffers.insert(span.start, bytes[span.start as usize..span.end as usize].to_vec());
                fetched.push(span);
            }
            for start in 0..200 {
                for end in start..=200 {
                    let span = Span::new(start, end);
                    let there = fetched.iter().any(|held| held.start <= start && end <= held.end);
                    match buffers.get(span) {
                        Some(found) => assert_eq!(found, &bytes[start as usize..end as usize]),
                        None => assert!(!there, "{span:?} of {fetched:?}"),
                    }
                }
            }
            buffers.release_before(100);
            for held in fetched.iter().filter(|held| held.end > 100) {
                assert!(buffers.get(*held).is_some());
            }
            assert!(buffers.held.iter().all(|held| end_of(held) > 100));
        }
    }

    /// A hundred thousand pieces and as many questions, most of them about what is not there: no longer than it takes to ask.
    #[test]
    fn many_ranges_are_no_burden() {
        let mut buffers = Buffers::new();
        buffers.insert(0, vec![0; 1 << 20]);
        let begin = std::time::Instant::now();
        for number in 0..100_000u64 {
            let start = (1 << 20) + number * 64;
            assert_eq!(buffers.get(Span::new(start, start + 48)), None);
            buffers.insert(start, vec![1; 32]);
            assert!(buffers.get(Span::new(start + 8, start + 32)).is_some());
        }
        assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    }

    /// A span that lies in several pieces is joined, not fetched again; one with a hole is fetched.
    #[test]
    fn pieces_that_touch_hold_what_lies_across_them() {
        let mut buffers = Buffers::new();
        buffers.insert(10, vec![1; 10]);
        buffers.insert(20, vec![2; 10]);
        buffers.insert(25, vec![2, 2, 2, 2, 2, 3, 3]);
        buffers.insert(40, vec![4; 5]);
        let across = Span::new(15, 32);
        assert_eq!(buffers.get(across), None);
        assert_eq!(buffers.missing(vec![across, Span::new(30, 42)]).unwrap(), [Span::new(30, 42)]);
        assert_eq!(buffers.get(across).unwrap(), [vec![1; 5], vec![2; 10], vec![3; 2]].concat());
        assert!(buffers.missing(vec![Span::new(10, 32)]).unwrap().is_empty());
        let error = buffers.missing(vec![across]).unwrap_err();
        let text = "internal error: a decoder asked again for bytes that it already has; please report it, with the file if you can";
        assert_eq!(error.to_string(), text);
        assert_eq!(buffers.missing(vec![Span::new(0, u64::MAX)]).unwrap(), [Span::new(0, u64::MAX)]);
    }
}
