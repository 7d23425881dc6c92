//! The chain: values to payload bytes and back, through an encoding, a filter and a compressor.
//!
//! A [`Pipeline`] is what a descriptor says about one object: how it is coded ([`Stages`]), its element type, how many elements
//! it has, and their byte order. [`Pipe`] states the stages without what follows from the tensor. The fields of the settings
//! are named like the keys of descriptors; how a format stores them is up to the format ([`crate::spec::ParamSource`]).
//! Specification: TG-C1 to TG-C4, TG-C15, TG-C17 and TG-C18.
//!
//! - Combinations that cannot be read back are refused when the pipeline is made (TG-C3).
//! - Decoding writes into memory the caller gives; every length is checked, and no claim of a payload makes the chain
//!   hold more than the declared size.
//! - A codec that is not part of the build is an error of kind `Unsupported` that names the cargo feature, and arises only
//!   when it is needed.
//!
//! ```
//! use fw_codec::chain::{DecodeOptions, Pipe, Pipeline};
//! use fw_tensor::{ByteOrder, DType};
//!
//! let stages = Pipe::shuffle().zstd(3).stages(DType::Float32, ByteOrder::Little)?;
//! let pipeline = Pipeline::new(stages, DType::Float32, 1000, ByteOrder::Little)?;
//! let values: Vec<u8> = (0..1000).flat_map(|i| (i as f32).to_le_bytes()).collect();
//! let encoded = pipeline.encode(&values, 2)?;
//! assert!(encoded.payload.len() < 1500);
//! let decoded = pipeline.decode(&encoded.payload, &DecodeOptions::default().with_order(ByteOrder::Little))?;
//! assert_eq!(decoded, values);
//! # Ok::<(), fw_codec::CodecError>(())
//! ```

mod decode; // payload -> values
mod encode; // values -> payload
mod locate; // which bytes many parts need, by what the payload says itself
mod options; // how to decode
mod parts; // many parts of the values
mod pipe; // stages by type, completed from the tensor
mod range; // a part of the values
mod reader; // codecs set up once for many ranges
mod rules; // what combines with what

pub use crate::spec::table::*;
pub use encode::{Derived, Encoded};
pub use options::DecodeOptions;
pub use parts::{Payload, RunPlan};
pub use pipe::{OpenPipe, Pipe};
pub use range::Plan;

use crate::spec::{CHAIN as NAME, CompressorInput, ParamError};
use crate::{Codec, CodecError};
use fw_bytes::Limits;
use fw_tensor::{ByteOrder, DType};

/// How one object is coded, with everything checked that can be checked without its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    stages: Stages,
    dtype: DType,
    element_count: u64,
    byte_order: ByteOrder,
    /// Bytes of the decoded elements.
    decoded_len: u64,
    /// Bytes between encoding and filter; also behind the filter.
    stage_len: u64,
}

impl Pipeline {
    /// A pipeline for `element_count` elements of `dtype`, given and (unless asked otherwise) returned in `byte_order`.
    ///
    /// # Errors
    /// Parameters out of their ranges, combinations that cannot be read back, or sizes that do not fit in 64 bits.
    pub fn new(stages: Stages, dtype: DType, element_count: u64, byte_order: ByteOrder) -> Result<Self, CodecError> {
        let bits = dtype.bits();
        let len = |bits: u64| element_count.checked_mul(bits).map(|bits| bits.div_ceil(8));
        let too_large = || {
            let message = format!("{element_count} elements of {dtype} are more bytes than 64 bits can count");
            CodecError::parameter(NAME, "object_too_large", message)
        };
        let decoded_len = len(bits).ok_or_else(too_large)?;
        let stage_len = match &stages.encoding {
            Encoding::None => decoded_len,
            Encoding::SimplePacking(packing) => len(packing.checked_bits()?.into()).ok_or_else(too_large)?,
        };
        let pipeline = Self { stages, dtype, element_count, byte_order, decoded_len, stage_len };
        rules::check(&pipeline)?;
        Ok(pipeline)
    }

    /// How values are coded.
    pub const fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Element type.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    pub const fn element_count(&self) -> u64 {
        self.element_count
    }

    /// Byte order of what is encoded.
    pub const fn byte_order(&self) -> ByteOrder {
        self.byte_order
    }

    /// Bytes of the decoded object.
    pub const fn decoded_len(&self) -> u64 {
        self.decoded_len
    }

    /// Checks the decoded size, before anything is reserved for it.
    ///
    /// # Errors
    /// `limit_object_len` when the object is larger than one may be; `limit_expansion_ratio` when it is large and out of
    /// proportion to its payload.
    pub fn check_limits(&self, payload_len: u64, limits: &Limits) -> Result<(), CodecError> {
        let len = self.decoded_len;
        if len > limits.object_len {
            let message = format!("object of {len} bytes is above the limit object_len of {}", limits.object_len);
            return Err(CodecError::limit(NAME, "limit_object_len", message));
        }
        if len > limits.expansion_floor && len > payload_len.saturating_mul(limits.expansion_ratio) {
            let message = format!(
                "object of {len} bytes is more than {} times its payload of {payload_len} bytes, which the limit \
                 expansion_ratio forbids above expansion_floor ({} bytes)",
                limits.expansion_ratio, limits.expansion_floor
            );
            return Err(CodecError::limit(NAME, "limit_expansion_ratio", message));
        }
        Ok(())
    }

    /// Checks the parameters that encoding wrote, where the payload of `payload_len` bytes was encoded elsewhere.
    ///
    /// # Errors
    /// A parameter that cannot belong to such a payload.
    pub fn check_written(&self, payload_len: u64) -> Result<(), ParamError> {
        self.stages.compression.compressor().map_or(Ok(()), |compressor| compressor.check_written(payload_len))
    }

    /// The compressor for decoding to values in `order`, or `None` when there is none.
    fn decompressor(&self, order: ByteOrder) -> Result<Option<Box<dyn Codec>>, CodecError> {
        let compressor = self.stages.compression.compressor();
        compressor.map(|compressor| compressor.decoder(&self.compressor_input(), order)).transpose()
    }

    /// What enters the compressor.
    const fn compressor_input(&self) -> CompressorInput<'_> {
        let Self { stages, dtype, byte_order, stage_len, .. } = self;
        CompressorInput { stages, dtype: *dtype, byte_order: *byte_order, len: *stage_len }
    }

    /// Bytes of one element, for those that have whole bytes.
    fn element_len(&self) -> Result<u64, CodecError> {
        self.dtype.byte_width().map(|width| width as u64).ok_or_else(|| {
            let message = format!("{} elements do not begin at byte boundaries", self.dtype);
            CodecError::misuse(NAME, "unsliceable", message)
        })
    }
}

// The tests go through every codec.
#[cfg(all(test, feature = "default"))]
mod tests;
