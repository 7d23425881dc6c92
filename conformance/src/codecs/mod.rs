//! Tensogram codecs: inputs, payloads, decoded values, ranges and corruption.
//!
//! - [`model`] what a manifest may say
//! - [`input`] the generators of its inputs
//! - [`valid`], [`corrupt`] the checks

pub mod corrupt;
pub mod input;
pub mod model;
pub mod valid;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::discover::{Companions, Manifest};
use crate::row::Rows;
use crate::tensogram::parse;

/// Whether a manifest is one of these.
pub fn recognises(json: &Json) -> bool {
    json.get("cases").is_some() && json.get("input_generators").is_some()
}

/// Runs a manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let head: model::Head = match serde_json::from_value(manifest.json.clone()) {
        Ok(head) => head,
        Err(error) => {
            rows.check(&format!("tensogram-codecs/manifest/{}", manifest.name), |row| row.deviates(error.to_string()));
            return Companions::new();
        }
    };
    if head.wire_version.is_some_and(|version| version != 3) || head.objects_per_file.is_some_and(|count| count != 1) {
        rows.check(&format!("tensogram-codecs/manifest/{}", manifest.name), |row| {
            row.deviates("files of version 3 with one object each are what this adapter reads");
        });
    }
    let originals = originals(&head.cases);
    for entry in head.cases {
        let id = format!("tensogram-codecs/{}", entry["id"].as_str().unwrap_or("without-name"));
        rows.check(&id, |row| match entry["kind"].as_str() {
            Some("valid") => {
                if let Some(entry) = parse(row, entry) {
                    valid::check(manifest, &entry, row);
                }
            }
            Some("corrupt") => {
                if let Some(entry) = parse(row, entry) {
                    corrupt::check(manifest, &entry, &originals, row);
                }
            }
            kind => row.deviates(format!("kind {kind:?} not understood")),
        });
    }
    for entry in head.encode_cases {
        let id = format!("tensogram-codecs/encode/{}", entry["id"].as_str().unwrap_or("without-name"));
        rows.check(&id, |row| {
            if let Some(entry) = parse(row, entry) {
                valid::check_encode_case(&entry, row);
            }
        });
    }
    Companions::new()
}

/// Files by the digest of what they decode to: corrupt cases name their original by it.
fn originals(cases: &[Json]) -> BTreeMap<String, String> {
    let pair =
        |case: &Json| Some((case["decoded"]["sha256_little"].as_str()?.to_owned(), case["file"].as_str()?.to_owned()));
    cases.iter().filter_map(pair).collect()
}
