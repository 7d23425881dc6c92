//! A part of the values: only what is touched is decoded, wherever the codec allows.

use super::{DecodeOptions, Encoding, Filter, NAME, Pipeline};
use crate::{CodecError, Window, swap};
use fw_bytes::Span;
use std::ops::Range;

/// What a range costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Plan {
    /// Only what the range touches is decoded.
    Partial {
        /// The payload bytes that suffice; the whole payload when their place is not known without looking.
        span: Option<Span>,
    },
    /// The codec cannot begin anywhere: everything is decoded, and the range copied out.
    Whole,
}

impl Pipeline {
    /// True when ranges cost less than the whole.
    pub fn can_slice(&self) -> bool {
        let filtered = self.stages.filter != Filter::None;
        match self.decompressor(self.byte_order) {
            _ if self.dtype.byte_width().is_none() => false,
            Ok(None) => !(filtered && matches!(self.stages.encoding, Encoding::SimplePacking(_))),
            Ok(Some(compressor)) => !filtered && compressor.can_slice(),
            Err(_) => false,
        }
    }

    /// What decoding the elements of `range` costs, and which payload bytes it needs.
    ///
    /// # Errors
    /// A range outside the object, or elements that do not begin at byte boundaries.
    pub fn plan(&self, payload_len: u64, range: Range<u64>) -> Result<Plan, CodecError> {
        self.check_range(&range)?;
        self.element_len()?;
        if !self.can_slice() {
            return Ok(Plan::Whole);
        }
        Ok(Plan::Partial { span: self.encoded_span(payload_len, range) })
    }

    /// The payload bytes that suffice to decode the elements of `range`; `None` means all of them.
    ///
    /// A codec that must look at the payload to know fails in [`Pipeline::decode_range_into`] with the code
    /// `partial_payload` when these bytes turn out not to suffice; then the whole payload will do.
    pub fn encoded_span(&self, payload_len: u64, range: Range<u64>) -> Option<Span> {
        if self.stages.filter != Filter::None {
            return None;
        }
        let bytes = self.stage_range(&range).ok()?;
        match self.decompressor(self.byte_order).ok()? {
            None => Some(Span::from(bytes)),
            Some(compressor) => compressor.encoded_span(payload_len, self.stage_len, bytes),
        }
    }

    /// Decodes the elements of `range` so that they fill `out` exactly. `payload` must hold at least
    /// [`Pipeline::encoded_span`].
    ///
    /// # Errors
    /// A range outside the object, an output of another length, too little of the payload, and whatever decoding meets.
    pub fn decode_range_into(
        &self,
        payload: Window<'_>,
        range: Range<u64>,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        self.check_range(&range)?;
        let width = self.element_len()?;
        let len = (range.end - range.start).checked_mul(width);
        if len != Some(out.len() as u64) {
            let message = format!("output has {} bytes, the range {range:?} of {} has others", out.len(), self.dtype);
            return Err(CodecError::misuse(NAME, "output_length_mismatch", message));
        }
        if self.is_uncompressed() {
            self.check_stage_len(payload.total_len)?;
        }
        let threads = options.threads;
        match (&self.stages.encoding, &self.stages.filter) {
            (Encoding::None, Filter::None) => {
                let start = range.start * width;
                match self.decompressor(options.order)? {
                    None => {
                        let bytes = covered(payload, start..start + out.len() as u64)?;
                        swap::copy_swapped(bytes, self.swap_unit(options.order), threads, out);
                    }
                    Some(compressor) => {
                        compressor.decode_range_into(payload, self.stage_len, start, threads, out)?;
                        swap::swap_in_place(out, self.swap_unit(options.order), threads);
                    }
                }
                Ok(())
            }
            (Encoding::SimplePacking(_), Filter::None) => self.unpack_range(payload, range, options, out),
            (Encoding::None, Filter::Shuffle { shuffle_element_size: size }) if self.is_uncompressed() => {
                self.unshuffle_range(*size, payload.whole_bytes(NAME)?, range.start * width, options, out)
            }
            _ => {
                let whole = self.decode(payload.whole_bytes(NAME)?, options)?;
                let start = usize::try_from(range.start * width).unwrap_or(usize::MAX);
                out.copy_from_slice(whole.get(start..).and_then(|rest| rest.get(..out.len())).unwrap_or_default());
                Ok(())
            }
        }
    }

