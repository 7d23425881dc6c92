//! Every entry of the shared manifests that holds frames, through every reader (whole buffer, random chunks, byte by byte), as
//! values and as columns: the same result each way, and in the columns exactly what the values say.

use fw_dynamic::columns::{Column, Decoder, Role, Stray};
use fw_dynamic::{Codec, FrameCodec, UnionValue, Value};
use fw_schema::layout::{Element, Message, Type};
use fw_schema::{Schema, check};
use fw_structframe::{Counters, Event, Framing, Header, HeaderKind, PayloadKind, Profile};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything that reading tells, in a form that can be compared.
#[derive(Debug, PartialEq)]
struct Told {
    /// Frames as lines of JSON, everything else as it is.
    events: Vec<String>,
    counters: Counters,
    tables: Vec<Rows>,
    strays: Vec<Stray>,
}

#[derive(Debug, PartialEq)]
struct Rows {
    message: String,
    arrival: Vec<u64>,
    header: [Vec<u8>; 3],
    columns: Vec<Column>,
    irregular: BTreeMap<u64, Vec<u8>>,
}

/// One way of reading: events go to lines and to columns alike.
struct Reader<'c, 's> {
    frames: &'c FrameCodec<'c, 's>,
    decoder: Decoder<'c, 's>,
    events: Vec<String>,
}

impl<'c, 's> Reader<'c, 's> {
    fn new(codec: &'c Codec<'s>, frames: &'c FrameCodec<'c, 's>) -> Self {
        Self { frames, decoder: Decoder::new(codec, frames.framing().layout()), events: Vec::new() }
    }

    fn take(&mut self, event: Event<'_>) {
        self.events.push(match event {
            Event::Frame(frame) => {
                self.decoder.push(frame.id, frame.header, frame.payload).unwrap();
                serde_json::to_string(&self.frames.line(&frame)).unwrap()
            }
            other => format!("{other:?}"),
        });
    }

    fn finish(self, counters: Counters) -> Told {
        let capture = self.decoder.finish();
        let tables = capture.tables.into_iter().map(|table| Rows {
            message: table.message.name.clone(),
            arrival: table.arrival,
            header: [table.sequence, table.system, table.component],
            columns: table.columns,
            irregular: table.irregular,
        });
        Told { events: self.events, counters, tables: tables.collect(), strays: capture.strays }
    }
}

/// Reads in every way and compares.
fn read(codec: &Codec<'_>, framing: Framing, bytes: &[u8], what: &str) -> Told {
    let frames = FrameCodec::new(codec, framing);
    let mut reader = Reader::new(codec, &frames);
    let mut buffer = frames.read(bytes);
    buffer.by_ref().for_each(|event| reader.take(event));
    let whole = reader.finish(buffer.counters());
    let mut dice =
        Dice(bytes.iter().fold(0x9e37_79b9, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte))));
    for (round, most) in [0, 1, 5, 17, 60].into_iter().enumerate() {
        let mut reader = Reader::new(codec, &frames);
        let mut stream = frames.stream();
        let mut rest = bytes;
        while !rest.is_empty() {
            let len = if round == 0 { 1 } else { dice.below(most + 1) };
            let (chunk, behind) = rest.split_at(len.min(rest.len()));
            stream.read(chunk, |event| reader.take(event));
            rest = behind;
        }
        stream.finish(|event| reader.take(event));
        assert_eq!(reader.finish(stream.counters()), whole, "{what}: chunks of up to {most}");
    }
    let (columns, counters) = frames.columns(bytes).unwrap();
    assert_eq!(counters, whole.counters, "{what}");
    let direct: Vec<&Vec<Column>> = columns.tables.iter().map(|table| &table.columns).collect();
    assert_eq!(direct, whole.tables.iter().map(|table| &table.columns).collect::<Vec<_>>(), "{what}");
    whole
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/struct-frame")
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Every manifest of a format, with its folder.
fn manifests(format: &str) -> Vec<(PathBuf, Json)> {
    let index = json(&root().join("manifest.json"));
    let groups = index["groups"].as_array().unwrap().iter().filter(|group| group["format"] == format);
    let names = groups.flat_map(|group| group["manifests"].as_array().unwrap()).map(|name| name.as_str().unwrap());
    names.map(|name| (root().join(name).parent().unwrap().to_owned(), json(&root().join(name)))).collect()
}

fn schema(dir: &Path, name: &Json) -> Schema {
    check(dir.join(name.as_str().unwrap())).into_result().unwrap_or_else(|faults| panic!("{faults}"))
}

