//! The codec itself.

use super::stream::{Algorithm, OVERHEAD, Stream};
use super::{NAME, Sz3Bound, doubles, encode, interpolation, lorenzo, packed};
use crate::{Codec, CodecError};
use fw_tensor::ByteOrder;

/// Error-bounded compression of doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sz3 {
    bound: Option<Sz3Bound>,
    order: ByteOrder,
    elements: Elements,
}

/// What the bytes are that a stream holds as doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elements {
    Doubles,
    /// Pairs of floats: a bound on the doubles says nothing about them, so only streams without loss are read.
    Floats,
}

impl Sz3 {
    /// A codec that keeps values within `bound`; decoded bytes are in `order`.
    ///
    /// # Errors
    /// `bad_error_bound` when the bound is negative or not finite.
    pub fn new(bound: Sz3Bound, order: ByteOrder) -> Result<Self, CodecError> {
        bound.check()?;
        Ok(Self { bound: Some(bound), order, elements: Elements::Doubles })
    }

    /// A codec that only decodes, which needs no bound: a stream carries its own.
    ///
    /// Descriptors with a bound that [`Sz3::new`] refuses do exist, and what they describe is still readable.
    pub const fn reader(order: ByteOrder) -> Self {
        Self { bound: None, order, elements: Elements::Doubles }
    }

    /// A codec that only decodes `float32` elements, which some writers store as if each pair of them were a double.
    ///
    /// Only lossless streams can be read: in any other the values are not within the bound.
    pub const fn float32_reader(order: ByteOrder) -> Self {
        Self { bound: None, order, elements: Elements::Floats }
    }
}

impl Codec for Sz3 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        // No more than the doubles themselves as one zstd frame: whatever is longer is not written.
        if input_len == 0 {
            return Some(0);
        }
        let frame = input_len.checked_add(input_len >> 8)?.checked_add(64 << 10)?;
        frame.checked_add(OVERHEAD)
    }

    fn encode(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let Some(bound) = self.bound else {
            return Err(CodecError::misuse(NAME, "no_error_bound", "encoding needs an error bound"));
        };
        let values = doubles::read(input, self.order)?;
        if values.is_empty() {
            return Ok(());
        }
        encode::encode(&values, bound.resolve(&values), threads, out)
    }

    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        if encoded.is_empty() && decoded_len == 0 {
            return Ok(());
        }
        Stream::parse(encoded, decoded_len / 8).map(drop)
    }

    fn decode_into(&self, encoded: &[u8], _threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        doubles::check_len(out.len())?;
        if encoded.is_empty() && out.is_empty() {
            return Ok(());
        }
        let count = out.len() / 8;
        let stream = Stream::parse(encoded, count as u64)?;
        if self.elements == Elements::Floats && stream.algorithm != Algorithm::Lossless {
            let message = "float32 values in a lossy sz3 stream, which bounds the error of doubles only";
            return Err(CodecError::misuse(NAME, "unsupported_combination", message));
        }
        match stream.algorithm {
            Algorithm::Lossless => {
                packed::unpack_into(&stream, out)?;
                if self.order == ByteOrder::Big {
                    match self.elements {
                        Elements::Doubles => doubles::swap(out),
                        Elements::Floats => fw_tensor::swap_in_place(out, 4),
                    }
                }
                Ok(())
            }
            Algorithm::Interpolation => {
                let unpacked = packed::unpack(&stream, count)?;
                doubles::write(out, self.order, |values| interpolation::decode(&unpacked, values))
            }
            Algorithm::Lorenzo { block_size } => {
                let unpacked = packed::unpack(&stream, count)?;
                doubles::write(out, self.order, |values| lorenzo::decode(&unpacked, block_size, values))
            }
        }
    }
}
