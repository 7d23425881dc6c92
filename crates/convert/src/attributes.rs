//! What a Tensogram file says travels through the text map of other formats: `fw.base/<name>` holds what is said about one
//! tensor as a JSON object, `fw.json` lists the keys whose texts are the JSON of a value.

use crate::model::{Attributes, Entry};
use std::collections::{BTreeMap, BTreeSet};

/// Keys of the text map begin with this, then the tensor's name follows.
pub(crate) const PREFIX: &str = "fw.base/";

/// The tensor that an entry of the text map is about, by its key: its carried type or shape, its digests, what is said about it.
///
/// ```
/// assert_eq!(fw_convert::belongs_to("bt.hash/layer.0"), Some("layer.0"));
/// assert_eq!(fw_convert::belongs_to("author"), None);
/// ```
pub fn belongs_to(key: &str) -> Option<&str> {
    PER_TENSOR.iter().find_map(|prefix| key.strip_prefix(prefix))
}

/// How keys about one tensor begin; its name follows.
const PER_TENSOR: [&str; 5] = [
    fw_bintensors::DTYPE_KEY_PREFIX,
    fw_bintensors::SHAPE_KEY_PREFIX,
    fw_bintensors::HASH_KEY_PREFIX,
    fw_bintensors::DIGEST_KEY_PREFIX,
    PREFIX,
];

/// The key of the text map that lists keys of JSON texts.
pub(crate) const JSON_KEYS: &str = "fw.json";

/// The entry of the text map that tells JSON texts from plain ones.
pub(crate) fn carried_keys(keys: &BTreeSet<String>) -> Option<(String, String)> {
    let text = (!keys.is_empty()).then(|| serde_json::to_string(keys).ok())??;
    Some((JSON_KEYS.to_owned(), text))
}

/// Takes the list of JSON texts out of a text map. A list that is wrong about any key stays in the map.
pub(crate) fn restore_keys(metadata: &mut Option<BTreeMap<String, String>>) -> BTreeSet<String> {
    let Some(map) = metadata else { return BTreeSet::new() };
    let is_json =
        |key: &String| map.get(key).is_some_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok());
    let listed = map.get(JSON_KEYS).and_then(|text| serde_json::from_str::<BTreeSet<String>>(text).ok());
    let Some(keys) = listed.filter(|keys| keys.iter().all(is_json)) else { return BTreeSet::new() };
    map.remove(JSON_KEYS);
    keys
}

/// The entries of the text map that carry what is said about `entries`.
pub(crate) fn carried(entry: &Entry) -> Option<(String, String)> {
    let text = (!entry.attributes.is_empty()).then(|| serde_json::to_string(&entry.attributes).ok())??;
    Some((format!("{PREFIX}{}", entry.name), text))
}

/// Hands the carried entries of a text map back to their tensors. Whatever does not read as an object stays in the map; a map
/// that held nothing else was not there before.
pub(crate) fn restore(entries: &mut [Entry], metadata: &mut Option<BTreeMap<String, String>>) {
    let Some(map) = metadata else { return };
    if !map.range(PREFIX.to_owned()..).next().is_some_and(|(key, _)| key.starts_with(PREFIX)) {
        return;
    }
    for entry in entries {
        let key = format!("{PREFIX}{}", entry.name);
        if let Some(attributes) = map.get(&key).and_then(|text| serde_json::from_str::<Attributes>(text).ok()) {
            entry.attributes = attributes;
            map.remove(&key);
        }
    }
    if map.is_empty() {
        *metadata = None;
    }
}

/// The keys that a format without any place for them loses. What only repeats the name is in the name.
pub(crate) fn lost(entry: &Entry) -> Option<String> {
    let repeats = |value: &serde_json::Value| {
        value.as_str().is_some_and(|text| entry.name.rsplit('/').next() == Some(text) || entry.name == text)
    };
    let keys = entry.attributes.iter().filter(|(_, value)| !repeats(value)).map(|(key, _)| key.as_str());
    let keys: Vec<&str> = keys.collect();
    (!keys.is_empty()).then(|| keys.join(", "))
}
