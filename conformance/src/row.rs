//! One row per vector: run with panics caught, time and memory measured, verdict printed at once.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::known::KnownFailures;

/// How heap use is measured: the allocator belongs to the binary, so it hands these in.
#[derive(Clone, Copy)]
pub struct Meter {
    /// Starts a measurement: the peak falls to what is in use.
    pub reset: fn(),
    /// Bytes in use now.
    pub in_use: fn() -> usize,
    /// The highest number of bytes in use since `reset`.
    pub peak: fn() -> usize,
}

impl Meter {
    /// Measures nothing; for tests, which run under the ordinary allocator.
    pub const NONE: Self = Self { reset: || (), in_use: || 0, peak: || 0 };
}

/// Which rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Every row.
    All,
    /// Only rows with deviations.
    Deviations,
}

/// Collects rows and verdicts of a run.
pub struct Rows {
    known: KnownFailures,
    meter: Meter,
    show: Show,
    seen: BTreeSet<String>,
    passed: u64,
    failed: u64,
    expected: u64,
}

impl Rows {
    /// An empty run.
    pub fn new(known: KnownFailures, meter: Meter, show: Show) -> Self {
        Self { known, meter, show, seen: BTreeSet::new(), passed: 0, failed: 0, expected: 0 }
    }

    /// Runs one row. A panic is a deviation like any other.
    pub fn check(&mut self, id: &str, body: impl FnOnce(&mut Row)) {
        let id = id.replace(char::is_whitespace, "_");
        let mut row = Row { meter: self.meter, deviations: Vec::new() };
        if !self.seen.insert(id.clone()) {
            row.deviates("a second row with this id");
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(&mut row))) {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            row.deviates(format!("PANIC: {text}"));
        }
        let deviations = row.deviations.join("; ");
        match (row.deviations.is_empty(), self.known.reason(&id)) {
            (true, None) => {
                self.passed += 1;
                if self.show == Show::All {
                    println!("ok     {id}");
                }
            }
            (true, Some(_)) => {
                self.failed += 1;
                println!("FAIL   {id}: passes now; take its line out of the known failures");
            }
            (false, Some(reason)) => {
                self.expected += 1;
                if self.show == Show::All {
                    println!("known  {id}: {reason} ({deviations})");
                }
            }
            (false, None) => {
                self.failed += 1;
                println!("FAIL   {id}: {deviations}");
            }
        }
    }

    /// Fails for every known failure whose row never came: a line that outlived its vector.
    pub fn check_known_were_seen(&mut self) {
        let stale: Vec<String> =
            self.known.ids().filter(|id| !self.seen.contains(*id)).map(ToOwned::to_owned).collect();
        for id in stale {
            self.failed += 1;
            println!("FAIL   {id}: is a known failure, but no vector has this id");
        }
    }

    /// Rows without deviation.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Rows that deviate without being known to.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Rows that deviate as listed.
    pub fn expected(&self) -> u64 {
        self.expected
    }
}

/// What one row has to say.
pub struct Row {
    meter: Meter,
    deviations: Vec<String>,
}

impl Row {
    /// Notes a deviation.
    pub fn deviates(&mut self, what: impl Into<String>) {
        self.deviations.push(what.into());
    }

    /// Notes a deviation unless both are equal.
    pub fn equal<T: PartialEq + Display + ?Sized>(&mut self, what: &str, expected: &T, found: &T) {
        if expected != found {
            self.deviates(format!("{what}: expected {expected}, found {found}"));
        }
    }

    /// Notes the error, or gives the value.
    pub fn accept<T>(&mut self, what: &str, result: Result<T, impl Display>) -> Option<T> {
        result.map_err(|error| self.deviates(format!("{what}: {error}"))).ok()
    }

    /// Runs `work` and notes a deviation when it holds more than `max_heap` bytes beyond what was in use, or takes
    /// longer than `max_time`.
    pub fn within<T>(&mut self, what: &str, max_heap: usize, max_time: Duration, work: impl FnOnce() -> T) -> T {
        (self.meter.reset)();
        let (before, start) = ((self.meter.in_use)(), Instant::now());
        let result = work();
        let (took, held) = (start.elapsed(), (self.meter.peak)().saturating_sub(before));
        if held > max_heap {
            self.deviates(format!("{what}: held {held} bytes, more than {max_heap}"));
        }
        if took > max_time {
            self.deviates(format!("{what}: took {took:.1?}, more than {max_time:?}"));
        }
        result
    }

    /// What deviated so far.
    pub fn deviations(&self) -> &[String] {
        &self.deviations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(known: &str) -> Rows {
        Rows::new(KnownFailures::parse(known).unwrap(), Meter::NONE, Show::Deviations)
    }

    #[test]
    fn a_clean_row_passes_and_a_deviating_one_fails() {
        let mut rows = rows("");
        rows.check("a", |_| ());
        rows.check("b", |row| row.equal("size", &1, &2));
        rows.check("c", |_| panic!("boom"));
        assert_eq!((rows.passed(), rows.failed(), rows.expected()), (1, 2, 0));
    }

    #[test]
    fn the_known_failures_only_shrink() {
        let mut rows = rows("a waits\nb waits\nc waits\n");
        rows.check("a", |row| row.deviates("not yet"));
        rows.check("b", |_| ());
        assert_eq!((rows.passed(), rows.failed(), rows.expected()), (0, 1, 1));
        rows.check_known_were_seen();
        assert_eq!(rows.failed(), 2);
    }
}
