//! Tensogram to Tensogram is a copy; faults name their message and have the same exit code everywhere.

use super::pipe::piped;
use super::{fine, fw};
use framewright::tensogram::{DecodeOptions, MessageBuilder, Pipe, TensogramFile};
use std::path::Path;

/// Three messages: packed, compressed, raw; with keys of every kind.
fn forecast(path: &Path) -> Vec<usize> {
    let values: Vec<f64> = (0..5000).map(|i| 280.0 + (f64::from(i) / 50.0).sin()).collect();
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    for step in 0..3u64 {
        let message = MessageBuilder::new()
            .extra("centre", "test")
            .tensor(&[5000], &values)
            .unwrap()
            .base("name", "2t")
            .base("step", step)
            .pipeline([Pipe::zstd(3), Pipe::shuffle().lz4(), Pipe::raw()][step as usize].clone())
            .tensor(&[3], &[1i32, 2, step as i32])
            .unwrap()
            .base("name", "flags")
            .encode()
            .unwrap();
        bytes.extend_from_slice(&message);
        ends.push(bytes.len());
    }
    std::fs::write(path, bytes).unwrap();
    ends
}

/// The place of the payload of an object in a file.
fn payload(path: &Path, message: usize, object: usize) -> usize {
    TensogramFile::open(path).unwrap().object_head(message, object).unwrap().parts.region.start as usize
}

/// Codecs and payload of an object, as they are stored.
fn stored(path: &Path, message: usize, object: usize) -> (String, Vec<u8>) {
    let head = TensogramFile::open(path).unwrap().object_head(message, object).unwrap();
    let (start, end) = (head.parts.region.start as usize, head.parts.region.end as usize);
    let codecs = head.descriptor.stages().collect::<Vec<_>>().join("+");
    (codecs, std::fs::read(path).unwrap()[start..end].to_vec())
}

#[test]
fn a_copy_keeps_messages_names_and_codecs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    forecast(&at.join("a.tgm"));
    let run = fine(at, "convert a.tgm b.tgm");
    assert_eq!(run.text(), "wrote b.tgm: 6 tensors, 117 KiB\n".replace("117 KiB", "117.2 KiB"));
    assert_eq!(std::fs::read(at.join("a.tgm")).unwrap(), std::fs::read(at.join("b.tgm")).unwrap());
    // From standard input as well.
    assert_eq!(piped(at, "convert - c.tgm --sync", "a.tgm").0, Some(0));
    assert_eq!(std::fs::read(at.join("a.tgm")).unwrap(), std::fs::read(at.join("c.tgm")).unwrap());

    let run = fw(at, "convert a.tgm plain.tgm --drop-codecs");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(fine(at, "diff a.tgm plain.tgm").text(), "6 tensors: 6 identical, 0 different\n");
    let plain = TensogramFile::open(at.join("plain.tgm")).unwrap();
    assert_eq!(plain.message_count().unwrap(), 3);
    for message in 0..3 {
        assert!(plain.object_head(message, 0).unwrap().descriptor.is_raw());
        let both = [&plain, &TensogramFile::open(at.join("a.tgm")).unwrap()]
            .map(|file| file.decode_object(message, 0, &DecodeOptions::default()).unwrap().bytes);
        assert_eq!(both[0], both[1]);
    }
    assert_eq!(fine(at, "validate plain.tgm --mode full").code, 0);

    let run = fw(at, "convert a.tgm joined.tgm --join-messages");
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(TensogramFile::open(at.join("joined.tgm")).unwrap().message_count().unwrap(), 1);
    assert!(fine(at, "ls joined.tgm").text().contains("2/flags"));
    // Frames are moved: every object keeps its codec, its bytes and its digest.
    for (place, (message, object)) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)].into_iter().enumerate() {
        let (was, is) = (stored(&at.join("a.tgm"), message, object), stored(&at.join("joined.tgm"), 0, place));
        assert_eq!(was, is, "message {message}, object {object}");
    }
    fine(at, "validate joined.tgm --mode full");
    let extra = fine(at, "get joined.tgm -p _extra_.centre,name,step --default none");
    assert_eq!(extra.text().lines().nth(2), Some("test 1/2t 1"));
    let both = fw(at, "convert a.tgm both.tgm --join-messages --drop-codecs");
    assert_eq!(both.code, 0, "{}", both.err);
    assert!(TensogramFile::open(at.join("both.tgm")).unwrap().object_head(0, 2).unwrap().descriptor.is_raw());

    for flag in ["--join-messages", "--drop-codecs"] {
        let run = fw(at, &format!("convert a.tgm x.npz {flag}"));
        assert_eq!(run.code, 2, "{flag} does nothing there: {}", run.err);
    }
}

