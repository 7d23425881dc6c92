//! Frames between peers of different schemas: written with one, read with the other.

use fw_dynamic::{Codec, FrameCodec};
use fw_schema::Schema;
use fw_structframe::Header;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::readers::{Seen, framing, read};
use crate::digest::hex;
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};
use crate::tensogram::parse;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    writer_schema: String,
    reader_schema: String,
    message: String,
    profile: String,
    seq: u8,
    sys_id: u8,
    comp_id: u8,
    written_values: Json,
    file: String,
    hex: String,
    expect: Expect,
    expect_decoded: Json,
    writer: Facts,
    reader: Facts,
    #[serde(rename = "reference_decode")]
    _reference_decode: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    valid: bool,
    msg_len: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    max_size: usize,
    base_size: usize,
    magic: [u8; 2],
}

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    for entry in manifest.json["cases"].as_array().into_iter().flatten() {
        let id = format!("struct-frame/evolution/{}", entry["id"].as_str().unwrap_or("without-name"));
        rows.check(&id, |row| {
            if let Some(case) = parse::<Case>(row, entry.clone()) {
                check(manifest, &case, row);
            }
        });
    }
    Companions::new()
}

fn check(manifest: &Manifest, case: &Case, row: &mut Row) {
    let schema = |name: &str| fw_schema::check(manifest.folder.join(name)).into_result();
    let Some(old) = row.accept("writer schema", schema(&case.writer_schema)) else { return };
    let Some(new) = row.accept("reader schema", schema(&case.reader_schema)) else { return };
    check_facts("writer", &old, case, &case.writer, row);
    check_facts("reader", &new, case, &case.reader, row);
    let Some(framing) = framing(&case.profile, None, None) else { return row.deviates("profile not understood") };
    let Some(bytes) = row.accept(&case.file, manifest.file(&case.file)) else { return };
    row.equal(&case.file, &case.hex, &hex(&bytes));

    let codec = Codec::new(&old);
    let header = Header { sequence: case.seq, system: case.sys_id, component: case.comp_id };
    let Some(message) = old.find(&case.message) else { return row.deviates("no such message") };
    let mut written = Vec::new();
    let frames = FrameCodec::new(&codec, framing);
    row.accept("writing", frames.write_json(message, header, &case.written_values, &mut written));
    row.equal("written", &case.hex, &hex(&written));

    let codec = Codec::new(&new);
    let frames = FrameCodec::new(&codec, framing);
    let outcome = read(framing, frames.infos(), &bytes, &[5, 2], 1 << 18, row);
    let [Seen::Frame { payload, .. }] = outcome.events.as_slice() else {
        return row.deviates(format!("expected one good frame, found {:?}", outcome.events));
    };
    row.equal("valid", &case.expect.valid, &true);
    row.equal("msg_len", &case.expect.msg_len, &(payload.len() as u64));
    let Some(message) = new.find(&case.message) else { return row.deviates("no such message") };
    let Some(found) = row.accept("reading", codec.decode(message, framing.layout(), payload)) else { return };
    let expected = case.expect_decoded.clone();
    // An unknown tag cannot be written from JSON: what is shown is compared. Other values are compared as values.
    match codec.value_from_json(message, &expected) {
        Ok(expected) if found.same(&expected) => {}
        _ => match serde_json::to_value(&found) {
            Ok(shown) if shown == expected => {}
            shown => row.deviates(format!("decoded as {shown:?}, expected {expected}")),
        },
    }
}

fn check_facts(what: &str, schema: &Schema, case: &Case, facts: &Facts, row: &mut Row) {
    let Some(message) = schema.find(&case.message) else { return row.deviates(format!("{what}: no such message")) };
    row.equal(what, &facts.max_size, &message.sizes.max);
    row.equal(what, &facts.base_size, &message.sizes.base);
    row.equal(what, &hex(&facts.magic), &hex(&message.magic));
}
