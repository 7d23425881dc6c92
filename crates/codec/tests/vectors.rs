//! Every codec vector: payloads of the reference decoded, in whole and in part; inputs encoded; damage refused.

mod support;

use fw_codec::chain::{Compression, DecodeOptions, Encoding, Pipeline, Stages, Sz3Mode, Sz3Settings, ZfpSettings};
use fw_codec::mask::{self, Masks};
use fw_codec::{CodecErrorKind, Window};
use fw_tensor::{ByteOrder, DType};
use serde_json::Value;
use support::{descriptor, folder, frame, generate, manifest, sha256};

/// An object of a file, ready to decode.
struct Object {
    pipeline: Pipeline,
    region: Vec<u8>,
    payload_len: usize,
    masks: Masks,
}

impl Object {
    fn open(file: &str) -> Result<Self, String> {
        let (region, descriptor) = frame::object(&std::fs::read(folder().join(file)).unwrap());
        let (dtype, count, order) = descriptor::shape(&descriptor)?;
        let pipeline = descriptor::pipeline(&descriptor, dtype, count, order)?;
        let stored = descriptor::masks(&descriptor)?;
        let masks = Masks::read(&stored, &region, count).map_err(|error| error.to_string())?;
        let payload_len = stored.iter().map(|mask| mask.offset as usize).min().unwrap_or(region.len());
        Ok(Self { pipeline, region, payload_len, masks })
    }

    fn decode(&self, threads: usize) -> Result<Vec<u8>, String> {
        let payload = &self.region[..self.payload_len];
        let mut out = self.pipeline.decode(payload, &options(threads)).map_err(|error| error.to_string())?;
        self.masks.restore(&mut out, self.pipeline.dtype(), ByteOrder::Little, 0);
        Ok(out)
    }

    fn decode_range(&self, offset: u64, count: u64, threads: usize) -> Result<Vec<u8>, String> {
        let range = offset..offset.checked_add(count).ok_or("range overflows")?;
        let width = self.pipeline.dtype().byte_width().ok_or("no whole bytes")?;
        if range.end > self.pipeline.element_count() {
            // The output of a bad range is never reserved; the refusal itself is checked on an empty one.
            let error = self.pipeline.plan(self.payload_len as u64, range).unwrap_err();
            return Err(error.to_string());
        }
        let payload = &self.region[..self.payload_len];
        let mut out = vec![0xee; count as usize * width];
        let decode = |window: Window<'_>, out: &mut [u8]| {
            self.pipeline.decode_range_into(window, range.clone(), &options(threads), out)
        };
        // As a remote reader does it: only the bytes asked for, unless they do not suffice.
        let window = match self.pipeline.encoded_span(payload.len() as u64, range.clone()) {
            Some(span) if span.end <= payload.len() as u64 => {
                let bytes = &payload[span.start as usize..span.end as usize];
                Window::part(bytes, span.start, payload.len() as u64)
            }
            _ => Window::whole(payload),
        };
        let outcome = match decode(window, &mut out) {
            Err(error) if error.code == "partial_payload" => decode(Window::whole(payload), &mut out),
            outcome => outcome,
        };
        outcome.map_err(|error| error.to_string())?;
        self.masks.restore(&mut out, self.pipeline.dtype(), ByteOrder::Little, offset);
        Ok(out)
    }
}

fn options(threads: usize) -> DecodeOptions {
    DecodeOptions::default().with_order(ByteOrder::Little).with_threads(threads)
}

/// Cases of codecs that are not part of this build are left out.
fn is_built(case: &Value) -> bool {
    let descriptor = if case["descriptor_stored"].is_null() { &case["descriptor"] } else { &case["descriptor_stored"] };
    let compression = descriptor["compression"].as_str().or(case["family"].as_str()).unwrap_or("none");
    let Some(codec) = Compression::CODECS.iter().find(|codec| codec.name == compression) else { return true };
    let settings = match codec.name {
        "zfp" => ZfpSettings::FixedPrecision { zfp_precision: 9 }.into(),
        "sz3" => Sz3Settings { sz3_error_bound_mode: Sz3Mode::Abs, sz3_error_bound: 1.0 }.into(),
        "szip" | "rle" | "roaring" => return true,
        // The others have no parameters that must be given.
        name => Compression::read(name, &descriptor::Json(&Value::Null)).unwrap(),
    };
    let stages = Stages { compression: settings, ..Stages::default() };
    let pipeline = Pipeline::new(stages, DType::Float64, 1, ByteOrder::Little).unwrap();
    !matches!(pipeline.check_payload(&[]), Err(error) if error.kind == CodecErrorKind::Unsupported)
}

