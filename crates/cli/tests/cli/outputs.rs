//! Where results go, and where they cannot.

use super::{fine, fw, vectors};

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(vectors("tensogram").join("f32_hash.tgm"), folder.path().join("f.tgm")).expect("copied");
    std::fs::write(folder.path().join("p.sf"), "package p; message Ping { option msgid = 1; uint8 seq = 1; }").unwrap();
    std::fs::write(folder.path().join("p.jsonl"), "{\"message\": \"Ping\", \"values\": {\"seq\": 7}}\n").unwrap();
    folder
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// No file or folder is called `-` by mistake.
#[test]
fn standard_output_is_no_file() {
    let folder = folder();
    for line in ["recover f.tgm -o -", "convert f.tgm - --to npz", "convert f.tgm -", "gen p.sf --lang c -o -"] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.text()), (2, ""), "fw {line}");
        assert!(
            run.err.contains("the output must be a file, not standard output; use ./- for a file of that name"),
            "{}",
            run.err
        );
    }
    let piped = fine(folder.path(), "encode p.jsonl -s p.sf -p standard -o -");
    fine(folder.path(), "encode p.jsonl -s p.sf -p standard -o p.bin");
    assert_eq!(piped.out, std::fs::read(folder.path().join("p.bin")).expect("there"));
    let run = fw(folder.path(), "encode p.jsonl -s p.sf -p standard -o - --json");
    assert_eq!((run.code, &run.json()["error"]["code"]), (2, &"usage".into()));
    assert_eq!(names(folder.path()), ["f.tgm", "p.bin", "p.jsonl", "p.sf"]);
    fine(folder.path(), "convert f.tgm ./- --to npz");
    assert!(folder.path().join("-").exists());
}

#[test]
fn urls_are_not_written() {
    let folder = folder();
    for line in [
        "convert f.tgm s3://bucket/x.npz",
        "recover f.tgm -o https://host/x.tgm",
        "encode p.jsonl -s p.sf -p standard -o http://host/x",
        "gen p.sf --lang c -o gs://bucket",
    ] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.text()), (2, ""), "fw {line}");
        assert!(run.err.contains("the output must be a local file; write it here, then copy it"), "{}", run.err);
    }
    assert!(fw(folder.path(), "convert f.tgm file://host/x.npz").err.contains("three slashes"));
    assert_eq!(names(folder.path()), ["f.tgm", "p.jsonl", "p.sf"]);
    let place = folder.path().canonicalize().expect("there");
    fine(folder.path(), &format!("convert f.tgm file://{}/x.npz", place.display()));
    std::fs::create_dir(folder.path().join("odd:")).expect("made");
    fine(folder.path(), "convert f.tgm odd://y.npz");
    assert!(folder.path().join("x.npz").exists() && folder.path().join("odd:/y.npz").exists());
}

/// A tensor that is larger than a shard may be makes a larger one, which is said.
#[test]
fn shards_larger_than_asked_for() {
    let folder = folder();
    let run = fw(folder.path(), "convert f.tgm f.bt --max-shard-size 5");
    let note = "fw: note, shard size: tensors are not split: one larger than 5 bytes makes a larger file (\"";
    assert!(run.code == 0 && run.err.starts_with(note), "{} {}", run.code, run.err);
    let notes = fw(folder.path(), "convert f.tgm g.bt --max-shard-size 5 --json").json()["notes"].clone();
    assert_eq!((&notes[0]["feature"], &notes[0]["count"]), (&"shard_size".into(), &1.into()));
    fine(folder.path(), "convert f.tgm h.bt --max-shard-size 12");
}

/// What was just asked for is not suggested.
#[test]
fn nothing_is_left_to_convert() {
    let folder = folder();
    let header = "{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }";
    let text = [b"\x93NUMPY\x01\x00\x76\x00", format!("{header:<117}\na\0\0\0").as_bytes()].concat();
    std::fs::write(folder.path().join("str.npy"), text).expect("written");
    let run = fw(folder.path(), "convert str.npy x.npz");
    assert!(run.code == 1 && run.err.ends_with("\nhint: use --missing skip to leave it out\n"), "{}", run.err);
    let run = fw(folder.path(), "convert str.npy x.npz --missing skip");
    assert!(run.code == 1 && !run.err.contains("--missing"), "{}", run.err);
    let run = fw(folder.path(), "convert str.npy x.npz --missing skip --json");
    assert_eq!(run.json()["error"]["code"], "not_a_tensor");
}

/// A program learns all that a person does about a wrong command line.
#[test]
fn usage_in_json_is_whole() {
    let folder = folder();
    let error = |line: &str| {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.err.as_str()), (2, ""), "fw {line}");
        assert_eq!(run.json()["error"]["code"], "usage");
        run.json()["error"].clone()
    };
    let missing = error("ls --json");
    assert_eq!(missing["message"], "the following required arguments were not provided: <FILE>...");
    assert_eq!(missing["hint"], "usage: fw ls --json <FILE>...");
    let odd = error("validate f.tgm --mode odd --json");
    let message = "invalid value 'odd' for '--mode <MODE>' [possible values: quick, checksum, default, decode, full]";
    assert_eq!(odd["message"], message);
    assert!(error("lss f.tgm --json")["hint"].as_str().expect("words").contains("'ls'"));
    assert!(error("convert f.tgm - --json")["message"].as_str().expect("words").contains("./- for a file"));
}

/// Lines of JSON end in a line of JSON.
#[test]
fn decode_fails_in_json() {
    let folder = folder();
    std::fs::write(folder.path().join("bad.sf"), "package p; message Ping { option msgid = 1; uint9 seq = 1; }")
        .unwrap();
    for (line, code, key) in [
        ("decode absent -s p.sf --json", 2, "/error/code"),
        ("decode f.tgm -s absent.sf --json", 2, "/error/code"),
        ("decode f.tgm --json", 2, "/error/hint"),
        ("decode f.tgm -s p.sf --json", 1, "/error/code"),
        ("decode f.tgm -s bad.sf --json", 1, "/findings/0/code"),
    ] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.err.as_str(), run.text().lines().count()), (code, "", 1), "fw {line}");
        let json = run.json();
        assert_eq!((&json["command"], &json["ok"]), (&"decode".into(), &false.into()), "fw {line}");
        assert!(json.pointer(key).is_some_and(serde_json::Value::is_string), "fw {line}: {json}");
    }
    let run = fw(folder.path(), "decode absent -s p.sf");
    assert_eq!((run.code, run.text()), (2, ""));
}
