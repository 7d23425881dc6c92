//! Random values for property tests, here and in the crates that send them.

use crate::value::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message, Scalar, Type};
use fw_schema::testing::Entropy;

/// A random value of a message.
pub fn value<'s>(schema: &'s Schema, message: &'s Message, entropy: &mut Entropy<'_>) -> Value<'s> {
    let mut entries = Vec::new();
    for field in &message.fields {
        let value = match field.ty {
            Type::One(element) => element_value(schema, element, entropy),
            Type::Array { element, extent } => {
                let count = match extent {
                    Extent::Fixed(count) => usize::from(count),
                    Extent::Bounded(count) => entropy.below(usize::from(count) + 1),
                };
                Value::List((0..count).map(|_| element_value(schema, element, entropy)).collect())
            }
        };
        entries.push((field.name.as_str(), value));
    }
    for union in &message.unions {
        let value = if union.discriminator.is_empty() {
            UnionValue::Untagged((0..union.region).map(|_| entropy.byte()).collect())
        } else {
            match entropy.below(union.members.len() + 1) {
                0 => UnionValue::Unset,
                at => {
                    let member = &union.members[at - 1];
                    UnionValue::Member { name: &member.name, value: element_value(schema, member.element, entropy) }
                }
            }
        };
        entries.push((union.name.as_str(), Value::Union(Box::new(value))));
    }
    Value::Message(entries)
}

fn element_value<'s>(schema: &'s Schema, element: Element, entropy: &mut Entropy<'_>) -> Value<'s> {
    let raw =
        |entropy: &mut Entropy<'_>, len: usize| (0..len).fold(0_u64, |raw, _| (raw << 8) | u64::from(entropy.byte()));
    match element {
        Element::Scalar(scalar) => {
            let raw = raw(entropy, scalar.size());
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
            let byte = entropy.byte();
            Value::Enum(byte, schema[index].name_of(byte))
        }
        Element::Message(index) => value(schema, &schema[index], entropy),
        Element::String(extent) => {
            let len = entropy.below(extent.limit() + 1);
            Value::Text((0..len).map(|_| char::from(1 + entropy.byte() % 127)).collect())
        }
        Element::Bytes(extent) => {
            let len = if let Extent::Fixed(len) = extent { len.into() } else { entropy.below(extent.limit() + 1) };
            Value::Bytes((0..len).map(|_| entropy.byte()).collect())
        }
    }
}
