//! A file that must decode, and whose payload an encoder may have to reproduce.

use fw_bytes::Limits;
use fw_tensogram::describe::cbor;
use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, DecodedRanges, EncodeOptions, GlobalMetadata, MessageView, decode,
    decode_range, encode,
};
use fw_tensor::DType;
use serde_json::{Map, Value as Json, json as to_json};

use super::model::{EncodeCase, RangeCase, Reproducible, Valid};
use crate::digest::{hex, sha256, short};
use crate::discover::Manifest;
use crate::row::Row;
use crate::tensogram::{encode as request, json};

/// Checks a valid case: decoding, ranges, encoding.
pub fn check(manifest: &Manifest, case: &Valid, row: &mut Row) {
    let Some(file) = row.accept("file", manifest.file(&case.file)) else { return };
    let Some(dtype) = row.accept("dtype", case.dtype.parse::<DType>()) else { return };
    let Some(input) = row.accept("input", case.input.bytes(dtype, &case.byte_order)) else { return };
    row.equal("input digest", case.raw_input_sha256.as_str(), &sha256(&input));
    row.equal("input length", &case.raw_input_len, &input.len());
    if case.raw_input_hex.as_ref().is_some_and(|expected| *expected != hex(&input)) {
        row.deviates("raw_input_hex is not the input");
    }
    check_stored(case, &file, row);
    let decoded = check_decoded(case, &file, row);
    case.decode_range.iter().for_each(|range| check_range(range, &file, row));
    if let Some(decoded) = decoded {
        check_bound(case, dtype, &input, &decoded, row);
        check_encode(case, dtype, &input, &decoded, row);
    }
}

/// An input that an encoder must accept or refuse.
pub fn check_encode_case(case: &EncodeCase, row: &mut Row) {
    let Some(dtype) = row.accept("dtype", case.dtype.parse::<DType>()) else { return };
    let Some(input) = row.accept("input", case.input.bytes(dtype, "little")) else { return };
    let shape = vec![case.input.count() as u64];
    let fields = described(&case.descriptor, &case.dtype, &shape, "little");
    let Some(options) = row.accept("options", request::encode_options(&case.encode_options)) else { return };
    let Some(descriptor) = row.accept("descriptor", request::descriptor(&fields)) else { return };
    let outcome = encode(&GlobalMetadata::default(), &[(&descriptor, &input)], &options);
    match (case.required.as_str(), outcome) {
        ("error", Err(_)) | ("error or accept, never panic", _) => {}
        ("error", Ok(_)) => row.deviates("accepted, an error is required"),
        ("accept (clamped)", Ok(message)) => {
            let decoded = row.accept("decode of what was encoded", decode(&message, &DecodeOptions::default()));
            if decoded.is_some_and(|decoded| decoded.objects[0].bytes != input) {
                row.deviates("reads back other values");
            }
        }
        ("accept (clamped)", Err(error)) => row.deviates(format!("refused: {error}")),
        (other, _) => row.deviates(format!("requirement `{other}` not understood")),
    }
}

/// Descriptor, payload and masks as stored.
fn check_stored(case: &Valid, file: &[u8], row: &mut Row) {
    let view = row.accept("open", MessageView::open(file));
    let Some(object) = view.and_then(|view| row.accept("object", view.object(0))) else { return };
    same_descriptor(&case.descriptor_stored, object.descriptor(), "descriptor", row);
    let payload = object.payload();
    row.equal("payload length", &case.payload.len, &payload.len());
    row.equal("payload", case.payload.sha256.as_str(), &sha256(payload));
    if case.payload.hex.as_ref().is_some_and(|expected| *expected != hex(payload)) {
        row.deviates("payload.hex is not the payload");
    }
    let found: Vec<_> = object.masks().map(|(kind, mask, blob)| (kind.key(), mask.clone(), sha256(blob))).collect();
    row.equal("masks", &case.masks.len(), &found.len());
    for (kind, mask, digest) in found {
        match case.masks.get(kind) {
            Some(expected)
                if (&expected.method, expected.offset, expected.length, &expected.sha256)
                    == (&mask.method, mask.offset, mask.length, &digest) => {}
            _ => row.deviates(format!("mask {kind} is {mask:?} with digest {digest}")),
        }
    }
}

