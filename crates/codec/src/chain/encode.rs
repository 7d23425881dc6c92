//! Values to payload.

#[cfg(feature = "lz4")]
use super::Stages;
use super::{Encoding, Filter, NAME, Pipeline, SimplePacking};
use crate::{CodecError, Gathered, alloc, finite, swap};
use std::borrow::Cow;

/// A payload, and what encoding found out that the descriptor must say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoded {
    /// The payload.
    pub payload: Vec<u8>,
    /// What the descriptor must say beside the parameters given.
    pub derived: Derived,
}

/// What the descriptor must say beside the parameters given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// Complete parameters of `simple_packing`.
    pub simple_packing: Option<SimplePacking>,
    /// Bit position of each interval of `szip`.
    pub szip_block_offsets: Option<Vec<u64>>,
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

    /// As [`Pipeline::encode`], with the payload in parts, some of which may be the input's own bytes: for whoever copies
    /// them on anyway.
    ///
    /// # Errors
    /// As [`Pipeline::encode`].
    pub fn encode_gathered<'a>(&self, input: &'a [u8], threads: usize) -> Result<(Gathered<'a>, Derived), CodecError> {
        // The one that has anything of the input in its output as it is.
        #[cfg(feature = "lz4")]
        if let Stages { encoding: Encoding::None, filter: Filter::None, compression: super::Compression::Lz4 } =
            self.stages
        {
            self.check_len(input)?;
            let look = |start: usize, part: &[u8]| self.check_part(start, part);
            return Ok((crate::lz4::Lz4.gather_looking(input, look)?, Derived::default()));
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
                derived.simple_packing = Some(self.pack(request, input, threads, out)?);
                return Ok(derived);
            }
            Encoding::SimplePacking(request) => {
                let mut packed = Vec::new();
                derived.simple_packing = Some(self.pack(request, input, threads, &mut packed)?);
                Cow::Owned(packed)
            }
        };
        let filtered = match &self.stages.filter {
            Filter::None => encoded,
            Filter::Shuffle { shuffle_element_size: size } if self.is_uncompressed() => {
                self.shuffle(*size, &encoded, threads, out)?;
                return Ok(derived);
            }
            Filter::Shuffle { shuffle_element_size: size } => {
                let mut shuffled = Vec::new();
                self.shuffle(*size, &encoded, threads, &mut shuffled)?;
                if let Cow::Owned(encoded) = encoded {
                    alloc::recycle(encoded);
                }
                Cow::Owned(shuffled)
            }
        };
        self.compress(&filtered, threads, out, &mut derived)?;
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
    #[cfg(any(feature = "lz4", feature = "shuffle"))]
    fn check_part(&self, start: usize, part: &[u8]) -> Result<(), CodecError> {
        let width = self.dtype.byte_width().unwrap_or(1).max(1);
        finite::check_finite_from((start / width) as u64, part, self.dtype, self.byte_order)
    }

    fn compress(
        &self,
        input: &[u8],
        threads: usize,
        out: &mut Vec<u8>,
        derived: &mut Derived,
    ) -> Result<(), CodecError> {
        #[cfg(feature = "szip")]
        if let super::Compression::Szip(settings) = &self.stages.compression {
            derived.szip_block_offsets = Some(self.szip(settings)?.encode_with_offsets(input, threads, out)?);
            return Ok(());
        }
        let _ = &derived;
        match self.compressor()? {
            Some(compressor) => compressor.encode(input, threads, out)?,
            None => swap::copy_swapped(input, 0, threads, alloc::extend(out, input.len())?),
        }
        Ok(())
    }

    /// True when packing looks at every value anyway. With 0 bits it looks at the first only.
    fn packing_checks_values(&self) -> bool {
        matches!(&self.stages.encoding, Encoding::SimplePacking(packing) if packing.sp_bits_per_value > 0)
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
            Err(super::missing("simple_packing"))
        }
    }

    /// Shuffles, and looks at the values where nobody has.
    fn shuffle(&self, size: u64, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        #[cfg(feature = "shuffle")]
        {
            let unseen = self.shuffling_checks_values();
            let look = |start: usize, part: &[u8]| if unseen { self.check_part(start, part) } else { Ok(()) };
            crate::shuffle::Shuffle::new(size)?.encode_looking(input, threads, look, out)
        }
        #[cfg(not(feature = "shuffle"))]
        {
            let _ = (size, input, threads, out);
            Err(super::missing("shuffle"))
        }
    }

    /// True when the filter sees the values as they are, and whole ones in each of its runs.
    fn shuffling_checks_values(&self) -> bool {
        let width = self.dtype.byte_width().unwrap_or(0) as u64;
        self.stages.encoding == Encoding::None
            && matches!(self.stages.filter, Filter::Shuffle { shuffle_element_size: size } if size == width)
    }
}
