//! Values as JSON that loses nothing, the form in which `reference.py` exchanges them.

use fw_tensogram::{MetadataMap, Value};
use serde_json::Value as Json;

/// The value that a packed JSON stands for.
pub(crate) fn unpack(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Array(items) => Value::Array(items.iter().map(unpack).collect()),
        Json::Object(fields) => {
            let (kind, content) = fields.iter().next().expect("a packed value has one field");
            match (kind.as_str(), content) {
                ("i", Json::String(digits)) => Value::Integer(digits.parse().expect("decimal digits")),
                ("f", Json::String(hex)) => Value::Float(f64::from_bits(u64::from_str_radix(hex, 16).expect("hex"))),
                ("s", Json::String(text)) => Value::Text(text.clone()),
                ("m", Json::Array(entries)) => {
                    entries.iter().map(|entry| (unpack(&entry[0]), unpack(&entry[1]))).collect()
                }
                _ => panic!("{json} is no packed value"),
            }
        }
        _ => panic!("{json} is no packed value"),
    }
}

/// A packed map with text keys.
pub(crate) fn unpack_map(json: &Json) -> MetadataMap {
    let Value::Map(entries) = unpack(json) else { panic!("{json} is no map") };
    let text = |key: &Value| key.as_text().expect("text keys").to_owned();
    entries.iter().map(|(key, value)| (text(key), value.clone())).collect()
}

/// A packed list of maps.
pub(crate) fn unpack_maps(json: &Json) -> Vec<MetadataMap> {
    json.as_array().expect("a list").iter().map(unpack_map).collect()
}

/// Whether both are the same value, every NaN alike.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => {
            left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            let found = |key: &Value, value: &Value| right.iter().any(|(k, v)| same(key, k) && same(value, v));
            left.len() == right.len() && left.iter().all(|(key, value)| found(key, value))
        }
        _ => left == right,
    }
}

/// The same for maps.
pub(crate) fn same_map(left: &MetadataMap, right: &MetadataMap) -> bool {
    left.len() == right.len() && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(json: &Json) -> Vec<u8> {
    let text = json.as_str().expect("hex text").as_bytes();
    let digit = |byte: u8| (byte as char).to_digit(16).expect("a hex digit") as u8;
    text.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
