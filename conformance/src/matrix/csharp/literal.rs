//! Values as C# expressions.

use fw_codegen::lang::csharp::Names;
use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Extent, Message, Type, Union};

/// A message with all its properties.
pub(super) fn message(schema: &Schema, names: &Names, message: &Message, value: &Value<'_>) -> String {
    let own = names.message(message.index);
    let namespace = names.namespace(message.package);
    let entry = |name: &str| value.get(name).unwrap_or_else(|| panic!("no value for {name}"));
    let mut parts: Vec<String> = message
        .fields
        .iter()
        .zip(&own.fields)
        .map(|(field, name)| format!("{name} = {}", of_type(schema, names, field.ty, entry(&field.name))))
        .collect();
    let unions = message.unions.iter().zip(&own.unions).filter(|(model, _)| !model.members.is_empty());
    parts.extend(unions.map(|(model, union)| {
        let ty = format!("global::{namespace}.{}", union.ty);
        format!("{} = {}", union.field, of_union(schema, names, model, &union.members, &ty, entry(&model.name)))
    }));
    format!("new global::{namespace}.{} {{ {} }}", own.ty, parts.join(", "))
}

fn element_type(schema: &Schema, names: &Names, element: Element) -> String {
    match element {
        Element::Scalar(scalar) => match scalar.name() {
            "uint8" => "byte",
            "int8" => "sbyte",
            "uint16" => "ushort",
            "int16" => "short",
            "uint32" => "uint",
            "int32" => "int",
            "uint64" => "ulong",
            "int64" => "long",
            other => other,
        }
        .to_owned(),
        Element::Enum(index) => {
            format!("global::{}.{}", names.namespace(schema[index].package), names.of_enum(index).ty)
        }
        Element::Message(index) => {
            format!("global::{}.{}", names.namespace(schema[index].package), names.message(index).ty)
        }
        Element::String(_) => "string".to_owned(),
        Element::Bytes(_) => "byte[]".to_owned(),
    }
}

fn of_type(schema: &Schema, names: &Names, ty: Type, value: &Value<'_>) -> String {
    let Type::Array { element: of, extent } = ty else { return element(schema, names, ty.element(), value) };
    let Value::List(list) = value else { panic!("an array is a list") };
    let items: Vec<_> = list.iter().map(|item| element(schema, names, of, item)).collect();
    let (items, ty) = (items.join(", "), element_type(schema, names, of));
    match extent {
        Extent::Fixed(_) => format!("new {ty}[] {{ {items} }}"),
        Extent::Bounded(_) => format!("new List<{ty}> {{ {items} }}"),
    }
}

fn element(schema: &Schema, names: &Names, element: Element, value: &Value<'_>) -> String {
    match (element, value) {
        (_, Value::Bool(value)) => value.to_string(),
        (_, Value::Unsigned(value)) => value.to_string(),
        (_, Value::Signed(value)) => value.to_string(),
        (_, Value::Unsigned64(value)) => format!("{value}UL"),
        (_, Value::Signed64(value)) => format!("{value}L"),
        (_, Value::Float(value)) => format!("Driver.F32(0x{:08x}u)", value.to_bits()),
        (_, Value::Double(value)) => format!("Driver.F64(0x{:016x}ul)", value.to_bits()),
        (Element::Enum(index), Value::Enum(byte, _)) => {
            let ty = element_type(schema, names, element);
            let at = schema[index].values.iter().position(|value| value.number == *byte);
            at.map_or_else(|| format!("({ty}){byte}"), |at| format!("{ty}.{}", names.of_enum(index).values[at]))
        }
        (Element::Message(index), value) => message(schema, names, &schema[index], value),
        (Element::String(_), Value::Text(text)) => {
            let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            format!("\"{units}\"")
        }
        // Text that is not UTF-8 is kept byte by byte in low surrogates.
        (Element::String(_), Value::Bytes(bytes)) => {
            let units: String = bytes
                .iter()
                .map(|byte| u16::from(*byte) + if *byte < 0x80 { 0 } else { 0xdc00 })
                .map(|unit| format!("\\u{unit:04x}"))
                .collect();
            format!("\"{units}\"")
        }
        (Element::Bytes(_), Value::Bytes(bytes)) => bytes_literal(bytes),
        (Element::Bytes(_), Value::Text(text)) => bytes_literal(text.as_bytes()),
        (element, value) => panic!("{value:?} is no {element:?}"),
    }
}

fn bytes_literal(bytes: &[u8]) -> String {
    format!("Driver.Bytes(\"{}\")", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn of_union(schema: &Schema, names: &Names, union: &Union, members: &[String], ty: &str, value: &Value<'_>) -> String {
    let Value::Union(value) = value else { panic!("a union is a union") };
    match &**value {
        UnionValue::Unset => format!("{ty}.Unset"),
        UnionValue::Member { name, value } => {
            let at = union.members.iter().position(|member| member.name == *name).expect("a member of this union");
            format!("{ty}.From{}({})", members[at], element(schema, names, union.members[at].element, value))
        }
        UnionValue::Unknown { tag, region } => format!("{ty}.FromUnknown({tag}, {})", bytes_literal(region)),
        UnionValue::Untagged(region) => format!("new {ty} {{ Region = {} }}", bytes_literal(region)),
    }
}
