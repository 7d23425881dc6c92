//! Rows held against what was promised.

use crate::{Duel, Options};
use std::process::ExitCode;

/// The least that any row must reach: as fast as the peer, within what noise hides.
pub const FLOOR: f64 = 0.95;
/// The most that a payload may take of the peer's on the same data.
pub const MOST_BYTES: f64 = 1.05;
/// How a bench ends that ran to its end and found a miss: its table is whole. What broke off ends with another status.
pub const MISSED: u8 = 3;
/// How a bench ends that was asked for rows it does not have.
pub const NO_ROW: u8 = 4;

/// What was found, row by row.
#[derive(Debug, Default)]
pub struct Check {
    rows: usize,
    missed: Vec<String>,
    lost: Vec<String>,
}

impl Check {
    /// Takes a row beside a peer into account.
    pub fn duel(&mut self, name: &str, found: &Duel, target: Option<f64>, size: Option<f64>) {
        self.row(name, found.speed(), target, size);
        self.beside_peer(name, found);
    }

    /// Takes a row into account that is shown and not promised: it can miss nothing, but a peer that is ahead is named.
    pub fn shown(&mut self, name: &str, found: &Duel) {
        self.rows += 1;
        self.beside_peer(name, found);
    }

    /// Notes a row in which the peer is ahead.
    fn beside_peer(&mut self, name: &str, found: &Duel) {
        if found.peer.time < found.ours.time {
            self.lost.push(format!("{name} ({:.2})", found.times()));
        }
    }

    /// Takes a row into account: how many times faster than the peer it is (the better of the best calls' ratio and the
    /// median over the rounds), its own target if it has one, and its size as a part of the peer's if that counts.
    pub fn row(&mut self, name: &str, times: f64, target: Option<f64>, size: Option<f64>) {
        self.rows += 1;
        if !reaches(times, target) {
            self.missed.push(format!("{name}: {times:.2} times, wanted {}", target.unwrap_or(FLOOR)));
        }
        if size.is_some_and(|size| size > MOST_BYTES) {
            let size = size.unwrap_or_default();
            self.missed.push(format!("{name}: {size:.3} of the peer's bytes, at most {MOST_BYTES} are wanted"));
        }
    }

    /// Where a peer is ahead, and which targets are missed.
    fn closing(&self) -> String {
        let lost = match self.lost.as_slice() {
            [] => "No peer is ahead in any row.".to_owned(),
            lost => format!("Rows where the peer is ahead: {}.", lost.join("; ")),
        };
        let missed = match self.missed.as_slice() {
            [] => "Every row reaches its target.".to_owned(),
            missed => format!("Targets missed: {}.", missed.join("; ")),
        };
        format!("{lost}\n\n{missed}")
    }

    /// Prints what there is to say under the tables and tells how the bench ends; what was missed goes to standard error
    /// too, when that is what was asked for.
    pub fn end(&self, options: &Options) -> ExitCode {
        if self.rows == 0 {
            eprintln!("no row here has a name like that");
            return ExitCode::from(NO_ROW);
        }
        println!("\n{}", self.closing());
        if !options.check {
            return ExitCode::SUCCESS;
        }
        for line in &self.missed {
            eprintln!("missed: {line}");
        }
        eprintln!("{} figures held against a target, {} misses", self.rows, self.missed.len());
        if self.missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(MISSED) }
    }
}

/// Whether a ratio is what was promised; a row without a target of its own must reach [`FLOOR`].
pub fn reaches(times: f64, target: Option<f64>) -> bool {
    times >= target.unwrap_or(FLOOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_miss_by_speed_and_by_size() {
        let mut check = Check::default();
        check.row("fast enough", 0.96, None, Some(1.05));
        check.row("at its target", 3.0, Some(3.0), None);
        assert_eq!(check.closing(), "No peer is ahead in any row.\n\nEvery row reaches its target.");
        check.row("slow", 0.94, None, None);
        check.row("below its target", 2.99, Some(3.0), None);
        check.row("fat", 9.0, None, Some(1.06));
        check.row("not a number", f64::NAN, None, None);
        assert_eq!(check.missed.len(), 4);
        assert!(check.closing().ends_with("not a number: NaN times, wanted 0.95."), "{}", check.closing());
    }

    #[test]
    fn a_peer_that_is_ahead_is_named() {
        let best = |nanos| crate::Best { time: std::time::Duration::from_nanos(nanos), faults: 0 };
        let duel = |ours, peer| Duel { ours: best(ours), peer: best(peer), ratios: vec![1.2] };
        let mut check = Check::default();
        check.duel("ahead", &duel(10, 11), None, None);
        check.duel("even", &duel(10, 10), None, None);
        check.duel("behind, but not in the median", &duel(10, 9), None, None);
        let closing = check.closing();
        assert!(
            closing.starts_with("Rows where the peer is ahead: behind, but not in the median (0.90)."),
            "{closing}"
        );
        assert!(closing.ends_with("Every row reaches its target."), "{closing}");
    }

    #[test]
    fn a_row_that_is_only_shown_misses_nothing_and_hides_nothing() {
        let best = |nanos| crate::Best { time: std::time::Duration::from_nanos(nanos), faults: 0 };
        let mut check = Check::default();
        check.shown("slow", &Duel { ours: best(10), peer: best(5), ratios: vec![0.5] });
        assert_eq!(check.closing(), "Rows where the peer is ahead: slow (0.50).\n\nEvery row reaches its target.");
    }
}
