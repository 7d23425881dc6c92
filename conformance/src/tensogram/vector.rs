//! One file of a manifest: digest, scan, frames, every entry point, validation, re-encoding.

use std::time::Duration;

use fw_tensogram::frame::Outline;
use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, DecodedMessage, DecodedObject, GlobalMetadata, TensogramError, Value, decode,
    decode_descriptors, decode_metadata, scan, scan_file,
};
use serde_json::{Map, Value as Json};

use super::model::{Expect, Frame, Group, Metadata, Object, Outcome, Policy, Vector};
use super::policy::judge;
use super::{elements, encode, json, parse, validation};
use crate::digest::{sha256, short, unhex};
use crate::discover::Manifest;
use crate::row::Row;

/// Longest time any one call on a vector may take.
const MAX_TIME: Duration = Duration::from_secs(5);

/// Checks everything the manifest says about one file.
pub fn check(manifest: &Manifest, vector: &Vector, row: &mut Row) {
    let Some(bytes) = row.accept("file", manifest.file(&vector.file)) else { return };
    row.equal("size", &vector.size, &bytes.len());
    row.equal("sha256", vector.sha256.as_str(), &sha256(&bytes));
    check_scan(manifest, vector, &bytes, row);
    check_layout(vector, &bytes, row);
    let context = Context { group: vector.group, policy: vector.policy, note: &vector.note };
    match (&vector.expect, &vector.messages) {
        (Some(expect), None) => check_message(&context, expect, &bytes, "", row),
        (None, Some(messages)) => messages.iter().for_each(|message| check_scanned(&context, message, &bytes, row)),
        _ => row.deviates("neither `expect` nor `messages`, or both"),
    }
    if let Some(issues) = &vector.validate_file_issues {
        validation::check_file(manifest, vector, issues, row);
    }
    if let Some(input) = &vector.encode_input {
        encode::check_input(input, vector, &bytes, row);
    }
}

/// What decides how strictly outcomes are compared.
pub struct Context<'a> {
    /// What kind of vector.
    pub group: Group,
    /// How far outcomes may differ.
    pub policy: Policy,
    /// What else is acceptable, in words.
    pub note: &'a str,
}

/// A decode: on success, values are compared; the limit on memory is part of it.
fn check_message(context: &Context<'_>, expect: &Expect, bytes: &[u8], at: &str, row: &mut Row) {
    let policy = (context.policy, context.note);
    let heap = bytes.len() * 8 + (1 << 20);
    let mut measured = |what: &str, options: &DecodeOptions| {
        row.within(&format!("{at}{what}"), heap, MAX_TIME, || decode(bytes, options))
    };
    let found = measured("decode", &DecodeOptions::default());
    let verified = measured("decode with hashes verified", &DecodeOptions::default().with_verify_hash());
    let wire = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
    judge(row, &format!("{at}decode"), policy, &expect.decode, found, |row, found| {
        check_decoded(&expect.decode, found, decode(bytes, &wire), at, row);
    });
    judge(row, &format!("{at}verify_hash"), policy, &expect.decode_verify_hash, verified, |_, _| ());

    let found = decode_metadata(bytes);
    judge_informative(row, &format!("{at}decode_metadata"), context, &expect.decode_metadata, found, |row, found| {
        check_metadata(expect.decode_metadata.metadata.as_ref(), &found, &format!("{at}decode_metadata"), row);
    });
    let found = decode_descriptors(bytes);
    judge_informative(
        row,
        &format!("{at}decode_descriptors"),
        context,
        &expect.decode_descriptors,
        found,
        |row, found| {
            if let Some(count) = expect.decode_descriptors.count {
                row.equal(&format!("{at}descriptors"), &count, &found.descriptors.len());
            }
        },
    );
    for (mode, recorded) in &expect.validate {
        validation::check(context, mode, recorded, bytes, at, row);
    }
}

/// One message of a file with several.
fn check_scanned(context: &Context<'_>, entry: &Map<String, Json>, bytes: &[u8], row: &mut Row) {
    let mut entry = entry.clone();
    let (offset, length) = (entry.remove("offset"), entry.remove("length"));
    let place =
        |json: Option<Json>| json.as_ref().and_then(json::unsigned).and_then(|place| usize::try_from(place).ok());
    let (Some(offset), Some(length)) = (place(offset), place(length)) else {
        return row.deviates("a message without offset and length");
    };
    let Some(expect) = parse::<Expect>(row, Json::Object(entry)) else { return };
    match bytes.get(offset..offset.saturating_add(length)) {
        Some(message) => check_message(context, &expect, message, &format!("message at {offset}: "), row),
        None => row.deviates(format!("message at {offset} reaches past the file")),
    }
}

