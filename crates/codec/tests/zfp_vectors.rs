//! zfp against streams and values made by the reference implementation (tests/data/zfp/index.json).
#![cfg(feature = "zfp")]

use fw_codec::zfp::{Zfp, ZfpMode};
use fw_codec::{Codec, CodecError, CodecErrorKind, Reach, Window};
use fw_tensor::ByteOrder;
use serde_json::Value;
use std::path::PathBuf;

#[test]
fn reference_streams_decode_to_the_reference_values() {
    let mut count = 0;
    for vector in vectors().iter().filter(|vector| vector.get("decoded").is_some()) {
        let (payload, expected) = (file(vector, "payload"), file(vector, "decoded"));
        for threads in [1, 3] {
            let mut little = vec![0xee; expected.len()];
            zfp(vector, ByteOrder::Little).unwrap().decode_into(&payload, threads, &mut little).unwrap();
            assert_eq!(little, expected, "{}", vector["id"]);
            let mut big = vec![0xee; expected.len()];
            zfp(vector, ByteOrder::Big).unwrap().decode_into(&payload, threads, &mut big).unwrap();
            assert_eq!(swapped(&big), expected, "{}", vector["id"]);
        }
        count += 1;
    }
    assert_eq!(count, 35);
}

#[test]
fn reference_inputs_encode_to_the_reference_streams() {
    for vector in vectors().iter().filter(|vector| vector.get("decoded").is_some()) {
        let (payload, input) = (file(vector, "payload"), input(vector));
        for threads in [0, 1, 3] {
            let mut encoded = b"before".to_vec();
            let codec = zfp(vector, ByteOrder::Little).unwrap();
            codec.encode(&input, threads, &mut encoded).unwrap();
            assert_eq!(&encoded[6..], payload, "{}", vector["id"]);
            assert!(payload.len() <= codec.max_encoded_len(input.len()).unwrap());
            encoded.clear();
            zfp(vector, ByteOrder::Big).unwrap().encode(&swapped(&input), threads, &mut encoded).unwrap();
            assert_eq!(encoded, payload, "{} big-endian", vector["id"]);
        }
    }
}

#[test]
fn corrupt_streams_fail_or_fill_the_declared_size() {
    let mut count = 0;
    for vector in vectors().iter().filter(|vector| vector.get("must").is_some()) {
        let payload = file(vector, "payload");
        let decoded_len = vector["decoded_len"].as_u64().unwrap();
        let outcome = zfp(vector, ByteOrder::Little).and_then(|codec| {
            // A caller asks before it reserves: one vector claims eight terabytes.
            codec.check_lengths(payload.len() as u64, decoded_len)?;
            let mut out = vec![0; usize::try_from(decoded_len).unwrap()];
            codec.decode_into(&payload, 1, &mut out)
        });
        let range = zfp(vector, ByteOrder::Little)
            .and_then(|codec| codec.decode_range_into(Window::whole(&payload), decoded_len, 40, 1, &mut [0; 160]));
        if vector["must"] == "error" {
            assert!(outcome.is_err(), "{}", vector["id"]);
            assert!(range.is_err(), "{}", vector["id"]);
        }
        count += 1;
    }
    assert_eq!(count, 9);
}

#[test]
fn every_range_of_every_vector_equals_the_slice() {
    for vector in vectors().iter().filter(|vector| vector.get("decoded").is_some()) {
        let (payload, whole) = (file(vector, "payload"), file(vector, "decoded"));
        let codec = zfp(vector, ByteOrder::Little).unwrap();
        let len = whole.len();
        let step = (len / 40).max(1);
        for start in (0..=len).step_by(step) {
            for count in [0, 1, 8, 31, 32, 33, 64, 200, len] {
                let mut out = vec![0xee; count];
                let result = codec.decode_range_into(Window::whole(&payload), len as u64, start as u64, 2, &mut out);
                if start + count > len {
                    assert_eq!(result.unwrap_err().code, "range_out_of_bounds");
                    continue;
                }
                result.unwrap();
                assert_eq!(out, whole[start..start + count], "{} {start}+{count}", vector["id"]);
                let range = start as u64..(start + count) as u64;
                let Some(span) = codec.encoded_span(payload.len() as u64, len as u64, range) else {
                    assert_eq!(codec.reach(), Reach::FromStart);
                    continue;
                };
                // Only the bytes of the span, as a remote reader would have them.
                let bytes = &payload[span.start as usize..span.end as usize];
                let window = Window::part(bytes, span.start, payload.len() as u64);
                out.fill(0xee);
                codec.decode_range_into(window, len as u64, start as u64, 1, &mut out).unwrap();
                assert_eq!(out, whole[start..start + count]);
                if let Some(shorter) = bytes.len().checked_sub(1) {
                    let window = Window { bytes: &bytes[..shorter], ..window };
                    let error = codec.decode_range_into(window, len as u64, start as u64, 1, &mut out).unwrap_err();
                    assert_eq!(error.code, "partial_payload");
                }
            }
        }
    }
}

