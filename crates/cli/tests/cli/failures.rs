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
        (
            "dump multi_three.tgm --message 9",
            "fw: multi_three.tgm: message 9 does not exist: the file has 3 messages\n",
        ),
        ("cat multi_three.tgm --message 9", "fw: multi_three.tgm: message 9 does not exist: the file has 3 messages\n"),
        ("cat f32_hash.tgm --object 4", "fw: f32_hash.tgm: object 4 does not exist: message 0 has 1 object\n"),
        (
            "cat dtype_bfloat16_le.tgm --npy",
            "fw: NumPy has no bfloat16\nhint: leave out --npy to write the raw elements, or add --as f32 to write float32\n",
        ),
        (
            "cat two_objects_metadata.tgm --tensor nope",
            "fw: two_objects_metadata.tgm: no tensor is named \"nope\"\nhint: fw ls lists the names\n",
        ),
        (
            "cat two_objects_metadata.tgm --tensor msk",
            "fw: two_objects_metadata.tgm: no tensor is named \"msk\"\nhint: did you mean \"msl\"? fw ls lists the names\n",
        ),
        ("diff f32_hash.tgm f32_hash.tgm --atol=-1", "fw: --atol -1: must be 0 or greater\n"),
        ("convert f32_hash.tgm x.bt --align 7", "fw: --align 7: must be a power of two from 8 to 1048576\n"),
        (
            "convert f32_hash.tgm x.bt --max-shard-size much",
            "fw: --max-shard-size much: must be a size such as 500MB, 5GB or 2GiB\n",
        ),
        (
            "convert f32_hash.tgm x.odd",
            "fw: x.odd: the output format is not clear from the name\nhint: use a name that ends in .tgm, .bt, .safetensors, .npy \
             or .npz, or choose a format with --to\n",
        ),
        ("convert f32_hash.tgm ..", "fw: ..: is a directory; name a file to write\n"),
        ("diff - -", "fw: standard input can be only one of the two files\n"),
        ("diff f32_hash.tgm f32_hash.tgm --rtol -1", "fw: --rtol -1: must be 0 or greater\n"),
        (
            "cat f32_hash.tgm --slice 7",
            "fw: f32_hash.tgm: selection: index 7 is out of bounds for axis 0 with 3 elements in message[0].object[0] \
             [invalid_slice]\n",
        ),
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
            (
                2,
                "folder",
                match command {
                    "cat" => "fw: folder: is a directory, not a file\n",
                    _ => {
                        "fw: folder: no tensor files in this directory (.tgm, .bt, .safetensors, .npy, .npz, .gguf, .pt, \
                         .index.json)\n"
                    }
                },
            ),
            (2, "absent", "fw: absent: No such file or directory (os error 2)\n"),
            (1, "empty", "fw: empty: the file is empty\n"),
            (
                1,
                "text.txt",
                "fw: text.txt: unknown format: not Tensogram, BinTensors, safetensors, npy, npz, GGUF or PyTorch; found 70 6c 61 69 \
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
            let known = ["usage", "not_found", "io_error", "empty_file", "unknown_format"];
            assert!(known.contains(&json["error"]["code"].as_str().expect("a code")), "{json}");
        }
    }
    // Trouble is 2 where 1 means "different".
    assert_eq!(fw(folder.path(), "diff empty text.txt").code, 2);
    assert_eq!(fw(folder.path(), "convert empty out.bt").code, 1);
    assert!(!at("out.bt").exists());
}

