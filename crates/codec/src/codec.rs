//! The trait every codec answers.

use crate::{CodecError, alloc};
use fw_bytes::Span;
use std::ops::Range;

/// Bytes to bytes, with its parameters already checked when the value was made.
///
/// Decoding writes into memory the caller gives; its length *is* the expected decoded length, and any other outcome
/// is an error. The result never depends on `threads` (0 and 1 both mean the calling thread alone).
pub trait Codec: Send + Sync {
    /// The name of the codec in descriptors and errors.
    fn name(&self) -> &'static str;

    /// An upper bound of the encoded size, or `None` when `input_len` is more than the codec can take.
    fn max_encoded_len(&self, input_len: usize) -> Option<usize>;

    /// True when [`Codec::decode_range_into`] costs less than decoding everything.
    fn can_slice(&self) -> bool {
        false
    }

    /// Appends the encoded form of `input` to `out`.
    ///
    /// # Errors
    /// When the input does not fit the codec's parameters; `out` may then hold a partial result.
    fn encode(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Decodes `encoded` so that it fills `out` exactly.
    ///
    /// # Errors
    /// When `encoded` is malformed or decodes to any other length; `out` may then hold a partial result.
    fn decode_into(&self, encoded: &[u8], threads: usize, out: &mut [u8]) -> Result<(), CodecError>;

    /// Decodes `encoded` to exactly `decoded_len` bytes of new memory. The default fills zeroed memory; a codec that can
    /// append saves clearing it first.
    ///
    /// # Errors
    /// As [`Codec::decode_into`], and when there is no memory.
    fn decode_to_vec(&self, encoded: &[u8], decoded_len: usize, threads: usize) -> Result<Vec<u8>, CodecError> {
        let mut out = alloc::zeroed(decoded_len)?;
        self.decode_into(encoded, threads, &mut out)?;
        Ok(out)
    }

    /// Checks what `encoded` says about itself against a decoded length of `decoded_len` bytes, at little cost and without
    /// reserving anything: callers ask this before they reserve memory for a claimed size. The default knows nothing.
    ///
    /// # Errors
    /// When `encoded` cannot decode to that length.
    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        let _ = (encoded, decoded_len);
        Ok(())
    }

    /// Which encoded bytes suffice to decode `range` (decoded bytes), without looking at any of them.
    ///
    /// `None` means: all of them. A remote reader fetches only this span.
    fn encoded_span(&self, encoded_len: u64, decoded_len: u64, range: Range<u64>) -> Option<Span> {
        let _ = (encoded_len, decoded_len, range);
        None
    }

    /// Decoded bytes that are decoded together, from a multiple of that many on, when the codec can slice: touching one
    /// costs all of them. `None`: not known, at least not without the payload.
    fn block_len(&self, encoded: Option<Window<'_>>, decoded_len: u64) -> Option<u64> {
        let _ = (encoded, decoded_len);
        None
    }

    /// Decodes the bytes `[start .. start + out.len())` of a decoded whole of `decoded_len` bytes.
    ///
    /// `encoded` must hold at least [`Codec::encoded_span`]. The default decodes everything and copies the part out.
    ///
    /// # Errors
    /// As [`Codec::decode_into`], and when the range lies outside the whole.
    fn decode_range_into(
        &self,
        encoded: Window<'_>,
        decoded_len: u64,
        start: u64,
        threads: usize,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let range = checked_range(self.name(), decoded_len, start, out.len())?;
        let whole_len = usize::try_from(decoded_len)
            .map_err(|_| CodecError::misuse(self.name(), "decoded_too_large", "the whole does not fit in memory"))?;
        let encoded = encoded.whole_bytes(self.name())?;
        self.check_claim(encoded, decoded_len)?;
        let mut whole = alloc::zeroed(whole_len)?;
        self.decode_into(encoded, threads, &mut whole)?;
        out.copy_from_slice(&whole[range]);
        Ok(())
    }
}

/// A part of an encoded payload: `bytes` begin at `start` of a payload of `total_len` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// The bytes at hand.
    pub bytes: &'a [u8],
    /// Where they begin in the payload.
    pub start: u64,
    /// Length of the whole payload.
    pub total_len: u64,
}

impl<'a> Window<'a> {
    /// The whole payload.
    pub const fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, start: 0, total_len: bytes.len() as u64 }
    }

    /// The bytes of `span`, when this window holds them.
    pub fn get(&self, span: Span) -> Option<&'a [u8]> {
        span.slice_of(self.bytes, self.start)
    }

    /// All bytes of the payload.
    ///
    /// # Errors
    /// When the window holds only a part.
    pub fn whole_bytes(&self, codec: &'static str) -> Result<&'a [u8], CodecError> {
        if self.start == 0 && self.bytes.len() as u64 == self.total_len {
            return Ok(self.bytes);
        }
        Err(CodecError::misuse(codec, "partial_payload", "this codec needs the whole payload"))
    }
}

/// `[start .. start + len)` inside a whole of `decoded_len` bytes, as memory positions.
///
/// # Errors
/// When the range reaches past the end or does not fit the address space.
pub(crate) fn checked_range(
    codec: &'static str,
    decoded_len: u64,
    start: u64,
    len: usize,
) -> Result<Range<usize>, CodecError> {
    let end = start.checked_add(len as u64).filter(|end| *end <= decoded_len);
    match (usize::try_from(start), end.map(usize::try_from)) {
        (Ok(start), Some(Ok(end))) => Ok(start..end),
        _ => Err(CodecError::misuse(
            codec,
            "range_out_of_bounds",
            format!("range of {len} bytes from {start} reaches past the {decoded_len} bytes of the object"),
        )),
    }
}
