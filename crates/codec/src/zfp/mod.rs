//! zfp: lossy compression of float64 values by fixed rate, precision or accuracy.
//!
//! **What it does.** Values are taken four at a time. Each block is aligned to its largest exponent, decorrelated by
//! an integer lifting transform, and written bit plane by bit plane, most significant first, until the rate, the
//! precision or the tolerance is met.
//!
//! **Stream.** The headerless zfp 1.0 stream of a one-dimensional float64 array: 64-bit little-endian words filled
//! from the least significant bit, the last one padded with zeros. Bit-exact with the C library in both directions,
//! except for blocks of values below 2^-961, which the C library mangles and which survive here.
//!
//! **Parameters.** A [`ZfpMode`] and the byte order of the decoded side, checked together by [`Zfp::new`]:
//!
//! ```
//! use fw_codec::Codec;
//! use fw_codec::zfp::{Zfp, ZfpMode};
//! use fw_tensor::ByteOrder;
//!
//! let zfp = Zfp::new(ZfpMode::FixedRate(16.0), ByteOrder::Little)?;
//! let values: Vec<u8> = [1.0f64, 2.0, 3.0, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect();
//! let mut encoded = Vec::new();
//! zfp.encode(&values, 1, &mut encoded)?;
//! assert_eq!(encoded, [0x05, 0x88, 0x59, 0, 0, 0, 0, 0]);
//!
//! let mut decoded = vec![0; values.len()];
//! zfp.decode_into(&encoded, 1, &mut decoded)?;
//! assert_eq!(decoded, values);
//! # Ok::<(), fw_codec::CodecError>(())
//! ```
//!
//! **Ranges.** At a fixed rate every block has its place, so a range costs the blocks it touches. In the other modes
//! the blocks before the range are skimmed (their ends found) without being decoded.

mod bits; // 64-bit windows into a stream, and words out of one
mod block; // four values to bits and back, several blocks in step
mod codec; // the `Codec` answers: lengths, spans, ranges
mod decode; // streams to values: fixed places, or one block after the other
mod encode; // values to streams, in parts that join without a seam
mod params; // what the caller may ask for
mod planes; // the bit-plane code: tables and steps
mod transform; // lifting, negabinary, and bits turned between coefficients and planes

#[cfg(test)]
mod plain; // the twin straight from the specification, one bit at a time

pub use params::{Zfp, ZfpMode};

/// How errors and descriptors call this codec.
const NAME: &str = "zfp";
/// Values in a block.
const BLOCK: usize = 4;
/// Decoded bytes of a block.
const BLOCK_BYTES: usize = 32;
/// Most bits the code of one block can need: 12 of header, 4 per plane, and 4 more where coefficients appear.
const BLOCK_MAX_BITS: u32 = 12 + 4 * 64 + 4;
/// Blocks per task. A multiple of 64, so that at a fixed rate every task begins on a 64-bit word.
const TASK_BLOCKS: usize = 2048;
