//! The fuzz target `recording` on its seeds.

#[path = "../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../fuzz/recording.rs"]
mod entry;

use fw_recording::{Recorder, RecorderOptions};
use fw_schema::{Bundle, check_text};
use fw_tensogram::{MessageBuilder, Value};
use std::time::Duration;

#[test]
fn recording() {
    corpus::check("recording", &seeds(), 60, entry::run);
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let schema = check_text("r.sf", "package r; message A { option msgid = 1; uint8 a = 1; }").into_result().unwrap();
    let options = || RecorderOptions::new("udp:7000").with_blocks(40, Duration::from_secs(3600));
    // The files of a recording of these pieces: their times, connections and bytes.
    let files = |options: RecorderOptions, pieces: &[(i64, u32, &[u8])]| -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(folder.path(), options).unwrap();
        for (time, connection, bytes) in pieces {
            recorder.push(*time, *connection, bytes).unwrap();
        }
        recorder.finish().unwrap().files.iter().map(|file| std::fs::read(file).unwrap()).collect()
    };
    let pieces: [(i64, u32, &[u8]); 4] =
        [(1, 0, b"\x90\x71\x01\x01\x2a\x2d\x56"), (2, 0, b""), (-3, 0, b"other bytes"), (4, 1, b"again")];
    let first = |options: RecorderOptions| files(options, &pieces).remove(0);
    let explained = first(options().with_schema(Bundle::of(&schema)).with_framing("standard"));
    let second = files(options().with_rotation(Some(1), None), &pieces).remove(1);
    let mut cut = explained.clone();
    cut.truncate(cut.len() * 2 / 3);
    let mut damaged = explained.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    let header = |version: i128| {
        let entries = [
            ("version", Value::Integer(version)),
            ("kind", Value::from("header")),
            ("session", Value::from("s")),
            ("file", Value::Integer(1)),
            ("address", Value::from("-")),
        ];
        let message = MessageBuilder::new().extra("fw.recording", Value::map(entries)).tensor(&[1], &[5_i64]);
        message.unwrap().base("name", "start").encode().unwrap()
    };
    let block = |number: i128, position: i128, lengths: &[u32]| {
        let entries = [
            ("version", Value::Integer(1)),
            ("kind", Value::from("block")),
            ("session", Value::from("s")),
            ("block", Value::Integer(number)),
            ("connection", Value::Integer(0)),
            ("position", Value::Integer(position)),
        ];
        let times: Vec<i64> = (0..lengths.len() as i64).collect();
        MessageBuilder::new()
            .extra("fw.recording", Value::map(entries))
            .tensor(&[3], b"abc")
            .and_then(|message| message.base("name", "bytes").tensor(&[times.len() as u64], &times))
            .and_then(|message| message.base("name", "time").tensor(&[lengths.len() as u64], lengths))
            .and_then(|message| message.base("name", "length").encode())
            .unwrap()
    };
    vec![
        ("plain", first(options())),
        ("explained", explained),
        ("second-file", second),
        ("by-hand", [header(1), block(0, 0, &[1, 2]), block(1, 3, &[3])].concat()),
        ("other-file", MessageBuilder::new().encode().unwrap()),
        ("attack-cut", cut),
        ("attack-damaged", damaged),
        ("attack-newer", header(2)),
        ("attack-lengths", [header(1), block(0, 0, &[u32::MAX, 4])].concat()),
        ("attack-positions", [header(1), block(i128::from(u64::MAX), i128::from(u64::MAX), &[3])].concat()),
        ("attack-repeated", [header(1), block(0, 0, &[3]), block(0, 0, &[3]), header(1)].concat()),
    ]
}
