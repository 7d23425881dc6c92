//! The value model of metadata.

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

conversions! {
    bool => |value| Self::Bool(value);
    i32 => |value| Self::Integer(value.into());
    i64 => |value| Self::Integer(value.into());
    u32 => |value| Self::Integer(value.into());
    u64 => |value| Self::Integer(value.into());
    usize => |value| Self::Integer(value as i128);
    f32 => |value| Self::Float(value.into());
    f64 => |value| Self::Float(value);
    &str => |value| Self::Text(value.to_owned());
    String => |value| Self::Text(value);
    Vec<Value> => |value| Self::Array(value);
}

impl<K: Into<Value>, V: Into<Value>> FromIterator<(K, V)> for Value {
    /// A map, in canonical key order.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect());
        super::canonicalize(&mut map);
        map
    }
}