/// What is wrong with a file names it, whichever way it came up.
#[test]
fn faults_name_their_file() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(fw(folder.path(), "tour").code, 0);
    for (line, code) in [
        ("cat fw-tour/damaged.tgm -m 1", 1),
        ("cat fw-tour/damaged.tgm -m 1 --text", 1),
        ("convert fw-tour/damaged.tgm x.bt", 1),
        ("diff fw-tour/forecast.tgm fw-tour/damaged.tgm", 2),
        ("diff fw-tour/damaged.tgm fw-tour/forecast.tgm", 2),
    ] {
        let run = fw(folder.path(), line);
        assert_eq!(run.code, code, "fw {line}");
        assert!(run.err.starts_with("fw: fw-tour/damaged.tgm: ") && run.err.contains("hash mismatch"), "{}", run.err);
    }
    let info = fw(folder.path(), "info fw-tour/flight.tgm");
    assert!(info.text().contains("holds      the columns of a struct-frame capture; fw convert"), "{}", info.text());
    std::fs::create_dir(folder.path().join("other")).expect("made");
    std::fs::write(folder.path().join("other/fw-tour"), b"").expect("written");
    let run = fw(&folder.path().join("other"), "tour");
    assert_eq!(
        (run.code, run.err.as_str()),
        (2, "fw: fw-tour: exists and is not a directory\nhint: run fw tour in another directory\n")
    );
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
    assert_eq!(run.json()["command"], "info");
    let run = fw(&vectors("bintensors"), "convert valid/attn0.bt absent/x.npz --json");
    assert_eq!((run.code, run.json()["error"]["code"].clone()), (2, "not_found".into()));
}

/// What went wrong is said once.
#[test]
fn nothing_is_said_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in ["recover absent.tgm -o good.tgm", "convert absent.tgm x.npz", "info absent.tgm", "cat absent.tgm"] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.err.matches("absent.tgm").count()), (2, 1), "fw {line}: {}", run.err);
        assert_eq!(run.err.matches("No such file").count(), 1, "fw {line}: {}", run.err);
    }
}

/// An object whose frame is gone is missed, and not answered with the next one.
#[test]
fn a_lost_object_is_not_another() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(fw(folder.path(), "tour").code, 0);
    let path = folder.path().join("fw-tour/forecast.tgm");
    let mut bytes = std::fs::read(&path).expect("it is there");
    let listing = fw(folder.path(), "ls fw-tour/forecast.tgm --json").json();
    let frame = listing["tensors"][0]["offset"].as_u64().expect("a number") as usize;
    bytes[frame] ^= 1;
    std::fs::write(folder.path().join("lost.tgm"), bytes).expect("written");
    let left = fw(folder.path(), "ls lost.tgm --json").json();
    for (place, name) in [(0, "msl"), (1, "sd")] {
        let (row, whole) = (&left["tensors"][place], &listing["tensors"][place + 1]);
        assert_eq!((&row["name"], &row["object"], &row["dtype"]), (&name.into(), &(place + 1).into(), &whole["dtype"]));
    }
    let run = fw(folder.path(), "cat lost.tgm --object 0");
    assert_eq!((run.code, run.text()), (1, ""), "{}", run.err);
    assert!(run.err.contains("[index_count_mismatch]"), "{}", run.err);
    let line = "--message 0 --object 1";
    let (good, again) = (
        fw(folder.path(), &format!("cat fw-tour/forecast.tgm {line}")),
        fw(folder.path(), &format!("cat lost.tgm {line}")),
    );
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    assert!(good.out == again.out);
    // By name, and into other formats, goes what can be told apart only.
    for line in ["cat lost.tgm --tensor 0/2t", "cat lost.tgm --object 1 --text", "convert lost.tgm x.npz"] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.text()), (1, ""), "fw {line}");
        assert!(run.err.contains("[base_count_exceeds_objects]") && run.err.contains("fw recover"), "{}", run.err);
    }
    assert!(!folder.path().join("x.npz").exists());
}

