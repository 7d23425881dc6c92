//! What readers must refuse, and what they count while doing so.

use fw_dynamic::message_infos;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::readers::{Outcome, Seen, framing, read};
use crate::digest::hex;
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};
use crate::tensogram::parse;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    #[serde(rename = "n")]
    _n: IgnoredAny,
    #[serde(rename = "scenario")]
    _scenario: IgnoredAny,
    profile: String,
    file: String,
    hex: String,
    reader: String,
    /// The items in words.
    #[serde(rename = "require")]
    _require: IgnoredAny,
    #[serde(default)]
    chunks: Vec<usize>,
    items: Vec<Item>,
    remaining: Option<u64>,
    partial_size: Option<u64>,
    counters: Option<Counters>,
    schema: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    result: String,
    frame_size: u64,
    msg_id: Option<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counters {
    crc_failures: u32,
    sync_recoveries: u32,
    failed_bytes: u32,
    len_errors: u32,
    seq_gaps: u32,
}

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    for entry in manifest.json["scenarios"].as_array().into_iter().flatten() {
        rows.check(&format!("struct-frame/negative/{}", entry["n"]), |row| {
            let Some(scenario) = parse::<Scenario>(row, entry.clone()) else { return };
            let schema = scenario.schema.as_deref().or(manifest.json["schema"].as_str()).unwrap_or_default();
            let schema = fw_schema::check(manifest.folder.join(schema)).into_result();
            let Some(schema) = row.accept("schema", schema) else { return };
            let Some(framing) = framing(&scenario.profile, None, None) else { return row.deviates("unknown profile") };
            let Some(bytes) = row.accept(&scenario.file, manifest.file(&scenario.file)) else { return };
            row.equal("hex", &scenario.hex, &hex(&bytes));
            let chunks = if scenario.chunks.is_empty() { &[11][..] } else { &scenario.chunks };
            let outcome = read(framing, &message_infos(&schema), &bytes, chunks, 1 << 18, row);
            check(&scenario, &outcome, row);
        });
    }
    Companions::new()
}

fn check(scenario: &Scenario, outcome: &Outcome, row: &mut Row) {
    let words = |name: &str, size: u64, id: Option<u16>| match id {
        Some(id) => format!("{name} {size} of {id}"),
        None => format!("{name} {size}"),
    };
    let expected = scenario.items.iter().filter(|item| item.result != "SyncRecovery");
    let expected: Vec<String> = expected.map(|item| words(&item.result, item.frame_size, item.msg_id)).collect();
    let found = |events: &[Seen]| -> Vec<String> {
        let item = |event: &Seen| match event {
            Seen::Frame { id, size, .. } => Some(words("Valid", *size, Some(*id))),
            Seen::BadChecksum(size) => Some(words("CrcFailure", *size, None)),
            Seen::Skipped(_) | Seen::Truncated(_) => None,
        };
        events.iter().filter_map(item).collect()
    };
    let (before, after) = outcome.events.split_at(outcome.before_end.min(outcome.events.len()));
    row.equal("items", &expected.join(", "), &found(before).join(", "));
    // None of these inputs hides a good frame that the end of the input would bring to light.
    row.equal("items at the end", "", &found(after).join(", "));

    let by_byte = scenario.reader == "push_byte";
    let skipped = |event: &Seen| if let Seen::Skipped(size) = event { *size } else { 0 };
    let skipped = before.iter().map(skipped).sum::<u64>() + outcome.noise;
    if !by_byte {
        let recoveries = scenario.items.iter().filter(|item| item.result == "SyncRecovery");
        row.equal("bytes discarded", &recoveries.map(|item| item.frame_size).sum(), &skipped);
    }
    if let Some(expected) = scenario.remaining.or(scenario.partial_size) {
        row.equal("bytes of a partial frame", &expected, &outcome.partial);
    }
    if let Some(expected) = &scenario.counters {
        let counters = &outcome.counters;
        row.equal("crc_failures", &expected.crc_failures, &counters.crc_failures);
        row.equal("sync_recoveries", &expected.sync_recoveries, &counters.sync_recoveries);
        row.equal("failed_bytes", &expected.failed_bytes, &counters.failed_bytes);
        row.equal("len_errors", &expected.len_errors, &counters.len_errors);
        row.equal("seq_gaps", &expected.seq_gaps, &counters.seq_gaps);
    }
}