#[test]
fn damage_is_not_copied_and_names_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    forecast(&at.join("a.tgm"));
    let mut bytes = std::fs::read(at.join("a.tgm")).unwrap();
    let place = payload(&at.join("a.tgm"), 2, 1);
    bytes[place] ^= 1;
    std::fs::write(at.join("bad.tgm"), &bytes).unwrap();
    for output in ["b.tgm", "b.npz", "b.bt"] {
        let run = fw(at, &format!("convert bad.tgm {output}"));
        assert_eq!((run.code, run.text()), (1, ""), "{output}");
        assert!(
            run.err.starts_with("fw: bad.tgm: message 2, object 1 (\"2/flags\"): payload hash mismatch"),
            "{}",
            run.err
        );
        assert!(run.err.contains("\nhint: "), "{}", run.err);
        assert!(!at.join(output).exists());
    }
    // The same from standard input.
    let (code, _, err) = piped(at, "convert - b.npz", "bad.tgm");
    assert_eq!(code, Some(1));
    assert!(err.starts_with("fw: standard input: message 2, object 1 "), "{err}");

    // With leave, the others are written.
    for output in ["s.npz", "s.bt", "s.tgm"] {
        let run = fw(at, &format!("convert bad.tgm {output} --missing skip"));
        assert_eq!(run.code, 3, "{output}: {}", run.err);
        assert!(run.err.contains("hash mismatch"), "{}", run.err);
        let listed = fine(at, &format!("ls {output}"));
        assert_eq!(listed.text().lines().count(), 6, "{}", listed.text());
    }
    for (message, object) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)] {
        let (was, is) = (stored(&at.join("a.tgm"), message, object), stored(&at.join("s.tgm"), message, object));
        assert_eq!(was, is, "message {message}, object {object}");
    }
    fine(at, "validate s.tgm --mode full");
    let run = fw(at, "convert bad.tgm sj.tgm --missing skip --join-messages");
    assert_eq!(run.code, 3, "{}", run.err);
    assert_eq!(stored(&at.join("sj.tgm"), 0, 4), stored(&at.join("a.tgm"), 2, 0));

    // A message that lost everything is not written, and a file that did is an error.
    bytes[payload(&at.join("a.tgm"), 2, 0)] ^= 1;
    std::fs::write(at.join("worse.tgm"), &bytes).unwrap();
    let run = fw(at, "convert worse.tgm w.tgm --missing skip");
    assert_eq!(run.code, 3, "{}", run.err);
    assert_eq!(TensogramFile::open(at.join("w.tgm")).unwrap().message_count().unwrap(), 2);
    let last = TensogramFile::open(at.join("a.tgm")).unwrap().message_layouts().unwrap()[2];
    std::fs::write(at.join("lost.tgm"), &bytes[last.start as usize..]).unwrap();
    let run = fw(at, "convert lost.tgm l.tgm --missing skip --json");
    assert_eq!((run.code, &run.json()["error"]["code"]), (1, &"nothing_readable".into()), "{}", run.text());
    assert!(!at.join("l.tgm").exists());
}

/// The same fault, the same code: by path or from standard input, whatever the command.
#[test]
fn exit_codes_do_not_depend_on_the_way_in() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ends = forecast(&at.join("good.tgm"));
    let good = std::fs::read(at.join("good.tgm")).unwrap();
    let flipped = |message, object| {
        let mut bytes = good.clone();
        bytes[payload(&at.join("good.tgm"), message, object)] ^= 1;
        bytes
    };
    let sz3 = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sz3_float32.tgm");
    let mut lossy = std::fs::read(sz3).unwrap();
    // The algorithm of the stream: interpolation instead of lossless.
    let place = payload_end(&lossy);
    lossy[place] = 2;
    for (name, bytes, cat, convert, ls) in [
        ("good", good.clone(), 0, 0, 0),
        ("first", flipped(0, 0), 1, 1, 0),
        ("last", flipped(2, 1), 0, 1, 0),
        ("torn", good[..ends[1] + 700].to_vec(), 0, 3, 1),
        ("junk", [b"junk", &good[..]].concat(), 0, 3, 1),
        ("text", b"no file of any kind we know".to_vec(), 1, 1, 1),
        ("lossy", lossy, 1, 1, 0),
    ] {
        let file = format!("{name}.tgm");
        std::fs::write(at.join(&file), bytes).unwrap();
        for (line, expected) in [("cat {} --npy", cat), ("convert {} x.tgm -f -q", convert), ("ls {}", ls)] {
            let local = fw(at, &line.replace("{}", &file));
            assert_eq!(local.code, expected, "{name}: fw {line}: {}", local.err);
            let (code, _, err) = piped(at, &line.replace("{}", "-"), &file);
            assert_eq!(code, Some(expected), "{name}: fw {line} from standard input: {err}");
        }
    }
}