    /// Decodes several ranges, one after another, so that they fill `out` exactly. When the codec cannot begin anywhere,
    /// the whole is decoded once.
    ///
    /// # Errors
    /// As [`Pipeline::decode_range_into`].
    pub fn decode_ranges_into(
        &self,
        payload: Window<'_>,
        ranges: &[Range<u64>],
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let width = self.element_len()?;
        let mut total = 0u64;
        for range in ranges {
            self.check_range(range)?;
            total = total.saturating_add((range.end - range.start).saturating_mul(width));
        }
        if total != out.len() as u64 {
            let message = format!("output has {} bytes, the ranges have {total}", out.len());
            return Err(CodecError::misuse(NAME, "output_length_mismatch", message));
        }
        let whole = if self.can_slice() || ranges.len() <= 1 {
            None
        } else {
            Some(self.decode(payload.whole_bytes(NAME)?, options)?)
        };
        let mut rest = out;
        for range in ranges {
            // Every range fits what is left: the sum of their lengths is the length of the output.
            let (part, after) = rest.split_at_mut(((range.end - range.start) * width) as usize);
            match &whole {
                Some(whole) => part.copy_from_slice(&whole[(range.start * width) as usize..][..part.len()]),
                None => self.decode_range_into(payload, range.clone(), options, part)?,
            }
            rest = after;
        }
        Ok(())
    }

    /// Packed values: the bytes that cover them, out of the compressor where there is one.
    #[cfg(feature = "packing")]
    fn unpack_range(
        &self,
        payload: Window<'_>,
        range: Range<u64>,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let packing = self.packing()?;
        let span = self.stage_range(&range)?;
        let unpack = |packed: &[u8], out: &mut [u8]| {
            packing.unpack_range(packed, range.start, options.order, options.threads, out)
        };
        let Some(compressor) = self.decompressor(options.order)? else { return unpack(covered(payload, span)?, out) };
        let mut packed = crate::alloc::zeroed(usize::try_from(span.end - span.start).unwrap_or(usize::MAX))?;
        compressor.decode_range_into(payload, self.stage_len, span.start, options.threads, &mut packed)?;
        unpack(&packed, out)
    }

    #[cfg(not(feature = "packing"))]
    fn unpack_range(
        &self,
        _payload: Window<'_>,
        _range: Range<u64>,
        _options: &DecodeOptions,
        _out: &mut [u8],
    ) -> Result<(), CodecError> {
        Err(super::missing("simple_packing"))
    }

    /// Bytes from `start` on of a shuffled payload: the shuffled elements that cover them, and no others.
    #[cfg(feature = "shuffle")]
    fn unshuffle_range(
        &self,
        size: u64,
        planes: &[u8],
        start: u64,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        // The payload is in memory, so everything within it fits `usize`; the rules made sure that the size divides.
        let (size, start) = (size as usize, start as usize);
        let first = start / size;
        let end = (start + out.len()).div_ceil(size);
        if start.is_multiple_of(size) && out.len().is_multiple_of(size) {
            crate::shuffle::unshuffle_range(planes, size, first, out);
        } else {
            let mut elements = crate::alloc::zeroed((end - first) * size)?;
            crate::shuffle::unshuffle_range(planes, size, first, &mut elements);
            out.copy_from_slice(&elements[start - first * size..][..out.len()]);
        }
        swap::swap_in_place(out, self.swap_unit(options.order), options.threads);
        Ok(())
    }

    #[cfg(not(feature = "shuffle"))]
    fn unshuffle_range(
        &self,
        _size: u64,
        _planes: &[u8],
        _start: u64,
        _options: &DecodeOptions,
        _out: &mut [u8],
    ) -> Result<(), CodecError> {
        Err(super::missing("shuffle"))
    }

    /// The bytes behind the encoding that hold the elements of `range`.
    fn stage_range(&self, range: &Range<u64>) -> Result<Range<u64>, CodecError> {
        self.check_range(range)?;
        // Within the object nothing overflows: its own lengths have been computed.
        match &self.stages.encoding {
            Encoding::None => {
                let width = self.element_len()?;
                Ok(range.start * width..range.end * width)
            }
            Encoding::SimplePacking(packing) => {
                let bits = packing.sp_bits_per_value;
                let start = range.start * bits / 8;
                Ok(start..(range.end * bits).div_ceil(8).max(start))
            }
        }
    }

    fn check_range(&self, range: &Range<u64>) -> Result<(), CodecError> {
        if range.start <= range.end && range.end <= self.element_count {
            return Ok(());
        }
        let message = format!("range {range:?} is not within the {} elements of the object", self.element_count);
        Err(CodecError::misuse(NAME, "range_out_of_bounds", message))
    }
}

/// The bytes of `range` of the payload.
fn covered(payload: Window<'_>, range: Range<u64>) -> Result<&[u8], CodecError> {
    if range.is_empty() {
        return Ok(&[]);
    }
    let message = || format!("the payload bytes at hand do not cover {range:?}");
    payload.get(Span::from(range.clone())).ok_or_else(|| CodecError::misuse(NAME, "partial_payload", message()))
}
