//! Captures in the making, and what `tshark` shows of them with the generated dissector.

mod pdml; // what is shown, packet by packet

pub(crate) use pdml::Shown;

use crate::common::skip;
use fw_codegen::{Lang, Options, generate};
use fw_dynamic::{Codec, FrameCodec};
use fw_schema::Schema;
use fw_structframe::{Header, Profile};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A capture in the making.
pub(crate) struct Bench {
    pub(crate) schema: Schema,
    folder: tempfile::TempDir,
    capture: Vec<u8>,
    sequence: u32,
}

impl Bench {
    /// Nothing when there is no `tshark`.
    pub(crate) fn new(schema: &str) -> Option<Self> {
        if Command::new("tshark").arg("--version").output().is_err() {
            skip("the dissector did not run: no tshark (Debian package tshark)");
            return None;
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(schema);
        let schema = fw_schema::check(path).into_result().unwrap_or_else(|faults| panic!("{faults}"));
        // The file header of pcap: microseconds, Ethernet.
        let mut capture = 0xa1b2_c3d4u32.to_le_bytes().to_vec();
        capture.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0]);
        Some(Self { schema, folder: tempfile::tempdir().unwrap(), capture, sequence: 1 })
    }

    pub(crate) fn frame(&self, profile: Profile, message: &str, values: &Value) -> Vec<u8> {
        let codec = Codec::new(&self.schema);
        let mut out = Vec::new();
        let header = Header { sequence: 1, system: 2, component: 3 };
        let frames = FrameCodec::new(&codec, profile.framing());
        frames.write_json(self.schema.find(message).unwrap(), header, values, &mut out).unwrap();
        out
    }

    pub(crate) fn udp(&mut self, payload: &[u8]) {
        let mut segment = [45000u16.to_be_bytes(), 45001u16.to_be_bytes()].concat();
        segment.extend(u16::try_from(8 + payload.len()).unwrap().to_be_bytes());
        segment.extend([0, 0]);
        segment.extend(payload);
        self.packet(17, &segment);
    }

    pub(crate) fn tcp(&mut self, payload: &[u8]) {
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
    pub(crate) fn fields(&self, names: &[&str]) -> Vec<Vec<String>> {
        let names = names.iter().flat_map(|name| ["-e", name]);
        let format = ["-T", "fields", "-E", "separator=/t", "-E", "aggregator=,"];
        let text = self.tshark(&format.into_iter().chain(names).collect::<Vec<_>>());
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    /// What is shown of every packet.
    pub(crate) fn shown(&self, options: &[&str]) -> Vec<Vec<Shown>> {
        pdml::packets(&self.tshark(&[&["-T", "pdml"], options].concat()))
    }

    fn tshark(&self, options: &[&str]) -> String {
        let capture = self.folder.path().join("capture.pcap");
        std::fs::write(&capture, &self.capture).unwrap();
        let files = generate(&self.schema, Lang::Wireshark, &Options::default()).unwrap();
        let [file] = files.as_slice() else { panic!("one file") };
        let script = self.folder.path().join(&file.path);
        std::fs::write(&script, &file.text).unwrap();
        let mut command = Command::new("tshark");
        command.arg("-X").arg(format!("lua_script:{}", script.display())).arg("-r").arg(&capture).args(options);
        let output = command.env("HOME", self.folder.path()).output().unwrap();
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{errors}");
        for output in [&text, &errors] {
            let wrong = output.lines().find(|line| line.contains("Lua Error") || line.contains("lua_script"));
            assert_eq!(wrong, None);
        }
        // Whoever runs the tests as root is warned of that; nothing else.
        let warned = errors.lines().find(|line| !line.contains("Running as user") && !line.is_empty());
        assert_eq!(warned, None);
        text.into_owned()
    }

    /// What the dissector calls a field, a union or a member, by message and name in the schema (`union/member`).
    pub(crate) fn filters(&self) -> BTreeMap<(String, String), String> {
        let files = generate(&self.schema, Lang::Wireshark, &Options::default()).unwrap();
        let (mut message, mut union) = ((String::new(), String::new()), None);
        let mut filters = BTreeMap::new();
        for line in files[0].text.lines().map(str::trim_start) {
            let mut quoted = line.split('"').skip(1).step_by(2).map(str::to_owned);
            if line == "}," {
                continue;
            } else if line.starts_with("name = ") && line.contains(", tag = ") {
                let (name, filter) = (quoted.next().unwrap(), quoted.next().unwrap());
                let filter = format!("{}.{filter}", message.1);
                filters.insert((message.0.clone(), name.clone()), filter.clone());
                union = Some((name, filter));
            } else if line.starts_with("name = ") {
                message = (quoted.next().unwrap(), quoted.next().unwrap());
                union = None;
            } else if line.starts_with("{ name = ") && !message.0.is_empty() {
                let (name, filter) = (quoted.next().unwrap(), quoted.next().unwrap());
                let (name, filter) = match &union {
                    Some((union, scope)) => (format!("{union}/{name}"), format!("{scope}.{filter}")),
                    None => (name, format!("{}.{filter}", message.1)),
                };
                filters.insert((message.0.clone(), name), filter);
            } else if line == "ids = {" {
                break;
            }
        }
        filters
    }
}
