//! The codec that only Blosc has: runs of literals and matches, byte-aligned.
//!
//! A control byte below 32 stands for that many literals plus one. Any other holds the match length in its upper three
//! bits (7: more bytes follow) and the upper distance bits in its lower five; the first control byte of a stream
//! always counts literals. Specification: TG-C9.2.

use super::matches::{Bounded, common_len, hash, word};

/// Reusable memory of the encoder.
#[derive(Debug)]
pub(super) struct Table(Box<[u32]>);

impl Table {
    pub(super) fn new() -> Self {
        Self(vec![0; 1 << HASH_BITS].into_boxed_slice())
    }
}

/// Compresses `input` into `out`; `None` when it does not fit.
pub(super) fn compress(input: &[u8], table: &mut Table, out: &mut [u8]) -> Option<usize> {
    let mut out = Bounded::new(out);
    table.0.fill(0);
    let end = input.len().saturating_sub(TAIL_LITERALS);
    let mut literals_from = 0;
    let mut at = 1;
    let mut misses = 0;
    while at < end {
        let here = word(input, at);
        let slot = table.0.get_mut(hash(here, HASH_BITS))?;
        let candidate = std::mem::replace(slot, at as u32) as usize;
        let distance = at - candidate;
        if distance <= MAX_DISTANCE && word(input, candidate) == here {
            let mut len = common_len(input, candidate, at, end);
            let (mut from, mut source) = (at, candidate);
            // A match may begin earlier than the hash noticed.
            while from > literals_from && source > 0 && input[from - 1] == input[source - 1] {
                (from, source, len) = (from - 1, source - 1, len + 1);
            }
            let worth = if distance < FAR_DISTANCE { MIN_NEAR } else { MIN_FAR };
            if len >= worth && from > 0 {
                literals(&input[literals_from..from], &mut out)?;
                copy(len, distance, &mut out)?;
                at = from + len;
                literals_from = at;
                misses = 0;
                // One more entry makes runs of matches findable.
                if at < end {
                    *table.0.get_mut(hash(word(input, at - 2), HASH_BITS))? = (at - 2) as u32;
                }
                continue;
            }
        }
        misses += 1;
        at += 1 + (misses >> SKIP_SHIFT);
    }
    literals(&input[literals_from..], &mut out)?;
    Some(out.len())
}

/// Fills `out` from a stream.
///
/// # Errors
/// What is wrong with it.
pub(super) fn decompress(input: &[u8], out: &mut [u8]) -> Result<(), &'static str> {
    let mut rest = input;
    let mut filled = 0;
    let mut control = usize::from(take(&mut rest)? & 31);
    loop {
        if control < 32 {
            let len = control + 1;
            let room = out.get_mut(filled..).unwrap_or_default();
            // Far from both ends a copy of fixed length is a few instructions; what it writes too much is overwritten later.
            if let (Some(from), Some(to)) = (rest.first_chunk::<MAX_LITERALS>(), room.first_chunk_mut::<MAX_LITERALS>())
            {
                *to = *from;
                rest = &rest[len..];
            } else {
                let (literals, after) = rest.split_at_checked(len).ok_or("literals reach past the stream")?;
                room.get_mut(..len).ok_or("literals reach past the output")?.copy_from_slice(literals);
                rest = after;
            }
            filled += len;
        } else {
            let mut len = (control >> 5) + 2;
            if len == 9 {
                loop {
                    let more = take(&mut rest)?;
                    // At most 255 per byte of the stream: no overflow.
                    len += usize::from(more);
                    if more != 255 {
                        break;
                    }
                }
            }
            let high = (control & 31) << 8;
            let low = usize::from(take(&mut rest)?);
            let mut distance = high + low + 1;
            if distance == FAR_DISTANCE {
                let (high, low) = (take(&mut rest)?, take(&mut rest)?);
                distance += usize::from(u16::from_be_bytes([high, low]));
            }
            let source = filled.checked_sub(distance).ok_or("a match begins before the output")?;
            if len > out.len() - filled {
                return Err("a match reaches past the output");
            }
            repeat(out, source, filled, len);
            filled += len;
        }
        match take(&mut rest) {
            Ok(next) => control = usize::from(next),
            Err(_) if filled == out.len() => return Ok(()),
            Err(_) => return Err("the stream ends before the output is full"),
        }
    }
}

fn take(rest: &mut &[u8]) -> Result<u8, &'static str> {
    let (first, after) = rest.split_first().ok_or("the stream is truncated")?;
    *rest = after;
    Ok(*first)
}

/// Copies `len` bytes from `source` to `to`, which may lie inside them: then what was copied repeats. Up to a step more is
/// written where there is room.
#[inline(always)]
fn repeat(out: &mut [u8], source: usize, to: usize, len: usize) {
    let distance = to - source;
    if len > LONG || out.len() - to < LONG + STEP {
        repeat_exactly(out, source, to, len);
    } else if distance >= STEP {
        repeat_in_steps(out, source, to, len);
    } else if distance == 1 {
        let run = [out[source]; LONG];
        out[to..to + LONG].copy_from_slice(&run);
    } else {
        // The first step in a register: every round doubles it.
        let mut pattern = u128::from_le_bytes(step_at(out, source)) & ((1 << (8 * distance)) - 1);
        let mut width = distance;
        while width < STEP {
            pattern |= pattern << (8 * width);
            width *= 2;
        }
        out[to..to + STEP].copy_from_slice(&pattern.to_le_bytes());
        // Once a step is there, it repeats from further away as well: by whole periods.
        if len > STEP {
            let far = STEP.next_multiple_of(distance);
            repeat_in_steps(out, to + STEP - far, to + STEP, len - STEP);
        }
    }
}

