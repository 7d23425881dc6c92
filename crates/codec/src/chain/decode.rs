//! Payload to values.

use super::{Compression, DecodeOptions, Encoding, Filter, NAME, Pipeline};
#[cfg(not(all(feature = "packing", feature = "shuffle")))]
use crate::spec::CodecSpec;
use crate::{CodecError, alloc, swap};
use fw_bytes::Limits;
use fw_tensor::ByteOrder;

impl Pipeline {
    /// Decodes a whole payload into memory of its own, after checking its claims and the limits.
    ///
    /// # Errors
    /// A limit exceeded, a malformed payload, any other decoded length than the declared one, or a codec that is not
    /// built in.
    pub fn decode(&self, payload: &[u8], options: &DecodeOptions) -> Result<Vec<u8>, CodecError> {
        self.check_limits(payload.len() as u64, &options.limits)?;
        self.check_payload(payload)?;
        let len = usize::try_from(self.decoded_len).unwrap_or(usize::MAX);
        let appended = match (&self.stages.encoding, &self.stages.filter) {
            (Encoding::None, Filter::None) => match self.decompressor(options.order)? {
                Some(compressor) => {
                    let mut out = compressor.decode_to_vec(payload, len, options.threads)?;
                    swap::swap_threaded(&mut out, self.swap_unit(options.order), options.threads);
                    return Ok(out);
                }
                // Memory of this size is likely to be warm: one copy, nothing cleared before.
                None if len < alloc::FRESH_FROM => {
                    let mut out = payload.to_vec();
                    swap::swap_threaded(&mut out, self.swap_unit(options.order), options.threads);
                    return Ok(out);
                }
                None => false,
            },
            (Encoding::None, Filter::Shuffle(_)) | (Encoding::SimplePacking(_), Filter::None) => true,
            (Encoding::SimplePacking(_), Filter::Shuffle(_)) => false,
        };
        // Fresh pages are zero anyway. Others would have to be cleared for several threads to share them, by one thread and
        // at the price of these two stages themselves: below that size one thread appends.
        if appended && len < alloc::FRESH_FROM {
            return self.decode_in_pieces(payload, options, len);
        }
        let mut out = alloc::zeroed(len)?;
        self.decode_into(payload, options, &mut out)?;
        Ok(out)
    }

    /// The last stage piece by piece, so that the result need not be cleared in a pass of its own.
    fn decode_in_pieces(&self, payload: &[u8], options: &DecodeOptions, len: usize) -> Result<Vec<u8>, CodecError> {
        let mut out = Vec::new();
        self.with_stage(payload, options, |stage| {
            out = match &self.stages.filter {
                Filter::Shuffle(shuffle) => {
                    self.unshuffle_in_pieces(shuffle.shuffle_element_size, stage, options, len)?
                }
                Filter::None => self.unpack_in_pieces(stage, options, len)?,
            };
            Ok(())
        })?;
        Ok(out)
    }

    #[cfg(feature = "shuffle")]
    fn unshuffle_in_pieces(
        &self,
        size: u64,
        planes: &[u8],
        options: &DecodeOptions,
        len: usize,
    ) -> Result<Vec<u8>, CodecError> {
        let (size, unit) = (usize::try_from(size).unwrap_or(usize::MAX), self.swap_unit(options.order));
        if size > PIECE || (unit > 1 && !PIECE.is_multiple_of(size)) {
            // Elements of this kind are as good as never met.
            let mut out = alloc::zeroed(len)?;
            unshuffle(size as u64, planes, 1, &mut out)?;
            swap::swap_threaded(&mut out, unit, 1);
            return Ok(out);
        }
        alloc::in_pieces(len, PIECE / size * size, |start, part| {
            crate::shuffle::unshuffle_range(planes, size, start / size, part);
            swap::swap_threaded(part, unit, 1);
            Ok(())
        })
    }

    #[cfg(not(feature = "shuffle"))]
    fn unshuffle_in_pieces(&self, _: u64, _: &[u8], _: &DecodeOptions, _: usize) -> Result<Vec<u8>, CodecError> {
        Err(super::ShuffleSettings::INFO.missing())
    }

