//! Changes to metadata in memory: types are kept, what belongs to encoders is refused.

use super::assign::{Action, Edit, Scope};
use crate::error::{EditError, Result};
use fw_query::Segment;
use fw_tensogram::describe::RESERVED;
use fw_tensogram::{GlobalMetadata, MetadataMap, Value};

/// Refuses keys that describe the stored bytes or belong to encoders.
///
/// # Errors
/// `immutable_key` for fields of descriptors and parameters of codecs, where they describe an object; `reserved_key` for
/// `_reserved_`.
pub(crate) fn check_allowed(edit: &Edit) -> Result<()> {
    let segments = edit.path.segments();
    if matches!(segments.first(), Some(Segment::Key(first)) if first == RESERVED) {
        let message = format!("{}: {RESERVED} is written by encoders and cannot be changed", edit.key());
        return Err(EditError::refused("reserved_key", message));
    }
    let judged = match (edit.scope, segments) {
        (Scope::Descriptor(_), [.., Segment::Key(last)]) => last,
        (_, [Segment::Key(only)]) => only,
        _ => return Ok(()),
    };
    if !IMMUTABLE.contains(&judged.as_str()) {
        return Ok(());
    }
    let message = format!("{}: {judged} describes the stored bytes and cannot be changed", edit.key());
    Err(EditError::refused("immutable_key", message).with_hint("fw recode changes how objects are stored"))
}

/// Applies an edit to the metadata of a message, of which these objects are selected. True when the key was there, or is now.
///
/// # Errors
/// Values that do not fit the type of the key, paths through values that are no maps, objects that do not exist.
pub(crate) fn apply(edit: &Edit, metadata: &mut GlobalMetadata, selected: &[usize]) -> Result<bool> {
    let count = metadata.base.len();
    let no_object = |number: i64| {
        let message = format!("{}: object {number} does not exist; the message has {count}", edit.key());
        Err(EditError::refused("no_such_object", message))
    };
    match edit.scope {
        Scope::Message => on_map(edit, &mut metadata.extra),
        Scope::Selected if count == 0 => on_map(edit, &mut metadata.extra),
        Scope::Selected => {
            let mut hit = false;
            for number in selected {
                match metadata.base.get_mut(*number) {
                    Some(entry) => hit |= on_map(edit, entry)?,
                    None => return no_object(*number as i64),
                }
            }
            Ok(hit)
        }
        Scope::Object(number) => {
            let place = if number < 0 { number.checked_add_unsigned(count as u64) } else { Some(number) };
            match place.and_then(|place| usize::try_from(place).ok()).and_then(|place| metadata.base.get_mut(place)) {
                Some(entry) => on_map(edit, entry),
                None => no_object(number),
            }
        }
        // The descriptor is not part of the metadata.
        Scope::Descriptor(_) => Ok(false),
    }
}

/// Applies an edit to a map. True when the key was there, or is now.
///
/// # Errors
/// As [`apply`].
pub(crate) fn on_map(edit: &Edit, map: &mut MetadataMap) -> Result<bool> {
    let (Some(Segment::Key(first)), rest) = (edit.path.segments().first(), edit.path.segments().get(1..)) else {
        return Ok(false);
    };
    let rest = rest.unwrap_or_default();
    if matches!(edit.action, Action::Delete) {
        return match (rest, map.get_mut(first)) {
            (_, None) => Ok(false),
            ([], Some(_)) => Ok(map.remove(first).is_some()),
            (rest, Some(value)) => Ok(remove(value, rest)),
        };
    }
    if rest.is_empty() {
        let value = new_value(edit, map.get(first))?;
        map.insert(first.clone(), value);
        return Ok(true);
    }
    let value = map.entry(first.clone()).or_insert_with(|| Value::Map(Vec::new()));
    put(edit, value, rest)
}

