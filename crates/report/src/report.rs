//! All findings about one input, with a verdict.

use crate::{Finding, Severity};

/// Findings in the order they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    findings: Vec<Finding>,
}

impl Report {
    /// Nothing found yet.
    pub const fn new() -> Self {
        Self { findings: Vec::new() }
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
        Self { findings: findings.into_iter().collect() }
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
