//! Values to payload.

use super::{Compression, Encoding, Filter, NAME, Pipeline, SimplePacking};
#[cfg(not(all(feature = "packing", feature = "shuffle")))]
use crate::spec::CodecSpec;
use crate::{CodecError, Gathered, alloc, finite, swap};
use std::borrow::Cow;

/// A payload, and what encoding added to the settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoded {
    /// The payload.
    pub payload: Vec<u8>,
    /// What encoding added to the settings.
    pub derived: Derived,
}

/// The stages that encoding completed, as the descriptor must state them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// The encoding, with parameters derived from the values.
    pub encoding: Option<Encoding>,
    /// The compression, with parameters that only encoding knows.
    pub compression: Option<Compression>,
}

impl Pipeline {
    /// Encodes the bytes of all elements, given in the byte order of the pipeline.
    ///
    /// # Errors
    /// An input of another length; NaN or infinity (see [`crate::mask`] for setting them aside first); whatever a stage
    /// refuses.
    pub fn encode(&self, input: &[u8], threads: usize) -> Result<Encoded, CodecError> {
        let mut payload = Vec::new();
        let derived = self.encode_append(input, threads, &mut payload)?;
        Ok(Encoded { payload, derived })
    }

    /// As [`Pipeline::encode`], with the payload in parts, some of which may be the input's own bytes: for callers that copy
    /// them anyway.
    ///
    /// # Errors
    /// As [`Pipeline::encode`].
    pub fn encode_gathered<'a>(&self, input: &'a [u8], threads: usize) -> Result<(Gathered<'a>, Derived), CodecError> {
        if let (Encoding::None, Filter::None, Some(compressor)) =
            (&self.stages.encoding, &self.stages.filter, self.stages.compression.compressor())
        {
            self.check_len(input)?;
            let mut inspect = |start: usize, part: &[u8]| self.check_part(start, part);
            let codec = compressor.encoder(&self.compressor_input())?;
            if let Some(parts) = codec.encode_gathered(input, &mut inspect)? {
                return Ok((parts, Derived::default()));
            }
        }
        let encoded = self.encode(input, threads)?;
        Ok((vec![Cow::Owned(encoded.payload)], encoded.derived))
    }

    /// As [`Pipeline::encode`], appending the payload to `out`.
    ///
    /// # Errors
    /// As [`Pipeline::encode`]; `out` may then hold a partial result.
    pub fn encode_append(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<Derived, CodecError> {
        self.check_input(input, threads)?;
        let mut derived = Derived::default();
        let last_is_encoding = self.stages.filter == Filter::None && self.is_uncompressed();
        let encoded = match &self.stages.encoding {
            Encoding::None => Cow::Borrowed(input),
            Encoding::SimplePacking(request) if last_is_encoding => {
                derived.encoding = Some(self.pack(request, input, threads, out)?.into());
                return Ok(derived);
            }
            Encoding::SimplePacking(request) => {
                let mut packed = Vec::new();
                derived.encoding = Some(self.pack(request, input, threads, &mut packed)?.into());
                Cow::Owned(packed)
            }
        };
        let filtered = match &self.stages.filter {
            Filter::None => encoded,
            Filter::Shuffle(shuffle) if self.is_uncompressed() => {
                self.shuffle(shuffle.shuffle_element_size, &encoded, threads, out)?;
                return Ok(derived);
            }
            Filter::Shuffle(shuffle) => {
                let mut shuffled = Vec::new();
                self.shuffle(shuffle.shuffle_element_size, &encoded, threads, &mut shuffled)?;
                if let Cow::Owned(encoded) = encoded {
                    alloc::recycle(encoded);
                }
                Cow::Owned(shuffled)
            }
        };
        match self.stages.compression.compressor() {
            Some(compressor) => {
                derived.compression = compressor.encode(&self.compressor_input(), &filtered, threads, out)?;
            }
            None => swap::copy_swapped(&filtered, 0, threads, alloc::extend(out, filtered.len())?),
        }
        if let Cow::Owned(filtered) = filtered {
            alloc::recycle(filtered);
        }
        Ok(derived)
    }

    /// Refuses an input of another length, and values that are no numbers unless a later stage will see them.
    fn check_input(&self, input: &[u8], threads: usize) -> Result<(), CodecError> {
        self.check_len(input)?;
        if self.packing_checks_values() || self.shuffling_checks_values() {
            return Ok(());
        }
        finite::check_finite(input, self.dtype, self.byte_order, threads)
    }

    fn check_len(&self, input: &[u8]) -> Result<(), CodecError> {
        if input.len() as u64 == self.decoded_len {
            return Ok(());
        }
        let (count, dtype, expected, found) = (self.element_count, self.dtype, self.decoded_len, input.len());
        let message = format!("{count} elements of {dtype} are {expected} bytes, found {found}");
        Err(CodecError::misuse(NAME, "input_length_mismatch", message))
    }

    /// Refuses values that are no numbers in whole elements from byte `start` on, while they are in the cache.
    fn check_part(&self, start: usize, part: &[u8]) -> Result<(), CodecError> {
        let width = self.dtype.byte_width().unwrap_or(1).max(1);
        finite::check_finite_from((start / width) as u64, part, self.dtype, self.byte_order)
    }

    /// True when packing looks at every value anyway. With 0 bits it looks at the first only.
    fn packing_checks_values(&self) -> bool {
        match &self.stages.encoding {
            Encoding::None => false,
            Encoding::SimplePacking(packing) => packing.sp_bits_per_value > 0,
        }
    }

    fn pack(
        &self,
        request: &SimplePacking,
        input: &[u8],
        threads: usize,
        out: &mut Vec<u8>,
    ) -> Result<SimplePacking, CodecError> {
        #[cfg(feature = "packing")]
        return Ok(crate::packing::Packing::encode(*request, input, self.byte_order, threads, out)?.to_request());
        #[cfg(not(feature = "packing"))]
        {
            let _ = (request, input, threads, out);
            Err(SimplePacking::INFO.missing())
        }
    }

    /// Shuffles, and checks the values where no other stage does.
    fn shuffle(&self, size: u64, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        #[cfg(feature = "shuffle")]
        {
            let unseen = self.shuffling_checks_values();
            let inspect = |start: usize, part: &[u8]| if unseen { self.check_part(start, part) } else { Ok(()) };
            crate::shuffle::Shuffle::new(size)?.encode_inspecting(input, threads, inspect, out)
        }
        #[cfg(not(feature = "shuffle"))]
        {
            let _ = (size, input, threads, out);
            Err(super::ShuffleSettings::INFO.missing())
        }
    }

    /// True when the filter sees the values as they are, and whole ones in each of its runs.
    fn shuffling_checks_values(&self) -> bool {
        let width = self.dtype.byte_width().unwrap_or(0) as u64;
        match (&self.stages.encoding, &self.stages.filter) {
            (Encoding::None, Filter::Shuffle(shuffle)) => shuffle.shuffle_element_size == width,
            (Encoding::None, Filter::None) | (Encoding::SimplePacking(_), _) => false,
        }
    }
}
