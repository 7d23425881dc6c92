//! The dissector in `tshark`: every field of every frame, wrong checksums, streams that split frames.

mod common;

use common::skip;
use fw_codegen::{Lang, Options, generate};
use fw_dynamic::{Codec, FrameCodec};
use fw_schema::Schema;
use fw_structframe::{Header, Profile};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_field_is_shown() {
    let Some(mut bench) = Bench::new() else { return };
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
    let Some(mut bench) = Bench::new() else { return };
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
    let Some(mut bench) = Bench::new() else { return };
    let acknowledge =
        json!({ "sequence": 9, "accepted": true, "note": "on my way", "log": { "hex": "00ff".repeat(100) } });
    let whole = bench.frame(Profile::Bulk, "Halt", &json!({ "reason": "start" }));
    let frame = bench.frame(Profile::Bulk, "Acknowledge", &acknowledge);
    let (first, second) = frame.split_at(100);
    bench.tcp(&[whole, first.to_vec()].concat());
    bench.tcp(second);
    let rows = bench.fields(&["robot.frame_message", "robot.acknowledge.note", "robot.frame_checksum_good"]);
    let told: Vec<&[String]> = rows.iter().filter(|row| !row[0].is_empty()).map(Vec::as_slice).collect();
    assert_eq!(told.len(), 2, "{rows:?}");
    assert_eq!(
        (told[0][0].as_str(), told[1][0].as_str(), told[1][1].as_str()),
        ("robot.Halt", "robot.Acknowledge", "on my way")
    );
}

/// A capture in the making.
struct Bench {
    schema: Schema,
    folder: tempfile::TempDir,
    capture: Vec<u8>,
    sequence: u32,
}

impl Bench {
    fn new() -> Option<Self> {
        if Command::new("tshark").arg("--version").output().is_err() {
            skip("the dissector did not run: no tshark (Debian package tshark)");
            return None;
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/struct-frame/robot.proto");
        let schema = fw_schema::check(root).into_result().unwrap_or_else(|faults| panic!("{faults}"));
        // The file header of pcap: microseconds, Ethernet.
        let mut capture = 0xa1b2_c3d4u32.to_le_bytes().to_vec();
        capture.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0]);
        Some(Self { schema, folder: tempfile::tempdir().unwrap(), capture, sequence: 1 })
    }

    fn frame(&self, profile: Profile, message: &str, values: &Value) -> Vec<u8> {
        let codec = Codec::new(&self.schema);
        let mut out = Vec::new();
        let header = Header { sequence: 1, system: 2, component: 3 };
        let frames = FrameCodec::new(&codec, profile.framing());
        frames.write_json(self.schema.find(message).unwrap(), header, values, &mut out).unwrap();
        out
    }

    fn udp(&mut self, payload: &[u8]) {
        let mut segment = [45000u16.to_be_bytes(), 45001u16.to_be_bytes()].concat();
        segment.extend(u16::try_from(8 + payload.len()).unwrap().to_be_bytes());
        segment.extend([0, 0]);
        segment.extend(payload);
        self.packet(17, &segment);
    }

    fn tcp(&mut self, payload: &[u8]) {
        let mut segment = [46000u16.to_be_bytes(), 46001u16.to_be_bytes()].concat();
        segment.extend(self.sequence.to_be_bytes());
        segment.extend([0, 0, 0, 1, 0x50, 0x18, 0x20, 0, 0, 0, 0, 0]);
        segment.extend(payload);
        self.sequence += u32::try_from(payload.len()).unwrap();
        self.packet(6, &segment);
    }

    fn packet(&mut self, protocol: u8, segment: &[u8]) {
        let mut packet = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        packet.extend([0x45, 0]);
        packet.extend(u16::try_from(20 + segment.len()).unwrap().to_be_bytes());
        packet.extend([0, 1, 0x40, 0, 64, protocol, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
        packet.extend(segment);
        let len = u32::try_from(packet.len()).unwrap().to_le_bytes();
        self.capture.extend([[0; 4], [0; 4], len, len].concat());
        self.capture.extend(packet);
    }

    /// A row per packet, a cell per field; values of a repeated field have commas between.
    fn fields(&self, names: &[&str]) -> Vec<Vec<String>> {
        let capture = self.folder.path().join("capture.pcap");
        std::fs::write(&capture, &self.capture).unwrap();
        let mut command = Command::new("tshark");
        command.arg("-X").arg(format!("lua_script:{}", self.dissector().display())).arg("-r").arg(&capture);
        command.args(["-T", "fields", "-E", "separator=/t", "-E", "aggregator=,"]);
        command.args(names.iter().flat_map(|name| ["-e", name]));
        let output = command.env("HOME", self.folder.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !errors.contains("Lua Error"), "{errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("Lua Error"), "{text}");
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    fn dissector(&self) -> PathBuf {
        let files = generate(&self.schema, Lang::Wireshark, &Options::default()).unwrap();
        let [file] = files.as_slice() else { panic!("one file") };
        let path = self.folder.path().join(&file.path);
        std::fs::write(&path, &file.text).unwrap();
        path
    }
}