/// Entry points whose outcome on broken input is only informative: there any clean error will do.
fn judge_informative<T>(
    row: &mut Row,
    what: &str,
    context: &Context<'_>,
    recorded: &Outcome,
    found: Result<T, TensogramError>,
    same: impl FnOnce(&mut Row, T),
) {
    match context.group {
        Group::Malformed if found.is_err() || !recorded.ok => {}
        Group::Malformed => judge(row, what, (Policy::Must, ""), recorded, found, same),
        _ => judge(row, what, (context.policy, context.note), recorded, found, same),
    }
}

fn check_decoded(
    recorded: &Outcome,
    DecodedMessage { metadata, objects }: DecodedMessage,
    wire: Result<DecodedMessage, TensogramError>,
    at: &str,
    row: &mut Row,
) {
    check_metadata(recorded.metadata.as_ref(), &metadata, &format!("{at}decode"), row);
    let Some(expected) = &recorded.objects else { return };
    row.equal(&format!("{at}objects"), &expected.len(), &objects.len());
    let wire = row.accept(&format!("{at}decode in wire order"), wire).map(|wire| wire.objects).unwrap_or_default();
    for (index, (expected, DecodedObject { descriptor, bytes })) in expected.iter().zip(&objects).enumerate() {
        let what = format!("{at}object {index}");
        check_descriptor(expected, descriptor, &what, row);
        check_bytes(expected, descriptor, bytes, &what, row);
        if let Some(object) = wire.get(index) {
            row.equal(&format!("{what} in wire order"), expected.wire_order_sha256.as_str(), &sha256(&object.bytes));
        }
    }
}

fn check_metadata(expected: Option<&Metadata>, found: &GlobalMetadata, what: &str, row: &mut Row) {
    let Some(expected) = expected else { return };
    let text_map = |map: &fw_tensogram::MetadataMap| {
        Value::Map(map.iter().map(|(key, value)| (Value::from(key.as_str()), value.clone())).collect())
    };
    let pairs = [
        ("base", &expected.base, Value::Array(found.base.iter().map(text_map).collect())),
        ("_extra_", &expected.extra, text_map(&found.extra)),
    ];
    for (name, expected, found) in pairs {
        match json::to_value(expected) {
            Ok(expected) if json::same(&expected, &found) => {}
            Ok(_) => row.deviates(format!("{what}: {name} is {found:?}, expected {expected}")),
            Err(error) => row.deviates(format!("{what}: {name} in the manifest: {error}")),
        }
    }
    let (mut keys, mut names) = (expected.reserved_keys.clone(), found.reserved.keys().cloned().collect::<Vec<_>>());
    keys.sort();
    names.sort();
    if keys != names {
        row.deviates(format!("{what}: _reserved_ has {names:?}, expected {keys:?}"));
    }
}

