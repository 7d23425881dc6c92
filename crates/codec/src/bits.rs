//! Packed bits, the first in the most significant bit of the first byte: runs found and filled a word at a time.

#[cfg(any(feature = "rle", feature = "roaring"))]
use crate::CodecError;

/// Bytes that `count` bits take.
pub(crate) const fn byte_len(count: u64) -> u64 {
    count.div_ceil(8)
}

/// Bit `index`.
#[cfg(any(feature = "rle", feature = "mask"))]
#[inline]
pub(crate) fn bit(bytes: &[u8], index: u64) -> bool {
    bytes.get((index / 8) as usize).is_some_and(|byte| byte >> (7 - index % 8) & 1 == 1)
}

/// Where the run of equal bits that begins at `start` ends, at most at `count`.
#[cfg(feature = "rle")]
#[inline]
pub(crate) fn run_end(bytes: &[u8], start: u64, count: u64) -> u64 {
    let ones = bit(bytes, start);
    let mut position = start;
    while position < count {
        let word = word_at(bytes, position);
        let run = u64::from(if ones { word.leading_ones() } else { word.leading_zeros() });
        let seen = 64 - position % 8;
        if run < seen {
            return (position + run).min(count);
        }
        position += seen;
    }
    count
}

/// Sets the bits `start .. end`.
#[cfg(any(feature = "rle", feature = "roaring"))]
pub(crate) fn set_range(bytes: &mut [u8], start: u64, end: u64) {
    if start >= end {
        return;
    }
    let (first, last) = ((start / 8) as usize, ((end - 1) / 8) as usize);
    let head = 0xffu8 >> (start % 8);
    let tail = 0xffu8 << (7 - (end - 1) % 8);
    if first == last {
        bytes[first] |= head & tail;
        return;
    }
    bytes[first] |= head;
    bytes[first + 1..last].fill(0xff);
    bytes[last] |= tail;
}

/// Calls `found` with every run of set bits within `start .. end`, in order; a long run may come in several parts.
#[cfg(feature = "mask")]
#[inline]
pub(crate) fn for_each_run(bytes: &[u8], start: u64, end: u64, mut found: impl FnMut(std::ops::Range<u64>)) {
    let mut position = start;
    while position < end {
        let mut word = word_at(bytes, position);
        let mut place = position;
        while word != 0 {
            let zeros = word.leading_zeros();
            word <<= zeros;
            let ones = word.leading_ones();
            place += u64::from(zeros);
            if place >= end {
                return;
            }
            found(place..(place + u64::from(ones)).min(end));
            place += u64::from(ones);
            word = word.checked_shl(ones).unwrap_or(0);
        }
        position += 64 - position % 8;
    }
}

/// True when a bit at or behind `count` is set.
#[cfg(feature = "roaring")]
pub(crate) fn any_from(bytes: &[u8], count: u64) -> bool {
    let Some((first, rest)) = bytes.get((count / 8) as usize..).and_then(<[u8]>::split_first) else { return false };
    first & (0xff >> (count % 8)) != 0 || rest.iter().any(|byte| *byte != 0)
}

/// Writes the count that stands before the blob of a `bitmask` object.
#[cfg(any(feature = "rle", feature = "roaring"))]
pub(crate) fn write_count(codec: &'static str, input: &[u8], out: &mut Vec<u8>) -> Result<u64, CodecError> {
    let count = input.len() as u64 * 8;
    let Ok(stated) = u32::try_from(count) else {
        let message = format!("{count} bits are more than the 32-bit count of the format can hold");
        return Err(CodecError::misuse(codec, "input_too_long", message));
    };
    out.extend(stated.to_be_bytes());
    Ok(count)
}

/// Reads that count and checks it against the expected length before anything is expanded.
#[cfg(any(feature = "rle", feature = "roaring"))]
pub(crate) fn read_count<'a>(
    codec: &'static str,
    encoded: &'a [u8],
    decoded_len: u64,
) -> Result<(u64, &'a [u8]), CodecError> {
    let Some((stated, rest)) = encoded.split_first_chunk::<COUNT_LEN>() else {
        let message = format!("need {COUNT_LEN} bytes for the bit count, have {}", encoded.len());
        return Err(CodecError::format(codec, "truncated", message).at(0));
    };
    let count = u64::from(u32::from_be_bytes(*stated));
    if decoded_len.checked_mul(8) != Some(count) {
        let message = format!("bit count is {count}, expected 8 x {decoded_len}");
        return Err(CodecError::format(codec, "decoded_length_mismatch", message).at(0));
    }
    Ok((count, rest))
}

/// The same error with its position counted from `base` bytes earlier.
#[cfg(any(feature = "rle", feature = "roaring"))]
pub(crate) fn shifted(mut error: CodecError, base: usize) -> CodecError {
    error.at = error.at.map(|at| at + base as u64);
    error
}

/// Bytes of that count.
#[cfg(any(feature = "rle", feature = "roaring"))]
pub(crate) const COUNT_LEN: usize = 4;

/// The bits from `position` on, topmost first, with zeros behind the end; at least `64 - position % 8` of them are there.
#[cfg(any(feature = "rle", feature = "mask"))]
#[inline]
fn word_at(bytes: &[u8], position: u64) -> u64 {
    let rest = bytes.get((position / 8) as usize..).unwrap_or_default();
    let word = match rest.first_chunk() {
        Some(word) => u64::from_be_bytes(*word),
        None => rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)) << (8 * (8 - rest.len().min(8)) % 64),
    };
    if rest.is_empty() { 0 } else { word << (position % 8) }
}

#[cfg(all(test, feature = "rle", feature = "roaring", feature = "mask"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_found_and_filled(runs in proptest::collection::vec(1u64..200, 0..40), first: bool) {
            let count: u64 = runs.iter().sum();
            let mut bytes = vec![0; byte_len(count) as usize];
            let mut plain = Vec::new();
            let mut value = first;
            for run in &runs {
                if value {
                    set_range(&mut bytes, plain.len() as u64, plain.len() as u64 + run);
                }
                plain.extend(std::iter::repeat_n(value, *run as usize));
                value = !value;
            }
            for (index, expected) in plain.iter().enumerate() {
                prop_assert_eq!(bit(&bytes, index as u64), *expected);
            }
            let (mut position, mut found) = (0, Vec::new());
            while position < count {
                let end = run_end(&bytes, position, count);
                found.push(end - position);
                position = end;
            }
            prop_assert_eq!(found, runs);
            prop_assert!(!any_from(&bytes, count));
            for (start, end) in [(0, count), (count / 3, count - count / 4)] {
                let mut set = Vec::new();
                for_each_run(&bytes, start, end, |run| set.extend(run));
                let expected: Vec<u64> = (start..end).filter(|place| plain[*place as usize]).collect();
                prop_assert_eq!(set, expected);
            }
        }
    }
}
