//! Python's `mcap`, `pyarrow` and `websockets` as readers of what we write, and as writers of what we read.

use crate::common::{ROBOT, capture, lines, python, schema};
use fw_convert::{CaptureInput, CaptureOptions, Csv, FrameFilter, FrameRow, each_row, frames_to_tables, open};
use fw_dynamic::EnumStyle;
use fw_query::Where;
use fw_structframe::Profile;
use fw_telemetry::{ArrowFile, Bridge, Parquet, capture_to_mcap, mcap_to_columns};
use serde_json::Value as Json;
use std::path::Path;
use std::process::{Command, Stdio};

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/telemetry/readers.py")
}

/// Runs a part of the script; what it prints is JSON.
fn asked(python: &Path, words: &[&std::ffi::OsStr]) -> Json {
    let output = Command::new(python).arg(script()).args(words).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
}

/// What the rows of a capture hold, in the form that the script prints.
fn expected(schema: &fw_schema::Schema, bytes: &[u8], name: &str) -> Vec<Json> {
    let mut rows = Vec::new();
    let take = &mut |row: &FrameRow<'_, '_>| {
        if row.name == name {
            // Through text, in which a single-precision number is its shortest form.
            let text = serde_json::to_string(&row.values.shown(EnumStyle::Names)).unwrap();
            rows.push(serde_json::from_str(&text).unwrap());
        }
        Ok(())
    };
    each_row(CaptureInput::from_bytes("a", bytes.to_vec()), schema, &CaptureOptions::new(), take).unwrap();
    rows
}

/// Every message of an MCAP file, with its descriptors, statistics and times, as `mcap` and `mcap-protobuf-support` read it; and
/// what these write, in every compression, as we read it.
#[test]
fn mcap_there_and_back() {
    let Some(python) = python() else { return };
    let schema = schema(ROBOT);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let bytes = capture(&schema, Profile::Network.framing(), &lines(200));
    let options = CaptureOptions::new().with_clock("stamp_us:us".parse::<fw_convert::Clock>().unwrap());
    let done = capture_to_mcap(CaptureInput::from_bytes("a", bytes.clone()), &path, &schema, &options).unwrap();
    assert_eq!((done.frames, done.selected, done.channels, done.losses.len()), (200, 200, 3, 0));
    let read = asked(&python, &["mcap".as_ref(), path.as_ref()]);
    assert_eq!(
        read["statistics"],
        serde_json::json!({"messages": 200, "channels": 3, "schemas": 3, "chunks": 1, "metadata": 1})
    );
    assert_eq!(read["topics"], serde_json::json!(["/1/2/Command", "/1/2/Empty", "/1/2/Gps"]));
    let gps = read["messages"]["/1/2/Gps"].as_array().unwrap();
    let sent = expected(&schema, &bytes, "Gps");
    assert_eq!(gps.len(), sent.len());
    for (read, sent) in gps.iter().zip(&sent) {
        let time: u64 = sent["stamp_us"].as_str().unwrap().parse().unwrap();
        assert_eq!(read["log_time"].as_u64(), Some(time * 1000));
        for field in ["lat", "climb", "ok", "name", "snr", "cov", "at", "track", "stamp_us"] {
            assert_eq!(read["values"][field], sent[field], "{field}");
        }
        // A name where there is one; the number else.
        assert_eq!(read["values"]["fix"], sent["fix"], "fix");
        assert_eq!(read["values"]["odd"], "SECOND");
        assert_eq!(read["values"]["raw"], "00ff");
    }
    let commands = read["messages"]["/1/2/Command"].as_array().unwrap();
    for (read, sent) in commands.iter().zip(expected(&schema, &bytes, "Command")) {
        assert_eq!(read["which"]["body"], sent["body"]["which"]);
    }
    // Written by Python: nested, repeated, maps, optional, oneofs, proto2-like presence; four kinds of chunks.
    for compression in ["none", "lz4", "zstd", "unchunked"] {
        let (theirs, columns) = (folder.path().join("theirs.mcap"), folder.path().join("theirs.tgm"));
        let wrote = asked(&python, &["write".as_ref(), compression.as_ref(), theirs.as_ref()]);
        let read = mcap_to_columns(&theirs, &columns).unwrap();
        assert_eq!(Some(read.messages), wrote["messages"].as_u64());
        let columns = open(&columns).unwrap();
        for (name, bytes) in wrote["columns"].as_object().unwrap() {
            let at = columns.entries().iter().position(|entry| entry.name == *name);
            let data = columns.data(at.unwrap_or_else(|| panic!("no column {name}"))).unwrap();
            let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(Some(hex.as_str()), bytes.as_str(), "{compression} {name}");
        }
    }
}

