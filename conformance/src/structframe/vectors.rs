//! Messages and their frames: what the layout engine decides, and the bytes.

use fw_dynamic::{Codec, Layout, Value};
use fw_schema::Schema;

use super::model::{Case, Facts, Vectors};
use crate::digest::{hex, sha256};
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};
use crate::tensogram::parse;

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let vectors: Vectors = match serde_json::from_value(manifest.json.clone()) {
        Ok(vectors) => vectors,
        Err(error) => {
            let id = format!("struct-frame/manifest/{}", manifest.name);
            rows.check(&id, |row| row.deviates(format!("not understood: {error}")));
            return Companions::new();
        }
    };
    let group = &vectors.group;
    let schema = fw_schema::check(manifest.folder.join(&vectors.schema)).into_result();
    let schema = schema.map_err(|diagnostics| diagnostics.to_string());
    for (name, facts) in &vectors.messages {
        rows.check(&format!("struct-frame/{group}/message/{name}"), |row| match &schema {
            Ok(schema) => check_facts(name, &vectors.package, facts, schema, row),
            Err(error) => row.deviates(format!("schema: {error}")),
        });
    }
    for entry in vectors.cases {
        let id = entry["id"].as_str().unwrap_or("without-name").to_owned();
        rows.check(&format!("struct-frame/{group}/{id}"), |row| {
            let Some(case) = parse::<Case>(row, entry) else { return };
            check_files(manifest, &case, row);
            match &schema {
                Ok(schema) => check_payloads(&case, schema, row),
                Err(error) => row.deviates(format!("schema: {error}")),
            }
        });
    }
    rows.check(&format!("struct-frame/{group}/frames"), |row| {
        row.deviates("frames are not read and written yet");
    });
    Companions::new()
}

fn check_facts(name: &str, package_name: &str, facts: &Facts, schema: &Schema, row: &mut Row) {
    let Some(message) = schema.find(name) else { return row.deviates(format!("not in package {package_name}")) };
    let package = &schema[message.package];
    let number = |number: Option<u32>| number.map_or("none".to_owned(), |number| number.to_string());
    row.equal("msgid", &number(facts.msgid), &number(message.msgid.map(Into::into)));
    row.equal("pkgid", &number(facts.pkgid), &number(package.id.map(Into::into)));
    row.equal("effective id", &number(facts.effective_id), &number(message.id.map(Into::into)));
    row.equal("max_size", &facts.max_size, &(message.sizes.max as u64));
    row.equal("base_size", &facts.base_size, &(message.sizes.base as u64));
    row.equal("min_size", &facts.min_size, &(message.sizes.min as u64));
    row.equal("magic1", &facts.magic1, &message.magic[0]);
    row.equal("magic2", &facts.magic2, &message.magic[1]);
    row.equal("variable", &facts.variable, &message.variable);
    row.equal("envelope", &facts.envelope, &message.envelope);
}

/// Files hold the bytes that the manifest shows.
fn check_files(manifest: &Manifest, case: &Case, row: &mut Row) {
    for frame in &case.frames {
        let Some(bytes) = row.accept(&frame.file, manifest.file(&frame.file)) else { continue };
        if let Some(expected) = &frame.hex {
            row.equal(&frame.file, expected, &hex(&bytes));
        }
        row.equal(&frame.file, frame.sha256.as_str(), &sha256(&bytes)[..16]);
        if frame.expect.frame_size.is_some_and(|size| size != bytes.len() as u64) {
            row.deviates(format!("{}: {} bytes, expected {:?}", frame.file, bytes.len(), frame.expect.frame_size));
        }
    }
}

/// Values to payloads and back, in both layouts.
fn check_payloads(case: &Case, schema: &Schema, row: &mut Row) {
    let codec = Codec::new(schema);
    let Some(message) = schema.find(&case.message) else { return row.deviates("no such message") };
    let Some(value) = row.accept("values", codec.value_from_json(message, &case.values)) else { return };
    // A union without tag reads back as its bytes: there only these are compared.
    let is_untagged = |name: &str| message.union(name).is_some_and(|union| union.discriminator.is_empty());
    let untagged = matches!(&value, Value::Message(fields) if fields.iter().any(|(name, _)| is_untagged(name)));
    let wire = case.payload_wire.as_ref();
    let fixed = case.payload_fixed.as_ref().or(wire.filter(|_| !message.variable));
    for (layout, expected) in [(Layout::Wire, wire), (Layout::Fixed, fixed)] {
        let what = format!("{layout:?} payload");
        let Some(encoded) = row.accept(&what, codec.encode(message, layout, &value)) else { continue };
        if let Some(expected) = expected {
            row.equal(&what, expected, &hex(&encoded));
        }
        let Some(decoded) = row.accept(&what, codec.decode(message, layout, &encoded)) else { continue };
        if !untagged && !decoded.same(&value) {
            row.deviates(format!("{what}: reads back as {decoded:?}"));
        }
        if row.accept(&what, codec.encode(message, layout, &decoded)).is_some_and(|again| again != encoded) {
            row.deviates(format!("{what}: written again, it has other bytes"));
        }
    }
}