fn framing(frame: &Json) -> Framing {
    if let Ok(profile) = frame["profile"].as_str().unwrap().parse::<Profile>() {
        return profile.framing();
    }
    let header = HeaderKind::ALL.into_iter().find(|kind| Some(kind.name()) == frame["header"].as_str()).unwrap();
    let payload =
        PayloadKind::ALL.into_iter().find(|kind| Some(kind.name()) == frame["payload_type"].as_str()).unwrap();
    Framing::new(header, payload)
}

fn file(dir: &Path, entry: &Json) -> Vec<u8> {
    std::fs::read(dir.join(entry["file"].as_str().unwrap())).unwrap()
}

/// Of a large id such a framing carries the low byte only: its readers see another message.
fn is_cut(framing: Framing, message: &Message) -> bool {
    !framing.has_package() && message.id.is_some_and(|id| id > 255)
}

#[test]
fn every_frame_of_every_case() {
    let (mut cases, mut frames) = (0, 0);
    for (dir, manifest) in manifests("struct-frame-vectors/1") {
        let schema = schema(&dir, &manifest["schema"]);
        let codec = Codec::new(&schema);
        for case in manifest["cases"].as_array().unwrap() {
            let message = schema.find(case["message"].as_str().unwrap()).unwrap();
            let value = codec.value_from_json(message, &case["values"]).unwrap();
            for frame in case["frames"].as_array().unwrap() {
                let what = frame["file"].as_str().unwrap();
                let framing = framing(frame);
                let found = read(&codec, framing, &file(&dir, frame), what);
                frames += 1;
                if is_cut(framing, message) {
                    continue;
                }
                let [line] = found.events.as_slice() else { panic!("{what}: {:?}", found.events) };
                let line: Json = serde_json::from_str(line).unwrap();
                let seen = codec.value_from_json(message, &line["values"]).unwrap();
                let untagged = message.unions.iter().any(|union| union.discriminator.is_empty());
                assert!(untagged || seen.same(&value), "{what}: {line}");
                assert_eq!(line["message"], *fw_dynamic::shown_name(&schema, message), "{what}");
                let expect = &frame["expect"];
                assert_eq!(line["id"], expect["msg_id"], "{what}");
                for (key, name) in [("sequence", "sequence"), ("system", "system_id"), ("component", "component_id")] {
                    if let (Some(found), Some(wanted)) = (line.get(key), expect.get(name)) {
                        assert_eq!(found, wanted, "{what} {key}");
                    }
                }
                let [table] = found.tables.as_slice() else { panic!("{what}: {:?}", found.tables) };
                assert!(found.strays.is_empty() && table.irregular.is_empty(), "{what}");
                compare_columns(&schema, message, &seen, &table.columns, what);
            }
            cases += 1;
        }
    }
    assert!(cases >= 255 && frames >= 1300, "{cases} cases, {frames} frames");
}

#[test]
fn every_evolution_case() {
    let mut cases = 0;
    for (dir, manifest) in manifests("struct-frame-evolution/1") {
        for case in manifest["cases"].as_array().unwrap() {
            let what = case["id"].as_str().unwrap();
            let schema = schema(&dir, &case["reader_schema"]);
            let codec = Codec::new(&schema);
            let message = schema.find(case["message"].as_str().unwrap()).unwrap();
            let bytes = file(&dir, case);
            let framing = framing(case);
            let found = read(&codec, framing, &bytes, what);
            let [line] = found.events.as_slice() else { panic!("{what}: {:?}", found.events) };
            assert_eq!((found.counters.frames, found.counters.crc_failures), (1, 0), "{what}");
            let line: Json = serde_json::from_str(line).unwrap();
            let value = codec.value_from_json(message, &line["values"]).unwrap();
            compare_columns(&schema, message, &value, &found.tables[0].columns, what);
            // The columns give the frame back, whatever the reader does not understand of it.
            let frames = FrameCodec::new(&codec, framing);
            let mut again = Vec::new();
            frames.write_columns(&frames.columns(&bytes).unwrap().0, &mut again).unwrap();
            assert_eq!(again, bytes, "{what}");
            cases += 1;
        }
    }
    assert_eq!(cases, 176);
}

#[test]
fn every_stream_and_every_negative_scenario() {
    let mut inputs = 0;
    for (dir, manifest) in manifests("struct-frame-streams/1") {
        let schema = schema(&dir, &manifest["schema"]);
        let codec = Codec::new(&schema);
        for entry in manifest["streams"].as_array().unwrap() {
            let what = entry["id"].as_str().unwrap();
            let found = read(&codec, framing(entry), &file(&dir, entry), what);
            let due = |key: &str| entry[key].as_array().unwrap().len();
            assert_eq!(found.counters.frames as usize, due("must_deliver") + due("may_also_deliver"), "{what}");
            inputs += 1;
        }
    }
    for (dir, manifest) in manifests("struct-frame-negative/1") {
        for entry in manifest["scenarios"].as_array().unwrap() {
            let schema = schema(&dir, entry.get("schema").unwrap_or(&manifest["schema"]));
            let codec = Codec::new(&schema);
            let what = entry["scenario"].as_str().unwrap();
            let found = read(&codec, framing(entry), &file(&dir, entry), what);
            let valid = entry["items"].as_array().unwrap().iter().filter(|item| item["result"] == "Valid").count();
            assert_eq!(found.counters.frames as usize, valid, "{what}");
            inputs += 1;
        }
    }
    assert_eq!(inputs, 25 + 29);
}

