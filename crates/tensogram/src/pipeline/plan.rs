//! Which codecs a descriptor names, and whether this build has them.

use super::decode::unknown_stage;
use crate::describe::{DataObjectDescriptor, MaskKind};
use crate::error::Result;
use fw_tensor::DType;

/// Checks that the pipeline of a descriptor can be set up, without running it.
pub(crate) fn check_config(descriptor: &DataObjectDescriptor) -> Result<()> {
    if descriptor.is_raw() { Ok(()) } else { Err(unknown_stage(descriptor)) }
}

/// The first element that is not finite, in native byte order.
pub(crate) fn first_non_finite(dtype: DType, bytes: &[u8]) -> Option<(u64, MaskKind)> {
    let kind = |value: f64| match value {
        _ if value.is_nan() => Some(MaskKind::Nan),
        f64::INFINITY => Some(MaskKind::PosInf),
        f64::NEG_INFINITY => Some(MaskKind::NegInf),
        _ => None,
    };
    let (unit, per_element) = (dtype.swap_unit(), dtype.byte_width()? / dtype.swap_unit());
    if !dtype.has_non_finite() {
        return None;
    }
    bytes.chunks_exact(unit).enumerate().find_map(|(index, chunk)| {
        let value = match (dtype, chunk) {
            (DType::Float16, [a, b]) => half_value(u16::from_ne_bytes([*a, *b]), 5),
            (DType::BFloat16, [a, b]) => half_value(u16::from_ne_bytes([*a, *b]), 8),
            (_, chunk) => match (<[u8; 4]>::try_from(chunk), <[u8; 8]>::try_from(chunk)) {
                (Ok(single), _) => f64::from(f32::from_ne_bytes(single)),
                (_, Ok(double)) => f64::from_ne_bytes(double),
                _ => 0.0,
            },
        };
        Some(((index / per_element) as u64, kind(value)?))
    })
}

/// A 16-bit float as far as finiteness goes: NaN and infinities as they are, everything else zero.
fn half_value(bits: u16, exponent_bits: u32) -> f64 {
    let mantissa_bits = 15 - exponent_bits;
    let (mantissa, exponent) = (bits & ((1 << mantissa_bits) - 1), (bits & 0x7fff) >> mantissa_bits);
    match (exponent == (1 << exponent_bits) - 1, mantissa, bits >> 15) {
        (false, ..) => 0.0,
        (true, 0, 0) => f64::INFINITY,
        (true, 0, _) => f64::NEG_INFINITY,
        _ => f64::NAN,
    }
}
