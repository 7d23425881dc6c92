//! Input that LZ4 cannot shrink: the block is little more than the input itself, so it is said in parts that borrow from it,
//! and whoever writes it down copies once.
//!
//! The search is the usual one of LZ4: a table of places by their next four bytes, and steps that grow while nothing is
//! found. Where repeats come more often than once in [`LITERALS_PER_MATCH`] bytes it stops, and the library, which is made
//! for them, goes on from there: blocks may follow each other, since a match only says how far back it begins.

use crate::CodecError;
use crate::codec::Gathered;
use fw_bytes::interrupt;
use std::borrow::Cow;

/// `head` and the block, in parts; and what is left of the input when it holds too many repeats, whose block goes behind.
/// `inspect` gets all of the input, stretch by stretch and each with its position, for callers that check it anyway: just
/// before the search comes to a stretch, which is then in the cache.
///
/// # Errors
/// What `inspect` finds.
pub(super) fn gather<'a>(
    head: Vec<u8>,
    input: &'a [u8],
    mut inspect: impl FnMut(usize, &[u8]) -> Result<(), CodecError>,
) -> Result<(Gathered<'a>, Option<&'a [u8]>), CodecError> {
    let mut block = Block { parts: Vec::new(), pending: head };
    let mut table = vec![0u32; 1 << TABLE_BITS];
    // Everything before `anchor` is written.
    let (mut anchor, mut matches) = (0, 0);
    // Place 0 is what an empty table names, and a match needs a place before it.
    let (mut place, mut misses) = (1, 0);
    let last_place = input.len().saturating_sub(LAST_MATCH);
    let mut stretches = input.chunks(STRETCH).enumerate();
    let mut seen = 0;
    while place < last_place {
        while place >= seen
            && let Some((number, stretch)) = stretches.next()
        {
            interrupt::check();
            inspect(number * STRETCH, stretch)?;
            seen += stretch.len();
        }
        let Some(word) = word_at(input, place) else { break };
        let Some(entry) = table.get_mut(slot(word)) else { break };
        let candidate = std::mem::replace(entry, place as u32) as usize;
        if place - candidate > MAX_OFFSET || word_at(input, candidate) != Some(word) {
            misses += 1;
            place += 1 + (misses >> STEP_BITS);
            continue;
        }
        let back = same_before(&input[anchor..place], &input[..candidate]);
        let (start, from) = (place - back, candidate - back);
        let most = input.len() - LAST_LITERALS;
        let len = MIN_MATCH + back + same_from(&input[candidate + MIN_MATCH..], &input[place + MIN_MATCH..most]);
        block.sequence(&input[anchor..start], Some((start - from, len)));
        anchor = start + len;
        (place, misses) = (anchor, 0);
        matches += 1;
        if matches > PATIENCE + place / LITERALS_PER_MATCH {
            stretches.try_for_each(|(number, stretch)| inspect(number * STRETCH, stretch))?;
            return Ok((block.finish(), Some(&input[anchor..])));
        }
    }
    stretches.try_for_each(|(number, stretch)| inspect(number * STRETCH, stretch))?;
    block.sequence(&input[anchor..], None);
    Ok((block.finish(), None))
}

/// A block as far as it is written: parts, and bytes behind them that are not a part yet.
struct Block<'a> {
    parts: Gathered<'a>,
    pending: Vec<u8>,
}

impl<'a> Block<'a> {
    /// Literals, and a match `(offset, length)` unless they are the last.
    fn sequence(&mut self, literals: &'a [u8], found: Option<(usize, usize)>) {
        let beyond = found.map_or(0, |(_, len)| len - MIN_MATCH);
        self.pending.push((literals.len().min(FULL) << 4 | beyond.min(FULL)) as u8);
        self.rest_of_length(literals.len());
        if literals.len() < BORROWED_FROM {
            self.pending.extend_from_slice(literals);
        } else {
            self.parts.push(Cow::Owned(std::mem::take(&mut self.pending)));
            self.parts.push(Cow::Borrowed(literals));
        }
        if let Some((offset, _)) = found {
            self.pending.extend_from_slice(&(offset as u16).to_le_bytes());
            self.rest_of_length(beyond);
        }
    }

    fn finish(mut self) -> Gathered<'a> {
        if !self.pending.is_empty() {
            self.parts.push(Cow::Owned(self.pending));
        }
        self.parts
    }

    /// What four bits cannot say of a length.
    fn rest_of_length(&mut self, len: usize) {
        if let Some(rest) = len.checked_sub(FULL) {
            self.pending.resize(self.pending.len() + rest / 255, 255);
            self.pending.push((rest % 255) as u8);
        }
    }
}

fn word_at(input: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*input.get(place..)?.first_chunk()?))
}

/// Fibonacci hashing: the upper bits of a product.
fn slot(word: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> (32 - TABLE_BITS)) as usize
}

