//! Scalars, hints and literals.

use super::module::Printer;
use fw_schema::layout::{DefaultValue, Element, Extent, Field, Scalar, Type};

/// The method of reader and writer for a scalar.
pub(super) const fn method(scalar: Scalar) -> &'static str {
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

const fn hint(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint64 | Scalar::Int64 => "bigint",
        Scalar::Bool => "boolean",
        _ => "number",
    }
}

const fn zero(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint64 | Scalar::Int64 => "0n",
        Scalar::Bool => "false",
        _ => "0",
    }
}

impl Printer<'_> {
    pub(super) fn element_hint(&self, element: Element) -> String {
        match element {
            Element::Scalar(scalar) => hint(scalar).to_owned(),
            Element::Enum(index) => self.enum_name(index),
            Element::Message(index) => self.message_name(index),
            Element::String(_) => "string".to_owned(),
            Element::Bytes(_) => "Uint8Array".to_owned(),
        }
    }

    pub(super) fn hint(&self, ty: Type) -> String {
        match ty {
            Type::One(element) => self.element_hint(element),
            Type::Array { element, .. } => format!("{}[]", self.element_hint(element)),
        }
    }

    /// What a new message holds.
    pub(super) fn initial(&self, field: &Field) -> String {
        match field.ty {
            Type::One(element) => match &field.default {
                Some(default) => self.literal(element, default),
                None => self.zero(element),
            },
            Type::Array { extent: Extent::Bounded(_), .. } => "[]".to_owned(),
            // Elements are zero, also where a single message would have its defaults.
            Type::Array { element: Element::Message(index), extent } => {
                let class = self.message_name(index);
                let zero = self.runtime_value("zeroMessage");
                format!("Array.from({{ length: {} }}, () => {zero}({class}))", extent.limit())
            }
            Type::Array { element, extent } => {
                format!("Array.from({{ length: {} }}, () => {})", extent.limit(), self.zero(element))
            }
        }
    }

    fn zero(&self, element: Element) -> String {
        match element {
            Element::Scalar(scalar) => zero(scalar).to_owned(),
            Element::Enum(index) => self.enum_value(index, 0),
            Element::Message(index) => format!("new {}()", self.message_name(index)),
            Element::String(_) => "\"\"".to_owned(),
            Element::Bytes(Extent::Bounded(_)) => "new Uint8Array(0)".to_owned(),
            Element::Bytes(Extent::Fixed(size)) => format!("new Uint8Array({size})"),
        }
    }

    fn literal(&self, element: Element, default: &DefaultValue) -> String {
        match (element, default) {
            (_, DefaultValue::Bool(value)) => value.to_string(),
            (Element::Scalar(Scalar::Uint64 | Scalar::Int64), DefaultValue::Integer(value)) => format!("{value}n"),
            (_, DefaultValue::Integer(value)) => value.to_string(),
            (Element::Scalar(Scalar::Float), DefaultValue::Real(value)) => {
                // What a reader will get back.
                if value.is_finite() { format!("Math.fround({})", real(*value)) } else { real(*value) }
            }
            (_, DefaultValue::Real(value)) => real(*value),
            (Element::Enum(index), DefaultValue::Enum { number, .. }) => self.enum_value(index, *number),
            (_, DefaultValue::Enum { number, .. }) => number.to_string(),
            (Element::Bytes(extent), DefaultValue::Text(text)) => {
                let mut content = text.as_bytes().to_vec();
                if let Extent::Fixed(size) = extent {
                    content.resize(usize::from(size), 0);
                }
                let bytes: Vec<String> = content.iter().map(|byte| byte.to_string()).collect();
                format!("Uint8Array.of({})", bytes.join(", "))
            }
            (_, DefaultValue::Text(text)) => string(text),
        }
    }
}

/// A number as JavaScript spells it.
pub(super) fn real(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value < 0.0 { "-Infinity" } else { "Infinity" }.to_owned()
    } else if value.fract() == 0.0 && value.abs() < 1e15 && (value != 0.0 || value.is_sign_positive()) {
        format!("{value}")
    } else {
        format!("{value:?}")
    }
}

/// A text literal.
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            ' '..='~' => out.push(letter),
            _ => out.push_str(&format!("\\u{{{:x}}}", u32::from(letter))),
        }
    }
    out + "\""
}
