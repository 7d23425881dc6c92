//! Tensogram files: ours beside the reference's file API, in one process, on the same files.
//!
//! `cargo xtask bench files` runs this; it prints a Markdown table. With `--check` it fails when a row misses its target;
//! `--only TEXT` leaves out the rows whose names do not contain it.
//! `bench-files growth OUT.svg` shows instead how opening, looking up and scanning grow from ten to a million.

mod fixtures;
mod growth;
mod rows;

use bench_harness::{Check, Duel, Effort, reaches};
use peak_alloc::PeakAlloc;
use rows::{Against, ROWS};
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, out] = arguments.as_slice() {
        if command == "growth" {
            growth::run(out.as_ref());
            return ExitCode::SUCCESS;
        }
    }
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let only = arguments.iter().skip_while(|argument| *argument != "--only").nth(1);
    let (rounds, turn) = if flag("--quick") { (3, 20) } else { (7, 60) };
    let effort = Effort { rounds, turn: Duration::from_millis(turn) };
    let again = if flag("--check") { 3 } else { 0 };
    let folder = tempfile::tempdir().expect("a folder for the files");
    let mut check = Check::default();
    println!("| row | ours µs | beside it | its µs | times | target |");
    println!("|---|--:|---|--:|--:|--:|");
    for row in ROWS.iter().filter(|row| only.is_none_or(|text| row.name.contains(text.as_str()))) {
        let mut run = (row.prepare)(folder.path());
        for against in &mut run.against {
            let target = Some(against.target);
            let mut found = (against.measure)(effort);
            for _ in 0..again {
                if reaches(speed(&found), target) {
                    break;
                }
                found = found.join(&(against.measure)(effort));
            }
            print(row.name, against, &found);
            check.row(&format!("{}, beside {}", row.name, against.name), speed(&found), target, None);
        }
    }
    println!();
    match check.missed() {
        [] => println!("Every row reaches its target."),
        missed => println!("Targets missed: {}.", missed.join("; ")),
    }
    if flag("--check") { check.exit() } else { ExitCode::SUCCESS }
}

/// The better of the best calls' ratio and the median over the rounds: noise only ever hides speed.
fn speed(duel: &Duel) -> f64 {
    duel.times().max(duel.median())
}

fn print(row: &str, against: &Against<'_>, found: &Duel) {
    let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
    let (ours, its) = (micros(found.ours.time), micros(found.peer.time));
    println!("| {row} | {ours:.2} | {} | {its:.2} | {:.2} | {} |", against.name, found.times(), against.target);
}
