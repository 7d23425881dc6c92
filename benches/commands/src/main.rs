//! `fw` beside the Python reference doing the same job, both without their start-up.
//!
//! `cargo xtask bench commands` runs this; it prints a Markdown table. With `--check` it fails when a row misses its target.
#![forbid(unsafe_code)]

mod fixtures; // files to measure on
mod ours; // one run of fw: its time and its memory
mod peer; // a Python process that does one job at a time
mod rows; // what is measured, and what was promised

use bench_harness::{Check, Duel, Options, duel_of_processes, settled};
use ours::Fw;
use peer::Peer;
use rows::{ROWS, Row};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(code) => return code,
    };
    let rounds = options.effort((3, 0), (7, 0)).rounds;
    let folder = tempfile::tempdir().expect("a directory for the files");
    let (fw, mut peer, mut check) = (Fw::from_env(), Peer::start(), Check::default());
    println!("| job | fw | fw ms | Python ms | times | median | target | fw MB | at most |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for row in ROWS.iter().filter(|row| options.wants(row.name)) {
        let input = (row.prepare)(folder.path());
        let (words, job) = (row.words(folder.path(), &input), row.job(folder.path(), &input));
        let mut memory = 0;
        let mut measure = || {
            let ours = || {
                let run = fw.run(&words);
                memory = memory.max(run.memory);
                run.time
            };
            duel_of_processes(rounds, ours, || peer.run(&job))
        };
        let found = settled(options.again(), Some(row.target), &mut measure);
        print(row, &found, memory);
        check.duel(row.name, &found, Some(row.target), None);
        if let Some(most) = row.most_memory {
            // A row of its own: the part of the memory that was promised and is not used.
            check.row(&format!("{}: memory", row.name), most as f64 / memory as f64, Some(1.0), None);
        }
        row.compare(folder.path());
    }
    check.end(&options)
}

fn print(row: &Row, found: &Duel, memory: u64) {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    println!(
        "| {} | `fw {}` | {:.2} | {:.2} | {:.1} | {:.1} | {} | {} | {} |",
        row.name,
        row.command,
        found.ours.micros(1) / 1e3,
        found.peer.micros(1) / 1e3,
        found.times(),
        found.median(),
        row.target,
        megabytes(memory),
        row.most_memory.map_or_else(String::new, megabytes),
    );
}
