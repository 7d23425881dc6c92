//! The `sz3` codec against payloads of the reference, round trips, and damaged payloads.
#![cfg(feature = "sz3")]

use fw_codec::{
    Codec,
    sz3::{Sz3, Sz3Bound},
};
use fw_tensor::ByteOrder;
use serde_json::Value;
use std::{fs, path::PathBuf};

const LITTLE: ByteOrder = ByteOrder::Little;

struct Case {
    id: String,
    payload: Vec<u8>,
    decoded_len: usize,
    /// Mode, bound and the doubles that the reference decodes, for payloads that are whole.
    expected: Option<(Sz3Bound, Vec<u8>)>,
    /// How the values were made that the reference encoded.
    input: Value,
}

fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/sz3");
    let index: Value = serde_json::from_slice(&fs::read(folder.join("index.json")).unwrap()).unwrap();
    let read = |case: &Value| {
        let id = case["id"].as_str().unwrap().to_owned();
        let payload = fs::read(folder.join(format!("{id}.payload"))).unwrap();
        let decoded_len = case["decoded_len"].as_u64().unwrap() as usize;
        let expected = (case["expect"] == "data").then(|| {
            let bound = Sz3Bound::from_name(case["mode"].as_str().unwrap(), case["bound"].as_f64().unwrap()).unwrap();
            let packed = fs::read(folder.join(format!("{id}.decoded.zst"))).unwrap();
            let mut decoded = Vec::with_capacity(decoded_len);
            zstd_safe::decompress(&mut decoded, &packed).unwrap();
            (bound, decoded)
        });
        Case { id, payload, decoded_len, expected, input: case["input"].clone() }
    };
    index["cases"].as_array().unwrap().iter().map(read).collect()
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn values(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
}

#[test]
fn payloads_of_the_reference_decode_bit_for_bit() {
    let mut count = 0;
    for case in cases() {
        let Some((_, expected)) = case.expected else { continue };
        let mut out = vec![0xAA; case.decoded_len];
        Sz3::reader(LITTLE)
            .decode_into(&case.payload, 0, &mut out)
            .unwrap_or_else(|error| panic!("{}: {error}", case.id));
        assert!(out == expected, "{}", case.id);
        count += 1;
    }
    assert_eq!(count, 22);
}

#[test]
fn big_endian_output_is_the_same_values_turned_around() {
    for case in cases() {
        let Some((_, expected)) = case.expected else { continue };
        let mut out = vec![0; case.decoded_len];
        Sz3::reader(ByteOrder::Big).decode_into(&case.payload, 0, &mut out).unwrap();
        assert!(out.chunks(8).zip(expected.chunks(8)).all(|(a, b)| a.iter().eq(b.iter().rev())), "{}", case.id);
    }
}

#[test]
fn decoding_into_unaligned_memory_gives_the_same() {
    for case in cases() {
        let Some((_, expected)) = case.expected else { continue };
        for offset in 1..8 {
            let mut out = vec![0; case.decoded_len + 8];
            let target = &mut out[offset..offset + case.decoded_len];
            Sz3::reader(LITTLE).decode_into(&case.payload, 0, target).unwrap();
            assert!(target == expected, "{} at offset {offset}", case.id);
        }
    }
}

#[test]
fn damaged_payloads_are_errors() {
    let mut count = 0;
    for case in cases().into_iter().filter(|case| case.expected.is_none()) {
        let mut out = vec![0; case.decoded_len];
        let error = Sz3::reader(LITTLE).decode_into(&case.payload, 0, &mut out).expect_err(&case.id);
        assert_eq!(error.codec, "sz3");
        count += 1;
    }
    assert_eq!(count, 12);
}

#[test]
fn every_other_expected_length_is_an_error() {
    for case in cases() {
        let Some(_) = case.expected else { continue };
        for len in [0, 8, case.decoded_len - 8, case.decoded_len + 8, case.decoded_len - 1] {
            if len != case.decoded_len {
                Sz3::reader(LITTLE).decode_into(&case.payload, 0, &mut vec![0; len]).unwrap_err();
            }
        }
    }
}

