//! What combines with what (specification: codecs, clause 3).

use super::{Compression, Encoding, Filter, NAME, Pipeline, SimplePacking};
use crate::{CodecError, CodecErrorKind};
use fw_tensor::DType;

/// Bits per value, checked. Further checks are those of the packing room.
pub(super) fn packed_bits(packing: &SimplePacking) -> Result<u64, CodecError> {
    match packing.sp_bits_per_value {
        bits @ 0..=64 => Ok(bits),
        bits => Err(CodecError::parameter(
            "simple_packing",
            "sp_bits_per_value_range",
            format!("sp_bits_per_value is {bits}, expected 0 to 64"),
        )),
    }
}

/// Refuses combinations that the format cannot hold, and those that a reader would return garbage for.
pub(super) fn check(pipeline: &Pipeline) -> Result<(), CodecError> {
    let Pipeline { stages, dtype, stage_len, .. } = pipeline;
    if let Encoding::SimplePacking(packing) = &stages.encoding {
        if *dtype != DType::Float64 {
            return Err(refused(format!("simple_packing takes float64, not {dtype}")));
        }
        if packing.sp_reference_value.is_some() != packing.sp_binary_scale_factor.is_some() {
            return Err(CodecError::parameter(
                "simple_packing",
                "sp_parameters_incomplete",
                "sp_reference_value and sp_binary_scale_factor go together; exactly one is given",
            ));
        }
    }
    if let Filter::Shuffle { shuffle_element_size: size } = &stages.filter
        && !(*size > 0 && stage_len.is_multiple_of(*size))
    {
        let message = format!("shuffle_element_size {size} does not divide the {stage_len} bytes to shuffle");
        return Err(CodecError::parameter("shuffle", "shuffle_element_size_mismatch", message));
    }
    check_compression(pipeline)?;
    // Let each codec check its own parameters; one that is not built in cannot.
    match pipeline.decompressor(pipeline.byte_order) {
        Err(error) if error.kind != CodecErrorKind::Unsupported => Err(error),
        _ => Ok(()),
    }
}

fn check_compression(pipeline: &Pipeline) -> Result<(), CodecError> {
    let Pipeline { stages, dtype, stage_len, .. } = pipeline;
    let name = stages.compression.name();
    match &stages.compression {
        Compression::Zfp(_) | Compression::Sz3 { .. } => {
            let plain = stages.encoding == Encoding::None && stages.filter == Filter::None;
            if *dtype != DType::Float64 || !plain {
                return Err(refused(format!(
                    "{name} takes float64 without encoding or filter, not {dtype} with encoding {} and filter {}",
                    stages.encoding.name(),
                    stages.filter.name()
                )));
            }
        }
        Compression::Rle | Compression::Roaring if *dtype != DType::Bitmask => {
            return Err(refused(format!("{name} takes bitmask, not {dtype}")));
        }
        Compression::Blosc2 { .. } if *dtype == DType::Bitmask || *stage_len == 0 => {
            return Err(refused(format!("blosc2 takes neither bitmask nor empty data ({dtype}, {stage_len} bytes)")));
        }
        Compression::Szip(_) => {
            sample_bits(pipeline)?;
        }
        _ => {}
    }
    Ok(())
}

/// Bits of a sample for `szip`.
pub(super) fn sample_bits(pipeline: &Pipeline) -> Result<u32, CodecError> {
    let Pipeline { stages, dtype, .. } = pipeline;
    match (&stages.encoding, &stages.filter) {
        (Encoding::SimplePacking(packing), _) => match packing.sp_bits_per_value {
            bits @ (8 | 16 | 24 | 32) => Ok(bits as u32),
            // Other widths are no whole bytes, and szip would see samples where there are none.
            bits => Err(refused(format!("szip takes packed values of 8, 16, 24 or 32 bits, not {bits}"))),
        },
        (Encoding::None, Filter::Shuffle { .. }) => Ok(8),
        (Encoding::None, Filter::None) => match dtype.bits() {
            bits @ (8 | 16 | 32) if *dtype != DType::Bitmask => Ok(bits as u32),
            bits => Err(refused(format!("szip takes samples of up to 32 bits, {dtype} has {bits} (shuffle helps)"))),
        },
    }
}

fn refused(message: String) -> CodecError {
    CodecError::misuse(NAME, "unsupported_combination", message)
}
