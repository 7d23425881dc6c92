//! Elements as numbers, for printing.

use fw_tensor::DType;
use half::{bf16, f16};
use std::fmt;

/// One element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Bool(u8),
    Int(i128),
    Single(f32),
    Double(f64),
    ComplexSingle(f32, f32),
    Complex(f64, f64),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(0) => f.write_str("false"),
            Self::Bool(1) => f.write_str("true"),
            Self::Bool(other) => write!(f, "{other}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Single(value) => write!(f, "{value:?}"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::ComplexSingle(re, im) => write!(f, "{re:?}{im:+?}j"),
            Self::Complex(re, im) => write!(f, "{re:?}{im:+?}j"),
        }
    }
}

/// The elements of little-endian data, or `None` for bit masks. Floats below a byte are packed, the first element in the lowest
/// bits; the last byte may have room for more elements than there are.
pub(crate) fn scalars(dtype: DType, data: &[u8]) -> Option<impl Iterator<Item = Scalar> + '_> {
    let (bits, whole) = match dtype.byte_width() {
        Some(width) => (0, data.chunks_exact(width)),
        None if dtype == DType::Bitmask => return None,
        None => (dtype.bits() as usize, data.chunks_exact(1)),
    };
    let packed = (0..(data.len() * 8).checked_div(bits).unwrap_or(0)).map(move |place| {
        let at = place * bits;
        // An element of six bits lies in two bytes at most.
        let two = [data[at / 8], data.get(at / 8 + 1).copied().unwrap_or(0)];
        let element = (u16::from_le_bytes(two) >> (at % 8)) & ((1 << bits) - 1);
        scalar(dtype, &[element as u8])
    });
    let whole = whole.filter(move |_| bits == 0).map(move |bytes| scalar(dtype, bytes));
    Some(whole.chain(packed))
}

fn scalar(dtype: DType, bytes: &[u8]) -> Scalar {
    let mut wide = [0u8; 16];
    wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let raw = u128::from_le_bytes(wide);
    let (low, high) = (raw as u64, (raw >> 64) as u64);
    match dtype {
        DType::Bool => Scalar::Bool(low as u8),
        DType::Int8 => Scalar::Int((low as i8).into()),
        DType::Int16 => Scalar::Int((low as i16).into()),
        DType::Int32 => Scalar::Int((low as i32).into()),
        DType::Int64 => Scalar::Int((low as i64).into()),
        DType::Float16 => Scalar::Single(f16::from_bits(low as u16).to_f32()),
        DType::BFloat16 => Scalar::Single(bf16::from_bits(low as u16).to_f32()),
        DType::Float32 => Scalar::Single(f32::from_bits(low as u32)),
        DType::Float64 => Scalar::Double(f64::from_bits(low)),
        DType::Complex64 => Scalar::ComplexSingle(f32::from_bits(low as u32), f32::from_bits((low >> 32) as u32)),
        DType::Complex128 => Scalar::Complex(f64::from_bits(low), f64::from_bits(high)),
        // The upper half of an IEEE half.
        DType::Float8E5M2 => Scalar::Single(f16::from_bits((low as u16) << 8).to_f32()),
        DType::Float8E4M3 => {
            Scalar::Single(small_float(low as u8, Small { mantissa: 3, bias: 7, nan: |bits| bits & 0x7f == 0x7f }))
        }
        DType::Float8E4M3Fnuz => {
            Scalar::Single(small_float(low as u8, Small { mantissa: 3, bias: 8, nan: |bits| bits == 0x80 }))
        }
        DType::Float8E5M2Fnuz => {
            Scalar::Single(small_float(low as u8, Small { mantissa: 2, bias: 16, nan: |bits| bits == 0x80 }))
        }
        DType::Float8E8M0 => match low as u8 {
            255 => Scalar::Single(f32::NAN),
            exponent => Scalar::Single(f32::powi(2.0, i32::from(exponent) - 127)),
        },
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => Scalar::Int(low.into()),
        DType::Float6E2M3 => Scalar::Single(minifloat(low as u8, 6, Small { mantissa: 3, bias: 1, nan: |_| false })),
        DType::Float6E3M2 => Scalar::Single(minifloat(low as u8, 6, Small { mantissa: 2, bias: 3, nan: |_| false })),
        DType::Float4 => Scalar::Single(minifloat(low as u8, 4, Small { mantissa: 1, bias: 1, nan: |_| false })),
        // `scalars` has none of them.
        DType::Bitmask => Scalar::Int(low.into()),
    }
}

