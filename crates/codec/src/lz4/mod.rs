//! `lz4`: the length as four little-endian bytes, then one LZ4 block.
//!
//! Specification: TG-C8. No parameters. The length is checked against what the caller expects before
//! anything is done, and the block must fill it exactly.

mod append; // blocks of long literals, appended
mod literals; // blocks of long literals, in parts

use crate::codec::{Gathered, Inspect};
use crate::{Codec, CodecError, alloc, lz4_block};
use lz4_flex::block;
use std::borrow::Cow;

/// The `lz4` compressor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lz4;

impl Codec for Lz4 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        (input_len <= MAX_INPUT).then(|| PREFIX + block::get_maximum_output_size(input_len) + SEAM)
    }

    fn encode(&self, input: &[u8], _threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match gather(input, |_, _| Ok(()))?.as_mut_slice() {
            [Cow::Owned(whole)] if out.is_empty() => std::mem::swap(whole, out),
            parts => {
                alloc::reserve(out, parts.iter().map(|part| part.len()).sum())?;
                parts.iter().for_each(|part| out.extend_from_slice(part));
            }
        }
        Ok(())
    }

    fn encode_gathered<'a>(&self, input: &'a [u8], inspect: Inspect<'_>) -> Result<Option<Gathered<'a>>, CodecError> {
        gather(input, inspect).map(Some)
    }

    fn decode_into(&self, encoded: &[u8], _threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        self.check_claim(encoded, out.len() as u64)?;
        let block = encoded.get(PREFIX..).unwrap_or_default();
        let len = lz4_block::decode(block, out).map_err(|fault| {
            let message = format!("{} (expecting {} decoded bytes)", fault.problem, out.len());
            CodecError::format(NAME, "bad_block", message).at((PREFIX + fault.at) as u64)
        })?;
        if len == out.len() { Ok(()) } else { Err(CodecError::length(NAME, out.len() as u64, len as u64)) }
    }

    fn decode_to_vec(&self, encoded: &[u8], decoded_len: usize, threads: usize) -> Result<Vec<u8>, CodecError> {
        self.check_claim(encoded, decoded_len as u64)?;
        let block = encoded.get(PREFIX..).unwrap_or_default();
        // A block that hardly shrank is one long literal after another: they can be appended. What that cannot read, and
        // what is wrong with it, is said by the usual way.
        if decoded_len < alloc::FRESH_FROM
            && block.len() > decoded_len / 8 * 7
            && let Some(out) = append::decompress(block, decoded_len)?
        {
            return Ok(out);
        }
        let mut out = alloc::zeroed(decoded_len)?;
        self.decode_into(encoded, threads, &mut out)?;
        Ok(out)
    }

    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        let Some(prefix) = encoded.first_chunk::<PREFIX>() else {
            let message = format!("need {PREFIX} bytes for the length, have {}", encoded.len());
            return Err(CodecError::format(NAME, "truncated", message).at(0));
        };
        let stated = u64::from(u32::from_le_bytes(*prefix));
        if stated != decoded_len {
            return Err(CodecError::length(NAME, decoded_len, stated).at(0));
        }
        // A byte of a block stands for at most 255 bytes of output.
        if decoded_len / 255 > encoded.len() as u64 {
            let message = format!("{} bytes cannot decode to {decoded_len}", encoded.len());
            return Err(CodecError::format(NAME, "decoded_length_mismatch", message));
        }
        Ok(())
    }
}

/// The parts of an encoded block; `inspect` gets the input stretch by stretch, each with its position.
fn gather(
    input: &[u8],
    inspect: impl FnMut(usize, &[u8]) -> Result<(), CodecError>,
) -> Result<Gathered<'_>, CodecError> {
    let Some(most) = Lz4.max_encoded_len(input.len()) else {
        let message = format!("input of {} bytes is longer than the {MAX_INPUT} bytes of a block", input.len());
        return Err(CodecError::misuse(NAME, "input_too_long", message));
    };
    let prefix = (input.len() as u32).to_le_bytes();
    let (parts, rest) = literals::gather(prefix.to_vec(), input, inspect)?;
    let Some(rest) = rest else { return Ok(parts) };
    let mut out = alloc::overwritable(most)?;
    let mut len = 0;
    for part in parts {
        out[len..len + part.len()].copy_from_slice(&part);
        len += part.len();
    }
    len += block::compress_into(rest, &mut out[len..])
        .map_err(|error| CodecError::misuse(NAME, "compress_failed", error.to_string()))?;
    out.truncate(len);
    Ok(vec![Cow::Owned(out)])
}

const NAME: &str = "lz4";
const PREFIX: usize = 4;
/// What a block in two pieces may take beyond one in one piece.
const SEAM: usize = 64;
const MAX_INPUT: usize = i32::MAX as usize;

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(encoded: &[u8], len: usize) -> Result<Vec<u8>, CodecError> {
        let mut out = vec![0xee; len];
        let outcome = Lz4.decode_into(encoded, 1, &mut out).map(|()| out);
        assert_eq!(Lz4.decode_to_vec(encoded, len, 1), outcome);
        outcome
    }

    #[test]
    fn examples_of_the_specification() {
        let twenty = [0x14, 0, 0, 0, 0x19, 0x05, 0x01, 0x00, 0x60, 5, 5, 5, 5, 5, 5];
        assert_eq!(decode(&twenty, 20).unwrap(), [5; 20]);
        assert_eq!(decode(&[0, 0, 0, 0, 0], 0).unwrap(), []);
        let mut out = vec![9];
        Lz4.encode(&[], 1, &mut out).unwrap();
        assert_eq!(out, [9, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn round_trips_and_damage() {
        let input: Vec<u8> = (0..70_000u32).map(|i| (i / 9) as u8).collect();
        let mut encoded = Vec::new();
        Lz4.encode(&input, 1, &mut encoded).unwrap();
        assert!(encoded.len() < 12_000);
        assert_eq!(decode(&encoded, input.len()).unwrap(), input);
        assert_eq!(decode(&encoded, input.len() + 1).unwrap_err().code, "decoded_length_mismatch");
        assert!(decode(&encoded[..encoded.len() - 1], input.len()).is_err());
        assert_eq!(decode(&encoded[..3], input.len()).unwrap_err().code, "truncated");
        // A block that yields less than its prefix says.
        assert_eq!(decode(&[3, 0, 0, 0, 0x20, 1, 2], 3).unwrap_err().code, "decoded_length_mismatch");
        // A match before the beginning.
        assert_eq!(decode(&[9, 0, 0, 0, 0x14, 1, 9, 0, 0, 0], 9).unwrap_err().code, "bad_block");
        assert_eq!(
            Lz4.check_claim(&[0xff, 0xff, 0xff, 0xff, 0], 0xffff_ffff).unwrap_err().code,
            "decoded_length_mismatch"
        );
    }
}
