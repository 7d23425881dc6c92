//! Metadata values as JSON and back, where the way there and back gives the same value.

use fw_tensogram::Value;
use serde_json::{Map, Number, Value as Json};

/// The JSON of a value, or `None` where JSON would change it: bytes, tags, keys that are no text, numbers beyond it.
pub(super) fn from_value(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Integer(number) => match (i64::try_from(*number), u64::try_from(*number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => return None,
        },
        Value::Float(number) => Json::Number(Number::from_f64(*number)?),
        Value::Text(text) => Json::String(text.clone()),
        Value::Array(items) => Json::Array(items.iter().map(from_value).collect::<Option<_>>()?),
        Value::Map(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                map.insert(key.as_text()?.to_owned(), from_value(value)?);
            }
            Json::Object(map)
        }
        _ => return None,
    })
}

/// The value of a JSON text.
pub(super) fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Integer(number.into()),
            (_, Some(number)) => Value::Integer(number.into()),
            _ => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(to_value).collect()),
        Json::Object(map) => {
            Value::Map(map.iter().map(|(key, value)| (Value::from(key.as_str()), to_value(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_form_comes_back() {
        let value = Value::Map(vec![
            (Value::from("a"), Value::Array(vec![Value::from(1), Value::from(1.0), Value::Null])),
            (Value::from("b"), Value::Integer(u64::MAX.into())),
            (Value::from("c"), Value::Integer(i64::MIN.into())),
            (Value::from("d"), Value::Bool(true)),
        ]);
        assert_eq!(to_value(&from_value(&value).unwrap()), value);
        for odd in [
            Value::Bytes(vec![1]),
            Value::Float(f64::NAN),
            Value::Integer(-1 - i128::from(u64::MAX)),
            Value::Map(vec![(Value::from(3), Value::Null)]),
            Value::Tag(1, Box::new(Value::Null)),
        ] {
            assert_eq!(from_value(&Value::Array(vec![odd])), None);
        }
    }
}
