//! Dotted paths into metadata (TG-15).

use super::cbor::Value;
use super::metadata::{GlobalMetadata, MetadataMap, RESERVED};

impl GlobalMetadata {
    /// Looks up a dotted path such as `mars.param`: in the first base entry that has it, then at the message level.
    ///
    /// A leading `extra.` or `_extra_.` looks only at the message level. Provenance (`_reserved_`) is never found.
    ///
    /// ```
    /// use fw_tensogram::{GlobalMetadata, metadata};
    ///
    /// let metadata = GlobalMetadata {
    ///     base: vec![metadata! { "mars": { "param": "2t", "step": 6 } }, metadata! { "mars": { "param": "msl" } }],
    ///     extra: metadata! { "run": "00Z" },
    ///     ..GlobalMetadata::default()
    /// };
    /// assert_eq!(metadata.get("mars.param").as_text(), Some("2t"));
    /// assert_eq!(metadata.get("mars").get("step").as_i64(), Some(6));
    /// assert_eq!(metadata.get_at(1, "mars.param").as_text(), Some("msl"));
    /// assert_eq!(metadata.get("run").as_text(), Some("00Z"));
    /// // Nothing there, or a value of another type: the last call says so, whatever came before.
    /// assert_eq!(metadata.get("mars.level").get("unit").as_text(), None);
    /// assert_eq!(metadata.get("mars.param").as_i64(), None);
    /// ```
    pub fn get(&self, path: &str) -> MetadataCursor<'_> {
        for prefix in ["extra.", "_extra_."] {
            if let Some(rest) = path.strip_prefix(prefix) {
                return MetadataCursor { value: resolve(&self.extra, rest) };
            }
        }
        let in_base = (0..self.base.len()).find_map(|index| self.get_at(index, path).value());
        MetadataCursor { value: in_base.or_else(|| resolve(&self.extra, path)) }
    }

    /// Looks up a dotted path in the base entry of one object, and nowhere else.
    pub fn get_at(&self, object: usize, path: &str) -> MetadataCursor<'_> {
        if path.split('.').next() == Some(RESERVED) {
            return MetadataCursor::default();
        }
        MetadataCursor { value: self.base.get(object).and_then(|entry| resolve(entry, path)) }
    }
}

/// The result of a look-up in metadata: a value, or nothing. Look up further keys from it, or take the value.
///
/// The typed methods return `None` if nothing was found or the value has another type. Only [`as_float`](Self::as_float)
/// converts: it accepts integers, too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MetadataCursor<'m> {
    value: Option<&'m Value>,
}

impl<'m> MetadataCursor<'m> {
    /// Looks up a dotted path from here; only maps can be entered.
    #[must_use]
    pub fn get(self, path: &str) -> Self {
        let start = self.value.filter(|_| !path.is_empty());
        Self { value: start.and_then(|value| path.split('.').try_fold(value, |value, key| value.member(key))) }
    }

    /// Looks up one item of a list.
    #[must_use]
    pub fn at(self, index: usize) -> Self {
        Self { value: self.as_array().and_then(|items| items.get(index)) }
    }

    /// The value, if there is one.
    pub const fn value(self) -> Option<&'m Value> {
        self.value
    }

    /// True if there is a value, even null.
    pub const fn exists(self) -> bool {
        self.value.is_some()
    }

    /// The text, if the value is text.
    pub fn as_text(self) -> Option<&'m str> {
        self.value?.as_text()
    }

    /// The integer, if the value is one that fits.
    pub fn as_i64(self) -> Option<i64> {
        self.value?.as_i64()
    }

    /// The integer, if the value is one that is not negative and fits.
    pub fn as_u64(self) -> Option<u64> {
        self.value?.as_u64()
    }

    /// The number, if the value is one; integers are converted.
    pub fn as_float(self) -> Option<f64> {
        self.value?.as_float()
    }

    /// The boolean, if the value is one.
    pub fn as_bool(self) -> Option<bool> {
        self.value?.as_bool()
    }

    /// The byte string, if the value is one.
    pub fn as_bytes(self) -> Option<&'m [u8]> {
        self.value?.as_bytes()
    }

    /// The items, if the value is a list.
    pub fn as_array(self) -> Option<&'m [Value]> {
        self.value?.as_array()
    }

    /// The entries, if the value is a map.
    pub fn as_map(self) -> Option<&'m [(Value, Value)]> {
        self.value?.as_map()
    }
}

impl<'m> From<&'m Value> for MetadataCursor<'m> {
    fn from(value: &'m Value) -> Self {
        Self { value: Some(value) }
    }
}

