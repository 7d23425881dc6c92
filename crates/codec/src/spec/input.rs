//! What enters a compressor.

use super::{Encoding, Filter, Stages};
use crate::CodecError;
use fw_tensor::{ByteOrder, DType};

/// What enters a compressor: elements of a type, after an encoding and a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompressorInput<'a> {
    /// The stages before the compressor, and the compressor.
    pub(crate) stages: &'a Stages,
    /// Element type before the encoding.
    pub(crate) dtype: DType,
    /// Byte order of the elements.
    pub(crate) byte_order: ByteOrder,
    /// Bytes that enter the compressor.
    pub(crate) len: u64,
}

impl CompressorInput<'_> {
    /// Bits of each packed value, when the encoding packs.
    pub(crate) const fn packed_bits(&self) -> Option<u64> {
        match &self.stages.encoding {
            Encoding::None => None,
            Encoding::SimplePacking(packing) => Some(packing.sp_bits_per_value),
        }
    }

    /// Bytes that were shuffled as one, when the filter shuffles.
    pub(crate) const fn shuffled(&self) -> Option<u64> {
        match &self.stages.filter {
            Filter::None => None,
            Filter::Shuffle(shuffle) => Some(shuffle.shuffle_element_size),
        }
    }

    /// Refuses everything but float64 values as they are: codecs that compute with values have nothing else to compute with.
    pub(crate) fn only_plain_doubles(&self) -> Result<(), CodecError> {
        let Stages { encoding, filter, compression } = self.stages;
        if self.dtype == DType::Float64 && self.packed_bits().is_none() && self.shuffled().is_none() {
            return Ok(());
        }
        Err(refused(format!(
            "{} takes float64 without encoding or filter, not {} with encoding {} and filter {}",
            compression.name(),
            self.dtype,
            encoding.name(),
            filter.name()
        )))
    }

    /// Refuses everything but bit masks.
    pub(crate) fn only_bitmasks(&self) -> Result<(), CodecError> {
        if self.dtype == DType::Bitmask {
            return Ok(());
        }
        Err(refused(format!("{} takes bitmask, not {}", self.stages.compression.name(), self.dtype)))
    }
}

/// The error for stages that do not go together.
pub(crate) fn refused(message: String) -> CodecError {
    CodecError::misuse(CHAIN, "unsupported_combination", message)
}

/// How errors call the chain.
pub(crate) const CHAIN: &str = "pipeline";
