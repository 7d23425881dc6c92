//! struct-frame: schemas, frames and streams.
//!
//! - [`index`] the list of groups
//! - [`vectors`] messages, their layouts and frames; [`model`] what such manifests may say
//! - [`schema`] schemas that a compiler must accept or refuse

pub mod index;
pub mod model;
pub mod schema;
pub mod vectors;

use serde_json::Value as Json;

use crate::discover::Adapter;

/// Which adapter reads a manifest of this format.
pub fn adapter(json: &Json) -> Option<Adapter> {
    match json["format"].as_str()? {
        "struct-frame-vector-index/1" => Some(index::run),
        "struct-frame-vectors/1" => Some(vectors::run),
        "struct-frame-schema-checks/1" => Some(schema::run),
        _ => None,
    }
}
