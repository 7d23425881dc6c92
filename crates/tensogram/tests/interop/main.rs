//! Messages exchanged with the reference implementation, which runs as a black box in Python (`FW_PYTHON`).

mod files;
mod packed;
mod random;

use std::fs::OpenOptions;
use std::io::{Cursor, Write};
use std::process::{Command, Stdio};

use fw_tensogram::{
    AggregateHash, DataObjectDescriptor, DecodeOptions, DecodedMessage, EncodeOptions, GlobalMetadata, MaskMethod,
    MetadataMap, Provenance, StreamingEncoder, Value, decode, decode_metadata, encode, encode_pre_encoded, scan,
    verify_canonical_cbor,
};
use fw_tensor::{ByteOrder, row_major_strides};
use packed::{hex, same, same_map, unhex, unpack, unpack_map, unpack_maps};
use random::Random;
use serde_json::Value as Json;

/// Messages each way.
const COUNT: usize = 600;

/// What the reference writes decodes here to what went into it, and encoding that again with the same four provenance
/// values gives the same bytes (TG-6.2).
#[test]
fn messages_of_the_reference_decode_and_encode_to_the_same_bytes() {
    let Some(output) = reference(&["write", "20260", &COUNT.to_string(), "masks"], "") else { return };
    let mut seen = 0;
    for (number, line) in output.lines().enumerate() {
        let sent: Json = serde_json::from_str(line).unwrap();
        let message = unhex(&sent["message"]);
        let request = Request::read(&sent);
        let DecodedMessage { metadata, objects } =
            decode(&message, &wire_order()).unwrap_or_else(|error| panic!("{number}: {error}"));

        assert!(same_map(&metadata.extra, &request.metadata.extra), "{number}: _extra_ {:?}", metadata.extra);
        assert_eq!(metadata.base.len(), request.objects.len(), "{number}: base entries");
        for (index, entry) in metadata.base.iter().enumerate() {
            let given = request.metadata.base.get(index).cloned().unwrap_or_default();
            assert!(same_map(&without_reserved(entry), &given), "{number}: base[{index}] {entry:?}");
        }
        assert_eq!(objects.len(), request.objects.len(), "{number}: objects");
        for (index, (object, (given, data))) in objects.iter().zip(&request.objects).enumerate() {
            assert_same_descriptor(&object.descriptor, given, &format!("{number}: object {index}"));
            assert_eq!(hex(&object.bytes), hex(data), "{number}: object {index}");
        }
        let native = decode(&message, &DecodeOptions::default().with_verify_hash());
        match native {
            Ok(native) => {
                for (object, (descriptor, data)) in native.objects.iter().zip(&request.objects) {
                    assert_eq!(hex(&object.bytes), hex(&native_order(descriptor, data)), "{number}: native order");
                }
            }
            Err(error) => assert!(!request.options.hashing && error.class() == "MissingHash", "{number}: {error}"),
        }
        // The header copy of a streamed message is what the caller gave; both hold the caller's keys.
        assert!(same_map(&decode_metadata(&message).unwrap().extra, &request.metadata.extra), "{number}");
        assert_eq!(scan(&message).len(), 1, "{number}");

        let options = EncodeOptions { provenance: Some(provenance(&metadata)), ..request.options.clone() };
        let again = request.encode(&sent["api"], &options);
        assert_eq!(hex(&again), hex(&message), "{number}: {} with {:?}", sent["api"], sent["options"]);
        seen += 1;
    }
    assert_eq!(seen, COUNT);
}

