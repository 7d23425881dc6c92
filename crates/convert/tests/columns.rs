//! struct-frame captures as Tensogram columns, and back to the same bytes.

use fw_convert::{CaptureConverted, Feature, columns_to_frames, frames_to_columns, holds_capture, open};
use fw_dynamic::testing::value;
use fw_dynamic::{Codec, FrameCodec};
use fw_schema::testing::Entropy;
use fw_schema::{Disk, Options, Schema, check, check_text, check_with, testing};
use fw_structframe::{Framing, Header, HeaderKind, PayloadKind, Profile};
use fw_tensor::DType;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROBOT: &str = "package robot;
    enum Mode { IDLE = 0; DRIVE = 1; }
    message Pt { float x = 1; float y = 2; }
    message Pose { option msgid = 1; uint64 stamp_us = 1; Pt at = 2; Mode mode = 3; bool ok = 4; }
    message Scan { option msgid = 2; option variable = true; uint32 n = 1; repeated uint16 ranges = 2 [max_size=8]; string by = 3 [max_size=6]; }
    message Command { option msgid = 3; oneof body { option discriminator = field_order; Pt go = 1; uint8 stop = 2; } }";

fn compile(text: &str) -> Schema {
    check_text("robot.sf", text).into_result().unwrap_or_else(|faults| panic!("{faults}"))
}

/// To columns and back, in files; what the first step said, and the bytes that came back.
fn there_and_back(schema: &Schema, framing: Option<Framing>, bytes: &[u8]) -> (CaptureConverted, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.bin"), bytes).unwrap();
    let done = frames_to_columns(at("a.bin"), at("a.tgm"), schema, framing).unwrap();
    assert!(holds_capture(at("a.tgm")) && !holds_capture(at("a.bin")));
    let back = columns_to_frames(at("a.tgm"), at("b.bin")).unwrap();
    assert_eq!((back.framing, back.frames, back.columns), (done.framing, done.frames, done.columns));
    let again = std::fs::read(at("b.bin")).unwrap();
    assert_eq!(back.bytes, again.len() as u64);
    (done, again)
}

fn robot(framing: Framing) -> Vec<u8> {
    let schema = compile(ROBOT);
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, framing);
    let mut bytes = Vec::new();
    for step in 0..40_u8 {
        let header = Header { sequence: step, system: 1, component: step % 2 };
        let (name, json) = match step % 4 {
            0 => (
                "Pose",
                json!({"stamp_us": format!("{}", 1_000_000 + u64::from(step) * 20_000), "at": {"x": step, "y": -0.5}, "mode": 1, "ok": true}),
            ),
            1 => ("Scan", json!({"n": step, "ranges": vec![step; usize::from(step % 9)], "by": "lidar"})),
            2 => ("Command", json!({"body": {"which": "go", "value": {"x": 1.5, "y": "NaN"}}})),
            _ => ("Command", json!({"body": {"which": "stop", "value": step}})),
        };
        frames.write_json(schema.find(name).unwrap(), header, &json, &mut bytes).unwrap();
    }
    bytes
}

#[test]
fn columns_have_names_types_and_shapes() {
    let schema = compile(ROBOT);
    let bytes = robot(Profile::Network.framing());
    let folder = tempfile::tempdir().unwrap();
    let (bin, tgm) = (folder.path().join("a.bin"), folder.path().join("a.tgm"));
    std::fs::write(&bin, &bytes).unwrap();
    let done = frames_to_columns(&bin, &tgm, &schema, None).unwrap();
    assert_eq!((done.framing, done.frames, done.bytes), (Profile::Network.framing(), 40, bytes.len() as u64));
    let file = open(&tgm).unwrap();
    let shown: Vec<_> = file.entries().iter().map(|e| format!("{} {} {:?}", e.name, e.dtype.name(), e.shape)).collect();
    let expected = "Pose@arrival uint64 [10], Pose@sequence uint8 [10], Pose@system uint8 [10], Pose@component uint8 [10], \
        Pose.stamp_us uint64 [10], Pose.at.x float32 [10], Pose.at.y float32 [10], Pose.mode uint8 [10], Pose.ok bool [10], \
        Scan@arrival uint64 [10], Scan@sequence uint8 [10], Scan@system uint8 [10], Scan@component uint8 [10], \
        Scan.n uint32 [10], Scan.ranges@count uint8 [10], Scan.ranges uint16 [10, 8], Scan.by@len uint8 [10], Scan.by uint8 [10, 6], \
        Command@arrival uint64 [20], Command@sequence uint8 [20], Command@system uint8 [20], Command@component uint8 [20], \
        Command.body@tag uint8 [20], Command.body.go@valid bool [20], Command.body.go.x float32 [20], \
        Command.body.go.y float32 [20], Command.body.stop@valid bool [20], Command.body.stop uint8 [20]";
    assert_eq!(shown.join(", "), expected);
    let stamps = file.data(file.find("Pose.stamp_us").unwrap()).unwrap();
    assert_eq!(u64::from_le_bytes(*stamps.last_chunk().unwrap()), 1_000_000 + 36 * 20_000);
    // The schema travels as text.
    let capture: Json = serde_json::from_str(&file.metadata().unwrap()["fw.capture"]).unwrap();
    assert_eq!(
        (&capture["framing"], &capture["schema"], &capture["files"]["robot.sf"]),
        (&json!("network"), &json!("robot.sf"), &json!(ROBOT))
    );
}

