//! Frames of the shared vector set: detection, columns there and back, JSON to frames; and the canonical files.

use fw_dynamic::{Codec, FrameCodec, detect, message_infos};
use fw_structframe::{Event, Framing, Header, HeaderKind, PayloadKind, Profile};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
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

/// Captures of all frames of a group in one framing: detected, read into columns, written again to the same bytes.
#[test]
fn captures_there_and_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/struct-frame");
    let (mut captures, mut frames) = (0, 0);
    for group in json(&root.join("manifest.json"))["groups"].as_array().unwrap() {
        if group["format"] != "struct-frame-vectors/1" {
            continue;
        }
        let dir = root.join(group["group"].as_str().unwrap());
        let manifest = json(&dir.join("manifest.json"));
        let schema = fw_schema::check(dir.join(manifest["schema"].as_str().unwrap())).into_result().unwrap();
        let codec = Codec::new(&schema);
        let mut by_framing: BTreeMap<String, (Framing, Vec<u8>, u32)> = BTreeMap::new();
        for case in manifest["cases"].as_array().unwrap() {
            let message = schema.find(case["message"].as_str().unwrap()).unwrap();
            for frame in case["frames"].as_array().unwrap() {
                // Half an id tells nobody the message: we refuse to write such frames (SF-13.3).
                if !framing(frame).has_package() && message.id.is_some_and(|id| id > 255) {
                    continue;
                }
                let entry = by_framing.entry(frame["profile"].as_str().unwrap().to_owned());
                let (_, bytes, count) = entry.or_insert_with(|| (framing(frame), Vec::new(), 0));
                bytes.extend(std::fs::read(dir.join(frame["file"].as_str().unwrap())).unwrap());
                *count += 1;
            }
        }
        for (name, (framing, bytes, count)) in by_framing {
            let what = format!("{} {name}", dir.display());
            let codec = FrameCodec::new(&codec, framing);
            let (capture, counters) = codec.columns(&bytes).unwrap();
            assert_eq!((counters.frames, counters.crc_failures, counters.noise_bytes), (count, 0, 0), "{what}");
            assert!(capture.strays.is_empty(), "{what}");
            let mut again = Vec::new();
            codec.write_columns(&capture, &mut again).unwrap();
            assert_eq!(again, bytes, "{what}");
            let detected = detect(codec.infos(), &bytes).unwrap();
            assert_eq!(detected.covered, bytes.len() as u64, "{what}");
            // Without start bytes, a short length in two bytes and one beside a package id of zero are the same bytes.
            if framing.header != HeaderKind::None || framing.profile().is_some() {
                assert_eq!(detected.framing, framing, "{what}");
            }
            captures += 1;
            frames += count;
        }
    }
    println!("{captures} captures, {frames} frames");
    assert!(captures > 100 && frames > 1000, "{captures} captures, {frames} frames");
}

#[test]
fn what_no_frame_can_carry_is_refused() {
    let text = "package demo; message Far { option msgid = 300; uint8 a = 1; } message Part { uint8 a = 1; }";
    let schema = fw_schema::check_text("demo.sf", text).into_result().unwrap();
    let codec = Codec::new(&schema);
    let (standard, sensor) = (Profile::Standard.framing(), Profile::Sensor.framing());
    let refuse = |framing: Framing, name: &str| {
        let mut out = vec![1];
        let json = serde_json::json!({"a": 1});
        let message = schema.find(name).unwrap();
        let error = FrameCodec::new(&codec, framing).write_json(message, Header::default(), &json, &mut out);
        assert_eq!(out, [1]);
        error.unwrap_err().code
    };
    assert_eq!(refuse(standard, "Far"), "id_too_large");
    assert_eq!(refuse(standard, "Part"), "no_message_id");
    let mut out = Vec::new();
    let error = FrameCodec::new(&codec, sensor).write_payload(9, Header::default(), &[1], &mut out).unwrap_err();
    assert_eq!(error.code, "unknown_id");
}

#[test]
fn unknown_ids_are_kept_and_noise_is_not_a_capture() {
    let schema = fw_schema::check_text("demo.sf", "package demo; message A { option msgid = 1; uint8 a = 1; }");
    let schema = schema.into_result().unwrap();
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, Profile::Bulk.framing());
    let mut bytes = Vec::new();
    frames.write_payload(77, Header::default(), &[1, 2, 3], &mut bytes).unwrap();
    frames.write_payload(1, Header::default(), &[9], &mut bytes).unwrap();
    let (capture, counters) = frames.columns(&bytes).unwrap();
    assert_eq!(
        (counters.unknown_ids, capture.strays[0].id, capture.strays[0].payload.as_slice()),
        (1, 77, &[1, 2, 3][..])
    );
    let Some(Event::Frame(frame)) = frames.read(&bytes).next() else { panic!() };
    assert_eq!(frames.decode(&frame).unwrap_err().code, "unknown_id");
    assert_eq!(detect(&message_infos(&schema), b"no frames in here"), None);
    assert_eq!(detect(&message_infos(&schema), &[]), None);
}

/// The canonical files of the original, when they are at hand: whole files from their fixtures and back.
#[test]
fn canonical_files() {
    let Some(golden) = std::env::var_os("FW_GOLDEN").map(PathBuf::from) else {
        println!("SKIPPED: FW_GOLDEN is not set, the canonical files were not checked");
        return;
    };
    let index = json(&golden.join("README.json"));
    for file in index["files"].as_array().unwrap() {
        let suite = &index["schemas"][file["suite"].as_str().unwrap()];
        let schema = fw_schema::check(golden.join(suite["schema"].as_str().unwrap())).into_result().unwrap();
        let codec = Codec::new(&schema);
        let framing = framing(file);
        let codec = FrameCodec::new(&codec, framing);
        let expected = std::fs::read(golden.join(file["file"].as_str().unwrap())).unwrap();
        let mut bytes = Vec::new();
        for fixture in json(&golden.join(suite["fixtures"].as_str().unwrap()))["fixtures"].as_array().unwrap() {
            let message = schema.find(fixture["message"].as_str().unwrap()).unwrap();
            codec.write_json(message, Header::default(), &fixture["values"], &mut bytes).unwrap();
        }
        assert_eq!(bytes, expected, "{}", file["file"]);
        let mut again = Vec::new();
        codec.write_columns(&codec.columns(&bytes).unwrap().0, &mut again).unwrap();
        assert_eq!(again, expected, "{}", file["file"]);
        assert_eq!(detect(codec.infos(), &bytes).unwrap().framing, framing, "{}", file["file"]);
    }
}
