//! Values to canonical bytes (TG-5.1): definite lengths, shortest heads, narrowest floats, keys in bytewise order of
//! their encoding.

use super::Value;
use super::read::{widen_half, widen_single};
use std::collections::BTreeMap;

/// The canonical encoding of a value.
pub fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(&mut out, value);
    out
}

/// The canonical encoding of a map with text keys.
pub fn encode_text_map(map: &BTreeMap<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    write_map_head(&mut out, map.len());
    let mut keys: Vec<&String> = map.keys().collect();
    // A text key's head carries its length, so the bytewise order of encodings is: shorter first, then bytewise.
    keys.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes())));
    for key in keys {
        write_text(&mut out, key);
        if let Some(value) = map.get(key) {
            write_value(&mut out, value);
        }
    }
    out
}

/// Appends a value.
pub fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(0xf6),
        Value::Bool(false) => out.push(0xf4),
        Value::Bool(true) => out.push(0xf5),
        Value::Integer(number) => write_integer(out, *number),
        Value::Float(number) => write_float(out, *number),
        Value::Text(text) => write_text(out, text),
        Value::Bytes(bytes) => {
            write_head(out, 2, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        Value::Array(items) => {
            write_array_head(out, items.len());
            items.iter().for_each(|item| write_value(out, item));
        }
        Value::Map(entries) => write_map(out, entries),
        Value::Tag(tag, inner) => {
            write_head(out, 6, *tag);
            write_value(out, inner);
        }
    }
}

/// Appends an unsigned integer.
pub fn write_unsigned(out: &mut Vec<u8>, number: u64) {
    write_head(out, 0, number);
}

/// Appends text.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    write_head(out, 3, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Appends the head of a list of `count` items.
pub fn write_array_head(out: &mut Vec<u8>, count: usize) {
    write_head(out, 4, count as u64);
}

/// Appends the head of a map of `count` entries.
pub fn write_map_head(out: &mut Vec<u8>, count: usize) {
    write_head(out, 5, count as u64);
}

fn write_map(out: &mut Vec<u8>, entries: &[(Value, Value)]) {
    let mut encoded: Vec<(Vec<u8>, &Value)> = entries.iter().map(|(key, value)| (encode(key), value)).collect();
    encoded.sort_by(|(a, _), (b, _)| a.cmp(b));
    // The last of equal keys wins, as on reading.
    encoded.reverse();
    encoded.dedup_by(|(a, _), (b, _)| a == b);
    encoded.reverse();
    write_map_head(out, encoded.len());
    for (key, value) in encoded {
        out.extend_from_slice(&key);
        write_value(out, value);
    }
}

/// Integers beyond what CBOR heads can hold are clamped; the value model never reads such.
fn write_integer(out: &mut Vec<u8>, number: i128) {
    if number >= 0 {
        write_head(out, 0, u64::try_from(number).unwrap_or(u64::MAX));
    } else {
        write_head(out, 1, u64::try_from(-1 - number).unwrap_or(u64::MAX));
    }
}

fn write_head(out: &mut Vec<u8>, major: u8, number: u64) {
    let major = major << 5;
    match number {
        0..24 => out.push(major | number as u8),
        24..0x100 => out.extend_from_slice(&[major | 24, number as u8]),
        0x100..0x1_0000 => {
            out.push(major | 25);
            out.extend_from_slice(&(number as u16).to_be_bytes());
        }
        0x1_0000..0x1_0000_0000 => {
            out.push(major | 26);
            out.extend_from_slice(&(number as u32).to_be_bytes());
        }
        _ => {
            out.push(major | 27);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

fn write_float(out: &mut Vec<u8>, number: f64) {
    if let Some(half) = narrow_half(number) {
        out.push(0xf9);
        out.extend_from_slice(&half.to_be_bytes());
    } else if let Some(single) = narrow_single(number) {
        out.push(0xfa);
        out.extend_from_slice(&single.to_be_bytes());
    } else {
        out.push(0xfb);
        out.extend_from_slice(&number.to_be_bytes());
    }
}

/// The single with the identical value, NaN payloads included.
fn narrow_single(number: f64) -> Option<u32> {
    let bits = number.to_bits();
    let single = if number.is_nan() {
        ((bits >> 63) as u32) << 31 | 0x7f80_0000 | ((bits >> 29) & 0x007f_ffff) as u32
    } else {
        (number as f32).to_bits()
    };
    (widen_single(single).to_bits() == bits).then_some(single)
}

/// The half with the identical value, NaN payloads included.
fn narrow_half(number: f64) -> Option<u16> {
    let bits = number.to_bits();
    let sign = ((bits >> 63) as u16) << 15;
    let half = match ((bits >> 52) & 0x7ff) as i32 {
        0x7ff => sign | 0x7c00 | ((bits >> 42) & 0x3ff) as u16,
        exponent if exponent > 1023 - 15 && exponent <= 1023 + 15 => {
            sign | ((exponent - 1023 + 15) as u16) << 10 | ((bits >> 42) & 0x3ff) as u16
        }
        // Candidates among the subnormal halves: whole multiples of 2^-24; the test below refuses the inexact ones.
        exponent if exponent <= 1023 - 15 => sign | (number.abs() * 2f64.powi(24)).min(1023.0) as u16,
        _ => return None,
    };
    (widen_half(half).to_bits() == bits).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::cbor::read_value;

    fn hex(value: &Value) -> String {
        encode(value).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn floats_take_the_narrowest_exact_form() {
        for (number, expected) in [
            (1.0, "f93c00"),
            (-0.0, "f98000"),
            (65504.0, "f97bff"),
            (65505.0, "fa477fe100"),
            (0.1, "fb3fb999999999999a"),
            (f64::NAN, "f97e00"),
            (f64::INFINITY, "f97c00"),
            (f64::NEG_INFINITY, "f9fc00"),
            (2f64.powi(-24), "f90001"),
            (2f64.powi(-14), "f90400"),
            (f64::from_bits(0x7ff8_0000_0000_0001), "fb7ff8000000000001"),
            (f64::from_bits(0x7ff8_0000_2000_0000), "fa7fc00001"),
        ] {
            assert_eq!(hex(&Value::Float(number)), expected, "{number}");
            let back = read_value(&encode(&Value::Float(number)), 0, 1).unwrap();
            assert!(matches!(back, Value::Float(read) if read.to_bits() == number.to_bits()));
        }
    }

    #[test]
    fn every_half_survives() {
        for bits in 0..=u16::MAX {
            let number = widen_half(bits);
            assert_eq!(narrow_half(number), Some(bits), "{bits:04x}");
            let plain = half_reference(bits);
            assert!(number.to_bits() == plain.to_bits() || (number.is_nan() && plain.is_nan()));
        }
    }

    fn half_reference(bits: u16) -> f64 {
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let (exponent, mantissa) = ((bits >> 10) & 31, f64::from(bits & 1023));
        match exponent {
            31 if mantissa == 0.0 => sign * f64::INFINITY,
            31 => f64::NAN,
            0 => sign * mantissa / 16_777_216.0,
            _ => sign * (1.0 + mantissa / 1024.0) * 2f64.powi(i32::from(exponent) - 15),
        }
    }

    #[test]
    fn keys_sort_by_their_encoding() {
        let map = Value::Map(vec![
            (Value::from("encoder"), Value::Null),
            (Value::from(-1), Value::Null),
            (Value::from("uuid"), Value::Null),
            (Value::from(100), Value::Null),
            (Value::from("time"), Value::Null),
        ]);
        assert_eq!(hex(&map), "a51864f620f66474696d65f66475756964f667656e636f646572f6");
    }
}
