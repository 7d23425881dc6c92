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

/// Files by the digest of what they should decode to: corrupt cases name their original by it. Damaged files that may
/// still decode to it count too; whoever reads one compares the digest.
fn originals(cases: &[Json]) -> BTreeMap<String, Vec<String>> {
    let mut originals: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in cases {
        let digest = match case["full_decode"].as_str() {
            Some("ok_same" | "error_or_same") => &case["original_sha256_little"],
            _ => &case["decoded"]["sha256_little"],
        };
        if let (Some(digest), Some(file)) = (digest.as_str(), case["file"].as_str()) {
            originals.entry(digest.to_owned()).or_default().push(file.to_owned());
        }
    }
    originals
}
