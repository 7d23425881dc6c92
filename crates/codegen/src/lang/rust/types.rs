//! Schema types as Rust types, and words about them.

use super::names::Names;
use super::style::attribute;
use crate::lang::RustSerde;
use crate::text::Text;
use fw_schema::Schema;
use fw_schema::layout::{DefaultValue, Element, EnumIndex, Extent, Field, MessageIndex, PackageIndex, Scalar, Type};

/// What a package's file is printed from.
pub(super) struct Context<'s> {
    pub(super) schema: &'s Schema,
    pub(super) names: &'s Names,
    /// The package whose file it is.
    pub(super) package: PackageIndex,
    pub(super) serde: RustSerde,
}

impl Context<'_> {
    /// What serde derives, if the crate's feature is on.
    pub(super) fn serde_derive(&self, text: &mut Text) {
        if self.serde == RustSerde::Feature {
            text.line("#[cfg_attr(feature = \"serde\", derive(serde::Serialize, serde::Deserialize))]");
        }
    }

    /// An attribute for a field: its name in the schema where Rust calls it otherwise, and a way for arrays, of which
    /// serde itself knows only short ones.
    pub(super) fn serde_field(&self, text: &mut Text, schema_name: &str, name: &str, ty: Type) {
        let mut options = Vec::new();
        if schema_name != name {
            options.push(format!("rename = \"{schema_name}\""));
        }
        if let Some(module) = serde_module(ty) {
            options.push(format!("with = \"fw_structframe::field::{module}\""));
        }
        if !options.is_empty() && self.serde == RustSerde::Feature {
            attribute(text, "cfg_attr", &["feature = \"serde\"".to_owned(), format!("serde({})", options.join(", "))]);
        }
    }

    pub(super) fn enum_type(&self, index: EnumIndex) -> String {
        self.path(self.schema[index].package, &self.names.of_enum(index).ty)
    }

    pub(super) fn message_type(&self, index: MessageIndex) -> String {
        self.path(self.schema[index].package, &self.names.message(index).ty)
    }

    pub(super) fn view_type(&self, index: MessageIndex) -> String {
        self.path(self.schema[index].package, &self.names.message(index).view)
    }

    pub(super) fn element(&self, element: Element) -> String {
        match element {
            Element::Scalar(scalar) => scalar_type(scalar).to_owned(),
            Element::Enum(index) => self.enum_type(index),
            Element::Message(index) => self.message_type(index),
            Element::String(Extent::Fixed(size)) => format!("rt::FixedText<{size}>"),
            Element::String(Extent::Bounded(limit)) => format!("rt::Text<{limit}>"),
            Element::Bytes(Extent::Fixed(size)) => format!("[u8; {size}]"),
            Element::Bytes(Extent::Bounded(limit)) => format!("rt::Bounded<u8, {limit}>"),
        }
    }

    pub(super) fn field(&self, ty: Type) -> String {
        match ty {
            Type::One(element) => self.element(element),
            Type::Array { element, extent: Extent::Fixed(size) } => format!("[{}; {size}]", self.element(element)),
            Type::Array { element, extent: Extent::Bounded(limit) } => {
                format!("rt::Bounded<{}, {limit}>", self.element(element))
            }
        }
    }

    /// The type as the schema says it.
    pub(super) fn described(&self, ty: Type) -> String {
        match ty {
            Type::One(element) => self.described_element(element),
            Type::Array { element, extent: Extent::Fixed(size) } => {
                format!("{size} of {}", self.described_element(element))
            }
            Type::Array { element, extent: Extent::Bounded(limit) } => {
                format!("Up to {limit} of {}", self.described_element(element))
            }
        }
    }

    pub(super) fn described_element(&self, element: Element) -> String {
        match element {
            Element::Scalar(scalar) => format!("`{}`", scalar.name()),
            Element::Enum(index) => format!("`{}`", self.schema[index].name),
            Element::Message(index) => format!("`{}`", self.schema[index].name),
            Element::String(Extent::Fixed(size)) => format!("`string` in {size} bytes"),
            Element::String(Extent::Bounded(limit)) => format!("`string` of up to {limit} bytes"),
            Element::Bytes(Extent::Fixed(size)) => format!("`bytes`, {size} of them"),
            Element::Bytes(Extent::Bounded(limit)) => format!("`bytes`, up to {limit} of them"),
        }
    }

    /// The value of a field in a new message.
    pub(super) fn initial(&self, field: &Field) -> String {
        match (&field.default, field.ty) {
            (Some(default), Type::One(element)) => self.default(default, element),
            // Slots of an array are zeros, also where the element has defaults (SF-10.3).
            (_, Type::Array { .. }) => match field.ty.prefix_len() {
                0 => "field::zeroed()".to_owned(),
                _ => "Default::default()".to_owned(),
            },
            (None, Type::One(Element::Scalar(Scalar::Bool))) => "false".to_owned(),
            (None, Type::One(Element::Scalar(Scalar::Float | Scalar::Double))) => "0.0".to_owned(),
            (None, Type::One(Element::Scalar(_))) => "0".to_owned(),
            (None, Type::One(Element::Bytes(Extent::Fixed(size)))) => format!("[0; {size}]"),
            (None, Type::One(_)) => "Default::default()".to_owned(),
        }
    }

    fn default(&self, default: &DefaultValue, element: Element) -> String {
        match (default, element) {
            (DefaultValue::Bool(value), _) => value.to_string(),
            (DefaultValue::Integer(value), Element::Scalar(Scalar::Float | Scalar::Double)) => {
                self.default(&DefaultValue::Real(*value as f64), element)
            }
            (DefaultValue::Integer(value), _) => value.to_string(),
            (DefaultValue::Real(value), Element::Scalar(Scalar::Float)) => {
                let value = *value as f32;
                if value.is_finite() { format!("{value:?}") } else { non_finite("f32", value.into()) }
            }
            (DefaultValue::Real(value), _) if value.is_finite() => format!("{value:?}"),
            (DefaultValue::Real(value), _) => non_finite("f64", *value),
            (DefaultValue::Enum { number, .. }, Element::Enum(index)) => {
                let at = self.schema[index].values.iter().position(|value| value.number == *number);
                let names = self.names.of_enum(index);
                match at.and_then(|at| names.values.get(at)) {
                    Some(name) => format!("{}::{name}", self.enum_type(index)),
                    None => format!("{}({number})", self.enum_type(index)),
                }
            }
            (DefaultValue::Enum { number, .. }, _) => number.to_string(),
            (DefaultValue::Text(text), Element::Bytes(Extent::Fixed(size))) => {
                format!("field::padded::<{size}>(b\"{}\")", text.as_bytes().escape_ascii())
            }
            (DefaultValue::Text(text), Element::Bytes(_)) => {
                format!("field::take(b\"{}\")", prefixed(text, element).escape_ascii())
            }
            (DefaultValue::Text(text), Element::String(Extent::Bounded(_))) => {
                format!("rt::Text::literal(\"{}\")", text.escape_default())
            }
            (DefaultValue::Text(text), _) => {
                let shown = text.split('\0').next().unwrap_or_default();
                format!("rt::FixedText::literal(\"{}\")", shown.escape_default())
            }
        }
    }

    fn path(&self, package: PackageIndex, name: &str) -> String {
        if package == self.package { name.to_owned() } else { format!("super::{}::{name}", self.names.module(package)) }
    }
}