/// Descriptor fields as the manifest lists them.
pub fn check_descriptor(expected: &Object, found: &DataObjectDescriptor, what: &str, row: &mut Row) {
    row.equal(&format!("{what}: type"), expected.r#type.as_str(), &found.obj_type);
    row.equal(&format!("{what}: dtype"), expected.dtype.as_str(), found.dtype.name());
    row.equal(&format!("{what}: byte_order"), expected.byte_order.as_str(), found.byte_order.name());
    row.equal(&format!("{what}: encoding"), expected.encoding.as_str(), &found.encoding);
    row.equal(&format!("{what}: filter"), expected.filter.as_str(), &found.filter);
    row.equal(&format!("{what}: compression"), expected.compression.as_str(), &found.compression);
    if json::unsigned(&expected.ndim) != Some(found.ndim) {
        row.deviates(format!("{what}: ndim is {}, expected {}", found.ndim, expected.ndim));
    }
    for (name, expected, found) in
        [("shape", &expected.shape, &found.shape), ("strides", &expected.strides, &found.strides)]
    {
        if json::unsigned_list(expected).as_ref() != Some(found) {
            row.deviates(format!("{what}: {name} is {found:?}, expected {expected}"));
        }
    }
    let params =
        Value::Map(found.params.iter().map(|(key, value)| (Value::from(key.as_str()), value.clone())).collect());
    match json::to_value(&expected.params) {
        Ok(expected) if json::same(&expected, &params) => {}
        _ => row.deviates(format!("{what}: params are {params:?}, expected {}", expected.params)),
    }
}

fn check_bytes(expected: &Object, descriptor: &DataObjectDescriptor, bytes: &[u8], what: &str, row: &mut Row) {
    row.equal(&format!("{what}: decoded bytes"), &expected.decoded_nbytes, &bytes.len());
    if sha256(bytes) != expected.decoded_le_sha256 {
        row.deviates(format!("{what}: decoded to {}", short(bytes)));
    }
    if let Some(hex) = &expected.decoded_le_hex
        && unhex(hex).as_deref() != Ok(bytes)
    {
        row.deviates(format!("{what}: decoded to {}, expected {hex}", short(bytes)));
    }
    if let Some(values) = &expected.values
        && let Err(difference) = elements::compare(descriptor.dtype, bytes, values)
    {
        row.deviates(format!("{what}: {difference}"));
    }
}

fn check_scan(manifest: &Manifest, vector: &Vector, bytes: &[u8], row: &mut Row) {
    let found: Vec<(u64, u64)> = scan(bytes).into_iter().map(|span| (span.start, span.len())).collect();
    // A note with pairs in it recommends them instead of what the reference found.
    let recommended = if vector.policy == Policy::Free { pairs(&vector.note) } else { Vec::new() };
    let better = !recommended.is_empty() && found == recommended;
    if found != vector.scan && !better {
        row.deviates(format!("scan found {found:?}, expected {:?}", vector.scan));
    }
    let Some(in_file) = row.accept("scan_file", scan_file(manifest.folder.join(&vector.file))) else { return };
    let in_file: Vec<(u64, u64)> = in_file.into_iter().map(|span| (span.start, span.len())).collect();
    if in_file != found {
        row.deviates(format!("scan_file found {in_file:?}, scan found {found:?}"));
    }
    let lengths: Vec<u64> = in_file.iter().map(|(_, length)| *length).collect();
    if lengths != vector.file_message_lengths && !better {
        row.deviates(format!("lengths found {lengths:?}, expected {:?}", vector.file_message_lengths));
    }
}

/// The `(a,b)` pairs in a text.
fn pairs(text: &str) -> Vec<(u64, u64)> {
    let pair = |part: &str| {
        let (first, second) = part.split_once(')')?.0.split_once(',')?;
        Some((first.trim().parse().ok()?, second.trim().parse().ok()?))
    };
    text.split('(').skip(1).filter_map(pair).collect()
}

fn check_layout(vector: &Vector, bytes: &[u8], row: &mut Row) {
    if vector.preamble.is_none() && vector.postamble.is_none() && vector.frames.is_none() {
        return;
    }
    let outline = match Outline::of(bytes, &fw_bytes::Limits::default()) {
        Ok(outline) => outline,
        // Broken messages have a layout on record and none for a decoder.
        Err(_) if vector.group == Group::Malformed || vector.policy != Policy::Must => return,
        Err(error) => return row.deviates(format!("layout: {error}")),
    };
    if let Some(expected) = &vector.preamble {
        let found = &outline.preamble;
        row.equal("preamble version", &expected.version, &3);
        row.equal("preamble flags", &expected.flags, &found.flags.0);
        row.equal("preamble reserved", &expected.reserved, &found.reserved);
        check_length("preamble", &expected.total_length, found.total_length, row);
    }
    if let Some(expected) = &vector.postamble {
        check_length("postamble", &expected.total_length, outline.postamble.total_length, row);
        if json::unsigned(&expected.first_footer_offset) != Some(outline.postamble.first_footer_offset) {
            row.deviates(format!("first footer offset is {}", outline.postamble.first_footer_offset));
        }
    }
    if let Some(expected) = &vector.frames {
        check_frames(expected, &outline, vector.policy, row);
    }
}

fn check_length(what: &str, expected: &Json, found: Option<u64>, row: &mut Row) {
    if json::unsigned(expected) != Some(found.unwrap_or(0)) {
        row.deviates(format!("{what}: total length is {found:?}, expected {expected}"));
    }
}

fn check_frames(expected: &[Frame], outline: &Outline, policy: Policy, row: &mut Row) {
    let objects = outline.objects.iter().flat_map(|object| object.preceder.into_iter().chain([object.frame]));
    let mut found: Vec<_> = outline
        .others
        .iter()
        .copied()
        .chain(objects)
        .map(|frame| {
            let header = frame.header();
            (frame.start(), header.frame_type.0, header.version, header.flags.0, header.length)
        })
        .collect();
    found.sort_unstable();
    let expected: Vec<_> =
        expected.iter().map(|frame| (frame.offset, frame.r#type, frame.version, frame.flags, frame.length)).collect();
    if found != expected && policy == Policy::Must {
        row.deviates(format!("frames (offset, type, version, flags, length) are {found:?}, expected {expected:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_a_note() {
        assert_eq!(pairs("walking yields (0,592),(592, 552)"), [(0, 592), (592, 552)]);
        assert!(pairs("Framing (or not) is acceptable").is_empty());
    }
}
