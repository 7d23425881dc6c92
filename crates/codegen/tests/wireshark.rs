//! The dissector in `tshark`: every field of every frame, wrong checksums, streams that split frames.

mod capture;
mod common;

use capture::{Bench, Shown};
use fw_dynamic::{Codec, FrameCodec, UnionValue, Value};
use fw_schema::layout::{Element, Message, Type};
use fw_schema::testing::Entropy;
use fw_structframe::{Header, Profile};
use serde_json::json;
use std::collections::BTreeMap;

const ROBOT: &str = "../../examples/struct-frame/robot.proto";
const TORTURE: &str = "tests/schemas/torture.sf";

#[test]
fn every_field_is_shown() {
    let Some(mut bench) = Bench::new(ROBOT) else { return };
    let telemetry = json!({
        "time_us": "1234567890123", "mode": 2, "position": { "x": 1.5, "y": -2.0, "z": 0.25 },
        "wheel_speed": [1.0, 2.0, 3.0, 4.5], "battery_volts": 11.5, "ranges_mm": [100, 200, 65535]
    });
    let command = json!({ "sequence": 7, "order": { "which": "halt", "value": { "reason": "edge" } } });
    for profile in [Profile::Standard, Profile::Bulk, Profile::Network] {
        let mut datagram = bench.frame(profile, "Telemetry", &telemetry);
        datagram.extend(bench.frame(profile, "Command", &command));
        bench.udp(&datagram);
    }
    let rows = bench.fields(&[
        "robot.frame_framing",
        "robot.frame_message",
        "robot.frame_checksum_good",
        "robot.telemetry.time_us",
        "robot.telemetry.mode",
        "robot.vector3.y",
        "robot.telemetry.wheel_speed",
        "robot.telemetry.battery_volts",
        "robot.telemetry.ranges_mm",
        "robot.command.sequence",
        "robot.frame_tag",
        "robot.halt.reason",
    ]);
    assert_eq!(rows.len(), 3);
    for (row, profile) in rows.iter().zip(["Standard", "Bulk", "Network"]) {
        let expected = [
            &format!("{profile},{profile}"),
            "robot.Telemetry,robot.Command",
            "1,1",
            "1234567890123",
            "2",
            "-2",
            "1,2,3,4.5",
            "11.5",
            "100,200,65535",
            "7",
            "3",
            "edge",
        ];
        // How a version prints true, or a tag's base, is not what this test is about.
        let found: Vec<String> = row.iter().map(|cell| cell.replace("True", "1").replace("0x0003", "3")).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_wrong_checksum_is_told_and_what_follows_is_found() {
    let Some(mut bench) = Bench::new(ROBOT) else { return };
    let halt = |reason: &str| json!({ "reason": reason });
    let good = bench.frame(Profile::Standard, "Halt", &halt("first"));
    let mut bad = bench.frame(Profile::Standard, "Halt", &halt("second"));
    bad[8] ^= 1;
    let last = bench.frame(Profile::Standard, "Halt", &halt("third"));
    bench.udp(&[good, bad, last].concat());
    let rows = bench.fields(&["robot.frame_checksum_good", "robot.halt.reason", "_ws.expert.message"]);
    assert_eq!(rows[0][0].replace("True", "1").replace("False", "0"), "1,0,1");
    assert!(rows[0][1].starts_with("first,") && rows[0][1].ends_with(",third"), "{rows:?}");
    assert_eq!(rows[0][2], "wrong checksum");
}

#[test]
fn a_stream_that_splits_frames_is_put_together() {
    let Some(mut bench) = Bench::new(ROBOT) else { return };
    let acknowledge =
        json!({ "sequence": 9, "accepted": true, "note": "on my way", "log": { "hex": "00ff".repeat(100) } });
    let whole = bench.frame(Profile::Bulk, "Halt", &json!({ "reason": "start" }));
    let frame = bench.frame(Profile::Bulk, "Acknowledge", &acknowledge);
    let (first, second) = frame.split_at(100);
    bench.tcp(&[whole, first.to_vec()].concat());
    bench.tcp(second);
    let rows = bench.fields(&["robot.frame_message", "robot.acknowledge.note", "robot.frame_checksum_good"]);
    let named: Vec<&[String]> = rows.iter().filter(|row| !row[0].is_empty()).map(Vec::as_slice).collect();
    assert_eq!(named.len(), 2, "{rows:?}");
    assert_eq!(
        (named[0][0].as_str(), named[1][0].as_str(), named[1][1].as_str()),
        ("robot.Halt", "robot.Acknowledge", "on my way")
    );
}

/// Random values of every message of the schema made to hurt: each is shown under its name, with its value and its bytes.
#[test]
fn every_message_is_shown() {
    let Some(mut bench) = Bench::new(TORTURE) else { return };
    let schema = bench.schema.clone();
    let expecting = Expecting { schema: &schema, filters: bench.filters() };
    let codec = Codec::new(&schema);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut sent = Vec::new();
    for (profile, (_, message)) in [Profile::Bulk, Profile::Network].into_iter().cycle().zip(schema.ids()) {
        let frames = FrameCodec::new(&codec, profile.framing());
        // Bytes that run out are zeros: short and empty values come last.
        for entropy in [6000, 6000, 6000, 600, 60, 6, 0] {
            let value = fw_dynamic::testing::value(&schema, message, &mut Entropy::new(&random.bytes(entropy)));
            let mut frame = Vec::new();
            frames.write(message, Header { sequence: 1, system: 2, component: 3 }, &value, &mut frame).unwrap();
            bench.udp(&frame);
            let mut expected = Vec::new();
            expecting.message(message, &value, &mut expected);
            sent.push((message, expected));
        }
    }
    // Names that differ in case only are told apart.
    let mut names: Vec<&String> = expecting.filters.values().collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    let packets = bench.shown(&[]);
    assert_eq!(packets.len(), sent.len());
    for (packet, (message, expected)) in packets.iter().zip(&sent) {
        let name = schema.qualified(message);
        assert!(packet.iter().any(|field| field.name == "torture.frame_message" && field.show == name), "{packet:?}");
        // Lines of text are fields of this name to Wireshark.
        let wrong = packet.iter().find(|field| field.name.starts_with("_ws.") && !field.name.starts_with("_ws.lua"));
        assert_eq!(wrong, None, "{name}");
        let found = expecting.found(packet);
        let alike =
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| expected.fits(found));
        assert!(alike, "{name}:\nexpected {expected:#?}\nfound {found:#?}");
    }
}

/// Payloads that nobody would write, in frames that are right: no script fails, and every packet is ended.
#[test]
fn hostile_payloads_are_shown() {
    let Some(mut bench) = Bench::new(TORTURE) else { return };
    let schema = bench.schema.clone();
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, Profile::Network.framing());
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut sent = 0;
    for (id, message) in schema.ids() {
        let value = codec.default_value(message);
        let good = codec.encode(message, fw_dynamic::Layout::Wire, &value).unwrap();
        let max = message.sizes.max;
        // Every short length, a few others, and the default cut or damaged.
        let mut lengths: Vec<usize> = (0..24.min(max + 2)).collect();
        lengths.extend([max.saturating_sub(1), max, max + 1, max + 40]);
        let noise = lengths.iter().map(|len| random.bytes(*len)).collect::<Vec<_>>();
        let ones = lengths.iter().map(|len| vec![0xff; *len]).collect::<Vec<_>>();
        let cut = lengths.iter().filter(|len| **len < good.len()).map(|len| good[..*len].to_vec()).collect::<Vec<_>>();
        for payload in [noise, ones, cut].concat() {
            let mut frame = Vec::new();
            frames.write_payload(id, Header { sequence: 1, system: 2, component: 3 }, &payload, &mut frame).unwrap();
            bench.udp(&frame);
            sent += 1;
        }
    }
    let packets = bench.shown(&[]);
    assert_eq!(packets.len(), sent);
    for packet in &packets {
        assert!(packet.iter().any(|field| field.name == "torture.frame_checksum_good"), "{packet:?}");
    }
}

