//! Rows held against what was promised.

use std::process::ExitCode;

/// The least that any row must reach: as fast as the peer, within what noise hides.
pub const FLOOR: f64 = 0.95;
/// The most that a payload may take of the peer's on the same data.
pub const MOST_BYTES: f64 = 1.05;
/// How near a row must come to its limit where the limit itself is short of the target. Far above 1 it is no limit: it was
/// disturbed, or our way is better than what it does.
pub const NEAR: std::ops::RangeInclusive<f64> = 0.8..=1.1;
/// How a bench ends that ran to its end and found a miss: its table is whole. What broke off ends with another status.
pub const MISSED: u8 = 3;

/// What was found, row by row.
#[derive(Debug, Default)]
pub struct Check {
    rows: usize,
    missed: Vec<String>,
    bound: Vec<String>,
}

/// A row's limit beside its peer.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// What the limit is.
    pub name: &'static str,
    /// How many times faster than the peer the limit alone is: no code can be more.
    pub times: f64,
    /// How much of the limit's speed we reach.
    pub reached: f64,
}

impl Check {
    /// Takes a row into account: how many times faster than the peer it is (the better of the best calls' ratio and the
    /// median over the rounds), its own target if it has one, and its size as a part of the peer's if that counts.
    pub fn row(&mut self, name: &str, times: f64, target: Option<f64>, size: Option<f64>) {
        self.row_beside(name, times, target, size, None);
    }

    /// [`Check::row`] with the row's limit. A target that the limit alone would miss is out of anybody's reach; such a row
    /// must come [`NEAR`] the limit instead, and is named apart from those that reach their target.
    pub fn row_beside(&mut self, name: &str, times: f64, target: Option<f64>, size: Option<f64>, bound: Option<Bound>) {
        self.rows += 1;
        if !reaches(times, target) {
            let wanted = target.unwrap_or(FLOOR);
            let line = format!("{name}: {times:.2} times, wanted {wanted}");
            match bound {
                Some(Bound { name, times, reached }) if times < wanted && NEAR.contains(&reached) => {
                    self.bound.push(format!("{line} ({name} alone: {times:.2}, of which {reached:.2} is reached)"));
                }
                _ => self.missed.push(line),
            }
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

    /// The rows whose target is beyond their limit, and which are near the limit.
    pub fn bound(&self) -> &[String] {
        &self.bound
    }

    /// Says what was missed, to standard error, and how that ends.
    pub fn exit(&self) -> ExitCode {
        for line in &self.bound {
            eprintln!("at the limit: {line}");
        }
        for line in &self.missed {
            eprintln!("missed: {line}");
        }
        eprintln!("{} rows checked, {} at the limit, {} misses", self.rows, self.bound.len(), self.missed.len());
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

    #[test]
    fn a_limit_excuses_only_what_is_beyond_it() {
        let mut check = Check::default();
        let bound = |times, reached| Some(Bound { name: "memcpy", times, reached });
        check.row_beside("at the limit", 2.0, Some(2.5), None, bound(2.1, 0.95));
        assert_eq!((check.missed().len(), check.bound().len()), (0, 1));
        check.row_beside("within reach", 2.0, Some(2.5), None, bound(2.6, 0.95));
        check.row_beside("far from it", 1.5, Some(2.5), None, bound(2.1, 0.7));
        check.row_beside("a limit that is none", 2.4, Some(2.5), None, bound(2.1, 1.2));
        check.row_beside("fat", 2.0, Some(2.5), Some(1.06), bound(2.1, 0.95));
        assert_eq!((check.missed().len(), check.bound().len()), (4, 2));
        check.row_beside("reached", 2.5, Some(2.5), None, bound(2.1, 0.95));
        assert_eq!((check.missed().len(), check.bound().len()), (4, 2));
    }
}
