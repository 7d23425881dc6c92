//! Masks as bytes and back.

use super::{Bits, NAME};
use crate::bits::byte_len;
use crate::finite::Kind;
use crate::spec::{Blosc2Codec, if_built};
use crate::{Codec, CodecError, alloc};
use fw_bytes::Span;

/// How a mask is stored. Complete: the methods are a closed set of the format.
#[derive(Clone, Debug, PartialEq, Eq)]
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
            Self::Rle => if_built!("rle", crate::spec::RleSettings, (mask, out), {
                crate::rle::encode_runs(&mask.bytes, mask.count, out);
                Ok(())
            }),
            Self::Roaring => if_built!("roaring", crate::spec::RoaringSettings, (mask, out), {
                crate::roaring::encode_bitmap(&mask.bytes, mask.count, out)
            }),
            Self::Lz4 => lz4()?.encode(&mask.bytes, 1, out),
            Self::Zstd { level } => zstd(*level)?.encode(&mask.bytes, 1, out),
            Self::Blosc2 { codec, level } => blosc2(*codec, *level)?.encode(&mask.bytes, 1, out),
        }
    }

    /// The mask of `count` elements stored in `blob`.
    ///
    /// # Errors
    /// When the method is not available in this build, or `blob` is not a mask of that length.
    pub fn decode(&self, blob: &[u8], count: u64) -> Result<Bits, CodecError> {
        match self {
            Self::None => Bits::from_packed(blob.to_vec(), count),
            Self::Rle => if_built!("rle", crate::spec::RleSettings, (blob), {
                crate::rle::check_runs(blob, count)?;
                unpacked(count, |bytes| crate::rle::decode_runs(blob, count, bytes))
            }),
            Self::Roaring => if_built!("roaring", crate::spec::RoaringSettings, (blob), {
                unpacked(count, |bytes| crate::roaring::decode_bitmap(blob, count, bytes))
            }),
            Self::Lz4 => decompressed(&*lz4()?, blob, count),
            Self::Zstd { level } => decompressed(&*zstd(*level)?, blob, count),
            Self::Blosc2 { codec, level } => decompressed(&*blosc2(*codec, *level)?, blob, count),
        }
    }
}

fn lz4() -> Result<Box<dyn Codec>, CodecError> {
    if_built!("lz4", crate::spec::Lz4Settings, (), Ok(Box::new(crate::lz4::Lz4)))
}

fn zstd(level: Option<i32>) -> Result<Box<dyn Codec>, CodecError> {
    if_built!("zstd", crate::spec::ZstdSettings, (level), {
        Ok(Box::new(level.map_or_else(Default::default, crate::zstd::Zstd::new)))
    })
}

fn blosc2(codec: Blosc2Codec, level: i32) -> Result<Box<dyn Codec>, CodecError> {
    if_built!("blosc2", crate::spec::Blosc2Settings, (codec, level), {
        use crate::blosc2::{Blosc2, Blosc2Params, Filter};
        let (codec, level) = (codec.name().parse()?, i64::from(level));
        Ok(Box::new(Blosc2::new(Blosc2Params { codec, level, typesize: 1, filter: Filter::BitShuffle })?))
    })
}

/// The mask that a general compressor made `blob` of.
fn decompressed(compressor: &dyn Codec, blob: &[u8], count: u64) -> Result<Bits, CodecError> {
    compressor.check_claim(blob, byte_len(count))?;
    unpacked(count, |bytes| compressor.decode_into(blob, 1, bytes))
}

/// A mask of `count` bits that `fill` writes.
fn unpacked(count: u64, fill: impl FnOnce(&mut [u8]) -> Result<(), CodecError>) -> Result<Bits, CodecError> {
    let mut bytes = alloc::zeroed(usize::try_from(byte_len(count)).unwrap_or(usize::MAX))?;
    fill(&mut bytes)?;
    Bits::from_packed(bytes, count)
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
