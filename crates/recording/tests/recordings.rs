//! Recordings written and read: the clauses of `docs/spec/recording.md`.

use fw_recording::{Capture, Recorder, RecorderOptions, Recording, RecordingError, is_recording};
use fw_schema::{Bundle, check_text};
use fw_tensogram::{DecodeOptions, MessageBuilder, TensogramFile, Value};
use std::path::Path;
use std::time::Duration;

type Piece = (i64, u64, Vec<u8>);

/// Time, stream and bytes of every piece, and the codes of all damage.
fn read(path: &Path) -> (Vec<Piece>, Vec<&'static str>) {
    let mut reader = Recording::open(path).unwrap().reader();
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some(chunk) = reader.next_chunk().unwrap() {
        assert_eq!(chunk.at, at);
        at += chunk.bytes.len() as u64;
        pieces.push((chunk.time, chunk.stream, chunk.bytes.to_vec()));
    }
    (pieces, reader.damage().iter().map(|damage| damage.code).collect())
}

fn slow() -> RecorderOptions {
    RecorderOptions::new("udp:[::]:7000").with_blocks(1 << 20, Duration::from_secs(3600))
}

fn only_file(folder: &Path) -> std::path::PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

/// REC-3.2, REC-3.3, REC-3.4: pieces keep their borders and times, also empty ones and times that go backwards.
#[test]
fn pieces_come_back_as_they_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), slow()).unwrap();
    let given: Vec<Piece> = vec![
        (5, 0, b"abc".to_vec()),
        (6, 0, Vec::new()),
        (-4, 0, b"d".to_vec()),
        (i64::MAX, 0, vec![7; 100_000]),
        (0, 0, b"end".to_vec()),
    ];
    for (time, _, bytes) in &given {
        recorder.push(*time, 0, bytes).unwrap();
    }
    let recorded = recorder.finish().unwrap();
    assert_eq!((recorded.bytes, recorded.chunks, recorded.files.len()), (100_007, 5, 1));
    assert_eq!(recorded.file_bytes, std::fs::metadata(&recorded.files[0]).unwrap().len());
    assert_eq!(read(folder.path()), (given.clone(), vec![]));
    assert_eq!(read(&recorded.files[0]), (given, vec![]));
}

/// REC-1.1, REC-2.1, REC-2.2, REC-2.3, REC-3.1: what stands in the metadata, for readers in other languages.
#[test]
fn headers_and_blocks_say_what_they_are() {
    let schema =
        check_text("robot.sf", "package r; message A { option msgid = 1; uint8 a = 1; }").into_result().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bundle = Bundle { include: vec!["../shared".into(), "units".into()], ..Bundle::of(&schema) };
    let options = slow().with_schema(bundle.clone()).with_framing("standard");
    let mut recorder = Recorder::create(folder.path(), options).unwrap();
    recorder.push(1, 0, b"one").unwrap();
    recorder.push(2, 3, b"two").unwrap();
    recorder.finish().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "not part of it").unwrap();
    std::fs::write(folder.path().join("other.tgm"), MessageBuilder::new().encode().unwrap()).unwrap();

    let recording = Recording::open(folder.path()).unwrap();
    assert_eq!((recording.address(), recording.framing()), ("udp:[::]:7000", Some("standard")));
    assert_eq!(recording.schema(), Some(&bundle));
    assert_eq!(recording.files().count(), 1);
    let file = TensogramFile::open(recording.files().next().unwrap()).unwrap();
    assert_eq!(file.message_count().unwrap(), 3);
    let about = |message: usize| file.metadata(message).unwrap().extra["fw.recording"].clone();
    let text = |value: &Value, key: &str| value.member(key).and_then(Value::as_text).unwrap().to_owned();
    let number = |value: &Value, key: &str| value.member(key).and_then(Value::as_i64).unwrap();
    let header = about(0);
    assert_eq!((text(&header, "kind").as_str(), number(&header, "version"), number(&header, "file")), ("header", 1, 1));
    assert_eq!(header.get("schema.root").as_text(), Some("robot.sf"));
    let start = file.to_vec::<i64>(0, 0, &DecodeOptions::default()).unwrap();
    assert_eq!((start.len(), start[0]), (1, recording.start()));
    let block = about(2);
    assert_eq!(text(&block, "session"), text(&header, "session"));
    let numbers = ["version", "block", "connection", "position"].map(|key| number(&block, key));
    assert_eq!((text(&block, "kind").as_str(), numbers), ("block", [1, 1, 3, 3]));
    assert!(block.member("dropped").is_none());
    let names: Vec<_> =
        file.metadata(2).unwrap().base.iter().map(|entry| entry["name"].as_text().unwrap().to_owned()).collect();
    assert_eq!(names, ["bytes", "time", "length"]);
    assert_eq!(file.to_vec::<u8>(2, 0, &DecodeOptions::default()).unwrap(), b"two");
    assert_eq!(file.to_vec::<i64>(2, 1, &DecodeOptions::default()).unwrap(), [2]);
    assert_eq!(file.to_vec::<u32>(2, 2, &DecodeOptions::default()).unwrap(), [3]);
}

