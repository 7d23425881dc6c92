//! What a key can hold.

mod list; // arrays and maps, borrowed from a format or owned
mod render; // values as text and JSON

pub use list::{Array, List, Map, Mapping};

use crate::Number;
use std::borrow::Cow;

/// The value of a key. It borrows from the item where it can; arrays and maps are read lazily, element by element.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Present, but empty.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer; every 64-bit one fits.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(Cow<'a, str>),
    /// Bytes; their text is lower-case hexadecimal.
    Bytes(Cow<'a, [u8]>),
    /// An ordered list.
    Array(Array<'a>),
    /// Values by key.
    Map(Map<'a>),
}

impl<'a> Value<'a> {
    /// An array that a format implements.
    pub fn list(list: &'a dyn List) -> Self {
        Self::Array(Array::Borrowed(list))
    }

    /// A map that a format implements.
    pub fn mapping(mapping: &'a dyn Mapping) -> Self {
        Self::Map(Map::Borrowed(mapping))
    }

    /// A map of these entries.
    pub fn map<K: Into<Cow<'a, str>>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(Map::Owned(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<Number> {
        match self {
            Self::Integer(value) => Some(Number::Integer(*value)),
            Self::Float(value) => Some(Number::Float(*value)),
            _ => None,
        }
    }

    /// The same value without borrowing from the item.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Integer(value) => Value::Integer(value),
            Self::Float(value) => Value::Float(value),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
            Self::Array(array) => Value::Array(array.into_owned()),
            Self::Map(map) => Value::Map(map.into_owned()),
        }
    }
}

/// Equal kind and content: integer 1 and float 1.0 differ here (a [`Number`] compares them by value).
impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a.len() == b.len() && a.iter().eq(b.iter()),
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().all(|(key, value)| b.get(&key).is_some_and(|other| other == value))
            }
            _ => false,
        }
    }
}

macro_rules! integers {
    ($($type:ty)*) => { $(impl From<$type> for Value<'_> {
        fn from(value: $type) -> Self { Self::Integer(i128::from(value)) }
    })* };
}
integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64);

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<Vec<Value<'a>>> for Value<'a> {
    fn from(values: Vec<Value<'a>>) -> Self {
        Self::Array(Array::Owned(values))
    }
}

/// A shape, or other counts.
impl<'a> From<&'a [u64]> for Value<'a> {
    fn from(counts: &'a [u64]) -> Self {
        Self::Array(Array::Counts(Cow::Borrowed(counts)))
    }
}
