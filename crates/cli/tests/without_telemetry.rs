//! What a build without the feature `telemetry` says: it names the feature, and writes CSV all the same.
#![cfg(not(feature = "telemetry"))]

use std::path::Path;
use std::process::{Command, Output};

const SCHEMA: &str = "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }";

fn fw(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fw")).args(line.split_whitespace()).current_dir(folder).output().expect("fw runs")
}

#[test]
fn the_feature_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("s.sf"), SCHEMA).expect("written");
    std::fs::write(at("lines.jsonl"), "{\"message\":\"Ping\",\"values\":{\"seq\":5}}\n").expect("written");
    std::fs::write(at("a.mcap"), b"\x89MCAP0\r\n").expect("written");
    assert!(fw(folder.path(), "encode lines.jsonl -s s.sf -p standard -o a.bin").status.success());
    for (line, what) in [
        ("convert a.bin y.mcap -s s.sf", "writing MCAP"),
        ("convert a.bin y.parquet -s s.sf", "writing Parquet"),
        ("convert a.bin y.arrow -s s.sf", "writing Arrow"),
        ("convert a.mcap y.tgm", "reading MCAP"),
        ("bridge a.bin --foxglove -s s.sf", "fw bridge"),
    ] {
        let output = fw(folder.path(), line);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {words}");
        let wanted = format!(
            "fw: {what} requires a build with the feature telemetry\nhint: cargo install --path crates/cli --features telemetry; the Python package has it\n"
        );
        assert_eq!(words, wanted, "{line}");
    }
    let output = fw(folder.path(), "convert a.bin y.mcap -s s.sf --json");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["error"]["code"], "feature_missing");
    assert!(fw(folder.path(), "convert a.bin y.csv -s s.sf").status.success());
    assert_eq!(std::fs::read_to_string(at("y.csv")).expect("read"), "@at,seq,ack\r\n0,5,false\r\n");
    assert!(!at("y.mcap").exists());
}