/// A framing without start bytes is told by a preference; every length of a packet ends somewhere.
#[test]
fn a_framing_can_be_chosen() {
    let Some(mut bench) = Bench::new(TORTURE) else { return };
    let schema = bench.schema.clone();
    let codec = Codec::new(&schema);
    let mut random = Random(7);
    let message = schema.find("torture.Object").unwrap();
    // Its id does not fit into such a framing; what is shown then is noise, and nothing fails.
    for len in 0..40 {
        bench.udp(&random.bytes(len));
    }
    let framing = fw_structframe::Framing::new(fw_structframe::HeaderKind::None, fw_structframe::PayloadKind::Extended);
    let mut frame = Vec::new();
    let value = codec.value_from_json(message, &json!({ "v": 4660 })).unwrap();
    FrameCodec::new(&codec, framing).write(message, Header::default(), &value, &mut frame).unwrap();
    bench.udp(&frame);
    let options = ["-d", "udp.port==45001,torture", "-o", "torture.framing:None + Extended"];
    let packets = bench.shown(&options);
    let found: Vec<&Shown> = packets[40].iter().filter(|field| field.name == "torture.object.v").collect();
    assert!(matches!(found[..], [shown] if shown.show == "4660" && shown.bytes == "3412"), "{found:?}");
}

