//! Recordings have host times, which become those of messages, rows and columns.

use crate::common::{ROBOT, capture, lines, schema};
use fw_convert::{CaptureInput, CaptureOptions, Csv, capture_to_columns, columns_to_frames, frames_to_tables, open};
use fw_dynamic::EnumStyle;
use fw_recording::{Recorder, RecorderOptions};
use fw_structframe::Profile;
use fw_telemetry::{capture_to_mcap, mcap_to_columns};

#[test]
fn host_times_are_kept() {
    let schema = schema(ROBOT);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut recorder = Recorder::create(at("flight"), RecorderOptions::new("tcp:robot:7000")).unwrap();
    let lines = lines(12);
    let mut all = Vec::new();
    for (step, line) in lines.iter().enumerate() {
        let bytes = capture(&schema, Profile::Standard.framing(), std::slice::from_ref(line));
        recorder.push(1_000_000 + step as i64, 0, &bytes).unwrap();
        all.extend(bytes);
    }
    recorder.finish().unwrap();
    let options = CaptureOptions::new();
    let input = || CaptureInput::open(at("flight")).unwrap();
    // Gps frames are those of steps 0 and 1 of every four.
    let wanted: Vec<u64> = (0..12).filter(|step| step % 4 < 2).map(|step| 1_000_000 + step).collect();
    let times = |file: &str, name: &str| {
        let columns = open(at(file)).unwrap();
        let place = columns.entries().iter().position(|entry| entry.name == name).unwrap();
        columns
            .data(place)
            .unwrap()
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect::<Vec<_>>()
    };
    let done = capture_to_mcap(input(), at("a.mcap"), &schema, &options).unwrap();
    assert!(done.notes.is_empty() && done.losses.is_empty());
    mcap_to_columns(at("a.mcap"), at("a.tgm")).unwrap();
    assert_eq!(times("a.tgm", "Gps@log_time"), wanted);
    capture_to_columns(input(), at("b.tgm"), &schema, &options).unwrap();
    assert_eq!(times("b.tgm", "Gps@time"), wanted);
    // Frames do not carry them, and come back as they were.
    columns_to_frames(at("b.tgm"), at("b.bin")).unwrap();
    assert!(std::fs::read(at("b.bin")).unwrap() == all);
    frames_to_tables(input(), at("c.csv"), &schema, &options, EnumStyle::Names, &Csv::default()).unwrap();
    let csv = std::fs::read_to_string(at("c.Gps.csv")).unwrap();
    let second: Vec<u64> = csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(second, wanted);
}
