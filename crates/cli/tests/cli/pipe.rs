//! Standard input: a file to every command that reads one, and a stream to those that list it.

use super::{fine, fw, vectors};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `fw` with a file on its standard input: its code, and what it said on both ways.
pub(super) fn piped(folder: &Path, line: &str, file: &str) -> (Option<i32>, Vec<u8>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdin(std::fs::File::open(folder.join(file)).expect("it is there"))
        .output()
        .expect("fw runs");
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).expect("text"))
}

/// A pipe is a file to every command that looks at one.
#[test]
fn standard_input_is_looked_at() {
    let folder = vectors("tensogram");
    let piped = |words: &str| piped(&folder, words, "f32_hash.tgm");
    for words in [
        "info",
        "dump",
        "dump --hex",
        "validate",
        "cat",
        "cat --text",
        "info --json",
        "validate --json",
        "ls -w version=3 -p shape,dtype",
        "get -p shape,file",
        "stats",
        "stats --histogram --json",
        "plot",
    ] {
        let (command, options) = words.split_once(' ').unwrap_or((words, ""));
        let (code, out, err) = piped(&format!("{command} - {options}"));
        assert_eq!((code, err.as_str()), (Some(0), ""), "fw {words}");
        let local = fw(&folder, &format!("{command} f32_hash.tgm {options}")).out;
        let named = String::from_utf8_lossy(&out).replace("standard input", "f32_hash.tgm");
        assert_eq!(named, String::from_utf8_lossy(&local), "fw {words}");
    }
    let (code, _, err) = piped("cat - --message 7");
    assert_eq!(
        (code, err.as_str()),
        (Some(2), "fw: standard input: message 7 does not exist: the file has 1 message\n")
    );
    let empty = fw(&folder, "info -");
    assert_eq!((empty.code, empty.err.as_str()), (1, "fw: standard input: the file is empty\n"));
}

/// Commands that make something of a file take it from a pipe, too, and name it so.
#[test]
fn standard_input_is_converted_compared_and_recovered() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fine(path, "tour");
    std::fs::rename(path.join("fw-tour/forecast.tgm"), path.join("f.tgm")).expect("moved");
    let read = |name: &str| std::fs::read(path.join(name)).expect("it is there");
    for (line, there, same_as) in
        [("convert - a.npz", "a.npz", "convert f.tgm b.npz"), ("recover - -o a.tgm", "a.tgm", "recover f.tgm -o b.tgm")]
    {
        let (code, _, err) = piped(path, line, "f.tgm");
        let local = fw(path, same_as);
        assert_eq!((code, err), (Some(local.code), local.err), "fw {line}");
        assert!(read(there) == read(&there.replace('a', "b")), "fw {line}");
    }
    let (code, out, _) = piped(path, "diff - f.tgm", "a.npz");
    assert_eq!((code, out), (Some(0), fine(path, "diff a.npz f.tgm").out));
    let (code, _, err) = piped(path, "diff f.tgm -", "fw-tour/damaged.tgm");
    assert_eq!(code, Some(2));
    assert!(
        err.starts_with("fw: standard input: message 1, object 0 (\"1/2t\"): payload hash mismatch (stored "),
        "{err}"
    );
    std::fs::write(path.join("words"), b"words").expect("written");
    let (code, out, err) = piped(path, "convert - c.bt --json", "words");
    let json: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!((code, err.as_str(), &json["error"]["code"]), (Some(1), "", &"unknown_format".into()));
    assert!(json["error"]["message"].as_str().expect("text").starts_with("standard input: unknown format"), "{json}");
}

#[test]
fn ls_of_a_pipe() {
    use std::io::{BufRead, BufReader, Write};
    let message = std::fs::read(vectors("tensogram").join("two_objects_metadata.tgm")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(["ls", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(from).lines();
    let mut next = || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    // The first object is listed before the second has come.
    to.write_all(&message[..760]).unwrap();
    to.flush().unwrap();
    assert_eq!(next()["name"], "2t");
    to.write_all(&message[760..]).unwrap();
    drop(to);
    let second = next();
    assert_eq!((&second["object"], &second["name"], &second["bytes"]), (&1.into(), &"msl".into(), &8.into()));
    assert!(child.wait().unwrap().success());
}

/// What comes from a pipe is listed as from a file, to the character, whatever its format.
#[test]
fn ls_of_a_pipe_looks_like_ls_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fine(path, "tour");
    std::fs::rename(path.join("fw-tour/forecast.tgm"), path.join("f.tgm")).unwrap();
    for name in ["f.bt", "f.safetensors", "f.npz"] {
        fw(path, &format!("convert f.tgm {name}"));
    }
    std::fs::write(path.join("f.npy"), fine(path, "cat f.tgm --npy").out).unwrap();
    std::fs::copy(vectors("tensogram").join("many_objects.tgm"), path.join("many.tgm")).unwrap();
    let long = "a_name_that_is_longer_than_any_column_of_a_listing_should_be";
    let message = |names: &[&str]| {
        let values = vec![1.0f32; 100_000];
        let mut message = framewright::tensogram::MessageBuilder::new();
        for name in names {
            message = message.tensor(&[100, 1000], &values).unwrap().base("name", *name);
        }
        message.encode().unwrap()
    };
    std::fs::write(path.join("long.tgm"), message(&["a", long])).unwrap();
    let piped = |name: &str| {
        let (code, out, err) = piped(path, "ls -", name);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{name}");
        String::from_utf8(out).unwrap()
    };
    for name in ["many.tgm", "f.bt", "f.safetensors", "f.npz"] {
        assert_eq!(piped(name), fine(path, &format!("ls {name}")).text(), "{name}");
    }
    assert!(piped("f.npy").contains("float32"));
    // Objects too large to be seen at once: the metadata before them tells how wide the columns are.
    let starts = |text: &str| text.lines().map(|line| line.find("float32").or(line.find("dtype"))).collect::<Vec<_>>();
    for name in ["f.tgm", "long.tgm"] {
        let listed = piped(name);
        assert!(starts(&listed).windows(2).all(|pair| pair[0] == pair[1] || name == "f.tgm"), "{listed}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&listed), words(fine(path, &format!("ls {name}")).text()));
    }
}

/// A pipe of 400 MB, whose every object is larger than the memory that listing may take.
#[cfg(target_os = "linux")]
#[test]
fn listing_a_pipe_takes_bounded_memory() {
    use std::io::{Read, Write};
    const MOST: u64 = 48 << 20;
    let data = vec![7u8; 100 << 20];
    let message = framewright::tensogram::MessageBuilder::new().tensor(&[100 << 20], &data).unwrap().encode().unwrap();
    assert!(message.len() as u64 > 2 * MOST);
    let mut child = Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(["ls", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("fw runs");
    let mut pipe = child.stdin.take().unwrap();
    for _ in 0..4 {
        pipe.write_all(&message).unwrap();
    }
    pipe.flush().unwrap();
    // It has taken all but what fits the pipe, and still runs.
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10;
    drop(pipe);
    let mut listed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut listed).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(listed.matches("104857600").count(), 4, "{listed}");
    assert!(peak < MOST, "{} MiB", peak >> 20);
}