/// What is to be seen of a value: what filters call it, what people read, and its bytes.
#[derive(Debug)]
struct Expected {
    name: String,
    show: Show,
}

#[derive(Debug)]
enum Show {
    Integer(i128),
    Number(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// A message or a union: what it holds comes next.
    Tree,
}

impl Expected {
    fn fits(&self, found: &Shown) -> bool {
        let shown = found.show.as_str();
        self.name == found.name
            && match &self.show {
                Show::Integer(value) => {
                    let shown = shown.replace("True", "1").replace("False", "0");
                    shown.parse() == Ok(*value)
                }
                // A float is shown with six digits or so.
                Show::Number(value) => {
                    let shown: f64 = shown.parse().unwrap_or_else(|_| panic!("{found:?}"));
                    (value.is_nan() && shown.is_nan()) || *value == shown || (value - shown).abs() <= value.abs() * 1e-5
                }
                // How letters without a shape are spelled is Wireshark's business; fixed text is padded with zeros.
                Show::Text(text) => {
                    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\\');
                    hex(text.as_bytes()) == found.bytes.trim_end_matches("00") && (!plain || text == shown)
                }
                Show::Bytes(bytes) => hex(bytes) == found.bytes && shown.replace(':', "") == hex(bytes),
                Show::Tree => true,
            }
    }
}

/// What is to be seen, by the schema.
struct Expecting<'s> {
    schema: &'s fw_schema::Schema,
    filters: BTreeMap<(String, String), String>,
}

impl Expecting<'_> {
    fn message(&self, message: &Message, value: &Value<'_>, out: &mut Vec<Expected>) {
        for field in &message.fields {
            let (name, value) = (self.filter(message, &field.name), value.get(&field.name).unwrap());
            match (field.ty, value) {
                (Type::Array { element, .. }, Value::List(items)) => {
                    items.iter().for_each(|item| self.element(&name, element, item, out));
                }
                (ty, value) => self.element(&name, ty.element(), value, out),
            }
        }
        for union in &message.unions {
            let name = self.filter(message, &union.name);
            let Value::Union(held) = value.get(&union.name).unwrap() else { panic!("a union") };
            out.push(Expected { name, show: Show::Tree });
            if let UnionValue::Member { name, value } = &**held {
                let member = union.members.iter().find(|member| member.name == *name).unwrap();
                let filter = self.filter(message, &format!("{}/{name}", union.name));
                self.element(&filter, member.element, value, out);
            }
        }
    }

    fn element(&self, name: &str, element: Element, value: &Value<'_>, out: &mut Vec<Expected>) {
        let show = match value {
            Value::Bool(value) => Show::Integer((*value).into()),
            Value::Unsigned(value) | Value::Unsigned64(value) => Show::Integer((*value).into()),
            Value::Signed(value) | Value::Signed64(value) => Show::Integer((*value).into()),
            Value::Enum(value, _) => Show::Integer((*value).into()),
            Value::Float(value) => Show::Number((*value).into()),
            Value::Double(value) => Show::Number(*value),
            Value::Text(text) => Show::Text(text.clone()),
            Value::Bytes(bytes) => Show::Bytes(bytes.clone()),
            Value::Message(_) => Show::Tree,
            other => panic!("{other:?}"),
        };
        out.push(Expected { name: name.to_owned(), show });
        if let (Element::Message(index), Value::Message(_)) = (element, value) {
            self.message(&self.schema[index], value, out);
        }
    }

    fn filter(&self, message: &Message, name: &str) -> String {
        self.filters[&(self.schema.qualified(message), name.to_owned())].clone()
    }

    /// The fields of the schema in a packet, without what stands in a union that has no tag: every member that it could be.
    fn found(&self, packet: &[Shown]) -> Vec<Shown> {
        let mut tagless = Vec::new();
        for message in self.schema.messages() {
            for union in message.unions.iter().filter(|union| union.discriminator.is_empty()) {
                tagless.extend(self.filters.get(&(self.schema.qualified(message), union.name.clone())).cloned());
            }
        }
        let known: Vec<&String> = self.filters.values().collect();
        let mut found = Vec::new();
        let mut inside = None;
        for field in packet {
            if inside.is_some_and(|depth| field.depth > depth) {
                continue;
            }
            inside = tagless.contains(&field.name).then_some(field.depth);
            if known.contains(&&field.name) {
                found.push(field.clone());
            }
        }
        found
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Random(u64);

impl Random {
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut next = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 32) as u8
        };
        (0..len).map(|_| next()).collect()
    }
}
