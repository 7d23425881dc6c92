//! What is measured, and what was promised.

use crate::fixtures::Fixture;
use std::path::{Path, PathBuf};

/// One job.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// The command; `IN` and `OUT` stand for files.
    pub(crate) command: &'static str,
    /// The function of `peer.py` that does the same.
    job: &'static str,
    pub(crate) input: Fixture,
    /// How many times as fast as the peer we want to be.
    target: f64,
    /// The same where a file cannot share blocks with another, if it matters.
    unshared: Option<f64>,
    /// Bytes of memory that the command may hold.
    pub(crate) most_memory: Option<u64>,
}

pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "list 20 000 messages",
        command: "ls IN",
        job: "ls",
        input: Fixture::Small,
        target: 4.0,
        unshared: None,
        most_memory: None,
    },
    Row {
        name: "list a message of 1 GiB",
        command: "ls IN",
        job: "ls",
        input: Fixture::Large,
        target: 100.0,
        unshared: None,
        most_memory: Some(30_000_000),
    },
    Row {
        name: "select among 20 000 messages",
        command: "ls -w mars.param=2t -w mars.step<=12 IN",
        job: "ls_where",
        input: Fixture::Small,
        target: 5.0,
        unshared: None,
        most_memory: None,
    },
    Row {
        name: "statistics of 500 packed fields",
        command: "stats IN",
        job: "stats",
        input: Fixture::Packed,
        target: 5.0,
        unshared: None,
        most_memory: None,
    },
    Row {
        name: "copy 1 of 500 messages",
        command: "copy --force -w mars.step=250 IN OUT",
        job: "copy",
        input: Fixture::Packed,
        target: 10.0,
        unshared: None,
        most_memory: None,
    },
    Row {
        name: "change a key of 1 of 500 messages",
        command: "set --force -w mars.step=250 -s mars.class=rd IN OUT",
        job: "set",
        input: Fixture::Packed,
        target: 10.0,
        // Both sides copy 499 messages as they are, and no copy is ten times as fast as another one.
        unshared: Some(1.0),
        most_memory: None,
    },
];

impl Row {
    /// What is wanted of a row whose files are in `folder`.
    pub(crate) fn target(&self, folder: &Path) -> f64 {
        match self.unshared {
            Some(target) if !shares_blocks(folder) => target,
            _ => self.target,
        }
    }

    /// The words of the command.
    pub(crate) fn words(&self, folder: &Path, input: &Path) -> Vec<String> {
        let output = self.output(folder, "ours");
        let file = |word: &str| match word {
            "IN" => input.display().to_string(),
            "OUT" => output.display().to_string(),
            word => word.to_owned(),
        };
        self.command.split(' ').map(file).collect()
    }

    /// The same job in the words of the peer.
    pub(crate) fn job(&self, folder: &Path, input: &Path) -> String {
        let mut words = vec![self.job.to_owned(), input.display().to_string()];
        if self.writes() {
            words.push(self.output(folder, "peer").display().to_string());
        }
        words.join("\t")
    }

    /// What both wrote holds the same messages: as many, and of about the same size.
    pub(crate) fn compare(&self, folder: &Path) {
        if !self.writes() {
            return;
        }
        let read = |who| fw_tensogram::TensogramFile::open(self.output(folder, who)).expect("the output opens");
        let count = |who| read(who).message_count().expect("messages");
        assert_eq!(count("ours"), count("peer"), "{}", self.name);
        let length = |who| std::fs::metadata(self.output(folder, who)).expect("a file").len() as f64;
        let part = length("ours") / length("peer");
        assert!((0.95..1.05).contains(&part), "{}: {part} of the peer's bytes", self.name);
    }

    fn writes(&self) -> bool {
        self.command.ends_with("OUT")
    }

    fn output(&self, folder: &Path, who: &str) -> PathBuf {
        folder.join(format!("{who}-{}.tgm", self.job))
    }
}

/// Whether files in a directory can share blocks.
fn shares_blocks(folder: &Path) -> bool {
    let (from, to) = (folder.join("blocks"), folder.join("shared"));
    std::fs::write(&from, [1; 8192]).expect("a file");
    let mut copy = std::process::Command::new("cp");
    copy.arg("--reflink=always").args([&from, &to]).stderr(std::process::Stdio::null());
    copy.status().is_ok_and(|status| status.success())
}
