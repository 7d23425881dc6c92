//! How to read and how to write, from keywords.

use framewright::tensogram::{AggregateHash, DecodeOptions, EncodeOptions, MaskMethod, ValidateMode, ValidateOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The keywords of encoding functions.
pub(super) struct EncodeKeywords<'a> {
    pub(super) hash: Option<&'a str>,
    pub(super) threads: usize,
    pub(super) allow_nan: bool,
    pub(super) allow_inf: bool,
    pub(super) nan_mask_method: Option<&'a str>,
    pub(super) pos_inf_mask_method: Option<&'a str>,
    pub(super) neg_inf_mask_method: Option<&'a str>,
    pub(super) small_mask_threshold_bytes: Option<u64>,
    pub(super) aggregate_hash: Option<&'a str>,
}

impl EncodeKeywords<'_> {
    /// # Errors
    /// `ValueError` for a name that is not known.
    pub(super) fn options(&self) -> PyResult<EncodeOptions> {
        let defaults = EncodeOptions::default();
        Ok(EncodeOptions {
            hashing: hashing(self.hash)?,
            aggregate_hash: aggregate_hash(self.aggregate_hash)?,
            allow_nan: self.allow_nan,
            allow_inf: self.allow_inf,
            nan_mask_method: mask_method(self.nan_mask_method, defaults.nan_mask_method)?,
            pos_inf_mask_method: mask_method(self.pos_inf_mask_method, defaults.pos_inf_mask_method)?,
            neg_inf_mask_method: mask_method(self.neg_inf_mask_method, defaults.neg_inf_mask_method)?,
            small_mask_threshold_bytes: self.small_mask_threshold_bytes.unwrap_or(defaults.small_mask_threshold_bytes),
            threads: self.threads,
            provenance: None,
        })
    }
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
        "checksum" => ValidateMode::Checksum,
        "full" => ValidateMode::Full,
        _ => {
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
