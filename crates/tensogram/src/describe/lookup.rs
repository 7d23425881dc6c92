//! Dotted paths into metadata (TG-15).

use super::cbor::Value;
use super::metadata::{GlobalMetadata, MetadataMap, RESERVED};

impl GlobalMetadata {
    /// The value of a dotted path such as `mars.param`: the first base entry that has it, then the message level.
    ///
    /// A leading `extra.` or `_extra_.` looks only at the message level. Provenance never resolves.
    pub fn lookup(&self, path: &str) -> Option<&Value> {
        for prefix in ["extra.", "_extra_."] {
            if let Some(rest) = path.strip_prefix(prefix) {
                return resolve(&self.extra, rest);
            }
        }
        (0..self.base.len()).find_map(|index| self.lookup_object(index, path)).or_else(|| resolve(&self.extra, path))
    }

    /// The value of a dotted path in one object's base entry.
    pub fn lookup_object(&self, index: usize, path: &str) -> Option<&Value> {
        if path.split('.').next() == Some(RESERVED) {
            return None;
        }
        resolve(self.base.get(index)?, path)
    }

    /// Keys that every base entry has with the same value (floats compared bit by bit), provenance excluded.
    pub fn common_keys(&self) -> Vec<&str> {
        let Some((first, others)) = self.base.split_first() else { return Vec::new() };
        first
            .iter()
            .filter(|(key, _)| *key != RESERVED)
            .filter(|(key, value)| others.iter().all(|entry| entry.get(*key).is_some_and(|other| same(value, other))))
            .map(|(key, _)| key.as_str())
            .collect()
    }
}

fn resolve<'m>(map: &'m MetadataMap, path: &str) -> Option<&'m Value> {
    let mut segments = path.split('.');
    let first = segments.next().filter(|segment| !segment.is_empty())?;
    segments.try_fold(map.get(first)?, |value, segment| value.member(segment))
}

fn same(a: &Value, b: &Value) -> bool {
    // Canonical encodings are equal exactly when the values are, bit by bit.
    super::cbor::encode(a) == super::cbor::encode(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_in_base_first() {
        let entry = |param: &str| {
            let mars: Value = [("param", Value::from(param)), ("step", Value::from(6))].into_iter().collect();
            MetadataMap::from([
                ("mars".to_owned(), mars),
                ("units".to_owned(), Value::from("K")),
                (RESERVED.to_owned(), Value::Map(vec![])),
            ])
        };
        let metadata = GlobalMetadata {
            base: vec![entry("2t"), entry("msl")],
            extra: MetadataMap::from([("units".to_owned(), Value::from("extra")), ("run".to_owned(), Value::from(1))]),
            ..GlobalMetadata::default()
        };
        assert_eq!(metadata.lookup("mars.param"), Some(&Value::from("2t")));
        assert_eq!(metadata.lookup("units"), Some(&Value::from("K")));
        assert_eq!(metadata.lookup("extra.units"), Some(&Value::from("extra")));
        assert_eq!(metadata.lookup("run"), Some(&Value::from(1)));
        assert_eq!(metadata.lookup_object(1, "mars.param"), Some(&Value::from("msl")));
        for absent in ["", "extra", "_reserved_", "_reserved_.x", "mars.param.x", "mars.absent"] {
            assert_eq!(metadata.lookup(absent), None, "{absent:?}");
        }
        assert_eq!(metadata.common_keys(), ["units"]);
    }
}