struct Small {
    mantissa: u32,
    bias: i32,
    nan: fn(u8) -> bool,
}

/// A float of so many bits: its sign becomes that of a byte.
fn minifloat(value: u8, bits: u32, kind: Small) -> f32 {
    let sign = 1u8 << (bits - 1);
    small_float((value & (sign - 1)) | if value & sign == 0 { 0 } else { 0x80 }, kind)
}

fn small_float(bits: u8, kind: Small) -> f32 {
    if (kind.nan)(bits) {
        return f32::NAN;
    }
    let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
    let fraction = f32::from(bits & ((1 << kind.mantissa) - 1)) / f32::from(1u8 << kind.mantissa);
    let exponent = i32::from((bits & 0x7f) >> kind.mantissa);
    match exponent {
        0 => sign * fraction * f32::powi(2.0, 1 - kind.bias),
        _ => sign * (1.0 + fraction) * f32::powi(2.0, exponent - kind.bias),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(dtype: DType, bytes: &[u8]) -> Scalar {
        scalars(dtype, bytes).unwrap().next().unwrap()
    }

    #[test]
    fn small_floats_have_their_known_values() {
        let single = |value: f32| Scalar::Single(value);
        assert_eq!(one(DType::Float8E4M3, &[0x38]), single(1.0));
        assert_eq!(one(DType::Float8E4M3, &[0x7e]), single(448.0));
        assert_eq!(one(DType::Float8E4M3, &[0x01]), single(f32::powi(2.0, -9)));
        assert_eq!(one(DType::Float8E5M2, &[0x3c]), single(1.0));
        assert_eq!(one(DType::Float8E5M2, &[0x7b]), single(57344.0));
        assert_eq!(one(DType::Float8E5M2, &[0xfc]), single(f32::NEG_INFINITY));
        assert_eq!(one(DType::Float8E4M3Fnuz, &[0x40]), single(1.0));
        assert_eq!(one(DType::Float8E4M3Fnuz, &[0x7f]), single(240.0));
        assert_eq!(one(DType::Float8E5M2Fnuz, &[0x40]), single(1.0));
        assert_eq!(one(DType::Float8E5M2Fnuz, &[0x7f]), single(57344.0));
        assert_eq!(one(DType::Float8E8M0, &[127]), single(1.0));
        assert!(matches!(one(DType::Float8E4M3Fnuz, &[0x80]), Scalar::Single(nan) if nan.is_nan()));
        assert_eq!(one(DType::BFloat16, &[0x80, 0xbf]), single(-1.0));
    }

    #[test]
    fn numbers_are_shown_exactly() {
        assert_eq!(one(DType::UInt64, &[255; 8]).to_string(), u64::MAX.to_string());
        assert_eq!(one(DType::Int64, &i64::MIN.to_le_bytes()).to_string(), i64::MIN.to_string());
        assert_eq!(Scalar::ComplexSingle(1.5, -2.0).to_string(), "1.5-2.0j");
        assert!(scalars(DType::Bitmask, &[0]).is_none());
    }

    /// The tables of the OCP formats for microscaling, and elements that lie across bytes.
    #[test]
    fn floats_below_a_byte() {
        let floats = |dtype: DType, data: &[u8]| -> Vec<f32> {
            let single = |value| match value {
                Scalar::Single(value) => value,
                other => panic!("{other:?}"),
            };
            scalars(dtype, data).unwrap().map(single).collect()
        };
        let every: Vec<u8> = (0..8).map(|pair| (pair * 2) | (pair * 2 + 1) << 4).collect();
        let half = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        let both: Vec<f32> = half.into_iter().chain(half.map(|value| -value)).collect();
        assert_eq!(floats(DType::Float4, &every), both);
        // 1, 2, 3 and 63 of six bits each.
        let packed = (1u32 | 2 << 6 | 3 << 12 | 63 << 18).to_le_bytes();
        assert_eq!(floats(DType::Float6E2M3, &packed[..3]), [0.125, 0.25, 0.375, -7.5]);
        assert_eq!(floats(DType::Float6E3M2, &packed[..3]), [0.0625, 0.125, 0.1875, -28.0]);
        assert_eq!(
            floats(DType::Float8E8M0, &[0, 1, 254]),
            [f32::from_bits(1 << 22), f32::MIN_POSITIVE, f32::powi(2.0, 127)]
        );
    }
}