#[test]
fn the_same_inputs_are_encoded_as_small_as_the_reference_does() {
    for case in cases() {
        let Some((bound, _)) = case.expected else { continue };
        let reference_len = case.payload.len();
        let len = round_trip(&original(&case.input), bound, &case.id);
        assert!(
            len as f64 <= 1.05 * reference_len as f64 + 16.0,
            "{}: {len} bytes, reference {reference_len}",
            case.id
        );
    }
}

/// The input of a case, from its description.
fn original(input: &Value) -> Vec<f64> {
    let number = |name: &str| input[name].as_i64().unwrap_or(0);
    let mut state = number("seed") as u64;
    let mut random = move |below: i64| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % below as u64) as i64
    };
    let count = number("n") as usize;
    let mut values: Vec<i64> = Vec::new();
    let mut sum = number("base");
    while values.len() < count {
        match input["gen"].as_str().unwrap() {
            "walk" => {
                sum += random(2 * number("step") + 1) - number("step");
                values.push(sum);
            }
            "noise" => values.push(number("base") + random(number("mod"))),
            "seq" => values.push(number("base") + values.len() as i64 * number("inc")),
            "const" => values.push(number("value")),
            "runs" => {
                let len = 1 + random(number("maxrun"));
                let value = random(number("mod"));
                values.extend((0..len).map(|_| value));
            }
            other => panic!("unknown generator {other}"),
        }
    }
    let scale = (-number("shift") as f64).exp2();
    values.iter().take(count).map(|value| *value as f64 * scale).collect()
}

#[test]
fn all_lengths_kinds_and_modes_round_trip() {
    let lengths = (1..140).chain([255, 256, 257, 1023, 1025, 4095, 4096, 4097, 4128, 4129, 8193, 20_000]);
    for len in lengths {
        for (name, data) in kinds(len) {
            for bound in [
                Sz3Bound::Abs(0.0),
                Sz3Bound::Abs(1e-12),
                Sz3Bound::Abs(0.01),
                Sz3Bound::Rel(1e-4),
                Sz3Bound::Psnr(60.0),
                Sz3Bound::Psnr(-1e6),
                Sz3Bound::Abs(1e300),
                Sz3Bound::Abs(5e-324),
            ] {
                if len <= 300 || bound == Sz3Bound::Abs(0.01) {
                    round_trip(&data, bound, &format!("{name} of {len}, {bound:?}"));
                }
            }
        }
    }
}

#[test]
fn smooth_data_shrinks_a_lot() {
    let data: Vec<f64> = (0..100_000).map(|i| (f64::from(i) / 300.0).sin() * 20.0).collect();
    let len = round_trip(&data, Sz3Bound::Abs(0.01), "sine");
    assert!(len < 800_000 / 100, "{len} bytes");
}

#[test]
fn values_that_are_not_finite_are_kept_exactly() {
    let mut data: Vec<f64> = (0..5000).map(|i| (f64::from(i) / 50.0).sin()).collect();
    for (index, value) in [(0, f64::NAN), (77, f64::INFINITY), (4096, f64::NEG_INFINITY), (4999, f64::NAN), (500, -0.0)]
    {
        data[index] = value;
    }
    for bound in [Sz3Bound::Abs(0.01), Sz3Bound::Rel(0.001), Sz3Bound::Psnr(50.0)] {
        round_trip(&data, bound, "with gaps");
    }
    round_trip(&[f64::NAN; 100], Sz3Bound::Rel(0.1), "nothing finite");
}

#[test]
fn no_values_are_no_bytes() {
    let codec = Sz3::new(Sz3Bound::Abs(0.1), LITTLE).unwrap();
    let mut out = Vec::new();
    codec.encode(&[], 0, &mut out).unwrap();
    assert!(out.is_empty());
    codec.decode_into(&[], 0, &mut []).unwrap();
    codec.decode_into(&[1], 0, &mut []).unwrap_err();
    assert_eq!(codec.decode_into(&[], 0, &mut [0; 8]).unwrap_err().code, "truncated");
}

#[test]
fn misuse_is_refused_clearly() {
    let codec = Sz3::new(Sz3Bound::Abs(0.1), LITTLE).unwrap();
    assert_eq!(codec.encode(&[0; 12], 0, &mut Vec::new()).unwrap_err().code, "not_doubles");
    assert_eq!(codec.decode_into(&[], 0, &mut [0; 12]).unwrap_err().code, "not_doubles");
    assert_eq!(Sz3::reader(LITTLE).encode(&[0; 8], 0, &mut Vec::new()).unwrap_err().code, "no_error_bound");
    assert_eq!(Sz3::new(Sz3Bound::Abs(-0.1), LITTLE).unwrap_err().code, "bad_error_bound");
}

