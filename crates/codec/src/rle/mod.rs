//! `rle`: run lengths of a bit mask.
//!
//! Specification: TG-C13. As a compressor of `bitmask` objects the payload is a big-endian count of bits (eight
//! per byte, padding included), then the runs: the value of the first run (0 or 1) in one byte, then the lengths of runs of
//! alternating value as ULEB128. Inside masks there is no count, and padding bits are left out. Nothing is ever
//! expanded to a byte per bit, and no bit is written before the runs are known to fit.

use crate::bits::{COUNT_LEN, bit, byte_len, read_count, run_end, set_range, shifted, write_count};
use crate::{Codec, CodecError};

/// The `rle` compressor for objects of type `bitmask`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rle;

impl Codec for Rle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        // Every bit a run of its own.
        input_len.checked_mul(8)?.checked_add(5)
    }

    fn encode(&self, input: &[u8], _threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let count = write_count(NAME, input, out)?;
        encode_runs(input, count, out);
        Ok(())
    }

    fn decode_into(&self, encoded: &[u8], _threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        let (count, runs) = read_count(NAME, encoded, out.len() as u64)?;
        decode_runs(runs, count, out).map_err(|error| shifted(error, COUNT_LEN))
    }

    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        let (count, runs) = read_count(NAME, encoded, decoded_len)?;
        check_runs(runs, count).map_err(|error| shifted(error, COUNT_LEN))
    }
}

/// Appends the runs of the first `count` bits.
pub fn encode_runs(bytes: &[u8], count: u64, out: &mut Vec<u8>) {
    if count == 0 {
        return;
    }
    out.push(u8::from(bit(bytes, 0)));
    let mut position = 0;
    while position < count {
        let end = run_end(bytes, position, count);
        write_uleb(end - position, out);
        position = end;
    }
}

/// Fills `out` with `count` bits; padding bits become zero. Nothing is written unless the runs fit.
///
/// # Errors
/// When the runs are malformed or do not add up to `count`.
///
/// # Panics
/// When `out` is not as long as `count` bits need.
pub fn decode_runs(runs: &[u8], count: u64, out: &mut [u8]) -> Result<(), CodecError> {
    assert_eq!(out.len() as u64, byte_len(count), "run lengths decode into exactly the bytes of their bits");
    check_runs(runs, count)?;
    out.fill(0);
    walk_runs(runs, count, |start, end| set_range(out, start, end))
}

/// Checks that the runs are well formed and add up to `count` bits.
///
/// # Errors
/// When they are not or do not.
pub fn check_runs(runs: &[u8], count: u64) -> Result<(), CodecError> {
    walk_runs(runs, count, |_, _| {})
}

/// Calls `ones` with every run of ones.
fn walk_runs(runs: &[u8], count: u64, mut ones: impl FnMut(u64, u64)) -> Result<(), CodecError> {
    if count == 0 {
        return if runs.is_empty() { Ok(()) } else { Err(fault("trailing_bytes", "runs after the last bit", 0)) };
    }
    let (mut value, mut rest) = match runs.split_first() {
        Some((0, rest)) => (false, rest),
        Some((1, rest)) => (true, rest),
        Some((other, _)) => {
            return Err(fault("bad_first_run", format!("value of the first run is {other}, expected 0 or 1"), 0));
        }
        None => return Err(fault("truncated", "need 1 byte for the value of the first run, have 0", 0)),
    };
    let mut position = 0u64;
    while position < count {
        let at = runs.len() - rest.len();
        let run = read_uleb(&mut rest).map_err(|problem| fault("bad_run_length", problem, at))?;
        if run == 0 {
            return Err(fault("zero_run", "a run of zero bits", at));
        }
        let end = position.checked_add(run).filter(|end| *end <= count).ok_or_else(|| {
            fault("too_many_bits", format!("run of {run} bits from {position} reaches past the {count} expected"), at)
        })?;
        if value {
            ones(position, end);
        }
        value = !value;
        position = end;
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err(fault("trailing_bytes", format!("{} bytes after the last run", rest.len()), runs.len() - rest.len()))
}

fn fault(code: &'static str, message: impl Into<String>, at: usize) -> CodecError {
    CodecError::format(NAME, code, message).at(at as u64)
}

fn write_uleb(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_uleb(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0u64;
    for shift in (0..70).step_by(7) {
        let Some((byte, rest)) = bytes.split_first() else { return Err("run length is truncated") };
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return Err("run length does not fit in 64 bits");
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("run length has more than 10 bytes")
}

const NAME: &str = "rle";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_the_specification() {
        let mut out = Vec::new();
        Rle.encode(&[0xe1, 0x40], 1, &mut out).unwrap();
        assert_eq!(out, [0, 0, 0, 0x10, 1, 3, 4, 1, 1, 1, 6]);
        let mut bits = vec![0; 250];
        set_range(&mut bits, 100, 110);
        set_range(&mut bits, 1999, 2000);
        let mut runs = Vec::new();
        encode_runs(&bits, 2000, &mut runs);
        assert_eq!(runs, [0x00, 0x64, 0x0a, 0xe1, 0x0e, 0x01]);
        let mut empty = Vec::new();
        Rle.encode(&[], 1, &mut empty).unwrap();
        assert_eq!(empty, [0; 4]);
        Rle.decode_into(&empty, 1, &mut []).unwrap();
    }

    #[test]
    fn malformed_runs_are_refused() {
        let code = |runs: &[u8]| decode_runs(runs, 16, &mut [0xaa; 2]).unwrap_err().code;
        assert_eq!(code(&[]), "truncated");
        assert_eq!(code(&[2, 16]), "bad_first_run");
        assert_eq!(code(&[1, 3]), "bad_run_length");
        assert_eq!(code(&[1, 3, 0, 13]), "zero_run");
        assert_eq!(code(&[1, 3, 14]), "too_many_bits");
        assert_eq!(code(&[1, 16, 1]), "trailing_bytes");
        assert_eq!(code(&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), "bad_run_length");
        assert_eq!(code(&[1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]), "bad_run_length");
        assert_eq!(decode_runs(&[0], 0, &mut []).unwrap_err().code, "trailing_bytes");
        let huge = [0xff, 0xff, 0xff, 0xf8, 1, 0xf8, 0xff, 0xff, 0xff, 0x0f];
        assert_eq!(Rle.decode_into(&huge, 1, &mut [0; 2]).unwrap_err().code, "decoded_length_mismatch");
        assert_eq!(Rle.decode_into(&[0, 0, 1], 1, &mut [0; 2]).unwrap_err().code, "truncated");
    }

    proptest! {
        #[test]
        fn round_trip(bytes in proptest::collection::vec(prop_oneof![Just(0u8), Just(0xff), any::<u8>()], 0..300)) {
            let mut encoded = Vec::new();
            Rle.encode(&bytes, 1, &mut encoded).unwrap();
            prop_assert!(encoded.len() <= Rle.max_encoded_len(bytes.len()).unwrap());
            let mut back = vec![0xee; bytes.len()];
            Rle.decode_into(&encoded, 1, &mut back).unwrap();
            prop_assert_eq!(back, bytes);
        }
    }
}
