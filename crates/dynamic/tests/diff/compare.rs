//! Did the reader understand the sender? Values are compared by name.

use fw_dynamic::{Codec, UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Message, Type};

/// A value with its schema and its message.
type Of<'a, 's> = (&'s Schema, &'s Message, &'a Value<'s>);

/// What a value must be that the sender does not know.
#[derive(Clone, Copy)]
pub(crate) enum Missing<'a, 's> {
    /// Its default.
    Default(&'a Value<'s>),
    /// Its default, or zero: the padding of oneofs and arrays is zeros.
    DefaultOrZero(&'a Value<'s>),
}

impl<'a, 's> Missing<'a, 's> {
    fn allows(self, name: &str, value: &Value<'_>) -> bool {
        let is_default = |default: &Value<'_>| default.get(name).is_some_and(|default| default.same(value));
        match self {
            Self::Default(default) => is_default(default),
            Self::DefaultOrZero(default) => is_default(default) || is_zero(value),
        }
    }

    fn inside(self, name: &str) -> Option<Self> {
        match self {
            Self::Default(default) => default.get(name).map(Self::Default),
            Self::DefaultOrZero(default) => default.get(name).map(Self::DefaultOrZero),
        }
    }
}

/// Every value that both know is the same, and what the sender does not know is missing as it should be.
pub(crate) fn understood(sent: Of<'_, '_>, read: Of<'_, '_>, missing: Missing<'_, '_>) -> Result<(), String> {
    let (Value::Message(sent_values), Value::Message(read_values)) = (sent.2, read.2) else {
        return Err("not a message".to_owned());
    };
    let names = |values: &[(&str, Value<'_>)]| values.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let (sent_names, read_names) = (names(sent_values), names(read_values));
    for (at, (name, value)) in read_values.iter().enumerate() {
        let same_name = sent_names.iter().position(|other| other == name);
        // Two names at one place that nobody else has: renamed.
        let renamed = sent_names.get(at).filter(|other| !read_names.contains(other)).map(|_| at);
        let Some(from) = same_name.or(renamed) else {
            if missing.allows(name, value) {
                continue;
            }
            return Err(format!("{name} was not sent"));
        };
        field((sent, from), (read, at), &sent_values[from].1, value, missing.inside(name))
            .map_err(|what| format!("{name}: {what}"))?;
    }
    Ok(())
}

fn field(
    (sent, from): (Of<'_, '_>, usize),
    (read, to): (Of<'_, '_>, usize),
    a: &Value<'_>,
    b: &Value<'_>,
    missing: Option<Missing<'_, '_>>,
) -> Result<(), String> {
    match (sent.1.fields.get(from), read.1.fields.get(to)) {
        (Some(one), Some(other)) => {
            if let (Type::Array { .. }, Value::List(a), Value::List(b)) = (other.ty, a, b) {
                if a.len() != b.len() {
                    return Err(format!("{} elements became {}", a.len(), b.len()));
                }
                let (one, other) = (one.ty.element(), other.ty.element());
                return a.iter().zip(b).try_for_each(|(a, b)| element((sent.0, one, a), (read.0, other, b), None));
            }
            element((sent.0, one.ty.element(), a), (read.0, other.ty.element(), b), missing)
        }
        (None, None) => {
            let (from, to) = (from - sent.1.fields.len(), to - read.1.fields.len());
            union((sent, from), (read, to), a, b)
        }
        _ => Err("a field became a oneof".to_owned()),
    }
}

fn element<'s, 'r>(
    (sender, from, a): (&'s Schema, Element, &Value<'s>),
    (reader, to, b): (&'r Schema, Element, &Value<'r>),
    missing: Option<Missing<'_, '_>>,
) -> Result<(), String> {
    match (from, to, a, b) {
        (Element::Message(from), Element::Message(to), _, _) => {
            let (from, to) = (&sender[from], &reader[to]);
            let default = Codec::new(reader).default_value(to);
            understood((sender, from, a), (reader, to, b), missing.unwrap_or(Missing::DefaultOrZero(&default)))
        }
        (Element::Enum(from), Element::Enum(to), Value::Enum(sent, said), Value::Enum(read, heard)) => {
            let (from, to) = (&sender[from], &reader[to]);
            let Some(said) = said.filter(|_| sent == read) else {
                return if sent == read { Ok(()) } else { Err("another number".to_owned()) };
            };
            let has =
                |values: &[fw_schema::layout::EnumValue], name: &str| values.iter().any(|value| value.name == name);
            let fine = to.values.iter().any(|value| value.name == said && value.number == *read)
                || match heard {
                    None => !has(&to.values, said),
                    Some(heard) => {
                        let shared = from.values.iter().any(|value| value.name == *heard && value.number == *sent);
                        let renamed = !has(&to.values, said) && !has(&from.values, heard) && from.name == to.name;
                        shared || renamed
                    }
                };
            if fine { Ok(()) } else { Err(format!("{said} was heard as {heard:?}")) }
        }
        (_, _, a, b) if a.same(b) => Ok(()),
        (_, _, a, b) => Err(format!("{a:?} became {b:?}")),
    }
}

fn union(
    (sent, from): (Of<'_, '_>, usize),
    (read, to): (Of<'_, '_>, usize),
    a: &Value<'_>,
    b: &Value<'_>,
) -> Result<(), String> {
    let (from, to) = (&sent.1.unions[from], &read.1.unions[to]);
    let (Value::Union(a), Value::Union(b)) = (a, b) else { return Err("not a oneof".to_owned()) };
    match (&**a, &**b) {
        (UnionValue::Member { name, value }, UnionValue::Member { name: heard, value: read_value }) => {
            let renamed = to.member(name).is_none() && from.member(heard).is_none();
            if name != heard && !renamed {
                return Err(format!("{name} was heard as {heard}"));
            }
            let (Some(from), Some(to)) = (from.member(name), to.member(heard)) else { return Err("lost".to_owned()) };
            element((sent.0, from.element, value), (read.0, to.element, read_value), None)
        }
        (UnionValue::Member { name, .. }, UnionValue::Unknown { .. }) if to.member(name).is_none() => Ok(()),
        (a, b) if a == b => Ok(()),
        (a, b) => Err(format!("{a:?} became {b:?}")),
    }
}

fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Unsigned(value) | Value::Unsigned64(value) => *value == 0,
        Value::Signed(value) | Value::Signed64(value) => *value == 0,
        Value::Float(value) => value.to_bits() == 0,
        Value::Double(value) => value.to_bits() == 0,
        Value::Enum(number, _) => *number == 0,
        Value::Text(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        Value::List(values) => values.iter().all(is_zero),
        Value::Message(values) => values.iter().all(|(_, value)| is_zero(value)),
        Value::Union(value) => match &**value {
            UnionValue::Unset => true,
            UnionValue::Untagged(bytes) => bytes.iter().all(|byte| *byte == 0),
            _ => false,
        },
        _ => false,
    }
}