#[test]
fn a_fixed_rate_range_needs_only_the_bytes_of_its_blocks() {
    let codec = Zfp::new(ZfpMode::FixedRate(16.0), ByteOrder::Little).unwrap();
    assert_eq!(codec.reach(), Reach::Blocks);
    // One million values, 8 bytes for each block of 32.
    let span = |range| codec.encoded_span(2_000_000, 8_000_000, range).unwrap();
    assert_eq!((span(0..8).start, span(0..8).end), (0, 8));
    assert_eq!((span(31..33).start, span(31..33).end), (0, 16));
    assert_eq!((span(4_000_000..4_008_000).start, span(4_000_000..4_008_000).len()), (1_000_000, 2_000));
    assert!(span(64..64).is_empty());
    assert_eq!(Zfp::new(ZfpMode::FixedPrecision(20), ByteOrder::Little).unwrap().reach(), Reach::FromStart);
}

#[test]
fn wrong_lengths_are_told_apart() {
    let codec = Zfp::new(ZfpMode::FixedRate(16.0), ByteOrder::Little).unwrap();
    let input: Vec<u8> = (0..600).flat_map(|i| f64::from(i).sqrt().to_le_bytes()).collect();
    let mut encoded = Vec::new();
    codec.encode(&input, 1, &mut encoded).unwrap();
    assert_eq!(encoded.len(), 1200);
    let mut out = vec![0; input.len()];
    let mut code = |encoded: &[u8]| codec.decode_into(encoded, 1, &mut out).unwrap_err().code;
    assert_eq!(code(&encoded[..1199]), "payload_too_short");
    assert_eq!(code(&[]), "payload_too_short");
    encoded.extend([0; 24]);
    assert_eq!(code(&[&encoded[..], &[0; 8]].concat()), "payload_too_long");
    assert_eq!(code(&[&encoded[..1200], &[0, 1]].concat()), "trailing_bytes");
    codec.decode_into(&encoded, 1, &mut out).unwrap();

    let error = codec.decode_into(&encoded, 1, &mut out[1..]).unwrap_err();
    assert_eq!((error.code, error.kind), ("partial_value", CodecErrorKind::Misuse));
    assert_eq!(codec.encode(&input[..15], 1, &mut encoded).unwrap_err().code, "partial_value");
    let error = codec.check_lengths(1200, 1 << 43).unwrap_err();
    assert_eq!((error.code, error.kind), ("payload_too_short", CodecErrorKind::Format));
    assert!(codec.check_lengths(u64::MAX, u64::MAX - 7).is_err());
}

#[test]
fn a_stream_cut_anywhere_is_refused() {
    let input: Vec<u8> = (0..203).flat_map(|i| (f64::from(i) * 0.37).sin().to_le_bytes()).collect();
    for mode in [ZfpMode::FixedRate(13.0), ZfpMode::FixedPrecision(30), ZfpMode::FixedAccuracy(1e-9)] {
        let codec = Zfp::new(mode, ByteOrder::Little).unwrap();
        let mut encoded = Vec::new();
        codec.encode(&input, 1, &mut encoded).unwrap();
        let mut out = vec![0; input.len()];
        for len in 0..encoded.len() - 8 {
            let error = codec.decode_into(&encoded[..len], 1, &mut out).unwrap_err();
            assert_eq!(error.kind, CodecErrorKind::Format, "{mode:?} cut to {len}");
            assert_eq!(error.at, Some(len as u64));
        }
    }
}

#[test]
fn values_that_are_not_finite_are_refused_with_their_place() {
    for mode in [ZfpMode::FixedRate(16.0), ZfpMode::FixedPrecision(20), ZfpMode::FixedAccuracy(0.1)] {
        let codec = Zfp::new(mode, ByteOrder::Big).unwrap();
        for (place, bad) in [(0, f64::NAN), (17, f64::INFINITY), (40_001, f64::NEG_INFINITY)] {
            let values = (0..40_002).map(|i| if i == place { bad } else { 1.5 });
            let input: Vec<u8> = values.flat_map(f64::to_be_bytes).collect();
            for threads in [1, 2] {
                let error = codec.encode(&input, threads, &mut Vec::new()).unwrap_err();
                assert_eq!(error.code, "non_finite_value");
                assert!(error.message.contains(&format!("value {place} ")), "{error}");
            }
        }
    }
}

