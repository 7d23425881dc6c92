//! NaN and infinities set aside as bit masks before encoding, and put back after decoding.
//!
//! Specification: TG-C14. Lossy codecs and packing know no NaN, so elements that are not finite are replaced by
//! zero bytes, and one mask per kind says where they were. What comes back is the canonical NaN or infinity of the
//! type, in both parts of a complex number: **the payload bits and the sign of a NaN are not preserved**.
//!
//! ```
//! use fw_codec::mask::{self, Options};
//! use fw_tensor::{ByteOrder, DType};
//!
//! let values: Vec<u8> = [1.0f32, f32::NAN, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
//! let options = Options { allow_nan: true, ..Options::default() };
//! let separated = mask::separate(&values, DType::Float32, ByteOrder::Little, &options, 1).unwrap().unwrap();
//! assert_eq!(separated.masks.nan.as_ref().unwrap().bytes(), [0b0100_0000]);
//! let mut restored = separated.bytes;
//! separated.masks.restore(&mut restored, DType::Float32, ByteOrder::Little, 0);
//! assert_eq!(restored[4..8], f32::NAN.to_le_bytes());
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2; // NaN set aside on vector registers
mod method; // masks as bytes and back
mod restore; // canonical patterns put back
mod separate; // kinds found, zeros put in their place

pub use method::{Method, StoredMask};
pub use separate::{Separated, separate};

use crate::CodecError;
use crate::bits;
use crate::finite::Kind;

/// What to do with elements that are not finite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// NaN is set aside instead of refused.
    pub allow_nan: bool,
    /// Infinities are set aside instead of refused.
    pub allow_inf: bool,
    /// How the mask of NaN is stored.
    pub nan_mask_method: Method,
    /// How the mask of plus infinity is stored.
    pub pos_inf_mask_method: Method,
    /// How the mask of minus infinity is stored.
    pub neg_inf_mask_method: Method,
    /// Masks of up to this many bytes, packed, are stored as they are; 0 never does that.
    pub small_mask_threshold_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            allow_nan: false,
            allow_inf: false,
            nan_mask_method: Method::Roaring,
            pos_inf_mask_method: Method::Roaring,
            neg_inf_mask_method: Method::Roaring,
            small_mask_threshold_bytes: 128,
        }
    }
}

impl Options {
    /// True when elements of this kind are set aside.
    pub const fn allows(&self, kind: Kind) -> bool {
        match kind {
            Kind::Nan => self.allow_nan,
            Kind::PosInf | Kind::NegInf => self.allow_inf,
        }
    }

    /// How a mask of `kind` over `count` elements is stored.
    pub fn method(&self, kind: Kind, count: u64) -> &Method {
        if bits::byte_len(count) <= self.small_mask_threshold_bytes {
            return &Method::None;
        }
        match kind {
            Kind::Nan => &self.nan_mask_method,
            Kind::PosInf => &self.pos_inf_mask_method,
            Kind::NegInf => &self.neg_inf_mask_method,
        }
    }
}

/// One bit per element, packed, the first in the most significant bit of the first byte; padding bits are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    count: u64,
}

impl Bits {
    /// `count` bits from packed bytes; padding bits are cleared.
    ///
    /// # Errors
    /// When `bytes` is not exactly as long as `count` bits need.
    pub fn from_packed(mut bytes: Vec<u8>, count: u64) -> Result<Self, CodecError> {
        if bytes.len() as u64 != bits::byte_len(count) {
            return Err(CodecError::length(NAME, bits::byte_len(count), bytes.len() as u64));
        }
        if let Some(last) = bytes.last_mut()
            && !count.is_multiple_of(8)
        {
            *last &= 0xff << (8 - count % 8);
        }
        Ok(Self { bytes, count })
    }

    /// The packed bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of bits.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the bit of element `index` is set; elements behind the end have none.
    pub fn contains(&self, index: u64) -> bool {
        index < self.count && bits::bit(&self.bytes, index)
    }

    /// How many bits are set.
    pub fn count_ones(&self) -> u64 {
        self.bytes.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }
}

/// The masks of an object; kinds that do not occur have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    /// Where NaN was.
    pub nan: Option<Bits>,
    /// Where plus infinity was.
    pub pos_inf: Option<Bits>,
    /// Where minus infinity was.
    pub neg_inf: Option<Bits>,
}

impl Masks {
    /// The mask of a kind.
    pub const fn get(&self, kind: Kind) -> Option<&Bits> {
        match kind {
            Kind::Nan => self.nan.as_ref(),
            Kind::PosInf => self.pos_inf.as_ref(),
            Kind::NegInf => self.neg_inf.as_ref(),
        }
    }

    /// Sets the mask of a kind.
    pub fn set(&mut self, kind: Kind, mask: Option<Bits>) {
        match kind {
            Kind::Nan => self.nan = mask,
            Kind::PosInf => self.pos_inf = mask,
            Kind::NegInf => self.neg_inf = mask,
        }
    }

    /// True when there is no mask.
    pub const fn is_empty(&self) -> bool {
        self.nan.is_none() && self.pos_inf.is_none() && self.neg_inf.is_none()
    }

    /// Appends the masks to `region`, which holds the payload, and says where each one is.
    ///
    /// # Errors
    /// When a method is not available in this build, or cannot hold the mask.
    pub fn append(&self, options: &Options, region: &mut Vec<u8>) -> Result<Vec<StoredMask>, CodecError> {
        let mut stored = Vec::new();
        for kind in Kind::ALL {
            if let Some(mask) = self.get(kind) {
                let method = options.method(kind, mask.count).clone();
                let offset = region.len() as u64;
                method.encode(mask, region)?;
                stored.push(StoredMask { kind, method, offset, length: region.len() as u64 - offset });
            }
        }
        Ok(stored)
    }

    /// Reads the masks of `count` elements out of a payload region that begins with the payload.
    ///
    /// # Errors
    /// A mask outside the region (`mask_outside_region`), an unavailable method, or a blob that is no such mask.
    pub fn read(stored: &[StoredMask], region: &[u8], count: u64) -> Result<Self, CodecError> {
        let mut masks = Self::default();
        for mask in stored {
            masks.set(mask.kind, Some(mask.method.decode(mask.blob(region)?, count)?));
        }
        Ok(masks)
    }
}

const NAME: &str = "mask";

// The tests go through every codec.
#[cfg(all(test, feature = "zstd", feature = "lz4", feature = "rle", feature = "roaring", feature = "blosc2"))]
mod tests;
