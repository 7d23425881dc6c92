//! The trait every codec answers.

use crate::{CodecError, alloc};
use fw_bytes::Span;
use std::borrow::Cow;
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

    /// What [`Codec::decode_range_into`] has to decode.
    fn reach(&self) -> Reach {
        Reach::Whole
    }

    /// Appends the encoded form of `input` to `out`.
    ///
    /// # Errors
    /// When the input does not fit the codec's parameters; `out` may then hold a partial result.
    fn encode(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// The encoded form of `input`, in parts, for a codec that keeps stretches of the input as they are: these need not be
    /// copied. The same bytes as those of [`Codec::encode`]. `inspect` gets the input stretch by stretch, each with its
    /// position, while it is in the cache.
    ///
    /// `None`: the codec keeps nothing of the input, and nothing was inspected. The default does so.
    ///
    /// # Errors
    /// As [`Codec::encode`], and what `inspect` finds.
    fn encode_gathered<'a>(&self, input: &'a [u8], inspect: Inspect<'_>) -> Result<Option<Gathered<'a>>, CodecError> {
        let _ = (input, inspect);
        Ok(None)
    }

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

    /// Decodes `encoded` and keeps nothing of it: shows that it decodes to exactly `decoded_len` bytes. The default holds the
    /// whole result; a codec that decodes piece by piece holds only a piece.
    ///
    /// # Errors
    /// As [`Codec::decode_to_vec`].
    fn check_decodes(&self, encoded: &[u8], decoded_len: u64, threads: usize) -> Result<(), CodecError> {
        self.check_claim(encoded, decoded_len)?;
        let len = usize::try_from(decoded_len).map_err(|_| {
            CodecError::limit(self.name(), "out_of_memory", format!("no memory for {decoded_len} bytes"))
        })?;
        self.decode_to_vec(encoded, len, threads).map(alloc::recycle)
    }

    /// Whether [`Codec::check_decodes`] holds a piece of the result at a time, however long that is.
    fn decodes_in_pieces(&self) -> bool {
        false
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

    /// What has still to be fetched before `ranges` (decoded bytes) can be decoded, as far as the bytes at hand tell: for
    /// codecs whose encoded bytes say themselves where things are. Asked again when what it named is at hand too, until
    /// nothing is missing; then [`Codec::block_len`] and [`Codec::decode_range_into`] will do with these bytes.
    ///
    /// `None`: there is no such map, and [`Codec::encoded_span`] tells all there is to know.
    ///
    /// # Errors
    /// When what is at hand is malformed, or decodes to another length.
    fn still_needed(
        &self,
        encoded: Window<'_>,
        decoded_len: u64,
        ranges: &[Range<u64>],
    ) -> Result<Option<Vec<Span>>, CodecError> {
        let _ = (encoded, decoded_len, ranges);
        Ok(None)
    }

    /// About how many decoded bytes are decoded together, with [`Reach::Blocks`]: touching one costs all of them.
    /// `None`: not known, at least not without the payload.
    fn block_len(&self, encoded: Option<Window<'_>>, decoded_len: u64) -> Option<u64> {
        let _ = (encoded, decoded_len);
        None
    }

    /// Decodes the bytes `[start .. start + out.len())` of a decoded whole of `decoded_len` bytes.
    ///
    /// `encoded` must hold at least [`Codec::encoded_span`], or all that [`Codec::still_needed`] named. The default decodes everything and copies the part out.
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

/// What a codec has to decode for a range of its output. Complete: callers have to know what each costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The blocks that the range touches, each by itself. Where they are is known from the parameters
    /// ([`Codec::encoded_span`]) or from a map in the payload ([`Codec::still_needed`]).
    Blocks,
    /// The range alone, but everything before it has to be passed over: one pass serves all ranges.
    FromStart,
    /// Everything.
    Whole,
}

/// What looks at input on its way: a position, and the bytes there.
pub type Inspect<'i> = &'i mut dyn FnMut(usize, &[u8]) -> Result<(), CodecError>;

/// Encoded bytes in parts, one after the other; some are the codec's, others the input's.
pub type Gathered<'a> = Vec<Cow<'a, [u8]>>;

/// A part of an encoded payload: `bytes` begin at `start` of a payload of `total_len` bytes. Codecs that ask for several
/// parts find the others in `pieces`.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// The bytes at hand.
    pub bytes: &'a [u8],
    /// Where they begin in the payload.
    pub start: u64,
    /// Length of the whole payload.
    pub total_len: u64,
    /// More bytes at hand.
    pub pieces: Option<&'a Pieces<'a>>,
}

