//! A process that writes files and is ended by a signal at any moment leaves no temporary file.
//!
//! The test starts itself as a child that writes as fast as it can, and ends it for real.
#![cfg(unix)]

use fw_source::{AtomicFile, TemporaryDirectory, remove_temporary_files_on_signals};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DIRECTORY: &str = "FW_SOURCE_KILL_DIRECTORY";
const WAY: &str = "FW_SOURCE_KILL_WAY";

/// The length of a complete file: two chunks.
const WHOLE: u64 = 2 << 16;

/// The child: not a test of its own.
#[test]
fn write_until_ended() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let (directory, way) = (Path::new(&directory), std::env::var(WAY).unwrap());
    remove_temporary_files_on_signals();
    let chunk = vec![7u8; 1 << 16];
    for number in 0u64.. {
        // New targets, and one that is there already.
        let target = directory.join(format!("target-{}", number % 3));
        match way.as_str() {
            "directory" => {
                let held = TemporaryDirectory::inside(directory).unwrap();
                std::fs::write(held.path().join("copy"), &chunk).unwrap();
            }
            way => {
                let create: fn(std::path::PathBuf) -> _ =
                    if way == "named" { AtomicFile::create_named } else { AtomicFile::create };
                let mut file = create(target.clone()).unwrap();
                file.write_all(&chunk).unwrap();
                file.write_all(&chunk).unwrap();
                file.commit().unwrap();
            }
        }
        if number % 7 == 6 {
            let _ = std::fs::remove_file(target);
        }
    }
}

/// A program that does not inherit ignored signals: these tests may run under `nohup`, which ignores one of them.
fn heeding_signals(program: &Path) -> Command {
    if cfg!(not(target_os = "linux")) {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(program);
    command
}

/// Ends children by `signal`; returns what is left in the directory that is no target.
fn left_in(directory: &Path, way: &str, signal: &str, times: u64) -> Vec<String> {
    for round in 0..times {
        let mut child = heeding_signals(&std::env::current_exe().unwrap())
            .args(["--exact", "write_until_ended", "--nocapture"])
            .env(DIRECTORY, directory)
            .env(WAY, way)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It is at work when something of it can be seen.
        let start = Instant::now();
        while std::fs::read_dir(directory).unwrap().count() == 0 && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(3_000 + 1_733 * (round % 11)));
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
        assert!(sent.success());
        let status = child.wait().unwrap();
        assert!(!status.success(), "{way} {signal}: it was ended, {status}");
        use std::os::unix::process::ExitStatusExt;
        let expected = match signal {
            "INT" => 2,
            "TERM" => 15,
            "HUP" => 1,
            _ => 9,
        };
        assert_eq!(status.signal(), Some(expected), "{way} {signal}: by the signal itself, {status}");
    }
    let mut left = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("target-") {
            assert_eq!(entry.metadata().unwrap().len(), WHOLE, "{way} {signal}: {name} is whole");
        } else {
            left.push(name);
        }
    }
    left
}

#[test]
fn signals_leave_nothing_behind() {
    for way in ["unnamed", "named", "directory"] {
        for signal in ["INT", "TERM", "HUP"] {
            let directory = tempfile::tempdir().unwrap();
            assert_eq!(left_in(directory.path(), way, signal, 8), [""; 0], "{way} {signal}");
        }
    }
}

/// Nothing can be done about `SIGKILL` but to have no file to leave. A process that is killed between linking and renaming leaves
/// a file, which is whole.
#[cfg(target_os = "linux")]
#[test]
fn a_kill_leaves_no_half_written_file() {
    let directory = tempfile::tempdir().unwrap();
    for name in left_in(directory.path(), "unnamed", "KILL", 12) {
        assert_eq!(std::fs::metadata(directory.path().join(&name)).unwrap().len(), WHOLE, "{name} is whole");
    }
}