    #[cfg(feature = "packing")]
    fn unpack_in_pieces(&self, packed: &[u8], options: &DecodeOptions, len: usize) -> Result<Vec<u8>, CodecError> {
        let packing = self.packing()?;
        alloc::in_pieces(len, PIECE, |start, part| {
            let values = (start / 8) as u64..((start + part.len()) / 8) as u64;
            let (first, span) = (values.start, packing.packed_span(values));
            let bytes = span.and_then(|span| packed.get(span.start as usize..span.end as usize)).unwrap_or_default();
            packing.unpack_range(bytes, first, options.order, 1, part)
        })
    }

    #[cfg(not(feature = "packing"))]
    fn unpack_in_pieces(&self, _: &[u8], _: &DecodeOptions, _: usize) -> Result<Vec<u8>, CodecError> {
        Err(super::SimplePacking::INFO.missing())
    }

    /// Decodes a whole payload so that it fills `out` exactly, in the byte order of the options.
    ///
    /// # Errors
    /// A malformed payload, any other decoded length than that of `out`, or a codec that is not built in; `out` may then
    /// hold a partial result.
    pub fn decode_into(&self, payload: &[u8], options: &DecodeOptions, out: &mut [u8]) -> Result<(), CodecError> {
        if out.len() as u64 != self.decoded_len {
            let message = format!("output has {} bytes, the object has {}", out.len(), self.decoded_len);
            return Err(CodecError::misuse(NAME, "output_length_mismatch", message));
        }
        let threads = options.threads;
        match (&self.stages.encoding, &self.stages.filter) {
            (Encoding::None, Filter::None) => match self.decompressor(options.order)? {
                None => {
                    self.check_stage(payload)?;
                    swap::copy_swapped(payload, self.swap_unit(options.order), threads, out);
                }
                Some(compressor) => {
                    compressor.decode_into(payload, threads, out)?;
                    swap::swap_threaded(out, self.swap_unit(options.order), threads);
                }
            },
            (Encoding::None, Filter::Shuffle(shuffle)) => {
                let size = shuffle.shuffle_element_size;
                self.with_stage(payload, options, |stage| unshuffle(size, stage, threads, out))?;
                swap::swap_threaded(out, self.swap_unit(options.order), threads);
            }
            (Encoding::SimplePacking(_), Filter::None) => {
                self.with_stage(payload, options, |packed| self.unpack(packed, options, out))?;
            }
            (Encoding::SimplePacking(_), Filter::Shuffle(shuffle)) => {
                let size = shuffle.shuffle_element_size;
                let mut packed = alloc::overwritable(self.stage_len()?)?;
                self.with_stage(payload, options, |stage| unshuffle(size, stage, threads, &mut packed))?;
                self.unpack(&packed, options, out)?;
                alloc::recycle(packed);
            }
        }
        Ok(())
    }

    /// Decodes a whole payload and keeps nothing of it: shows that [`Pipeline::decode`] gives the declared length. What is held
    /// is what the codec needs ([`Codec::check_decodes`](crate::Codec::check_decodes)); filters and packings take every payload
    /// of the right length.
    ///
    /// # Errors
    /// As [`Pipeline::decode`].
    pub fn check_decodes(&self, payload: &[u8], options: &DecodeOptions) -> Result<(), CodecError> {
        let (compressor, mut limits) = (self.decompressor(options.order)?, options.limits);
        let in_pieces = compressor.as_ref().is_none_or(|compressor| compressor.decodes_in_pieces());
        if in_pieces && limits.expansion_floor == Limits::default().expansion_floor {
            // A floor that the program lowered for what it holds; nothing is held here.
            limits.expansion_floor = limits.expansion_floor.max(Limits::ordinary().expansion_floor);
        }
        self.check_limits(payload.len() as u64, &limits)?;
        if let Encoding::SimplePacking(_) = &self.stages.encoding {
            self.check_packing()?;
        }
        #[cfg(not(feature = "shuffle"))]
        if let Filter::Shuffle(_) = &self.stages.filter {
            return Err(super::ShuffleSettings::INFO.missing());
        }
        match compressor {
            None => self.check_stage(payload),
            Some(compressor) => compressor.check_decodes(payload, self.stage_len, options.threads),
        }
    }

