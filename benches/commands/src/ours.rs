//! One run of `fw`: how long it took, and how much memory it held.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// The program to measure.
pub(crate) struct Fw {
    program: String,
}

/// What one run took.
pub(crate) struct Run {
    pub(crate) time: Duration,
    /// Peak resident memory in bytes.
    pub(crate) memory: u64,
}

impl Fw {
    /// The program that `FW_BIN` names.
    pub(crate) fn from_env() -> Self {
        Self { program: std::env::var("FW_BIN").expect("FW_BIN names the program; cargo xtask bench commands sets it") }
    }

    /// What a command takes however little there is to do: the least of many runs on a file of one small message.
    pub(crate) fn start_up(&self, words: &[String]) -> Duration {
        (0..20).map(|_| self.run(words).time).min().unwrap_or_default()
    }

    /// Runs a command to its end; its output goes nowhere.
    pub(crate) fn run(&self, words: &[String]) -> Run {
        let begin = Instant::now();
        let mut command = Command::new(&self.program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        let ended = command.spawn().expect("fw starts").wait4().expect("fw ends");
        let time = begin.elapsed();
        assert!(ended.status.success(), "fw {words:?}: {:?}", ended.status);
        Run { time, memory: ended.rusage.maxrss }
    }
}
