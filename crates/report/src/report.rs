//! All findings about one input, with a verdict.

use crate::{Finding, Severity};
use std::collections::BTreeMap;

/// Findings in the order they were made, and numbers of what was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    findings: Vec<Finding>,
    tallies: BTreeMap<&'static str, u64>,
}

impl Report {
    /// Nothing found yet.
    pub const fn new() -> Self {
        Self { findings: Vec::new(), tallies: BTreeMap::new() }
    }

    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// True when nothing is wrong; warnings are allowed.
    pub fn is_ok(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Adds to a number of what was checked, such as `digests_checked`.
    pub fn tally(&mut self, what: &'static str, more: u64) {
        let number = self.tallies.entry(what).or_default();
        *number = number.saturating_add(more);
    }

    /// The numbers of what was checked, by snake_case names.
    pub const fn tallies(&self) -> &BTreeMap<&'static str, u64> {
        &self.tallies
    }

    /// The findings, in the order they were made.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl Extend<Finding> for Report {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        self.findings.extend(findings);
    }
}

impl IntoIterator for Report {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;
    fn into_iter(self) -> Self::IntoIter {
        self.findings.into_iter()
    }
}

impl FromIterator<Finding> for Report {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Self {
        Self { findings: findings.into_iter().collect(), ..Self::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_do_not_fail_a_report() {
        let mut report = Report::new();
        report.push(Finding::warning("non_zero_padding", "0x01 between frames").at(196..200));
        assert!(report.is_ok());
        report.push(Finding::error("missing_end_marker", "no ENDF").object(2).level("structure"));
        assert!(!report.is_ok());
    }
}