/// Sets the value below `value` that `path` leads to.
fn put(edit: &Edit, value: &mut Value, path: &[Segment]) -> Result<bool> {
    let Some((first, rest)) = path.split_first() else {
        *value = new_value(edit, Some(value))?;
        return Ok(true);
    };
    match (value, first) {
        (Value::Map(entries), Segment::Key(key)) => {
            let place = entries.iter().position(|(name, _)| name.as_text() == Some(key.as_str()));
            match place.and_then(|place| entries.get_mut(place)) {
                Some((_, inner)) => put(edit, inner, rest),
                None if rest.is_empty() => {
                    entries.push((Value::from(key.as_str()), new_value(edit, None)?));
                    Ok(true)
                }
                None => {
                    let mut inner = Value::Map(Vec::new());
                    put(edit, &mut inner, rest)?;
                    entries.push((Value::from(key.as_str()), inner));
                    Ok(true)
                }
            }
        }
        (Value::Array(items), Segment::Index(index)) => {
            let count = items.len();
            match place(*index, count).and_then(|place| items.get_mut(place)) {
                Some(inner) => put(edit, inner, rest),
                None => {
                    let message = format!("{}: the list has {count} elements", edit.key());
                    Err(EditError::refused("index_out_of_range", message))
                }
            }
        }
        (other, step) => {
            let step = match step {
                Segment::Key(key) => format!("the key {key:?}"),
                Segment::Index(index) => format!("the element [{index}]"),
            };
            let message = format!("{}: {step} would be inside {}, which has no such part", edit.key(), other.kind());
            Err(EditError::refused("not_a_map", message)
                .with_hint("delete that value first, or set it as a whole with :="))
        }
    }
}

/// Removes what `path` leads to below `value`; true when it was there.
fn remove(value: &mut Value, path: &[Segment]) -> bool {
    match (value, path) {
        (Value::Map(entries), [Segment::Key(key)]) => {
            let before = entries.len();
            entries.retain(|(name, _)| name.as_text() != Some(key.as_str()));
            entries.len() < before
        }
        (Value::Map(entries), [Segment::Key(key), rest @ ..]) => entries
            .iter_mut()
            .find(|(name, _)| name.as_text() == Some(key.as_str()))
            .is_some_and(|(_, inner)| remove(inner, rest)),
        (Value::Array(items), [Segment::Index(index), rest @ ..]) => match place(*index, items.len()) {
            Some(place) if rest.is_empty() => {
                items.remove(place);
                true
            }
            Some(place) => items.get_mut(place).is_some_and(|inner| remove(inner, rest)),
            None => false,
        },
        _ => false,
    }
}

/// The value that a key gets: a text becomes what the key held before.
fn new_value(edit: &Edit, old: Option<&Value>) -> Result<Value> {
    match &edit.action {
        Action::Value(value) => Ok(value.clone()),
        Action::Text(text) => typed(text, old).ok_or_else(|| {
            let (key, kind) = (edit.key(), old.map_or("missing", Value::kind));
            EditError::refused("type_mismatch", format!("{key} is {kind}, and {text:?} is not"))
                .with_hint(format!("use := to change its type, such as {key}:={}", serde_json::json!(text)))
        }),
        Action::Delete => Ok(Value::Null),
    }
}

/// A text as the type that the key has; where the key is new, numbers and truth values are what JSON takes for them.
pub(crate) fn typed(text: &str, old: Option<&Value>) -> Option<Value> {
    match old {
        Some(Value::Text(_)) => Some(Value::from(text)),
        Some(Value::Integer(_)) => text.parse::<i128>().ok().map(Value::Integer),
        Some(Value::Float(_)) => text.parse::<f64>().ok().map(Value::Float),
        Some(Value::Bool(_)) => text.parse::<bool>().ok().map(Value::Bool),
        None | Some(Value::Null) => Some(inferred(text)),
        Some(_) => None,
    }
}

fn inferred(text: &str) -> Value {
    let digits = text.strip_prefix('-').unwrap_or(text);
    // Text such as 0001 is a name, not a number.
    let plain = digits.len() == 1 || !digits.starts_with('0');
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse::<i128>() {
            Ok(number) if plain => Value::Integer(number),
            _ => Value::from(text),
        };
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Number(number)) => number.as_f64().map_or_else(|| Value::from(text), Value::Float),
        Ok(serde_json::Value::Bool(truth)) => Value::Bool(truth),
        _ => Value::from(text),
    }
}

/// The place that an index means: negative ones count from the end.
fn place(index: i64, len: usize) -> Option<usize> {
    let distance = usize::try_from(index.unsigned_abs()).ok()?;
    let place = if index < 0 { len.checked_sub(distance)? } else { distance };
    (place < len).then_some(place)
}

