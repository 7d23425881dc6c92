//! A part of the values: only what is touched is decoded, wherever the codec allows.

use super::reader::RangeReader;
use super::{DecodeOptions, Encoding, Filter, NAME, Pipeline};
use crate::{Codec, CodecError, Reach, Window};
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
    /// The codecs cannot start in the middle: everything is decoded, and the range copied out.
    Whole,
}

impl Pipeline {
    /// What decoding a range has to decode.
    ///
    /// # Errors
    /// Elements that do not begin at byte boundaries, a codec that is not built in.
    pub fn reach(&self) -> Result<Reach, CodecError> {
        self.element_len()?;
        Ok(self.reach_through(self.decompressor(self.byte_order)?.as_deref()))
    }

    /// The same with the compressor at hand.
    pub(super) fn reach_through(&self, compressor: Option<&dyn Codec>) -> Reach {
        match (&self.stages.encoding, &self.stages.filter, compressor) {
            (Encoding::None | Encoding::SimplePacking(_), Filter::None, None) => Reach::Blocks,
            (Encoding::None | Encoding::SimplePacking(_), Filter::None, Some(compressor)) => compressor.reach(),
            // A few bytes of every plane.
            (Encoding::None, Filter::Shuffle(_), None) => Reach::Blocks,
            (Encoding::SimplePacking(_), Filter::Shuffle(_), None) => Reach::Whole,
            (Encoding::None | Encoding::SimplePacking(_), Filter::Shuffle(_), Some(_)) => Reach::Whole,
        }
    }

    /// What decoding the elements of `range` costs, and which payload bytes it needs.
    ///
    /// # Errors
    /// A range outside the object, elements that do not begin at byte boundaries, or a codec that is not built in.
    pub fn plan(&self, payload_len: u64, range: Range<u64>) -> Result<Plan, CodecError> {
        self.check_range(&range)?;
        Ok(match self.reach()? {
            Reach::Blocks => Plan::Partial { span: self.encoded_span(payload_len, range) },
            Reach::FromStart | Reach::Whole => Plan::Whole,
        })
    }

    /// The payload bytes that suffice to decode the elements of `range`; `None` means all of them.
    ///
    /// A codec that must look at the payload to know fails in [`Pipeline::decode_range_into`] with the code
    /// `partial_payload` when these bytes turn out not to suffice; then the whole payload will do.
    pub fn encoded_span(&self, payload_len: u64, range: Range<u64>) -> Option<Span> {
        RangeReader::new(self, self.byte_order).ok()?.span(payload_len, &range)
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
        RangeReader::new(self, options.order)?.read(payload, range, options.threads, out)
    }

    /// The bytes behind the encoding that hold the elements of `range`.
    pub(super) fn stage_range(&self, range: &Range<u64>) -> Result<Range<u64>, CodecError> {
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

    pub(super) fn check_range(&self, range: &Range<u64>) -> Result<(), CodecError> {
        if range.start <= range.end && range.end <= self.element_count {
            return Ok(());
        }
        let message = format!("range {range:?} is not within the {} elements of the object", self.element_count);
        Err(CodecError::misuse(NAME, "range_out_of_bounds", message))
    }
}
