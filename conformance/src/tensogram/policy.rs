//! Which outcomes a vector allows.

use fw_tensogram::TensogramError;

use super::model::{Outcome, Policy};
use crate::row::Row;

/// The classes of errors (TG-16), as manifests name them.
const CLASSES: &[&str] =
    &["Framing", "Metadata", "Encoding", "Compression", "Object", "HashMismatch", "MissingHash", "Io"];

/// Compares what a call yielded with what was recorded, as far as the policy asks. Values are compared by `same`.
pub fn judge<T>(
    row: &mut Row,
    what: &str,
    (policy, note): (Policy, &str),
    recorded: &Outcome,
    found: Result<T, TensogramError>,
    same: impl FnOnce(&mut Row, T),
) {
    match (policy, found) {
        (Policy::Free, _) | (Policy::MustError, Err(_)) => {}
        (Policy::MustError, Ok(_)) => row.deviates(format!("{what}: succeeded, an error is required")),
        (Policy::Must | Policy::StricterOk, Ok(found)) if recorded.ok => same(row, found),
        (Policy::Must | Policy::StricterOk, Ok(_)) => {
            let expected = recorded.error.as_deref().unwrap_or("an error");
            row.deviates(format!("{what}: succeeded, expected {expected}"));
        }
        (Policy::StricterOk, Err(error)) if acceptable(note, error.class()) => {}
        (_, Err(error)) => judge_error(row, what, recorded, &error),
    }
}

fn judge_error(row: &mut Row, what: &str, recorded: &Outcome, error: &TensogramError) {
    if recorded.ok {
        row.deviates(format!("{what}: failed with {}: {error}", error.class()));
        return;
    }
    let class = recorded.error.as_deref().unwrap_or("unspecified");
    if class != "unspecified" && class != error.class() {
        row.deviates(format!("{what}: expected {class}, found {}: {error}", error.class()));
    }
    if let Some(expected) = recorded.object_index
        && object_index(error) != Some(expected)
    {
        row.deviates(format!("{what}: expected object {expected}, found {:?}", object_index(error)));
    }
}

/// Whether the note allows this class: the ones it names, or any when it names none. A note that is about encoders
/// allows a decoder nothing.
pub fn acceptable(note: &str, class: &str) -> bool {
    if note.contains("must still read") {
        return false;
    }
    let mut named = CLASSES.iter().filter(|class| note.contains(**class)).peekable();
    named.peek().is_none() || named.any(|named| *named == class)
}

fn object_index(error: &TensogramError) -> Option<u64> {
    match error {
        TensogramError::HashMismatch { object_index, .. } => object_index.map(|index| index as u64),
        TensogramError::MissingHash { object_index, .. } => Some(*object_index as u64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_the_classes_it_allows() {
        assert!(acceptable("Framing or Metadata error is acceptable", "Metadata"));
        assert!(!acceptable("Framing or Metadata error is acceptable", "Encoding"));
        assert!(acceptable("not used by decode", "Framing"));
        assert!(!acceptable("an encoder should refuse this (Metadata); a decoder must still read it", "Metadata"));
    }
}
