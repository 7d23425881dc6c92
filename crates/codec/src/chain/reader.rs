//! One range after another out of one payload, with codecs that are set up once.

use super::{DecodeOptions, Encoding, Filter, NAME, Pipeline};
#[cfg(not(all(feature = "packing", feature = "shuffle")))]
use crate::spec::CodecSpec;
use crate::{Codec, CodecError, Window, swap};
use fw_bytes::Span;
use fw_tensor::ByteOrder;
use std::ops::Range;

/// A pipeline ready to read parts of its payload.
pub(super) struct RangeReader<'a> {
    pipeline: &'a Pipeline,
    order: ByteOrder,
    compressor: Option<Box<dyn Codec>>,
    #[cfg(feature = "packing")]
    packing: Option<Result<crate::packing::Packing, CodecError>>,
}

impl<'a> RangeReader<'a> {
    /// # Errors
    /// Elements that do not begin at byte boundaries, a codec that is not built in.
    pub(super) fn new(pipeline: &'a Pipeline, order: ByteOrder) -> Result<Self, CodecError> {
        pipeline.element_len()?;
        let packed = match pipeline.stages.encoding {
            Encoding::None => false,
            Encoding::SimplePacking(_) => true,
        };
        #[cfg(not(feature = "packing"))]
        if packed {
            return Err(super::SimplePacking::INFO.missing());
        }
        Ok(Self {
            pipeline,
            order,
            compressor: pipeline.decompressor(order)?,
            #[cfg(feature = "packing")]
            packing: packed.then(|| pipeline.packing()),
        })
    }

    /// The payload bytes that suffice to decode the elements of `range`; `None` means all of them.
    pub(super) fn span(&self, payload_len: u64, range: &Range<u64>) -> Option<Span> {
        if self.pipeline.stages.filter != Filter::None {
            return None;
        }
        let bytes = self.pipeline.stage_range(range).ok()?;
        match &self.compressor {
            None => Some(Span::from(bytes)),
            Some(compressor) => compressor.encoded_span(payload_len, self.pipeline.stage_len, bytes),
        }
    }

    /// Decodes the elements of `range`, which lie inside the object, so that they fill `out` exactly.
    ///
    /// # Errors
    /// A payload that is not compressed and has another length than the object, an output of another length, too little
    /// of the payload, and whatever decoding meets.
    pub(super) fn read(
        &self,
        payload: Window<'_>,
        range: Range<u64>,
        threads: usize,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let pipeline = self.pipeline;
        if pipeline.is_uncompressed() {
            pipeline.check_stage_len(payload.total_len)?;
        }
        let width = pipeline.element_len()?;
        let len = (range.end - range.start).checked_mul(width);
        if len != Some(out.len() as u64) {
            let message =
                format!("output has {} bytes, the range {range:?} of {} has others", out.len(), pipeline.dtype);
            return Err(CodecError::misuse(NAME, "output_length_mismatch", message));
        }
        let start = range.start * width;
        let swap_unit = pipeline.swap_unit(self.order);
        match (&pipeline.stages.encoding, &pipeline.stages.filter, &self.compressor) {
            (Encoding::None, Filter::None, None) => {
                let bytes = covered(payload, start..start + out.len() as u64)?;
                if out.len() < SMALL {
                    out.copy_from_slice(bytes);
                    fw_tensor::swap_in_place(out, swap_unit);
                } else {
                    swap::copy_swapped(bytes, swap_unit, threads, out);
                }
                Ok(())
            }
            (Encoding::None, Filter::None, Some(compressor)) => {
                compressor.decode_range_into(payload, pipeline.stage_len, start, threads, out)?;
                swap::swap_threaded(out, swap_unit, threads);
                Ok(())
            }
            (Encoding::SimplePacking(_), Filter::None, _) => self.unpack(payload, range, threads, out),
            (Encoding::None, Filter::Shuffle(shuffle), None) => {
                self.unshuffle(shuffle.shuffle_element_size, payload.whole_bytes(NAME)?, start, out)?;
                swap::swap_threaded(out, swap_unit, threads);
                Ok(())
            }
            (Encoding::None, Filter::Shuffle(_), Some(_)) | (Encoding::SimplePacking(_), Filter::Shuffle(_), _) => {
                let options = DecodeOptions::default().with_order(self.order).with_threads(threads);
                let whole = pipeline.decode(payload.whole_bytes(NAME)?, &options)?;
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                out.copy_from_slice(whole.get(start..).and_then(|rest| rest.get(..out.len())).unwrap_or_default());
                Ok(())
            }
        }
    }

    /// Packed values: the bytes that cover them, out of the compressor where there is one.
    #[cfg(feature = "packing")]
    fn unpack(&self, payload: Window<'_>, range: Range<u64>, threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        let packing = match &self.packing {
            Some(Ok(packing)) => packing,
            Some(Err(error)) => return Err(error.clone()),
            // `new` sets it for pipelines that pack.
            None => return Ok(()),
        };
        let span = self.pipeline.stage_range(&range)?;
        let unpack =
            |packed: &[u8], out: &mut [u8]| packing.unpack_range(packed, range.start, self.order, threads, out);
        let Some(compressor) = &self.compressor else { return unpack(covered(payload, span)?, out) };
        let mut packed = crate::alloc::zeroed(usize::try_from(span.end - span.start).unwrap_or(usize::MAX))?;
        compressor.decode_range_into(payload, self.pipeline.stage_len, span.start, threads, &mut packed)?;
        unpack(&packed, out)
    }

    #[cfg(not(feature = "packing"))]
    fn unpack(
        &self,
        _payload: Window<'_>,
        _range: Range<u64>,
        _threads: usize,
        _out: &mut [u8],
    ) -> Result<(), CodecError> {
        Err(super::SimplePacking::INFO.missing())
    }

    /// Bytes from `start` on of a shuffled payload: the shuffled elements that cover them, and no others.
    #[cfg(feature = "shuffle")]
    fn unshuffle(&self, size: u64, planes: &[u8], start: u64, out: &mut [u8]) -> Result<(), CodecError> {
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
        Ok(())
    }

    #[cfg(not(feature = "shuffle"))]
    fn unshuffle(&self, _size: u64, _planes: &[u8], _start: u64, _out: &mut [u8]) -> Result<(), CodecError> {
        Err(super::ShuffleSettings::INFO.missing())
    }
}

/// The bytes of `range` of the payload.
fn covered(payload: Window<'_>, range: Range<u64>) -> Result<&[u8], CodecError> {
    if range.is_empty() {
        return Ok(&[]);
    }
    let message = || format!("the available payload bytes do not cover {range:?}");
    payload.get(Span::from(range.clone())).ok_or_else(|| CodecError::misuse(NAME, "partial_payload", message()))
}

/// Below this many bytes the vector unit and threads are not worth asking for.
const SMALL: usize = 1024;
