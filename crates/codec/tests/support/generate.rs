//! Inputs as the manifest describes them.

use fw_tensor::{ByteOrder, DType, swap_in_place};
use serde_json::Value;

/// The raw bytes of a case.
pub(crate) fn input(spec: &Value, dtype: DType, order: ByteOrder) -> Vec<u8> {
    let mut bytes = if let Some(text) = spec["hex"].as_str() {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    } else {
        serialise(spec, dtype)
    };
    for change in spec["inject"].as_array().into_iter().flatten() {
        inject(change, dtype, &mut bytes);
    }
    if order == ByteOrder::Big {
        swap_in_place(&mut bytes, dtype.swap_unit());
    }
    bytes
}

fn serialise(spec: &Value, dtype: DType) -> Vec<u8> {
    let scale = 0.5f64.powi(spec["shift"].as_i64().unwrap_or(0) as i32);
    let seed = spec["seed"].as_u64().unwrap_or(0);
    let values = numbers(spec, seed);
    if dtype == DType::Bitmask {
        let mut bytes = vec![0u8; values.len().div_ceil(8)];
        for (i, value) in values.iter().enumerate() {
            if *value != 0.0 {
                bytes[i / 8] |= 0x80 >> (i % 8);
            }
        }
        return bytes;
    }
    let imaginary = match dtype {
        DType::Complex64 | DType::Complex128 => numbers(spec, seed + 1),
        _ => Vec::new(),
    };
    let mut bytes = Vec::new();
    for (i, value) in values.iter().enumerate() {
        scalar(*value * scale, *value, dtype, &mut bytes);
        if let Some(value) = imaginary.get(i) {
            scalar(*value * scale, *value, dtype, &mut bytes);
        }
    }
    bytes
}

fn scalar(float: f64, integer: f64, dtype: DType, bytes: &mut Vec<u8>) {
    match dtype {
        DType::Float16 => bytes.extend(half::f16::from_f64(float).to_le_bytes()),
        DType::BFloat16 => bytes.extend(half::bf16::from_f64(float).to_le_bytes()),
        DType::Float32 | DType::Complex64 => bytes.extend((float as f32).to_le_bytes()),
        DType::Float64 | DType::Complex128 => bytes.extend(float.to_le_bytes()),
        _ => bytes.extend(&(integer as i128).to_le_bytes()[..dtype.byte_width().unwrap()]),
    }
}

/// Integers are exact in the doubles used here, except lists of 64-bit ones, which the vectors do not have.
fn numbers(spec: &Value, seed: u64) -> Vec<f64> {
    let n = spec["n"].as_u64().unwrap_or(0) as usize;
    let number = |key: &str| spec[key].as_f64().unwrap_or(0.0);
    let modulo = |value: u64, key: &str| (value % spec[key].as_u64().unwrap()) as f64;
    let mut random = SplitMix(seed);
    match spec["gen"].as_str().expect("a generator") {
        "walk" => {
            let step = spec["step"].as_u64().unwrap();
            let mut value = number("base");
            (0..n)
                .map(|_| {
                    value += (random.next() % (2 * step + 1)) as f64 - step as f64;
                    value
                })
                .collect()
        }
        "noise" => (0..n).map(|_| number("base") + modulo(random.next(), "mod")).collect(),
        "seq" => (0..n).map(|i| number("base") + i as f64 * number("inc")).collect(),
        "const" => vec![number("value"); n],
        "sparse" => (0..n).map(|_| if modulo(random.next(), "every") == 0.0 { number("value") } else { 0.0 }).collect(),
        "runs" => {
            let mut values = Vec::new();
            while values.len() < n {
                let len = 1 + (random.next() % spec["maxrun"].as_u64().unwrap()) as usize;
                let value = modulo(random.next(), "mod");
                values.extend(std::iter::repeat_n(value, len));
            }
            values.truncate(n);
            values
        }
        "list" => spec["values"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect(),
        other => panic!("generator {other}"),
    }
}

fn inject(change: &Value, dtype: DType, bytes: &mut [u8]) {
    let (width, unit) = (dtype.byte_width().unwrap(), dtype.swap_unit());
    let exponent: u64 = match dtype {
        DType::Float16 => 0x7c00,
        DType::BFloat16 => 0x7f80,
        DType::Float32 | DType::Complex64 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    };
    let sign = 1u64 << (unit * 8 - 1);
    let quiet = (exponent & exponent.wrapping_neg()) >> 1;
    let bits = match change["bits"].as_str().map(|text| u64::from_str_radix(text, 16).unwrap()) {
        Some(bits) => bits,
        None => match change["kind"].as_str().unwrap() {
            "nan" => exponent | quiet,
            "inf+" => exponent,
            "inf-" => exponent | sign,
            other => panic!("kind {other}"),
        },
    };
    let number = |key: &str| change[key].as_u64().map(|value| value as usize);
    let count = bytes.len() / width;
    let (start, stop) = (number("start").unwrap_or(0), number("stop").unwrap_or(count).min(count));
    for index in (start..stop).step_by(number("step").unwrap_or(1)) {
        for part in 0..width / unit {
            if change["component"].as_str().is_none_or(|wanted| wanted == ["real", "imag"][part]) {
                bytes[index * width + part * unit..][..unit].copy_from_slice(&bits.to_le_bytes()[..unit]);
            }
        }
    }
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}
