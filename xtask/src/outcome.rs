//! What a step found, and the table at the end of a run.

use std::fmt::Write as _;
use std::time::Duration;

/// Counts of one step. A step that counts nothing of its own is one check.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// One line per thing that could not run here, with its reason.
    pub(crate) skipped: Vec<String>,
    /// What failed, by name, with what it said: repeated at the very end, where a long log is read first.
    pub(crate) failures: Vec<String>,
}

impl Outcome {
    /// One check, by the verdict of the process that made it.
    pub(crate) fn from_success(success: bool) -> Self {
        Self { passed: u64::from(success), failed: u64::from(!success), ..Self::default() }
    }

    /// Adds what another check found.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped.extend(other.skipped);
        self.failures.extend(other.failures);
    }

    /// Reads the counts of every `test result:` line that the Rust test harness printed.
    pub(crate) fn from_harness_output(output: &str, success: bool) -> Self {
        let mut outcome = Self::default();
        for line in output.lines().filter_map(|line| line.strip_prefix("test result: ")) {
            for part in line.split(['.', ';']) {
                let mut words = part.split_whitespace();
                let (Some(count), Some(what)) = (words.next().and_then(|word| word.parse::<u64>().ok()), words.next())
                else {
                    continue;
                };
                match what {
                    "passed" => outcome.passed += count,
                    "failed" => outcome.failed += count,
                    "ignored" if count > 0 => outcome.skipped.push(format!("{count} ignored tests")),
                    _ => {}
                }
            }
        }
        if !success && outcome.failed == 0 {
            outcome.failed = 1; // the build broke, or the harness died before it could count
        }
        outcome.failures = sections(output, |line| line.starts_with("---- "), |line| line == "failures:");
        outcome
    }

    /// Reads the closing line of our own runners, `N passed, N failed, …`. Whatever else the line counts (known failures)
    /// is shown as skipped, because it proves nothing.
    pub(crate) fn from_closing_line(output: &str, success: bool) -> Self {
        let mut outcome = Self::default();
        let closing = output.lines().rev().find(|line| line.contains(" passed, ")).unwrap_or("");
        for part in closing.split(", ") {
            let Some((count, what)) = part.split_once(' ') else { continue };
            match (count.parse(), what) {
                (Ok(count), "passed") => outcome.passed = count,
                (Ok(count), "failed") => outcome.failed = count,
                (Ok(count @ 1_u64..), _) => outcome.skipped.push(format!("{count} {what}")),
                _ => {}
            }
        }
        if !success && outcome.failed == 0 {
            outcome.failed = 1;
        }
        outcome
    }

    /// Reads what pytest printed: its closing line, `2 failed, 300 passed in 4.1s`, and with `-rs` a line per skipped test.
    pub(crate) fn from_pytest_output(output: &str, success: bool) -> Self {
        let mut outcome = Self::default();
        let closing = output.lines().rev().find(|line| line.contains(" in ") && line.contains("passed")).unwrap_or("");
        for part in closing.split([',', '=']) {
            let mut words = part.split_whitespace();
            match (words.next().and_then(|word| word.parse::<u64>().ok()), words.next()) {
                (Some(count), Some("passed")) => outcome.passed = count,
                (Some(count), Some("failed" | "error" | "errors")) => outcome.failed += count,
                _ => {}
            }
        }
        outcome.skipped = output.lines().filter(|line| line.starts_with("SKIPPED ")).map(str::to_owned).collect();
        outcome.failures = sections(output, |line| line.starts_with("____"), |line| line.starts_with("==="));
        if !success && outcome.failed == 0 {
            outcome.failed = 1;
        }
        outcome
    }

    /// What a program that failed said last on its error output, where nothing else names what failed.
    pub(crate) fn because(mut self, errors: &str) -> Self {
        if self.failed > 0 && self.failures.is_empty() {
            let lines: Vec<&str> = errors.lines().collect();
            let last = lines.get(lines.len().saturating_sub(FAILURE_LINES)..).unwrap_or_default();
            self.failures.extend(Some(last.join("\n")).filter(|text| !text.is_empty()));
        }
        self
    }

    fn verdict(&self) -> &'static str {
        match (self.failed, self.passed, self.skipped.len()) {
            (1.., _, _) => "FAILED",
            (0, 0, 1..) => "skipped",
            _ => "ok",
        }
    }
}

/// Lines kept of the beginning and of the end of what one failed test said: one harness fails at the first line, the other at the last.
const FAILURE_LINES: usize = 20;

/// The parts of an output that begin with a line for which `begins` holds, up to the next one or a line for which `ends` holds.
fn sections(output: &str, begins: impl Fn(&str) -> bool, ends: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut inside = false;
    for line in output.lines() {
        if begins(line) {
            found.push(vec![line]);
            inside = true;
        } else if ends(line) {
            inside = false;
        } else if inside && let Some(section) = found.last_mut() {
            section.push(line);
        }
    }
    let shortened = |section: Vec<&str>| {
        let end = section.len().saturating_sub(FAILURE_LINES).max(FAILURE_LINES).min(section.len());
        let head = section.get(..FAILURE_LINES).unwrap_or(&section);
        let tail = section.get(end..).unwrap_or_default();
        [head, tail].concat().join("\n").trim_end().to_owned()
    };
    found.into_iter().map(shortened).collect()
}

