//! BinTensors weight files.
//!
//! - [`files`] verdicts of the three profiles, contents, checksums, the default writer
//! - [`slices`] slices as NumPy takes them
//! - [`recipes`] files too large to ship, by their headers and digests

pub mod files;
pub mod recipes;
pub mod slices;

use serde_json::Value as Json;

use crate::discover::Adapter;

/// Which adapter reads a manifest of this schema.
pub fn adapter(json: &Json) -> Option<Adapter> {
    match json["schema"].as_str()? {
        "bintensors-vectors/1" => Some(files::run),
        "bintensors-slices/1" => Some(slices::run),
        "bintensors-recipes/1" => Some(recipes::run),
        _ => None,
    }
}
