//! What goes wrong, how it is said, and what is returned.

use super::{fw, vectors};
use std::process::{Command, Stdio};

#[test]
fn usage_errors_are_2() {
    let folder = vectors("tensogram");
    for line in [
        "",
        "info",
        "frobnicate",
        "validate f32_hash.tgm --mode odd",
        "cat f32_hash.tgm --npy --text",
        "cat f32_hash.tgm --tensor a --object 1",
        "schema",
        "schema fmt x.sf --write --check",
        "convert f32_hash.tgm",
        "diff f32_hash.tgm",
    ] {
        let run = fw(&folder, line);
        assert_eq!((run.code, run.text()), (2, ""), "fw {line}");
        assert!(!run.err.is_empty(), "fw {line}");
    }
    for (line, words) in [
        ("dump multi_three.tgm --message 9", "fw: no message 9: multi_three.tgm has 3\n"),
        ("cat multi_three.tgm --message 9", "fw: no message 9: multi_three.tgm has 3\n"),
        ("cat f32_hash.tgm --object 4", "fw: no object 4: message 0 of f32_hash.tgm has 1\n"),
        ("cat dtype_bfloat16_le.tgm --npy", "fw: NumPy has no element type for bfloat16; leave out --npy\n"),
        (
            "cat two_objects_metadata.tgm --tensor nope",
            "fw: no tensor \"nope\" in two_objects_metadata.tgm; fw ls lists them\n",
        ),
        ("diff f32_hash.tgm f32_hash.tgm --atol=-1", "fw: --atol -1: a number from 0 on is needed\n"),
        ("convert f32_hash.tgm x.bt --align 7", "fw: --align 7: a power of two from 8 to 1048576 is needed\n"),
        (
            "convert f32_hash.tgm x.bt --max-shard-size much",
            "fw: --max-shard-size much: a size such as 500MB, 5GB or 2GiB is needed\n",
        ),
        ("convert f32_hash.tgm x.odd", "fw: x.odd: the name does not tell which format to write; say --to\n"),
    ] {
        let run = fw(&folder, line);
        assert_eq!((run.code, run.text(), run.err.as_str()), (2, "", words), "fw {line}");
    }
}

#[test]
fn files_that_are_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("folder")).expect("made");
    std::fs::write(at("empty"), b"").expect("written");
    std::fs::write(at("text.txt"), b"plain words in a file").expect("written");
    for command in ["info", "ls", "dump", "validate", "cat"] {
        // A wrong argument is usage; a file that is nothing we know is a failure.
        for (code, file, words) in [
            (2, "folder", "fw: folder: not a regular file\n"),
            (2, "absent", "fw: absent: No such file or directory (os error 2)\n"),
            (1, "empty", "fw: empty: the file is empty\n"),
            (
                1,
                "text.txt",
                "fw: text.txt: no known format: not Tensogram, npy, npz, safetensors or BinTensors; found 70 6c 61 69 \
                 6e 20 77 6f 72 64 73 20 69 6e 20 61 at byte 0\n",
            ),
        ] {
            let run = fw(folder.path(), &format!("{command} {file}"));
            assert_eq!((run.code, run.text(), run.err.as_str()), (code, "", words), "fw {command} {file}");
            if command == "cat" {
                continue;
            }
            let run = fw(folder.path(), &format!("{command} {file} --json"));
            assert_eq!((run.code, run.err.as_str()), (code, ""), "fw {command} {file} --json");
            let json = run.json();
            assert_eq!((&json["command"], &json["ok"]), (&command.into(), &false.into()));
            assert_eq!(json["error"]["message"], words.trim_end().trim_start_matches("fw: "));
            assert!(json["error"]["code"].is_string());
        }
    }
    // Trouble is 2 where 1 means "different".
    assert_eq!(fw(folder.path(), "diff empty text.txt").code, 2);
    assert_eq!(fw(folder.path(), "convert empty out.bt").code, 1);
    assert!(!at("out.bt").exists());
}

/// Programs that ask for JSON get it on failure too: a code, words, and the byte where there is one.
#[test]
fn failures_in_json() {
    let run = fw(&vectors("bintensors"), "info malformed/count_2000.bt --json");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    let error = &run.json()["error"];
    assert_eq!(error["code"], "unexpected_end");
    assert!(error["position"].is_u64() && error["message"].is_string(), "{error}");
    let run = fw(&vectors("bintensors"), "info --json");
    assert_eq!((run.code, run.err.as_str(), run.json()["error"]["code"].clone()), (2, "", "usage".into()));
    let run = fw(&vectors("bintensors"), "convert valid/attn0.bt absent/x.npz --json");
    assert_eq!((run.code, run.json()["error"]["code"].clone()), (2, "not_found".into()));
}

/// Content decides, whatever the name says.
#[test]
fn names_do_not_fool_us() {
    let folder = tempfile::tempdir().expect("a folder");
    let message = std::fs::read(vectors("tensogram").join("f32_hash.tgm")).expect("it is there");
    std::fs::write(folder.path().join("fake.npy"), message).expect("written");
    assert!(fw(folder.path(), "info fake.npy").text().contains("Tensogram version 3"));
    assert_eq!(fw(folder.path(), "validate fake.npy").code, 0);
}

/// A reader that has seen enough is no failure.
#[test]
fn a_closed_pipe_is_success() {
    for line in [&["dump", "--hex", "many_objects.tgm"][..], &["cat", "many_objects.tgm"], &["ls", "many_objects.tgm"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_fw"))
            .args(line)
            .current_dir(vectors("tensogram"))
            .stdin(Stdio::null())
            .stdout(writer)
            .output()
            .expect("fw runs");
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{line:?}");
    }
}

#[test]
fn help_is_there_for_every_command() {
    let folder = vectors("tensogram");
    for command in [
        "info",
        "ls",
        "dump",
        "validate",
        "cat",
        "convert",
        "diff",
        "decode",
        "encode",
        "schema",
        "schema check",
        "schema fmt",
        "tour",
    ] {
        let run = fw(&folder, &format!("{command} --help"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{command}");
        assert!(run.text().contains("Usage: fw"), "{command}");
    }
    assert!(fw(&folder, "--version").text().starts_with("fw "));
}
