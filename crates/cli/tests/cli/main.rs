//! The built `fw`, checked to the character: what it prints, where, and what it returns.

mod about;
mod capture;
mod change;
mod checkpoints;
mod convert;
mod cookbook;
mod copies;
mod defects;
mod edits;
mod failures;
mod generate;
mod gguf;
mod hub;
#[cfg(feature = "link")]
mod links;
mod live;
mod look;
mod outputs;
#[cfg(target_os = "linux")]
mod pages;
mod pipe;
mod planned;
mod recover;
mod reference;
mod remote;
mod reported;
mod robust;
mod schema;
mod signals;
mod snapshots;
mod special;
mod telemetry;
mod tensogram;
mod tensors;
#[cfg(target_os = "linux")]
mod terminal;
mod values;
mod weights;

#[allow(dead_code, reason = "made for the tests of the library, which use all of it")]
#[path = "../../../tensogram/tests/remote/emulator.rs"]
mod emulator;
#[allow(dead_code, reason = "made for the tests of the library, which use all of it")]
#[path = "../../../tensogram/tests/remote/proxy.rs"]
mod proxy;
#[path = "../../../source/tests/loopback/mod.rs"]
mod loopback;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder of the project's vectors.
fn vectors(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(folder)
}

/// What a run did.
struct Run {
    code: i32,
    out: Vec<u8>,
    err: String,
}

impl Run {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("text")
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Runs `fw` in a folder; arguments are the words of `line`.
fn fw(folder: &Path, line: &str) -> Run {
    fw_with(folder, line, &[])
}

/// The same with more in its environment.
fn fw_with(folder: &Path, line: &str, environment: &[(&str, &str)]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_fw"))
        .args(line.split_whitespace())
        .env_remove("COLUMNS")
        .envs(environment.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("fw runs");
    Run {
        code: output.status.code().expect("fw ends by itself"),
        out: output.stdout,
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Notes that this machine lacks something that a test needs; the test run prints it.
#[cfg(unix)]
fn skipped(line: &str) {
    use std::io::Write;
    if let Some(path) = std::env::var_os("FW_SKIPPED") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| writeln!(file, "{line}")).expect("noted");
    }
}

/// Runs `fw` with these arguments.
fn fw_words(folder: &Path, words: &[String]) -> Run {
    ended(Command::new(env!("CARGO_BIN_EXE_fw")).args(words).current_dir(folder).stdin(Stdio::null()))
}

/// Runs `fw` with these bytes on standard input.
fn fed(folder: &Path, line: &str, bytes: &[u8]) -> Run {
    let input = folder.join(".standard-input");
    std::fs::write(&input, bytes).expect("written");
    let file = std::fs::File::open(&input).expect("it is there");
    std::fs::remove_file(&input).expect("removed");
    ended(Command::new(env!("CARGO_BIN_EXE_fw")).args(line.split_whitespace()).current_dir(folder).stdin(file))
}

fn ended(command: &mut Command) -> Run {
    let output = command.output().expect("fw runs");
    Run {
        code: output.status.code().expect("fw ends by itself"),
        out: output.stdout,
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Runs `fw`, which must succeed and say nothing on standard error.
#[track_caller]
fn fine(folder: &Path, line: &str) -> Run {
    let run = fw(folder, line);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "fw {line}");
    run
}
