//! Values to bytes and back: packing, shuffling, compression and bit masks. Knows no message format.
//!
//! Every codec is one folder and one cargo feature, and answers the same [`Codec`] trait: it states an upper bound
//! for its output, decodes into memory the caller gives, and says what it has to decode for a part. What it is called, which
//! parameters it has and what it combines with stand in the `spec.rs` of its folder ([`spec`]).
#![deny(unsafe_code)]

mod error; // what went wrong, in which codec, at which byte
mod simd; // code compiled for the vector unit at hand
mod ahead; // memory read in four places at a time
pub mod parallel; // splitting work over threads with the same result
pub mod alloc; // memory for results whose size is known
pub mod swap; // byte order changed while copying, or in place
#[cfg(any(feature = "rle", feature = "roaring", feature = "mask"))]
mod bits; // packed bits: runs found and filled
pub mod finite; // NaN and infinities found, minimum and maximum
mod codec; // the trait every codec answers
#[cfg(any(feature = "lz4", feature = "blosc2"))]
mod lz4_block; // LZ4 blocks read

#[cfg(feature = "shuffle")]
pub mod shuffle; // bytes of equal significance side by side
#[cfg(feature = "zstd")]
pub mod zstd; // Zstandard frames
#[cfg(feature = "lz4")]
pub mod lz4; // LZ4 blocks with their length
#[cfg(feature = "blosc2")]
pub mod blosc2; // contiguous Blosc2 frames
#[cfg(feature = "szip")]
pub mod szip; // CCSDS 121 lossless coding of integer samples
#[cfg(feature = "zfp")]
pub mod zfp; // float64 at a fixed rate, precision or accuracy
#[cfg(feature = "sz3")]
pub mod sz3; // float64 within an error bound
#[cfg(feature = "rle")]
pub mod rle; // run lengths of bit masks
#[cfg(feature = "roaring")]
pub mod roaring; // Roaring bitmaps of bit masks

pub mod spec; // the table of codecs: what each states about itself
#[cfg(feature = "packing")]
pub mod packing; // doubles as integers of a fixed number of bits
#[cfg(feature = "mask")]
pub mod mask; // NaN and infinities set aside and put back
pub mod chain; // encoding, filter and compression, one after another

pub use codec::{Codec, Gathered, Inspect, Pieces, Reach, Window};
pub use error::{CodecError, CodecErrorKind};
pub use simd::vector_code;