/// Comma-separated values as Python's `csv` and `pyarrow.csv` read them: quotes, line breaks, arrays of several lengths.
#[test]
fn comma_separated_values() {
    let Some(python) = python() else { return };
    let schema = schema(ROBOT);
    let folder = tempfile::tempdir().unwrap();
    let mut lines = lines(400);
    lines.iter_mut().filter(|line| line["message"] == "Gps").enumerate().for_each(|(at, line)| {
        line["values"]["name"] = ["", "plain", "a,b", "a\"b", "a\r\nb", "'", " x "][at % 7].into();
    });
    let bytes = capture(&schema, Profile::Network.framing(), &lines);
    let input = CaptureInput::from_bytes("a", bytes.clone());
    let options = CaptureOptions::new().with_clock("stamp_us:us".parse::<fw_convert::Clock>().unwrap());
    let csv = Csv::default();
    frames_to_tables(input, folder.path().join("a.csv"), &schema, &options, EnumStyle::Names, &csv).unwrap();
    let read = asked(&python, &["csv".as_ref(), folder.path().join("a.Gps.csv").as_ref()]);
    let (rows, sent) = (read["rows"].as_array().unwrap(), expected(&schema, &bytes, "Gps"));
    assert_eq!((rows.len(), read["count"].as_u64()), (sent.len(), Some(sent.len() as u64)));
    let number = |cell: &Json| cell.as_str().unwrap().parse::<f64>().ok();
    for (row, sent) in rows.iter().zip(&sent) {
        assert_eq!((&row["name"], &row["stamp_us"]), (&sent["name"], &sent["stamp_us"]));
        assert_eq!(row["@time"], format!("{}000", sent["stamp_us"].as_str().unwrap()));
        assert_eq!(row["ok"], sent["ok"].to_string());
        assert_eq!(row["fix"], sent["fix"].as_str().map_or_else(|| sent["fix"].to_string(), str::to_owned));
        for (column, sent) in [("lat", &sent["lat"]), ("climb", &sent["climb"]), ("at.x", &sent["at"]["x"])] {
            assert_eq!(number(&row[column]), sent.as_f64(), "{column}");
        }
        for at in 0..4 {
            assert_eq!(number(&row[format!("snr[{at}]")]), sent["snr"][at].as_f64(), "snr[{at}]");
        }
        for at in 0..3 {
            assert_eq!(number(&row[format!("cov[{at}]")]), sent["cov"][at].as_f64(), "cov[{at}]");
        }
    }
    for (column, kind) in
        [("@time", "int64"), ("lat", "double"), ("climb", "int64"), ("ok", "bool"), ("name", "string")]
    {
        assert_eq!(read["types"][column], kind, "{column}");
    }
}

