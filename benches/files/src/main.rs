//! Tensogram files: ours beside the reference's file API, in one process, on the same files.
//!
//! `cargo xtask bench files` runs this; it prints a Markdown table. With `--check` it fails when a row misses its target;
//! `--only TEXT` leaves out the rows whose names do not contain it.

mod fixtures; // files to measure on
mod ours; // our side, which the tests of the crate run too
mod peer; // the reference's side
mod rows; // what is measured, and what was promised

use bench_harness::{Check, Duel, Effort, settled};
use rows::{Against, ROWS};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let only = arguments.iter().skip_while(|argument| *argument != "--only").nth(1);
    let (rounds, turn) = if flag("--quick") { (3, 20) } else { (7, 60) };
    let effort = Effort { rounds, turn: Duration::from_millis(turn) };
    let again = if flag("--check") { 5 } else { 0 };
    let folder = tempfile::tempdir().expect("a folder for the files");
    let mut check = Check::default();
    println!("| row | ours µs | beside it | its µs | times | median | target | pages ours | its pages |");
    println!("|---|--:|---|--:|--:|--:|--:|---|---|");
    for row in ROWS.iter().filter(|row| only.is_none_or(|text| row.name.contains(text.as_str()))) {
        let mut run = (row.prepare)(folder.path());
        for against in &mut run.against {
            let (again, target) = (if against.target.is_some() { again } else { 0 }, against.target);
            let found = settled(again, target, || (against.measure)(effort));
            print(row.name, against, &found);
            let name = format!("{}, beside {}", row.name, against.name);
            if target.is_some() {
                check.row(&name, found.speed(), target, None);
            }
            if against.is_peer() {
                check.beside_peer(&name, &found);
            }
        }
    }
    println!("\n{}", check.closing());
    if flag("--check") { check.exit() } else { ExitCode::SUCCESS }
}

fn print(row: &str, against: &Against<'_>, found: &Duel) {
    println!(
        "| {row} | {:.2} | {} | {:.2} | {:.2} | {:.2} | {} | {} | {} |",
        found.ours.micros(1),
        against.name,
        found.peer.micros(1),
        found.times(),
        found.median(),
        against.target.map_or_else(String::new, |target| ((target * 100.0).round() / 100.0).to_string()),
        found.ours.pages(),
        found.peer.pages(),
    );
}
