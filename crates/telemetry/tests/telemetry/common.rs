//! A schema, a capture, hand-made MCAP files.

use fw_dynamic::{Codec, FrameCodec};
use fw_schema::{Schema, check_text};
use fw_structframe::{Framing, Header};
use serde_json::json;
use std::path::PathBuf;

pub(crate) const ROBOT: &str = "package robot;
    enum Fix { NONE = 0; FIX_2D = 2; FIX_3D = 3; }
    enum Odd { FIRST = 5; SECOND = 9; }
    message Point { float x = 1; float y = 2; }
    message Go { uint16 speed = 1; }
    message Gps { option msgid = 1; uint64 stamp_us = 1; Fix fix = 2; double lat = 3; int16 climb = 4; bool ok = 5;
        string name = 6 [max_size=12]; repeated uint16 snr = 7 [max_size=4]; repeated float cov = 8 [size=3];
        Point at = 9; repeated Point track = 10 [max_size=3]; Odd odd = 11; bytes raw = 12 [size=2]; }
    message Command { option msgid = 2; uint8 n = 1;
        oneof body { option discriminator = field_order; Go go = 1; uint32 stop = 2; Fix fix = 3; } }
    message Empty { option msgid = 3; }";

pub(crate) fn schema(text: &str) -> Schema {
    check_text("robot.sf", text).into_result().unwrap_or_else(|faults| panic!("{faults}"))
}

/// Lines as `fw encode` takes them.
pub(crate) fn lines(count: u64) -> Vec<serde_json::Value> {
    let mut lines = Vec::new();
    for step in 0..count {
        lines.push(match step % 4 {
            0 | 1 => json!({"message": "Gps", "values": {
                "stamp_us": (1_000_000 + step * 1000).to_string(), "fix": ([0, 2, 3, 77][(step / 2) as usize % 4]),
                "lat": 48.5 + step as f64, "climb": -((step % 1000) as i64), "ok": step % 8 == 0, "name": format!("g\"{step},é"),
                "snr": vec![step; (step % 5) as usize], "cov": [0.5, -0.0, 1e-3], "at": {"x": 1.5, "y": step},
                "track": vec![json!({"x": step, "y": 2}); (step % 4) as usize], "odd": 9, "raw": {"hex": "00ff"}}}),
            2 => json!({"message": "Command", "values": {"n": (step % 256), "body": match step % 3 {
                0 => json!({"which": "go", "value": {"speed": step}}),
                1 => json!({"which": "stop", "value": 0}),
                _ => serde_json::Value::Null,
            }}}),
            _ => json!({"message": "Empty", "values": {}}),
        });
    }
    lines
}

pub(crate) fn capture(schema: &Schema, framing: Framing, lines: &[serde_json::Value]) -> Vec<u8> {
    let codec = Codec::new(schema);
    let frames = FrameCodec::new(&codec, framing);
    let mut bytes = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let header = Header { sequence: at as u8, system: 1, component: 2 };
        frames.write_line(line, header, &mut bytes).unwrap();
    }
    bytes
}

/// A record: kind, length, body.
pub(crate) fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut record = vec![kind];
    record.extend((body.len() as u64).to_le_bytes());
    record.extend(body);
    record
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}

/// A schema record.
pub(crate) fn schema_record(id: u16, name: &str, encoding: &str, data: &[u8]) -> Vec<u8> {
    let mut body = id.to_le_bytes().to_vec();
    body.extend(text(name));
    body.extend(text(encoding));
    body.extend((data.len() as u32).to_le_bytes());
    body.extend(data);
    record(3, &body)
}

pub(crate) fn channel_record(id: u16, schema: u16, topic: &str, encoding: &str) -> Vec<u8> {
    let mut body = id.to_le_bytes().to_vec();
    body.extend(schema.to_le_bytes());
    body.extend(text(topic));
    body.extend(text(encoding));
    body.extend(0u32.to_le_bytes());
    record(4, &body)
}

pub(crate) fn message_record(channel: u16, time: u64, data: &[u8]) -> Vec<u8> {
    let mut body = channel.to_le_bytes().to_vec();
    body.extend(7u32.to_le_bytes());
    body.extend(time.to_le_bytes());
    body.extend((time + 1).to_le_bytes());
    body.extend(data);
    record(5, &body)
}

/// A chunk with these stored bytes.
pub(crate) fn chunk_record(compression: &str, len: u64, sum: u32, stored: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 16];
    body.extend(len.to_le_bytes());
    body.extend(sum.to_le_bytes());
    body.extend(text(compression));
    body.extend((stored.len() as u64).to_le_bytes());
    body.extend(stored);
    record(6, &body)
}

pub(crate) fn lz4(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A whole file of these records.
pub(crate) fn file(records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"\x89MCAP0\r\n".to_vec();
    file.extend(record(1, &[text(""), text("by hand")].concat()));
    file.extend(records.concat());
    file.extend(record(0x0f, &[0; 4]));
    file.extend(record(2, &[0; 20]));
    file.extend(b"\x89MCAP0\r\n");
    file
}

/// The descriptors of `Ping { uint32 seq = 1; repeated uint32 v = 2; Ping next = 3; string s = 4; }`, which contains itself.
pub(crate) fn ping() -> Vec<u8> {
    use prost::Message;
    use prost_types::field_descriptor_proto::{Label, Type};
    use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};
    let field = |name: &str, number, label: Label, kind: Type, of: Option<&str>| FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name: of.map(str::to_owned),
        ..FieldDescriptorProto::default()
    };
    let message = DescriptorProto {
        name: Some("Ping".to_owned()),
        field: vec![
            field("seq", 1, Label::Optional, Type::Uint32, None),
            field("v", 2, Label::Repeated, Type::Uint32, None),
            field("next", 3, Label::Optional, Type::Message, Some(".demo.Ping")),
            field("s", 4, Label::Optional, Type::String, None),
        ],
        ..DescriptorProto::default()
    };
    let file = FileDescriptorProto {
        name: Some("demo.proto".to_owned()),
        package: Some("demo".to_owned()),
        message_type: vec![message],
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    };
    FileDescriptorSet { file: vec![file] }.encode_to_vec()
}

/// The interpreter with the packages of the tests; says when there is none.
pub(crate) fn python() -> Option<PathBuf> {
    let found = std::env::var_os("FW_PYTHON").map(PathBuf::from);
    if found.is_none() {
        let line = "FW_PYTHON is not set: MCAP, Parquet, Arrow and Foxglove were not compared with Python's readers";
        eprintln!("SKIPPED: {line}");
        if let Some(path) = std::env::var_os("FW_SKIPPED") {
            use std::io::Write;
            let log = std::fs::OpenOptions::new().append(true).create(true).open(path);
            log.and_then(|mut log| writeln!(log, "{line}")).unwrap();
        }
    }
    found
}
