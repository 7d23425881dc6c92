//! Which crate may be built on which, and which room on which: `docs/architecture.md`, enforced.

use anyhow::Result;

use crate::context::Context;
use crate::outcome::Outcome;
use crate::rooms;

/// A crate and what it may be built on. A new entry in a list is a new arrow, and that is a decision record.
const ARROWS: &[(&str, &[&str])] = &[
    ("fw-bytes", &[]),
    ("fw-tensor", &["fw-bytes"]),
    ("fw-source", &["fw-bytes"]),
    ("fw-report", &["fw-bytes"]),
    ("fw-draw", &["fw-report"]),
    ("fw-query", &[]),
    ("fw-stats", &["fw-tensor"]),
    ("fw-codec", &["fw-bytes", "fw-tensor"]),
    ("fw-tensogram", &["fw-bytes", "fw-tensor", "fw-source", "fw-report", "fw-codec"]),
    ("fw-bintensors", &["fw-bytes", "fw-tensor", "fw-source", "fw-report"]),
    ("fw-schema", &["fw-bytes", "fw-report"]),
    ("fw-structframe", &["fw-bytes"]),
    ("fw-dynamic", &["fw-bytes", "fw-tensor", "fw-report", "fw-schema", "fw-structframe"]),
    ("fw-codegen", &["fw-source", "fw-report", "fw-schema"]),
    ("fw-link", &[]),
    ("fw-recording", &["fw-tensor", "fw-source", "fw-schema", "fw-tensogram"]),
];

/// Crates on top, which see everything below them.
const TOP: &[&str] = &[
    "fw-convert",
    "fw-look",
    "fw-edit",
    "fw-telemetry",
    "framewright",
    "fw",
    "fw-explorer",
    "fw-conformance",
    "fwright-python",
];

/// Crates whose `lib.rs` lists rooms in the order data flows: a room uses only rooms listed before it.
const ORDERED: &[&str] = &[
    "bytes",
    "tensor",
    "source",
    "report",
    "draw",
    "query",
    "stats",
    "codec",
    "tensogram",
    "bintensors",
    "structframe",
    "schema",
    "dynamic",
    "codegen",
    "recording",
    "link",
    "convert",
    "look",
    "edit",
    "telemetry",
];

/// One check per crate for the arrows between crates, and one per crate of [`ORDERED`] for those inside.
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
    for folder in ORDERED {
        let found = rooms::check(&context.root.join("crates").join(folder).join("src"))?;
        for rooms::Use { file, path, room } in &found {
            let room = room.as_ref().map_or("a room that is not known".to_owned(), |room| format!("`{room}`"));
            eprintln!(
                "crates/{folder}/src/{file}: `crate::{path}` uses {room}, which lib.rs does not list before this room; see \
                 docs/architecture.md"
            );
        }
        outcome.add(Outcome::from_success(found.is_empty()));
    }
    Ok(outcome)
}