    /// Checks what the payload says about itself, at little cost and without reserving memory.
    ///
    /// # Errors
    /// When it cannot be the payload of this pipeline.
    pub fn check_payload(&self, payload: &[u8]) -> Result<(), CodecError> {
        match self.decompressor(self.byte_order)? {
            None => self.check_stage(payload),
            Some(compressor) => compressor.check_claim(payload, self.stage_len),
        }
    }

    /// Calls `work` with the decompressed payload.
    fn with_stage(
        &self,
        payload: &[u8],
        options: &DecodeOptions,
        work: impl FnOnce(&[u8]) -> Result<(), CodecError>,
    ) -> Result<(), CodecError> {
        match self.decompressor(options.order)? {
            None => {
                self.check_stage(payload)?;
                work(payload)
            }
            Some(compressor) => {
                compressor.check_claim(payload, self.stage_len)?;
                let mut stage = alloc::overwritable(self.stage_len()?)?;
                compressor.decode_into(payload, options.threads, &mut stage)?;
                work(&stage)?;
                alloc::recycle(stage);
                Ok(())
            }
        }
    }

    fn unpack(&self, packed: &[u8], options: &DecodeOptions, out: &mut [u8]) -> Result<(), CodecError> {
        #[cfg(feature = "packing")]
        return self.packing()?.unpack(packed, options.order, options.threads, out);
        #[cfg(not(feature = "packing"))]
        {
            let _ = (packed, options, out);
            Err(super::SimplePacking::INFO.missing())
        }
    }

    fn check_packing(&self) -> Result<(), CodecError> {
        #[cfg(feature = "packing")]
        return self.packing().map(drop);
        #[cfg(not(feature = "packing"))]
        Err(super::SimplePacking::INFO.missing())
    }

    /// The complete packing parameters that decoding needs.
    #[cfg(feature = "packing")]
    pub(super) fn packing(&self) -> Result<crate::packing::Packing, CodecError> {
        let Encoding::SimplePacking(request) = &self.stages.encoding else {
            return Err(CodecError::misuse(NAME, "not_packed", "the pipeline has no simple_packing"));
        };
        // The encoder's default is not the decoder's: a damaged or missing key would shift every value by powers of ten.
        request.complete()?.filter(|_| request.sp_decimal_scale_factor.is_some()).ok_or_else(|| {
            CodecError::parameter(
                "simple_packing",
                "sp_parameters_incomplete",
                "decoding needs sp_reference_value, sp_binary_scale_factor and sp_decimal_scale_factor",
            )
        })
    }

    /// Checks the length of a payload that is not compressed.
    fn check_stage(&self, payload: &[u8]) -> Result<(), CodecError> {
        self.check_stage_len(payload.len() as u64)
    }

    pub(super) fn check_stage_len(&self, payload_len: u64) -> Result<(), CodecError> {
        if payload_len == self.stage_len {
            return Ok(());
        }
        let message = format!(
            "{} elements of {} take {} payload bytes, found {payload_len}",
            self.element_count, self.dtype, self.stage_len
        );
        Err(CodecError::format(NAME, "payload_length_mismatch", message))
    }

    pub(super) fn stage_len(&self) -> Result<usize, CodecError> {
        usize::try_from(self.stage_len)
            .map_err(|_| CodecError::limit(NAME, "out_of_memory", format!("no memory for {} bytes", self.stage_len)))
    }

    /// Bytes to swap as one, to get from what the stages return to `order`; 0 for none.
    pub(super) fn swap_unit(&self, order: ByteOrder) -> usize {
        let ordered = self.stages.compression.compressor().is_some_and(|compressor| compressor.orders_values());
        if ordered || order == self.byte_order { 0 } else { self.dtype.swap_unit() }
    }

    pub(super) fn is_uncompressed(&self) -> bool {
        self.stages.compression == Compression::None
    }
}

fn unshuffle(size: u64, stage: &[u8], threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
    #[cfg(feature = "shuffle")]
    return crate::Codec::decode_into(&crate::shuffle::Shuffle::new(size)?, stage, threads, out);
    #[cfg(not(feature = "shuffle"))]
    {
        let _ = (size, stage, threads, out);
        Err(super::ShuffleSettings::INFO.missing())
    }
}

/// Bytes of a result made at a time: they stay in the first-level cache. A whole number of values of any width.
#[cfg(any(feature = "packing", feature = "shuffle"))]
const PIECE: usize = 16 << 10;
