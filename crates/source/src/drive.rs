//! Runs a decoder that does no input or output on any source.

use crate::ReadAt;
use fw_bytes::{Span, Step};
use std::collections::BTreeMap;
use std::io;

/// Ranges already fetched, by position. Decoders look their bytes up here.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    held: BTreeMap<u64, Vec<u8>>,
    /// Bytes of the longest range ever held: no range that begins further before a position reaches it.
    longest: u64,
}

impl Buffers {
    /// Nothing fetched yet.
    pub const fn new() -> Self {
        Self { held: BTreeMap::new(), longest: 0 }
    }

    /// Adds bytes that begin at `start`.
    pub fn insert(&mut self, start: u64, bytes: Vec<u8>) {
        self.longest = self.longest.max(bytes.len() as u64);
        // A longer earlier fetch of the same start stays: decoders never ask again for what they have.
        match self.held.get(&start) {
            Some(earlier) if earlier.len() >= bytes.len() => {}
            _ => drop(self.held.insert(start, bytes)),
        }
    }

    /// The bytes of `span`, when one fetched range holds them all.
    pub fn get(&self, span: Span) -> Option<&[u8]> {
        // Ranges may overlap after a wider fetch; the nearest starts are the likely holders.
        let reach = span.end.saturating_sub(self.longest).min(span.start);
        self.held.range(reach..=span.start).rev().find_map(|(start, bytes)| span.slice_of(bytes, *start))
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
        self.held.retain(|start, bytes| start.saturating_add(bytes.len() as u64) > position);
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

    #[test]
    fn absurd_requests_fail_before_memory_is_reserved() {
        let source: &[u8] = &[0; 10];
        let result = drive::<(), io::Error>(source, &mut Buffers::new(), |_| Ok(Step::need(Span::new(0, 1 << 60))));
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
