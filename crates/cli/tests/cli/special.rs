//! Files that are no files: missing, empty, unreadable, directories, devices, pipes.

use super::{fine, fw, vectors};
use std::path::Path;
use std::process::{Command, Stdio};

/// Every command that reads a file, with X in its place.
const COMMANDS: &[&str] = &[
    "info X",
    "ls X",
    "get X -p name",
    "dump X",
    "dump X --hex",
    "dump X --frames",
    "validate X",
    "stats X",
    "plot X",
    "cat X",
    "diff X f.tgm",
    "diff f.tgm X",
    "convert X o.npz",
    "recover X -o o.tgm",
    "set X o.tgm -s a=1",
    "set X -i -s a=1",
    "copy X o.tgm",
    "merge f.tgm X -o o.tgm",
    "split X -o o.tgm",
    "reshuffle X -o o.tgm",
    "recode X o.tgm --compress lz4",
    "encode X -s s.sf -p standard -o o.bin",
    "decode f.tgm -s X",
    "schema check X",
    "gen X --lang c -o o",
];

/// A folder with a message and a schema.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(vectors("tensogram").join("f32_hash.tgm"), folder.path().join("f.tgm")).expect("copied");
    std::fs::write(folder.path().join("s.sf"), "package p; message Ping { option msgid = 1; uint8 seq = 1; }")
        .expect("written");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_not_there_is_usage() {
    let folder = folder();
    for command in COMMANDS {
        let run = fw(folder.path(), &command.replace('X', "absent.tgm"));
        assert_eq!((run.code, run.text()), (2, ""), "fw {command}: {}", run.err);
        assert!(run.err.contains("absent.tgm: No such file"), "fw {command}: {}", run.err);
        let line = format!("{} --json", command.replace('X', "absent.tgm"));
        if command.starts_with("plot") {
            continue;
        }
        let run = fw(folder.path(), &line);
        assert_eq!((run.code, run.err.as_str(), &run.json()["ok"]), (2, "", &false.into()), "fw {line}");
        assert_eq!(run.json()["error"]["code"], "not_found", "fw {line}: {}", run.text());
    }
    assert_eq!(names(folder.path()), ["f.tgm", "s.sf"]);
}

/// An empty file has no format; one that is named as a Tensogram file has no messages, which only some commands mind.
#[test]
fn what_is_empty_says_so() {
    let folder = folder();
    std::fs::write(folder.path().join("empty.bin"), "").expect("written");
    for command in COMMANDS
        .iter()
        .filter(|command| !["encode", "schema", "decode", "gen"].iter().any(|one| command.starts_with(one)))
    {
        let run = fw(folder.path(), &command.replace('X', "empty.bin"));
        let code = if command.starts_with("diff") { 2 } else { 1 };
        assert_eq!((run.code, run.text()), (code, ""), "fw {command}: {}", run.err);
        assert!(run.err.starts_with("fw: empty.bin: the file is empty"), "fw {command}: {}", run.err);
    }
    assert_eq!(names(folder.path()), ["empty.bin", "f.tgm", "s.sf"]);
}

/// Commands that take many files look below a directory; all others want a file.
#[test]
fn directories_are_not_files() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("d")).expect("made");
    for command in COMMANDS {
        let run = fw(folder.path(), &command.replace('X', "d"));
        assert_eq!((run.code, run.text()), (2, ""), "fw {command}: {}", run.err);
        let known = ["is a directory", "no tensor files in this directory", "d/f.tgm: No such file"];
        assert!(known.iter().any(|words| run.err.contains(words)), "fw {command}: {}", run.err);
    }
    assert_eq!(names(folder.path()), ["d", "f.tgm", "s.sf"]);
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_usage() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path().join("secret.tgm");
    std::fs::write(&path, b"x").expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("set");
    if std::fs::File::open(&path).is_ok() {
        super::skipped("special::what_may_not_be_read_is_usage: this user may read everything");
        return;
    }
    for command in COMMANDS {
        let run = fw(folder.path(), &command.replace('X', "secret.tgm"));
        assert_eq!((run.code, run.text()), (2, ""), "fw {command}");
        assert!(run.err.contains("secret.tgm: Permission denied"), "fw {command}: {}", run.err);
    }
}

#[cfg(unix)]
#[test]
fn devices_are_refused() {
    let folder = folder();
    for command in COMMANDS.iter().filter(|command| !command.starts_with("encode")) {
        // Reading this one to its end would never end.
        let run = fw(folder.path(), &command.replace('X', "/dev/zero"));
        assert_eq!((run.code, run.text()), (2, ""), "fw {command}: {}", run.err);
        let words = ["/dev/zero: is a device, not a file", "/dev/zero: not a regular file"];
        assert!(words.iter().any(|words| run.err.contains(words)), "fw {command}: {}", run.err);
    }
    assert_eq!(names(folder.path()), ["f.tgm", "s.sf"]);
}

