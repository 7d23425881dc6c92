//! `fw validate`: every fault with its bytes.

use super::{print, print_json};
use crate::args::{Mode, Validate};
use crate::exit::Outcome;
use crate::render::count;
use anyhow::Result;
use framewright::report::Severity;
use framewright::tensogram::{FileReport, ValidateMode, ValidateOptions, validate_file};
use std::fmt::Write as _;

pub(crate) fn run(args: &Validate) -> Result<Outcome> {
    let mode = match args.mode {
        Mode::Quick => ValidateMode::Quick,
        Mode::Checksum => ValidateMode::Checksum,
        Mode::Default => ValidateMode::Default,
        Mode::Full => ValidateMode::Full,
    };
    let report =
        validate_file(&args.file, &ValidateOptions { canonical: args.canonical, ..ValidateOptions::mode(mode) })?;
    if args.json {
        print_json(&serde_json::to_value(&report)?)?;
    } else {
        print(&text(&report, &args.file.display().to_string()))?;
    }
    Ok(if report.is_ok() { Outcome::Fine } else { Outcome::Invalid })
}

pub(super) fn text(report: &FileReport, name: &str) -> String {
    let mut text = String::new();
    let findings = || {
        let inner = report.messages.iter().flat_map(|(_, message)| message.report.findings());
        report.report.findings().iter().chain(inner)
    };
    for finding in findings() {
        let _ = writeln!(text, "{finding}");
    }
    let errors = findings().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = findings().filter(|finding| finding.severity == Severity::Warning).count();
    let objects: usize = report.messages.iter().map(|(_, message)| message.object_count).sum();
    let verified = report.messages.iter().filter(|(_, message)| message.hash_verified).count();
    let _ = writeln!(
        text,
        "{name}: {}, {}, {}, {}, {} verified by digest: {}",
        count(report.messages.len(), "message"),
        count(objects, "object"),
        count(errors, "error"),
        count(warnings, "warning"),
        count(verified, "message"),
        if report.is_ok() { "valid" } else { "INVALID" }
    );
    text
}
