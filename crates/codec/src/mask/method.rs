//! Masks as bytes and back.

use super::{Bits, NAME};
use crate::bits::byte_len;
use crate::chain::{Blosc2Codec, missing};
use crate::finite::Kind;
use crate::{Codec, CodecError, alloc};
use fw_bytes::Span;

/// How a mask is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The packed bits.
    None,
    /// Run lengths.
    Rle,
    /// A Roaring bitmap.
    Roaring,
    /// An LZ4 block of the packed bits, with its length.
    Lz4,
    /// A Zstandard frame of the packed bits.
    Zstd {
        /// Level; 3 unless given.
        level: Option<i32>,
    },
    /// A Blosc2 frame of the packed bits, bits transposed.
    Blosc2 {
        /// The codec inside.
        codec: Blosc2Codec,
        /// Level, 0 to 9.
        level: i32,
    },
}

impl Method {
    /// The `blosc2` method with the parameters it has unless others are given.
    pub const BLOSC2: Self = Self::Blosc2 { codec: Blosc2Codec::Lz4, level: 5 };

    /// The name in a descriptor.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rle => "rle",
            Self::Roaring => "roaring",
            Self::Lz4 => "lz4",
            Self::Zstd { .. } => "zstd",
            Self::Blosc2 { .. } => "blosc2",
        }
    }

    /// The method of this name with default parameters, which is all that reading needs.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::None, Self::Rle, Self::Roaring, Self::Lz4, Self::Zstd { level: None }, Self::BLOSC2]
            .into_iter()
            .find(|method| method.name() == name)
    }

    /// Appends the stored form of `mask` to `out`.
    ///
    /// # Errors
    /// When the method is not available in this build, or cannot hold so many bits.
    pub fn encode(&self, mask: &Bits, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match self {
            Self::None => {
                out.extend_from_slice(&mask.bytes);
                Ok(())
            }
            #[cfg(feature = "rle")]
            Self::Rle => {
                crate::rle::encode_runs(&mask.bytes, mask.count, out);
                Ok(())
            }
            #[cfg(feature = "roaring")]
            Self::Roaring => crate::roaring::encode_bitmap(&mask.bytes, mask.count, out),
            _ => self.compressor()?.encode(&mask.bytes, 1, out),
        }
    }

    /// The mask of `count` elements stored in `blob`.
    ///
    /// # Errors
    /// When the method is not available in this build, or `blob` is no mask of that length.
    pub fn decode(&self, blob: &[u8], count: u64) -> Result<Bits, CodecError> {
        let len = usize::try_from(byte_len(count)).unwrap_or(usize::MAX);
        match self {
            Self::None => Bits::from_packed(blob.to_vec(), count),
            #[cfg(feature = "rle")]
            Self::Rle => {
                crate::rle::check_runs(blob, count)?;
                let mut bytes = alloc::zeroed(len)?;
                crate::rle::decode_runs(blob, count, &mut bytes)?;
                Bits::from_packed(bytes, count)
            }
            #[cfg(feature = "roaring")]
            Self::Roaring => {
                let mut bytes = alloc::zeroed(len)?;
                crate::roaring::decode_bitmap(blob, count, &mut bytes)?;
                Bits::from_packed(bytes, count)
            }
            _ => {
                let compressor = self.compressor()?;
                compressor.check_claim(blob, len as u64)?;
                let mut bytes = alloc::zeroed(len)?;
                compressor.decode_into(blob, 1, &mut bytes)?;
                Bits::from_packed(bytes, count)
            }
        }
    }

    /// The general compressor behind a method.
    fn compressor(&self) -> Result<Box<dyn Codec>, CodecError> {
        match self {
            #[cfg(feature = "zstd")]
            Self::Zstd { level } => Ok(Box::new(level.map_or_else(Default::default, crate::zstd::Zstd::new))),
            #[cfg(feature = "lz4")]
            Self::Lz4 => Ok(Box::new(crate::lz4::Lz4)),
            #[cfg(feature = "blosc2")]
            Self::Blosc2 { codec, level } => {
                use crate::blosc2::{Blosc2, Blosc2Params, Filter};
                let params = Blosc2Params {
                    codec: codec.name().parse()?,
                    level: i64::from(*level),
                    typesize: 1,
                    filter: Filter::BitShuffle,
                };
                Ok(Box::new(Blosc2::new(params)?))
            }
            other => Err(missing(other.name())),
        }
    }
}

/// A mask within the payload region of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMask {
    /// What it marks.
    pub kind: Kind,
    /// How it is stored.
    pub method: Method,
    /// Where it begins, from the beginning of the region.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

impl StoredMask {
    /// The bytes of the mask within its region.
    ///
    /// # Errors
    /// When it does not lie within.
    pub fn blob<'a>(&self, region: &'a [u8]) -> Result<&'a [u8], CodecError> {
        let found = Span::sized(self.offset, self.length).and_then(|span| span.slice_of(region, 0));
        found.ok_or_else(|| {
            let message = format!(
                "mask {} has {} bytes from {}, the payload region has {}",
                self.kind.key(),
                self.length,
                self.offset,
                region.len()
            );
            CodecError::format(NAME, "mask_outside_region", message)
        })
    }
}