/// A reader that has seen enough ends a command quietly, whatever it prints.
#[cfg(unix)]
#[test]
fn closed_pipes_are_no_failure() {
    let folder = folder();
    fine(folder.path(), "encode - -s s.sf -p standard -o p.bin");
    for line in [
        "info f.tgm",
        "ls f.tgm",
        "ls f.tgm --json",
        "get f.tgm -p shape",
        "dump f.tgm",
        "dump f.tgm --hex",
        "dump f.tgm --frames",
        "validate f.tgm",
        "stats f.tgm",
        "plot f.tgm",
        "plot f.tgm -o - --format png",
        "cat f.tgm",
        "cat f.tgm --npy",
        "cat f.tgm --text",
        "diff f.tgm f.tgm",
        "convert f.tgm o.npz",
        "recover f.tgm -o o.tgm",
        "set f.tgm - -s a=1",
        "copy f.tgm -",
        "merge f.tgm -o -",
        "reshuffle f.tgm -o -",
        "recode f.tgm - --compress lz4",
        "recode f.tgm --dry-run --compress lz4",
        "encode - -s s.sf -p standard -o -",
        "schema layout s.sf",
        "doctor",
        "completions bash",
        "man ls",
        "--help",
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fw"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("fw runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("fw ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "fw {line}");
    }
}

/// `<(command)` and named pipes are read once, to their end.
#[cfg(unix)]
#[test]
fn pipes_with_names() {
    let folder = vectors("tensogram");
    for command in [
        "info X",
        "ls X",
        "ls X -p shape",
        "get X -p shape",
        "dump X",
        "dump X --hex",
        "dump X --frames",
        "validate X",
        "stats X",
        "plot X",
        "cat X",
        "cat X --npy",
        "diff X f32_hash.tgm",
        "set X - -s a=1 -w nothing=1 --quiet",
        "copy X -",
        "merge X -o - --strategy first",
        "reshuffle X -o -",
        "recode X --dry-run --compress lz4",
    ] {
        let file = fine(&folder, &command.replace('X', "f32_hash.tgm"));
        let script = format!("{} {}", env!("CARGO_BIN_EXE_fw"), command.replace('X', "<(cat f32_hash.tgm)"));
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "fw {command}");
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().map(|line| line.replace("/dev/fd/63", "f32_hash.tgm") + "\n").collect::<String>()
        };
        assert_eq!(text(&output.stdout), text(&file.out), "fw {command}");
    }
    let out = tempfile::tempdir().expect("a folder");
    for (command, output) in
        [("convert X O/o.npz", "o.npz"), ("recover X -o O/o.tgm", "o.tgm"), ("split X -o O/s.tgm", "s_0000.tgm")]
    {
        let at = out.path().display().to_string();
        let script =
            format!("{} {}", env!("CARGO_BIN_EXE_fw"), command.replace('X', "<(cat f32_hash.tgm)").replace('O', &at));
        let status = Command::new("bash").args(["-c", &script]).current_dir(&folder).stdout(Stdio::null()).status();
        assert_eq!(status.expect("bash runs").code(), Some(0), "fw {command}");
        assert!(out.path().join(output).exists(), "fw {command}");
    }
}

/// Commands that read as it comes take devices and pipes, and do not wait for the end.
#[cfg(unix)]
#[test]
fn frames_come_from_devices_and_pipes() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(fw(folder.path(), "tour").code, 0);
    let whole = fine(folder.path(), "decode fw-tour/flight.bin -s fw-tour/robot.sf -p network");
    let decode = format!("{} decode", env!("CARGO_BIN_EXE_fw"));
    let script = format!("{decode} <(cat fw-tour/flight.bin) -s fw-tour/robot.sf -p network");
    let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().expect("bash runs");
    assert_eq!((output.status.code(), output.stdout == whole.out), (Some(0), true));
    let run = fw(folder.path(), "decode /dev/null -s fw-tour/robot.sf -p network");
    assert_eq!(run.text(), "");
    assert!(!run.err.contains("is a device"), "{}", run.err);
}

/// Every command that writes a file, given a file that it reads as its output by any name: nothing is changed.
#[cfg(unix)]
#[test]
fn what_a_command_reads_is_never_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(vectors("tensogram").join("multi_three.tgm"), at("x.tgm")).unwrap();
    std::fs::write(at("s.sf"), "package p; message M { option msgid = 1; uint8 a = 1; }").unwrap();
    std::fs::write(at("x.jsonl"), "{\"message\": \"M\", \"values\": {\"a\": 1}}\n").unwrap();
    fine(folder.path(), "encode x.jsonl -s s.sf -p standard -o x.bin");
    for name in ["x.tgm", "x.jsonl", "x.bin", "s.sf"] {
        std::os::unix::fs::symlink(at(name), at(&format!("link-{name}"))).unwrap();
        std::fs::hard_link(at(name), at(&format!("hard-{name}"))).unwrap();
    }
    let before = |name: &str| std::fs::read(at(name)).unwrap();
    let files: Vec<(&str, Vec<u8>)> = ["x.tgm", "x.jsonl", "x.bin", "s.sf"].map(|name| (name, before(name))).into();
    for (line, output) in [
        ("encode --force x.jsonl -s s.sf -p standard -o", "x.jsonl"),
        ("encode --force x.jsonl -s s.sf -p standard -o", "s.sf"),
        ("convert --force x.bin -s s.sf -p standard --to tensogram", "x.bin"),
        ("convert --force x.bin -s s.sf -p standard --to tensogram", "s.sf"),
        ("convert --force --to tensogram x.tgm", "x.tgm"),
        ("recover --force x.tgm -o", "x.tgm"),
        ("plot x.tgm -m 0 --force -o", "x.tgm"),
        ("merge --force x.tgm x.tgm -o", "x.tgm"),
        ("reshuffle --force x.tgm -o", "x.tgm"),
        ("recode --force --compress zstd x.tgm -o", "x.tgm"),
        ("copy --force x.tgm -o", "x.tgm"),
    ] {
        for output in [output.to_owned(), format!("./{output}"), format!("link-{output}"), format!("hard-{output}")] {
            let run = fw(folder.path(), &format!("{line} {output}"));
            assert_eq!(run.code, 2, "fw {line} {output}: {}", run.err);
            assert!(files.iter().all(|(name, bytes)| before(name) == *bytes), "fw {line} {output}");
        }
    }
}