/// A finished step.
pub(crate) struct Row {
    pub(crate) step: &'static str,
    pub(crate) time: Duration,
    pub(crate) outcome: Outcome,
}

/// The table of steps, everything that was skipped, and the closing line.
pub(crate) fn summary(rows: &[Row]) -> String {
    let mut total = Outcome::default();
    let mut text =
        format!("\n{:<12} {:>9}  {:>7} {:>7} {:>7}  verdict\n", "step", "time", "passed", "failed", "skipped");
    for Row { step, time, outcome } in rows {
        let seconds = time.as_secs_f64();
        let (passed, failed, skipped) = (outcome.passed, outcome.failed, outcome.skipped.len());
        let verdict = outcome.verdict();
        _ = writeln!(text, "{step:<12} {seconds:>8.1}s  {passed:>7} {failed:>7} {skipped:>7}  {verdict}");
        total.add(outcome.clone());
    }
    for reason in &total.skipped {
        _ = writeln!(text, "skipped: {reason}");
    }
    for failure in &total.failures {
        _ = writeln!(text, "\nfailed: {failure}");
    }
    _ = write!(text, "\n{} passed, {} failed", total.passed, total.failed);
    if !total.skipped.is_empty() {
        _ = write!(text, ", {} skipped", total.skipped.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harness_lines_are_summed_over_test_binaries() {
        let output = "running 3 tests\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                      test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.1s\n";
        let outcome = Outcome::from_harness_output(output, false);
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped.len()), (7, 2, 1));
    }

    #[test]
    fn a_broken_build_is_a_failure_though_nothing_was_counted() {
        assert_eq!(Outcome::from_harness_output("", false).failed, 1);
    }

    #[test]
    fn a_program_that_counted_nothing_is_told_by_its_last_errors() {
        let errors: String = (0..30).map(|line| format!("line {line}\n")).collect();
        let outcome = Outcome::from_closing_line("", false).because(&errors);
        assert!(outcome.failures[0].starts_with("line 10\n") && outcome.failures[0].ends_with("line 29"));
        assert!(Outcome::from_success(true).because(&errors).failures.is_empty());
        assert!(Outcome::from_success(false).because("").failures.is_empty());
    }

    #[test]
    fn a_closing_line_is_read_back() {
        let outcome = Outcome::from_closing_line("ok a\n12 passed, 0 failed, 3 known failures\n", true);
        assert_eq!((outcome.passed, outcome.failed), (12, 0));
        assert_eq!(outcome.skipped, ["3 known failures"]);
        assert_eq!(Outcome::from_closing_line("", false).failed, 1);
    }

    #[test]
    fn what_pytest_counts_is_read_back() {
        let output = "..s\nSKIPPED [1] tests/test_a.py:3: no network\n2 failed, 300 passed, 1 skipped in 4.10s\n";
        let outcome = Outcome::from_pytest_output(output, false);
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped.len()), (300, 2, 1));
        assert_eq!(
            Outcome::from_pytest_output("3 passed in 0.01s\n", true),
            Outcome { passed: 3, ..Outcome::default() }
        );
        assert_eq!(Outcome::from_pytest_output("ImportError\n", false).failed, 1);
    }

    #[test]
    fn what_failed_is_told_again_at_the_end() {
        let output = "test a::b ... FAILED\n\nfailures:\n\n---- a::b stdout ----\nthread 'a::b' panicked at src/a.rs:3:5:\n\
                      left is not right\n\n\nfailures:\n    a::b\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n";
        let outcome = Outcome::from_harness_output(output, false);
        assert_eq!(outcome.failures.len(), 1);
        let row = Row { step: "tests", time: Duration::ZERO, outcome };
        assert!(
            summary(&[row]).contains("failed: ---- a::b stdout ----\nthread 'a::b' panicked at src/a.rs:3:5:\nleft")
        );
        let output = "=== FAILURES ===\n____ test_a ____\n    x()\nE   ValueError\n=== short test summary info ===\n1 failed in 1s\n";
        assert_eq!(Outcome::from_pytest_output(output, false).failures, ["____ test_a ____\n    x()\nE   ValueError"]);
    }

    #[test]
    fn the_closing_line_names_skips_only_when_there_are_some() {
        let row = |outcome| Row { step: "fmt", time: Duration::ZERO, outcome };
        assert!(summary(&[row(Outcome::from_success(true))]).ends_with("\n1 passed, 0 failed"));
        assert!(
            summary(&[row(Outcome { skipped: vec!["no tshark".to_owned()], ..Outcome::default() })])
                .ends_with("\n0 passed, 0 failed, 1 skipped")
        );
    }
}
