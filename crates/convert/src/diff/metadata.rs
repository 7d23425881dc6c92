//! Metadata keys whose values differ.

use crate::is_digest_key;
use crate::model::{Attributes, TensorFile};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A key whose values differ, or that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetadataDifference {
    /// The key; `.` leads into maps.
    pub key: String,
    /// Its value in the first file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Value>,
    /// Its value in the second file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Value>,
}

/// What differs between two maps, by key.
pub(super) fn of_maps(left: &Attributes, right: &Attributes) -> Vec<MetadataDifference> {
    let mut found = Vec::new();
    descend(&mut Vec::new(), left, right, &mut found);
    found
}

/// What differs between the text maps of two files. Texts that stand for JSON values are compared as such.
pub(super) fn of_files(left: &dyn TensorFile, right: &dyn TensorFile) -> Vec<MetadataDifference> {
    of_maps(&values(left), &values(right))
}

fn values(file: &dyn TensorFile) -> Attributes {
    let value = |key: &String, text: &String| {
        let json = file.json_keys().contains(key).then(|| serde_json::from_str(text).ok()).flatten();
        json.unwrap_or_else(|| Value::from(text.as_str()))
    };
    // Digests say nothing that the tensors do not say.
    let told = file.metadata().into_iter().flatten().filter(|(key, _)| !is_digest_key(key));
    told.map(|(key, text)| (key.clone(), value(key, text))).collect()
}

fn descend(path: &mut Vec<String>, left: &Attributes, right: &Attributes, found: &mut Vec<MetadataDifference>) {
    let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for key in keys {
        let (a, b) = (left.get(key), right.get(key));
        if a == b {
            continue;
        }
        path.push(key.clone());
        match (a, b) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => descend(path, a, b, found),
            (a, b) => {
                let key = fw_query::Path::from_keys(path.iter().map(String::as_str)).as_str().to_owned();
                found.push(MetadataDifference { key, left: a.cloned(), right: b.cloned() });
            }
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_lead_into_maps() {
        let map = |value: Value| value.as_object().unwrap().clone();
        let left = map(json!({ "mars": { "step": 0, "date": "20260401", "param": "2t" }, "units": "K", "a.b": 1 }));
        let right = map(json!({ "mars": { "step": 6, "date": "20260401" }, "units": { "si": "K" }, "a.b": 2 }));
        let found: Vec<_> = of_maps(&left, &right).into_iter().map(|one| (one.key, one.left, one.right)).collect();
        assert_eq!(
            found,
            [
                ("\"a.b\"".to_owned(), Some(json!(1)), Some(json!(2))),
                ("mars.param".to_owned(), Some(json!("2t")), None),
                ("mars.step".to_owned(), Some(json!(0)), Some(json!(6))),
                ("units".to_owned(), Some(json!("K")), Some(json!({ "si": "K" }))),
            ]
        );
        assert!(of_maps(&left, &left).is_empty());
    }
}