/// The keys that every base entry has with the same value (floats compared bit by bit), provenance excluded.
///
/// ```
/// use fw_tensogram::{compute_common, metadata};
///
/// let base = [metadata! { "units": "K", "param": "2t" }, metadata! { "units": "K", "param": "skt" }];
/// assert_eq!(compute_common(&base), metadata! { "units": "K" });
/// ```
pub fn compute_common(base: &[MetadataMap]) -> MetadataMap {
    let Some((first, others)) = base.split_first() else { return MetadataMap::new() };
    let shared = |(key, value): &(&String, &Value)| {
        *key != RESERVED && others.iter().all(|entry| entry.get(*key).is_some_and(|other| same(value, other)))
    };
    first.iter().filter(shared).map(|(key, value)| (key.clone(), value.clone())).collect()
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
    use crate::metadata;

    fn example() -> GlobalMetadata {
        let entry = |param: &str| {
            metadata! {
                "mars": { "param": param, "step": 6, "area": [90, -0.5, null] },
                "units": "K",
                "scale": 0.0,
                (RESERVED): { "tensor": {} },
            }
        };
        GlobalMetadata {
            base: vec![entry("2t"), entry("msl")],
            extra: metadata! { "units": "extra", "run": 1, "big": u64::MAX, "raw": (Value::Bytes(vec![7])), "on": true },
            ..GlobalMetadata::default()
        }
    }

    /// TG-15.1
    #[test]
    fn paths_resolve_in_base_first() {
        let metadata = example();
        assert_eq!(metadata.get("mars.param").as_text(), Some("2t"));
        assert_eq!(metadata.get("units").as_text(), Some("K"));
        assert_eq!(metadata.get("extra.units").as_text(), Some("extra"));
        assert_eq!(metadata.get("_extra_.units").as_text(), Some("extra"));
        assert_eq!(metadata.get("run").value(), Some(&Value::from(1)));
        assert_eq!(metadata.get_at(1, "mars.param").as_text(), Some("msl"));
        for absent in
            ["", ".", "extra", "extra.", "_reserved_", "_reserved_.tensor", "mars.param.x", "mars.absent", "mars."]
        {
            assert!(!metadata.get(absent).exists(), "{absent:?}");
        }
        for (object, absent) in
            [(0, "run"), (0, "extra.run"), (0, "_reserved_.tensor"), (2, "units"), (usize::MAX, "units")]
        {
            assert!(!metadata.get_at(object, absent).exists(), "{object} {absent:?}");
        }
    }

    #[test]
    fn a_cursor_goes_on_and_stops_at_the_wrong_type() {
        let metadata = example();
        let mars = metadata.get("mars");
        assert_eq!(mars.get("param").as_text(), Some("2t"));
        assert_eq!((mars.get("area").at(0).as_i64(), mars.get("area").at(0).as_float()), (Some(90), Some(90.0)));
        assert_eq!((mars.get("area").at(1).as_i64(), mars.get("area").at(1).as_float()), (None, Some(-0.5)));
        assert!(mars.get("area").at(2).exists());
        assert!(!mars.get("area").at(3).exists() && !mars.at(0).exists() && !mars.get("").exists());
        assert_eq!((metadata.get("big").as_i64(), metadata.get("big").as_u64()), (None, Some(u64::MAX)));
        assert_eq!((metadata.get("on").as_bool(), metadata.get("on").as_i64()), (Some(true), None));
        assert_eq!((metadata.get("raw").as_bytes(), metadata.get("raw").as_text()), (Some(&[7][..]), None));
        assert_eq!(mars.as_map().map(<[_]>::len), Some(3));
        assert_eq!(MetadataCursor::from(&Value::from("x")).as_text(), Some("x"));
    }

    /// TG-15.1
    #[test]
    fn common_keys_have_equal_bits() {
        let metadata = example();
        assert_eq!(compute_common(&metadata.base), metadata! { "units": "K", "scale": 0.0 });
        assert_eq!(compute_common(&metadata.base[..1]).len(), 3);
        assert!(compute_common(&[]).is_empty());
        let zeros = [metadata! { "z": 0.0, "n": f64::NAN }, metadata! { "z": -0.0, "n": f64::NAN }];
        assert_eq!(compute_common(&zeros).keys().collect::<Vec<_>>(), ["n"]);
        assert!(compute_common(&[metadata! { "a": 1 }, metadata! { "a": 1.0 }]).is_empty());
    }
}