/// URLs where only files are read, and URLs of stores that there are not.
#[cfg(feature = "remote")]
#[test]
fn urls_where_there_are_none() {
    let folder = vectors("tensogram");
    let sample = tempfile::tempdir().expect("a folder");
    fw(sample.path(), "tour");
    for line in ["decode http://h/x -s fw-tour/robot.sf", "encode http://h/x -s fw-tour/robot.sf -p bulk"] {
        let run = fw(sample.path(), line);
        assert_eq!((run.code, run.text()), (2, ""), "fw {line}");
        assert!(run.err.contains("http://h/x: ") && run.err.contains("curl -s http://h/x | fw "), "{}", run.err);
    }
    let run = fw(&folder, "ls ftp://h/x.tgm");
    let words =
        "fw: ftp://h/x.tgm: unsupported URL scheme ftp://; supported: http, https, hf, s3, gs, az, abfs and file\n";
    assert_eq!((run.code, run.err.as_str()), (2, words));
    // A file of this machine is a path, however it is written.
    let url = |name: &str| format!("file://{}", folder.canonicalize().expect("it is there").join(name).display());
    for command in ["info", "ls", "validate", "dump --hex", "cat"] {
        let (local, named) = (fw(&folder, &format!("{command} f32_hash.tgm")), url("f32_hash.tgm"));
        let run = fw(&folder, &format!("{command} {named}"));
        let shown = named.trim_start_matches("file://");
        assert_eq!((run.code, run.err.as_str()), (0, ""), "fw {command}");
        let text = String::from_utf8_lossy(&run.out).replace(shown, "f32_hash.tgm");
        assert_eq!(text, String::from_utf8_lossy(&local.out), "fw {command}");
    }
    for line in ["ls file:///nonesuch/x.tgm", "convert file:///nonesuch/x.tgm x.npz"] {
        let run = fw(&folder, line);
        assert_eq!((run.code, run.err.as_str()), (2, "fw: /nonesuch/x.tgm: No such file or directory (os error 2)\n"));
    }
    assert_eq!(fw(&folder, "ls file:///nonesuch/x.tgm --json").json()["error"]["code"], "not_found");
    let run = fw(&folder, "ls file://elsewhere/x.tgm");
    assert!(run.code == 2 && run.err.contains("three slashes"), "{}", run.err);
}

/// What is for URLs is there where URLs are, and nowhere else.
#[cfg(feature = "remote")]
#[test]
fn options_of_stores_are_where_urls_are() {
    let folder = vectors("tensogram");
    for command in ["info", "ls", "dump", "validate", "cat", "recover", "convert", "diff"] {
        let help = fw(&folder, &format!("{command} --help"));
        assert!(help.text().contains("--store-option") && help.text().contains("--allow-full-read"), "{command}");
        assert!(help.text().contains("URL"), "{command}");
    }
    for command in ["", "decode", "encode", "schema", "schema check", "schema layout", "gen", "tour"] {
        let help = fw(&folder, &format!("{command} --help"));
        assert!(!help.text().contains("--store-option") && !help.text().contains("--allow-full-read"), "{command}");
        assert_eq!(fw(&folder, &format!("{command} --allow-full-read")).code, 2, "{command}");
    }
}

/// An empty file that is named as one of Tensogram has no messages, which every command says in the same words.
#[test]
fn an_empty_file_of_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("e.tgm"), b"").expect("written");
    let said = "the file is empty: it holds no message";
    let validated = fw(folder.path(), "validate e.tgm");
    assert_eq!((validated.code, validated.err.as_str()), (0, ""));
    assert!(validated.text().starts_with(&format!("warning[empty_file]: {said}\n")), "{}", validated.text());
    assert!(validated.text().contains("1 warning, ") && validated.text().ends_with("valid\n"), "{}", validated.text());
    let info = fw(folder.path(), "info e.tgm");
    assert_eq!(info.code, 0);
    assert!(info.text().contains("messages   0 ") && info.text().contains(&format!("note       {said}\n")));
    for line in ["ls e.tgm", "dump e.tgm"] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.err.as_str()), (0, format!("warning[empty_file]: {said}\n").as_str()), "fw {line}");
    }
    for line in ["validate e.tgm --json", "ls e.tgm --json"] {
        let json = fw(folder.path(), line).json();
        assert_eq!((&json["ok"], &json["messages"]), (&true.into(), &serde_json::json!([])), "fw {line}");
        assert_eq!(json["findings"][0]["code"], "empty_file", "fw {line}");
    }
    // What wants something of it does not find it.
    for line in ["cat e.tgm", "convert e.tgm x.npz"] {
        let run = fw(folder.path(), line);
        assert_eq!((run.code, run.err.as_str()), (1, "fw: e.tgm: the file is empty\n"), "fw {line}");
    }
}

