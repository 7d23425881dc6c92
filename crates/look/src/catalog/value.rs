//! Metadata of the formats as values of queries. Paths descend in the format's own model, and only what they arrive at is
//! turned into a value.

use fw_query::{Map, Segment, Value};
use fw_tensogram as tgm;
use serde_json as json;
use std::borrow::Cow;

/// The value at `path` in a metadata map of Tensogram.
pub(super) fn cbor_at<'m>(map: &'m tgm::MetadataMap, path: &[Segment]) -> Option<Value<'m>> {
    let (Segment::Key(first), rest) = path.split_first()? else { return None };
    let start = map.get(first)?.untagged();
    let found = rest.iter().try_fold(start, |value, segment| match (value, segment) {
        (value @ tgm::Value::Map(_), Segment::Key(key)) => value.member(key).map(tgm::Value::untagged),
        (tgm::Value::Array(items), Segment::Index(index)) => {
            items.get(place(*index, items.len())?).map(tgm::Value::untagged)
        }
        _ => None,
    });
    found.map(cbor)
}

/// A metadata map of Tensogram.
pub(super) fn cbor_map(map: &tgm::MetadataMap) -> Map<'_> {
    Map::Owned(map.iter().map(|(key, value)| (Cow::Borrowed(key.as_str()), cbor(value))).collect())
}

/// A metadata value of Tensogram; tags are left out, keys that are not text are shown as JSON.
pub(super) fn cbor(value: &tgm::Value) -> Value<'_> {
    match value {
        tgm::Value::Bool(truth) => Value::Bool(*truth),
        tgm::Value::Integer(number) => Value::Integer(*number),
        tgm::Value::Float(number) => Value::Float(*number),
        tgm::Value::Text(text) => Value::from(text.as_str()),
        tgm::Value::Bytes(bytes) => Value::Bytes(Cow::Borrowed(bytes)),
        tgm::Value::Array(items) => Value::from(items.iter().map(cbor).collect::<Vec<_>>()),
        tgm::Value::Map(entries) => {
            let key = |key| match cbor(key) {
                Value::Text(text) => text,
                other => Cow::Owned(other.to_json()),
            };
            Value::map(entries.iter().map(|(name, value)| (key(name), cbor(value))))
        }
        tgm::Value::Tag(_, inner) => cbor(inner),
        _ => Value::Null,
    }
}

/// The value at `path` in the attributes of a tensor.
pub(super) fn json_at<'m>(map: &'m json::Map<String, json::Value>, path: &[Segment]) -> Option<Value<'m>> {
    let (Segment::Key(first), rest) = path.split_first()? else { return None };
    let found = rest.iter().try_fold(map.get(first)?, |value, segment| match (value, segment) {
        (json::Value::Object(map), Segment::Key(key)) => map.get(key),
        (json::Value::Array(items), Segment::Index(index)) => items.get(place(*index, items.len())?),
        _ => None,
    });
    found.map(of_json)
}

/// The attributes of a tensor.
pub(super) fn json_map(map: &json::Map<String, json::Value>) -> Map<'_> {
    Map::Owned(map.iter().map(|(key, value)| (Cow::Borrowed(key.as_str()), of_json(value))).collect())
}

/// A JSON value.
pub(super) fn of_json(value: &json::Value) -> Value<'_> {
    match value {
        json::Value::Null => Value::Null,
        json::Value::Bool(truth) => Value::Bool(*truth),
        json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::from(number),
            (_, Some(number)) => Value::from(number),
            _ => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        json::Value::String(text) => Value::from(text.as_str()),
        json::Value::Array(items) => Value::from(items.iter().map(of_json).collect::<Vec<_>>()),
        json::Value::Object(map) => Value::Map(json_map(map)),
    }
}

/// The place that an index means: negative ones count from the end.
fn place(index: i64, len: usize) -> Option<usize> {
    let distance = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 { len.checked_sub(distance) } else { Some(distance) }
}
