//! What is sent: frames with payloads of 64 bytes, numbered from 0 to 255, again and again.

use std::path::Path;
use std::process::Command;

/// Numbers of every kind, 64 bytes.
const SCHEMA: &str = "package bench;
enum Mode { IDLE = 0; CRUISE = 1; LAND = 2; }
message State { option msgid = 7; uint64 stamp_us = 1; uint32 counter = 2; repeated float accel = 3 [size=3];
  repeated float gyro = 4 [size=3]; repeated float attitude = 5 [size=4]; uint16 battery_mv = 6; int16 temperature = 7;
  uint16 status = 8; Mode mode = 9; bool armed = 10; uint16 link = 11; uint16 load = 12; }
";

/// A turn of 256 frames.
pub(crate) struct Frames {
    pub(crate) bytes: Vec<u8>,
    pub(crate) len: usize,
}

impl Frames {
    /// Writes the schema and makes the frames.
    pub(crate) fn prepare(folder: &Path) -> Self {
        std::fs::write(folder.join("bench.sf"), SCHEMA).expect("written");
        let lines: String = (0..256_u32)
            .map(|turn| {
                let wave = |phase: f64| (f64::from(turn) * 0.1 + phase).sin() as f32 * 9.81;
                let values = serde_json::json!({
                    "stamp_us": 1_700_000_000_000_000_u64 + u64::from(turn) * 560, "counter": turn,
                    "accel": [wave(0.0), wave(1.0), wave(2.0)], "gyro": [wave(3.0), wave(4.0), wave(5.0)],
                    "attitude": [wave(6.0), wave(7.0), wave(8.0), wave(9.0)], "battery_mv": 11_800 + turn,
                    "temperature": 215, "status": turn, "mode": "CRUISE", "armed": true, "link": 97, "load": 430,
                });
                format!("{}\n", serde_json::json!({ "message": "State", "sequence": turn, "values": values }))
            })
            .collect();
        std::fs::write(folder.join("lines.jsonl"), lines).expect("written");
        let mut encode = Command::new(program());
        encode.args(["encode", "lines.jsonl", "-s", "bench.sf", "-p", "network", "-o", "frames.bin"]);
        assert!(encode.current_dir(folder).status().expect("fw runs").success());
        let bytes = std::fs::read(folder.join("frames.bin")).expect("read");
        Self { len: bytes.len() / 256, bytes }
    }
}

/// The program to measure.
pub(crate) fn program() -> String {
    std::env::var("FW_BIN").expect("FW_BIN names the program; cargo xtask bench links sets it")
}
