//! The value model of metadata.

use crate::describe::MetadataCursor;
use std::collections::BTreeMap;

/// Any CBOR value. Maps hold their entries in canonical key order after reading or [`super::canonicalize`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Null (and `undefined`).
    Null,
    /// True or false.
    Bool(bool),
    /// An integer, -2^64 to 2^64-1 on the wire.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(String),
    /// A byte string.
    Bytes(Vec<u8>),
    /// A list.
    Array(Vec<Value>),
    /// Keys and values; keys may be of any type.
    Map(Vec<(Value, Value)>),
    /// A tagged value.
    Tag(u64, Box<Value>),
}

impl Value {
    /// A map, in canonical key order; of equal keys the last wins. [`value!`](crate::value) writes nested ones.
    ///
    /// ```
    /// use fw_tensogram::Value;
    ///
    /// let mars = Value::map([("param", Value::from("2t")), ("step", Value::from(6))]);
    /// assert_eq!(mars.get("step").as_i64(), Some(6));
    /// ```
    pub fn map<K: Into<Self>, V: Into<Self>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        entries.into_iter().collect()
    }

    /// Looks up a dotted path inside nested maps.
    pub fn get(&self, path: &str) -> MetadataCursor<'_> {
        MetadataCursor::from(self).get(path)
    }

    /// The text, when this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, tags unwrapped.
    pub fn as_integer(&self) -> Option<i128> {
        match self.untagged() {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The integer when it fits in 64 bits, tags unwrapped.
    pub fn as_i64(&self) -> Option<i64> {
        i64::try_from(self.as_integer()?).ok()
    }

    /// The integer when it is not negative and fits in 64 bits, tags unwrapped.
    pub fn as_u64(&self) -> Option<u64> {
        u64::try_from(self.as_integer()?).ok()
    }

    /// The number as a float: floats as they are, integers converted.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(*number),
            Self::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// The truth value, when this is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The bytes, when this is a byte string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The items, tags unwrapped, when this is a list.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self.untagged() {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, when this is a map.
    pub fn as_map(&self) -> Option<&[(Self, Self)]> {
        match self {
            Self::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a text key, when this is a map that has it.
    pub fn member(&self, key: &str) -> Option<&Self> {
        self.as_map()?.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value)
    }

    /// The value inside any tags.
    pub fn untagged(&self) -> &Self {
        let mut value = self;
        while let Self::Tag(_, inner) = value {
            value = inner;
        }
        value
    }

    /// What kind of value it is, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Text(_) => "text",
            Self::Bytes(_) => "a byte string",
            Self::Array(_) => "an array",
            Self::Map(_) => "a map",
            Self::Tag(..) => "a tagged value",
        }
    }
}

macro_rules! conversions {
    ($($type:ty => |$value:ident| $make:expr;)*) => {
        $(impl From<$type> for Value { fn from($value: $type) -> Self { $make } })*
    };
}

// A byte is not a number here: lists of numbers and byte strings would be confused. `Value::Bytes` says which is meant.
conversions! {
    () => |_value| Self::Null;
    bool => |value| Self::Bool(value);
    i8 => |value| Self::Integer(value.into());
    i16 => |value| Self::Integer(value.into());
    i32 => |value| Self::Integer(value.into());
    i64 => |value| Self::Integer(value.into());
    i128 => |value| Self::Integer(value);
    u16 => |value| Self::Integer(value.into());
    u32 => |value| Self::Integer(value.into());
    u64 => |value| Self::Integer(value.into());
    usize => |value| Self::Integer(value as i128);
    f32 => |value| Self::Float(value.into());
    f64 => |value| Self::Float(value);
    &str => |value| Self::Text(value.to_owned());
    &String => |value| Self::Text(value.clone());
    String => |value| Self::Text(value);
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    /// A list.
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    /// A list.
    fn from(items: [T; N]) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value> + Clone> From<&[T]> for Value {
    /// A list.
    fn from(items: &[T]) -> Self {
        Self::Array(items.iter().cloned().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    /// The value, or null.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<K: Into<Value>, V: Into<Value>> From<BTreeMap<K, V>> for Value {
    /// A map, in canonical key order.
    fn from(entries: BTreeMap<K, V>) -> Self {
        Self::map(entries)
    }
}

impl<K: Into<Value>, V: Into<Value>> FromIterator<(K, V)> for Value {
    /// A map, in canonical key order.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect());
        super::canonicalize(&mut map);
        map
    }
}
