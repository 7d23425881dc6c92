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

/// The objects of a message that `wanted` names, among the unique names of all of them: none, one, or several that were
/// given the same name. `NAME#2` is object 2, where it was given the name `NAME`.
///
/// ```
/// let names = ["t", "u", "t#2"].map(str::to_owned);
/// assert_eq!(fw_convert::objects_named(&names, "u"), [1]);
/// assert_eq!(fw_convert::objects_named(&names, "t"), [0, 2]);
/// assert_eq!(fw_convert::objects_named(&names, "t#0"), [0]);
/// ```
pub fn objects_named(names: &[impl AsRef<str>], wanted: &str) -> Vec<usize> {
    let alike = |object: usize, name: &str| {
        let mark = format!("#{object}");
        let mut rest = name.strip_prefix(wanted);
        while let Some(shorter) = rest.and_then(|rest| rest.strip_prefix(mark.as_str())) {
            rest = Some(shorter);
        }
        rest == Some("")
    };
    if let Some(exact) = names.iter().position(|name| name.as_ref() == wanted) {
        let others =
            names.iter().enumerate().filter(|(object, name)| *object != exact && alike(*object, name.as_ref()));
        let mut found: Vec<usize> = others.map(|(object, _)| object).chain([exact]).collect();
        found.sort_unstable();
        // A name that shows its place is that of one object.
        return if shows_place(wanted, exact) { vec![exact] } else { found };
    }
    // The first of several has no mark of its own.
    let numbered = wanted.rsplit_once('#').and_then(|(name, object)| Some((name, object.parse::<usize>().ok()?)));
    numbered
        .filter(|(name, object)| names.get(*object).is_some_and(|known| known.as_ref() == *name))
        .map_or_else(Vec::new, |(_, object)| vec![object])
}

fn shows_place(name: &str, object: usize) -> bool {
    name.strip_suffix(&object.to_string()).is_some_and(|rest| rest.ends_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_objects() {
        let names = ["t", "u", "t#2", "a#3", "t#4", "v#9"].map(str::to_owned);
        for (wanted, expected) in [
            ("t", &[0, 2, 4][..]),
            ("t#0", &[0]),
            ("t#2", &[2]),
            ("t#4", &[4]),
            ("t#1", &[]),
            ("u", &[1]),
            ("u#1", &[1]),
            ("a#3", &[3]),
            ("v#9", &[5]),
            ("v", &[]),
            ("#0", &[]),
            ("", &[]),
        ] {
            assert_eq!(objects_named(&names, wanted), expected, "{wanted}");
        }
    }

    #[test]
    fn names_are_unique() {
        let named = |message, object, name: &str| (message, object, Some(name.to_owned()));
        assert_eq!(unique(&[named(0, 0, "t"), (0, 1, None), named(0, 2, "t")], 1), ["t", "object_1", "t#2"]);
        assert_eq!(unique(&[named(0, 0, "t"), named(1, 0, "t")], 2), ["0/t", "1/t"]);
        assert_eq!(unique(&[named(0, 0, "t"), named(0, 1, "t#2"), named(0, 2, "t")], 1), ["t", "t#2", "t#2#2"]);
    }
}