/// REC-1.3, REC-1.4: files are begun by size, named in order, and never replaced.
#[test]
fn rotation_by_size() {
    let folder = tempfile::tempdir().unwrap();
    let options = slow().with_blocks(1000, Duration::from_secs(3600)).with_rotation(Some(8000), None);
    let mut recorder = Recorder::create(folder.path(), options).unwrap();
    for step in 0..20 {
        recorder.push(step, 0, &[step as u8; 1000]).unwrap();
    }
    let recorded = recorder.finish().unwrap();
    assert!(recorded.files.len() > 2, "{recorded:?}");
    for (index, file) in recorded.files.iter().enumerate() {
        assert!(std::fs::metadata(file).unwrap().len() <= 8000);
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(name.ends_with(&format!("Z-{:04}.tgm", index + 1)), "{name}");
    }
    let (pieces, damage) = read(folder.path());
    assert_eq!((pieces.len(), damage), (20, vec![]));
    assert!(pieces.iter().enumerate().all(|(step, (time, stream, _))| (*time, *stream) == (step as i64, 0)));

    // A block that is larger than a file may be has a file of its own.
    let small = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(small.path(), slow().with_rotation(Some(1), None)).unwrap();
    recorder.push(0, 0, b"x").unwrap();
    recorder.flush().unwrap();
    recorder.push(0, 0, b"y").unwrap();
    assert_eq!(recorder.finish().unwrap().files.len(), 2);
    let one = tempfile::tempdir().unwrap().path().join("one.tgm");
    let refused = Recorder::create_file(one, slow().with_rotation(Some(1), None)).unwrap_err();
    assert_eq!(refused.code(), "rotation_needs_directory");
}

/// REC-1.4: files are begun by age.
#[test]
fn rotation_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let options = slow().with_rotation(None, Some(Duration::from_millis(20)));
    let mut recorder = Recorder::create(folder.path(), options).unwrap();
    for step in 0..3 {
        recorder.push(step, 0, b"x").unwrap();
        recorder.flush().unwrap();
        std::thread::sleep(Duration::from_millis(25));
    }
    assert_eq!(recorder.finish().unwrap().files.len(), 3);
    assert_eq!(read(folder.path()).0.len(), 3);
}

/// REC-1.2: sessions are read one after the other, also when they began in the same second.
#[test]
fn sessions_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    for session in 0..3 {
        let mut recorder = Recorder::create(folder.path(), slow()).unwrap();
        recorder.push(session, 0, &[session as u8]).unwrap();
        recorder.finish().unwrap();
    }
    let (pieces, damage) = read(folder.path());
    assert_eq!(pieces, [(0, 0, vec![0]), (1, 1, vec![1]), (2, 2, vec![2])]);
    assert_eq!(damage, [""; 0]);
}

/// REC-4.4: another connection begins another stream.
#[test]
fn connections_are_streams() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), slow()).unwrap();
    for (time, connection) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
        recorder.push(time, connection, b"x").unwrap();
    }
    recorder.finish().unwrap();
    let streams: Vec<u64> = read(folder.path()).0.iter().map(|(_, stream, _)| *stream).collect();
    assert_eq!(streams, [0, 0, 1, 1]);
}

/// REC-3.4: a piece that is larger than a block is split; others are not.
#[test]
fn only_large_pieces_are_split() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), slow().with_blocks(10, Duration::from_secs(3600))).unwrap();
    for (time, len) in [(0, 6), (1, 6), (2, 25), (3, 4)] {
        recorder.push(time, 0, &vec![time as u8; len]).unwrap();
    }
    recorder.finish().unwrap();
    let (pieces, damage) = read(folder.path());
    let shape: Vec<(i64, usize)> = pieces.iter().map(|(time, _, bytes)| (*time, bytes.len())).collect();
    assert_eq!(shape, [(0, 6), (1, 6), (2, 10), (2, 10), (2, 5), (3, 4)]);
    assert!(damage.is_empty());
}

