//! How elements, comments and literals are spelled.

use super::Of;
use crate::lang::c;
use crate::text::Text;
use fw_schema::layout::{DefaultValue, Element, Extent, Field, Message, PackageIndex, Scalar, Type};

/// `std::uint16_t`.
const fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint8 => "std::uint8_t",
        Scalar::Int8 => "std::int8_t",
        Scalar::Uint16 => "std::uint16_t",
        Scalar::Int16 => "std::int16_t",
        Scalar::Uint32 => "std::uint32_t",
        Scalar::Int32 => "std::int32_t",
        Scalar::Uint64 => "std::uint64_t",
        Scalar::Int64 => "std::int64_t",
        Scalar::Float => "float",
        Scalar::Double => "double",
        Scalar::Bool => "bool",
    }
}

/// The type of a field, as spelled inside a message.
pub(super) fn field_type(of: Of<'_>, inside: &Message, ty: Type) -> String {
    let element = element_type(of, inside, ty.element());
    match ty {
        Type::One(_) => element,
        Type::Array { extent: Extent::Fixed(count), .. } => format!("structframe::Array<{element}, {count}>"),
        Type::Array { extent: Extent::Bounded(max), .. } => format!("structframe::Bounded<{element}, {max}>"),
    }
}

/// The type of an element, as spelled inside a message.
pub(super) fn element_type(of: Of<'_>, inside: &Message, element: Element) -> String {
    match element {
        Element::Scalar(scalar) => scalar_type(scalar).to_owned(),
        Element::Enum(index) => {
            let (definition, names) = (&of.schema[index], of.names.of_enum(index));
            if definition.parent == Some(inside.index) {
                names.ty.clone()
            } else {
                named(of, inside, definition.package, &names.path)
            }
        }
        Element::Message(index) => named(of, inside, of.schema[index].package, &of.names.message(index).ty),
        Element::String(Extent::Fixed(size)) => format!("structframe::FixedText<{size}>"),
        Element::String(Extent::Bounded(max)) => format!("structframe::Text<{max}>"),
        Element::Bytes(Extent::Fixed(size)) => format!("structframe::Array<std::uint8_t, {size}>"),
        Element::Bytes(Extent::Bounded(max)) => format!("structframe::Bounded<std::uint8_t, {max}>"),
    }
}

/// A type of a package: in full when it is another's, or when something inside the message has its name.
fn named(of: Of<'_>, inside: &Message, package: PackageIndex, name: &str) -> String {
    let met = of.names.message(inside.index).inside.contains(name);
    let accessor = name.starts_with("as_") || name.starts_with("set_");
    if package == inside.package && !met && !accessor {
        name.to_owned()
    } else {
        format!("::structframe::{}::{name}", of.names.package(package))
    }
}

/// Comment lines.
pub(super) fn comment(text: &mut Text, lines: &[String]) {
    text.lines(lines.iter().map(|line| format!("// {}", unspliced(line))));
}

/// A backslash at the end, also one spelled as a trigraph, would draw the next line into the comment.
fn unspliced(mut line: &str) -> &str {
    loop {
        let shorter = line.trim_end().trim_end_matches('\\');
        let shorter = shorter.strip_suffix("??/").unwrap_or(shorter);
        if shorter.len() == line.len() {
            return line;
        }
        line = shorter;
    }
}

/// What comes after the name of a field: its default, or nothing set.
pub(super) fn initial(of: Of<'_>, inside: &Message, field: &Field) -> String {
    match (&field.default, field.ty.element()) {
        (None, _) => "{}".to_owned(),
        (Some(DefaultValue::Bool(value)), _) => format!(" = {value}"),
        (Some(DefaultValue::Integer(value)), Element::Scalar(scalar)) => format!(" = {}", c::integer(scalar, *value)),
        (Some(DefaultValue::Real(value)), Element::Scalar(Scalar::Float)) => {
            format!(" = {}", real(*value, format!("{:?}f", *value as f32), "float"))
        }
        (Some(DefaultValue::Real(value)), _) => format!(" = {}", real(*value, format!("{value:?}"), "double")),
        (Some(DefaultValue::Enum { name, number }), Element::Enum(index)) => {
            let ty = element_type(of, inside, field.ty.element());
            let place = of.schema[index].values.iter().position(|value| value.name == *name);
            match place {
                Some(place) => format!(" = {ty}::{}", of.names.of_enum(index).values[place]),
                None => format!(" = static_cast<{ty}>({number})"),
            }
        }
        (Some(DefaultValue::Text(text)), Element::String(_)) => format!("{{{}}}", c::text_literal(text.as_bytes())),
        (Some(DefaultValue::Text(text)), _) => {
            let bytes: Vec<String> = text.bytes().map(|byte| format!("0x{byte:02x}")).collect();
            if bytes.is_empty() { "{}".to_owned() } else { format!("{{{}}}", bytes.join(", ")) }
        }
        (Some(_), _) => "{}".to_owned(),
    }
}

fn real(value: f64, finite: String, ty: &str) -> String {
    match value {
        value if value.is_finite() => finite,
        value if value < 0.0 => format!("-std::numeric_limits<{ty}>::infinity()"),
        _ => format!("std::numeric_limits<{ty}>::infinity()"),
    }
}