/// What `fw gen` is asked wrongly is usage, and in JSON nothing else is said.
#[test]
fn generating_what_there_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write(
        "good.sf",
        "package good; message Ping { option msgid = 1; uint8 seq = 1; } message Odd { option msgid = 2; }",
    );
    write("bad.sf", "package bad; message Ping { option msgid = 1; uint9 seq = 1; }");
    let run = fw(folder.path(), "gen good.sf --lang cobol -o out");
    assert_eq!(run.code, 2);
    assert!(run.err.starts_with("fw: unknown language `cobol`: expected one of rust, c, "), "{}", run.err);
    let run = fw(folder.path(), "gen good.sf --lang csharp --csharp-namespace 9.Lives -o out");
    assert_eq!((run.code, run.err.contains("--csharp-namespace \"9.Lives\"")), (2, true), "{}", run.err);
    let run = fw(folder.path(), "gen bad.sf --lang c -o out --json");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_eq!(run.json()["findings"][0]["code"], "unresolved_type");
    assert!(!folder.path().join("out").exists());
    let run = fw(folder.path(), "gen good.sf --lang c,c -o out --json");
    assert_eq!((run.code, run.err.as_str(), &run.json()["command"]), (0, "", &"gen".into()));
    assert_eq!(run.json()["findings"][0]["code"], "empty_message");
    for command in ["gen . --lang c -o out", "gen . --lang c -o out --json", "schema check ."] {
        let run = fw(folder.path(), command);
        let words = if command.ends_with("json") { run.json()["error"]["message"].to_string() } else { run.err };
        assert_eq!(run.code, 2, "fw {command}");
        assert!(words.contains(".: is a directory; name a schema file: ./bad.sf, ./good.sf"), "fw {command}: {words}");
    }
    write("bytes.sf", "package \0");
    let run = fw(folder.path(), "gen bytes.sf --lang c -o out");
    assert_eq!(
        (run.code, run.err.as_str()),
        (1, "fw: bytes.sf: is not a schema: byte 8 is 0x00, and a schema is text\n")
    );
    for line in ["schema layout bad.sf", "schema diff bad.sf good.sf", "info good.sf -s bad.sf"] {
        let run = fw(folder.path(), &format!("{line} --json"));
        assert_eq!((run.code, run.err.as_str()), (1, ""), "fw {line}");
        assert_eq!((&run.json()["ok"], &run.json()["findings"][0]["code"]), (&false.into(), &"unresolved_type".into()));
    }
    assert!(folder.path().join("out/good.structframe.h").exists());
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

/// Where nobody can hear what went wrong, the exit code still tells.
#[cfg(target_os = "linux")]
#[test]
fn nothing_can_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = "package bad; message Ping { option msgid = 1; uint9 seq = 1; }";
    std::fs::write(folder.path().join("bad.sf"), bad).expect("written");
    std::fs::write(folder.path().join("e.tgm"), b"").expect("written");
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    for (line, code) in [
        ("gen bad.sf --lang c -o g", 1),
        ("schema check bad.sf", 1),
        ("schema layout bad.sf", 1),
        ("ls absent", 2),
        ("ls absent --json", 2),
        ("ls e.tgm", 0),
        ("frobnicate", 2),
        ("info --json", 2),
    ] {
        let run = |out: Stdio, err: Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fw"));
            command.args(line.split(' ')).current_dir(folder.path()).stdin(Stdio::null()).stdout(out).stderr(err);
            command.status().expect("fw runs").code()
        };
        assert_eq!(run(Stdio::null(), full().into()), Some(code), "fw {line}");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        assert_eq!(run(Stdio::null(), writer.into()), Some(code), "fw {line}");
        // A result that cannot be written is a failure, too.
        assert_eq!(run(full().into(), full().into()), Some(code.max(u8::from(line == "ls e.tgm").into())), "fw {line}");
    }
}