/// What comes after the used part of bounded text and arrays may be anything: values and the used parts of columns stay
/// the same, and the careless bytes come back from the columns.
#[test]
fn bytes_behind_the_used_part_may_be_anything() {
    let (mut frames, mut filled) = (0, 0);
    for (dir, manifest) in manifests("struct-frame-vectors/1") {
        let schema = schema(&dir, &manifest["schema"]);
        let codec = Codec::new(&schema);
        for case in manifest["cases"].as_array().unwrap() {
            let message = schema.find(case["message"].as_str().unwrap()).unwrap();
            let value = codec.value_from_json(message, &case["values"]).unwrap();
            for profile in Profile::ALL {
                let framing = profile.framing();
                // Trimmed payloads have no such bytes.
                if is_cut(framing, message) || (message.variable && framing.has_length()) {
                    continue;
                }
                let what = format!("{} {profile:?}", case["id"]);
                let tidy = codec.encode(message, framing.layout(), &value).unwrap();
                if tidy.len() > framing.max_payload_len() {
                    continue;
                }
                let mut careless = tidy.clone();
                let mut dice = Dice(frames);
                unused(&schema, message, &value, 0, &mut |at, end| {
                    for byte in &mut careless[at..end] {
                        *byte = dice.below(256) as u8;
                        filled += 1;
                    }
                });
                let codec_frames = FrameCodec::new(&codec, framing);
                let header = Header { sequence: 1, system: 2, component: 3 };
                let [clean, dirty] = [&tidy, &careless].map(|payload| {
                    let mut bytes = Vec::new();
                    codec_frames.write_payload(message.id.unwrap(), header, payload, &mut bytes).unwrap();
                    bytes
                });
                let (expected, found) = (read(&codec, framing, &clean, &what), read(&codec, framing, &dirty, &what));
                assert_eq!(found.events, expected.events, "{what}");
                let Json::Object(line) = serde_json::from_str(&found.events[0]).unwrap() else { panic!("{what}") };
                let seen = codec.value_from_json(message, &line["values"]).unwrap();
                compare_used(&schema, message, &seen, &found.tables[0].columns, &what);
                let mut again = Vec::new();
                codec_frames.write_columns(&codec_frames.columns(&dirty).unwrap().0, &mut again).unwrap();
                assert_eq!(again, dirty, "{what}");
                frames += 1;
            }
        }
    }
    assert!(frames > 500 && filled > 10_000, "{frames} frames, {filled} bytes");
}

/// Tells the ranges behind the used parts of a message that stands at `base` in the fixed layout.
fn unused(schema: &Schema, message: &Message, value: &Value<'_>, base: usize, tell: &mut dyn FnMut(usize, usize)) {
    for field in &message.fields {
        let (at, value) = (base + field.offset, value.get(&field.name).unwrap());
        match (field.ty, value) {
            (Type::Array { element, extent }, Value::List(list)) => {
                let body = at + extent.prefix_len();
                for (place, value) in list.iter().enumerate() {
                    unused_of(schema, element, value, body + place * field.unit, field.unit, tell);
                }
                tell(body + list.len() * field.unit, at + field.size);
            }
            (ty, value) => unused_of(schema, ty.element(), value, at, field.size, tell),
        }
    }
}

fn unused_of(
    schema: &Schema,
    element: Element,
    value: &Value<'_>,
    at: usize,
    size: usize,
    tell: &mut dyn FnMut(usize, usize),
) {
    let len = match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    match element {
        Element::Message(index) => unused(schema, &schema[index], value, at, tell),
        Element::String(extent) | Element::Bytes(extent) if extent.prefix_len() > 0 => {
            tell(at + extent.prefix_len() + len, at + size);
        }
        _ => {}
    }
}

/// Each column of one row holds what the value says at its path.
fn compare_columns(schema: &Schema, message: &Message, value: &Value<'_>, columns: &[Column], what: &str) {
    for column in columns {
        let path: Vec<&str> = column.path.split('@').next().unwrap().split('.').collect();
        let mut expected = Vec::new();
        cell(schema, Some(message), value, &path, &column.dims, (column, 0), &mut expected);
        assert_eq!(column.data, expected, "{what}: column {}", column.path);
    }
}

