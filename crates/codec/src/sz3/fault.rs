//! Turning reading faults into codec errors.

use super::NAME;
use crate::CodecError;
use fw_bytes::{Detail, ParseError};

/// A fault in the payload itself: its position is a payload byte.
pub(super) fn outer(error: ParseError) -> CodecError {
    CodecError::format(NAME, error.code, describe(&error)).at(error.at)
}

/// A fault in the part that was compressed with zstd: its position counts from the start of the unpacked bytes.
pub(super) fn inner(error: ParseError) -> CodecError {
    let place = format!("{} at byte {} (0x{:x}) of the unpacked part", describe(&error), error.at, error.at);
    CodecError::format(NAME, error.code, place)
}

/// A value in the payload that the format does not allow.
pub(super) fn wrong(code: &'static str, what: &'static str, expected: Detail, found: Detail, at: u64) -> CodecError {
    outer(ParseError::value(code, what, expected, found, at))
}

/// A value in the unpacked part that the format does not allow.
pub(super) fn wrong_inside(
    code: &'static str,
    what: &'static str,
    expected: Detail,
    found: Detail,
    at: u64,
) -> CodecError {
    inner(ParseError::value(code, what, expected, found, at))
}

fn describe(error: &ParseError) -> String {
    match (error.expected, error.found) {
        (Detail::Bytes(need), Detail::Bytes(have)) => format!("need {need} bytes for {}, have {have}", error.what),
        (expected, found) => format!("{}: expected {expected}, found {found}", error.what),
    }
}

/// The stream ends before its values do.
#[cold]
pub(super) fn exhausted(what: &str) -> CodecError {
    CodecError::format(NAME, "values_exhausted", format!("the stream needs more {what} than it holds"))
}
