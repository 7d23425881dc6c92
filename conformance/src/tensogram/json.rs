//! The manifests' JSON conventions for values that JSON would lose.
//!
//! `{"$float": "nan"}` is a float, `{"$int": "9223372036854775808"}` an integer, `{"$bytes": "00ff"}` a byte string and
//! `{"$map": [[key, value], …]}` a map whose keys are not all text. A plain number without fraction is an integer.

use std::collections::BTreeMap;

use fw_tensogram::Value;
use serde_json::{Map, Value as Json};

use crate::digest::unhex;

/// The value that a manifest writes.
///
/// # Errors
/// Something that the conventions do not know.
pub fn to_value(json: &Json) -> Result<Value, String> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(to_value).collect::<Result<_, _>>()?),
        Json::Number(_) => match (integer(json), json.as_f64()) {
            (Some(number), _) => Value::Integer(number),
            (None, Some(number)) => Value::Float(number),
            (None, None) => return Err(format!("`{json}` is no number we know")),
        },
        Json::Object(fields) => match special(fields) {
            Some(("$float", Json::String(text))) => Value::Float(float(text)?),
            Some(("$int", Json::String(_))) => Value::Integer(integer(json).ok_or("bad $int")?),
            Some(("$bytes", Json::String(text))) => Value::Bytes(unhex(text)?),
            Some(("$map", Json::Array(entries))) => {
                Value::Map(entries.iter().map(entry).collect::<Result<_, String>>()?)
            }
            Some((name, _)) => return Err(format!("`{name}` is a convention we do not know")),
            None => {
                let entry = |(key, value): (&String, &Json)| Ok((Value::Text(key.clone()), to_value(value)?));
                Value::Map(fields.iter().map(entry).collect::<Result<_, String>>()?)
            }
        },
    })
}

/// A map with text keys.
///
/// # Errors
/// No map, or a value that the conventions do not know.
pub fn to_map(json: &Json) -> Result<BTreeMap<String, Value>, String> {
    let fields = json.as_object().ok_or_else(|| format!("`{json}` is no map"))?;
    fields.iter().map(|(key, value)| Ok((key.clone(), to_value(value)?))).collect()
}

/// Whether both are the same value; maps in any order, floats by their bits, every NaN alike.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => {
            left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| {
                    right.iter().any(|(other, candidate)| same(key, other) && same(value, candidate))
                })
        }
        (Value::Tag(left_tag, left), Value::Tag(right_tag, right)) => left_tag == right_tag && same(left, right),
        _ => left == right,
    }
}

/// The integer that a manifest writes, plain or as `$int`.
pub fn integer(json: &Json) -> Option<i128> {
    match json {
        Json::Number(number) => number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)),
        Json::Object(fields) => match special(fields) {
            Some(("$int", Json::String(text))) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// The same for counts and positions.
pub fn unsigned(json: &Json) -> Option<u64> {
    integer(json).and_then(|number| u64::try_from(number).ok())
}

/// A list of counts.
pub fn unsigned_list(json: &Json) -> Option<Vec<u64>> {
    json.as_array()?.iter().map(unsigned).collect()
}

/// The one field of a map that is a convention.
fn special(fields: &Map<String, Json>) -> Option<(&str, &Json)> {
    let (key, value) = fields.iter().next().filter(|_| fields.len() == 1)?;
    key.starts_with('$').then_some((key.as_str(), value))
}

fn entry(pair: &Json) -> Result<(Value, Value), String> {
    match pair.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok((to_value(key)?, to_value(value)?)),
        _ => Err(format!("`{pair}` is no [key, value]")),
    }
}

fn float(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is no float"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_convention_reads_as_the_value_it_stands_for() {
        assert_eq!(to_value(&json!({"$int": "-9223372036854775808"})), Ok(Value::Integer(i64::MIN.into())));
        assert_eq!(to_value(&json!(3)), Ok(Value::Integer(3)));
        assert_eq!(to_value(&json!({"$float": "1.0"})), Ok(Value::Float(1.0)));
        assert_eq!(to_value(&json!(0.1)), Ok(Value::Float(0.1)));
        assert_eq!(to_value(&json!({"$bytes": "00ff"})), Ok(Value::Bytes(vec![0, 255])));
        assert_eq!(
            to_value(&json!({"$map": [[1, "a"]]})),
            Ok(Value::Map(vec![(Value::Integer(1), Value::Text("a".to_owned()))]))
        );
        assert!(matches!(to_value(&json!({"$float": "nan"})), Ok(Value::Float(number)) if number.is_nan()));
        assert!(to_value(&json!({"$decimal": "1"})).is_err());
    }

    #[test]
    fn sameness_is_bitwise_for_floats_and_blind_to_map_order() {
        assert!(!same(&Value::Float(0.0), &Value::Float(-0.0)));
        assert!(same(&Value::Float(f64::NAN), &Value::Float(-f64::NAN)));
        assert!(!same(&Value::Float(1.0), &Value::Integer(1)));
        let entry = |key: &str, number| (Value::from(key), Value::Integer(number));
        let (left, right) = (vec![entry("a", 1), entry("b", 2)], vec![entry("b", 2), entry("a", 1)]);
        assert!(same(&Value::Map(left), &Value::Map(right)));
    }
}