#[test]
fn ranges_are_parts_of_the_whole() {
    let data = &kinds(3000)[0].1;
    let codec = Sz3::new(Sz3Bound::Abs(0.01), LITTLE).unwrap();
    let mut encoded = Vec::new();
    codec.encode(&bytes(data), 0, &mut encoded).unwrap();
    let mut whole = vec![0; 24_000];
    codec.decode_into(&encoded, 0, &mut whole).unwrap();
    let mut part = vec![0; 800];
    codec.decode_range_into(fw_codec::Window::whole(&encoded), 24_000, 1600, 0, &mut part).unwrap();
    assert_eq!(part, whole[1600..2400]);
    assert_eq!(codec.reach(), fw_codec::Reach::Whole);
    codec.decode_range_into(fw_codec::Window::whole(&encoded), 24_000, 23_400, 0, &mut part).unwrap_err();
}

/// Encodes in both byte orders, decodes, holds every value against the bound; returns the encoded length.
fn round_trip(data: &[f64], bound: Sz3Bound, what: &str) -> usize {
    let codec = Sz3::new(bound, LITTLE).unwrap();
    let input = bytes(data);
    let mut encoded = vec![0x55];
    codec.encode(&input, 0, &mut encoded).unwrap();
    assert_eq!(encoded.remove(0), 0x55);
    assert!(encoded.len() <= codec.max_encoded_len(input.len()).unwrap(), "{what}");

    let turned: Vec<u8> = data.iter().flat_map(|value| value.to_be_bytes()).collect();
    let mut encoded_big = Vec::new();
    Sz3::new(bound, ByteOrder::Big).unwrap().encode(&turned, 3, &mut encoded_big).unwrap();
    assert!(encoded == encoded_big, "{what}: byte order changed the stream");

    let mut out = vec![0xAA; input.len()];
    codec.decode_into(&encoded, 0, &mut out).unwrap_or_else(|error| panic!("{what}: {error}"));
    let finite = || data.iter().copied().filter(|value| value.is_finite());
    let range = finite().fold(f64::NEG_INFINITY, f64::max) - finite().fold(f64::INFINITY, f64::min);
    let range = if range.is_nan() || range < 0.0 { 0.0 } else { range };
    let tolerance = match bound {
        Sz3Bound::Abs(bound) => bound,
        Sz3Bound::Rel(bound) => bound * range,
        Sz3Bound::Psnr(decibels) => range * 10f64.powf(-(decibels + 10.0 * 0.34f64.log10()) / 20.0),
        _ => unreachable!("no other bound is made here"),
    };
    for (index, (value, found)) in data.iter().zip(values(&out)).enumerate() {
        let fine = if value.is_finite() {
            (value - found).abs() <= tolerance || value.to_bits() == found.to_bits()
        } else {
            value.to_bits() == found.to_bits()
        };
        assert!(fine, "{what}: value {index} was {value}, came back as {found}, bound {tolerance}");
    }
    encoded.len()
}

/// Smooth, rough, stepped, straight, constant, spiked and wildly scaled data.
fn kinds(len: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut state = len as u64 + 1;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut walk = 0.0;
    let smooth = |i: usize| (i as f64 / 37.0).sin() * 12.5 + 3.0;
    vec![
        ("smooth", (0..len).map(smooth).collect()),
        ("noisy", (0..len).map(|i| smooth(i) + random() * 0.1).collect()),
        (
            "walk",
            (0..len)
                .map(|_| {
                    walk += random();
                    walk
                })
                .collect(),
        ),
        ("steps", (0..len).map(|i| ((i / 9 * 7919) % 100) as f64 / 8.0).collect()),
        ("straight", (0..len).map(|i| i as f64 * 0.25 - 7.0).collect()),
        ("constant", vec![-2.75; len]),
        ("spiked", (0..len).map(|i| if i % 61 == 5 { 1e200 * random() } else { smooth(i) }).collect()),
        ("wild", (0..len).map(|_| random() * 10f64.powf(random() * 600.0)).collect()),
    ]
}