/// Fields of descriptors and parameters of codecs.
const IMMUTABLE: &[&str] = &[
    "shape",
    "strides",
    "dtype",
    "ndim",
    "type",
    "byte_order",
    "encoding",
    "filter",
    "compression",
    "masks",
    "hash",
    "szip_rsi",
    "szip_block_size",
    "szip_flags",
    "szip_block_offsets",
    "sp_reference_value",
    "sp_binary_scale_factor",
    "sp_decimal_scale_factor",
    "sp_bits_per_value",
    "shuffle_element_size",
    "zfp_mode",
    "zfp_rate",
    "zfp_precision",
    "zfp_tolerance",
    "sz3_error_bound_mode",
    "sz3_error_bound",
    "blosc2_codec",
    "blosc2_clevel",
    "zstd_level",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> MetadataMap {
        let mars =
            fw_tensogram::value!({ "step": 0, "param": "2t", "class": "od", "levels": [500, 850], "scale": 1.0 });
        MetadataMap::from([("mars".to_owned(), mars), ("ok".to_owned(), Value::Bool(true))])
    }

    fn changed(text: &str) -> Result<Value> {
        let mut map = map();
        for edit in Edit::parse(text)? {
            on_map(&edit, &mut map)?;
        }
        Ok(map.into_iter().collect())
    }

    #[test]
    fn types_are_kept_and_new_keys_get_the_type_of_their_text() {
        for (text, key, value) in [
            ("mars.step=12", "mars.step", Value::from(12)),
            ("mars.step=-3", "mars.step", Value::from(-3)),
            ("mars.param=12", "mars.param", Value::from("12")),
            ("mars.scale=2", "mars.scale", Value::from(2.0)),
            ("ok=false", "ok", Value::Bool(false)),
            ("mars.new=7", "mars.new", Value::from(7)),
            ("mars.new=0001", "mars.new", Value::from("0001")),
            ("mars.new=0", "mars.new", Value::from(0)),
            ("mars.new=1.5", "mars.new", Value::from(1.5)),
            ("mars.new=true", "mars.new", Value::Bool(true)),
            ("mars.new=null", "mars.new", Value::from("null")),
            ("mars.new=1e400", "mars.new", Value::from("1e400")),
            ("a.b.c=x", "a.b.c", Value::from("x")),
            ("mars.step:=1.5", "mars.step", Value::from(1.5)),
            ("mars.step=\"12\"", "mars.step", Value::from("12")),
        ] {
            assert_eq!(changed(text).unwrap().get(key).value(), Some(&value), "{text}");
        }
        let levels = changed("mars.levels[-1]=900").unwrap();
        assert_eq!(levels.member("mars").unwrap().member("levels").unwrap().as_array().unwrap()[1], Value::from(900));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (text, code) in [
            ("mars.step=abc", "type_mismatch"),
            ("mars.step=1.5", "type_mismatch"),
            ("ok=1", "type_mismatch"),
            ("mars=x", "type_mismatch"),
            ("mars.levels=x", "type_mismatch"),
            ("mars.step.x=1", "not_a_map"),
            ("mars.levels.x=1", "not_a_map"),
            ("mars.levels[2]=1", "index_out_of_range"),
        ] {
            assert_eq!(changed(text).unwrap_err().code(), code, "{text}");
        }
        for (key, code) in [
            ("shape", Some("immutable_key")),
            ("extra.dtype", Some("immutable_key")),
            ("objects.0.sp_bits_per_value", Some("immutable_key")),
            ("objects.0.x.filter", Some("immutable_key")),
            ("_reserved_.x", Some("reserved_key")),
            ("extra._reserved_", Some("reserved_key")),
            ("objects[0]._reserved_.tensor", Some("reserved_key")),
            // The usual keys of the field are free.
            ("mars.type", None),
            ("objects.0.note", None),
        ] {
            let refused = check_allowed(&Edit::delete(key).unwrap()).err().map(|error| error.code());
            assert_eq!(refused, code, "{key}");
        }
    }

    #[test]
    fn keys_are_deleted() {
        for (key, there) in
            [("mars.class", true), ("mars.none", false), ("ok", true), ("x.y", false), ("mars.levels[0]", true)]
        {
            let mut map = map();
            assert_eq!(on_map(&Edit::delete(key).unwrap(), &mut map).unwrap(), there, "{key}");
            assert_eq!(map == self::map(), !there, "{key}");
            assert!(!on_map(&Edit::delete(key).unwrap(), &mut map).unwrap() || key.ends_with(']'));
        }
    }
}
