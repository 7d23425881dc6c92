//! LZ4 blocks read into memory of known size.
//!
//! A sequence of a block is a few bytes long as often as not, so what counts is how few surprises it holds for the
//! processor: short literals and short matches are copied in fixed steps that may run beyond their end, where the next
//! sequence writes anyway. Only what is long, or near the end of either side, is copied by its length.

/// Where and why a block cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A byte of the block.
    pub(crate) at: usize,
    /// What is wrong there.
    pub(crate) problem: &'static str,
}

/// Decodes `block` to the front of `out`; returns how many bytes it holds.
///
/// # Errors
/// A block that ends too early, holds more than `out`, or refers to what is not there; `out` may then hold a partial result.
pub(crate) fn decode(block: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    // Read from `from`, written up to `to`.
    let (mut from, mut to) = (0, 0);
    loop {
        let token = usize::from(*block.get(from).ok_or(Fault { at: from, problem: ENDS })?);
        from += 1;
        let literals = token >> 4;
        if literals < FULL
            && let Some(source) = block.get(from..from + STEP)
            && let Some(target) = out.get_mut(to..to + STEP)
        {
            target.copy_from_slice(source);
            from += literals;
            to += literals;
        } else {
            let len = rest_of_length(block, &mut from, literals)?;
            copy_literals(block, from, out, to, len)?;
            from += len;
            to += len;
            // The last sequence has no match.
            if from == block.len() {
                return Ok(to);
            }
        }
        let at = from;
        let offset = block.get(from..).and_then(|rest| rest.first_chunk()).ok_or(Fault { at, problem: ENDS })?;
        let offset = usize::from(u16::from_le_bytes(*offset));
        from += 2;
        let len = rest_of_length(block, &mut from, token & FULL)?.saturating_add(MIN_MATCH);
        if offset == 0 || offset > to {
            return Err(Fault { at, problem: NOT_THERE });
        }
        if len <= SHORT_MATCH && out.len() - to >= MATCH_ROOM {
            copy_short(out, offset, to);
        } else if len <= out.len() - to {
            copy_long(out, offset, to, len);
        } else {
            return Err(Fault { at, problem: TOO_LONG });
        }
        to += len;
    }
}

/// A length of four bits, and the bytes it goes on in when they are full.
#[inline(always)]
fn rest_of_length(block: &[u8], from: &mut usize, first: usize) -> Result<usize, Fault> {
    let mut len = first;
    if first == FULL {
        loop {
            let byte = *block.get(*from).ok_or(Fault { at: *from, problem: ENDS })?;
            *from += 1;
            len = len.saturating_add(usize::from(byte));
            if byte != 255 {
                break;
            }
        }
    }
    Ok(len)
}

/// `len` bytes of the block; some more where both sides have two steps and they will do.
#[inline(always)]
fn copy_literals(block: &[u8], from: usize, out: &mut [u8], to: usize, len: usize) -> Result<(), Fault> {
    if len <= 2 * STEP
        && let Some(source) = block.get(from..from + 2 * STEP)
        && let Some(target) = out.get_mut(to..to + 2 * STEP)
    {
        target.copy_from_slice(source);
        return Ok(());
    }
    let source = block.get(from..).and_then(|rest| rest.get(..len)).ok_or(Fault { at: from, problem: ENDS })?;
    let target = out.get_mut(to..).and_then(|rest| rest.get_mut(..len));
    target.ok_or(Fault { at: from, problem: TOO_LONG })?.copy_from_slice(source);
    Ok(())
}

/// [`SHORT_MATCH`] bytes at least, for a match that is no longer; `out` has [`MATCH_ROOM`] behind `to`.
#[inline(always)]
fn copy_short(out: &mut [u8], offset: usize, to: usize) {
    let source = to - offset;
    if offset >= SHORT_MATCH {
        out.copy_within(source..source + SHORT_MATCH, to);
    } else if offset >= 8 {
        for step in [0, 8, 16, 24] {
            out.copy_within(source + step..source + step + 8, to + step);
        }
    } else {
        let (pattern, step) = pattern(&out[source..], offset);
        let target = &mut out[to..to + MATCH_ROOM];
        for count in 0..6 {
            target[count * step..][..8].copy_from_slice(&pattern);
        }
    }
}

/// A match of any length; `out` has `len` bytes behind `to`, and where it has some more, steps are fixed.
fn copy_long(out: &mut [u8], offset: usize, to: usize, len: usize) {
    let source = to - offset;
    if out.len() - to - len < SHORT_MATCH {
        // A match may run into what it writes: what stands between is repeated, twice as much each time.
        let mut done = 0;
        while done < len {
            let part = (offset + done).min(len - done);
            out.copy_within(source..source + part, to + done);
            done += part;
        }
    } else if offset >= len {
        out.copy_within(source..source + len, to);
    } else if offset >= SHORT_MATCH {
        for done in (0..len).step_by(SHORT_MATCH) {
            out.copy_within(source + done..source + done + SHORT_MATCH, to + done);
        }
    } else if offset >= 8 {
        for done in (0..len).step_by(8) {
            out.copy_within(source + done..source + done + 8, to + done);
        }
    } else if offset == 1 {
        let byte = out[source];
        out[to..to + len].fill(byte);
    } else {
        let (pattern, step) = pattern(&out[source..], offset);
        for done in (0..len).step_by(step) {
            out[to + done..][..8].copy_from_slice(&pattern);
        }
    }
}

