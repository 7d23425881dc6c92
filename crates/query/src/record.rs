//! A message with several objects, as one item or as one item per object.

use crate::path::{descend, descend_map};
use crate::{Item, Map, Path, Segment, Value};

/// Fields of a message that are looked up as `msg.…`.
pub const MESSAGE_FIELDS: &[&str] = &["index", "offset", "length"];

/// Fields of an object that are looked up as `objects[i].…`.
pub const OBJECT_FIELDS: &[&str] = &["shape", "dtype", "encoding", "filter", "compression", "nbytes", "stored_bytes"];

/// A message: metadata per object, metadata of the message, and what is known of the stored objects.
///
/// [`WholeRecord`] and [`OneObject`] turn it into items. Keys are found in this order:
///
/// 1. `version`, `msg.index`, `msg.offset`, `msg.length`, and `objects[i].…` ([`OBJECT_FIELDS`], then the metadata of
///    that object; `[-1]` is the last);
/// 2. `_extra_.…` (or `extra.…`): the metadata of the message only;
/// 3. the metadata of each object, first to last (of a single object: only its own); the first that has the whole path
///    wins. Keys below `_reserved_` are not found;
/// 4. the metadata of the message;
/// 5. fields of the first object (of a single object: its own), so that `shape` is short for `objects[0].shape`.
///
/// ```
/// use fw_query::{Item, Map, OneObject, Path, Record, Value, Where, WholeRecord};
///
/// struct Message;
/// impl Record for Message {
///     fn object_count(&self) -> usize {
///         2
///     }
///     fn base(&self, index: usize) -> Option<Map<'_>> {
///         let param = ["2t", "10u"].get(index)?;
///         Some(Map::Owned(vec![("param".into(), Value::from(*param))]))
///     }
///     fn object_field(&self, _index: usize, field: &str) -> Option<Value<'_>> {
///         (field == "shape").then(|| Value::from(&[721u64, 1440][..]))
///     }
/// }
///
/// let wind = Where::parse("param=10u")?;
/// assert!(!wind.matches(&WholeRecord(&Message))); // the first object's param is 2t
/// assert!(wind.matches(&OneObject(&Message, 1)));
/// assert!(Where::parse("objects[1].param=10u")?.matches(&WholeRecord(&Message)));
/// assert!(Where::parse("shape[0]>=500")?.matches(&WholeRecord(&Message)));
/// # Ok::<(), fw_query::QueryError>(())
/// ```
pub trait Record {
    /// Number of objects.
    fn object_count(&self) -> usize;

    /// Metadata of the object at `index`.
    fn base(&self, index: usize) -> Option<Map<'_>>;

    /// A field of the stored object at `index`, such as `shape`.
    fn object_field(&self, index: usize, field: &str) -> Option<Value<'_>>;

    /// Metadata of the message itself.
    fn extra(&self) -> Option<Map<'_>> {
        None
    }

    /// The value at `path` in the metadata of the object at `index`. A format that can descend in its own model does so here,
    /// and makes a [`Value`] of what it arrives at only.
    fn base_value(&self, index: usize, path: &[Segment]) -> Option<Value<'_>> {
        descend_map(&self.base(index)?, path)
    }

    /// The same for the metadata of the message.
    fn extra_value(&self, path: &[Segment]) -> Option<Value<'_>> {
        descend_map(&self.extra()?, path)
    }

    /// `index`, `offset` or `length` of the message in its file.
    fn message_field(&self, _field: &str) -> Option<Value<'_>> {
        None
    }

    /// Version of the format.
    fn version(&self) -> Option<Value<'_>> {
        None
    }
}

/// A message as one item: the first object that has a key answers.
#[derive(Clone, Copy, Debug)]
pub struct WholeRecord<'r, R: ?Sized>(
    /// The message.
    pub &'r R,
);

impl<R: Record + ?Sized> Item for WholeRecord<'_, R> {
    fn lookup(&self, path: &Path) -> Option<Value<'_>> {
        lookup(self.0, 0..self.0.object_count(), path)
    }
}

/// One object of a message as an item; metadata of the message answers where the object has none.
#[derive(Clone, Copy, Debug)]
pub struct OneObject<'r, R: ?Sized>(
    /// The message.
    pub &'r R,
    /// Which object.
    pub usize,
);

impl<R: Record + ?Sized> Item for OneObject<'_, R> {
    fn lookup(&self, path: &Path) -> Option<Value<'_>> {
        lookup(self.0, self.1..self.1.saturating_add(1), path)
    }
}

