//! What a message says about itself and about each of its objects (TG-6).

use super::cbor::{Value, encode, read_value};
use crate::error::{Fault, Result, TensogramError};
use fw_bytes::Limits;
use std::collections::BTreeMap;

/// Free-form metadata: text keys, any values.
pub type MetadataMap = BTreeMap<String, Value>;

/// The key under which encoders, and only they, write.
pub const RESERVED: &str = "_reserved_";
const EXTRA: &str = "_extra_";
const BASE: &str = "base";

/// Metadata of a whole message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GlobalMetadata {
    /// One entry per object.
    pub base: Vec<MetadataMap>,
    /// Provenance, written by the encoder.
    pub reserved: MetadataMap,
    /// Message-level data of the client.
    pub extra: MetadataMap,
}

impl GlobalMetadata {
    /// Reads the body of a metadata frame, which stands at absolute position `at`.
    ///
    /// # Errors
    /// Metadata errors, naming the key that does not fit.
    pub fn from_cbor(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self> {
        check_len(bytes.len(), at, limits)?;
        Self::from_value(read_value(bytes, at, limits.depth)?, at)
    }

    /// Metadata from its value, which stands at `at`.
    pub(super) fn from_value(value: Value, at: u64) -> Result<Self> {
        let Value::Map(entries) = value else { return Err(mismatch("metadata", "a map", at)) };
        let mut metadata = Self::default();
        let mut loose = MetadataMap::new();
        for (key, value) in entries {
            let Value::Text(key) = key else { return Err(mismatch("metadata key", "text", at)) };
            match key.as_str() {
                BASE => metadata.base = base_entries(value, at)?,
                EXTRA => metadata.extra = text_map(value, EXTRA, at)?,
                RESERVED => metadata.reserved = text_map(value, RESERVED, at)?,
                // Other producers, and older ones, put their keys at the top.
                _ => drop(loose.insert(key, value)),
            }
        }
        for (key, value) in loose {
            if metadata.extra.insert(key.clone(), value).is_some() {
                let message = format!("key {key:?} is both at the top level and in {EXTRA}");
                return Err(TensogramError::Metadata(Fault::format("metadata_cbor_parse_failed", message).at(at)));
            }
        }
        Ok(metadata)
    }

    /// The canonical CBOR; empty parts are left out.
    pub fn to_cbor(&self) -> Vec<u8> {
        encode(&self.to_value())
    }

    /// The same as a value.
    pub(super) fn to_value(&self) -> Value {
        let mut entries = Vec::new();
        if !self.base.is_empty() {
            entries.push((Value::from(BASE), Value::Array(self.base.iter().map(map_value).collect())));
        }
        if !self.extra.is_empty() {
            entries.push((Value::from(EXTRA), map_value(&self.extra)));
        }
        if !self.reserved.is_empty() {
            entries.push((Value::from(RESERVED), map_value(&self.reserved)));
        }
        Value::Map(entries)
    }

    /// Refuses what only encoders may write: message-level provenance and `_reserved_` inside a base entry; and
    /// integers that CBOR cannot hold.
    ///
    /// # Errors
    /// A metadata error naming the place.
    pub(crate) fn check_client(&self) -> Result<()> {
        if !self.reserved.is_empty() {
            return Err(reserved_misuse(RESERVED));
        }
        for (index, entry) in self.base.iter().enumerate() {
            check_client_entry(entry).map_err(|error| error.on(format!("base[{index}]")))?;
        }
        check_map(&self.extra).map_err(|error| error.on(EXTRA))
    }
}

/// Refuses `_reserved_` and unwritable integers in one base entry.
pub(crate) fn check_client_entry(entry: &MetadataMap) -> Result<()> {
    if entry.contains_key(RESERVED) {
        return Err(reserved_misuse(RESERVED));
    }
    check_map(entry)
}

/// Refuses integers that CBOR cannot hold.
pub(crate) fn check_map(map: &MetadataMap) -> Result<()> {
    map.iter().try_for_each(|(key, value)| check_value(value).map_err(|error| error.on(key)))
}

fn check_value(value: &Value) -> Result<()> {
    match value {
        Value::Integer(number) if *number > i128::from(u64::MAX) || *number < -1 - i128::from(u64::MAX) => {
            let message = format!("integer {number} is outside -2^64..2^64-1, which is all CBOR can hold");
            Err(TensogramError::Metadata(Fault::misuse("integer_out_of_range", message)))
        }
        Value::Array(items) => items.iter().try_for_each(check_value),
        Value::Map(entries) => {
            entries.iter().try_for_each(|(key, value)| check_value(key).and_then(|()| check_value(value)))
        }
        Value::Tag(_, inner) => check_value(inner),
        _ => Ok(()),
    }
}

pub(super) fn check_len(len: usize, at: u64, limits: &Limits) -> Result<()> {
    if len as u64 <= limits.metadata_len {
        return Ok(());
    }
    let message = format!("metadata of {len} bytes is above the limit of {}", limits.metadata_len);
    Err(TensogramError::Metadata(Fault::limit("limit_metadata_len", message).at(at)))
}

fn map_value(map: &MetadataMap) -> Value {
    // The writer sorts keys; the order here does not matter.
    Value::Map(map.iter().map(|(key, value)| (Value::Text(key.clone()), value.clone())).collect())
}

fn base_entries(value: Value, at: u64) -> Result<Vec<MetadataMap>> {
    let Value::Array(entries) = value else { return Err(mismatch(BASE, "an array of maps", at)) };
    entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| text_map(entry, BASE, at).map_err(|error| error.on(format!("base[{index}]"))))
        .collect()
}

pub(super) fn text_map(value: Value, what: &str, at: u64) -> Result<MetadataMap> {
    let Value::Map(entries) = value else { return Err(mismatch(what, "a map", at)) };
    entries
        .into_iter()
        .map(|(key, value)| match key {
            Value::Text(key) => Ok((key, value)),
            other => Err(mismatch(&format!("key of {what}, {}", other.kind()), "text", at)),
        })
        .collect()
}

pub(super) fn mismatch(what: &str, expected: &str, at: u64) -> TensogramError {
    let message = format!("{what}: expected {expected}");
    TensogramError::Metadata(Fault::format("metadata_cbor_parse_failed", message).at(at))
}

fn reserved_misuse(key: &str) -> TensogramError {
    TensogramError::Metadata(Fault::misuse("reserved_key", format!("{key} is written by the encoder, not by clients")))
}
