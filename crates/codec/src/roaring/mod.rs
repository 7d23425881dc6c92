//! `roaring`: bit masks as Roaring bitmaps in the portable 32-bit format.
//!
//! Specification: TG-C13. As a compressor of `bitmask` objects the payload is a big-endian count of bits (eight
//! per byte, padding included), then the bitmap after run optimisation; inside masks there is no count. Reading goes
//! straight from the portable format to packed bits, so a hostile bitmap costs no more than the bits it stands for. Bytes
//! behind the bitmap are ignored, as the reference does.

mod read; // portable format -> packed bits

pub use read::decode_bitmap;

use crate::bits::{COUNT_LEN, byte_len, read_count, shifted, write_count};
use crate::{Codec, CodecError};
use ::roaring::RoaringBitmap;

/// The `roaring` compressor for objects of type `bitmask`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roaring;

impl Codec for Roaring {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, input_len: usize) -> Option<usize> {
        // No container is longer than its bits, each has 8 bytes of headers, and the bitmap has 8 of its own.
        let containers = input_len.div_ceil(CONTAINER_LEN);
        containers.checked_mul(CONTAINER_LEN + 9)?.checked_add(16)
    }

    fn encode(&self, input: &[u8], _threads: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let count = write_count(NAME, input, out)?;
        encode_bitmap(input, count, out)
    }

    fn decode_into(&self, encoded: &[u8], _threads: usize, out: &mut [u8]) -> Result<(), CodecError> {
        let (count, bitmap) = read_count(NAME, encoded, out.len() as u64)?;
        decode_bitmap(bitmap, count, out).map_err(|error| shifted(error, COUNT_LEN))
    }

    fn check_claim(&self, encoded: &[u8], decoded_len: u64) -> Result<(), CodecError> {
        read_count(NAME, encoded, decoded_len).map(drop)
    }
}

/// Appends the bitmap of the first `count` bits.
///
/// # Errors
/// When there are more bits than the 32-bit keys of the format can name.
///
/// # Panics
/// When `bytes` is shorter than `count` bits need.
pub fn encode_bitmap(bytes: &[u8], count: u64, out: &mut Vec<u8>) -> Result<(), CodecError> {
    if count > 1 << 32 {
        let message = format!("{count} bits are more than 32-bit keys can name");
        return Err(CodecError::misuse(NAME, "input_too_long", message));
    }
    // Roaring counts bits from the least significant one.
    let mut reversed: Vec<u8> = bytes[..byte_len(count) as usize].iter().map(|byte| byte.reverse_bits()).collect();
    if let Some(last) = reversed.last_mut()
        && !count.is_multiple_of(8)
    {
        *last &= (1 << (count % 8)) - 1;
    }
    let mut bitmap = RoaringBitmap::from_lsb0_bytes(0, &reversed);
    bitmap.optimize();
    out.reserve(bitmap.serialized_size());
    bitmap.serialize_into(out).map_err(|error| CodecError::misuse(NAME, "write_failed", error.to_string()))
}

const NAME: &str = "roaring";
/// Bytes of the bits that one container covers.
const CONTAINER_LEN: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::set_range;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_the_specification() {
        let mut out = Vec::new();
        Roaring.encode(&[0xe1, 0x40], 1, &mut out).unwrap();
        let expected =
            [0, 0, 0, 0x10, 0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0x10, 0, 0, 0, 0, 0, 1, 0, 2, 0, 7, 0, 9, 0];
        // Five bits are set in E1 40: 0, 1, 2, 7 and 9.
        assert_eq!(out, expected);
        let mut bits = vec![0; 250];
        set_range(&mut bits, 100, 110);
        set_range(&mut bits, 1999, 2000);
        let mut bitmap = Vec::new();
        encode_bitmap(&bits, 2000, &mut bitmap).unwrap();
        assert_eq!(bitmap, [0x3b, 0x30, 0, 0, 1, 0, 0, 0x0a, 0, 2, 0, 0x64, 0, 9, 0, 0xcf, 0x07, 0, 0]);
    }

    /// Bits of several containers of every kind.
    fn bits() -> impl Strategy<Value = Vec<u8>> {
        let run = (0u64..600_000, prop_oneof![1u64..5, 1u64..3000, 60_000u64..140_000]);
        (
            proptest::collection::vec(run, 0..30),
            proptest::collection::vec((0usize..90_000, any::<u8>()), 0..6000),
            1usize..80_000,
        )
            .prop_map(|(runs, noise, len)| {
                let mut bytes = vec![0; 90_000];
                runs.iter().for_each(|(start, len)| set_range(&mut bytes, *start, (*start + *len).min(720_000)));
                noise.iter().for_each(|(place, byte)| bytes[*place] ^= byte);
                bytes.truncate(len);
                bytes
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn round_trip_and_the_library_agrees(bytes in bits()) {
            let mut encoded = Vec::new();
            Roaring.encode(&bytes, 1, &mut encoded).unwrap();
            prop_assert!(encoded.len() <= Roaring.max_encoded_len(bytes.len()).unwrap());
            let mut back = vec![0xee; bytes.len()];
            Roaring.decode_into(&encoded, 1, &mut back).unwrap();
            prop_assert_eq!(&back, &bytes);
            let library = RoaringBitmap::deserialize_from(&encoded[4..]).unwrap();
            let mut from_library = vec![0; bytes.len()];
            library.iter().for_each(|place| from_library[place as usize / 8] |= 0x80 >> (place % 8));
            prop_assert_eq!(&from_library, &bytes);
            // Without run optimisation the format is another one.
            let mut plain = RoaringBitmap::deserialize_from(&encoded[4..]).unwrap();
            plain.remove_run_compression();
            let mut unoptimised = Vec::new();
            plain.serialize_into(&mut unoptimised).unwrap();
            decode_bitmap(&unoptimised, bytes.len() as u64 * 8, &mut back).unwrap();
            prop_assert_eq!(&back, &bytes);
        }

        #[test]
        fn damage_never_panics(bytes in bits(), place: prop::sample::Index, value: u8, cut: prop::sample::Index) {
            let mut encoded = Vec::new();
            Roaring.encode(&bytes, 1, &mut encoded).unwrap();
            let mut back = vec![0; bytes.len()];
            let cut = cut.index(encoded.len());
            prop_assert!(Roaring.decode_into(&encoded[..cut], 1, &mut back).is_err() || cut == encoded.len());
            let place = place.index(encoded.len());
            encoded[place] ^= value;
            let _ = Roaring.decode_into(&encoded, 1, &mut back);
        }
    }
}