/// The first `offset` bytes (at most seven) repeated, and how far it is from one repetition to a later one.
#[inline(always)]
fn pattern(bytes: &[u8], offset: usize) -> ([u8; 8], usize) {
    let bits = 8 * offset as u32;
    let word = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let mut word = word & ((1 << bits) - 1);
    word |= word << bits;
    if bits < 32 {
        word |= word << (2 * bits);
    }
    if bits < 16 {
        word |= word << 32;
    }
    (word.to_le_bytes(), WHOLE_PATTERNS[offset & 7])
}

/// As many bytes of eight as are a whole number of repetitions, by the length of one.
const WHOLE_PATTERNS: [usize; 8] = [8, 8, 8, 6, 8, 5, 6, 7];
const MIN_MATCH: usize = 4;
/// What four bits hold when a length goes on behind them.
const FULL: usize = 15;
/// Literals that need no length bytes are copied in one step of so many.
const STEP: usize = 16;
/// Matches up to this are copied in fixed steps,
const SHORT_MATCH: usize = 32;
/// which stay within so many bytes: the last of six begins at 40.
const MATCH_ROOM: usize = 48;

const ENDS: &str = "the block ends in the middle of a sequence";
const TOO_LONG: &str = "the block holds more than was expected";
const NOT_THERE: &str = "a match refers to bytes before the beginning";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn library(block: &[u8], len: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; len];
        let found = lz4_flex::block::decompress_into(block, &mut out).ok()?;
        out.truncate(found);
        Some(out)
    }

    fn ours(block: &[u8], len: usize) -> Option<Vec<u8>> {
        let mut out = vec![0xee; len];
        let found = decode(block, &mut out).ok()?;
        out.truncate(found);
        Some(out)
    }

    /// A block of these sequences `(literals, offset, match length)` and last literals.
    fn block(sequences: &[(usize, u16, usize)], last: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let length = |out: &mut Vec<u8>, len: usize| {
            if let Some(rest) = len.checked_sub(15) {
                out.extend(std::iter::repeat_n(255, rest / 255));
                out.push((rest % 255) as u8);
            }
        };
        let literal = |at: usize| (at * 37 + at / 7) as u8;
        for (literals, offset, len) in sequences {
            let beyond = len - MIN_MATCH;
            out.push((literals.min(&15) << 4 | beyond.min(15)) as u8);
            length(&mut out, *literals);
            out.extend((0..*literals).map(literal));
            out.extend(offset.to_le_bytes());
            length(&mut out, beyond);
        }
        out.push((last.min(15) << 4) as u8);
        length(&mut out, last);
        out.extend((0..last).map(literal));
        out
    }

    #[test]
    fn every_offset_and_length() {
        for offset in 1..=70u16 {
            for len in (4..=80).chain([300, 600]) {
                for last in [0, 5, 64] {
                    let block = block(&[(70, offset, len), (0, offset, len), (3, 1, 9)], last);
                    let whole = 70 + 2 * len + 12 + last;
                    let expected = library(&block, whole).unwrap();
                    assert!(ours(&block, whole).as_ref() == Some(&expected), "{offset} {len} {last}");
                    // With room to spare, and without enough.
                    assert!(ours(&block, whole + 100).as_ref() == Some(&expected), "{offset} {len} {last}");
                    assert_eq!(ours(&block, whole - 1), None);
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_and_where() {
        let problem = |block: &[u8], len: usize| decode(block, &mut vec![0; len]).unwrap_err();
        assert_eq!(problem(&[], 9), Fault { at: 0, problem: ENDS });
        assert_eq!(problem(&[0x20, 1], 9), Fault { at: 1, problem: ENDS });
        assert_eq!(problem(&[0xf0, 255], 9), Fault { at: 2, problem: ENDS });
        assert_eq!(problem(&[0x20, 1, 2], 1), Fault { at: 1, problem: TOO_LONG });
        assert_eq!(problem(&[0x10, 7, 0, 0, 0], 9), Fault { at: 2, problem: NOT_THERE });
        assert_eq!(problem(&[0x10, 7, 2, 0, 0], 9), Fault { at: 2, problem: NOT_THERE });
        assert_eq!(problem(&[0x10, 7, 1, 0, 0], 4), Fault { at: 2, problem: TOO_LONG });
        assert_eq!(problem(&[0x10, 7, 1, 0], 9), Fault { at: 4, problem: ENDS });
        assert_eq!(problem(&[0x10, 7, 1], 9), Fault { at: 2, problem: ENDS });
    }

    proptest! {
        /// Whatever the bytes, the answer is that of the library.
        #[test]
        fn agrees_with_the_library(
            sequences in proptest::collection::vec((0usize..40, 0u16..90, 4usize..90), 0..30),
            last in 0usize..80,
            spare in 0usize..70,
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            cut in proptest::option::of(any::<prop::sample::Index>()),
        ) {
            let whole: usize = sequences.iter().map(|(literals, _, len)| literals + len).sum::<usize>() + last;
            let mut block = block(&sequences, last);
            for (place, change) in damage {
                let place = place.index(block.len());
                block[place] = change;
            }
            if let Some(cut) = cut {
                block.truncate(cut.index(block.len()));
            }
            let len = (whole + spare).saturating_sub(20);
            prop_assert_eq!(ours(&block, len), library(&block, len));
        }

        /// Bytes at random, mostly nonsense: no panic, and the answer is that of the library.
        #[test]
        fn nonsense_is_refused(block in proptest::collection::vec(any::<u8>(), 0..200), len in 0usize..400) {
            prop_assert_eq!(ours(&block, len), library(&block, len));
        }
    }
}
