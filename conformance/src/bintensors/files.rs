//! Files: the verdict of each profile, what readable ones hold, and the writer that reproduces canonical ones.

use std::collections::BTreeMap;
use std::time::Duration;

use fw_bintensors::{
    Algorithm, BinTensorError, BinTensors, Profile, ReadOptions, Reader, WriteOptions, serialize_with,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use crate::digest::{hex, sha256};
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};
use crate::tensogram::{elements, parse};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(rename = "schema")]
    _schema: IgnoredAny,
    #[serde(default, rename = "title")]
    _title: IgnoredAny,
    #[serde(default, rename = "profiles")]
    _profiles: IgnoredAny,
    #[serde(default, rename = "outcome_values")]
    _outcome_values: IgnoredAny,
    #[serde(default, rename = "error_any_of")]
    _error_any_of: IgnoredAny,
    #[serde(default, rename = "writer_rule")]
    _writer_rule: IgnoredAny,
    #[serde(default)]
    other_files: Vec<String>,
    cases: Vec<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    file: String,
    size: usize,
    sha256: String,
    #[serde(default, rename = "origin")]
    _origin: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
    #[serde(default, rename = "reference_detail")]
    _reference_detail: IgnoredAny,
    outcome: BTreeMap<String, String>,
    #[serde(default)]
    error_any_of: Vec<String>,
    #[serde(default = "normative")]
    class_normative: bool,
    header_size: Option<u64>,
    data_start: Option<u64>,
    padding_len: Option<u64>,
    #[serde(default)]
    metadata: Option<BTreeMap<String, String>>,
    offset_keys: Option<Vec<String>>,
    sorted_keys: Option<Vec<String>>,
    tensors: Option<Vec<Tensor>>,
    #[serde(default)]
    checksums: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tensor {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
    sha256: String,
    data_hex: Option<String>,
    values: Option<Vec<Json>>,
}

fn normative() -> bool {
    true
}

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let head: Head = match serde_json::from_value(manifest.json.clone()) {
        Ok(head) => head,
        Err(error) => {
            rows.check("bintensors/manifest", |row| row.deviates(format!("not understood: {error}")));
            return Companions::new();
        }
    };
    for file in &head.other_files {
        rows.check(&format!("bintensors/other/{file}"), |row| drop(row.accept("file", manifest.file(file))));
    }
    for entry in head.cases {
        let id = format!("bintensors/{}", entry["file"].as_str().unwrap_or("without-name"));
        rows.check(&id, |row| {
            if let Some(case) = parse::<Case>(row, entry) {
                check(manifest, &case, row);
            }
        });
    }
    Companions::new()
}

fn check(manifest: &Manifest, case: &Case, row: &mut Row) {
    let Some(bytes) = row.accept("file", manifest.file(&case.file)) else { return };
    row.equal("size", &case.size, &bytes.len());
    row.equal("sha256", case.sha256.as_str(), &sha256(&bytes));
    for (name, expected) in &case.outcome {
        match Profile::from_name(name) {
            Some(profile) => check_verdict(case, profile, expected, &bytes, row),
            None if name == "reference" => {} // what the other program does is for information
            None => row.deviates(format!("profile `{name}` not understood")),
        }
    }
    let outcome = |profile: &str| case.outcome.get(profile).map(String::as_str) == Some("ok");
    if outcome("compat")
        && let Some(parsed) = row.accept("read", BinTensors::deserialize_with(&bytes, &options(Profile::Compat)))
    {
        check_contents(case, &parsed, row);
        check_checksums(case, &bytes, row);
        if outcome("canonical") {
            check_writer(&parsed, &bytes, row);
        }
    }
}

fn options(profile: Profile) -> ReadOptions {
    ReadOptions::new().with_profile(profile)
}

