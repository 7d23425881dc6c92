//! `fw decode`, `fw encode`, `fw info` and `fw convert` on struct-frame captures.

use super::{fine, fw, vectors};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const SCHEMA: &str = "package demo;
enum Mode { OFF = 0; ON = 1; }
message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; Mode mode = 3; }
message Pose { option msgid = 8; uint64 stamp_ms = 1; float x = 2; string who = 3 [max_size=6]; }
";

const LINES: &str = r#"{"message":"Ping","values":{"seq":4660,"ack":true,"mode":"ON"},"sequence":5,"system":1,"component":2}
{"message":"Pose","values":{"stamp_ms":"1000","x":1.5,"who":"a b"},"sequence":6,"system":1,"component":2}

{"id":99,"payload":{"hex":"0102"},"sequence":8,"system":1,"component":2}
{"message":"Pose","values":{"stamp_ms":1500},"sequence":9,"system":1,"component":2}
"#;

const DECODED: &str = r#"{"at":0,"id":7,"message":"Ping","sequence":5,"system":1,"component":2,"values":{"seq":4660,"ack":true,"mode":"ON"}}
{"at":15,"id":8,"message":"Pose","sequence":6,"system":1,"component":2,"values":{"stamp_ms":"1000","x":1.5,"who":"a b"}}
{"at":45,"id":99,"sequence":8,"system":1,"component":2,"payload":{"hex":"0102"}}
{"at":58,"id":8,"message":"Pose","sequence":9,"system":1,"component":2,"values":{"stamp_ms":"1500","x":0.0,"who":""}}
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.sf"), SCHEMA).expect("written");
    std::fs::write(folder.path().join("lines.jsonl"), LINES).expect("written");
    fine(folder.path(), "encode lines.jsonl -s s.sf -p network -o net.bin");
    folder
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).expect("read")
}

/// A copy of the capture with junk in front, a damaged frame, and half a frame behind.
fn damage(folder: &Path) -> Vec<u8> {
    let good = read(folder, "net.bin");
    let mut bytes = b"junk".to_vec();
    bytes.extend(&good);
    bytes[4 + 15 + 10] ^= 1; // the first Pose
    bytes.extend(&good[..9]);
    std::fs::write(folder.join("bad.bin"), &bytes).expect("written");
    bytes
}

#[test]
fn encode_and_decode() {
    let folder = folder();
    let network = b"\x90\x78\x05\x01\x02\x04\x00\x00\x07\x34\x12\x01\x01\xa6\xbd";
    assert_eq!(read(folder.path(), "net.bin")[..15], network[..]);
    // The profile is found by content.
    assert_eq!(fine(folder.path(), "decode net.bin --schema s.sf").text(), DECODED);
    assert_eq!(fine(folder.path(), "decode net.bin -s s.sf -p Basic+ExtendedMultiSystemStream --json").text(), DECODED);
    // What was decoded encodes to the same bytes.
    std::fs::write(folder.path().join("again.jsonl"), DECODED).expect("written");
    let run = fine(folder.path(), "encode again.jsonl -s s.sf -p network -o again.bin --json");
    assert_eq!((run.json()["frames"].as_u64(), run.json()["profile"].as_str()), (Some(4), Some("network")));
    assert_eq!(read(folder.path(), "again.bin"), read(folder.path(), "net.bin"));
    // Only one message, by name or id.
    let pose: String = DECODED.lines().filter(|line| line.contains("Pose")).map(|line| format!("{line}\n")).collect();
    assert_eq!(fine(folder.path(), "decode net.bin -s s.sf --message Pose").text(), pose);
    assert_eq!(fine(folder.path(), "decode net.bin -s s.sf -m 8").text(), pose);
    // Frames to standard output, numbered.
    let run = fine(folder.path(), "encode lines.jsonl -s s.sf -p basic+seq --number");
    assert_eq!(
        (run.out[..4].to_vec(), run.out.len()),
        (vec![0x90, 0x76, 5, 4], read(folder.path(), "net.bin").len() - 4 * 4)
    );
}

