//! `szip`: lossless coding of integer samples by CCSDS 121.0-B, bit for bit as libaec writes it.
//!
//! Samples of 1 to 32 bits are coded block by block, each with the shortest of a few simple codes; a reference sample
//! interval (RSI) of several blocks is the unit that can be decoded on its own once its bit position is known.
//!
//! - **Parameters**: [`SzipParams`]. The payload has no header, so a reader needs the same values.
//! - **Offsets**: [`Szip::encode_with_offsets`] returns the true bit position of every interval. Given back through
//!   [`Szip::with_offsets`], they allow decoding on several threads and in part. They are never trusted: wrong ones, also
//!   those that the reference implementation is known to write, cost time and nothing else.
//! - **Compatibility**: bytes behind the coded data are ignored, as in the reference. Padded intervals (flag 32) are
//!   refused, because no reader can undo what writers do there.
//!
//! ```
//! use fw_codec::Codec;
//! use fw_codec::szip::{Szip, SzipFlags, SzipParams};
//!
//! # fn main() -> Result<(), fw_codec::CodecError> {
//! let params = SzipParams { rsi: 1, block_size: 8, flags: SzipFlags::PREPROCESS, bits_per_sample: 8 };
//! let szip = Szip::new(params)?;
//! let samples = [10, 11, 13, 13, 12, 15, 20, 20];
//!
//! let mut payload = Vec::new();
//! let offsets = szip.encode_with_offsets(&samples, 1, &mut payload)?;
//! assert_eq!(payload, [0x41, 0x49, 0xc4, 0x18, 0x80]);
//! assert_eq!(offsets, [0]);
//!
//! let mut decoded = [0; 8];
//! szip.with_offsets(offsets).decode_into(&payload, 1, &mut decoded)?;
//! assert_eq!(decoded, samples);
//! # Ok(())
//! # }
//! ```

mod bit_reader; // bits out of words
mod bit_writer; // bits into words
mod choose; // which code a block gets
mod decode; // bits to samples
mod encode; // samples to bits
mod fault; // what is wrong inside a stream
mod join; // encoding on several threads
mod locate; // where intervals start
mod params; // what a stream is made of
mod parts; // decoding on several threads
mod predict; // samples to residuals and back
mod samples; // samples in bytes
mod sets; // coded sets, read or passed over

pub use params::{SzipFlags, SzipParams};

use crate::codec::checked_range;
use crate::{Codec, CodecError, Reach, Window, alloc};
use fault::{Fault, FaultKind};
use fw_bytes::Span;
use locate::Stream;
use params::{Layout, SEGMENT_BLOCKS};
use std::ops::Range;

const NAME: &str = "szip";

/// The codec, with its parameters checked and, for decoding, the offsets of the payload if they are known.
#[derive(Clone, Debug)]
pub struct Szip {
    params: SzipParams,
    layout: Layout,
    offsets: Vec<u64>,
}

impl Szip {
    /// # Errors
    /// When a parameter is outside its range; the error's code names it.
    pub fn new(params: SzipParams) -> Result<Self, CodecError> {
        Ok(Self { params, layout: Layout::new(&params)?, offsets: Vec::new() })
    }

    /// The same codec with the bit position of each interval of the payload it is going to decode.
    ///
    /// Any numbers are safe here; a list of the wrong length is as good as none.
    #[must_use]
    pub fn with_offsets(mut self, offsets: Vec<u64>) -> Self {
        self.offsets = offsets;
        self
    }

    /// As [`Codec::encode`]; also returns the bit position of each interval, from the start of the payload.
    ///
    /// # Errors
    /// When `input` is not a whole number of samples, or a sample has more bits than the parameters say.
    pub fn encode_with_offsets(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<Vec<u64>, CodecError> {
        if self.layout.sample_count(input.len() as u64).is_none() {
            return Err(self.ragged("input", input.len() as u64));
        }
        join::encode(&self.layout, input, threads, out)
    }

    /// The parameters.
    pub const fn params(&self) -> &SzipParams {
        &self.params
    }

    /// The most bytes that a payload of `encoded_len` bytes can decode to: check a claimed size against it before
    /// reserving memory.
    pub const fn max_decoded_len(&self, encoded_len: u64) -> u64 {
        let layout = &self.layout;
        // The shortest way to say most is an interval of zeros: a reference sample and a code per segment.
        let segments = layout.rsi_blocks.div_ceil(SEGMENT_BLOCKS) as u64;
        let reference = if layout.preprocess { layout.bits as u64 } else { 0 };
        // A run of up to four blocks has shorter codes than "the rest of the segment".
        let run = if layout.rsi_blocks < 5 { 1 } else { 5 };
        let shortest_rsi = segments * (layout.id_len as u64 + 1 + run) - segments.saturating_sub(1) * 4 + reference;
        let rsis = encoded_len.saturating_mul(8) / shortest_rsi + 1;
        rsis.saturating_mul((layout.rsi_samples * layout.container.width()) as u64)
    }

    fn stream<'a>(&'a self, window: Window<'a>, decoded_len: u64) -> Result<Stream<'a>, CodecError> {
        let samples = self.layout.sample_count(decoded_len).ok_or_else(|| self.ragged("output", decoded_len))?;
        let most = self.max_decoded_len(window.total_len);
        if decoded_len > most {
            let message = format!(
                "expected {decoded_len} decoded bytes, but {} payload bytes cannot hold more than {most}",
                window.total_len
            );
            return Err(CodecError::format(NAME, "truncated", message).at(window.total_len));
        }
        let matching = self.offsets.len() as u64 == self.layout.rsi_count(samples);
        Ok(Stream {
            layout: &self.layout,
            bytes: window.bytes,
            start_bit: window.start.saturating_mul(8),
            total_bits: window.total_len.saturating_mul(8),
            samples,
            offsets: if matching { &self.offsets } else { &[] },
        })
    }

    fn ragged(&self, what: &str, len: u64) -> CodecError {
        let width = self.layout.container.width();
        CodecError::misuse(NAME, "ragged_samples", format!("{what} of {len} bytes is not a multiple of {width}"))
    }
}

impl Codec for Szip {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        let layout = &self.layout;
        let samples = input_len.div_ceil(layout.container.width()) as u64;
        let blocks = samples.div_ceil(layout.block as u64);
        // Every code is at most as long as raw, except that of a lone zero block of very small samples.
        let bits = blocks.checked_mul(layout.longest_set() + 2)?;
        usize::try_from(bits.div_ceil(8)).ok()
    }

