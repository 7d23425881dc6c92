//! LZ4 blocks written after a thorough search: chains of earlier occurrences, and a look at the next position before
//! a match is taken. The stream is an ordinary LZ4 block.

use super::matches::{Bounded, common_len, hash, word};

/// Reusable memory of the encoder.
#[derive(Debug)]
pub(super) struct Chains {
    /// Position + 1 of the last occurrence of a hash.
    heads: Box<[u32]>,
    /// Distance from a position (modulo the window) to the one before with the same hash; 0: none.
    links: Box<[u16]>,
}

impl Chains {
    pub(super) fn new() -> Self {
        Self { heads: vec![0; 1 << HASH_BITS].into_boxed_slice(), links: vec![0; WINDOW].into_boxed_slice() }
    }

    #[inline]
    fn insert(&mut self, input: &[u8], at: usize) {
        let head = &mut self.heads[hash(word(input, at), HASH_BITS)];
        let before = std::mem::replace(head, at as u32 + 1) as usize;
        let distance = if before == 0 { 0 } else { at + 1 - before };
        self.links[at % WINDOW] = u16::try_from(distance).unwrap_or(0);
    }

    /// The longest match for `at` (already inserted), of more than `at_least` bytes: its length and distance.
    fn longest(&self, input: &[u8], at: usize, end: usize, at_least: usize, attempts: u32) -> (usize, usize) {
        let (mut best_len, mut best_distance) = (at_least, 0);
        let here = word(input, at);
        let mut candidate = at;
        for _ in 0..attempts {
            let step = usize::from(self.links[candidate % WINDOW]);
            if step == 0 || step > candidate || at - (candidate - step) > MAX_DISTANCE {
                break;
            }
            candidate -= step;
            // The byte that would make the match longer than the best one decides first.
            let longer = input.get(candidate + best_len) == input.get(at + best_len);
            if longer && word(input, candidate) == here {
                let len = common_len(input, candidate, at, end);
                if len > best_len {
                    (best_len, best_distance) = (len, at - candidate);
                }
                if at + len >= end {
                    break;
                }
            }
        }
        (best_len, best_distance)
    }
}

/// Compresses `input` into `out`; `None` when it does not fit.
pub(super) fn compress(input: &[u8], level: i64, chains: &mut Chains, out: &mut [u8]) -> Option<usize> {
    let mut out = Bounded::new(out);
    chains.heads.fill(0);
    let attempts = 1 << (level.clamp(1, 9) + 1).min(8);
    let last_start = input.len().saturating_sub(LAST_MATCH_START);
    let end = input.len().saturating_sub(TAIL_LITERALS);
    let mut literals_from = 0;
    let mut at = 0;
    let mut misses = 0;
    while at < last_start {
        chains.insert(input, at);
        let (mut len, mut distance) = chains.longest(input, at, end, MIN_MATCH - 1, attempts);
        if distance == 0 {
            misses += 1;
            at += 1 + (misses >> SKIP_SHIFT);
            continue;
        }
        misses = 0;
        // A longer match one byte later is worth the literal.
        while at + 1 < last_start && len < GOOD_LEN {
            chains.insert(input, at + 1);
            let (next_len, next_distance) = chains.longest(input, at + 1, end, len, attempts);
            if next_distance == 0 {
                break;
            }
            (at, len, distance) = (at + 1, next_len, next_distance);
        }
        sequence(&input[literals_from..at], Some((len, distance)), &mut out)?;
        // `at` is in the chains, and `at + 1` too when it was looked at.
        let looked_ahead = at + 1 < last_start && len < GOOD_LEN;
        let from = at + 1 + usize::from(looked_ahead);
        at += len;
        literals_from = at;
        for inside in from..at.min(last_start) {
            chains.insert(input, inside);
        }
    }
    sequence(&input[literals_from..], None, &mut out)?;
    Some(out.len())
}

/// Literals, then a match; the last sequence has none.
fn sequence(literals: &[u8], found: Option<(usize, usize)>, out: &mut Bounded<'_>) -> Option<()> {
    let match_code = found.map_or(0, |(len, _)| len - MIN_MATCH);
    out.push(((literals.len().min(15) as u8) << 4) | match_code.min(15) as u8)?;
    if literals.len() >= 15 {
        out.push_long(literals.len() - 15)?;
    }
    out.extend(literals)?;
    if let Some((_, distance)) = found {
        out.extend(&(distance as u16).to_le_bytes())?;
        if match_code >= 15 {
            out.push_long(match_code - 15)?;
        }
    }
    Some(())
}

const HASH_BITS: u32 = 15;
const WINDOW: usize = 1 << 16;
const MAX_DISTANCE: usize = WINDOW - 1;
const MIN_MATCH: usize = 4;
/// The format wants the last five bytes literal and no match to start in the last twelve.
const TAIL_LITERALS: usize = 5;
const LAST_MATCH_START: usize = 12;
/// No look at the next position past this length.
const GOOD_LEN: usize = 64;
/// After this many misses (as a power of two) the search takes longer steps: planes of noise are not worth more.
const SKIP_SHIFT: u32 = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(input: &[u8], level: i64) -> usize {
        let mut out = vec![0; input.len() + input.len() / 255 + 16];
        let len = compress(input, level, &mut Chains::new(), &mut out).unwrap();
        let mut back = vec![0; input.len()];
        assert_eq!(lz4_flex::block::decompress_into(&out[..len], &mut back).unwrap(), input.len());
        assert!(back == input);
        len
    }

    #[test]
    fn it_beats_the_quick_search() {
        let input: Vec<u8> = (0..100_000u32).map(|i| (f64::from(i) / 300.0).sin().mul_add(90.0, 100.0) as u8).collect();
        let mut quick = vec![0; lz4_flex::block::get_maximum_output_size(input.len())];
        let quick = lz4_flex::block::compress_into(&input, &mut quick).unwrap();
        assert!(round_trip(&input, 9) < quick);
    }

    #[test]
    fn distances_at_the_edge_of_the_window() {
        let noise: Vec<u8> = (0..70_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        for distance in [65_534, 65_535, 65_536, 65_537] {
            round_trip(&[&noise[..distance], &noise[..distance]].concat(), 5);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(input in prop::collection::vec(0u8..4, 1..3000), level in 1i64..10) {
            round_trip(&input, level);
        }
    }
}