#[test]
fn tables() {
    let folder = folder();
    assert_eq!(
        fine(folder.path(), "decode net.bin -s s.sf --table").text(),
        "Ping (id 7)
at  sequence  system  component   seq  ack   mode
 0         5       1          2  4660  true  ON

Pose (id 8)
at  sequence  system  component  stamp_ms    x  who
15         6       1          2      1000  1.5  a b
58         9       1          2      1500  0.0

unknown (id 99)
at  sequence  system  component  payload
45         8       1          2  0102
"
    );
}

#[test]
fn damage_goes_to_standard_error_with_its_place() {
    let folder = folder();
    damage(folder.path());
    let run = fw(folder.path(), "decode bad.bin -s s.sf");
    let expected: Vec<String> = [0, 2, 3]
        .map(|row| DECODED.lines().nth(row).expect("a line"))
        .iter()
        .zip([("\"at\":0,", "\"at\":4,"), ("\"at\":45,", "\"at\":49,"), ("\"at\":58,", "\"at\":62,")])
        .map(|(line, (from, to))| format!("{}\n", line.replace(from, to)))
        .collect();
    assert_eq!((run.code, run.text()), (3, expected.concat().as_str()));
    assert_eq!(
        run.err,
        "fw: bad.bin: 4 bytes at byte 0 (0x0) are not part of a frame
fw: bad.bin: bad checksum in a frame of 30 bytes at byte 19 (0x13): id 8 (Pose), computed 5f 48, found 60 5c
fw: bad.bin: incomplete frame of 9 bytes at byte 92 (0x5c)
"
    );
}

#[test]
fn info_of_a_capture() {
    let folder = folder();
    assert_eq!(
        fine(folder.path(), "info net.bin --schema s.sf --time stamp_ms:ms").text(),
        "file       net.bin, 88 B
format     struct-frame capture
profile    network (found by content)
frames     4 good, 0 bad checksums
sequence   1 gap, at least 1 frames missing

id  message  frames  bytes  unreadable  first s  last s  per second  longest pause s
 7  Ping          1     15           0        -       -           -                -
 8  Pose          2     60           0    1.000   1.500       2.000            0.500
99  unknown       1     13           0        -       -           -                -
"
    );
    damage(folder.path());
    let json = fine(folder.path(), "info bad.bin -s s.sf -p network --json").json();
    assert_eq!(
        (
            &json["frames"],
            &json["bad_checksums"],
            &json["skipped_bytes"],
            &json["truncated_bytes"],
            &json["unknown_ids"]
        ),
        (&3.into(), &1.into(), &4.into(), &9.into(), &1.into())
    );
    assert_eq!((&json["sequence"]["gaps"], &json["detected"]), (&1.into(), &false.into()));
    let run = fw(folder.path(), "info net.bin -s s.sf --time nope");
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "fw: --time nope: no message in net.bin has a numeric field of that name\n")
    );
}

