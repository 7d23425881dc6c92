//! A name for every object: what its base entry calls it, made unique.

use fw_tensogram::{GlobalMetadata, Value};
use std::collections::HashSet;

/// The key that our own files name objects by.
pub(super) const OURS: &str = "name";

/// The keys that people name objects by, best first.
const KEYS: [&str; 5] = [OURS, "param", "mars.param", "short_name", "shortName"];

/// The key and the name that an object's own entry gives it.
pub(super) fn given(metadata: &GlobalMetadata, object: usize) -> Option<(&'static str, String)> {
    KEYS.iter().find_map(|key| match metadata.get_at(object, key).value()? {
        Value::Text(text) if !text.is_empty() => Some((*key, text.clone())),
        Value::Integer(number) => Some((*key, number.to_string())),
        _ => None,
    })
}

/// Names for objects in file order: `(message, object, given name)`. In a file of several messages each begins with the
/// number of its message; an object without a name, or with a name already taken, shows its place.
pub(super) fn unique(objects: &[(usize, usize, Option<String>)], messages: usize) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::with_capacity(objects.len());
    for (message, object, given) in objects {
        let inner = given.clone().unwrap_or_else(|| format!("object_{object}"));
        let mut name = if messages > 1 { format!("{message}/{inner}") } else { inner };
        while !taken.insert(name.clone()) {
            name.push_str(&format!("#{object}"));
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let named = |message, object, name: &str| (message, object, Some(name.to_owned()));
        assert_eq!(unique(&[named(0, 0, "t"), (0, 1, None), named(0, 2, "t")], 1), ["t", "object_1", "t#2"]);
        assert_eq!(unique(&[named(0, 0, "t"), named(1, 0, "t")], 2), ["0/t", "1/t"]);
        assert_eq!(unique(&[named(0, 0, "t"), named(0, 1, "t#2"), named(0, 2, "t")], 1), ["t", "t#2", "t#2#2"]);
    }
}