/// What we write, the reference decodes to what went into it, and its validator has nothing to say.
#[test]
fn the_reference_decodes_our_messages() {
    let mut random = Random(20260);
    let samples: Vec<_> = (0..COUNT).map(|_| random.sample()).collect();
    let lines: String = samples.iter().map(|sample| hex(&sample.message) + "\n").collect();
    let Some(output) = reference(&["read"], &lines) else { return };
    assert_eq!(output.lines().count(), COUNT);
    for (number, (line, sample)) in output.lines().zip(&samples).enumerate() {
        let found: Json = serde_json::from_str(line).unwrap();
        assert_eq!(found.get("error"), None, "{number}: {}", hex(&sample.message));
        for issue in found["issues"].as_array().unwrap() {
            // Its own messages get these two: streams always promise preceders, and a digest not written is missed.
            let fine = match issue.as_str().unwrap() {
                "warning flag_mismatch" => sample.streamed,
                "warning no_hash_available" => !sample.hashed,
                _ => false,
            };
            assert!(fine, "{number}: {issue} in {}", hex(&sample.message));
        }
        assert!(same_map(&unpack_map(&found["extra"]), &sample.metadata.extra), "{number}: {}", found["extra"]);
        assert!(same_map(&unpack_map(&found["header_extra"]), &sample.metadata.extra), "{number}");
        let base = unpack_maps(&found["base"]);
        assert_eq!(base.len(), sample.objects.len(), "{number}: base entries");
        for (index, entry) in base.iter().enumerate() {
            let mut given = sample.metadata.base.get(index).cloned().unwrap_or_default();
            given.extend(sample.preceders[index].clone().unwrap_or_default());
            assert!(same_map(&without_reserved(entry), &given), "{number}: base[{index}] {entry:?}");
        }
        let objects = found["objects"].as_array().unwrap();
        assert_eq!(objects.len(), sample.objects.len(), "{number}: objects");
        for (index, (object, (descriptor, data))) in objects.iter().zip(&sample.objects).enumerate() {
            let what = format!("{number}: object {index}");
            assert_same_object(object, descriptor, &what);
            assert_eq!(object["wire"], hex(data), "{what}");
            assert_eq!(object["native"], hex(&native_order(descriptor, data)), "{what}");
        }
        let length = sample.message.len();
        assert_eq!(found["scan"], serde_json::json!([[0, length], [length + 4, length]]), "{number}: scan");
    }
}

/// Every piece of CBOR in messages of ours is canonical (TG-5.1).
#[test]
fn metadata_of_random_messages_is_canonical() {
    let mut random = Random(7);
    for _ in 0..100 {
        let sample = random.sample();
        verify_canonical_cbor(&sample.metadata.to_cbor()).unwrap();
        for (descriptor, _) in &sample.objects {
            verify_canonical_cbor(&descriptor.to_cbor()).unwrap();
        }
    }
}

/// A message to encode, as the reference was told.
struct Request {
    metadata: GlobalMetadata,
    objects: Vec<(DataObjectDescriptor, Vec<u8>)>,
    options: EncodeOptions,
}

impl Request {
    fn read(sent: &Json) -> Self {
        let metadata = GlobalMetadata {
            base: unpack_maps(&sent["base"]),
            extra: unpack_map(&sent["extra"]),
            ..GlobalMetadata::default()
        };
        let objects = sent["objects"].as_array().unwrap().iter();
        let objects = objects.map(|object| (given_descriptor(&object["descriptor"]), unhex(&object["data"]))).collect();
        let aggregate_hash = match sent["options"]["aggregate_hash"].as_str() {
            None | Some("auto") => AggregateHash::Auto,
            Some("none") => AggregateHash::None,
            Some("header") => AggregateHash::Header,
            Some("footer") => AggregateHash::Footer,
            Some("both") => AggregateHash::Both,
            Some(other) => panic!("{other}"),
        };
        let given = &sent["options"];
        let method =
            |key: &str| given[key].as_str().map_or(MaskMethod::Roaring, |name| MaskMethod::from_name(name).unwrap());
        let options = EncodeOptions {
            hashing: given.get("hash").is_none(),
            aggregate_hash,
            allow_nan: given["allow_nan"] == true,
            allow_inf: given["allow_inf"] == true,
            nan_mask_method: method("nan_mask_method"),
            pos_inf_mask_method: method("pos_inf_mask_method"),
            neg_inf_mask_method: method("neg_inf_mask_method"),
            small_mask_threshold_bytes: given["small_mask_threshold_bytes"].as_u64().unwrap_or(128),
            ..EncodeOptions::default()
        };
        Self { metadata, objects, options }
    }

    fn encode(&self, api: &Json, options: &EncodeOptions) -> Vec<u8> {
        let objects: Vec<_> = self.objects.iter().map(|(descriptor, data)| (descriptor, data.as_slice())).collect();
        match api.as_str().unwrap() {
            "encode" => encode(&self.metadata, &objects, options).unwrap(),
            "encode_pre_encoded" => encode_pre_encoded(&self.metadata, &objects, options).unwrap(),
            streaming => {
                let mut encoder = StreamingEncoder::new(Cursor::new(Vec::new()), &self.metadata, options).unwrap();
                for (descriptor, data) in objects {
                    encoder.write_object(descriptor, data).unwrap();
                }
                let backfill = streaming == "streaming_backfilled";
                let sink = if backfill { encoder.finish_with_backfill() } else { encoder.finish() };
                sink.unwrap().into_inner()
            }
        }
    }
}