fn lookup<'r, R: Record + ?Sized>(record: &'r R, objects: std::ops::Range<usize>, path: &Path) -> Option<Value<'r>> {
    let segments = path.segments();
    let (Segment::Key(first), rest) = segments.split_first()? else { return None };
    match (first.as_str(), rest) {
        ("version", []) => return record.version(),
        ("msg", [Segment::Key(field)]) if MESSAGE_FIELDS.contains(&field.as_str()) => {
            return record.message_field(field);
        }
        ("objects", [Segment::Index(index), rest @ ..]) => return object(record, *index, rest),
        ("_extra_" | "extra", []) => return None,
        ("_extra_" | "extra", rest) => return record.extra_value(rest),
        _ => {}
    }
    let first_object = objects.start;
    let in_base = || objects.into_iter().find_map(|index| record.base_value(index, segments));
    let found = if first == "_reserved_" { None } else { in_base() };
    found.or_else(|| record.extra_value(segments)).or_else(|| descend(record.object_field(first_object, first)?, rest))
}

/// `objects[index].rest`.
fn object<'r, R: Record + ?Sized>(record: &'r R, index: i64, rest: &[Segment]) -> Option<Value<'r>> {
    let count = record.object_count();
    let distance = usize::try_from(index.unsigned_abs()).ok()?;
    let index = if index < 0 { count.checked_sub(distance)? } else { distance };
    let (Segment::Key(field), deeper) = rest.split_first().filter(|_| index < count)? else { return None };
    match record.object_field(index, field) {
        Some(value) => descend(value, deeper),
        None if field == "_reserved_" => None,
        None => record.base_value(index, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Message;

    impl Record for Message {
        fn object_count(&self) -> usize {
            2
        }
        fn base(&self, index: usize) -> Option<Map<'_>> {
            let value = match index {
                0 => Value::map([
                    ("a", Value::map([("x", Value::from(1))])),
                    ("_reserved_", Value::map([("r", Value::from(9))])),
                    ("objects", Value::map([("k", Value::from("meta"))])),
                ]),
                1 => Value::map([
                    ("a", Value::map([("x", Value::from(2)), ("y", Value::from(3))])),
                    ("dtype", Value::from("shadow")),
                ]),
                _ => return None,
            };
            match value {
                Value::Map(map) => Some(map),
                _ => None,
            }
        }
        fn extra(&self) -> Option<Map<'_>> {
            Some(Map::Owned(vec![
                ("a".into(), Value::map([("z", Value::from(4)), ("x", Value::from(5))])),
                ("version".into(), Value::from(7)),
            ]))
        }
        fn object_field(&self, index: usize, field: &str) -> Option<Value<'_>> {
            match (index, field) {
                (0, "dtype") => Some(Value::from("float32")),
                (1, "dtype") => Some(Value::from("float64")),
                (1, "shape") => Some(Value::from(&[3u64, 4][..])),
                _ => None,
            }
        }
        fn message_field(&self, field: &str) -> Option<Value<'_>> {
            (field == "offset").then(|| Value::from(100))
        }
        fn version(&self) -> Option<Value<'_>> {
            Some(Value::from(3))
        }
    }

    #[test]
    fn keys_are_found_in_the_documented_order() {
        let rows: &[(&str, Option<&str>, Option<&str>)] = &[
            // key, of the message, of its second object
            ("version", Some("3"), Some("3")),
            ("_extra_.version", Some("7"), Some("7")),
            ("extra.a.x", Some("5"), Some("5")),
            ("extra", None, None),
            ("a.x", Some("1"), Some("2")),
            ("a.y", Some("3"), Some("3")),
            ("a.z", Some("4"), Some("4")),
            ("_reserved_.r", None, None),
            ("objects[0]._reserved_.r", None, None),
            ("objects.k", Some("meta"), None),
            ("objects[1].dtype", Some("float64"), Some("float64")),
            ("objects[-1].shape[1]", Some("4"), Some("4")),
            ("objects[1].a.y", Some("3"), Some("3")),
            ("objects[2].dtype", None, None),
            ("objects[-3].dtype", None, None),
            ("objects[0]", None, None),
            ("dtype", Some("shadow"), Some("shadow")),
            ("shape", None, Some("[3,4]")),
            ("msg.offset", Some("100"), Some("100")),
            ("msg.other", None, None),
        ];
        for (key, whole, second) in rows {
            let path = Path::parse(key).unwrap();
            let text = |value: Option<Value<'_>>| value.map(|value| value.to_text());
            assert_eq!(text(WholeRecord(&Message).lookup(&path)).as_deref(), *whole, "{key}");
            assert_eq!(text(OneObject(&Message, 1).lookup(&path)).as_deref(), *second, "{key}");
        }
    }
}