/// Text with its length in front, as it stands in a payload.
fn prefixed(text: &str, element: Element) -> Vec<u8> {
    let prefix = Type::One(element).prefix_len();
    let len = (text.len() as u16).to_le_bytes();
    len.into_iter().take(prefix).chain(text.bytes()).collect()
}

fn non_finite(ty: &str, value: f64) -> String {
    let name = match value {
        _ if value.is_nan() => "NAN",
        _ if value > 0.0 => "INFINITY",
        _ => "NEG_INFINITY",
    };
    format!("{ty}::{name}")
}

pub(super) const fn scalar_type(scalar: Scalar) -> &'static str {
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

/// The comment of the schema, or `otherwise`.
pub(super) fn docs(text: &mut Text, docs: &[String], otherwise: &str) {
    if docs.iter().all(|line| line.trim().is_empty()) {
        text.line(format!("/// {otherwise}"));
    } else {
        text.lines(docs.iter().map(|line| format!("/// {}", prose(line.trim()))));
    }
}

/// A line of a comment without code blocks: rustdoc would compile and run what stands in them.
fn prose(line: &str) -> String {
    let mut line = line.replace("```", "\\`\\`\\`").replace("~~~", "\\~\\~\\~");
    while line.contains("    ") {
        line = line.replace("    ", "   ");
    }
    line
}

/// A place as an index: `[..8]` or `[8..9]`.
pub(super) fn range(at: usize, len: usize) -> String {
    if at == 0 { format!("[..{len}]") } else { format!("[{at}..{}]", at + len) }
}

const fn serde_module(ty: Type) -> Option<&'static str> {
    match ty {
        Type::Array { element: Element::Bytes(_), extent: Extent::Fixed(_) } => Some("blobs"),
        Type::Array { element: Element::Bytes(_), extent: Extent::Bounded(_) } => Some("bounded_blobs"),
        Type::Array { extent: Extent::Fixed(_), .. } | Type::One(Element::Bytes(Extent::Fixed(_))) => Some("array"),
        Type::Array { .. } | Type::One(_) => None,
    }
}
