//! Every payload of the shared vector set: values, JSON, both layouts, and columns there and back.

use fw_dynamic::columns::{Decoder, Header};
use fw_dynamic::{Codec, Layout, UnionValue, Value};
use fw_schema::Schema;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/struct-frame")
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn compile(path: &Path) -> Schema {
    fw_schema::check(path).into_result().unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The payload inside a frame, and its layout.
fn payload_of(dir: &Path, frame: &Json) -> (Layout, Vec<u8>) {
    let profile = frame["profile"].as_str().unwrap();
    let bytes = std::fs::read(dir.join(frame["file"].as_str().unwrap())).unwrap();
    if let Some(hex) = frame["hex"].as_str() {
        assert_eq!(bytes, unhex(hex));
    }
    payload_in(&bytes, profile, frame["expect"]["msg_len"].as_u64().unwrap())
}

/// The payload is followed by a checksum, unless the framing is minimal.
fn payload_in(frame: &[u8], profile: &str, len: u64) -> (Layout, Vec<u8>) {
    let minimal = matches!(profile, "sensor" | "ipc") || profile.ends_with("-minimal");
    let (tail, layout) = if minimal { (0, Layout::Fixed) } else { (2, Layout::Wire) };
    let end = frame.len() - tail;
    (layout, frame[end - len as usize..end].to_vec())
}

/// What a reader sees of a value that was written: an untagged member is only its region.
fn as_seen<'s>(codec: &Codec<'s>, written: Value<'s>, message: &'s fw_schema::layout::Message) -> Value<'s> {
    let Value::Message(mut entries) = written else { panic!() };
    for (name, value) in &mut entries {
        let Some(union) = message.union(name).filter(|union| union.discriminator.is_empty()) else { continue };
        // Its region, read from the payload with every plain field in front of it.
        let Value::Union(inner) = value.clone() else { panic!() };
        let mut probe = codec.default_value(message);
        let Value::Message(fields) = &mut probe else { panic!() };
        fields.iter_mut().find(|(known, _)| known == name).unwrap().1 = Value::Union(inner);
        let fixed = codec.encode(message, Layout::Fixed, &probe).unwrap();
        let region = fixed[union.region_offset()..union.region_offset() + union.region].to_vec();
        *value = Value::Union(Box::new(UnionValue::Untagged(region)));
    }
    Value::Message(entries)
}

/// SF-5 to SF-11, SF-15: every case of every manifest, in both layouts, both ways.
#[test]
fn every_case_both_ways() {
    let (mut cases, mut payloads) = (0, 0);
    for group in json(&root().join("manifest.json"))["groups"].as_array().unwrap() {
        if group["format"] != "struct-frame-vectors/1" {
            continue;
        }
        let dir = root().join(group["group"].as_str().unwrap());
        let manifest = json(&dir.join("manifest.json"));
        let schema = compile(&dir.join(manifest["schema"].as_str().unwrap()));
        let codec = Codec::new(&schema);
        let mut captures = [Layout::Wire, Layout::Fixed].map(|layout| (Decoder::new(&codec, layout), Vec::new()));
        for case in manifest["cases"].as_array().unwrap() {
            let id = case["id"].as_str().unwrap();
            let message = schema.find(case["message"].as_str().unwrap()).unwrap();
            let value = codec.value_from_json(message, &case["values"]).unwrap_or_else(|fault| panic!("{id}: {fault}"));
            let seen = as_seen(&codec, value.clone(), message);

            let mut known: Vec<(Layout, Vec<u8>)> = Vec::new();
            if let Some(hex) = case["payload_wire"].as_str() {
                known.push((Layout::Wire, unhex(hex)));
                // Long fixed payloads are not spelt out; the frames below hold them.
                let fixed = case["payload_fixed"].as_str().or((!message.variable).then_some(hex));
                known.extend(fixed.map(|hex| (Layout::Fixed, unhex(hex))));
            }
            known.extend(case["frames"].as_array().unwrap().iter().map(|frame| payload_of(&dir, frame)));
            for (layout, payload) in known {
                let encoded = codec.encode(message, layout, &value).unwrap_or_else(|fault| panic!("{id}: {fault}"));
                assert_eq!(encoded, payload, "{id} {layout:?}");
                let decoded = codec.decode(message, layout, &payload).unwrap_or_else(|fault| panic!("{id}: {fault}"));
                assert!(decoded.same(&seen), "{id} {layout:?}\n{decoded:?}\n{seen:?}");
                let text = serde_json::to_string(&decoded).unwrap();
                let again = codec.value_from_json(message, &serde_json::from_str(&text).unwrap()).unwrap();
                assert!(again.same(&decoded), "{id} {text}");

                let (decoder, expected) = &mut captures[usize::from(layout == Layout::Fixed)];
                let header = Header { sequence: payloads as u8, system: cases as u8, component: 3 };
                decoder.push(message.id.unwrap(), header, &payload).unwrap();
                expected.push((message.id.unwrap(), header, payload));
                payloads += 1;
            }
            cases += 1;
        }
        for (decoder, expected) in captures {
            let capture = decoder.finish();
            assert!(capture.strays.is_empty());
            assert!(capture.tables.iter().all(|table| table.irregular.is_empty()), "{group}");
            assert_eq!(capture.payloads().collect::<Vec<_>>(), expected);
        }
    }
    println!("{cases} cases, {payloads} payloads");
    assert!(cases >= 255 && payloads >= 1500, "{cases} {payloads}");
}

