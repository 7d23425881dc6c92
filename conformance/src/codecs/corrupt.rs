//! A damaged file: an error, or the right values, never anything between.

use std::collections::BTreeMap;
use std::time::Duration;

use fw_tensogram::{DecodeOptions, decode, decode_range};
use fw_tensor::DType;

use super::model::Corrupt;
use crate::digest::sha256;
use crate::discover::Manifest;
use crate::row::Row;

/// Elements that the range read asks for: 20 from the fifth.
const RANGE: (u64, u64) = (5, 20);

/// Checks a corrupt case.
pub fn check(manifest: &Manifest, case: &Corrupt, originals: &BTreeMap<String, Vec<String>>, row: &mut Row) {
    let Some(file) = row.accept("file", manifest.file(&case.file)) else { return };
    let time = Duration::from_secs(case.limits.max_seconds);
    // Converting saturates, which is all a bound needs.
    let heap = case.limits.max_extra_memory_bytes + (case.declared_decoded_len as usize).min(64 << 20);
    let options = DecodeOptions::default();

    let full = row.within("decode", heap, time, || decode(&file, &options));
    let full = full.map(|full| full.objects.into_iter().next().map(|object| object.bytes).unwrap_or_default());
    let same = |bytes: &[u8]| case.original_sha256_little.as_ref().is_some_and(|digest| *digest == sha256(bytes));
    let declared = |bytes: &[u8]| bytes.len() as f64 == case.declared_decoded_len;
    judge("decode", &case.full_decode, full.as_deref(), same, declared, row);

    let part = row.within("decode_range", heap, time, || decode_range(&file, 0, &[RANGE], &options));
    let part = part.map(|part| (part.descriptor.dtype, part.parts.into_iter().next().unwrap_or_default()));
    let original = Original { manifest, originals, digest: case.original_sha256_little.as_deref() };
    let dtype = part.as_ref().map_or(DType::UInt8, |(dtype, _)| *dtype);
    let same = |bytes: &[u8]| original.range(dtype).is_some_and(|expected| expected == bytes);
    let declared = |bytes: &[u8]| bytes.len() as u64 == RANGE.1 * dtype.bits() / 8;
    judge(
        "decode_range",
        &case.decode_range_5_20,
        part.as_ref().map(|(_, bytes)| bytes.as_slice()),
        same,
        declared,
        row,
    );

    match (case.verify_hash.as_deref(), decode(&file, &options.with_verify_hash())) {
        (None, _) => {}
        (Some("HashMismatch error"), Err(error)) if error.class() == "HashMismatch" => {}
        (Some(expected), Ok(_)) => row.deviates(format!("decode with hashes verified: succeeded, expected {expected}")),
        (Some(expected), Err(error)) => {
            row.deviates(format!("decode with hashes verified: {error}, expected {expected}"));
        }
    }
}

fn judge<E: std::fmt::Display>(
    what: &str,
    expected: &str,
    found: Result<&[u8], E>,
    same: impl Fn(&[u8]) -> bool,
    declared: impl Fn(&[u8]) -> bool,
    row: &mut Row,
) {
    let fine = match (expected, &found) {
        ("any", _) => true,
        ("error" | "error_or_same" | "error_or_declared_size" | "unsupported", Err(_)) => true,
        ("error", Ok(_)) | ("ok_same", Err(_)) => false,
        ("ok_same" | "error_or_same" | "unsupported", Ok(bytes)) => same(bytes),
        ("error_or_declared_size", Ok(bytes)) => declared(bytes),
        (other, _) => return row.deviates(format!("{what}: expectation `{other}` not understood")),
    };
    if !fine {
        let found = match &found {
            Ok(bytes) => format!("{} bytes", bytes.len()),
            Err(error) => error.to_string(),
        };
        row.deviates(format!("{what}: expected {expected}, found {found}"));
    }
}

/// The undamaged data, read from the valid case that decodes to it.
struct Original<'a> {
    manifest: &'a Manifest,
    originals: &'a BTreeMap<String, Vec<String>>,
    digest: Option<&'a str>,
}

impl Original<'_> {
    fn range(&self, dtype: DType) -> Option<Vec<u8>> {
        let bytes = self.originals.get(self.digest?)?.iter().find_map(|file| self.decoded(file))?;
        let width = (dtype.bits() / 8) as usize;
        bytes.get(RANGE.0 as usize * width..(RANGE.0 + RANGE.1) as usize * width).map(<[u8]>::to_vec)
    }

    /// What a file decodes to, when that is the original.
    fn decoded(&self, file: &str) -> Option<Vec<u8>> {
        let file = self.manifest.file(file).ok()?;
        let objects = decode(&file, &DecodeOptions::default()).ok()?.objects;
        let bytes = objects.into_iter().next()?.bytes;
        (self.digest == Some(sha256(&bytes).as_str())).then_some(bytes)
    }
}