/// What a recorder acknowledges is in the file; what it has not acknowledged may be lost.
#[test]
fn acknowledged_bytes_are_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let options = RecorderOptions::new("-").with_blocks(1 << 20, Duration::from_millis(100));
    let mut recorder = Recorder::create(folder.path(), options).unwrap();
    let second = 1_000_000_000;
    recorder.push(second, 0, b"first").unwrap();
    assert_eq!((recorder.recorded().bytes, recorder.pending()), (0, 5));
    recorder.tick(second + 99_999_999).unwrap();
    assert_eq!(recorder.recorded().bytes, 0);
    recorder.tick(second + 100_000_000).unwrap();
    assert_eq!((recorder.recorded().bytes, recorder.pending()), (5, 0));
    recorder.push(second, 0, b"second").unwrap();
    // As if the process were killed: nothing of it runs any more.
    std::mem::forget(recorder);
    assert_eq!(read(folder.path()), (vec![(second, 0, b"first".to_vec())], vec![]));
}

/// REC-4.1: however much of the last block is missing, everything before it is read.
#[test]
fn cut_anywhere_in_the_last_block() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), slow()).unwrap();
    recorder.push(1, 0, b"kept").unwrap();
    recorder.flush().unwrap();
    let whole = recorder.recorded().file_bytes;
    recorder.push(2, 0, b"torn").unwrap();
    let recorded = recorder.finish().unwrap();
    let bytes = std::fs::read(&recorded.files[0]).unwrap();
    for len in whole as usize..bytes.len() {
        std::fs::write(&recorded.files[0], &bytes[..len]).unwrap();
        let torn: &[&str] = if len as u64 == whole { &[] } else { &["torn_block"] };
        assert_eq!(read(folder.path()), (vec![(1, 0, b"kept".to_vec())], torn.to_vec()), "{len}");
    }
}

/// REC-4.2, REC-4.3: a block with a wrong byte is passed over and listed, and so is what is missing with it.
#[test]
fn damaged_blocks_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), slow()).unwrap();
    for (time, word) in [(1, b"aaaa"), (2, b"bbbb"), (3, b"cccc")] {
        recorder.push(time, 0, word).unwrap();
        recorder.flush().unwrap();
    }
    recorder.finish().unwrap();
    let file = only_file(folder.path());
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(4).position(|window| window == b"bbbb").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let (pieces, damage) = read(&file);
    assert_eq!(pieces, [(1, 0, b"aaaa".to_vec()), (3, 1, b"cccc".to_vec())]);
    assert_eq!(damage, ["hash_mismatch", "missing_blocks"]);
    let mut reader = Recording::open(&file).unwrap().reader();
    while reader.next_chunk().unwrap().is_some() {}
    let words: Vec<String> = reader.damage().iter().map(ToString::to_string).collect();
    assert!(words[1].ends_with("expected block 1, found block 2: 4 bytes are missing"), "{words:?}");
    assert_eq!(reader.damage()[1].lost, 4);
}

/// REC-3.5, REC-4.3: dropped bytes are counted where they are missing.
#[test]
fn dropped_bytes_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), slow()).unwrap();
    recorder.push(1, 0, b"a").unwrap();
    recorder.flush().unwrap();
    recorder.drop_bytes(99);
    recorder.push(2, 0, b"b").unwrap();
    assert_eq!(recorder.finish().unwrap().dropped, 99);
    let (pieces, damage) = read(folder.path());
    assert_eq!(pieces, [(1, 0, b"a".to_vec()), (2, 1, b"b".to_vec())]);
    assert_eq!(damage, ["dropped_bytes"]);
}

