//! Scalars, hints and literals.

use super::module::Printer;
use fw_schema::layout::{DefaultValue, Element, Extent, Field, Scalar, Type};

/// The code of a scalar for `struct`.
pub(super) const fn code(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint8 => "B",
        Scalar::Int8 => "b",
        Scalar::Uint16 => "H",
        Scalar::Int16 => "h",
        Scalar::Uint32 => "I",
        Scalar::Int32 => "i",
        Scalar::Uint64 => "Q",
        Scalar::Int64 => "q",
        Scalar::Float => "f",
        Scalar::Double => "d",
        Scalar::Bool => "?",
    }
}

/// The type of a scalar for NumPy.
pub(super) const fn column(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint8 => "u1",
        Scalar::Int8 => "i1",
        Scalar::Uint16 => "<u2",
        Scalar::Int16 => "<i2",
        Scalar::Uint32 => "<u4",
        Scalar::Int32 => "<i4",
        Scalar::Uint64 => "<u8",
        Scalar::Int64 => "<i8",
        Scalar::Float => "<f4",
        Scalar::Double => "<f8",
        Scalar::Bool => "?",
    }
}

const fn hint(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Float | Scalar::Double => "float",
        Scalar::Bool => "bool",
        _ => "int",
    }
}

const fn zero(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Float | Scalar::Double => "0.0",
        Scalar::Bool => "False",
        _ => "0",
    }
}

impl Printer<'_> {
    /// The type of one element.
    pub(super) fn element_hint(&self, element: Element) -> String {
        match element {
            Element::Scalar(scalar) => hint(scalar).to_owned(),
            Element::Enum(index) => self.enum_name(index),
            Element::Message(index) => self.message_name(index),
            Element::String(_) => "str".to_owned(),
            Element::Bytes(_) => "bytes".to_owned(),
        }
    }

    pub(super) fn hint(&self, ty: Type) -> String {
        match ty {
            Type::One(element) => self.element_hint(element),
            Type::Array { element, .. } => format!("list[{}]", self.element_hint(element)),
        }
    }

    /// What a new message holds.
    pub(super) fn initial(&self, field: &Field) -> String {
        let factory = |value: String| format!("_field(default_factory=lambda: {value})");
        match field.ty {
            Type::One(Element::Message(index)) if self.is_local(index) => {
                format!("_field(default_factory={})", self.message_name(index))
            }
            Type::One(Element::Message(index)) => factory(format!("{}()", self.message_name(index))),
            Type::One(Element::Enum(index)) => {
                let number = match &field.default {
                    Some(DefaultValue::Enum { number, .. }) => *number,
                    _ => 0,
                };
                let value = self.enum_value(index, number);
                // Another package may not be complete yet when this class is made.
                if self.is_local_enum(index) { value } else { factory(value) }
            }
            Type::One(element) => match &field.default {
                Some(default) => literal(element, default),
                None => self.zero(element),
            },
            Type::Array { extent: Extent::Bounded(_), .. } => "_field(default_factory=list)".to_owned(),
            Type::Array { element: Element::Message(index), extent } => {
                let class = self.message_name(index);
                // Elements are zero, also where a single message would have its defaults.
                let one = format!("{class}._read(bytes({class}.MAX_SIZE), 0)");
                factory(format!("[{one} for _ in range({})]", extent.limit()))
            }
            Type::Array { element, extent } => factory(format!("[{}] * {}", self.zero(element), extent.limit())),
        }
    }

    fn zero(&self, element: Element) -> String {
        match element {
            Element::Scalar(scalar) => zero(scalar).to_owned(),
            Element::Enum(index) => self.enum_value(index, 0),
            Element::Message(index) => format!("{}()", self.message_name(index)),
            Element::String(_) => "\"\"".to_owned(),
            Element::Bytes(Extent::Bounded(_)) => "b\"\"".to_owned(),
            Element::Bytes(Extent::Fixed(size)) => format!("bytes({size})"),
        }
    }
}

fn literal(element: Element, default: &DefaultValue) -> String {
    match (element, default) {
        (_, DefaultValue::Bool(value)) => if *value { "True" } else { "False" }.to_owned(),
        (_, DefaultValue::Integer(value)) => value.to_string(),
        (Element::Scalar(Scalar::Float), DefaultValue::Real(value)) if value.is_finite() => {
            format!("f32({})", real(*value))
        }
        (_, DefaultValue::Real(value)) => real(*value),
        (_, DefaultValue::Enum { number, .. }) => number.to_string(),
        (Element::Bytes(Extent::Fixed(size)), DefaultValue::Text(text)) => {
            format!("{}.ljust({size}, b\"\\0\")", bytes(text.as_bytes()))
        }
        (Element::Bytes(_), DefaultValue::Text(text)) => bytes(text.as_bytes()),
        (_, DefaultValue::Text(text)) => string(text),
    }
}

/// A float as Python spells it.
pub(super) fn real(value: f64) -> String {
    if value.is_nan() {
        "float(\"nan\")".to_owned()
    } else if value.is_infinite() {
        format!("float(\"{}inf\")", if value < 0.0 { "-" } else { "" })
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
            _ if u32::from(letter) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => out.push_str(&format!("\\U{:08x}", u32::from(letter))),
        }
    }
    out + "\""
}

/// A bytes literal.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let mut out = String::from("b\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out + "\""
}
