//! `fw` beside the Python reference doing the same job, both without their start-up.
//!
//! `cargo xtask bench commands` runs this; it prints a Markdown table. With `--check` it fails when a row misses its target.
#![forbid(unsafe_code)]

mod fixtures; // files to measure on
mod ours; // one run of fw: its time and its memory
mod peer; // a Python process that does one job at a time
mod rows; // what is measured, and what was promised

use bench_harness::{Check, Duel, Options, duel_of_processes, settled};
use fixtures::Fixture;
use ours::Fw;
use peer::Peer;
use rows::{ROWS, Row};
use std::process::ExitCode;

fn main() -> ExitCode {
    if Fixture::make_if_asked(std::env::args().skip(1)) {
        return ExitCode::SUCCESS;
    }
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(code) => return code,
    };
    let rounds = options.effort((3, 0), (7, 0)).rounds;
    let folder = directory();
    let (fw, mut peer, mut check) = (Fw::from_env(), Peer::start(), Check::default());
    println!("| job | fw | fw ms | Python ms | times | median | target | fw MB | at most |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for row in ROWS.iter().filter(|row| options.wants(row.name)) {
        let input = row.input.file(folder.path());
        let (words, job) = (row.words(folder.path(), &input), row.job(folder.path(), &input));
        let start_up = fw.start_up(&row.words(folder.path(), &Fixture::Least.file(folder.path())));
        let target = row.target(folder.path());
        let mut memory = 0;
        let mut measure = || {
            let ours = || {
                let run = fw.run(&words);
                memory = memory.max(run.memory);
                run.time.saturating_sub(start_up)
            };
            duel_of_processes(rounds, ours, || peer.run(&job))
        };
        let found = settled(options.again(), Some(target), &mut measure);
        print(row, &found, target, memory);
        check.duel(row.name, &found, Some(target), None);
        if let Some(most) = row.most_memory {
            // A row of its own: the part of the memory that was promised and is not used.
            check.row(&format!("{}: memory", row.name), most as f64 / memory as f64, Some(1.0), None);
        }
        row.compare(folder.path());
    }
    check.end(&options)
}

/// Where the files are: in `TMPDIR`, or else in memory where the system has such a place. The programs are measured, not the
/// disk.
fn directory() -> tempfile::TempDir {
    let in_memory = match std::env::var_os("TMPDIR") {
        None => tempfile::tempdir_in("/dev/shm").ok(),
        Some(_) => None,
    };
    in_memory.unwrap_or_else(|| tempfile::tempdir().expect("a directory for the files"))
}

fn print(row: &Row, found: &Duel, target: f64, memory: u64) {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    println!(
        "| {} | `fw {}` | {:.2} | {:.2} | {:.1} | {:.1} | {} | {} | {} |",
        row.name,
        row.command,
        found.ours.micros(1) / 1e3,
        found.peer.micros(1) / 1e3,
        found.times(),
        found.median(),
        target,
        megabytes(memory),
        row.most_memory.map_or_else(String::new, megabytes),
    );
}