fn cases<'a>(manifest: &'a Value, kind: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let cases = manifest["cases"].as_array().unwrap().iter().filter(move |case| case["kind"] == *kind);
    cases.filter(|case| is_built(case)).map(|case| (case["id"].as_str().unwrap(), case)).collect::<Vec<_>>().into_iter()
}

#[test]
fn valid_payloads_decode_to_the_recorded_values() {
    let manifest = manifest();
    let mut ranges = 0;
    for (id, case) in cases(&manifest, "valid") {
        let object = Object::open(case["file"].as_str().unwrap()).unwrap_or_else(|error| panic!("{id}: {error}"));
        let whole = object.decode(1).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!(sha256(&whole), case["decoded"]["sha256_little"], "{id}");
        assert!(object.decode(3).unwrap() == whole, "{id} on threads");
        if let Some(expected) = case["decoded"]["sha256_little_without_restore"].as_str() {
            let payload = &object.region[..object.payload_len];
            assert_eq!(sha256(&object.pipeline.decode(payload, &options(1)).unwrap()), expected, "{id}");
        }
        for request in case["decode_range"].as_array().into_iter().flatten() {
            for (index, range) in request["ranges"].as_array().unwrap().iter().enumerate() {
                let (offset, count) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
                let found = object.decode_range(offset, count, 2);
                ranges += 1;
                match request["expect"].as_str().unwrap() {
                    "data" => {
                        let found = found.unwrap_or_else(|error| panic!("{id} {range}: {error}"));
                        assert_eq!(sha256(&found), request["sha256_little"][index], "{id} {range}");
                    }
                    "error" => assert!(found.is_err(), "{id} {range}"),
                    _ => {
                        let width = object.pipeline.dtype().byte_width().unwrap_or(0);
                        let (start, end) = (offset as usize * width, (offset + count) as usize * width);
                        assert!(found.is_err() || found.as_deref() == Ok(&whole[start..end]), "{id} {range}");
                    }
                }
            }
        }
    }
    assert!(ranges > 1000, "only {ranges} ranges");
}

#[test]
fn inputs_encode_to_the_recorded_payloads() {
    let manifest = manifest();
    let mut identical = 0;
    for (id, case) in cases(&manifest, "valid") {
        let stored = &case["descriptor_stored"];
        let (dtype, count, order) = descriptor::shape(stored).unwrap();
        let input = generate::input(&case["input"], dtype, order);
        assert_eq!(sha256(&input), case["raw_input_sha256"], "{id}: the generator of the test");
        if case["family"] == "sz3" || (order == ByteOrder::Big && case["family"] == "zfp") {
            continue; // lossy streams of another encoder; their own tests bound the error
        }
        let pipeline = descriptor::pipeline(&case["descriptor_given"], dtype, count, order).unwrap();
        let masks = descriptor::mask_options(&case["encode_options"]);
        let separated = mask::separate(&input, dtype, order, &masks, 2).unwrap_or_else(|error| panic!("{id}: {error}"));
        let finite = separated.as_ref().map_or(&input, |separated| &separated.bytes);
        let encoded = pipeline.encode(finite, 1).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(encoded == pipeline.encode(finite, 3).unwrap(), "{id} on threads");
        let recorded = case["payload"]["sha256"].as_str().unwrap();
        match case["payload"]["reproducible_by_encoder"].as_str().unwrap() {
            "required" => {
                assert_eq!(sha256(&encoded.payload), recorded, "{id}");
                identical += 1;
            }
            _ => identical += usize::from(sha256(&encoded.payload) == recorded),
        }
        if let Some(Encoding::SimplePacking(packing)) = encoded.derived.encoding {
            assert_eq!(stored["sp_reference_value"].as_f64(), packing.sp_reference_value, "{id}");
            assert_eq!(
                stored["sp_binary_scale_factor"].as_i64(),
                packing.sp_binary_scale_factor.map(i64::from),
                "{id}"
            );
            assert_eq!(stored["sp_decimal_scale_factor"].as_i64(), packing.sp_decimal_scale_factor.map(i64::from));
        }
        if let Some(separated) = &separated {
            let mut region = encoded.payload.clone();
            for mask in separated.masks.append(&masks, &mut region).unwrap() {
                let recorded = &case["masks"][mask.kind.key()];
                assert_eq!(recorded["method"], mask.method.name(), "{id}");
                if !matches!(mask.method.name(), "zstd" | "lz4" | "blosc2") {
                    assert_eq!(recorded["length"], mask.length, "{id}");
                    assert_eq!(recorded["sha256"], sha256(mask.blob(&region).unwrap()), "{id}");
                }
            }
        }
        if case["lossless"] == true && separated.is_none() {
            let back = pipeline.decode(&encoded.payload, &options(2).with_order(order)).unwrap();
            assert!(back == input, "{id}: round trip");
        }
    }
    assert!(identical > 150, "only {identical} payloads are identical");
}