/// The same where the padding is what a careless peer sent.
fn compare_used(schema: &Schema, message: &Message, value: &Value<'_>, columns: &[Column], what: &str) {
    for column in columns {
        let path: Vec<&str> = column.path.split('@').next().unwrap().split('.').collect();
        let [zeros, ones] = [0, 0xff].map(|fill| {
            let mut expected = Vec::new();
            cell(schema, Some(message), value, &path, &column.dims, (column, fill), &mut expected);
            expected
        });
        assert_eq!(column.data.len(), zeros.len(), "{what}: column {}", column.path);
        for (at, found) in column.data.iter().enumerate() {
            // What both agree on is not padding.
            assert!(zeros[at] != ones[at] || *found == zeros[at], "{what}: column {} at {at}", column.path);
        }
    }
}

/// The bytes of a column, from the value at the rest of its path.
fn cell(
    schema: &Schema,
    message: Option<&Message>,
    value: &Value<'_>,
    path: &[&str],
    dims: &[usize],
    (column, fill): (&Column, u8),
    out: &mut Vec<u8>,
) {
    let width = column.dtype.bits() as usize / 8;
    let blank = |dims: &[usize]| vec![fill; width * dims.iter().product::<usize>()];
    let padded = |bytes: &[u8], len: usize| [bytes, &vec![fill; len - bytes.len()]].concat();
    match (value, path, column.role) {
        (Value::List(list), [], Role::Count) => out.extend(&list.len().to_le_bytes()[..width]),
        (Value::List(list), ..) => {
            let (count, inner) = dims.split_first().unwrap();
            for place in 0..*count {
                match list.get(place) {
                    Some(value) => cell(schema, message, value, path, inner, (column, fill), out),
                    None => out.extend(blank(inner)),
                }
            }
        }
        (Value::Message(_), [name, rest @ ..], _) => {
            let message = message.unwrap();
            let inside = value.get(name).unwrap();
            let element = message.field(name).map(|field| field.ty.element());
            let next = match element {
                Some(Element::Message(index)) => Some(&schema[index]),
                Some(_) => None,
                None => Some(message),
            };
            match (inside, rest, column.role) {
                (Value::Union(union), [], Role::Tag) => {
                    let declared = message.union(name).unwrap();
                    let tag = match &**union {
                        UnionValue::Member { name, .. } => declared.member(name).unwrap().tag.unwrap(),
                        UnionValue::Unknown { tag, .. } => *tag,
                        UnionValue::Unset | UnionValue::Untagged(_) => 0,
                    };
                    out.extend(&tag.to_le_bytes()[..width]);
                }
                (Value::Union(union), [member, rest @ ..], _) => match &**union {
                    UnionValue::Member { name: set, .. }
                        if set == member && column.role == Role::Valid && rest.is_empty() =>
                    {
                        out.push(1);
                    }
                    UnionValue::Member { name: set, value } if set == member => {
                        let element = message.union(name).unwrap().member(member).unwrap().element;
                        let next = if let Element::Message(index) = element { Some(&schema[index]) } else { None };
                        cell(schema, next, value, rest, dims, (column, fill), out);
                    }
                    _ => out.extend(blank(dims)),
                },
                _ => cell(schema, next, inside, rest, dims, (column, fill), out),
            }
        }
        (Value::Union(union), [], _) => match &**union {
            UnionValue::Untagged(bytes) => out.extend(padded(bytes, blank(dims).len())),
            _ => out.extend(blank(dims)),
        },
        (Value::Text(text), _, Role::Length) => out.extend(&text.len().to_le_bytes()[..width]),
        (Value::Bytes(bytes), _, Role::Length) => out.extend(&bytes.len().to_le_bytes()[..width]),
        (Value::Text(text), ..) => out.extend(padded(text.as_bytes(), blank(dims).len())),
        (Value::Bytes(bytes), ..) => out.extend(padded(bytes, blank(dims).len())),
        (Value::Bool(value), ..) => out.push(u8::from(*value)),
        (Value::Unsigned(value) | Value::Unsigned64(value), ..) => out.extend(&value.to_le_bytes()[..width]),
        (Value::Signed(value) | Value::Signed64(value), ..) => out.extend(&value.to_le_bytes()[..width]),
        (Value::Float(value), ..) => out.extend(value.to_le_bytes()),
        (Value::Double(value), ..) => out.extend(value.to_le_bytes()),
        (Value::Enum(byte, _), ..) => out.push(*byte),
        other => panic!("{}: {other:?}", column.path),
    }
}
