//! Contiguous Blosc2 frames: blocks that are shuffled and compressed one by one.
//!
//! **What it does.** The input is cut into chunks (256 MiB), the chunks into blocks (some hundred KiB). Each block has
//! its bytes transposed, is split into one stream per byte of an element where that helps, and every stream is
//! compressed by the inner codec. Blocks know nothing of each other, so they are encoded and decoded on any number of
//! threads, straight into the final buffer, and a range costs only the blocks it touches: of a payload that is fetched
//! piece by piece, header, trailer and tables of blocks are asked for first, then those blocks.
//!
//! **Specification.** TG-C9; the mask flavour in TG-C14.2.
//!
//! **Parameters.**
//! ```
//! use fw_codec::Codec;
//! use fw_codec::blosc2::{Blosc2, Blosc2Params, InnerCodec};
//!
//! let codec = Blosc2::new(Blosc2Params { codec: InnerCodec::Lz4, level: 5, typesize: 8, ..Default::default() })?;
//! let input: Vec<u8> = (0..4000).flat_map(|i| f64::from(i).to_le_bytes()).collect();
//! let mut frame = Vec::new();
//! codec.encode(&input, 1, &mut frame)?;
//! let mut back = vec![0; input.len()];
//! codec.decode_into(&frame, 2, &mut back)?;
//! assert!(back == input && frame.len() < input.len() / 2);
//! # Ok::<(), fw_codec::CodecError>(())
//! ```
//!
//! **Compatibility.** Frames of the reference are read whatever parameters this value holds: everything needed stands
//! in the frame. Written frames are read by the reference; their bytes differ from what it would write, and do not
//! depend on the number of threads. `lz4hc` searches harder than `lz4` and has the same stream format.
//!
//! **Refused.** Dictionaries, lazy chunks, metalayers (a multidimensional array would come out in the wrong order),
//! and filters other than the two shuffles. None of them is written by the reference.

mod blosclz; // the codec that only Blosc has: streams, both ways
mod chunk; // chunk header and where its blocks are
mod decode; // chunk -> bytes, block by block
mod encode; // bytes -> chunk, block by block
mod filter; // byte and bit transposition of one block
mod frame; // frame header, index and trailer
mod inner; // one stream through the inner codec
mod locate; // which bytes of a frame a range needs
mod lz4hc; // LZ4 blocks, searching harder
mod matches; // finding repeated strings, for the two encoders above
mod params; // checked parameters, block sizes
mod streams; // the streams of a block
mod view; // the bytes of a frame, as far as they are at hand

pub use params::{Blosc2Params, Filter, InnerCodec};

use crate::codec::checked_range;
use crate::{Codec, CodecError, Reach, Window, alloc};
use frame::Frame;
use fw_bytes::Span;
use std::ops::Range;
use view::View;

/// The `blosc2` compressor with checked parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blosc2 {
    params: Blosc2Params,
}

impl Blosc2 {
    /// A compressor with these parameters.
    ///
    /// # Errors
    /// When the level is outside 0 to 9 or the type size outside 1 to 255.
    pub fn new(params: Blosc2Params) -> Result<Self, CodecError> {
        params.check()?;
        Ok(Self { params })
    }

    /// The compressor of bit masks: single bytes, bits transposed, LZ4.
    pub fn for_masks() -> Self {
        Self { params: Blosc2Params { typesize: 1, filter: Filter::BitShuffle, ..Blosc2Params::default() } }
    }

    /// The parameters it was made with.
    pub const fn params(&self) -> &Blosc2Params {
        &self.params
    }
}

impl Codec for Blosc2 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        frame::max_len(input_len, self.params.typesize)
    }

    fn reach(&self) -> Reach {
        Reach::Blocks
    }

    fn encode(&self, input: &[u8], threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        encode::frame(&self.params, input, threads, out)
    }

    fn decode_into(&self, encoded: &[u8], threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        decode::range(&Frame::read(View::whole(encoded), out.len() as u64)?, 0, threads, out)
    }

    fn decode_to_vec(&self, encoded: &[u8], decoded_len: usize, threads: usize) -> Result<Vec<u8>, CodecError> {
        let frame = Frame::read(View::whole(encoded), decoded_len as u64)?;
        if threads <= 1 && decoded_len < alloc::FRESH_FROM {
            return decode::append(&frame, decoded_len);
        }
        let mut out = alloc::zeroed(decoded_len)?;
        decode::range(&frame, 0, threads, &mut out)?;
        Ok(out)
    }

    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        Frame::read(View::whole(encoded), decoded_len)?;
        Ok(())
    }

    /// Frame header and trailer first, then the tables of the chunks that are touched, then blocks.
    fn still_needed(
        &self,
        encoded: Window<'_>,
        decoded_len: u64,
        ranges: &[Range<u64>],
    ) -> Result<Option<Vec<Span>>, CodecError> {
        locate::still_needed(encoded, decoded_len, ranges).map(Some)
    }

    fn block_len(&self, encoded: Option<Window<'_>>, decoded_len: u64) -> Option<u64> {
        Frame::read(View::new(encoded?), decoded_len).ok()?.block_len()
    }

    fn decode_range_into(
        &self,
        encoded: Window<'_>,
        decoded_len: u64,
        start: u64,
        threads: usize,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        checked_range(NAME, decoded_len, start, out.len())?;
        decode::range(&Frame::read(View::new(encoded), decoded_len)?, start, threads, out)
    }
}

const NAME: &str = "blosc2";

/// Malformed bytes at a position of the payload.
fn fault(code: &'static str, at: u64, message: impl Into<String>) -> CodecError {
    CodecError::format(NAME, code, message).at(at)
}

/// A well-formed frame that uses a part of the format nobody here writes.
fn unsupported(code: &'static str, at: u64, message: impl Into<String>) -> CodecError {
    CodecError::unsupported(NAME, code, message).at(at)
}

/// A fault of the checked reader, in the words of this codec.
fn parse(error: fw_bytes::ParseError) -> CodecError {
    let message = match (error.expected, error.found) {
        (fw_bytes::Detail::Bytes(need), fw_bytes::Detail::Bytes(have)) => {
            format!("need {need} bytes for {}, have {have}", error.what)
        }
        (expected, found) => format!("{}: expected {expected}, found {found}", error.what),
    };
    fault(error.code, error.at, message)
}
