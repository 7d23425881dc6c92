//! Values as JSON, in the conventions of the vector manifests (SF-15).

use crate::codec::{Codec, in_range};
use crate::error::Error;
use crate::value::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Discriminator, Element, Message, Scalar, Type, Union};
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value as Json;

impl serde::Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown { value: self, regions: Regions::Hidden, enums: EnumStyle::Numbers }.serialize(serializer)
    }
}

impl Value<'_> {
    /// The value as JSON, with enums in the form asked for.
    ///
    /// ```
    /// let value = fw_dynamic::Value::Enum(2, Some("HOLD"));
    /// assert_eq!(serde_json::to_string(&value.shown(fw_dynamic::EnumStyle::Names)).unwrap(), "\"HOLD\"");
    /// ```
    pub fn shown(&self, enums: EnumStyle) -> impl serde::Serialize + '_ {
        Shown { value: self, regions: Regions::Hidden, enums }
    }
}

/// A value as JSON from which the same bytes can be written: other than by its own convention, a union with an unknown tag
/// also shows what stands in its region.
pub(crate) fn whole<'v, 's>(value: &'v Value<'s>, enums: EnumStyle) -> impl serde::Serialize + use<'v, 's> {
    Shown { value, regions: Regions::Shown, enums }
}

/// How enums are shown in JSON. Either form is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EnumStyle {
    /// By name; a number that has no name as a number.
    #[default]
    Names,
    /// As numbers.
    Numbers,
}

/// Whether the bytes behind an unknown tag are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Regions {
    Hidden,
    Shown,
}

struct Shown<'v, 's> {
    value: &'v Value<'s>,
    regions: Regions,
    enums: EnumStyle,
}

impl serde::Serialize for Shown<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let inner = |value| Shown { value, regions: self.regions, enums: self.enums };
        match self.value {
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Unsigned(value) => serializer.serialize_u64(*value),
            Value::Signed(value) => serializer.serialize_i64(*value),
            Value::Unsigned64(value) => serializer.collect_str(value),
            Value::Signed64(value) => serializer.collect_str(value),
            Value::Float(value) if value.is_finite() => serializer.serialize_f32(*value),
            Value::Float(value) => {
                not_finite(serializer, f64::from(*value), value.to_bits() == f32::NAN.to_bits(), &value.to_le_bytes())
            }
            Value::Double(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::Double(value) => {
                not_finite(serializer, *value, value.to_bits() == f64::NAN.to_bits(), &value.to_le_bytes())
            }
            Value::Enum(_, Some(name)) if self.enums == EnumStyle::Names => serializer.serialize_str(name),
            Value::Enum(byte, _) => serializer.serialize_u8(*byte),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => hex(serializer, bytes),
            Value::List(list) => serializer.collect_seq(list.iter().map(inner)),
            Value::Message(entries) => serializer.collect_map(entries.iter().map(|(name, value)| (name, inner(value)))),
            Value::Union(value) => match &**value {
                UnionValue::Unset => serializer.serialize_none(),
                UnionValue::Member { name, value } => {
                    let mut map = serializer.serialize_map(Some(2))?;
                    map.serialize_entry("which", name)?;
                    map.serialize_entry("value", &inner(value))?;
                    map.end()
                }
                UnionValue::Unknown { tag, region } => {
                    let mut map = serializer.serialize_map(None)?;
                    map.serialize_entry("unknown_discriminator", tag)?;
                    if self.regions == Regions::Shown {
                        map.serialize_entry("region", &Value::Bytes(region.clone()))?;
                    }
                    map.end()
                }
                UnionValue::Untagged(bytes) => hex(serializer, bytes),
            },
        }
    }
}

fn hex<S: Serializer>(serializer: S, bytes: &[u8]) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("hex", to_hex(bytes))])
}

fn not_finite<S: Serializer>(serializer: S, value: f64, usual: bool, bytes: &[u8]) -> Result<S::Ok, S::Error> {
    match (value.is_nan(), usual) {
        (true, true) => serializer.serialize_str("NaN"),
        (true, false) => hex(serializer, bytes),
        _ => serializer.serialize_str(if value > 0.0 { "Infinity" } else { "-Infinity" }),
    }
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}