/// Where the configuration of the sz3 stream in a message has its algorithm.
fn payload_end(bytes: &[u8]) -> usize {
    let start = bytes.windows(4).position(|window| window == [0x10, 0xf3, 0x42, 0xf3]).unwrap();
    let packed = u64::from_le_bytes(bytes[start + 8..start + 16].try_into().unwrap()) as usize;
    // Size, rank, width, two bytes of dimension, count.
    start + 16 + packed + 3 + 2 + 8
}

/// The columns of a stream depend on what it holds, not on how its bytes arrive.
#[test]
fn a_listed_stream_is_the_same_every_run() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    forecast(&at.join("a.tgm"));
    let bytes = std::fs::read(at.join("a.tgm")).unwrap();
    let expected = piped(at, "ls -", "a.tgm").1;
    assert_eq!(String::from_utf8_lossy(&expected).lines().count(), 7);
    for size in [1 << 20, 70_000, 4096, 1000] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_fw"))
            .args(["ls", "-"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        for piece in bytes.chunks(size) {
            input.write_all(piece).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&expected), "pieces of {size}");
    }
}

/// A file that was cut between two messages has no fault of its own.
#[test]
fn validation_can_expect_a_number_of_messages() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ends = forecast(&at.join("a.tgm"));
    let bytes = std::fs::read(at.join("a.tgm")).unwrap();
    std::fs::write(at.join("cut.tgm"), &bytes[..ends[1]]).unwrap();
    assert_eq!(fine(at, "validate a.tgm --expect-messages 3").code, 0);
    assert_eq!(fine(at, "validate cut.tgm").code, 0);
    let run = fw(at, "validate cut.tgm --expect-messages 3");
    assert_eq!(run.code, 1);
    assert!(run.text().starts_with("error[message_count_mismatch]: expected 3 messages, found 2\n"), "{}", run.text());
    let json = fw(at, "validate cut.tgm --expect-messages 3 --json").json();
    assert_eq!((&json["ok"], &json["error_count"]), (&false.into(), &1.into()));
    assert_eq!(fw(at, "convert a.tgm a.npz").code, 3);
    assert_eq!(fw(at, "validate a.npz --expect-messages 3").code, 2);
}

/// The most memory that `fw` held while it wrote to a pipe.
#[cfg(target_os = "linux")]
fn peak(folder: &Path, line: &str) -> u64 {
    use std::io::Read;
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut block, mut peak) = (vec![0; 1 << 20], 0);
    while out.read(&mut block).unwrap() > 0 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
    }
    assert!(child.wait().unwrap().success());
    assert!(peak > 0);
    peak
}

/// An object is held once where it is decoded, and not at all where its elements are in the file.
#[cfg(target_os = "linux")]
#[test]
fn large_objects_are_held_at_most_once() {
    const LEN: u64 = 96 << 20;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let values: Vec<f32> = (0..LEN / 4).map(|i| (i % 1000) as f32).collect();
    let write = |name: &str, pipe: Pipe| {
        let builder = MessageBuilder::new().tensor(&[LEN / 4], &values).unwrap().base("name", "x").pipeline(pipe);
        std::fs::write(at.join(name), builder.encode().unwrap()).unwrap();
    };
    write("raw.tgm", Pipe::raw());
    write("zstd.tgm", Pipe::zstd(1));
    for line in ["cat raw.tgm --npy", "cat raw.tgm -t x --npy", "cat raw.tgm"] {
        let held = peak(at, line);
        assert!(held < LEN / 2, "fw {line} holds {held} bytes");
    }
    for line in ["cat zstd.tgm --npy", "cat zstd.tgm -t x --npy", "cat zstd.tgm -t x"] {
        let held = peak(at, line);
        assert!(held > LEN && held < LEN * 3 / 2, "fw {line} holds {held} bytes");
    }
}