/// Parquet and Arrow tables as `pyarrow` reads them; row groups and batches do not show.
#[test]
fn tables_for_pyarrow() {
    let Some(python) = python() else { return };
    let schema = schema(ROBOT);
    let folder = tempfile::tempdir().unwrap();
    // More rows than a batch holds.
    let bytes = capture(&schema, Profile::Network.framing(), &lines(36_000));
    let filter = FrameFilter::new(&schema, Where::parse("Gps.fix>=2").unwrap()).unwrap();
    for (name, enums, filter) in [
        ("a.parquet", EnumStyle::Names, None),
        ("a.arrow", EnumStyle::Names, None),
        ("a.feather", EnumStyle::Numbers, None),
        ("b.parquet", EnumStyle::Numbers, Some(filter)),
    ] {
        let (path, filtered) = (folder.path().join(name), filter.is_some());
        let input = CaptureInput::from_bytes("a", bytes.clone());
        let options =
            CaptureOptions::new().with_filter(filter).with_clock("stamp_us:us".parse::<fw_convert::Clock>().unwrap());
        let done = if name.ends_with("parquet") {
            frames_to_tables(input, &path, &schema, &options, enums, &Parquet::new())
        } else {
            frames_to_tables(input, &path, &schema, &options, enums, &ArrowFile::default())
        };
        let done = done.unwrap();
        let mut found: Vec<_> =
            done.files.iter().map(|(file, message, rows)| (file.clone(), message.clone(), *rows)).collect();
        found.sort();
        let tables: Vec<&str> = found.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(tables, if filtered { vec!["Gps"] } else { vec!["Command", "Empty", "Gps"] });
        for (file, message, rows) in &found {
            let read = asked(&python, &["table".as_ref(), file.as_ref()]);
            assert_eq!(read["rows"].as_u64(), Some(*rows));
            let mut sent = expected(&schema, &bytes, message);
            if filtered {
                sent.retain(|row| row["fix"] != "NONE");
            }
            assert_eq!(sent.len() as u64, *rows);
            let numbers = enums == EnumStyle::Numbers;
            for (at, row) in read["sample"].as_object().unwrap() {
                let sent = &sent[at.parse::<usize>().unwrap()];
                match message.as_str() {
                    "Gps" => {
                        for field in ["lat", "climb", "ok", "name", "snr", "cov", "at", "track"] {
                            assert_eq!(row[field], sent[field], "{name} {field}");
                        }
                        assert_eq!(row["stamp_us"].to_string(), sent["stamp_us"].as_str().unwrap());
                        let time = sent["stamp_us"].as_str().unwrap().parse::<u64>().unwrap() * 1000;
                        assert_eq!(row["@time"].as_u64(), Some(time));
                        assert_eq!(row["odd"], if numbers { Json::from(9) } else { "SECOND".into() });
                        if !numbers {
                            let fix = sent["fix"].as_str().map_or_else(|| sent["fix"].to_string(), str::to_owned);
                            assert_eq!(row["fix"], fix);
                        }
                    }
                    "Command" => {
                        assert_eq!(row["body"]["which"], sent["body"]["which"]);
                        if sent["body"]["which"] == "go" {
                            assert_eq!(row["body"]["go"], sent["body"]["value"]);
                        } else {
                            assert_eq!(row["body"]["go"], Json::Null);
                        }
                    }
                    _ => assert_eq!((&row["@system"], &row["@component"]), (&Json::from(1), &Json::from(2))),
                }
            }
        }
    }
}

/// A client of the Foxglove protocol: channels are announced with their descriptors, and subscribed messages arrive.
#[test]
fn foxglove_live() {
    let Some(python) = python() else { return };
    let schema = schema(ROBOT);
    let mut bridge = Bridge::start(&schema, "127.0.0.1", 0).unwrap();
    let mut client = Command::new(python)
        .arg(script())
        .args(["foxglove", &bridge.url()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes = capture(&schema, Profile::Standard.framing(), &lines(40));
    // Again and again: a client hears what comes after it subscribed.
    let begin = std::time::Instant::now();
    while client.try_wait().unwrap().is_none() && begin.elapsed().as_secs() < 60 {
        let input = CaptureInput::from_bytes("live", bytes.clone());
        each_row(input, &schema, &CaptureOptions::new(), &mut |row| Ok(bridge.send(row)?)).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let output = client.wait_with_output().unwrap();
    bridge.stop();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(read["topics"], serde_json::json!(["/Command", "/Empty", "/Gps"]));
    let sent = expected(&schema, &bytes, "Gps");
    assert_eq!(read["gps"]["odd"], "SECOND");
    assert!(sent.iter().any(|row| row["name"] == read["gps"]["name"] && row["lat"] == read["gps"]["lat"]), "{read}");
}
