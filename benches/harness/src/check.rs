//! Rows held against what was promised.

use std::process::ExitCode;

/// The least that any row must reach: as fast as the peer, within what noise hides.
pub const FLOOR: f64 = 0.95;
/// The most that a payload may take of the peer's on the same data.
pub const MOST_BYTES: f64 = 1.05;
/// How a bench ends that ran to its end and found a miss: its table is whole. What broke off ends with another status.
pub const MISSED: u8 = 3;

/// What was found, row by row.
#[derive(Debug, Default)]
pub struct Check {
    rows: usize,
    missed: Vec<String>,
}

impl Check {
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

    /// The rows that miss what was promised.
    pub fn missed(&self) -> &[String] {
        &self.missed
    }

    /// Says what was missed, to standard error, and how that ends.
    pub fn exit(&self) -> ExitCode {
        for line in &self.missed {
            eprintln!("missed: {line}");
        }
        eprintln!("{} rows checked, {} misses", self.rows, self.missed.len());
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
        assert!(check.missed().is_empty());
        check.row("slow", 0.94, None, None);
        check.row("below its target", 2.99, Some(3.0), None);
        check.row("fat", 9.0, None, Some(1.06));
        check.row("not a number", f64::NAN, None, None);
        assert_eq!(check.missed().len(), 4);
    }
}
