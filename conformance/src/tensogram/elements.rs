//! Decoded bytes against the element values that a manifest lists.

use fw_tensor::DType;
use half::{bf16, f16};
use serde_json::Value as Json;

/// Says in what element `bytes` (little-endian) and the listed values differ.
///
/// # Errors
/// The first difference, in words.
pub fn compare(dtype: DType, bytes: &[u8], values: &[Json]) -> Result<(), String> {
    // Bitmasks are listed as the bytes that hold the bits.
    let dtype = if dtype == DType::Bitmask { DType::UInt8 } else { dtype };
    if values.len() * (dtype.bits() / 8) as usize != bytes.len() {
        return Err(format!("{} values listed for {} bytes", values.len(), bytes.len()));
    }
    for (index, value) in values.iter().enumerate() {
        if !element_equals(dtype, bytes, index, value) {
            return Err(format!("element {index} is not {value}"));
        }
    }
    Ok(())
}

fn element_equals(dtype: DType, bytes: &[u8], index: usize, value: &Json) -> bool {
    let width = (dtype.bits() / 8) as usize;
    let element = &bytes[index * width..][..width];
    match dtype {
        DType::Complex64 | DType::Complex128 => {
            let part = if dtype == DType::Complex64 { DType::Float32 } else { DType::Float64 };
            let (real, imaginary) = element.split_at(width / 2);
            matches!(value.as_array().map(Vec::as_slice), Some([first, second])
                if element_equals(part, real, 0, first) && element_equals(part, imaginary, 0, second))
        }
        DType::Bool => value.as_bool() == Some(element[0] != 0),
        DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64 | DType::Float8E4M3 | DType::Float8E5M2 => {
            float(value).is_some_and(|expected| float_equals(dtype, element, expected))
        }
        _ => {
            let mut wide = [0; 16];
            wide[..width].copy_from_slice(element);
            let signed = dtype.name().starts_with("int");
            let shift = 128 - 8 * width as u32;
            let raw = u128::from_le_bytes(wide) << shift;
            let found = if signed { raw.cast_signed() >> shift } else { (raw >> shift).cast_signed() };
            integer(value) == Some(found)
        }
    }
}

/// Compares in the element's own width: manifests may list the shortest text that gives the element back.
fn float_equals(dtype: DType, element: &[u8], expected: f64) -> bool {
    let same = |found: f64, expected: f64| found == expected || (found.is_nan() && expected.is_nan());
    match (dtype, element) {
        (DType::Float16, &[a, b]) => same(f16::from_le_bytes([a, b]).to_f64(), f16::from_f64(expected).to_f64()),
        (DType::BFloat16, &[a, b]) => same(bf16::from_le_bytes([a, b]).to_f64(), bf16::from_f64(expected).to_f64()),
        // The upper half of a half.
        (DType::Float8E5M2, &[a]) => same(f16::from_le_bytes([0, a]).to_f64(), expected),
        (DType::Float8E4M3, &[a]) => same(float8_e4m3(a), expected),
        (DType::Float32, &[a, b, c, d]) => same(f32::from_le_bytes([a, b, c, d]).into(), f64::from(expected as f32)),
        _ => element.try_into().is_ok_and(|bytes| same(f64::from_le_bytes(bytes), expected)),
    }
}

/// Four bits of exponent, three of mantissa, no infinities, one NaN of each sign.
fn float8_e4m3(byte: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(byte >> 3 & 15), f64::from(byte & 7));
    let magnitude = match (exponent, byte & 7) {
        (15, 7) => f64::NAN,
        (0, _) => mantissa / 8.0 * 2_f64.powi(-6),
        _ => (1.0 + mantissa / 8.0) * 2_f64.powi(exponent - 7),
    };
    if byte & 0x80 == 0 { magnitude } else { -magnitude }
}

fn float(value: &Json) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn integer(value: &Json) -> Option<i128> {
    super::json::integer(value).or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_of_every_kind() {
        let equal = |dtype, bytes: &[u8], values| compare(dtype, bytes, &[values]).is_ok();
        assert!(equal(DType::Int16, &[0xff, 0xff], json!(-1)));
        assert!(equal(DType::UInt16, &[0xff, 0xff], json!(65535)));
        assert!(equal(DType::UInt64, &[0xff; 8], json!("18446744073709551615")));
        assert!(equal(DType::Int64, &[0xff; 8], json!("-1")));
        assert!(equal(DType::Float32, &0.1_f32.to_le_bytes(), json!(0.1)));
        assert!(equal(DType::Float32, &f32::NAN.to_le_bytes(), json!("NaN")));
        assert!(equal(DType::Float64, &f64::NEG_INFINITY.to_le_bytes(), json!("-Infinity")));
        assert!(equal(DType::Float16, &[0x00, 0x3c], json!(1.0)));
        assert!(equal(DType::BFloat16, &[0x80, 0x3f], json!(1.0)));
        assert!(equal(DType::Complex64, &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40], json!([1.0, 2.0])));
        assert!(equal(DType::Float8E4M3, &[0xc0], json!(-2.0)));
        assert!(equal(DType::Float8E4M3, &[0x7e], json!(448.0)));
        assert!(equal(DType::Float8E5M2, &[0xb4], json!(-0.25)));
        assert!(equal(DType::Bool, &[1], json!(true)));
        assert!(!equal(DType::Int16, &[0, 1], json!(1)));
        assert!(equal(DType::Bitmask, &[0b1010_0000], json!(160)));
        assert!(compare(DType::UInt8, &[1, 2], &[json!(1)]).is_err());
    }
}