    /// Without offsets an interval is found only by passing over those before it.
    fn reach(&self) -> Reach {
        if self.offsets.is_empty() { Reach::FromStart } else { Reach::Blocks }
    }

    fn encode(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.encode_with_offsets(input, threads, out).map(drop)
    }

    fn decode_into(&self, encoded: &[u8], threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        let decoded_len = out.len() as u64;
        if decoded_len == 0 && !encoded.is_empty() {
            let message = format!("expected an empty payload for no samples, found {} bytes", encoded.len());
            return Err(CodecError::format(NAME, "decoded_length_mismatch", message).at(0));
        }
        let stream = self.stream(Window::whole(encoded), decoded_len)?;
        parts::decode(&stream, 0, 0..decoded_len, threads, out).map_err(|fault| fault.into_error(0))
    }

    fn decode_to_vec(&self, encoded: &[u8], decoded_len: usize, threads: usize) -> Result<Vec<u8>, CodecError> {
        if threads > 1 || decoded_len == 0 || decoded_len >= alloc::FRESH_FROM {
            let mut out = alloc::zeroed(decoded_len)?;
            self.decode_into(encoded, threads, &mut out)?;
            return Ok(out);
        }
        let stream = self.stream(Window::whole(encoded), decoded_len as u64)?;
        let mut decoder = decode::Decoder::new(&self.layout, encoded, 0);
        let rsi_len = self.layout.rsi_samples * self.layout.container.width();
        alloc::in_pieces(decoded_len, rsi_len, |start, part| {
            let samples = stream.samples_in((start / rsi_len) as u64);
            decoder.decode_rsi(samples, 0..part.len(), part).map_err(|fault| fault.into_error(0))
        })
    }

    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        self.stream(Window::whole(encoded), decoded_len).map(drop)
    }

    /// An interval.
    fn block_len(&self, _encoded: Option<Window<'_>>, _decoded_len: u64) -> Option<u64> {
        Some((self.layout.rsi_samples * self.layout.container.width()) as u64)
    }

    /// From the interval where `range` begins to the one where it ends.
    ///
    /// When the offsets turn out to be wrong in a way that these bytes cannot settle, [`Codec::decode_range_into`] fails
    /// with the code `partial_payload`, and only the whole payload will do.
    fn encoded_span(&self, encoded_len: u64, decoded_len: u64, range: Range<u64>) -> Option<Span> {
        let layout = &self.layout;
        let samples = layout.sample_count(decoded_len)?;
        if self.offsets.len() as u64 != layout.rsi_count(samples) || range.end > decoded_len {
            return None;
        }
        if range.is_empty() {
            return Some(Span::new(0, 0));
        }
        let rsi_len = (layout.rsi_samples * layout.container.width()) as u64;
        let entry = |rsi: u64| usize::try_from(rsi).ok().and_then(|rsi| self.offsets.get(rsi)).copied();
        let first = range.start / rsi_len;
        let start = if first == 0 { 0 } else { entry(first)? / 8 };
        // An entry may be that of the last block before it, so one block more is needed.
        let end = match entry(range.end.div_ceil(rsi_len)) {
            Some(next) => next.saturating_add(layout.longest_set()).div_ceil(8).min(encoded_len),
            None => encoded_len,
        };
        (start < end).then(|| Span::new(start, end))
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
        if range.is_empty() {
            return Ok(());
        }
        let whole = encoded.whole_bytes(NAME).is_ok();
        let explain = |fault: Fault| match fault.kind {
            FaultKind::Truncated if !whole => needs_whole(),
            _ => fault.into_error(encoded.start),
        };
        let stream = self.stream(encoded, decoded_len)?;
        let wanted = range.start as u64..range.end as u64;
        let rsi_len = (self.layout.rsi_samples * self.layout.container.width()) as u64;
        let position = stream.start_of(wanted.start / rsi_len).map_err(explain)?.ok_or_else(needs_whole)?;
        parts::decode(&stream, position, wanted, threads, out).map_err(explain)
    }
}

fn needs_whole() -> CodecError {
    CodecError::misuse(NAME, "partial_payload", "the offsets do not fit these bytes; the whole payload is needed")
}
