//! Metadata values as text.

use framewright::tensogram::{MetadataMap, Value};

/// A value on one line.
pub(crate) fn compact(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A map as an indented tree; small values stay on their line.
pub(crate) fn tree(map: &MetadataMap, indent: usize) -> String {
    map.iter().map(|(key, value)| entry(key, value, indent)).collect()
}

fn entry(key: &str, value: &Value, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let line = compact(value);
    match value {
        Value::Map(entries) if line.len() > 60 => {
            let members: String = entries
                .iter()
                .map(|(key, value)| match key {
                    Value::Text(key) => entry(key, value, indent + 2),
                    other => entry(&compact(other), value, indent + 2),
                })
                .collect();
            format!("{pad}{key}:\n{members}")
        }
        _ => format!("{pad}{key}: {line}\n"),
    }
}