#[test]
fn convert_to_columns_and_back() {
    let folder = folder();
    let run = fine(folder.path(), "convert net.bin net.tgm --schema s.sf --profile network");
    assert_eq!(run.text(), "wrote net.tgm: 4 frames (network), 22 columns\n");
    assert!(fine(folder.path(), "ls net.tgm").text().contains("Pose.stamp_ms"));
    assert_eq!(fine(folder.path(), "cat net.tgm --tensor Pose.stamp_ms --text").text(), "1000 1500\n");
    assert_eq!(
        fine(folder.path(), "convert net.tgm again.bin").text(),
        "wrote again.bin: 4 frames (network), 22 columns\n"
    );
    assert_eq!(read(folder.path(), "again.bin"), read(folder.path(), "net.bin"));
    fine(folder.path(), "convert net.tgm frames.tgm.bin --to frames");
    damage(folder.path());
    let run = fw(folder.path(), "convert bad.bin bad.tgm -s s.sf --json");
    assert_eq!((run.code, run.json()["frames"].as_u64()), (3, Some(3)));
    assert_eq!((run.err.as_str(), &run.json()["losses"][0]["what"]), ("", &"4 bytes at byte 0 (0x0): no frame".into()));
    let run = fw(folder.path(), "convert bad.bin bad.tgm -s s.sf --force");
    assert!(run.err.starts_with("fw: lost bytes: 4 bytes at byte 0 (0x0): no frame\n"), "{}", run.err);
    assert_eq!(fw(folder.path(), "convert bad.bin bad.tgm -s s.sf").code, 2, "not replaced without being asked to");
    assert_eq!(fw(folder.path(), "convert net.bin net.npz -s s.sf").code, 2);
    assert_eq!(fw(folder.path(), "convert net.tgm x.npz --profile network").code, 2);
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = folder();
    std::fs::write(folder.path().join("text.bin"), "no frames in here").expect("written");
    std::fs::write(
        folder.path().join("wrong.jsonl"),
        "{\"message\":\"Ping\"}\n{\"message\":\"Ping\",\"values\":{\"seq\":70000}}\n",
    )
    .expect("written");
    std::fs::write(folder.path().join("broken.jsonl"), "{\"message\":\n").expect("written");
    std::fs::write(folder.path().join("empty.bin"), "").expect("written");
    std::fs::copy(vectors("tensogram").join("f32_hash.tgm"), folder.path().join("message.tgm")).expect("copied");
    for command in ["info", "ls", "validate"] {
        let run = fw(folder.path(), &format!("{command} net.bin"));
        let hint = "\nhint: for a struct-frame capture, add --schema FILE to fw info\n";
        assert!(run.code == 1 && run.err.contains("unknown format") && run.err.ends_with(hint), "{}", run.err);
    }
    let run = fw(folder.path(), "info s.sf");
    assert!(run.err.ends_with("\nhint: check a struct-frame schema with fw schema check\n"), "{}", run.err);
    for (line, code, words) in [
        (
            "decode text.bin -s s.sf",
            1,
            "fw: text.bin: no profile matches: 17 bytes contain no frame of a message in the schema\nhint: choose a profile with --profile\n",
        ),
        ("decode absent.bin -s s.sf", 2, "fw: absent.bin: No such file or directory (os error 2)\n"),
        (
            "decode net.bin -s s.sf -m Pong",
            2,
            "fw: --message Pong: the schema has no such message with an id; it has Ping, Pose\n",
        ),
        ("decode empty.bin -s s.sf", 0, ""),
        (
            "encode wrong.jsonl -s s.sf -p standard -o x.bin",
            1,
            "fw: wrong.jsonl, line 2: Ping.seq: 70000 does not fit uint16\n",
        ),
        (
            "encode broken.jsonl -s s.sf -p standard -o x.bin",
            1,
            "fw: broken.jsonl, line 1: invalid JSON: EOF while parsing a value\n",
        ),
        (
            "encode text.bin -s s.sf -p standard -o x.bin",
            1,
            "fw: text.bin, line 1: invalid JSON: expected ident, column 2\n",
        ),
        ("encode . -s s.sf -p standard -o x.bin", 2, "fw: .: is a directory, not a file\n"),
        ("decode . -s s.sf", 2, "fw: .: is a directory, not a file\n"),
        ("encode wrong.jsonl -s s.sf -p standard -o .", 2, "fw: .: is a directory; name a file to write\n"),
        ("info empty.bin -s s.sf", 1, "fw: empty.bin: the file is empty\n"),
        (
            "info message.tgm -s s.sf",
            1,
            "fw: message.tgm: is a Tensogram file, not a struct-frame capture\nhint: run fw info without --schema\n",
        ),
        ("info net.bin --profile network", 2, "fw: --profile is for struct-frame captures and requires --schema\n"),
    ] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.err.as_str()), (code, words), "fw {line}");
    }
    assert!(!folder.path().join("x.bin").exists(), "nothing half made");
    let run = fw(folder.path(), "decode net.bin -s s.sf -p nonsense");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("expected standard, sensor, ipc, bulk, network, or HEADER+PAYLOAD"), "{}", run.err);
}

/// A live pipe: each frame is printed as soon as it is complete, while the other end stays open.
#[test]
fn a_live_pipe_is_decoded_as_it_comes() {
    let folder = folder();
    let bytes = read(folder.path(), "net.bin");
    for profile in ["--profile=network", "--strict"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fw"))
            .args(["decode", "-", "--schema", "s.sf", profile])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("fw runs");
        let mut pipe = child.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut expected = DECODED.lines();
        for (from, to) in [(0, 20), (20, 50), (50, 60)] {
            pipe.write_all(&bytes[from..to]).expect("written");
            let mut line = String::new();
            lines.read_line(&mut line).expect("a line");
            assert_eq!(line.trim_end(), expected.next().expect("a line"));
        }
        pipe.write_all(&bytes[60..]).expect("written");
        drop(pipe);
        let mut rest = String::new();
        lines.read_to_string(&mut rest).expect("text");
        assert_eq!(rest.trim_end(), expected.next().expect("a line"));
        assert!(child.wait().expect("fw ends").success());
    }
}