fn same_descriptor(expected: &Map<String, Json>, found: &DataObjectDescriptor, what: &str, row: &mut Row) {
    let cbor = found.to_cbor();
    let Some(found) = row.accept(what, cbor::read_value(&cbor, 0, Limits::default().depth)) else { return };
    match json::to_value(&Json::Object(expected.clone())) {
        Ok(expected) if json::same(&expected, &found) => {}
        Ok(_) => row.deviates(format!("{what} is {found:?}, expected {expected:?}")),
        Err(error) => row.deviates(format!("{what} in the manifest: {error}")),
    }
}

/// The decoded bytes, after comparing them in every form the manifest knows.
fn check_decoded(case: &Valid, file: &[u8], row: &mut Row) -> Option<Vec<u8>> {
    let mut bytes = |what: &str, options: &DecodeOptions, expected: &str| {
        let decoded = row.accept(what, decode(file, options))?;
        let bytes = decoded.objects.into_iter().next().map(|object| object.bytes).unwrap_or_default();
        if sha256(&bytes) != expected {
            row.deviates(format!("{what}: found {}", short(&bytes)));
        }
        Some(bytes)
    };
    let plain = DecodeOptions::default();
    let decoded = bytes("decode", &plain, &case.decoded.sha256_little)?;
    for threads in [2, 4] {
        bytes(
            &format!("decode with {threads} threads"),
            &plain.clone().with_threads(threads),
            &case.decoded.sha256_little,
        );
    }
    if let Some(expected) = &case.decoded.sha256_wire_order {
        bytes("decode in wire order", &DecodeOptions { native_byte_order: false, ..plain.clone() }, expected);
    }
    if let Some(expected) = &case.decoded.sha256_little_without_restore {
        bytes("decode without restoring", &DecodeOptions { restore_non_finite: false, ..plain.clone() }, expected);
    }
    row.equal("decoded length", &case.decoded.len, &decoded.len());
    if case.decoded.hex_little.as_ref().is_some_and(|expected| *expected != hex(&decoded)) {
        row.deviates("decoded bytes are not hex_little");
    }
    if !case.decoded.exact {
        row.deviates("`exact: false` not understood");
    }
    Some(decoded)
}

fn check_range(case: &RangeCase, file: &[u8], row: &mut Row) {
    let what = format!("range {:?}", case.ranges);
    match (case.expect.as_str(), decode_range(file, 0, &case.ranges, &DecodeOptions::default())) {
        ("error", Err(_)) | ("unsupported", Err(_)) => {}
        ("error", Ok(_)) => row.deviates(format!("{what}: succeeded, an error is required")),
        ("data", Err(error)) => row.deviates(format!("{what}: {error}")),
        ("data" | "unsupported", Ok(DecodedRanges { parts, .. })) => {
            let digests: Vec<String> = parts.iter().map(|part| sha256(part)).collect();
            let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
            let same = case.sha256_little.as_ref().is_none_or(|expected| *expected == digests)
                && case.len.as_ref().is_none_or(|expected| *expected == lengths)
                && case
                    .hex_little
                    .as_ref()
                    .is_none_or(|expected| expected.iter().zip(&parts).all(|(expected, part)| *expected == hex(part)));
            if !same {
                row.deviates(format!("{what}: other data"));
            }
        }
        (other, _) => row.deviates(format!("{what}: expectation `{other}` not understood")),
    }
}

