//! Self-describing values.

/// A value of a field, or a whole message. Names are borrowed from the schema.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'s> {
    /// `bool`.
    Bool(bool),
    /// Unsigned integers.
    Unsigned(u64),
    /// Signed integers.
    Signed(i64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// An enum's byte and, if it has one, its name.
    Enum(u8, Option<&'s str>),
    /// `string`.
    Text(String),
    /// `bytes`, and `string` that is not UTF-8.
    Bytes(Vec<u8>),
    /// Arrays.
    List(Vec<Value<'s>>),
    /// Messages: names and values in wire order, unions last.
    Message(Vec<(&'s str, Value<'s>)>),
    /// `oneof`.
    Union(Box<UnionValue<'s>>),
    /// 64-bit integers are apart because JSON spells them as strings: unsigned.
    Unsigned64(u64),
    /// 64-bit integers are apart because JSON spells them as strings: signed.
    Signed64(i64),
}

/// What a `oneof` holds. Complete: the format has no other state.
#[derive(Clone, Debug, PartialEq)]
pub enum UnionValue<'s> {
    /// Nothing.
    Unset,
    /// A member.
    Member {
        /// Its name.
        name: &'s str,
        /// Its value.
        value: Value<'s>,
    },
    /// A tag that the schema does not know, and what stands in the region.
    Unknown {
        /// The tag.
        tag: u16,
        /// The region.
        region: Vec<u8>,
    },
    /// A region without a tag.
    Untagged(Vec<u8>),
}

impl<'s> Value<'s> {
    /// The value of a field of a message.
    pub fn get(&self, name: &str) -> Option<&Value<'s>> {
        match self {
            Self::Message(entries) => entries.iter().find(|(known, _)| *known == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// True when both are the same value bit by bit: unlike `==`, a NaN is the same as itself.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Double(a), Self::Double(b)) => a.to_bits() == b.to_bits(),
            (Self::List(a), Self::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
            (Self::Message(a), Self::Message(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((a, x), (b, y))| a == b && x.same(y))
            }
            (Self::Union(a), Self::Union(b)) => match (&**a, &**b) {
                (UnionValue::Member { name: a, value: x }, UnionValue::Member { name: b, value: y }) => {
                    a == b && x.same(y)
                }
                (a, b) => a == b,
            },
            (a, b) => a == b,
        }
    }
}
