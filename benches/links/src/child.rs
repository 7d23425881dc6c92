//! A run of `fw`: what it takes, and how it ends.

use crate::frames::program;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) struct Child {
    process: std::process::Child,
    port: Option<u16>,
    recording: Option<PathBuf>,
    done: Arc<AtomicBool>,
    /// What it says on its standard error.
    words: Option<JoinHandle<String>>,
}

/// Seconds of processor time, and the most memory that was resident.
pub(crate) struct Used {
    pub(crate) cpu: f64,
    pub(crate) peak: u64,
}

impl Child {
    /// Starts `fw record` or `fw decode` with its output to nowhere. Files of a recording are removed as it goes on.
    pub(crate) fn start(folder: &Path, command: &str, address: &str, limit: Option<Duration>) -> Self {
        let mut words = vec![command.to_owned(), address.to_owned()];
        words.extend(["-s", "bench.sf", "-p", "network"].map(str::to_owned));
        let recording = (command == "record").then(|| folder.join("recording"));
        let mut run = Command::new(program());
        if recording.is_some() {
            words.extend(["-o", "recording", "--rotate-size", "256MB", "--json"].map(str::to_owned));
            words.extend(limit.into_iter().flat_map(|limit| ["--for".to_owned(), format!("{}s", limit.as_secs())]));
            run.stdout(Stdio::piped());
        } else {
            // Without a limit the other side ends it.
            words.extend(limit.into_iter().flat_map(|limit| ["--for".to_owned(), format!("{}s", limit.as_secs())]));
            run.stdout(Stdio::from(std::fs::File::options().write(true).open("/dev/null").expect("open")));
        }
        run.args(&words).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut process = run.spawn().expect("fw starts");
        let mut errors = BufReader::new(process.stderr.take().expect("piped"));
        // What waits for datagrams says where.
        let port = address.starts_with("udp").then(|| {
            let mut line = String::new();
            errors.read_line(&mut line).expect("a line");
            line.trim().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
        });
        let words = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            eprint!("{text}");
            text
        });
        let done = Arc::new(AtomicBool::new(false));
        if let Some(recording) = recording.clone() {
            let done = Arc::clone(&done);
            std::thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    remove_all_but(&recording, 2);
                    std::thread::sleep(Duration::from_millis(500));
                }
            });
        }
        Self { process, port, recording, done, words: Some(words) }
    }

    /// Starts `fw decode` with its lines to us.
    pub(crate) fn lines(folder: &Path, address: &str) -> Self {
        let mut run = Command::new(program());
        run.args(["decode", address, "-s", "bench.sf", "-p", "network"]).current_dir(folder);
        let process = run.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("fw starts");
        Self { process, port: None, recording: None, done: Arc::default(), words: None }
    }

    pub(crate) fn output(&mut self) -> ChildStdout {
        self.process.stdout.take().expect("piped")
    }

    pub(crate) fn port(&self) -> u16 {
        self.port.expect("the address is one of datagrams")
    }

    /// What it took until now.
    pub(crate) fn used(&self) -> Used {
        let read = |name: &str| {
            std::fs::read_to_string(format!("/proc/{}/{name}", self.process.id())).expect("the process runs")
        };
        let status = read("status");
        let peak =
            status.lines().find_map(|line| line.strip_prefix("VmHWM:")).and_then(|line| line.split_whitespace().next());
        let stat = read("stat");
        // User and system time are the 14th and 15th field; the name before them may hold spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: f64 = fields[11].parse::<f64>().expect("a number") + fields[12].parse::<f64>().expect("a number");
        Used { cpu: ticks / 100.0, peak: peak.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024 }
    }

    /// Waits for the end, and returns how many frames a recording counted, or how many lines missed by their sequence numbers.
    pub(crate) fn end(mut self) -> Counted {
        if self.recording.is_none() {
            let status = self.process.wait().expect("a status");
            let words = self.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
            assert!(status.success(), "fw decode: {status}: {words}");
            let missing = words.split("at least ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
            return Counted::Missing(missing.unwrap_or(0));
        }
        let mut text = String::new();
        self.output().read_to_string(&mut text).expect("text");
        assert!(self.process.wait().expect("a status").code().is_some_and(|code| code == 0 || code == 3), "{text}");
        self.done.store(true, Ordering::Relaxed);
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        self.recording.iter().for_each(|folder| drop(std::fs::remove_dir_all(folder)));
        Counted::Frames(report["frames"]["frames"].as_u64().expect("a number of frames"))
    }
}

/// What a run knows at its end.
pub(crate) enum Counted {
    Frames(u64),
    Missing(u64),
}

fn remove_all_but(folder: &Path, kept: usize) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files.truncate(files.len().saturating_sub(kept));
    files.iter().for_each(|file| drop(std::fs::remove_file(file)));
}
