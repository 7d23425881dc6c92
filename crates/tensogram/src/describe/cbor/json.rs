//! Values as JSON and back (feature `serde`). What JSON cannot say is an object with one key that begins with `$`.

use super::Value;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Text, truth, null, lists and maps with text keys are themselves; floats that JSON lacks are `{"$float": "nan"}`
/// (which NaN it is gets lost), integers beyond 64 bits `{"$int": "…"}`, bytes `{"$bytes": "hex"}`, other maps
/// `{"$map": [[key, value], …]}`, tags `{"$tag": [number, value]}`. A map whose only key is one of these five is written
/// as `$map` too, so that it is not taken for another value.
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
            Self::Map(entries) if entries.iter().all(|(key, _)| key.as_text().is_some()) && !looks_special(entries) => {
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

/// Whether a map would be taken for a value that JSON cannot say.
fn looks_special(entries: &[(Value, Value)]) -> bool {
    matches!(entries, [(Value::Text(key), _)] if SPECIAL.contains(&key.as_str()))
}

const SPECIAL: [&str; 5] = ["$float", "$int", "$bytes", "$map", "$tag"];

/// What [`Serialize`] writes; maps are put into canonical key order. Needs a format that says what its values are, as JSON
/// and CBOR do.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a metadata value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Integer(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Integer(number.into()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u128<E: serde::de::Error>(self, number: u128) -> Result<Value, E> {
        i128::try_from(number).map(Value::Integer).map_err(|_| E::custom("integer above 127 bits"))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(bytes.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        // A claimed length is not believed: the list grows as items come.
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(Value, Value)> = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        if !looks_special(&entries) {
            return Ok(Value::map(entries));
        }
        match entries.pop() {
            Some((Value::Text(key), inner)) => unspecial(&key, inner)
                .map_err(|expected| A::Error::custom(format_args!("{key:?}: expected {expected}"))),
            _ => Err(A::Error::custom("a map without a key")),
        }
    }
}

/// The value behind a special key, or what was expected there.
fn unspecial(key: &str, inner: Value) -> Result<Value, &'static str> {
    match (key, inner) {
        ("$float", Value::Text(name)) => match name.as_str() {
            "nan" => Ok(Value::Float(f64::NAN)),
            "inf" => Ok(Value::Float(f64::INFINITY)),
            "-inf" => Ok(Value::Float(f64::NEG_INFINITY)),
            _ => Err("nan, inf or -inf"),
        },
        ("$int", Value::Text(digits)) => digits.parse().map(Value::Integer).map_err(|_| "the digits of an integer"),
        ("$bytes", Value::Text(hex)) => unhex(&hex).map(Value::Bytes).ok_or("hex digits, two for each byte"),
        ("$map", Value::Array(pairs)) => {
            let pair = |pair| match pair {
                Value::Array(pair) => <[Value; 2]>::try_from(pair).ok().map(|[key, value]| (key, value)),
                _ => None,
            };
            let pairs = pairs.into_iter().map(pair).collect::<Option<Vec<_>>>();
            pairs.map(Value::map).ok_or("lists of two: key and value")
        }
        ("$tag", Value::Array(pair)) => match <[Value; 2]>::try_from(pair) {
            Ok([Value::Integer(tag), inner]) => {
                let tag = u64::try_from(tag).map_err(|_| "an unsigned number of 64 bits and a value")?;
                Ok(Value::Tag(tag, Box::new(inner)))
            }
            _ => Err("an unsigned number of 64 bits and a value"),
        },
        ("$float" | "$int" | "$bytes", _) => Err("text"),
        _ => Err("a list"),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect();
    rest.is_empty().then_some(bytes)?
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

    #[test]
    fn every_value_comes_back() {
        let odd = Value::map([("$int", "5")]);
        let value = Value::map([
            ("null", Value::Null),
            ("truth", Value::Bool(true)),
            ("small", Value::Integer(-5)),
            ("large", Value::Integer(u64::MAX.into())),
            ("least", Value::Integer(-1 - i128::from(u64::MAX))),
            ("whole", Value::Float(1.0)),
            ("zero", Value::Float(-0.0)),
            ("tenth", Value::Float(0.1)),
            ("infinite", Value::Array(vec![Value::Float(f64::INFINITY), Value::Float(f64::NEG_INFINITY)])),
            ("text", Value::from("\u{1F30E} \u{0}")),
            ("bytes", Value::Bytes(vec![0, 255, 16])),
            ("numbered", Value::map([(3, "x"), (-1, "y")])),
            ("tagged", Value::Tag(u64::MAX, Box::new(Value::map([("a", 1)])))),
            ("odd", odd.clone()),
            ("odder", Value::map([("$map", odd)])),
            ("dollar", Value::map([("$other", 1)])),
            ("two", Value::map([("$int", 1), ("$tag", 2)])),
            ("empty", Value::Array(vec![Value::Map(vec![]), Value::Array(vec![]), Value::Bytes(vec![])])),
        ]);
        let text = serde_json::to_string(&value).unwrap();
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back, value, "{text}");
        assert_eq!(super::super::encode(&back), super::super::encode(&value));
        let nan: Value = serde_json::from_str(r#"{"$float":"nan"}"#).unwrap();
        assert!(nan.as_float().unwrap().is_nan());
    }

    #[test]
    fn malformed_special_values_are_errors() {
        for (text, words) in [
            (r#"{"$float":"NaN"}"#, "nan, inf or -inf"),
            (r#"{"$float":1.5}"#, "text"),
            (r#"{"$int":"12a"}"#, "digits"),
            (r#"{"$int":"999999999999999999999999999999999999999999"}"#, "digits"),
            (r#"{"$bytes":"abc"}"#, "hex"),
            (r#"{"$bytes":"zz"}"#, "hex"),
            (r#"{"$bytes":[1]}"#, "text"),
            (r#"{"$map":[[1,2,3]]}"#, "lists of two"),
            (r#"{"$map":[1]}"#, "lists of two"),
            (r#"{"$map":{}}"#, "a list"),
            (r#"{"$tag":[-1,null]}"#, "unsigned"),
            (r#"{"$tag":[1]}"#, "unsigned"),
            (r#"[{"$tag":"1"}]"#, "a list"),
        ] {
            let error = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        // Nesting is bounded by the reader of the text.
        let deep = "[".repeat(100_000);
        assert!(serde_json::from_str::<Value>(&deep).is_err());
    }
}