/// Whatever is not a regular file is live: each frame is printed while the other end stays open.
#[cfg(unix)]
#[test]
fn a_fifo_is_decoded_as_it_comes() {
    let folder = folder();
    let bytes = read(folder.path(), "net.bin");
    let made = Command::new("mkfifo").arg(folder.path().join("live")).status().expect("mkfifo runs");
    assert!(made.success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(["decode", "live", "--schema", "s.sf"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("fw runs");
    let mut pipe = std::fs::OpenOptions::new().write(true).open(folder.path().join("live")).expect("a writer");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    for (from, to, expected) in [(0, 20, 0), (20, 50, 1)] {
        pipe.write_all(&bytes[from..to]).expect("written");
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        assert_eq!(Some(line.trim_end()), DECODED.lines().nth(expected));
    }
    pipe.write_all(&bytes[50..]).expect("written");
    drop(pipe);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("text");
    assert_eq!(rest.lines().count(), 2);
    assert!(child.wait().expect("fw ends").success());
}

#[test]
fn enums_by_name_or_number() {
    let folder = folder();
    let run = fine(folder.path(), "decode net.bin -s s.sf -m Ping --enum-numbers");
    assert!(run.text().contains(r#""mode":1}"#), "{}", run.text());
    let run = fine(folder.path(), "decode net.bin -s s.sf -m Ping --enum-numbers --table");
    assert!(run.text().lines().last().is_some_and(|row| row.ends_with(" 1")), "{}", run.text());
    // A number without a name stays a number, and both forms encode.
    std::fs::write(folder.path().join("odd.jsonl"), r#"{"message":"Ping","values":{"mode":9}}"#).expect("written");
    fine(folder.path(), "encode odd.jsonl -s s.sf -p standard -o odd.bin");
    assert!(fine(folder.path(), "decode odd.bin -s s.sf").text().contains(r#""mode":9}"#));
}

/// A device that was built with `--no-packed`: the same switch in every command, and columns remember it.
#[test]
fn no_packed_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::write(at.join("a.sf"), include_str!("../data/structframe/no_packed.sf")).expect("written");
    let sent = include_bytes!("../data/structframe/no_packed.bin");
    std::fs::write(at.join("m.bin"), sent).expect("written");
    let line = "{\"at\":0,\"id\":1,\"message\":\"M\",\"values\":{\"a\":1,\"t\":\"hi\",\"z\":7}}\n";
    assert_eq!(fine(at, "decode m.bin -s a.sf -p standard --no-packed").text(), line);
    std::fs::write(at.join("m.jsonl"), line).expect("written");
    fine(at, "encode m.jsonl -s a.sf -p standard --no-packed -o again.bin");
    assert_eq!(read(at, "again.bin"), sent);
    assert_eq!(fine(at, "info m.bin -s a.sf --no-packed --json").json()["length_errors"], 0);
    assert!(fine(at, "schema layout a.sf --no-packed").text().contains("variable"));
    fine(at, "convert m.bin m.tgm -s a.sf --no-packed");
    assert_eq!(fine(at, "cat m.tgm --tensor M.z --text").text(), "7\n");
    fine(at, "convert m.tgm back.bin");
    assert_eq!(read(at, "back.bin"), sent, "the file of columns knows that messages are variable");
    for line in ["info m.bin --no-packed", "convert m.tgm x.npz --no-packed", "convert m.tgm x.bin --no-packed"] {
        let run = fw(at, line);
        assert!(run.code == 2 && run.err.starts_with("fw: --no-packed is "), "fw {line}: {}", run.err);
    }
    // Both sides of a comparison, too: variable messages do not fill what is missing.
    std::fs::write(at.join("b.sf"), "package p; message M { option msgid = 1; uint8 a = 1; }").expect("written");
    assert_eq!(fw(at, "schema diff a.sf b.sf --no-packed").code, 1);
}
