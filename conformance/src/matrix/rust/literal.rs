//! Values as Rust expressions.

use fw_codegen::lang::rust::Names;
use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message, Type, Union};

/// The path of a message's type.
pub(super) fn message_type(names: &Names, message: &Message) -> String {
    format!("messages::{}::{}", names.module(message.package), names.message(message.index).ty)
}

/// A message, with `?` where a value might not fit.
pub(super) fn message(schema: &Schema, names: &Names, message: &Message, value: &Value<'_>) -> String {
    let own = names.message(message.index);
    let entry = |name: &str| value.get(name).unwrap_or_else(|| panic!("no value for {name}"));
    let mut parts: Vec<String> = message
        .fields
        .iter()
        .zip(&own.fields)
        .map(|(field, name)| format!("{name}: {}", of_type(schema, names, field.ty, entry(&field.name))))
        .collect();
    let unions = message.unions.iter().zip(&own.unions).filter(|(model, _)| !model.members.is_empty());
    parts.extend(unions.map(|(model, union)| {
        let ty = format!("messages::{}::{}", names.module(message.package), union.ty);
        let value = entry(&model.name);
        format!("{}: {}", union.field, of_union(schema, names, model, &union.members, &ty, value))
    }));
    format!("{} {{ {} }}", message_type(names, message), parts.join(", "))
}

fn of_type(schema: &Schema, names: &Names, ty: Type, value: &Value<'_>) -> String {
    let Type::Array { element: of, extent } = ty else { return element(schema, names, ty.element(), value) };
    let Value::List(list) = value else { panic!("an array is a list") };
    let items: Vec<_> = list.iter().map(|item| element(schema, names, of, item)).collect();
    match extent {
        Extent::Fixed(_) => format!("[{}]", items.join(", ")),
        Extent::Bounded(_) => format!("rt::Bounded::from_slice(&[{}])?", items.join(", ")),
    }
}

fn element(schema: &Schema, names: &Names, element: Element, value: &Value<'_>) -> String {
    match (element, value) {
        (_, Value::Bool(value)) => value.to_string(),
        (_, Value::Unsigned(value) | Value::Unsigned64(value)) => value.to_string(),
        (_, Value::Signed(value) | Value::Signed64(value)) => value.to_string(),
        (_, Value::Float(value)) => format!("f32::from_bits(0x{:08x})", value.to_bits()),
        (_, Value::Double(value)) => format!("f64::from_bits(0x{:016x})", value.to_bits()),
        (Element::Enum(index), Value::Enum(byte, _)) => {
            let ty = format!("messages::{}::{}", names.module(schema[index].package), names.of_enum(index).ty);
            let at = schema[index].values.iter().position(|value| value.number == *byte);
            match at {
                Some(at) => format!("{ty}::{}", names.of_enum(index).values[at]),
                None => format!("{ty}({byte})"),
            }
        }
        (Element::Message(index), value) => message(schema, names, &schema[index], value),
        (Element::String(extent), value) => {
            let ty = if extent.prefix_len() > 0 { "Text" } else { "FixedText" };
            format!("rt::{ty}::from_bytes(b\"{}\")?", content(value).escape_ascii())
        }
        (Element::Bytes(Extent::Fixed(_)), value) => format!("*b\"{}\"", content(value).escape_ascii()),
        (Element::Bytes(Extent::Bounded(_)), value) => {
            format!("rt::Bounded::from_slice(b\"{}\")?", content(value).escape_ascii())
        }
        (element, value) => panic!("{value:?} is no {element:?}"),
    }
}

fn content<'v>(value: &'v Value<'_>) -> &'v [u8] {
    match value {
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        other => panic!("{other:?} is neither text nor bytes"),
    }
}

fn of_union(schema: &Schema, names: &Names, union: &Union, variants: &[String], ty: &str, value: &Value<'_>) -> String {
    let Value::Union(value) = value else { panic!("a union is a union") };
    match &**value {
        UnionValue::Unset => format!("{ty}::Unset"),
        UnionValue::Member { name, value } => {
            let at = union.members.iter().position(|member| member.name == *name).expect("a member of this union");
            format!("{ty}::{}({})", variants[at], element(schema, names, union.members[at].element, value))
        }
        UnionValue::Unknown { tag, region } => {
            format!("{ty}::Unknown {{ tag: {tag}, region: *b\"{}\" }}", region.escape_ascii())
        }
        UnionValue::Untagged(region) => format!("{ty} {{ region: *b\"{}\" }}", region.escape_ascii()),
    }
}
