//! Is this the canonical form? And: make it so.

use super::{Value, encode, read_value};
use crate::error::{Fault, Result, TensogramError};

/// Puts every map into canonical key order; of equal keys the last wins.
///
/// The order is the bytewise order of the encoded keys, recursively (TG-5.1).
pub fn canonicalize(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(canonicalize),
        Value::Tag(_, inner) => canonicalize(inner),
        Value::Map(entries) => {
            for (key, value) in entries.iter_mut() {
                canonicalize(key);
                canonicalize(value);
            }
            sort_entries(entries);
        }
        _ => {}
    }
}

/// Checks that `bytes` are exactly one item in canonical form: key order, shortest heads, narrowest floats, definite
/// lengths, no duplicate keys, nothing behind the item.
///
/// # Errors
/// A metadata error at the first byte that differs from the canonical form, or when the bytes are not well-formed.
pub fn verify_canonical_cbor(bytes: &[u8]) -> Result<()> {
    let canonical = encode(&read_value(bytes, 0, 256)?);
    if canonical == bytes {
        return Ok(());
    }
    let at = canonical.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    let show = |bytes: &[u8]| bytes.get(at).map_or_else(|| "the end".to_owned(), |byte| format!("0x{byte:02x}"));
    let message = format!("CBOR is not canonical: expected {}, found {}", show(&canonical), show(bytes));
    Err(TensogramError::Metadata(Fault::format("cbor_non_canonical", message).at(at as u64)))
}

/// Puts the entries of one map into canonical order; of equal keys the last wins.
pub(super) fn sort_entries(entries: &mut Vec<(Value, Value)>) {
    let sorted = entries.windows(2).all(|pair| matches!(pair, [(a, _), (b, _)] if key_before(a, b)));
    if sorted {
        return;
    }
    let mut keyed: Vec<(Vec<u8>, (Value, Value))> = entries.drain(..).map(|entry| (encode(&entry.0), entry)).collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed.reverse();
    keyed.dedup_by(|(a, _), (b, _)| a == b);
    entries.extend(keyed.into_iter().rev().map(|(_, entry)| entry));
}

/// Whether key `a` comes strictly before key `b`; text keys, by far the most common, need no encoding.
fn key_before(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => (a.len(), a.as_bytes()) < (b.len(), b.as_bytes()),
        _ => encode(a) < encode(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_from_the_canonical_form_are_found() {
        for (bytes, ok) in [
            (&[0xa0][..], true),
            (&[0x18, 0x05], false),                         // over-long integer
            (&[0xfb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0], false), // 1.0 as a double
            (&[0x9f, 0xff], false),                         // indefinite length
            (&[0xa2, 0x61, b'b', 1, 0x61, b'a', 2], false), // key order
            (&[0xa2, 0x61, b'a', 1, 0x61, b'a', 2], false), // duplicate key
            (&[0xa2, 0x61, b'a', 1, 0x61, b'b', 2], true),
            (&[0x01, 0x02], false), // trailing byte
        ] {
            assert_eq!(verify_canonical_cbor(bytes).is_ok(), ok, "{bytes:02x?}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |n: usize| [vec![0x81; n - 1], vec![0x80]].concat();
        assert!(read_value(&deep(256), 0, 256).is_ok());
        assert_eq!(read_value(&deep(257), 0, 256).unwrap_err().class(), "Metadata");
        assert!(read_value(&[0x81; 100_000], 0, 256).is_err());
        assert!(read_value(&[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 0, 256).is_err());
    }
}
