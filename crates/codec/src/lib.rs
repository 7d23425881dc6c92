//! Values to bytes and back: packing, shuffling, compression and bit masks. Knows no message format.
//!
//! Every codec is one folder and one cargo feature, and answers the same [`Codec`] trait: it states an upper bound
//! for its output, decodes into memory the caller gives, and says whether it can decode a part.
#![deny(unsafe_code)]

pub mod alloc; // memory for results whose size is known
#[cfg(feature = "blosc2")]
pub mod blosc2; // contiguous Blosc2 frames
mod codec; // the trait every codec answers
mod error; // what went wrong, in which codec, at which byte
pub mod finite; // NaN and infinities found, minimum and maximum
#[cfg(feature = "packing")]
pub mod packing; // doubles as integers of a fixed number of bits
pub mod parallel; // splitting work over threads with the same result
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

pub use codec::{Codec, Window};
pub use error::{CodecError, CodecErrorKind};
