//! The Python reference in a process that stays: it is given a job, does it once and reports how long that took.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The process.
pub(crate) struct Peer {
    child: Child,
    jobs: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the interpreter that `FW_PYTHON` names; its imports are done before the first job.
    pub(crate) fn start() -> Self {
        let python = std::env::var("FW_PYTHON").expect("FW_PYTHON names an interpreter with tensogram");
        let mut command = Command::new(python);
        command.args(["-c", include_str!("peer.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Python starts");
        let (jobs, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, jobs, answers: BufReader::new(answers) }
    }

    /// Does a job: its name and its files, with tabs between them.
    pub(crate) fn run(&mut self, job: &str) -> Duration {
        writeln!(self.jobs, "{job}").expect("Python listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("Python answers");
        let nanos = line.trim().parse().unwrap_or_else(|_| panic!("Python said {line:?} to {job:?}"));
        Duration::from_nanos(nanos)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
