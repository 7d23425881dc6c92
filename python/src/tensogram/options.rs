//! How to read and how to write, from keywords.

use framewright::tensogram::{AggregateHash, DecodeOptions, EncodeOptions, MaskMethod, ValidateMode, ValidateOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Options of encoding functions: the digest and where digests are gathered, whether NaN and infinities are allowed, the methods of
/// their masks (NaN, +inf, -inf) and the largest mask that is stored as it is, and the number of threads.
///
/// # Errors
/// `ValueError` for a name that is not known.
pub(super) fn encode_options(
    [hash, aggregate]: [Option<&str>; 2],
    [allow_nan, allow_inf]: [bool; 2],
    [nan, pos_inf, neg_inf]: [Option<&str>; 3],
    small_mask_threshold_bytes: Option<u64>,
    threads: usize,
) -> PyResult<EncodeOptions> {
    let defaults = EncodeOptions::default();
    Ok(EncodeOptions {
        hashing: hashing(hash)?,
        aggregate_hash: aggregate_hash(aggregate)?,
        allow_nan,
        allow_inf,
        nan_mask_method: mask_method(nan, defaults.nan_mask_method)?,
        pos_inf_mask_method: mask_method(pos_inf, defaults.pos_inf_mask_method)?,
        neg_inf_mask_method: mask_method(neg_inf, defaults.neg_inf_mask_method)?,
        small_mask_threshold_bytes: small_mask_threshold_bytes.unwrap_or(defaults.small_mask_threshold_bytes),
        threads,
        provenance: None,
    })
}

/// Options of reading functions.
pub(super) fn decode_options(
    native_byte_order: bool,
    threads: usize,
    restore: bool,
    verify_hash: bool,
) -> DecodeOptions {
    DecodeOptions { native_byte_order, restore_non_finite: restore, verify_hash, threads, ..DecodeOptions::default() }
}

/// Options of validating functions.
///
/// # Errors
/// `ValueError` for a level that is not known.
pub(super) fn validate_options(level: &str, canonical: bool) -> PyResult<ValidateOptions> {
    let mode = match level {
        "quick" => ValidateMode::Quick,
        "default" => ValidateMode::Default,
        "decode" => ValidateMode::Decode,
        "checksum" => ValidateMode::Checksum,
        "full" => ValidateMode::Full,
        _ => {
            // The words of the reference package, which has no level `decode`.
            let words = "expected one of: quick, default, checksum, full";
            return Err(PyValueError::new_err(format!("unknown validation level: '{level}', {words}")));
        }
    };
    Ok(ValidateOptions { canonical, ..ValidateOptions::mode(mode) })
}

/// Whether digests are written.
///
/// # Errors
/// `ValueError` for an algorithm that is not known.
pub(super) fn hashing(name: Option<&str>) -> PyResult<bool> {
    match name {
        Some("xxh3") => Ok(true),
        None | Some("none") => Ok(false),
        Some(other) => Err(PyValueError::new_err(format!("unknown hash type: {other}; expected \"xxh3\" or \"none\""))),
    }
}

fn mask_method(name: Option<&str>, default: MaskMethod) -> PyResult<MaskMethod> {
    let Some(name) = name else { return Ok(default) };
    MaskMethod::from_name(name).ok_or_else(|| {
        let known = "\"none\" | \"rle\" | \"roaring\" | \"lz4\" | \"zstd\" | \"blosc2\"";
        PyValueError::new_err(format!("unknown mask method \"{name}\" (expected {known})"))
    })
}

fn aggregate_hash(name: Option<&str>) -> PyResult<AggregateHash> {
    Ok(match name {
        None | Some("auto") => AggregateHash::Auto,
        Some("none") => AggregateHash::None,
        Some("header") => AggregateHash::Header,
        Some("footer") => AggregateHash::Footer,
        Some("both") => AggregateHash::Both,
        Some(other) => {
            let known = "'auto', 'none', 'header', 'footer', 'both'";
            return Err(PyValueError::new_err(format!(
                "unknown aggregate_hash policy \"{other}\"; expected one of: {known}"
            )));
        }
    })
}