#[test]
fn damaged_payloads_are_refused_or_harmless() {
    let manifest = manifest();
    for (id, case) in cases(&manifest, "corrupt") {
        let file = case["file"].as_str().unwrap();
        let object = Object::open(file);
        let declared = case["declared_decoded_len"].as_u64().map_or(usize::MAX, |len| len as usize);
        let original = case["original_sha256_little"].as_str().unwrap_or_default();
        for threads in [1, 3] {
            let whole = object.as_ref().map_err(Clone::clone).and_then(|object| object.decode(threads));
            check(id, case["full_decode"].as_str().unwrap(), &whole, |bytes| sha256(bytes) == original, declared);
            let part = object.as_ref().map_err(Clone::clone).and_then(|object| object.decode_range(5, 20, threads));
            // Only errors are required of ranges here; what the original values are is not recorded.
            if case["decode_range_5_20"] == "error" {
                assert!(part.is_err(), "{id}: range of 20 from 5");
            }
        }
    }
}

fn check(id: &str, expected: &str, found: &Result<Vec<u8>, String>, same: impl Fn(&[u8]) -> bool, declared: usize) {
    let holds = match (expected, found) {
        ("error" | "error_or_same" | "error_or_declared_size", Err(_)) => true,
        ("ok_same" | "error_or_same", Ok(bytes)) => same(bytes),
        ("error_or_declared_size", Ok(bytes)) => bytes.len() == declared,
        _ => false,
    };
    assert!(holds, "{id}: expected {expected}, found {:?}", found.as_ref().map(Vec::len));
}

#[test]
fn encode_requests_that_lose_data_are_refused() {
    for case in manifest()["encode_cases"].as_array().unwrap().iter().filter(|case| is_built(case)) {
        let id = case["id"].as_str().unwrap();
        let dtype: DType = case["dtype"].as_str().unwrap().parse().unwrap();
        let input = generate::input(&case["input"], dtype, ByteOrder::Little);
        let count = input.len() as u64 * 8 / dtype.bits();
        let outcome = descriptor::pipeline(&case["descriptor"], dtype, count, ByteOrder::Little).and_then(|pipeline| {
            let masks = descriptor::mask_options(&case["encode_options"]);
            // Parameters come from the original bytes, so packing sees them before anything is set aside.
            let separated = mask::separate(&input, dtype, ByteOrder::Little, &masks, 1).map_err(|e| e.to_string())?;
            let derives = case["descriptor"]["encoding"] == "simple_packing"
                && case["descriptor"]["sp_reference_value"].is_null();
            let bytes = match &separated {
                Some(separated) if !derives => &separated.bytes,
                _ => &input,
            };
            pipeline.encode(bytes, 1).map_err(|error| {
                assert_ne!(error.kind, CodecErrorKind::Unsupported, "{id}");
                error.to_string()
            })
        });
        match case["required"].as_str().unwrap() {
            "error" => assert!(outcome.is_err(), "{id} is accepted"),
            "accept (clamped)" => assert!(outcome.is_ok(), "{id}: {outcome:?}"),
            _ => {}
        }
    }
}
