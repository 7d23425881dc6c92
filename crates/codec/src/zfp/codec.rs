//! The [`Codec`] answers: lengths, spans and ranges.

use super::bits::Bits;
use super::params::Zfp;
use super::{BLOCK_BYTES, BLOCK_MAX_BITS, NAME, decode, encode};
use crate::codec::checked_range;
use crate::{Codec, CodecError, Reach, Window, alloc};
use fw_bytes::Span;
use std::ops::Range;

impl Codec for Zfp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        let bits = self.fixed_block_bits().unwrap_or(BLOCK_MAX_BITS);
        input_len.div_ceil(BLOCK_BYTES).checked_mul(bits as usize)?.div_ceil(64).checked_mul(8)
    }

    /// At a fixed rate every block has its place. In the other modes a range pays for finding the ends of all the blocks
    /// before it.
    fn reach(&self) -> Reach {
        if self.fixed_block_bits().is_some() { Reach::Blocks } else { Reach::FromStart }
    }

    fn encode(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        check_value_bytes(input.len() as u64)?;
        encode::encode(self, input, threads, out)
    }

    fn decode_into(&self, encoded: &[u8], threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        self.check_lengths(encoded.len() as u64, out.len() as u64)?;
        let bits = Bits::new(encoded);
        let end = match self.fixed_block_bits() {
            Some(block_bits) => {
                decode::decode_fixed(self, block_bits, bits, 0, 0, threads, out)?;
                blocks(out.len() as u64) * u64::from(block_bits)
            }
            None => decode::decode_open(self, bits, threads, out)?,
        };
        check_tail(encoded, end)
    }

    fn decode_to_vec(&self, encoded: &[u8], decoded_len: usize, threads: usize) -> Result<Vec<u8>, CodecError> {
        if threads > 1 || decoded_len >= alloc::FRESH_FROM {
            let mut out = alloc::zeroed(decoded_len)?;
            self.decode_into(encoded, threads, &mut out)?;
            return Ok(out);
        }
        self.check_lengths(encoded.len() as u64, decoded_len as u64)?;
        let bits = Bits::new(encoded);
        let fixed = self.fixed_block_bits();
        let mut end = 0;
        let out = alloc::in_pieces(decoded_len, PIECE, |_, part| {
            end = match fixed {
                Some(block_bits) => {
                    decode::decode_fixed(self, block_bits, bits, end, 0, 1, part)?;
                    end + blocks(part.len() as u64) * u64::from(block_bits)
                }
                None => decode::decode_open_from(self, bits, end, part)?,
            };
            Ok(())
        })?;
        check_tail(encoded, end)?;
        Ok(out)
    }

    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        self.check_lengths(encoded.len() as u64, decoded_len)
    }

    fn block_len(&self, _encoded: Option<Window<'_>>, _decoded_len: u64) -> Option<u64> {
        self.fixed_block_bits().map(|_| BLOCK_BYTES as u64)
    }

    fn encoded_span(&self, encoded_len: u64, decoded_len: u64, range: Range<u64>) -> Option<Span> {
        let block_bits = u64::from(self.fixed_block_bits()?);
        let end = range.end.min(decoded_len);
        if range.start >= end {
            return Some(Span::new(0, 0));
        }
        let first_bit = (range.start / BLOCK_BYTES as u64).checked_mul(block_bits)?;
        let end_bit = blocks(end).checked_mul(block_bits)?;
        Some(Span::new(first_bit / 8, end_bit.div_ceil(8).min(encoded_len)))
    }

    fn decode_range_into(
        &self,
        encoded: Window<'_>,
        decoded_len: u64,
        start: u64,
        threads: usize,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let range = checked_range(NAME, decoded_len, start, out.len())?;
        self.check_lengths(encoded.total_len, decoded_len)?;
        if out.is_empty() {
            return Ok(());
        }
        let (first_block, skip) = (start / BLOCK_BYTES as u64, range.start % BLOCK_BYTES);
        let Some(block_bits) = self.fixed_block_bits() else {
            let bits = Bits::new(encoded.whole_bytes(NAME)?);
            return decode::decode_open_range(self, bits, first_block, skip, out);
        };
        let span = self.encoded_span(encoded.total_len, decoded_len, range.start as u64..range.end as u64);
        let (span, bytes) = span.and_then(|span| Some((span, encoded.get(span)?))).ok_or_else(|| {
            CodecError::misuse(NAME, "partial_payload", "the available payload bytes do not cover the range")
        })?;
        let first_bit = first_block * u64::from(block_bits) - span.start * 8;
        decode::decode_fixed(self, block_bits, Bits::new(bytes), first_bit, skip, threads, out)
    }
}

impl Zfp {
    /// Checks that a payload of `encoded_len` bytes can be the code of `decoded_len` bytes, so that a caller need not
    /// reserve memory for a claim that cannot hold.
    ///
    /// # Errors
    /// `partial_value` when `decoded_len` is no whole number of values; `payload_too_short` and `payload_too_long`
    /// when the payload cannot belong to so many values.
    pub fn check_lengths(&self, encoded_len: u64, decoded_len: u64) -> Result<(), CodecError> {
        check_value_bytes(decoded_len)?;
        let blocks = u128::from(blocks(decoded_len));
        let (least, most) = match self.fixed_block_bits() {
            Some(bits) => (blocks * u128::from(bits), blocks * u128::from(bits)),
            None => (blocks, blocks * u128::from(BLOCK_MAX_BITS)),
        };
        let least = least.div_ceil(64) * 8;
        let most = (most.div_ceil(64) + EXTRA_WORDS) * 8;
        let (code, bound) = match u128::from(encoded_len) {
            len if len < least => ("payload_too_short", least),
            len if len > most => ("payload_too_long", most),
            _ => return Ok(()),
        };
        let word = if bound == least { "at least" } else { "at most" };
        let message = format!("{decoded_len} decoded bytes need {word} {bound} payload bytes, found {encoded_len}");
        Err(CodecError::format(NAME, code, message).at(encoded_len))
    }
}

/// Bytes of a result made at a time: whole blocks that stay in the first-level cache.
const PIECE: usize = BLOCK_BYTES * 512;

/// Zero words that may follow the stream; the reference reader accepts as many.
const EXTRA_WORDS: u128 = 3;

/// Blocks that `decoded_len` bytes are coded in.
fn blocks(decoded_len: u64) -> u64 {
    decoded_len.div_ceil(BLOCK_BYTES as u64)
}

fn check_value_bytes(len: u64) -> Result<(), CodecError> {
    if len.is_multiple_of(8) {
        return Ok(());
    }
    let message = format!("{len} bytes are not a whole number of float64 values");
    Err(CodecError::misuse(NAME, "partial_value", message))
}

/// Behind the word in which the stream ends there may be a few zero words and nothing else.
fn check_tail(encoded: &[u8], end_bit: u64) -> Result<(), CodecError> {
    let end = end_bit.div_ceil(64) * 8;
    let tail = usize::try_from(end).ok().and_then(|end| encoded.get(end..)).unwrap_or(&[]);
    if tail.len() as u128 > EXTRA_WORDS * 8 || tail.iter().any(|byte| *byte != 0) {
        let message = format!("{} bytes follow the last block", tail.len());
        return Err(CodecError::format(NAME, "trailing_bytes", message).at(end));
    }
    Ok(())
}
