//! Streams with noise and damage: what must be delivered, and what may be besides.

use fw_dynamic::message_infos;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::readers::{Outcome, Seen, framing, read, read_chunks};
use crate::digest::hex;
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};
use crate::tensogram::parse;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(rename = "about")]
    _about: IgnoredAny,
    profile: String,
    file: String,
    length: usize,
    chunks: Chunks,
    buffer_size: usize,
    must_deliver: Vec<Delivery>,
    may_also_deliver: Vec<Delivery>,
    hex: Option<String>,
    /// Informative, says the manifest: its readers lose frames that ours deliver.
    #[serde(rename = "reference")]
    _reference: IgnoredAny,
}

/// How the stream is split.
#[derive(Deserialize)]
#[serde(untagged)]
enum Chunks {
    Lengths(Vec<usize>),
    Words(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Delivery {
    msg_id: u16,
    payload: String,
}

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    let schema = manifest.json["schema"].as_str().unwrap_or_default();
    let schema = fw_schema::check(manifest.folder.join(schema)).into_result();
    let infos = schema.map(|schema| message_infos(&schema)).map_err(|error| error.to_string());
    for entry in manifest.json["streams"].as_array().into_iter().flatten() {
        let id = format!("struct-frame/streams/{}", entry["id"].as_str().unwrap_or("without-name"));
        rows.check(&id, |row| {
            let Some(stream) = parse::<Stream>(row, entry.clone()) else { return };
            let Some(infos) = row.accept("schema", infos.clone()) else { return };
            let Some(framing) = framing(&stream.profile, None, None) else { return row.deviates("unknown profile") };
            let Some(bytes) = row.accept(&stream.file, manifest.file(&stream.file)) else { return };
            row.equal("length", &stream.length, &bytes.len());
            if let Some(expected) = &stream.hex {
                row.equal("hex", expected, &hex(&bytes));
            }
            let chunks = match &stream.chunks {
                Chunks::Lengths(lens) => lens.as_slice(),
                Chunks::Words(words) if words == "1-byte chunks" => &[1],
                Chunks::Words(words) => return row.deviates(format!("chunks `{words}` not understood")),
            };
            // With room enough every reader tells the same, and no intact frame is missing.
            check(&stream, &read(framing, &infos, &bytes, chunks, 1 << 18, row), Missing::None, row);
            // In the stated buffer, chunks and bytes agree with each other.
            let chunks = read_chunks(framing, &infos, &bytes, chunks, stream.buffer_size);
            let single = read_chunks(framing, &infos, &bytes, &[1], stream.buffer_size);
            if chunks.events != single.events || chunks.counters != single.counters {
                row.deviates(format!("in a small buffer {:?}, byte by byte {:?}", chunks.events, single.events));
            }
            check(&stream, &chunks, Missing::Optional, row);
        });
    }
    Companions::new()
}

/// Which intact frames may be missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    None,
    Optional,
}

/// Everything due comes in order; what comes besides is on the list of what may.
fn check(stream: &Stream, outcome: &Outcome, missing: Missing, row: &mut Row) {
    let delivered = outcome.events.iter().filter_map(|event| match event {
        Seen::Frame { id, payload, .. } => Some(Delivery { msg_id: *id, payload: hex(payload) }),
        _ => None,
    });
    let (mut due, mut optional) = (stream.must_deliver.as_slice(), stream.may_also_deliver.clone());
    let total = due.len() + optional.len();
    let mut count = 0;
    for delivery in delivered {
        count += 1;
        match due.split_first() {
            Some((first, rest)) if *first == delivery => due = rest,
            _ => match optional.iter().position(|other| *other == delivery) {
                Some(at) => drop(optional.remove(at)),
                None => row.deviates(format!("delivered {delivery:?}, which is not in the stream")),
            },
        }
    }
    if !due.is_empty() {
        row.deviates(format!("not delivered: {due:?}; events {:?}", outcome.events));
    }
    if missing == Missing::None {
        row.equal("frames", &total, &count);
    }
}
