//! Positions of the objects of a message (TG-9.1).

use super::cbor::{Value, read_value, write_array_head, write_map_head, write_text, write_unsigned};
use super::metadata::check_len;
use crate::error::{Fault, Result, TensogramError};
use fw_bytes::Limits;

/// Where each data object frame begins, and how long it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Starts, from the first byte of the message.
    pub offsets: Vec<u64>,
    /// Frame lengths, padding excluded.
    pub lengths: Vec<u64>,
}

impl Index {
    /// Reads the body of an index frame, which stands at absolute position `at`.
    ///
    /// # Errors
    /// Metadata errors: not a map with text keys, lists of different lengths, entries that are no unsigned integers.
    pub fn from_cbor(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self> {
        check_len(bytes.len(), at, limits)?;
        let Value::Map(entries) = read_value(bytes, at, limits.depth)? else { return Err(wrong("a map", at)) };
        let mut index = Self::default();
        for (key, value) in &entries {
            match key.as_text() {
                Some("offsets") => index.offsets = numbers(value, at)?,
                Some("lengths") => index.lengths = numbers(value, at)?,
                Some(_) => {}
                None => return Err(wrong("text keys", at)),
            }
        }
        if index.offsets.len() != index.lengths.len() {
            let message = format!("{} offsets and {} lengths", index.offsets.len(), index.lengths.len());
            return Err(TensogramError::Metadata(Fault::format("index_cbor_parse_failed", message).at(at)));
        }
        Ok(index)
    }

    /// The canonical CBOR.
    pub fn to_cbor(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + self.offsets.len() * 10);
        write_map_head(&mut out, 2);
        for (key, numbers) in [("lengths", &self.lengths), ("offsets", &self.offsets)] {
            write_text(&mut out, key);
            write_array_head(&mut out, numbers.len());
            numbers.iter().for_each(|number| write_unsigned(&mut out, *number));
        }
        out
    }
}

/// Tagged integers are refused here, unlike in descriptors.
fn numbers(value: &Value, at: u64) -> Result<Vec<u64>> {
    let Value::Array(items) = value else { return Err(wrong("an array", at)) };
    items
        .iter()
        .map(|item| match item {
            Value::Integer(number) => u64::try_from(*number).map_err(|_| wrong("unsigned 64-bit integers", at)),
            _ => Err(wrong("unsigned 64-bit integers", at)),
        })
        .collect()
}

fn wrong(expected: &str, at: u64) -> TensogramError {
    let message = format!("index: expected {expected}");
    TensogramError::Metadata(Fault::format("index_cbor_parse_failed", message).at(at)).on("index")
}
