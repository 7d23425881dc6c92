//! How elements, comments and literals are spelled.

use super::Of;
use crate::text::Text;
use fw_schema::layout::{DefaultValue, Element, Extent, Field, Scalar, Type};

/// `uint16_t`.
pub(super) const fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint8 => "uint8_t",
        Scalar::Int8 => "int8_t",
        Scalar::Uint16 => "uint16_t",
        Scalar::Int16 => "int16_t",
        Scalar::Uint32 => "uint32_t",
        Scalar::Int32 => "int32_t",
        Scalar::Uint64 => "uint64_t",
        Scalar::Int64 => "int64_t",
        Scalar::Float => "float",
        Scalar::Double => "double",
        Scalar::Bool => "bool",
    }
}

/// The end of the runtime's functions for a scalar.
pub(super) const fn scalar_word(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint8 => "u8",
        Scalar::Int8 => "i8",
        Scalar::Uint16 => "u16",
        Scalar::Int16 => "i16",
        Scalar::Uint32 => "u32",
        Scalar::Int32 => "i32",
        Scalar::Uint64 => "u64",
        Scalar::Int64 => "i64",
        Scalar::Float => "f32",
        Scalar::Double => "f64",
        Scalar::Bool => "bool",
    }
}

/// The type of a count, and of a tag, of this many bytes.
pub(super) const fn counter(bytes: usize) -> &'static str {
    if bytes == 1 { "uint8_t" } else { "uint16_t" }
}

/// The largest number that a count of this many bytes holds.
pub(super) const fn counter_max(bytes: usize) -> usize {
    if bytes == 1 { 0xff } else { 0xffff }
}

/// The type of one element, and what comes after the name: dimensions of text.
fn element_type(of: Of<'_>, element: Element) -> (String, String) {
    match element {
        Element::Scalar(scalar) => (scalar_type(scalar).to_owned(), String::new()),
        Element::Enum(index) => (of.names.of_enum(index).ty.clone(), String::new()),
        Element::Message(index) => (of.names.message(index).ty.clone(), String::new()),
        Element::String(Extent::Fixed(size)) => ("char".to_owned(), format!("[{size}]")),
        Element::Bytes(Extent::Fixed(size)) => ("uint8_t".to_owned(), format!("[{size}]")),
        Element::String(Extent::Bounded(max)) => (bounded("char", max), String::new()),
        Element::Bytes(Extent::Bounded(max)) => (bounded("uint8_t", max), String::new()),
    }
}

fn bounded(unit: &str, max: u16) -> String {
    let count = counter(Extent::Bounded(max).prefix_len());
    format!("struct {{\n    {count} length;\n    {unit} data[{max}];\n}}")
}

/// The declaration of a member.
pub(super) fn declare(of: Of<'_>, ty: Type, name: &str) -> String {
    let (element, dimension) = element_type(of, ty.element());
    match ty {
        Type::One(_) => format!("{element} {name}{dimension};"),
        Type::Array { extent: Extent::Fixed(count), .. } => format!("{element} {name}[{count}]{dimension};"),
        Type::Array { extent: extent @ Extent::Bounded(max), .. } => {
            let count = counter(extent.prefix_len());
            format!("struct {{\n    {count} count;\n    {element} items[{max}]{dimension};\n}} {name};")
        }
    }
}

/// The type of a parameter for a scalar, an enum or a message; `None` for text and blobs.
pub(super) fn value_type(of: Of<'_>, element: Element) -> Option<String> {
    match element {
        Element::String(_) | Element::Bytes(_) => None,
        _ => Some(element_type(of, element).0),
    }
}

/// A comment of these lines.
pub(super) fn comment(text: &mut Text, lines: &[String]) {
    // Neither end nor begin of a comment may stand in a comment, and no backslash that is spelled as a trigraph.
    let clean = |line: &String| line.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /");
    let clean: Vec<String> = lines.iter().map(clean).collect();
    match clean.as_slice() {
        [] => {}
        [one] => text.put(format!("/* {} */", one.trim())),
        [first, more @ ..] => {
            text.line(format!("/* {}", first.trim_end()));
            let last = more.len() - 1;
            for (at, line) in more.iter().enumerate() {
                text.line(format!("   {}{}", line.trim_end(), if at == last { " */" } else { "" }));
            }
        }
    }
}

/// A C string literal of these bytes.
pub fn text_literal(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' | b'?' => out.extend(['\\', char::from(byte)]),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => out += &format!("\\{byte:03o}"),
        }
    }
    out + "\""
}

/// The literal of a default that is one value; `None` for text.
pub(super) fn default_literal(of: Of<'_>, field: &Field) -> Option<String> {
    Some(match (field.default.as_ref()?, field.ty.element()) {
        (DefaultValue::Bool(value), _) => value.to_string(),
        (DefaultValue::Integer(value), Element::Scalar(scalar)) => integer(scalar, *value),
        (DefaultValue::Real(value), Element::Scalar(Scalar::Float)) => {
            float(f64::from(*value as f32), "f", *value as f32)
        }
        (DefaultValue::Real(value), _) => real(*value),
        (DefaultValue::Enum { name, number }, Element::Enum(index)) => {
            let place = of.schema[index].values.iter().position(|value| value.name == *name);
            place.map_or_else(|| number.to_string(), |place| of.names.of_enum(index).values[place].clone())
        }
        _ => return None,
    })
}

/// An integer literal of this type; the smallest ones cannot be written in one piece.
pub(crate) fn integer(scalar: Scalar, value: i128) -> String {
    match scalar {
        Scalar::Uint64 => format!("UINT64_C({value})"),
        Scalar::Int64 if value == i128::from(i64::MIN) => "(-INT64_C(9223372036854775807) - 1)".to_owned(),
        Scalar::Int64 => format!("INT64_C({value})"),
        Scalar::Uint32 => format!("UINT32_C({value})"),
        Scalar::Int32 if value == i128::from(i32::MIN) => "(-INT32_C(2147483647) - 1)".to_owned(),
        Scalar::Int32 => format!("INT32_C({value})"),
        _ => value.to_string(),
    }
}

fn float(wide: f64, end: &str, value: f32) -> String {
    if wide.is_finite() { format!("{value:?}{end}") } else { infinite(wide) }
}

fn real(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { infinite(value) }
}

fn infinite(value: f64) -> String {
    if value < 0.0 { "-INFINITY".to_owned() } else { "INFINITY".to_owned() }
}

/// `base + offset`, or `base` alone.
pub(super) fn plus(base: &str, offset: usize) -> String {
    match (base, offset) {
        ("", offset) => offset.to_string(),
        (base, 0) => base.to_owned(),
        (base, offset) => format!("{base} + {offset}"),
    }
}
