//! Which crate may be built on which: `docs/architecture.md`, enforced.

use anyhow::Result;

use crate::context::Context;
use crate::outcome::Outcome;

/// A crate and what it may be built on. A new entry in a list is a new arrow, and that is a decision record.
const ARROWS: &[(&str, &[&str])] = &[
    ("fw-bytes", &[]),
    ("fw-tensor", &["fw-bytes"]),
    ("fw-source", &["fw-bytes"]),
    ("fw-report", &["fw-bytes"]),
    ("fw-codec", &["fw-bytes", "fw-tensor"]),
    ("fw-tensogram", &["fw-bytes", "fw-tensor", "fw-source", "fw-report", "fw-codec"]),
    ("fw-bintensors", &["fw-bytes", "fw-tensor", "fw-source", "fw-report"]),
    ("fw-schema", &["fw-bytes", "fw-report"]),
    ("fw-structframe", &["fw-bytes"]),
    ("fw-dynamic", &["fw-bytes", "fw-tensor", "fw-report", "fw-schema", "fw-structframe"]),
    ("fw-codegen", &["fw-report", "fw-schema"]),
];

/// Crates on top, which see everything below them.
const TOP: &[&str] = &["fw-convert", "framewright", "fw", "fw-explorer", "fw-conformance"];

/// One check per crate.
pub(crate) fn check(context: &mut Context) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for package in context.packages()? {
        let allowed = ARROWS.iter().find(|(name, _)| *name == package.name).map(|(_, allowed)| *allowed);
        let wrong: Vec<&str> = match allowed {
            Some(allowed) => {
                package.built_on.iter().map(String::as_str).filter(|name| !allowed.contains(name)).collect()
            }
            None if TOP.contains(&package.name.as_str()) => Vec::new(),
            // Tools stand apart and are built on nothing of ours.
            None => package.built_on.iter().map(String::as_str).collect(),
        };
        if !wrong.is_empty() {
            eprintln!("{} must not be built on {}: see docs/architecture.md", package.name, wrong.join(", "));
        }
        outcome.add(Outcome::from_success(wrong.is_empty()));
    }
    Ok(outcome)
}