#[test]
fn threads_change_neither_bytes_nor_values() {
    let values = (0..50_003u32).map(|i| {
        let smooth = (f64::from(i) * 0.001).sin() * 100.0;
        if i % 7000 < 500 { 0.0 } else { smooth + f64::from(i.wrapping_mul(2_654_435_761) >> 20) * 1e-5 }
    });
    let input: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
    for mode in [
        ZfpMode::FixedRate(7.25),
        ZfpMode::FixedRate(16.0),
        ZfpMode::FixedRate(100.0),
        ZfpMode::FixedPrecision(19),
        ZfpMode::FixedPrecision(0),
        ZfpMode::FixedAccuracy(1e-3),
        ZfpMode::FixedAccuracy(1e9),
    ] {
        let codec = Zfp::new(mode, ByteOrder::Little).unwrap();
        let mut alone = Vec::new();
        codec.encode(&input, 1, &mut alone).unwrap();
        let mut values = vec![0; input.len()];
        codec.decode_into(&alone, 1, &mut values).unwrap();
        for threads in [2, 3, 8] {
            let mut together = Vec::new();
            codec.encode(&input, threads, &mut together).unwrap();
            assert!(alone == together, "{mode:?} with {threads} threads");
            let mut out = vec![0xee; input.len()];
            codec.decode_into(&alone, threads, &mut out).unwrap();
            assert!(values == out, "{mode:?} with {threads} threads");
            let cut = codec.decode_into(&alone[..alone.len() / 2], threads, &mut out).unwrap_err();
            assert_eq!(cut.kind, CodecErrorKind::Format);
        }
    }
}

#[test]
fn accuracy_holds_and_tiny_values_survive() {
    let tiny: Vec<f64> = (0..64).map(|i| f64::from_bits((i * 0x0001_2345_6789_abcd) % (1 << 58))).collect();
    assert!(tiny.iter().any(|v| v.is_subnormal()) && tiny.iter().all(|v| *v < 2f64.powi(-900)));
    let input: Vec<u8> = tiny.iter().flat_map(|v| v.to_le_bytes()).collect();
    for tolerance in [f64::from_bits(1), 2f64.powi(-1050), 2f64.powi(-1000)] {
        let codec = Zfp::new(ZfpMode::FixedAccuracy(tolerance), ByteOrder::Little).unwrap();
        let mut encoded = Vec::new();
        codec.encode(&input, 1, &mut encoded).unwrap();
        let mut out = vec![0; input.len()];
        codec.decode_into(&encoded, 1, &mut out).unwrap();
        for (value, back) in tiny.iter().zip(out.as_chunks::<8>().0) {
            // One unit in the last place of the value comes on top where the tolerance is finer than the format.
            let allowed = tolerance.max(value * f64::EPSILON * 4.0);
            assert!((value - f64::from_le_bytes(*back)).abs() <= allowed, "{value:e} within {tolerance:e}");
        }
    }
}

fn vectors() -> Vec<Value> {
    let index = std::fs::read(folder().join("index.json")).unwrap();
    serde_json::from_slice(&index).unwrap()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/zfp")
}

fn file(vector: &Value, key: &str) -> Vec<u8> {
    std::fs::read(folder().join(vector[key].as_str().unwrap())).unwrap()
}

fn zfp(vector: &Value, order: ByteOrder) -> Result<Zfp, CodecError> {
    let parameter = vector["parameter"].as_f64().unwrap();
    let mode = match vector["mode"].as_str().unwrap() {
        "fixed_rate" => ZfpMode::FixedRate(parameter),
        "fixed_precision" => ZfpMode::FixedPrecision(parameter as u32),
        "fixed_accuracy" => ZfpMode::FixedAccuracy(parameter),
        other => panic!("unknown mode {other}"),
    };
    Zfp::new(mode, order)
}

/// The values the stream was made from, by the generator the index names.
fn input(vector: &Value) -> Vec<u8> {
    let input = &vector["input"];
    let number = |key: &str| input[key].as_i64().unwrap_or(0);
    let count = vector["decoded_len"].as_i64().unwrap() / 8;
    let random = (1..=count as u64).map(|i| split_mix(number("seed") as u64, i));
    let integers: Vec<i64> = match input["gen"].as_str().unwrap() {
        "const" => vec![number("value"); count as usize],
        "noise" => random.map(|u| number("base") + (u % number("mod") as u64) as i64).collect(),
        "walk" => random
            .scan(number("base"), |sum, u| {
                *sum += (u % (2 * number("step") as u64 + 1)) as i64 - number("step");
                Some(*sum)
            })
            .collect(),
        other => panic!("unknown generator {other}"),
    };
    let scale = 2f64.powi(-number("shift") as i32);
    let mut values: Vec<f64> = integers.into_iter().map(|x| x as f64 * scale).collect();
    // Values the message layer masked out reach the codec as zeros.
    for inject in input["inject"].as_array().into_iter().flatten() {
        let place = |key: &str| inject[key].as_u64().unwrap() as usize;
        values[place("start")..place("stop")].fill(0.0);
    }
    values.into_iter().flat_map(f64::to_le_bytes).collect()
}

fn split_mix(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn swapped(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(8).flat_map(|value| value.iter().rev().copied()).collect()
}