#[test]
fn every_framing_comes_back() {
    let schema = compile(ROBOT);
    for header in HeaderKind::ALL {
        for payload in PayloadKind::ALL {
            let framing = Framing::new(header, payload);
            let bytes = robot(framing);
            let (done, again) = there_and_back(&schema, Some(framing), &bytes);
            assert_eq!((again == bytes, done.losses.len()), (true, 0), "{framing}");
        }
    }
}

/// Every frame of the shared vectors, by group and framing.
#[test]
fn vectors_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/struct-frame");
    let json = |path: PathBuf| -> Json { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let (mut captures, mut frames) = (0, 0);
    for group in json(root.join("manifest.json"))["groups"].as_array().unwrap() {
        if group["format"] != "struct-frame-vectors/1" {
            continue;
        }
        let dir = root.join(group["group"].as_str().unwrap());
        let manifest = json(dir.join("manifest.json"));
        let schema = check(dir.join(manifest["schema"].as_str().unwrap())).into_result().unwrap();
        let mut by_framing: BTreeMap<String, (Framing, Vec<u8>)> = BTreeMap::new();
        for case in manifest["cases"].as_array().unwrap() {
            let id = schema.find(case["message"].as_str().unwrap()).unwrap().id;
            for frame in case["frames"].as_array().unwrap() {
                let profile = frame["profile"].as_str().unwrap();
                let named =
                    || format!("{}+{}", frame["header"].as_str().unwrap(), frame["payload_type"].as_str().unwrap());
                let framing: Framing = profile.parse().unwrap_or_else(|_| named().parse().unwrap());
                if !framing.has_package() && id.is_some_and(|id| id > 255) {
                    continue; // half an id tells nobody the message (SF-13.3)
                }
                let (_, bytes) = by_framing.entry(profile.to_owned()).or_insert((framing, Vec::new()));
                bytes.extend(std::fs::read(dir.join(frame["file"].as_str().unwrap())).unwrap());
                frames += 1;
            }
        }
        for (name, (framing, bytes)) in by_framing {
            let (done, again) = there_and_back(&schema, Some(framing), &bytes);
            assert_eq!((again == bytes, done.losses.len()), (true, 0), "{} {name}", dir.display());
            captures += 1;
        }
    }
    assert!(captures > 100 && frames > 1000, "{captures} captures, {frames} frames");
}

#[test]
fn damage_is_listed_and_unknown_frames_are_kept() {
    let schema = compile(ROBOT);
    let framing = Profile::Bulk.framing();
    let codec = Codec::new(&schema);
    let mut bytes = b"junk".to_vec();
    let frames = FrameCodec::new(&codec, framing);
    let mut good = Vec::new();
    frames.write_payload(777, Header::default(), b"who is this", &mut good).unwrap();
    frames.write_payload(2, Header::default(), &[1, 0, 0, 0, 99], &mut good).unwrap(); // no such count
    good.extend(robot(framing));
    bytes.extend(&good);
    let mut bad = Vec::new();
    frames.write_payload(1, Header::default(), &[0; 18], &mut bad).unwrap();
    *bad.last_mut().unwrap() ^= 1;
    bytes.extend(&bad);
    bytes.extend([0x90, 0x74, 9]);
    let (done, again) = there_and_back(&schema, None, &bytes);
    assert!(again == good);
    let at = 4 + good.len();
    let losses: Vec<_> = done.losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        [
            "lost bytes: 4 bytes at byte 0 (0x0): no frame".to_owned(),
            format!("lost bytes: 26 bytes at byte {at} (0x{at:x}): a frame with a bad checksum"),
            format!("lost bytes: 3 bytes at byte {} (0x{:x}): an incomplete frame", at + 26, at + 26),
        ]
    );
    assert!(done.losses.iter().all(|loss| loss.feature == Feature::Bytes));
}

#[test]
fn imported_schemas_travel_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("robot/parts")).unwrap();
    std::fs::write(
        at("robot/main.sf"),
        "package main; option pkgid = 3; import 'parts/a.sf'; import '../common.sf';\n\
        message M { option msgid = 1; parts.A a = 1; common.C c = 2; }",
    )
    .unwrap();
    std::fs::write(at("robot/parts/a.sf"), "package parts; option pkgid = 4; message A { uint8 a = 1; }").unwrap();
    std::fs::write(at("common.sf"), "package common; option pkgid = 5; message C { uint16 c = 1; }").unwrap();
    let options = Options::default().with_include([folder.path()]);
    let schema =
        check_with(&Disk, &at("robot/main.sf"), &options).into_result().unwrap_or_else(|faults| panic!("{faults}"));
    let codec = Codec::new(&schema);
    let mut bytes = Vec::new();
    FrameCodec::new(&codec, Profile::Bulk.framing())
        .write_payload(0x301, Header::default(), &[1, 2, 3], &mut bytes)
        .unwrap();
    assert!(there_and_back(&schema, None, &bytes).1 == bytes);
}

