//! Values to bytes and back: packing, shuffling, compression and bit masks. Knows no message format.
//!
//! Every codec is one folder and one cargo feature, and answers the same [`Codec`] trait: it states an upper bound
//! for its output, decodes into memory the caller gives, and says whether it can decode a part.
#![deny(unsafe_code)]

mod ahead; // memory read in four places at a time
pub mod alloc; // memory for results whose size is known
#[cfg(any(feature = "rle", feature = "roaring", feature = "mask"))]
mod bits; // packed bits: runs found and filled
#[cfg(feature = "blosc2")]
pub mod blosc2; // contiguous Blosc2 frames
pub mod chain; // encoding, filter and compression, one after another
mod codec; // the trait every codec answers
mod error; // what went wrong, in which codec, at which byte
pub mod finite; // NaN and infinities found, minimum and maximum
#[cfg(feature = "lz4")]
pub mod lz4; // LZ4 blocks with their length
#[cfg(any(feature = "lz4", feature = "blosc2"))]
mod lz4_block; // LZ4 blocks read
#[cfg(feature = "mask")]
pub mod mask; // NaN and infinities set aside and put back
#[cfg(feature = "packing")]
pub mod packing; // doubles as integers of a fixed number of bits
pub mod parallel; // splitting work over threads with the same result
#[cfg(feature = "rle")]
pub mod rle; // run lengths of bit masks
#[cfg(feature = "roaring")]
pub mod roaring; // Roaring bitmaps of bit masks
#[cfg(feature = "shuffle")]
pub mod shuffle; // bytes of equal significance side by side
mod simd; // code compiled for the vector unit at hand
pub mod swap; // byte order changed while copying, or in place
#[cfg(feature = "sz3")]
pub mod sz3; // float64 within an error bound
#[cfg(feature = "szip")]
pub mod szip; // CCSDS 121 lossless coding of integer samples
#[cfg(feature = "zfp")]
pub mod zfp; // float64 at a fixed rate, precision or accuracy
#[cfg(feature = "zstd")]
pub mod zstd; // Zstandard frames

pub use codec::{Codec, Gathered, Pieces, Window};
pub use error::{CodecError, CodecErrorKind};