/// How many bytes agree at the ends.
fn same_before(a: &[u8], b: &[u8]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// How many bytes agree at the beginnings.
fn same_from(a: &[u8], b: &[u8]) -> usize {
    let whole = a.chunks(32).zip(b.chunks_exact(32)).take_while(|(a, b)| a == b).count() * 32;
    whole + a.iter().zip(b).skip(whole).take_while(|(a, b)| a == b).count()
}

/// Bytes that are looked at together: a whole number of elements of any type.
const STRETCH: usize = 32 << 10;
const TABLE_BITS: u32 = 12;
/// A step grows by one byte for so many misses (as a power of two).
const STEP_BITS: u32 = 6;
const MIN_MATCH: usize = 4;
const MAX_OFFSET: usize = u16::MAX as usize;
/// What the four bits of a token hold when the length goes on behind them.
const FULL: usize = 15;
/// No match begins in the last twelve bytes of a block,
const LAST_MATCH: usize = 12;
/// and the last five are literals.
const LAST_LITERALS: usize = 5;
/// Fewer matches than one in so many bytes.
const LITERALS_PER_MATCH: usize = 4096;
/// So many matches say nothing yet.
const PATIENCE: usize = 16;
/// Shorter literals are copied: a part costs as much.
const BORROWED_FROM: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn noise(seed: u64, len: usize) -> Vec<u8> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..len).map(|_| next()).collect()
    }

    fn unseen(_: usize, _: &[u8]) -> Result<(), CodecError> {
        Ok(())
    }

    /// Whatever the search does, everything is looked at once, in order.
    #[test]
    fn everything_is_looked_at() {
        let repeats: Vec<u8> = (0..100_000u32).map(|i| (i / 9) as u8).collect();
        for input in [noise(1, 0), noise(1, 5), noise(1, 200_000), vec![7; 200_000], repeats] {
            let mut seen = Vec::new();
            let inspect = |at: usize, part: &[u8]| {
                assert_eq!(at, seen.len());
                seen.extend_from_slice(part);
                Ok(())
            };
            gather(Vec::new(), &input, inspect).unwrap();
            assert!(seen == input);
            let refuse = |at: usize, _: &[u8]| match at {
                0 => Ok(()),
                _ => Err(CodecError::misuse("test", "seen", "no")),
            };
            assert_eq!(gather(Vec::new(), &input, refuse).is_err(), input.len() > STRETCH);
        }
    }

    fn library_reads(block: &[u8], input: &[u8]) -> bool {
        let mut out = vec![0; input.len()];
        lz4_flex::block::decompress_into(block, &mut out).is_ok_and(|len| len == input.len()) && out == input
    }

    #[test]
    fn noise_is_borrowed() {
        for len in [1000, 70_000, 1 << 20] {
            let input = noise(7, len);
            let (parts, rest) = gather(vec![1, 2, 3], &input, unseen).unwrap();
            assert_eq!(rest, None);
            assert!(matches!(&parts[..], [Cow::Owned(_), Cow::Borrowed(literals)] if *literals == input));
            let block = parts.concat();
            assert_eq!(block[..3], [1, 2, 3]);
            assert!(library_reads(&block[3..], &input));
        }
    }

    #[test]
    fn one_long_run_is_one_match() {
        for len in [13, 17, 40, 100, 70_000] {
            let block = gather(Vec::new(), &vec![9; len], unseen).unwrap().0.concat();
            assert!(block.len() < 20 + len / 255 && library_reads(&block, &vec![9; len]), "{len}");
        }
    }

    #[test]
    fn repeats_are_left_to_the_library() {
        let input: Vec<u8> = (0..100_000u32).map(|i| (i / 9) as u8).collect();
        // Also when they begin late, behind literals that are a part already.
        let late = [&noise(3, 40_000)[..], &noise(3, 40_000), &input].concat();
        for (input, before) in [(input, 1000), (late, 90_000)] {
            let (parts, rest) = gather(Vec::new(), &input, unseen).unwrap();
            let rest = rest.expect("repeats");
            assert!(input.len() - rest.len() < before);
            let block = [parts.concat(), lz4_flex::block::compress(rest)].concat();
            assert!(library_reads(&block, &input));
        }
    }

    proptest! {
        /// Noise with some repeats in it: the library reads the same input, and nothing is longer than it allows.
        #[test]
        fn the_library_reads_it(
            pieces in proptest::collection::vec((1u64.., 0usize..9000, 0usize..9000, 0usize..600), 1..7),
        ) {
            let mut input = Vec::new();
            for (seed, len, back, repeat) in pieces {
                input.extend(noise(seed, len));
                let start = input.len().saturating_sub(back);
                let end = input.len().min(start + repeat);
                input.extend_from_within(start..end);
            }
            let (parts, rest) = gather(Vec::new(), &input, unseen).unwrap();
            prop_assert_eq!(rest, None, "few repeats");
            let block = parts.concat();
            prop_assert!(library_reads(&block, &input));
            prop_assert!(block.len() <= lz4_flex::block::get_maximum_output_size(input.len()));
        }
    }
}
