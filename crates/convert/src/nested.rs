//! Elements as nested lists of JSON.

use crate::ConvertError;
use crate::value::{Scalar, scalars};
use fw_tensor::DType;
use std::io::Write;

/// Writes an object with `dtype`, `shape` and `values`: lists nested as the shape says, complex numbers as `[re, im]`, and
/// `"NaN"`, `"Infinity"` and `"-Infinity"` for what JSON has no numbers for. A tensor without elements has the values `[]`.
pub(crate) fn write(dtype: DType, shape: &[u64], data: &[u8], out: &mut dyn Write) -> Result<(), ConvertError> {
    let Some(values) = scalars(dtype, data) else {
        let message = format!("{dtype} elements have no numbers to write: only the raw bytes can be written");
        return Err(ConvertError::unsupported("no_text", message));
    };
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    write!(out, "{{\"dtype\":\"{dtype}\",\"shape\":[{}],\"values\":", sizes.join(","))?;
    // After how many elements the lists of each axis end, the innermost first. More than there are elements never matters.
    let mut ends = Vec::with_capacity(shape.len());
    let mut len = 1u64;
    for size in shape.iter().rev() {
        len = len.saturating_mul(*size);
        ends.push(len);
    }
    let lists_at = |place: u64| ends.iter().take_while(|end| **end > 0 && place.is_multiple_of(**end)).count();
    if len == 0 {
        out.write_all(b"[]")?;
    } else {
        for (place, value) in values.take(usize::try_from(len).unwrap_or(usize::MAX)).enumerate() {
            let place = place as u64;
            if place > 0 {
                out.write_all(b",")?;
            }
            out.write_all("[".repeat(lists_at(place)).as_bytes())?;
            scalar(value, out)?;
            out.write_all("]".repeat(lists_at(place.saturating_add(1))).as_bytes())?;
        }
    }
    Ok(out.write_all(b"}")?)
}

fn scalar(value: Scalar, out: &mut dyn Write) -> std::io::Result<()> {
    match value {
        Scalar::Bool(_) | Scalar::Int(_) => write!(out, "{value}"),
        Scalar::Single(value) if value.is_finite() => write!(out, "{value:?}"),
        Scalar::Single(value) => float(value.into(), out),
        Scalar::Double(value) => float(value, out),
        Scalar::ComplexSingle(re, im) => {
            out.write_all(b"[")?;
            scalar(Scalar::Single(re), out)?;
            out.write_all(b",")?;
            scalar(Scalar::Single(im), out)?;
            out.write_all(b"]")
        }
        Scalar::Complex(re, im) => {
            out.write_all(b"[")?;
            float(re, out)?;
            out.write_all(b",")?;
            float(im, out)?;
            out.write_all(b"]")
        }
    }
}

fn float(value: f64, out: &mut dyn Write) -> std::io::Result<()> {
    match value {
        value if value.is_finite() => write!(out, "{value:?}"),
        value if value.is_nan() => out.write_all(b"\"NaN\""),
        value if value > 0.0 => out.write_all(b"\"Infinity\""),
        _ => out.write_all(b"\"-Infinity\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(dtype: DType, shape: &[u64], data: &[u8]) -> String {
        let mut out = Vec::new();
        write(dtype, shape, data, &mut out).unwrap();
        serde_json::from_slice::<serde_json::Value>(&out).unwrap_or_else(|error| panic!("{error}: {out:?}"));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lists_nest_as_the_shape_says() {
        let values = |shape: &[u64], count: u8| {
            let text = json(DType::UInt8, shape, &(0..count).collect::<Vec<_>>());
            text.split_once("\"values\":").unwrap().1.trim_end_matches('}').to_owned()
        };
        assert_eq!(values(&[], 1), "0");
        assert_eq!(values(&[3], 3), "[0,1,2]");
        assert_eq!(values(&[2, 3], 6), "[[0,1,2],[3,4,5]]");
        assert_eq!(values(&[2, 1, 2], 4), "[[[0,1]],[[2,3]]]");
        assert_eq!(values(&[1, 1], 1), "[[0]]");
        assert_eq!(values(&[u64::MAX, 0], 0), "[]");
        assert_eq!(json(DType::UInt8, &[2], &[7, 8]), r#"{"dtype":"uint8","shape":[2],"values":[7,8]}"#);
    }

    #[test]
    fn what_json_has_no_number_for_is_text() {
        let floats: Vec<u8> = [1.5f32, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-30]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let text = json(DType::Float32, &[6], &floats);
        assert!(text.ends_with(r#"[1.5,-0.0,"NaN","Infinity","-Infinity",1e-30]}"#), "{text}");
        let complex: Vec<u8> = [1.0f64, f64::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert!(json(DType::Complex128, &[1], &complex).ends_with(r#"[[1.0,"NaN"]]}"#));
        assert!(json(DType::UInt64, &[1], &u64::MAX.to_le_bytes()).ends_with("[18446744073709551615]}"));
        assert!(json(DType::Bool, &[2], &[0, 1]).ends_with("[false,true]}"));
    }
}