impl<'a> Window<'a> {
    /// The whole payload.
    pub const fn whole(bytes: &'a [u8]) -> Self {
        Self::part(bytes, 0, bytes.len() as u64)
    }

    /// The bytes from `start` on of a payload of `total_len` bytes.
    pub const fn part(bytes: &'a [u8], start: u64, total_len: u64) -> Self {
        Self { bytes, start, total_len, pieces: None }
    }

    /// Some pieces of a payload of `total_len` bytes.
    pub const fn scattered(pieces: &'a Pieces<'a>, total_len: u64) -> Self {
        Self { bytes: &[], start: 0, total_len, pieces: Some(pieces) }
    }

    /// The bytes of `span`, when this window holds them.
    pub fn get(&self, span: Span) -> Option<&'a [u8]> {
        span.slice_of(self.bytes, self.start).or_else(|| self.pieces?.get(span))
    }

    /// True when all bytes of the payload are here.
    pub const fn is_whole(&self) -> bool {
        self.start == 0 && self.bytes.len() as u64 == self.total_len
    }

    /// All bytes of the payload.
    ///
    /// # Errors
    /// When the window holds only a part.
    pub fn whole_bytes(&self, codec: &'static str) -> Result<&'a [u8], CodecError> {
        if self.is_whole() {
            return Ok(self.bytes);
        }
        Err(CodecError::misuse(codec, "partial_payload", "this codec needs the whole payload"))
    }
}

/// Bytes of a payload by position, in several pieces.
#[derive(Clone, Debug, Default)]
pub struct Pieces<'a> {
    /// None lies inside another, so that starts and ends both increase.
    pieces: Vec<(u64, &'a [u8])>,
}

impl<'a> Pieces<'a> {
    /// Pieces, each with its position, in any order.
    pub fn new(pieces: impl IntoIterator<Item = (u64, &'a [u8])>) -> Self {
        let mut pieces: Vec<_> = pieces.into_iter().collect();
        pieces.sort_unstable_by_key(|(start, bytes)| (*start, std::cmp::Reverse(bytes.len())));
        let mut reached = 0;
        pieces.retain(|(start, bytes)| {
            let end = start.saturating_add(bytes.len() as u64);
            let further = end > reached;
            reached = reached.max(end);
            further
        });
        Self { pieces }
    }

    /// The bytes of `span`, when one piece holds them all.
    pub fn get(&self, span: Span) -> Option<&'a [u8]> {
        // Of all that begin early enough, the last one reaches furthest.
        let after = self.pieces.partition_point(|(start, _)| *start <= span.start);
        let (start, bytes) = self.pieces.get(after.checked_sub(1)?)?;
        span.slice_of(bytes, *start)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_whatever_their_order() {
        let bytes: Vec<u8> = (0..100).collect();
        let piece = |start: usize, end: usize| (start as u64, &bytes[start..end]);
        let pieces =
            Pieces::new([piece(50, 60), piece(10, 20), piece(10, 30), piece(12, 14), piece(25, 40), piece(0, 0)]);
        for start in 0..100u64 {
            for end in start..100 {
                let held = [(10, 30), (25, 40), (50, 60)].iter().any(|(from, to)| *from <= start && end <= *to);
                let found = pieces.get(Span::new(start, end));
                assert!(found.is_some() || !held, "{start}..{end}");
                assert!(found.is_none_or(|found| found == &bytes[start as usize..end as usize]), "{start}..{end}");
            }
        }
    }
}
