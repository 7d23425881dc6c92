//! The JSON header, checked: no name twice, ranges that tile the data, sizes that match shapes.

use super::dtype::{safetensors_name, type_of};
use crate::ConvertError;
use crate::model::Entry;
use crate::report::{MAX_HEADER_LEN, SIZE_LEN};
use fw_bytes::Span;
use fw_tensor::DType;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

/// What a header says.
pub(super) struct Header {
    pub(super) entries: Vec<Entry>,
    pub(super) metadata: Option<BTreeMap<String, String>>,
    /// Keys of the metadata that appear more than once: the last value counts, as it does for other readers.
    pub(super) repeated: Vec<String>,
    pub(super) data_start: u64,
    /// Spaces at its end.
    pub(super) padding: u64,
}

/// Reads the header from the first bytes of a file: the length field and the header at least.
pub(super) fn parse(bytes: &[u8], file_len: u64) -> Result<Header, ConvertError> {
    let len = header_len(bytes, file_len)?;
    let json = bytes
        .get(SIZE_LEN as usize..)
        .and_then(|rest| rest.get(..usize::try_from(len).ok()?))
        .ok_or_else(|| ConvertError::format("invalid_header_length", "the header is truncated", SIZE_LEN))?;
    if json.first() != Some(&b'{') {
        return Err(ConvertError::format("invalid_header", "the header does not start with {", SIZE_LEN));
    }
    let raw: RawHeader = serde_json::from_slice(json).map_err(|error| {
        // Headers are one line; the column is the byte.
        let at = SIZE_LEN.saturating_add((error.column() as u64).saturating_sub(1));
        ConvertError::format("invalid_header", format!("the header is invalid: {error}"), at)
    })?;
    let data_start = SIZE_LEN.saturating_add(len);
    let entries = check(raw.tensors, data_start, file_len)?;
    let (metadata, repeated) =
        raw.metadata.map_or((None, Vec::new()), |held| (Some(held.texts), held.repeated.into_iter().collect()));
    let padding = json.iter().rev().take_while(|byte| **byte == b' ').count() as u64;
    Ok(Header { entries, metadata, repeated, data_start, padding })
}

/// The length field, checked against cap and file.
pub(super) fn header_len(bytes: &[u8], file_len: u64) -> Result<u64, ConvertError> {
    let Some(size) = bytes.first_chunk::<8>() else {
        return Err(ConvertError::format(
            "header_too_small",
            format!("need 8 bytes for the header size, have {}", bytes.len()),
            0,
        ));
    };
    let len = u64::from_le_bytes(*size);
    if len > MAX_HEADER_LEN {
        let message = format!("a header of {len} bytes, at most {MAX_HEADER_LEN} are allowed");
        return Err(ConvertError::format("header_too_large", message, 0));
    }
    if len > file_len.saturating_sub(SIZE_LEN) {
        let available = file_len.saturating_sub(SIZE_LEN);
        let message = format!("a header of {len} bytes, but only {available} bytes follow the size field");
        return Err(ConvertError::format("invalid_header_length", message, 0));
    }
    Ok(len)
}

fn check(tensors: Vec<(String, RawInfo)>, data_start: u64, file_len: u64) -> Result<Vec<Entry>, ConvertError> {
    let mut sorted = tensors;
    // Stable: empty tensors at one place keep the order of the header.
    sorted.sort_by_key(|(_, info)| info.data_offsets);
    let mut end = 0u64;
    let mut entries = Vec::with_capacity(sorted.len());
    for (name, info) in sorted {
        let (from, to) = info.data_offsets;
        if from != end || to < from {
            let message = format!("tensor {name:?} claims bytes {from}..{to} of the data, it must begin at {end}");
            return Err(ConvertError::format("invalid_offset", message, None));
        }
        let dtype = info.dtype.0.map_err(|unknown| {
            ConvertError::format("unknown_dtype", format!("tensor {name:?} has the unknown type {unknown:?}"), None)
        })?;
        let overflow =
            |_| ConvertError::format("shape_overflow", format!("the size of tensor {name:?} overflows"), None);
        let bits = u128::from(fw_tensor::element_count(&info.shape).map_err(overflow)?) * u128::from(dtype.bits());
        let found = u128::from(to.saturating_sub(from)) * 8;
        if bits != found {
            let type_name = safetensors_name(dtype).unwrap_or_default();
            let message = format!("tensor {name:?}, {type_name} {:?}, has {} bytes", info.shape, found / 8);
            return Err(ConvertError::format("tensor_size_mismatch", message, None));
        }
        end = to;
        let span = Span::new(data_start.saturating_add(from), data_start.saturating_add(to));
        entries.push(Entry::new(name, dtype, info.shape, Some(span)));
    }
    let expected = data_start.saturating_add(end);
    if expected != file_len {
        let message = format!("header and tensors make {expected} bytes, the file has {file_len}");
        return Err(ConvertError::format("data_length_mismatch", message, None));
    }
    Ok(entries)
}

struct RawHeader {
    tensors: Vec<(String, RawInfo)>,
    /// `null` is none.
    metadata: Option<RawMetadata>,
}

/// The text map, and which of its keys appear more than once.
struct RawMetadata {
    texts: BTreeMap<String, String>,
    repeated: BTreeSet<String>,
}

impl<'de> Deserialize<'de> for RawMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetadataVisitor)
    }
}

struct MetadataVisitor;

impl<'de> Visitor<'de> for MetadataVisitor {
    type Value = RawMetadata;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from text to text")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawMetadata, A::Error> {
        let mut held = RawMetadata { texts: BTreeMap::new(), repeated: BTreeSet::new() };
        while let Some((key, text)) = map.next_entry::<String, String>()? {
            if held.texts.insert(key.clone(), text).is_some() {
                held.repeated.insert(key);
            }
        }
        Ok(held)
    }
}

#[derive(Deserialize)]
struct RawInfo {
    dtype: RawType,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// An element type, or the name of one that is not known. Headers have thousands of them: known names are not kept.
struct RawType(Result<DType, String>);

impl<'de> Deserialize<'de> for RawType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TypeVisitor)
    }
}

struct TypeVisitor;

impl Visitor<'_> for TypeVisitor {
    type Value = RawType;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an element type")
    }

    fn visit_str<E>(self, name: &str) -> Result<RawType, E> {
        Ok(RawType(type_of(name).ok_or_else(|| name.to_owned())))
    }
}

impl<'de> Deserialize<'de> for RawHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeaderVisitor)
    }
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = RawHeader;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawHeader, A::Error> {
        let mut header = RawHeader { tensors: Vec::new(), metadata: None };
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            // Here, where the error still has the place of the second one.
            if !names.insert(name.clone()) {
                return Err(serde::de::Error::custom(format!("{name:?} appears more than once")));
            }
            if name == "__metadata__" {
                header.metadata = map.next_value()?;
            } else {
                header.tensors.push((name, map.next_value()?));
            }
        }
        Ok(header)
    }
}