/// Lossless codecs give the input back (NaN payload bits apart), lossy ones stay within their bound.
fn check_bound(case: &Valid, dtype: DType, input: &[u8], decoded: &[u8], row: &mut Row) {
    let input = little_endian(input, dtype, &case.byte_order);
    if case.lossless && case.masks.is_empty() && input != decoded {
        row.deviates("a lossless codec gave other values");
    }
    if let (Some(bound), DType::Float64) = (case.decoded.tolerance_abs, dtype) {
        let worst = largest_error(&input, decoded);
        if worst > bound {
            row.deviates(format!("error {worst:e} beyond the bound {bound:e}"));
        }
    }
}

/// Encodes the input anew: the same payload where it is due, the same values always.
fn check_encode(case: &Valid, dtype: DType, input: &[u8], decoded: &[u8], row: &mut Row) {
    let fields = described(&case.descriptor_given, &case.dtype, &case.shape, &case.byte_order);
    let Some(options) = row.accept("options", request::encode_options(&case.encode_options)) else { return };
    let Some(descriptor) = row.accept("descriptor", request::descriptor(&fields)) else { return };
    let encode = |threads| {
        let options = EncodeOptions { threads, ..options.clone() };
        encode(&GlobalMetadata::default(), &[(&descriptor, input)], &options)
    };
    let Some(message) = row.accept("encode", encode(options.threads)) else { return };
    let Some(view) = row.accept("open what was encoded", MessageView::open(&message)) else { return };
    let Some(object) = row.accept("open what was encoded", view.object(0)) else { return };
    let payload = object.payload();
    if case.payload.reproducible_by_encoder == Reproducible::Required {
        if sha256(payload) != case.payload.sha256 {
            row.deviates(format!("encode: payload is {}", short(payload)));
        }
        let stable = |method: &str| matches!(method, "none" | "rle" | "roaring");
        if case.masks.values().all(|mask| stable(&mask.method)) {
            same_descriptor(&case.descriptor_stored, object.descriptor(), "encode: descriptor", row);
        }
    }
    for threads in [2, 4] {
        let other = row.accept("encode with threads", encode(threads)).unwrap_or_default();
        let other = MessageView::open(&other).and_then(|view| Ok(view.object(0)?.payload().to_vec()));
        if other.ok().as_deref() != Some(payload) {
            row.deviates(format!("encode: {threads} threads give another payload"));
        }
    }
    let Some(read_back) = row.accept("decode what was encoded", object.decode(&DecodeOptions::default())) else {
        return;
    };
    let bound = case.decoded.tolerance_abs.filter(|_| dtype == DType::Float64 && !case.lossless);
    match bound {
        Some(bound) => {
            let worst = largest_error(&little_endian(input, dtype, &case.byte_order), &read_back);
            if worst > bound {
                row.deviates(format!("encode: error {worst:e} beyond the bound {bound:e}"));
            }
        }
        None if case.lossless && read_back != decoded => row.deviates("encode: reads back other values"),
        None => {}
    }
}

/// Descriptor fields with what every object has.
fn described(given: &Map<String, Json>, dtype: &str, shape: &[u64], byte_order: &str) -> Map<String, Json> {
    let mut fields = given.clone();
    for (key, value) in [("dtype", to_json!(dtype)), ("shape", to_json!(shape)), ("byte_order", to_json!(byte_order))] {
        fields.entry(key).or_insert(value);
    }
    fields
}

fn little_endian(bytes: &[u8], dtype: DType, byte_order: &str) -> Vec<u8> {
    match byte_order {
        "big" => bytes.chunks(dtype.swap_unit()).flat_map(|unit| unit.iter().rev().copied()).collect(),
        _ => bytes.to_vec(),
    }
}

/// The largest difference of finite doubles.
fn largest_error(left: &[u8], right: &[u8]) -> f64 {
    let doubles = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("chunks of eight"))).collect()
    };
    if left.len() != right.len() {
        return f64::INFINITY;
    }
    let pairs = doubles(left).into_iter().zip(doubles(right));
    pairs.filter(|(left, _)| left.is_finite()).map(|(left, right)| (left - right).abs()).fold(0.0, f64::max)
}