impl<'s> Codec<'s> {
    /// The value that a JSON object describes. Fields that are not named have their defaults; integers may be numbers or
    /// strings, enums also their names.
    ///
    /// # Errors
    /// When the object names an unknown field, or a value does not fit its field; the error says on which path.
    pub fn value_from_json(&self, message: &'s Message, json: &Json) -> Result<Value<'s>, Error> {
        let Json::Object(object) = json else { return Err(wrong("an object", json)) };
        let known = |name: &String| message.field(name).is_some() || message.union(name).is_some();
        if let Some(stranger) = object.keys().find(|name| !known(name)) {
            return Err(Error::new("unknown_field", format!("message `{}` has no field `{stranger}`", message.name)));
        }
        let mut entries = Vec::with_capacity(message.fields.len() + message.unions.len());
        let defaults = if object.len() < message.fields.len() + message.unions.len() {
            Some(self.default_value(message))
        } else {
            None
        };
        for field in &message.fields {
            let value = match (object.get(&field.name), &defaults) {
                (Some(json), _) => self.field_from_json(field.ty, json).map_err(|fault| fault.inside(&field.name))?,
                (None, defaults) => default_of(defaults.as_ref(), &field.name)?,
            };
            entries.push((field.name.as_str(), value));
        }
        for union in &message.unions {
            let value = match object.get(&union.name) {
                Some(json) => self.union_from_json(union, json).map_err(|fault| fault.inside(&union.name))?,
                None => UnionValue::Unset,
            };
            entries.push((union.name.as_str(), Value::Union(Box::new(value))));
        }
        Ok(Value::Message(entries))
    }

    fn field_from_json(&self, ty: Type, json: &Json) -> Result<Value<'s>, Error> {
        match ty {
            Type::One(element) => self.element_from_json(element, json),
            Type::Array { element, extent } => {
                let Json::Array(list) = json else { return Err(wrong("an array", json)) };
                if list.len() > extent.limit() {
                    let words = format!("{} elements, the array has {}", list.len(), extent.limit());
                    return Err(Error::new("array_length", words));
                }
                let list = list.iter().enumerate();
                let list =
                    list.map(|(at, json)| self.element_from_json(element, json).map_err(|fault| fault.element(at)));
                list.collect::<Result<_, _>>().map(Value::List)
            }
        }
    }

    fn element_from_json(&self, element: Element, json: &Json) -> Result<Value<'s>, Error> {
        let schema: &'s Schema = self.schema();
        match element {
            Element::Scalar(scalar) => scalar_from_json(scalar, json),
            Element::Enum(index) => {
                let declared = &schema[index];
                if let Some(value) = json.as_str().and_then(|name| declared.values.iter().find(|v| v.name == name)) {
                    return Ok(Value::Enum(value.number, Some(&value.name)));
                }
                let byte = json.as_u64().and_then(|number| u8::try_from(number).ok());
                let byte =
                    byte.ok_or_else(|| wrong(&format!("a value of enum `{}` or 0 to 255", declared.name), json))?;
                Ok(Value::Enum(byte, declared.name_of(byte)))
            }
            Element::Message(index) => self.value_from_json(&schema[index], json),
            Element::String(_) => match json {
                Json::String(text) => Ok(Value::Text(text.clone())),
                _ => bytes_from_json(json).map(Value::Bytes).ok_or_else(|| wrong("a string", json)),
            },
            Element::Bytes(_) => bytes_from_json(json).map(Value::Bytes).ok_or_else(|| wrong("{\"hex\": \"…\"}", json)),
        }
    }

    fn union_from_json(&self, union: &'s Union, json: &Json) -> Result<UnionValue<'s>, Error> {
        if json.is_null() {
            return Ok(UnionValue::Unset);
        }
        if let Some(which) = json.get("which") {
            let name = which.as_str().ok_or_else(|| wrong("a member's name", which))?;
            let member =
                union.member(name).ok_or_else(|| Error::new("unknown_member", format!("no member `{name}`")))?;
            let value = json.get("value").unwrap_or(&Json::Null);
            let value = self.element_from_json(member.element, value).map_err(|fault| fault.inside(name))?;
            return Ok(UnionValue::Member { name: &member.name, value });
        }
        if let Some(tag) = json.get("unknown_discriminator") {
            let tag = tag.as_u64().and_then(|tag| u16::try_from(tag).ok()).ok_or_else(|| wrong("a tag", tag))?;
            let region = match json.get("region") {
                Some(region) => {
                    bytes_from_json(region).ok_or_else(|| wrong("{\"hex\": \"…\"}", region).inside("region"))?
                }
                None => Vec::new(),
            };
            return Ok(UnionValue::Unknown { tag, region });
        }
        match bytes_from_json(json).filter(|_| union.discriminator == Discriminator::None) {
            Some(bytes) => Ok(UnionValue::Untagged(bytes)),
            None => Err(wrong("null or {\"which\": …, \"value\": …}", json)),
        }
    }
}

