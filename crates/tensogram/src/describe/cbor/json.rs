//! Values as JSON. What JSON cannot say is an object with one key that begins with `$`.

use super::Value;
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// Text, truth, null, lists and maps with text keys are themselves; floats that JSON lacks are `{"$float": "nan"}`,
/// integers beyond 64 bits `{"$int": "…"}`, bytes `{"$bytes": "hex"}`, other maps `{"$map": [[key, value], …]}`, tags
/// `{"$tag": [number, value]}`.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::Integer(number) => match (i64::try_from(*number), u64::try_from(*number)) {
                (Ok(number), _) => serializer.serialize_i64(number),
                (_, Ok(number)) => serializer.serialize_u64(number),
                _ => special(serializer, "$int", &number.to_string()),
            },
            Self::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Float(number) => {
                let name = if number.is_nan() {
                    "nan"
                } else if *number > 0.0 {
                    "inf"
                } else {
                    "-inf"
                };
                special(serializer, "$float", name)
            }
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                special(serializer, "$bytes", &hex)
            }
            Self::Array(items) => serializer.collect_seq(items),
            Self::Map(entries) if entries.iter().all(|(key, _)| key.as_text().is_some()) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key.as_text().ok_or_else(|| S::Error::custom("key is not text"))?, value)?;
                }
                map.end()
            }
            Self::Map(entries) => special(serializer, "$map", &Pairs(entries)),
            Self::Tag(tag, inner) => special(serializer, "$tag", &(tag, inner)),
        }
    }
}

fn special<S: Serializer>(serializer: S, key: &str, value: &(impl Serialize + ?Sized)) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}

struct Pairs<'a>(&'a [(Value, Value)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for pair in self.0 {
            list.serialize_element(pair)?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_a_json_form() {
        let value = Value::Array(vec![
            Value::from(1),
            Value::from(1.0),
            Value::from(f64::NAN),
            Value::Integer(-1 - i128::from(u64::MAX)),
            Value::Bytes(vec![0xde, 0xad]),
            Value::Map(vec![(Value::from(3), Value::from("x"))]),
            Value::Tag(1, Box::new(Value::Null)),
        ]);
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(
            text,
            r#"[1,1.0,{"$float":"nan"},{"$int":"-18446744073709551616"},{"$bytes":"dead"},{"$map":[[3,"x"]]},{"$tag":[1,null]}]"#
        );
    }
}
