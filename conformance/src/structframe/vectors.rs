//! Messages and their frames: what the layout engine decides, and the bytes.

use fw_dynamic::{Codec, FrameCodec, Layout, Value, message_infos};
use fw_schema::Schema;
use fw_structframe::{Header, MessageInfo};

use super::model::{Case, Facts, Frame, Vectors};
use super::readers::{Seen, framing, read};
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
    let mut cases = Vec::new();
    for entry in vectors.cases {
        let id = entry["id"].as_str().unwrap_or("without-name").to_owned();
        rows.check(&format!("struct-frame/{group}/{id}"), |row| {
            let Some(case) = parse::<Case>(row, entry) else { return };
            check_files(manifest, &case, row);
            match &schema {
                Ok(schema) => {
                    check_payloads(&case, schema, row);
                    case.frames.iter().for_each(|frame| check_frame(manifest, &case, frame, schema, row));
                }
                Err(error) => row.deviates(format!("schema: {error}")),
            }
            cases.push(case);
        });
    }
    rows.check(&format!("struct-frame/{group}/frames"), |row| match &schema {
        Ok(schema) => check_captures(manifest, &cases, schema, row),
        Err(error) => row.deviates(format!("schema: {error}")),
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

/// One frame: written from its values, found by every reader, decoded, written again.
fn check_frame(manifest: &Manifest, case: &Case, frame: &Frame, schema: &Schema, row: &mut Row) {
    let what = &frame.file;
    let Some(bytes) = row.accept(what, manifest.file(what)) else { return };
    let Some(framing) = framing(&frame.profile, frame.header.as_deref(), frame.payload_type.as_deref()) else {
        return row.deviates(format!("{what}: framing `{}` not understood", frame.profile));
    };
    row.equal(what, &frame.layout, &format!("{:?}", framing.layout()).to_lowercase());
    let Some(message) = schema.find(&case.message) else { return row.deviates("no such message") };
    let codec = Codec::new(schema);
    let frames = FrameCodec::new(&codec, framing);
    let header = Header { sequence: case.seq, system: case.sys_id, component: case.comp_id };
    let mut written = Vec::new();
    let result = frames.write_json(message, header, &case.values, &mut written);
    let mut infos = message_infos(schema);
    // Of a large id such a framing carries the low byte only: encoders refuse, and readers see a message of that id.
    let cut = !framing.has_package() && message.id.is_some_and(|id| id > 255);
    if cut {
        let low = |info: MessageInfo| MessageInfo { id: info.id & 0xff, ..info };
        infos = infos.into_iter().filter(|info| Some(info.id) == message.id).map(low).collect();
        match result {
            Err(error) if error.code == "id_too_large" => {}
            other => row.deviates(format!("{what}: expected a refusal of the id, found {other:?}")),
        }
    } else if row.accept(what, result).is_some() {
        row.equal(what, &hex(&bytes), &hex(&written));
    }

    let expect = &frame.expect;
    let outcome = read(framing, &infos, &bytes, &[7, 1, 3], 1 << 18, row);
    let [Seen::Frame { id, header, payload, size, .. }] = outcome.events.as_slice() else {
        return row.deviates(format!("{what}: expected one good frame, found {:?}", outcome.events));
    };
    row.equal("valid", &expect.valid, &true);
    row.equal("msg_id", &expect.msg_id.unwrap_or_default(), &u32::from(*id));
    row.equal("msg_len", &expect.msg_len.unwrap_or_default(), &(payload.len() as u64));
    row.equal("frame_size", &expect.frame_size.unwrap_or(*size), size);
    row.equal("sequence", &expect.sequence.unwrap_or_default(), &header.sequence);
    row.equal("system_id", &expect.system_id.unwrap_or_default(), &header.system);
    row.equal("component_id", &expect.component_id.unwrap_or_default(), &header.component);
    row.equal("package_id", &expect.package_id.unwrap_or_default(), &((id >> 8) as u8));
    let Some(decoded) = row.accept(what, codec.decode(message, framing.layout(), payload)) else { return };
    if !cut {
        let mut again = Vec::new();
        row.accept(what, frames.write(message, *header, &decoded, &mut again));
        row.equal("written again", &hex(&bytes), &hex(&again));
    }
}

/// All frames of the group in one framing, one behind the other: every reader finds all of them, and columns give them back.
fn check_captures(manifest: &Manifest, cases: &[Case], schema: &Schema, row: &mut Row) {
    let codec = Codec::new(schema);
    let all = || cases.iter().flat_map(|case| case.frames.iter().map(move |frame| (case, frame)));
    let mut names: Vec<&str> = all().map(|(_, frame)| frame.profile.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let (mut capture, mut count, mut kind) = (Vec::new(), 0, None);
        for (case, frame) in all().filter(|(_, frame)| frame.profile == name) {
            let framing = framing(&frame.profile, frame.header.as_deref(), frame.payload_type.as_deref());
            let large = schema.find(&case.message).and_then(|message| message.id).is_some_and(|id| id > 255);
            if framing.is_none_or(|framing| large && !framing.has_package()) {
                continue;
            }
            capture.extend(row.accept(name, manifest.file(&frame.file)).unwrap_or_default());
            count += 1;
            kind = framing;
        }
        let Some(framing) = kind else { continue };
        let frames = FrameCodec::new(&codec, framing);
        let outcome = read(framing, frames.infos(), &capture, &[64, 1, 500, 13], 1 << 18, row);
        let good = outcome.events.iter().filter(|event| matches!(event, Seen::Frame { .. })).count();
        row.equal(name, &count, &good);
        row.equal(name, &count, &outcome.events.len());
        let Some((columns, _)) = row.accept(name, frames.columns(&capture)) else { continue };
        let mut again = Vec::new();
        row.accept(name, frames.write_columns(&columns, &mut again));
        if again != capture {
            row.deviates(format!("{name}: columns do not give the frames back"));
        }
    }
}
