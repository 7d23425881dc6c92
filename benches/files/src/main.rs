//! Tensogram files: ours beside the reference's file API, in one process, on the same files.
//!
//! `cargo xtask bench files` runs this; it prints a Markdown table. With `--check` it fails when a row misses its target.

mod fixtures; // files to measure on
mod ours; // our side, which the tests of the crate run too
mod peer; // the reference's side
mod rows; // what is measured, and what was promised

use bench_harness::{Check, Duel, Options, settled};
use rows::{Against, ROWS};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(code) => return code,
    };
    let effort = options.effort((3, 20), (7, 60));
    let folder = tempfile::tempdir().expect("a folder for the files");
    let mut check = Check::default();
    println!("| row | ours µs | beside it | its µs | times | median | target | pages ours | its pages |");
    println!("|---|--:|---|--:|--:|--:|--:|---|---|");
    for row in ROWS.iter().filter(|row| options.wants(row.name)) {
        let mut run = (row.prepare)(folder.path());
        for against in &mut run.against {
            let target = against.target;
            let again = if target.is_some() || against.is_peer() { options.again() } else { 0 };
            let found = settled(again, target, || (against.measure)(effort));
            print(row.name, against, &found);
            let name = format!("{}, beside {}", row.name, against.name);
            match (against.is_peer(), target) {
                (true, _) => check.duel(&name, &found, target, None),
                (false, Some(_)) => check.row(&name, found.speed(), target, None),
                (false, None) => {}
            }
        }
    }
    check.end(&options)
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
