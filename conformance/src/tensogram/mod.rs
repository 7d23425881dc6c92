//! Tensogram messages: vectors, `encode_cases` and `access_cases`.
//!
//! - [`model`] what a manifest may say; anything else is a deviation
//! - [`json`] its conventions for values that JSON would lose
//! - [`elements`] decoded bytes against the values a manifest lists
//! - [`policy`] which outcomes a vector allows
//! - [`robustness`] what attacks and mutations made
//! - [`vector`], [`validation`], [`encode`], [`access`] the checks

pub mod access;
pub mod elements;
pub mod encode;
pub mod json;
pub mod model;
pub mod policy;
pub mod robustness;
pub mod validation;
pub mod vector;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};

/// Whether a manifest is one of these.
pub fn recognises(json: &Json) -> bool {
    json["title"].as_str().is_some_and(|title| title.starts_with("Tensogram v3 wire-format"))
        || (json.get("vectors").is_some() && json.get("reference").is_some())
}

/// Runs a manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let head: model::Head = match serde_json::from_value(manifest.json.clone()) {
        Ok(head) => head,
        Err(error) => {
            rows.check(&format!("tensogram/manifest/{}", manifest.name), |row| row.deviates(error.to_string()));
            return Companions::new();
        }
    };
    if head.count.is_some_and(|count| count != head.vectors.len()) {
        let found = head.vectors.len();
        rows.check(&format!("tensogram/manifest/{}", manifest.name), |row| {
            row.deviates(format!("count says {:?}, there are {found} vectors", head.count));
        });
    }
    for entry in head.vectors {
        let id = format!("tensogram/{}", name(&entry, "id"));
        rows.check(&id, |row| {
            if let Some(entry) = parse(row, entry) {
                vector::check(manifest, &entry, row);
            }
        });
    }
    for entry in head.encode_cases {
        let id = format!("tensogram/encode/{}", name(&entry, "id"));
        rows.check(&id, |row| {
            if let Some(entry) = parse(row, entry) {
                encode::check_case(&entry, row);
            }
        });
    }
    for (number, entry) in head.access_cases.into_iter().enumerate() {
        let (call, file) = (name(&entry, "call"), name(&entry, "file"));
        rows.check(&format!("tensogram/access/{number}/{call}/{file}"), |row| {
            if let Some(entry) = parse(row, entry) {
                access::check(manifest, &entry, row);
            }
        });
    }
    Companions::new()
}

fn name(entry: &Json, key: &str) -> String {
    entry[key].as_str().unwrap_or("without-name").to_owned()
}

/// The entry as its model; what the model does not know is a deviation.
pub(crate) fn parse<T: DeserializeOwned>(row: &mut Row, entry: Json) -> Option<T> {
    row.accept("manifest entry not understood", serde_json::from_value(entry))
}
