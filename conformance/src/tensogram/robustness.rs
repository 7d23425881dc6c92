//! Messages that attacks and mutations made, with the answer that every reader must give.

use fw_bytes::Span;
use fw_tensogram::frame::scan::{ScanDirection, ScanOptions};
use fw_tensogram::{
    DecodeOptions, MessageState, RecoverOptions, StreamReader, ValidateMode, ValidateOptions, decode, recover,
    scan_with, validate_buffer,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use std::collections::BTreeMap;

use super::parse;
use crate::digest::sha256;
use crate::discover::{Companions, Manifest};
use crate::row::{Row, Rows};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    file: String,
    sha256: String,
    #[serde(rename = "how")]
    _how: IgnoredAny,
    /// The messages of the file, `[offset, length]`, whichever end they are looked for from.
    scan: Vec<[u64; 2]>,
    /// What decoding the first message gives: `ok`, or the code of the error.
    decode: String,
    /// The same with digests compared.
    verify: String,
    /// The errors of validation by mode, each code once.
    validate: BTreeMap<String, Vec<String>>,
    /// Messages that recovery calls intact.
    intact: usize,
}

/// Runs the manifest.
pub fn run(manifest: &Manifest, rows: &mut Rows) -> Companions {
    for (number, entry) in manifest.json["vectors"].as_array().into_iter().flatten().cloned().enumerate() {
        let name = entry["file"].as_str().map_or_else(|| number.to_string(), ToOwned::to_owned);
        rows.check(&format!("robustness/{name}"), |row| {
            if let Some(vector) = parse(row, entry) {
                check(manifest, &vector, row);
            }
        });
    }
    Companions::new()
}

fn check(manifest: &Manifest, vector: &Vector, row: &mut Row) {
    let Some(bytes) = row.accept("file", manifest.file(&vector.file)) else { return };
    row.equal("sha256", vector.sha256.as_str(), &sha256(&bytes));
    for direction in [ScanDirection::Forward, ScanDirection::Backward, ScanDirection::Bidirectional] {
        let found = scan_with(&bytes, &ScanOptions { direction, ..ScanOptions::default() });
        let found: Vec<_> = found.iter().map(|span| [span.start, span.len()]).collect();
        if found != vector.scan {
            row.deviates(format!("scan {direction:?}: {found:?}, expected {:?}", vector.scan));
        }
    }
    if let Some([start, len]) = vector.scan.first() {
        let message = Span::sized(*start, *len).and_then(|span| span.slice_of(&bytes, 0)).unwrap_or_default();
        let code = |options: &DecodeOptions| decode(message, options).map_or_else(|error| error.code(), |_| "ok");
        row.equal("decode", vector.decode.as_str(), code(&DecodeOptions::default()));
        let streamed = StreamReader::new(message, DecodeOptions::default()).all(|event| event.is_ok());
        row.equal("stream", &(vector.decode == "ok"), &streamed);
        row.equal("verify", vector.verify.as_str(), code(&DecodeOptions::default().with_verify_hash()));
    }
    for (mode, expected) in &vector.validate {
        let Some(known) = mode_of(mode) else {
            row.deviates(format!("mode {mode} not understood"));
            continue;
        };
        let report = validate_buffer(&bytes, &ValidateOptions::mode(known));
        let errors = report.findings().filter(|finding| finding.severity == fw_report::Severity::Error);
        let mut found: Vec<String> = errors.map(|finding| finding.code.to_string()).collect();
        found.sort();
        found.dedup();
        if found != *expected {
            row.deviates(format!("validate {mode}: {found:?}, expected {expected:?}"));
        }
    }
    let Some((_, recovery)) = row.accept("recover", recover(&bytes, &RecoverOptions::default())) else { return };
    let intact = recovery.messages.iter().filter(|message| message.state == MessageState::Intact);
    for message in intact.clone() {
        let copied = message.source.slice_of(&bytes, 0).unwrap_or_default();
        if !validate_buffer(copied, &ValidateOptions::mode(ValidateMode::Decode)).is_ok() {
            row.deviates(format!("recovery calls the message at {} intact, validation does not", message.source));
        }
    }
    row.equal("intact", &vector.intact, &intact.count());
}

fn mode_of(name: &str) -> Option<ValidateMode> {
    Some(match name {
        "quick" => ValidateMode::Quick,
        "checksum" => ValidateMode::Checksum,
        "default" => ValidateMode::Default,
        "decode" => ValidateMode::Decode,
        "full" => ValidateMode::Full,
        _ => return None,
    })
}

/// Whether this is the manifest.
pub fn recognises(json: &Json) -> bool {
    json["format"] == "tensogram-robustness/1"
}
