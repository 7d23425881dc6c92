//! Commands that are ended by a signal leave no temporary file, and no half-written output.
#![cfg(unix)]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SIGNALS: [(&str, i32); 4] = [("INT", 2), ("TERM", 15), ("HUP", 1), ("KILL", 9)];

/// A safetensors file of so many bytes, with values that do not compress.
fn weights(path: &Path, bytes: usize) {
    let header = format!(r#"{{"w":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{bytes}]}}}}"#, bytes / 4);
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    let mut state = 7u32;
    let block: Vec<u8> = (0..1 << 18)
        .flat_map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32).to_le_bytes()
        })
        .collect();
    for _ in 0..bytes / block.len() {
        file.write_all(&block).unwrap();
    }
}

/// A program that does not inherit ignored signals: these tests may run under `nohup`, which ignores one of them.
fn heeding_signals() -> Command {
    if cfg!(not(target_os = "linux")) {
        return Command::new(env!("CARGO_BIN_EXE_fw"));
    }
    let mut command = Command::new("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_fw")]);
    command
}

fn start(folder: &Path, line: &str, input: Stdio) -> Child {
    heeding_signals()
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("TMPDIR", folder.join("tmp"))
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn end(child: &mut Child, signal: &str) -> Option<i32> {
    let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    let status = child.wait().unwrap();
    assert!(sent.success() || status.code().is_some());
    status.signal()
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// Runs of commands that write, ended at several moments by each of four signals.
#[test]
fn no_signal_leaves_a_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("tmp")).unwrap();
    weights(&at.join("w.safetensors"), 64 << 20);
    let whole = Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(["convert", "w.safetensors", "w.tgm", "-q"])
        .current_dir(at)
        .status()
        .unwrap();
    assert!(whole.success());
    let lines = [
        // With an output that is there already, and with one that is not.
        "convert w.tgm w.npz -q --force",
        "convert w.safetensors w.bt -q --force",
        "convert w.tgm copy.tgm -q",
        "recover w.tgm -o saved.tgm",
        "recode w.tgm recoded.tgm -q --compress lz4",
        "set w.tgm -i -s run=00Z",
        "copy w.tgm copied.tgm -q",
        "merge w.tgm -o merged.tgm -q",
        "split w.tgm -o split.tgm -q",
    ];
    let (mut ended, mut run) = (0, 0u64);
    for (signal, number) in SIGNALS {
        for moment in 0..3u64 {
            for line in lines {
                let mut child = start(at, line, Stdio::null());
                std::thread::sleep(Duration::from_millis(5 + 13 * moment + run % 7));
                run += 1;
                if let Some(found) = end(&mut child, signal) {
                    assert_eq!(found, number, "{line}: by the signal itself");
                    ended += 1;
                }
                let mut left = names(at);
                left.retain(|name| !name.ends_with(".npz") && !name.ends_with(".bt") && !name.ends_with(".tgm"));
                assert_eq!(left, ["tmp", "w.safetensors"], "{line}, SIG{signal}");
                assert_eq!(names(&at.join("tmp")), [""; 0], "{line}, SIG{signal}");
                assert!(
                    std::fs::metadata(at.join("w.tgm")).unwrap().len() > 64 << 20,
                    "{line}, SIG{signal}: changed in place"
                );
                for output in ["copy.tgm", "saved.tgm", "recoded.tgm", "copied.tgm", "merged.tgm", "split_0000.tgm"] {
                    // What is there is whole.
                    let Ok(metadata) = std::fs::metadata(at.join(output)) else { continue };
                    assert!(metadata.len() > 64 << 20, "{line}, SIG{signal}: {output} is half written");
                    std::fs::remove_file(at.join(output)).unwrap();
                }
            }
        }
    }
    assert!(run >= 60 && ended >= 40, "{ended} of {run} runs were ended while they worked");
}

/// Waits until a process keeps a copy of what came in a folder: a file without a name on Linux.
fn wait_for_copy(child: &Child, tmp: &Path) {
    let tmp = tmp.canonicalize().unwrap();
    let is_open = || {
        let open = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
        open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(|path| path.starts_with(&tmp))
    };
    for _ in 0..60_000 {
        if !names(&tmp).is_empty() || is_open() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no copy in {}", tmp.display());
}

/// Standard input is put into a file; it goes with the process.
#[test]
fn copies_of_standard_input_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("tmp")).unwrap();
    let tmp = at.join("tmp");
    // Without a name not even SIGKILL leaves anything.
    let signals = if cfg!(target_os = "linux") { &SIGNALS[..] } else { &SIGNALS[..3] };
    for (signal, number) in signals {
        for line in ["validate -", "cat - --npy", "convert - x.npz", "recover - -o x.tgm"] {
            let mut child = start(at, line, Stdio::piped());
            let mut input = child.stdin.take().unwrap();
            input.write_all(b"TENSOGRM").unwrap();
            // It waits for more, with a copy of what came so far.
            wait_for_copy(&child, &tmp);
            assert_eq!(end(&mut child, signal), Some(*number), "{line}");
            assert_eq!(names(&tmp), [""; 0], "{line}, SIG{signal}");
        }
    }
    assert_eq!(names(at), ["tmp"]);
}

/// A signal that is ignored from the start stays ignored: a conversion under nohup goes on.
#[test]
fn what_nohup_ignores_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("tmp")).unwrap();
    let fw = env!("CARGO_BIN_EXE_fw");
    let mut child = Command::new("sh")
        .args(["-c", &format!("trap '' HUP; exec {fw} info -")])
        .current_dir(at)
        .env("TMPDIR", at.join("tmp"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"not a file of any kind").unwrap();
    wait_for_copy(&child, &at.join("tmp"));
    assert!(Command::new("sh").args(["-c", &format!("kill -HUP {}", child.id())]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(50));
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(1), "it went on and said that it knows no such format");
    assert_eq!(names(&at.join("tmp")), [""; 0]);
}
