//! The canonical files of the original: read by every reader, and written from their fixtures to the same bytes.

use std::collections::BTreeMap;

use fw_dynamic::{Codec, FrameCodec};
use fw_structframe::Header;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::readers::{Seen, framing, read};
use crate::digest::sha256;
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    #[serde(rename = "format")]
    _format: IgnoredAny,
    #[serde(rename = "about")]
    _about: IgnoredAny,
    #[serde(rename = "value_conventions")]
    _value_conventions: IgnoredAny,
    schemas: BTreeMap<String, Suite>,
    files: Vec<File>,
    /// Values without bytes of their own.
    #[serde(default, rename = "other_fixtures")]
    _other_fixtures: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    schema: String,
    #[serde(rename = "package")]
    _package: IgnoredAny,
    fixtures: String,
    count: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    file: String,
    suite: String,
    profile: String,
    bytes: usize,
    sha256: String,
    frames: Vec<Place>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    offset: u64,
    size: u64,
    msg_id: u16,
    msg_len: usize,
}

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let index: Index = match serde_json::from_value(manifest.json.clone()) {
        Ok(index) => index,
        Err(error) => {
            rows.check("struct-frame/canonical", |row| row.deviates(format!("not understood: {error}")));
            return Companions::new();
        }
    };
    for file in &index.files {
        rows.check(&format!("struct-frame/canonical/{}", file.file), |row| match index.schemas.get(&file.suite) {
            Some(suite) => check(manifest, suite, file, row),
            None => row.deviates(format!("no suite {}", file.suite)),
        });
    }
    index.schemas.values().map(|suite| manifest.folder.join(&suite.fixtures)).collect()
}

fn check(manifest: &Manifest, suite: &Suite, file: &File, row: &mut Row) {
    let Some(bytes) = row.accept(&file.file, manifest.file(&file.file)) else { return };
    row.equal("bytes", &file.bytes, &bytes.len());
    row.equal("sha256", &file.sha256, &sha256(&bytes));
    let schema = fw_schema::check(manifest.folder.join(&suite.schema)).into_result();
    let Some(schema) = row.accept("schema", schema) else { return };
    let Some(framing) = framing(&file.profile, None, None) else { return row.deviates("unknown profile") };
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, framing);

    let outcome = read(framing, frames.infos(), &bytes, &[100, 1, 33], 1 << 18, row);
    let place = |event: &Seen| match event {
        Seen::Frame { id, payload, start, size, recovered: false, .. } => {
            Some(Place { offset: *start, size: *size, msg_id: *id, msg_len: payload.len() })
        }
        _ => None,
    };
    let places: Option<Vec<Place>> = outcome.events.iter().map(place).collect();
    if places.as_ref() != Some(&file.frames) {
        row.deviates(format!("frames are {:?}, expected {:?}", outcome.events, file.frames));
    }

    let Some(text) = row.accept(&suite.fixtures, manifest.file(&suite.fixtures)) else { return };
    let Some(fixtures) = row.accept(&suite.fixtures, serde_json::from_slice::<Json>(&text)) else { return };
    let fixtures = fixtures["fixtures"].as_array().cloned().unwrap_or_default();
    row.equal("fixtures", &suite.count, &fixtures.len());
    let mut written = Vec::new();
    for fixture in &fixtures {
        let name = fixture["message"].as_str().unwrap_or_default();
        let Some(message) = schema.find(name) else { return row.deviates(format!("no message {name}")) };
        row.accept(name, frames.write_json(message, Header::default(), &fixture["values"], &mut written));
    }
    if written != bytes {
        row.deviates("fixtures are written to other bytes");
    }
    let Some((columns, _)) = row.accept("columns", frames.columns(&bytes)) else { return };
    let mut again = Vec::new();
    row.accept("columns", frames.write_columns(&columns, &mut again));
    if again != bytes {
        row.deviates("columns do not give the frames back");
    }
}
