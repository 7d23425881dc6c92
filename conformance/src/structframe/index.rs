//! The index of a vector set: every group it lists is there, with as many entries as it says.

use std::collections::BTreeSet;
use std::fs;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    #[serde(rename = "format")]
    _format: IgnoredAny,
    #[serde(default, rename = "set")]
    _set: IgnoredAny,
    #[serde(default, rename = "conventions")]
    _conventions: IgnoredAny,
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    group: String,
    format: String,
    manifests: Vec<String>,
    schema: Option<String>,
    entries: usize,
    frames: usize,
}

/// Runs the index.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    match serde_json::from_value::<Index>(manifest.json.clone()) {
        Ok(index) => {
            for group in index.groups {
                rows.check(&format!("struct-frame/index/{}", group.group), |row| check(manifest, &group, row));
            }
        }
        Err(error) => rows.check("struct-frame/index", |row| row.deviates(format!("not understood: {error}"))),
    }
    Companions::new()
}

fn check(manifest: &Manifest, group: &Group, row: &mut Row) {
    // Several cases may share a file, which the index counts once.
    let (mut entries, mut frames, mut files) = (0, 0, BTreeSet::new());
    for name in &group.manifests {
        let Some(text) = row.accept(name, manifest.file(name)) else { continue };
        let Some(json) = row.accept(name, serde_json::from_slice::<Json>(&text)) else { continue };
        row.equal("format", group.format.as_str(), json["format"].as_str().unwrap_or("none"));
        let lists = ["cases", "streams", "scenarios"].iter().filter_map(|key| json[*key].as_array());
        for entry in lists.flatten() {
            entries += 1;
            frames += entry["frames"].as_array().map_or(0, Vec::len);
            files.extend(entry["file"].as_str().map(ToOwned::to_owned));
        }
    }
    row.equal("entries", &group.entries, &entries);
    row.equal("frames", &group.frames, &(frames + files.len()));
    if let Some(schema) = &group.schema {
        let folder = manifest.folder.join(&group.group);
        row.accept("schema", fs::metadata(folder.join(schema)).map_err(|error| format!("{schema}: {error}")));
    }
}
