//! Runs a decoder that does no input or output on any source.

use crate::ReadAt;
use fw_bytes::{Span, Step};
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

    /// Those of `needed` that are not here.
    ///
    /// # Errors
    /// `InvalidData` when all of them are: a decoder that asks for what it has would never finish.
    pub(crate) fn missing(&self, needed: Vec<Span>) -> io::Result<Vec<Span>> {
        let missing: Vec<Span> = needed.into_iter().filter(|span| self.get(*span).is_none()).collect();
        if missing.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a decoder asked for bytes it already has"));
        }
        Ok(missing)
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

/// Asks `decoder` again and again, fetching what it needs from `source`, until it is done.
///
/// # Errors
/// The decoder's own errors, and the source's wrapped into them. A decoder that asks for bytes past the end of the
/// source gets `UnexpectedEof`; one that asks only for bytes it already has would never finish and gets `InvalidData`.
pub fn drive<T, E: From<io::Error>>(
    source: &(impl ReadAt + ?Sized),
    buffers: &mut Buffers,
    mut decoder: impl FnMut(&Buffers) -> Result<Step<T>, E>,
) -> Result<T, E> {
    loop {
        let needed = match decoder(buffers)? {
            Step::Done(value) => return Ok(value),
            Step::Need(spans) => spans,
        };
        let missing = buffers.missing(needed)?;
        for (start, bytes) in source.read_many(&missing)? {
            buffers.insert(start, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_gets_what_it_asks_for() {
        let bytes: Vec<u8> = (0..100).collect();
        let mut buffers = Buffers::new();
        let sum = drive::<u32, io::Error>(bytes.as_slice(), &mut buffers, |have| {
            let (a, b) = (Span::new(10, 12), Span::new(90, 91));
            match (have.get(a), have.get(b)) {
                (Some(a), Some(b)) => Ok(Step::Done(a.iter().chain(b).map(|byte| u32::from(*byte)).sum())),
                _ => Ok(Step::Need(vec![a, b])),
            }
        });
        assert_eq!(sum.unwrap(), 10 + 11 + 90);
    }

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

    #[test]
    fn absurd_requests_fail_before_memory_is_reserved() {
        let source: &[u8] = &[0; 10];
        let result = drive::<(), io::Error>(source, &mut Buffers::new(), |_| Ok(Step::need(Span::new(0, 1 << 60))));
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
