//! The fuzz target `frames` on its seeds.

#[path = "../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../fuzz/frames.rs"]
mod entry;

use fw_dynamic::{Codec, FrameCodec};
use fw_schema::check_text;
use fw_structframe::{Header, Profile};
use serde_json::json;

#[test]
fn frames() {
    corpus::check("frames", &seeds(), 400, entry::run);
}

/// Every message in every profile, and damage in the middle of it.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let schema = check_text("f.sf", entry::SCHEMA).into_result().unwrap();
    let codec = Codec::new(&schema);
    let lines = [
        json!({"message": "Numbers", "values": {"a": 1, "b": -2, "c": 513, "d": -4, "e": 70000, "f": -6, "g": "18446744073709551615",
            "h": "-8", "i": true, "j": "STOP", "points": [{"x": 0.5, "y": -0.25}, {"x": "NaN", "y": "Infinity"}]}}),
        json!({"message": "Text", "values": {"fixed": "ab", "bounded": "grüße", "blob": {"hex": "00ff"}, "names": ["a", "bcde"]}}),
        json!({"message": "Trace", "values": {"n": 3, "values": [1, 2, 65535], "notes": [{"level": 1, "text": "hi"}], "last": "end"}}),
        json!({"message": "Choice", "values": {"n": 1, "body": {"which": "note", "value": {"level": 2, "text": "x"}}}}),
        json!({"message": "Choice", "values": {"n": 2, "body": null}}),
        json!({"message": "Grown", "values": {"old": 1, "newer": 2, "who": "me"}}),
        json!({"message": "Empty", "values": {"nothing": 9}}),
    ];
    let sent = |profile: Profile| {
        let frames = FrameCodec::new(&codec, profile.framing());
        let mut bytes = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            // The longest message does not fit a length of one byte.
            let _ = frames.write_line(line, Header { sequence: at as u8, system: 1, component: 2 }, &mut bytes);
        }
        bytes
    };
    let seed = |kind: u8, cut: u8, bytes: &[u8]| [&[kind, cut], bytes].concat();
    let network = sent(Profile::Network);
    let mut damaged = network.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x10;
    // A length that swallows the frames after it.
    let mut swallowed = sent(Profile::Standard);
    swallowed[2] = 0xff;
    vec![
        ("standard", seed(0, 0, &sent(Profile::Standard))),
        ("sensor", seed(1, 1, &sent(Profile::Sensor))),
        ("ipc", seed(2, 2, &sent(Profile::Ipc))),
        ("bulk", seed(3, 3, &sent(Profile::Bulk))),
        ("network", seed(4, 4, &network)),
        ("attack-damaged", seed(4, 5, &damaged)),
        ("attack-swallowed", seed(0, 6, &swallowed)),
        ("attack-starts", seed(4, 7, &[0x90, 0x78].repeat(200))),
        ("attack-counts", seed(0, 8, &[0x90, 0x71, 0x03, 0x03, 1, 0xff, 0xff, 0, 0])),
        ("attack-nothing", seed(9, 9, &[])),
    ]
}
