//! struct-frame: schemas, frames and streams.
//!
//! - [`index`] the list of groups
//! - [`vectors`] messages, their layouts and frames; [`model`] what such manifests may say
//! - [`readers`] one input through every reader
//! - [`evolution`] frames between peers of different schemas
//! - [`streams`] streams with noise and damage; [`negative`] what readers must refuse
//! - [`canonical`] the canonical files of the original
//! - [`schema`] schemas that a compiler must accept or refuse

pub mod canonical;
pub mod evolution;
pub mod index;
pub mod model;
pub mod negative;
pub mod readers;
pub mod schema;
pub mod streams;
pub mod vectors;

use serde_json::Value as Json;

use crate::discover::Adapter;

/// Which adapter reads a manifest of this format.
pub fn adapter(json: &Json) -> Option<Adapter> {
    match json["format"].as_str()? {
        "struct-frame-vector-index/1" => Some(index::run),
        "struct-frame-vectors/1" => Some(vectors::run),
        "struct-frame-evolution/1" => Some(evolution::run),
        "struct-frame-streams/1" => Some(streams::run),
        "struct-frame-negative/1" => Some(negative::run),
        "struct-frame-golden/1" => Some(canonical::run),
        "struct-frame-schema-checks/1" => Some(schema::run),
        _ => None,
    }
}
