//! Schemas that a compiler must accept, or refuse for the stated reason and for no other.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};
use crate::tensogram::parse;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    root: String,
    expect: String,
    error_class: Option<String>,
    #[serde(default, rename = "reason")]
    _reason: IgnoredAny,
    #[serde(default, rename = "reference")]
    _reference: IgnoredAny,
}

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let known = ["format", "group", "note", "cases"];
    let unknown: Vec<&String> = manifest
        .json
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key)
        .filter(|key| !known.contains(&key.as_str()))
        .collect();
    if !unknown.is_empty() {
        rows.check("struct-frame/schema-checks", |row| row.deviates(format!("fields not understood: {unknown:?}")));
    }
    for entry in manifest.json["cases"].as_array().into_iter().flatten() {
        let id = format!("struct-frame/schema/{}", entry["id"].as_str().unwrap_or("without-name"));
        rows.check(&id, |row| {
            if let Some(case) = parse(row, entry.clone()) {
                check(manifest, &case, row);
            }
        });
    }
    Companions::new()
}

fn check(manifest: &Manifest, case: &Case, row: &mut Row) {
    let compiled = fw_schema::check(manifest.folder.join(&case.root));
    let found: BTreeSet<_> = compiled.diagnostics.errors().map(|fault| fault.code.class().name()).collect();
    let expected: Option<String> = case.error_class.as_ref().map(|class| class.replace('-', "_"));
    match case.expect.as_str() {
        "accept" if compiled.schema.is_none() => row.deviates(format!("refused: {}", compiled.diagnostics)),
        "reject" if compiled.schema.is_some() => row.deviates("accepted, a refusal is due"),
        "accept" | "reject" => {}
        other => row.deviates(format!("expectation `{other}` not understood")),
    }
    if found != expected.iter().map(String::as_str).collect() {
        row.deviates(format!("classes of faults are {found:?}, expected {expected:?}"));
    }
}
