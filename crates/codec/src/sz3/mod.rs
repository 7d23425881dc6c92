//! `sz3`: error-bounded lossy compression of doubles, stream version 3.3.2, one dimension.
//!
//! **What it does.** Values are predicted (by interpolation from coarse to fine, or from the values just before), the
//! differences are rounded to multiples of twice the bound, and the multiples are Huffman-coded and packed with zstd.
//! Where none of that helps, the doubles are packed as they are.
//!
//! **Specification.** Tensogram codecs, section 12.
//!
//! **Parameters.** A bound ([`Sz3Bound`]) and the byte order of the decoded bytes:
//!
//! ```
//! use fw_codec::{Codec, sz3::{Sz3, Sz3Bound}};
//! use fw_tensor::ByteOrder;
//!
//! let values: Vec<f64> = (0..1000).map(|i| (f64::from(i) / 50.0).sin()).collect();
//! let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
//! let codec = Sz3::new(Sz3Bound::Abs(0.001), ByteOrder::Little)?;
//! let mut encoded = Vec::new();
//! codec.encode(&bytes, 0, &mut encoded)?;
//! assert!(encoded.len() < bytes.len() / 10);
//! let mut decoded = vec![0; bytes.len()];
//! codec.decode_into(&encoded, 0, &mut decoded)?;
//! for (value, found) in values.iter().zip(decoded.chunks_exact(8)) {
//!     assert!((value - f64::from_le_bytes(found.try_into().unwrap())).abs() <= 0.001);
//! }
//! # Ok::<(), fw_codec::CodecError>(())
//! ```
//!
//! **Compatibility.** Reads every stream of the reference bit for bit, and the reference reads ours. Choices are our
//! own, so the bytes differ. Only doubles: other types must be refused by the caller, who knows the type; a length that
//! is no multiple of eight is refused here. No values are an empty payload; the reference can neither write nor read any form of that.
//! Non-finite values are kept exactly; `rel` and `psnr` measure the range of the finite ones.
//!
//! **Memory.** Decoding takes at most twice the decoded length and 8 MiB besides the output, whatever a payload claims.

mod bound; // what the caller asks for, resolved to an absolute bound
mod codec; // the codec itself
mod doubles; // bytes as doubles and back
mod encode; // trying, choosing, writing
mod fault; // errors with positions
mod huffman; // codes to bits
mod interpolation; // prediction from coarse to fine
mod lorenzo; // prediction from the values before
mod packed; // the zstd layer
mod quantizer; // differences to codes
mod stream; // the outer layer
mod tune; // which prediction suits the data

pub use bound::Sz3Bound;
pub use codec::Sz3;

/// The name of the codec in descriptors and errors.
const NAME: &str = "sz3";
