//! Validation reports: everything the reference found must be found; a stricter validator may find more, but no error in
//! a message that the reference wrote.

use std::collections::BTreeSet;

use fw_report::Severity;
use fw_tensogram::{MessageReport, ValidateMode, ValidateOptions, validate_file, validate_message};

use super::model::{FileIssue, Group, Policy, Validation, Vector};
use super::vector::Context;
use crate::discover::Manifest;
use crate::row::Row;

/// A finding, as far as manifests compare it.
type Key = (String, String, String, Option<u64>);

/// One report about one message.
pub fn check(context: &Context<'_>, mode: &str, recorded: &Validation, bytes: &[u8], at: &str, row: &mut Row) {
    let what = format!("{at}validate {mode}");
    let Some(options) = options(mode) else { return row.deviates(format!("{what}: mode not understood")) };
    let found = validate_message(bytes, &options);
    if context.policy == Policy::Free {
        return;
    }
    let (expected, found_keys) = (expected(recorded), keys(&found));
    for (code, level, severity, object) in expected.difference(&found_keys) {
        row.deviates(format!("{what}: no {severity} {code} ({level}, object {object:?})"));
    }
    let added: Vec<_> = found_keys.difference(&expected).filter(|(_, _, severity, _)| severity == "error").collect();
    if context.group == Group::Valid && !added.is_empty() {
        row.deviates(format!("{what}: errors in a good message: {added:?}"));
    }
    if !recorded.ok && found.is_ok() {
        row.deviates(format!("{what}: ok, expected errors"));
    }
    if added.is_empty() {
        row.equal(&format!("{what}: ok"), &recorded.ok, &found.is_ok());
        row.equal(&format!("{what}: hash_verified"), &recorded.hash_verified, &found.hash_verified);
        // Stepping over a frame that the reference stops at, we may see objects behind it.
        let objects = found.object_count as u64;
        if context.group != Group::Malformed || objects < recorded.object_count {
            row.equal(&format!("{what}: objects"), &recorded.object_count, &objects);
        }
    }
}

/// The report about a file: bytes that belong to no message.
pub fn check_file(manifest: &Manifest, vector: &Vector, issues: &[FileIssue], row: &mut Row) {
    let path = manifest.folder.join(&vector.file);
    let Some(found) = row.accept("validate_file", validate_file(path, &ValidateOptions::default())) else { return };
    let mut expected: Vec<(u64, u64)> = issues.iter().map(|issue| (issue.byte_offset, issue.length)).collect();
    let findings = found.report.findings().iter().filter_map(|finding| finding.span);
    let mut found: Vec<(u64, u64)> = findings.map(|span| (span.start, span.len())).collect();
    expected.sort_unstable();
    found.sort_unstable();
    if expected != found && vector.policy != Policy::Free {
        row.deviates(format!("validate_file: bytes outside of messages are {found:?}, expected {expected:?}"));
    }
}

fn options(mode: &str) -> Option<ValidateOptions> {
    let (mode, canonical) = match mode.split_once('+') {
        Some((mode, "canonical")) => (mode, true),
        Some(_) => return None,
        None => (mode, false),
    };
    let mode = match mode {
        "quick" => ValidateMode::Quick,
        "checksum" => ValidateMode::Checksum,
        "default" => ValidateMode::Default,
        "full" => ValidateMode::Full,
        _ => return None,
    };
    Some(ValidateOptions { canonical, ..ValidateOptions::mode(mode) })
}

fn expected(recorded: &Validation) -> BTreeSet<Key> {
    let key = |issue: &super::model::Issue| {
        (issue.code.clone(), issue.level.clone(), issue.severity.clone(), issue.object_index)
    };
    recorded.issues.iter().map(key).collect()
}

fn keys(found: &MessageReport) -> BTreeSet<Key> {
    let findings = found.report.findings().iter().filter(|finding| finding.severity > Severity::Note);
    findings
        .map(|finding| {
            let level = finding.level.as_deref().unwrap_or_default().to_owned();
            (finding.code.to_string(), level, finding.severity.to_string(), finding.object_index)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_with_their_switch() {
        assert!(options("default+canonical").is_some_and(|options| options.canonical));
        assert!(options("full").is_some_and(|options| options.mode == ValidateMode::Full));
        assert!(options("full+fancy").is_none());
        assert!(options("thorough").is_none());
    }
}