/// REC-2.4: a newer version, and things that are not recordings, are refused by code.
#[test]
fn refusals() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let code = |name: &str| Recording::open(at(name)).map(|_| ()).map_err(|error: RecordingError| error.code());
    assert_eq!(code("absent.tgm"), Err("not_found"));
    assert_eq!(Recording::open(folder.path()).unwrap_err().code(), "not_a_recording");
    std::fs::write(at("text.tgm"), "TENSOGRM and nothing else").unwrap();
    assert_eq!(code("text.tgm"), Err("not_a_recording"));
    std::fs::write(at("empty.tgm"), "").unwrap();
    assert_eq!(code("empty.tgm"), Err("not_a_recording"));
    for (about, expected) in [
        (Value::map([("version", 2)]), "newer_version"),
        (Value::map([("version", "1")]), "recording_metadata"),
        (Value::from(1), "recording_metadata"),
    ] {
        let message = MessageBuilder::new().extra("fw.recording", about).tensor(&[1], &[0_i64]).unwrap();
        std::fs::write(at("wrong.tgm"), message.base("name", "start").encode().unwrap()).unwrap();
        assert_eq!(code("wrong.tgm"), Err(expected));
        assert!(!is_recording(at("wrong.tgm")));
    }
    let existing = Recorder::create_file(at("text.tgm"), slow()).unwrap_err();
    assert!(matches!(existing, RecordingError::Io { .. }), "{existing}");
    assert_eq!(std::fs::read(at("text.tgm")).unwrap(), b"TENSOGRM and nothing else");
}

/// REC-3.2: blocks whose parts contradict each other are refused, and take no memory that they do not have.
#[test]
fn malformed_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), slow()).unwrap();
    recorder.push(1, 0, b"good").unwrap();
    recorder.finish().unwrap();
    let file = only_file(folder.path());
    let good = std::fs::read(&file).unwrap();
    let session = TensogramFile::open(&file).unwrap().metadata(0).unwrap().extra["fw.recording"].clone();
    let session = session.member("session").unwrap().as_text().unwrap().to_owned();
    let about = Value::map([
        ("version", Value::from(1)),
        ("kind", Value::from("block")),
        ("session", Value::from(session)),
        ("block", Value::from(1)),
        ("connection", Value::from(0)),
        ("position", Value::from(4)),
    ]);
    let (bytes, times, lengths) = ([0_u8; 4], [1_i64, 2], [u32::MAX, 5]);
    let block = || MessageBuilder::new().extra("fw.recording", about.clone()).tensor(&[4], &bytes).unwrap();
    let wrong = [
        block().base("name", "bytes"),
        block().base("name", "bytes").tensor(&[2], &times).unwrap().base("name", "time"),
        block()
            .base("name", "bytes")
            .tensor(&[2], &times)
            .unwrap()
            .base("name", "time")
            .tensor(&[2], &lengths)
            .unwrap()
            .base("name", "length"),
        block()
            .base("name", "bytes")
            .tensor(&[2], &times)
            .unwrap()
            .base("name", "time")
            .tensor(&[1], &[4_u32])
            .unwrap()
            .base("name", "length"),
        block().base("name", "bytes").tensor(&[2], &times).unwrap().base("name", "length"),
        block()
            .base("name", "length")
            .tensor(&[2], &times)
            .unwrap()
            .base("name", "time")
            .tensor(&[1], &[4_u8])
            .unwrap()
            .base("name", "bytes"),
    ];
    for message in wrong {
        let mut bytes = good.clone();
        bytes.extend(message.encode().unwrap());
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(read(&file), (vec![(1, 0, b"good".to_vec())], vec!["malformed_block"]));
    }
}

/// Plain files and recordings are read alike.
#[test]
fn captures_of_both_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain.bin");
    std::fs::write(&plain, vec![9; 600_000]).unwrap();
    let mut capture = Capture::open(&plain).unwrap();
    let (mut len, mut timed) = (0, 0);
    while let Some(chunk) = capture.next_chunk().unwrap() {
        assert_eq!(chunk.at, len);
        len += chunk.bytes.len() as u64;
        timed += usize::from(chunk.time.is_some());
    }
    assert_eq!((len, timed, capture.recording().is_none()), (600_000, 0, true));
    let mut recorder = Recorder::create(folder.path().join("flight"), slow()).unwrap();
    recorder.push(77, 0, b"x").unwrap();
    recorder.finish().unwrap();
    let mut capture = Capture::open(folder.path().join("flight")).unwrap();
    let chunk = capture.next_chunk().unwrap().unwrap();
    assert_eq!((chunk.time, chunk.bytes), (Some(77), &b"x"[..]));
    assert!(capture.next_chunk().unwrap().is_none() && capture.damage().is_empty());
    assert!(Capture::open(folder.path().join("absent")).is_err());
}
