//! Which tensor is compared with which.

use crate::ConvertError;
use crate::error::Side;
use crate::model::{Entry, TensorFile};
use fw_query::{Path, Segment};
use serde_json::Value;
use std::collections::HashMap;

/// A tensor of each file, or one that only one file has.
pub(super) enum Pair<'a> {
    Both { left: (usize, &'a Entry), right: (usize, &'a Entry) },
    Left(&'a Entry),
    Right(&'a Entry),
}

/// Pairs in the order of the first file, then what only the second has.
pub(super) fn of<'a>(
    left: &'a dyn TensorFile,
    right: &'a dyn TensorFile,
    keys: &[Path],
) -> Result<Vec<Pair<'a>>, ConvertError> {
    if let ([one], [other], []) = (left.entries(), right.entries(), keys) {
        return Ok(vec![Pair::Both { left: (0, one), right: (0, other) }]);
    }
    let (first, second) = match keys {
        [] => (by_name(left), by_name(right)),
        keys => {
            let read = (by_keys(left, keys, Side::Left)?, by_keys(right, keys, Side::Right)?);
            check_keys(keys, left, right)?;
            read
        }
    };
    let places: HashMap<&String, usize> = second.iter().enumerate().map(|(place, key)| (key, place)).collect();
    let held: HashMap<&String, ()> = first.iter().map(|key| (key, ())).collect();
    let mut pairs = Vec::with_capacity(first.len());
    for (index, (entry, key)) in left.entries().iter().zip(&first).enumerate() {
        let other = places.get(key).and_then(|place| Some((*place, right.entries().get(*place)?)));
        pairs.push(other.map_or(Pair::Left(entry), |right| Pair::Both { left: (index, entry), right }));
    }
    let only = right.entries().iter().zip(&second).filter(|(_, key)| !held.contains_key(key));
    pairs.extend(only.map(|(entry, _)| Pair::Right(entry)));
    Ok(pairs)
}

/// Names in a file are unique.
fn by_name(file: &dyn TensorFile) -> Vec<String> {
    file.entries().iter().map(|entry| entry.name.clone()).collect()
}

/// The values of the keys, as text that is equal when they are. No two tensors of a file may have the same.
fn by_keys(file: &dyn TensorFile, keys: &[Path], side: Side) -> Result<Vec<String>, ConvertError> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    let mut texts = Vec::new();
    for entry in file.entries() {
        let values: Vec<Value> = keys.iter().map(|key| value(file, entry, key).unwrap_or(Value::Null)).collect();
        let text = Value::from(values).to_string();
        if let Some(other) = seen.insert(text.clone(), &entry.name) {
            let shown: Vec<&str> = keys.iter().map(Path::as_str).collect();
            let message =
                format!("tensors {other:?} and {:?} have the same {}; pair by more keys", entry.name, shown.join(", "));
            let error = Box::new(ConvertError::unsupported("ambiguous_pair", message));
            return Err(ConvertError::Compared { side, error });
        }
        texts.push(text);
    }
    Ok(texts)
}

/// A key that no tensor has is a slip of the keyboard.
fn check_keys(keys: &[Path], left: &dyn TensorFile, right: &dyn TensorFile) -> Result<(), ConvertError> {
    for key in keys {
        let held = |file: &dyn TensorFile| file.entries().iter().any(|entry| value(file, entry, key).is_some());
        if !held(left) && !held(right) {
            let known: Vec<String> = [left, right].iter().flat_map(|file| file.entries()).flat_map(leaves).collect();
            let near = fw_query::closest(key.as_str(), known.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            return Err(ConvertError::unsupported("unknown_key", format!("no tensor has the key {key}{hint}")));
        }
    }
    Ok(())
}

/// What a key means for one tensor: its own metadata, that of its message or file, or what it is.
fn value(file: &dyn TensorFile, entry: &Entry, key: &Path) -> Option<Value> {
    let (first, rest) = key.segments().split_first()?;
    let Segment::Key(first) = first else { return None };
    if let Some(value) = entry.attributes.get(first) {
        return descend(value, rest).cloned();
    }
    // Keys on which messages disagree begin with the number of the message, as the names of tensors do.
    let numbered = entry.name.split_once('/').map(|(number, _)| format!("{number}/{first}"));
    let texts = file.metadata();
    let held = |key: &String| texts.and_then(|texts| texts.get(key)).map(|text| (key.clone(), text));
    if let Some((name, text)) = numbered.as_ref().and_then(held).or_else(|| held(first)) {
        let json = file.json_keys().contains(&name).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        return descend(&json.unwrap_or_else(|| Value::from(text.as_str())), rest).cloned();
    }
    let own = match (first.as_str(), rest) {
        ("name", []) => Value::from(entry.name.rsplit('/').next().unwrap_or_default()),
        ("dtype", []) => Value::from(entry.type_name()),
        ("shape", []) => Value::from(entry.shape.clone()),
        _ => return None,
    };
    Some(own)
}

fn descend<'v>(mut value: &'v Value, path: &[Segment]) -> Option<&'v Value> {
    for segment in path {
        value = match segment {
            Segment::Key(key) => value.get(key)?,
            Segment::Index(index) => {
                let items = value.as_array()?;
                let place =
                    if *index < 0 { items.len().checked_sub(index.unsigned_abs() as usize)? } else { *index as usize };
                items.get(place)?
            }
        };
    }
    Some(value)
}

/// The keys of a tensor, for suggestions.
fn leaves(entry: &Entry) -> Vec<String> {
    fn collect(prefix: &str, value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    collect(&path, value, found);
                }
            }
            _ => found.push(prefix.to_owned()),
        }
    }
    let mut found = Vec::new();
    collect("", &Value::Object(entry.attributes.clone()), &mut found);
    found
}