/// As [`repeat`], from at least a step away, where there is room for the last step.
#[inline(always)]
fn repeat_in_steps(out: &mut [u8], source: usize, to: usize, len: usize) {
    let mut done = 0;
    while done < len {
        let step = step_at(out, source + done);
        out[to + done..to + done + STEP].copy_from_slice(&step);
        done += STEP;
    }
}

#[inline(always)]
fn step_at(out: &[u8], at: usize) -> [u8; STEP] {
    let mut step = [0; STEP];
    step.copy_from_slice(&out[at..at + STEP]);
    step
}

/// As [`repeat`], and nothing more is written.
fn repeat_exactly(out: &mut [u8], source: usize, to: usize, len: usize) {
    let distance = to - source;
    if distance == 1 {
        let byte = out[source];
        out[to..to + len].fill(byte);
        return;
    }
    // Every round doubles what can be copied at once.
    let mut done = 0;
    while done < len {
        let step = (distance + done).min(len - done);
        out.copy_within(source..source + step, to + done);
        done += step;
    }
}

fn literals(bytes: &[u8], out: &mut Bounded<'_>) -> Option<()> {
    for run in bytes.chunks(MAX_LITERALS) {
        out.push((run.len() - 1) as u8)?;
        out.extend(run)?;
    }
    Some(())
}

fn copy(len: usize, distance: usize, out: &mut Bounded<'_>) -> Option<()> {
    let far = distance >= FAR_DISTANCE;
    let code = if far { FAR_DISTANCE - 1 } else { distance - 1 };
    let high = (code >> 8) as u8;
    if len < 9 {
        out.push((((len - 2) as u8) << 5) | high)?;
    } else {
        out.push((7 << 5) | high)?;
        out.push_long(len - 9)?;
    }
    out.push(code as u8)?;
    if far { out.extend(&((distance - FAR_DISTANCE) as u16).to_be_bytes()) } else { Some(()) }
}

const HASH_BITS: u32 = 14;
const MAX_LITERALS: usize = 32;
/// From here on a distance takes two more bytes.
const FAR_DISTANCE: usize = 8192;
const MAX_DISTANCE: usize = FAR_DISTANCE + 65535;
const MIN_NEAR: usize = 4;
const MIN_FAR: usize = 6;
/// The end of a stream is always literal.
const TAIL_LITERALS: usize = 12;
/// Bytes that short matches are copied by.
const STEP: usize = 16;
/// Longer matches are worth a call.
const LONG: usize = 64;
/// After this many misses (as a power of two) the search takes longer steps.
const SKIP_SHIFT: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(input: &[u8]) -> usize {
        let mut out = vec![0; input.len() + input.len() / 32 + 2];
        let len = compress(input, &mut Table::new(), &mut out).unwrap();
        let mut back = vec![0; input.len()];
        decompress(&out[..len], &mut back).unwrap();
        assert!(back == input);
        len
    }

    #[test]
    fn repeats_near_and_far_are_found() {
        let noise: Vec<u8> = (0..40_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        assert!(round_trip(&[9; 10_000]) < 80);
        assert!(round_trip(&[&noise[..], &noise[..]].concat()) < 45_000, "a distance of 40 000 is found");
        assert!(round_trip(&[&noise[..8192], &noise[..8192]].concat()) < 9000, "the first far distance");
        assert!(round_trip(&[&noise[..8191], &noise[..8191]].concat()) < 9000, "the last near distance");
    }

    #[test]
    fn matches_of_every_distance_and_length_repeat_what_stands_there() {
        for distance in 1..40 {
            for len in 3..100 {
                // With no room behind the match, and with plenty.
                for room in [0, 1, STEP, LONG + STEP] {
                    let mut out: Vec<u8> = (0..60 + len + room).map(|at| (at * 37) as u8).collect();
                    let mut expected = out.clone();
                    (60..60 + len).for_each(|at| expected[at] = expected[at - distance]);
                    repeat(&mut out, 60 - distance, 60, len);
                    assert!(out[..60 + len] == expected[..60 + len], "{len} bytes from {distance} before, {room} left");
                }
            }
        }
    }

    #[test]
    fn the_worked_controls_of_the_specification() {
        let mut out = [0; 12];
        // Three literals, then length 9 + 0 at distance 3.
        decompress(&[2, b'a', b'b', b'c', 0xe0, 0, 2], &mut out).unwrap();
        assert_eq!(&out, b"abcabcabcabc");
        // The upper bits of the first control byte do not count.
        decompress(&[0xe2, b'a', b'b', b'c', 0xe0, 0, 2], &mut out).unwrap();
        assert_eq!(&out, b"abcabcabcabc");
    }

    #[test]
    fn damaged_streams_are_refused() {
        let mut out = [0; 12];
        for stream in [&[][..], &[3, 1], &[2, 1, 2, 3, 0xe0], &[2, 1, 2, 3, 0xe0, 0, 3], &[2, 1, 2, 3, 0xe0, 9, 2]] {
            assert!(decompress(stream, &mut out).is_err(), "{stream:?}");
        }
        assert!(decompress(&[2, 1, 2, 3], &mut out).is_err(), "too short");
        assert!(decompress(&[31; 40], &mut out).is_err(), "too long");
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(input in prop::collection::vec(0u8..4, 1..3000)) {
            round_trip(&input);
        }

        #[test]
        fn any_stream_is_read_or_refused(stream in prop::collection::vec(any::<u8>(), 0..300), len in 0usize..2000) {
            let _ = decompress(&stream, &mut vec![0; len]);
        }
    }
}