fn default_of<'s>(defaults: Option<&Value<'s>>, name: &str) -> Result<Value<'s>, Error> {
    let value = defaults.and_then(|value| value.get(name));
    value.cloned().ok_or_else(|| Error::new("missing_field", "no value given").inside(name))
}

pub(crate) fn bytes_from_json(json: &Json) -> Option<Vec<u8>> {
    json.get("hex").and_then(Json::as_str).and_then(from_hex)
}

fn scalar_from_json(scalar: Scalar, json: &Json) -> Result<Value<'static>, Error> {
    match scalar {
        Scalar::Bool => json.as_bool().map(Value::Bool).ok_or_else(|| wrong("true or false", json)),
        Scalar::Float => {
            if let Some(bytes) = bytes_from_json(json) {
                let bytes = bytes.try_into().map_err(|_| wrong("four bytes", json))?;
                return Ok(Value::Float(f32::from_le_bytes(bytes)));
            }
            let wide = real(json)?;
            // Parsed as a double, then rounded (SF-15.1); what overflows was not meant as infinity.
            if wide.is_finite() && !(wide as f32).is_finite() {
                return Err(Error::new("number_out_of_range", format!("{wide} does not fit float")));
            }
            Ok(Value::Float(if wide.is_nan() { f32::NAN } else { wide as f32 }))
        }
        Scalar::Double => {
            if let Some(bytes) = bytes_from_json(json) {
                let bytes = bytes.try_into().map_err(|_| wrong("eight bytes", json))?;
                return Ok(Value::Double(f64::from_le_bytes(bytes)));
            }
            real(json).map(Value::Double)
        }
        _ => {
            let number = match json {
                Json::Number(number) => number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)),
                Json::String(text) => text.parse().ok(),
                _ => None,
            };
            let number = number.ok_or_else(|| wrong("an integer", json))?;
            let raw = in_range(scalar, number)?;
            Ok(match scalar {
                Scalar::Uint64 => Value::Unsigned64(raw),
                Scalar::Int64 => Value::Signed64(raw as i64),
                _ if number < 0 || matches!(scalar, Scalar::Int8 | Scalar::Int16 | Scalar::Int32) => {
                    Value::Signed(raw as i64)
                }
                _ => Value::Unsigned(raw),
            })
        }
    }
}

fn real(json: &Json) -> Result<f64, Error> {
    match json.as_str() {
        Some("Infinity") => Ok(f64::INFINITY),
        Some("-Infinity") => Ok(f64::NEG_INFINITY),
        Some("NaN") => Ok(f64::NAN),
        _ => json.as_f64().ok_or_else(|| wrong("a number", json)),
    }
}

fn wrong(expected: &str, found: &Json) -> Error {
    let mut shown = found.to_string();
    if shown.chars().count() > 60 {
        shown = shown.chars().take(60).chain(['…']).collect();
    }
    Error::new("wrong_type", format!("expected {expected}, found {shown}"))
}