#[test]
fn nothing_to_find_is_an_error_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let schema = compile(ROBOT);
    std::fs::write(at("text.bin"), "no frames in here").unwrap();
    let error = frames_to_columns(at("text.bin"), at("x.tgm"), &schema, None).unwrap_err();
    assert_eq!(error.code(), "no_profile");
    std::fs::write(at("empty.bin"), "").unwrap();
    let done = frames_to_columns(at("empty.bin"), at("empty.tgm"), &schema, Some(Profile::Ipc.framing())).unwrap();
    assert_eq!((done.frames, done.columns), (0, 0));
    columns_to_frames(at("empty.tgm"), at("again.bin")).unwrap();
    assert_eq!(std::fs::read(at("again.bin")).unwrap(), b"");
    // A tensor file that is no capture.
    let message = fw_tensogram::MessageBuilder::new().tensor(&[2], &[1.0_f32, 2.0]).unwrap().encode().unwrap();
    std::fs::write(at("plain.tgm"), message).unwrap();
    assert_eq!(columns_to_frames(at("plain.tgm"), at("y.bin")).unwrap_err().code(), "no_capture");
    assert!(!at("x.tgm").exists() && !at("y.bin").exists());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random schemas, random values, payloads of random bytes, unknown ids: every clean capture comes back byte for byte.
    #[test]
    fn random_captures_come_back(
        seed in prop::collection::vec(any::<u8>(), 0..300),
        data in prop::collection::vec(any::<u8>(), 0..600),
        payloads in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..60)), 0..12),
        (header, payload) in (0..3_usize, 0..9_usize),
    ) {
        let text = testing::schema(&seed);
        let schema = compile(&text);
        let framing = Framing::new(HeaderKind::ALL[header], PayloadKind::ALL[payload]);
        let codec = Codec::new(&schema);
        let frames = FrameCodec::new(&codec, framing);
        let mut entropy = Entropy::new(&data);
        let mut bytes = Vec::new();
        for _ in 0..3 {
            for (_, message) in schema.ids() {
                let header = Header { sequence: entropy.byte(), system: entropy.byte(), component: 7 };
                // What the framing cannot carry is not sent.
                _ = frames.write(message, header, &value(&schema, message, &mut entropy), &mut bytes);
            }
        }
        let known: Vec<u16> = schema.ids().map(|(id, _)| id).collect();
        for (pick, payload) in &payloads {
            let id = known.get(usize::from(*pick)).copied().unwrap_or(u16::from(*pick));
            _ = frames.write_payload(id, Header { sequence: *pick, system: 1, component: 2 }, payload, &mut bytes);
        }
        let (done, again) = there_and_back(&schema, Some(framing), &bytes);
        prop_assert_eq!(done.losses, vec![]);
        prop_assert!(again == bytes, "{}", text);
    }
}

/// The reference package reads the columns.
#[test]
fn the_reference_reads_the_columns() {
    let Some(python) = python() else { return };
    let schema = compile(ROBOT);
    let folder = tempfile::tempdir().unwrap();
    let (bin, tgm) = (folder.path().join("a.bin"), folder.path().join("a.tgm"));
    std::fs::write(&bin, robot(Profile::Network.framing())).unwrap();
    frames_to_columns(&bin, &tgm, &schema, None).unwrap();
    let script = "import sys, json, tensogram
with tensogram.TensogramFile.open(sys.argv[1]) as f:
    meta, objects = f.decode_message(0)
    print(json.dumps([[b['name'], str(d.dtype), list(map(int, d.shape)), a.tobytes().hex()] for b, (d, a) in zip(meta.base, objects)]))
";
    let output = Command::new(python).args(["-c", script]).arg(&tgm).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs: Vec<(String, String, Vec<u64>, String)> = serde_json::from_slice(&output.stdout).unwrap();
    let ours = open(&tgm).unwrap();
    assert_eq!(theirs.len(), ours.entries().len());
    for (index, (entry, (name, dtype, shape, hex))) in ours.entries().iter().zip(theirs).enumerate() {
        let stored = if entry.dtype == DType::Bool { "uint8" } else { entry.dtype.name() };
        assert_eq!((&entry.name, stored, &entry.shape), (&name, dtype.as_str(), &shape));
        let data: String = ours.data(index).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(data, hex, "{name}");
    }
}

fn python() -> Option<PathBuf> {
    let found = std::env::var_os("FW_PYTHON").map(PathBuf::from);
    let works = |path: &PathBuf| {
        Command::new(path).args(["-c", "import tensogram"]).output().is_ok_and(|output| output.status.success())
    };
    if let Some(path) = found.filter(works) {
        return Some(path);
    }
    let line = format!("SKIPPED: {}: FW_PYTHON does not name an interpreter with tensogram", module_path!());
    eprintln!("{line}");
    if let Some(log) = std::env::var_os("FW_SKIPPED") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
    }
    None
}
