//! Calls for one object or some ranges.

use fw_tensogram::{DecodeOptions, decode_object, decode_range};

use super::json;
use super::model::{AccessCase, Policy};
use super::policy::judge;
use crate::digest::{hex, sha256};
use crate::discover::Manifest;
use crate::row::Row;

/// Checks one call.
pub fn check(manifest: &Manifest, case: &AccessCase, row: &mut Row) {
    let Some(bytes) = row.accept("file", manifest.file(&case.file)) else { return };
    let defaults = DecodeOptions::default();
    let options = DecodeOptions {
        native_byte_order: case.options.native_byte_order.unwrap_or(defaults.native_byte_order),
        restore_non_finite: case.options.restore_non_finite.unwrap_or(defaults.restore_non_finite),
        verify_hash: case.options.verify_hash.unwrap_or(defaults.verify_hash),
        ..defaults
    };
    match case.call.as_str() {
        "decode_object" => {
            let found = decode_object(&bytes, case.object_index, &options);
            judge(row, "decode_object", (Policy::Must, ""), &case.expect, found, |row, found| {
                match &case.expect.decoded_le_sha256 {
                    Some(expected) => row.equal("decoded bytes", expected.as_str(), &sha256(&found.bytes)),
                    None => row.deviates("the manifest gives no digest to compare"),
                }
            });
        }
        "decode_range" => {
            let pair = |(first, count): &(_, _)| Some((json::unsigned(first)?, json::unsigned(count)?));
            let Some(ranges) = case.ranges.iter().map(pair).collect::<Option<Vec<_>>>() else {
                return row.deviates("a range that is no pair of counts");
            };
            let found = decode_range(&bytes, case.object_index, &ranges, &options);
            judge(row, "decode_range", (Policy::Must, ""), &case.expect, found, |row, found| {
                let found: Vec<String> = found.parts.iter().map(|part| hex(part)).collect();
                if case.expect.parts_hex.as_ref() != Some(&found) {
                    row.deviates(format!("parts are {found:?}, expected {:?}", case.expect.parts_hex));
                }
            });
        }
        other => row.deviates(format!("call `{other}` not understood")),
    }
}