/// Numbers are equal as doubles, or as floats.
fn alike(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            a == b || a as f32 == b as f32
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| alike(a, b)))
        }
        (a, b) => a == b,
    }
}

/// SF-8.3, SF-8.4, SF-9.2, SF-10.3, SF-7.4: old and new peers, both ways, through values and through columns.
#[test]
fn evolution() {
    let dir = root().join("07-evolution");
    let mut cases = 0;
    for name in ["manifest.json", "manifest-2.json", "manifest-3.json"] {
        for case in json(&dir.join(name))["cases"].as_array().unwrap() {
            let id = case["id"].as_str().unwrap();
            let [writer, reader] =
                ["writer_schema", "reader_schema"].map(|key| compile(&dir.join(case[key].as_str().unwrap())));
            let (layout, payload) = payload_of(&dir, case);
            let name = case["message"].as_str().unwrap();
            let codec = Codec::new(&writer);
            let message = writer.find(name).unwrap();
            let value = codec.value_from_json(message, &case["written_values"]).unwrap();
            assert_eq!(codec.encode(message, layout, &value).unwrap(), payload, "{id}");

            let codec = Codec::new(&reader);
            let message = reader.find(name).unwrap();
            let decoded = codec.decode(message, layout, &payload).unwrap_or_else(|fault| panic!("{id}: {fault}"));
            let shown = serde_json::to_value(&decoded).unwrap();
            assert!(alike(&shown, &case["expect_decoded"]), "{id}\n{shown}\n{}", case["expect_decoded"]);

            let mut decoder = Decoder::new(&codec, layout);
            decoder.push(message.id.unwrap(), Header::default(), &payload).unwrap();
            let capture = decoder.finish();
            assert_eq!(capture.payloads().map(|(_, _, bytes)| bytes).collect::<Vec<_>>(), [payload], "{id}");
            cases += 1;
        }
    }
    assert_eq!(cases, 176);
}

/// The canonical files of the original, when they are at hand: every payload is read as its fixture says and written again
/// to the same bytes.
#[test]
fn canonical_files() {
    let Some(golden) = std::env::var_os("FW_GOLDEN").map(PathBuf::from) else {
        println!("SKIPPED: FW_GOLDEN is not set, the canonical files were not checked");
        return;
    };
    let index = json(&golden.join("README.json"));
    let mut payloads = 0;
    for file in index["files"].as_array().unwrap() {
        let suite = &index["schemas"][file["suite"].as_str().unwrap()];
        let schema = compile(&golden.join(suite["schema"].as_str().unwrap()));
        let codec = Codec::new(&schema);
        let fixtures = json(&golden.join(suite["fixtures"].as_str().unwrap()));
        let bytes = std::fs::read(golden.join(file["file"].as_str().unwrap())).unwrap();
        let profile = file["profile"].as_str().unwrap();
        let frames = file["frames"].as_array().unwrap();
        for (frame, fixture) in frames.iter().zip(fixtures["fixtures"].as_array().unwrap()) {
            let number = |key: &str| frame[key].as_u64().unwrap() as usize;
            let frame_bytes = &bytes[number("offset")..number("offset") + number("size")];
            let (layout, payload) = payload_in(frame_bytes, profile, number("msg_len") as u64);
            let message = schema.by_id(number("msg_id") as u16).unwrap();
            assert_eq!(message.name, fixture["message"].as_str().unwrap());
            let value = codec.value_from_json(message, &fixture["values"]).unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(codec.encode(message, layout, &value).unwrap(), payload, "{file} {}", message.name);
            let decoded = codec.decode(message, layout, &payload).unwrap();
            assert_eq!(codec.encode(message, layout, &decoded).unwrap(), payload, "{file} {}", message.name);
            payloads += 1;
        }
    }
    assert_eq!(payloads, 21 * 5 + 10 * 2 + 7);
}