/// A descriptor as the reference completes it.
fn given_descriptor(json: &Json) -> DataObjectDescriptor {
    let mut params = unpack_map(json);
    let mut take = |key: &str| params.remove(key);
    let text = |value: Option<Value>| value.map(|value| value.as_text().unwrap().to_owned());
    let counts = |value: Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|count| count.as_integer().unwrap() as u64).collect()
    };
    let shape = counts(take("shape").unwrap());
    DataObjectDescriptor {
        obj_type: text(take("type")).unwrap(),
        ndim: shape.len() as u64,
        strides: take("strides").map(counts).unwrap_or_else(|| row_major_strides(&shape).unwrap()),
        dtype: text(take("dtype")).unwrap().parse().unwrap(),
        byte_order: ByteOrder::from_name(&text(take("byte_order")).unwrap()).unwrap(),
        shape,
        params,
        ..DataObjectDescriptor::default()
    }
}

fn assert_same_descriptor(found: &DataObjectDescriptor, given: &DataObjectDescriptor, what: &str) {
    assert!(same_map(&found.params, &given.params), "{what}: params {:?}", found.params);
    let params = MetadataMap::new();
    // Masks are the encoder's own; that they say the right thing shows in the values and in the bytes written again.
    let plain = |descriptor: &DataObjectDescriptor| DataObjectDescriptor {
        params: params.clone(),
        masks: None,
        ..descriptor.clone()
    };
    assert_eq!(plain(found), plain(given), "{what}");
}

fn assert_same_object(found: &Json, given: &DataObjectDescriptor, what: &str) {
    assert_eq!(found["type"], given.obj_type, "{what}");
    assert_eq!(found["ndim"], given.ndim, "{what}");
    assert_eq!(found["shape"], serde_json::json!(given.shape), "{what}");
    assert_eq!(found["strides"], serde_json::json!(given.strides), "{what}");
    assert_eq!(found["dtype"], given.dtype.name(), "{what}");
    assert_eq!(found["byte_order"], given.byte_order.name(), "{what}");
    assert!(same_map(&unpack_map(&found["params"]), &given.params), "{what}: {}", found["params"]);
}

fn wire_order() -> DecodeOptions {
    DecodeOptions { native_byte_order: false, ..DecodeOptions::default() }
}

fn native_order(descriptor: &DataObjectDescriptor, data: &[u8]) -> Vec<u8> {
    match descriptor.byte_order == ByteOrder::NATIVE {
        true => data.to_vec(),
        false => data.chunks(descriptor.dtype.swap_unit()).flat_map(|unit| unit.iter().rev().copied()).collect(),
    }
}

fn without_reserved(entry: &MetadataMap) -> MetadataMap {
    entry.iter().filter(|(key, _)| *key != "_reserved_").map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn provenance(metadata: &GlobalMetadata) -> Provenance {
    let text = |value: Option<&Value>| value.and_then(Value::as_text).expect("text in the provenance").to_owned();
    let encoder = &metadata.reserved["encoder"];
    Provenance {
        encoder_name: text(encoder.member("name")),
        encoder_version: text(encoder.member("version")),
        time: text(metadata.reserved.get("time")),
        uuid: text(metadata.reserved.get("uuid")),
    }
}

/// Runs the reference, or says loudly that it is not there.
fn reference(arguments: &[&str], input: &str) -> Option<String> {
    let Some(python) = std::env::var_os("FW_PYTHON") else {
        skip("tensogram interop: FW_PYTHON is not set (cargo xtask test sets it)");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/reference.py");
    let mut child = Command::new(python)
        .arg(script)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("FW_PYTHON runs");
    let mut stdin = child.stdin.take().expect("standard input was piped");
    let input = input.to_owned();
    let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the reference ends");
    assert!(output.status.success(), "the reference failed");
    feeder.join().expect("feeding does not panic").expect("the reference reads all its input");
    Some(String::from_utf8(output.stdout).expect("JSON is text"))
}

/// The harness hides what passing tests print: the run gathers these lines instead.
fn skip(reason: &str) {
    eprintln!("SKIPPED {reason}");
    if let Some(path) = std::env::var_os("FW_SKIPPED")
        && let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path)
    {
        _ = writeln!(file, "{reason}");
    }
}

#[test]
fn packed_values_come_back() {
    let json = serde_json::json!({"m": [[{"s": "a"}, [{"i": "-3"}, {"f": "8000000000000000"}, null, true]]]});
    let items = vec![Value::Integer(-3), Value::Float(-0.0), Value::Null, Value::Bool(true)];
    assert!(same(&unpack(&json), &[("a", Value::Array(items))].into_iter().collect()));
}
