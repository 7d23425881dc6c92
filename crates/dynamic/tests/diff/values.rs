//! Values that show differences: full and empty, every member, every named number.

use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message, Scalar, Type};

/// Numbers without end.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u8
    }

    fn below(&mut self, count: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % count
    }
}

/// A value of a message; rounds differ in a planned way, the rest is random.
pub(crate) fn value<'s>(schema: &'s Schema, message: &'s Message, round: usize, random: &mut Random) -> Value<'s> {
    let mut entries = Vec::new();
    for (at, field) in message.fields.iter().enumerate() {
        let value = match field.ty {
            Type::One(element) => one(schema, element, round + at, random),
            Type::Array { element, extent } => {
                let count = match extent {
                    Extent::Fixed(count) => count.into(),
                    Extent::Bounded(limit) => length(limit, round, random),
                };
                Value::List((0..count).map(|_| one(schema, element, round + at, random)).collect())
            }
        };
        entries.push((field.name.as_str(), value));
    }
    for (at, union) in message.unions.iter().enumerate() {
        let value = if union.members.is_empty() {
            UnionValue::Unset
        } else if union.discriminator.is_empty() {
            UnionValue::Untagged((0..union.region).map(|_| byte(random)).collect())
        } else {
            let choices = union.members.len() + 1;
            // First every member once, then what comes: other unions must meet other members.
            match if round < choices { (round + at) % choices } else { random.below(choices) } {
                0 => UnionValue::Unset,
                which => {
                    let member = &union.members[which - 1];
                    let inner = random.below(8);
                    UnionValue::Member { name: &member.name, value: one(schema, member.element, inner, random) }
                }
            }
        };
        entries.push((union.name.as_str(), Value::Union(Box::new(value))));
    }
    Value::Message(entries)
}

fn length(limit: u16, round: usize, random: &mut Random) -> usize {
    match round % 3 {
        0 => limit.into(),
        1 => 0,
        _ => random.below(usize::from(limit) + 1),
    }
}

/// Random, and never zero: zero looks like nothing.
fn byte(random: &mut Random) -> u8 {
    match random.byte() {
        0 => 0xa7,
        byte => byte,
    }
}

fn one<'s>(schema: &'s Schema, element: Element, round: usize, random: &mut Random) -> Value<'s> {
    match element {
        Element::Scalar(scalar) => {
            let raw = (0..scalar.size()).fold(0_u64, |raw, _| (raw << 8) | u64::from(byte(random)));
            match scalar {
                Scalar::Bool => Value::Bool(raw & 1 == 1),
                Scalar::Float => Value::Float(f32::from_bits(raw as u32)),
                Scalar::Double => Value::Double(f64::from_bits(raw)),
                Scalar::Uint64 => Value::Unsigned64(raw),
                Scalar::Int64 => Value::Signed64(raw as i64),
                Scalar::Int8 => Value::Signed((raw as i8).into()),
                Scalar::Int16 => Value::Signed((raw as i16).into()),
                Scalar::Int32 => Value::Signed((raw as i32).into()),
                _ => Value::Unsigned(raw),
            }
        }
        Element::Enum(index) => {
            let declared = &schema[index];
            // Also numbers without a name.
            let named = declared.values.get(random.below(declared.values.len() + 1));
            let number = named.map_or_else(|| byte(random), |value| value.number);
            Value::Enum(number, declared.name_of(number))
        }
        Element::Message(index) => value(schema, &schema[index], round, random),
        Element::String(extent) => {
            let len = length(extent.limit() as u16, round, random);
            Value::Text((0..len).map(|_| char::from(1 + random.byte() % 127)).collect())
        }
        Element::Bytes(extent) => {
            let len = match extent {
                Extent::Fixed(len) => len.into(),
                Extent::Bounded(limit) => length(limit, round, random),
            };
            Value::Bytes((0..len).map(|_| byte(random)).collect())
        }
    }
}