/// A buffer and a source must agree, within memory that the header's bytes justify.
fn check_verdict(case: &Case, profile: Profile, expected: &str, bytes: &[u8], row: &mut Row) {
    let what = format!("profile {}", profile.name());
    // The shortest record has five bytes; 64 bytes for each that could be there, and a constant.
    let heap = bytes.len() * 64 / 5 + (64 << 10);
    let found = row.within(&what, heap, Duration::from_secs(5), || {
        verdict(BinTensors::deserialize_with(bytes, &options(profile)).map(drop))
    });
    let accepted = if expected == "ok" {
        found == "ok"
    } else {
        let listed = found == expected || case.error_any_of.iter().any(|class| class == found);
        found != "ok" && (listed || !case.class_normative)
    };
    if !accepted {
        row.deviates(format!("{what}: expected {expected}, found {found}"));
    }
    let from_source = verdict(Reader::new(bytes, &options(profile)).map(drop));
    row.equal(&format!("{what}: from a source"), found, from_source);
}

fn verdict(result: Result<(), BinTensorError>) -> &'static str {
    result.map_or_else(|error| error.class(), |()| "ok")
}

fn check_contents(case: &Case, parsed: &BinTensors<'_>, row: &mut Row) {
    let metadata = parsed.metadata();
    let facts = [
        ("header_size", case.header_size, metadata.header_len()),
        ("data_start", case.data_start, metadata.data_start()),
        ("padding_len", case.padding_len, metadata.header_len() - metadata.body_len()),
    ];
    for (name, expected, found) in facts {
        if let Some(expected) = expected {
            row.equal(name, &expected, &found);
        }
    }
    if case.metadata != metadata.metadata().map(|user| user.to_map()) {
        row.deviates(format!("metadata is {:?}, expected {:?}", metadata.metadata(), case.metadata));
    }
    let names: Vec<&str> = parsed.names().collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    for (what, expected, found) in
        [("offset_keys", &case.offset_keys, names), ("sorted_keys", &case.sorted_keys, sorted)]
    {
        if expected.as_ref().is_some_and(|expected| *expected != found) {
            row.deviates(format!("{what} are {found:?}"));
        }
    }
    let Some(tensors) = &case.tensors else { return };
    row.equal("tensors", &tensors.len(), &parsed.len());
    for expected in tensors {
        check_tensor(expected, parsed, row);
    }
}

fn check_tensor(expected: &Tensor, parsed: &BinTensors<'_>, row: &mut Row) {
    let name = &expected.name;
    let Some(view) = row.accept(name, parsed.tensor(name)) else { return };
    row.equal(&format!("{name}: dtype"), expected.dtype.as_str(), view.dtype().name());
    if view.shape() != expected.shape {
        row.deviates(format!("{name}: shape is {:?}, expected {:?}", view.shape(), expected.shape));
    }
    let offsets = parsed.metadata().info(name).map(|info| info.data_offsets);
    if offsets != Some(expected.data_offsets) {
        row.deviates(format!("{name}: offsets are {offsets:?}, expected {:?}", expected.data_offsets));
    }
    let data = view.data();
    row.equal(&format!("{name}: data"), expected.sha256.as_str(), &sha256(data));
    if expected.data_hex.as_ref().is_some_and(|expected| *expected != hex(data)) {
        row.deviates(format!("{name}: data is {}", hex(data)));
    }
    if let Some(values) = &expected.values
        && let Err(difference) = elements::compare(view.dtype().common(), data, values)
    {
        row.deviates(format!("{name}: {difference}"));
    }
}

fn check_checksums(case: &Case, bytes: &[u8], row: &mut Row) {
    for (name, expected) in &case.checksums {
        let algorithm = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name().replace('-', "_") == *name);
        match algorithm {
            Some(algorithm) => row.equal(name, expected.as_str(), &hex(&algorithm.digest(bytes))),
            None => row.deviates(format!("checksum `{name}` not understood")),
        }
    }
}

/// The default writer, given tensors backwards, writes the same bytes.
fn check_writer(parsed: &BinTensors<'_>, bytes: &[u8], row: &mut Row) {
    let mut tensors = parsed.tensors();
    tensors.reverse();
    let mut options = WriteOptions::new();
    options.metadata = parsed.metadata().metadata().map(|user| user.to_map());
    if row.accept("write", serialize_with(tensors, &options)).is_some_and(|written| written != bytes) {
        row.deviates("the default writer writes other bytes");
    }
}
