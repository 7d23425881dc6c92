//! Schema types as C# types and expressions.

use super::names::Names;
use crate::text::Text;
use fw_schema::Schema;
use fw_schema::layout::{DefaultValue, Element, EnumIndex, Extent, Field, MessageIndex, PackageIndex, Scalar, Type};

/// What a package's file is printed from.
pub(super) struct Context<'s> {
    pub(super) schema: &'s Schema,
    pub(super) names: &'s Names,
    /// The package whose file it is.
    pub(super) package: PackageIndex,
}

impl Context<'_> {
    pub(super) fn enum_type(&self, index: EnumIndex) -> String {
        self.path(self.schema[index].package, &self.names.of_enum(index).ty)
    }

    pub(super) fn message_type(&self, index: MessageIndex) -> String {
        self.path(self.schema[index].package, &self.names.message(index).ty)
    }

    /// The class where an expression is expected: there a property of the same name would hide it.
    pub(super) fn message_class(&self, index: MessageIndex) -> String {
        let namespace = self.names.namespace(self.schema[index].package);
        format!("global::{namespace}.{}", self.names.message(index).ty)
    }

    pub(super) fn element(&self, element: Element) -> String {
        match element {
            Element::Scalar(scalar) => scalar_type(scalar).to_owned(),
            Element::Enum(index) => self.enum_type(index),
            Element::Message(index) => self.message_type(index),
            Element::String(_) => "string".to_owned(),
            Element::Bytes(_) => "byte[]".to_owned(),
        }
    }

    pub(super) fn field(&self, ty: Type) -> String {
        match ty {
            Type::One(element) => self.element(element),
            Type::Array { element: Element::Bytes(_), extent: Extent::Fixed(_) } => "byte[][]".to_owned(),
            Type::Array { element, extent: Extent::Fixed(_) } => format!("{}[]", self.element(element)),
            Type::Array { element, extent: Extent::Bounded(_) } => format!("List<{}>", self.element(element)),
        }
    }

    /// A statement that writes `value`.
    pub(super) fn write(&self, element: Element, value: &str, name: &str) -> String {
        match element {
            Element::Scalar(scalar) => format!("to.{}({value})", scalar_method(scalar)),
            Element::Enum(_) => format!("to.UInt8((byte){value})"),
            Element::Message(_) => format!("Rt::PayloadWriter.Given({value}, \"{name}\").WriteTo(to)"),
            Element::String(Extent::Fixed(size)) => format!("to.FixedText({value}, {size}, \"{name}\")"),
            Element::String(Extent::Bounded(limit)) => format!("to.Text({value}, {limit}, \"{name}\")"),
            Element::Bytes(Extent::Fixed(size)) => format!("to.FixedBlob({value}, {size}, \"{name}\")"),
            Element::Bytes(Extent::Bounded(limit)) => format!("to.Blob({value}, {limit}, \"{name}\")"),
        }
    }

    /// An expression that reads a value from `from`; `name` is an expression too.
    pub(super) fn read(&self, element: Element, from: &str, name: &str) -> String {
        match element {
            Element::Scalar(scalar) => format!("{from}.{}({name})", scalar_method(scalar)),
            Element::Enum(index) => format!("({}){from}.UInt8({name})", self.enum_type(index)),
            Element::Message(index) => format!("{}.ReadFrom({from})", self.message_class(index)),
            Element::String(Extent::Fixed(size)) => format!("{from}.FixedText({size}, {name})"),
            Element::String(Extent::Bounded(limit)) => format!("{from}.Text({limit}, {name})"),
            Element::Bytes(Extent::Fixed(size)) => format!("{from}.Raw({size}, {name})"),
            Element::Bytes(Extent::Bounded(limit)) => format!("{from}.Blob({limit}, {name})"),
        }
    }

    /// The value of a field in a new message; empty for the language's own.
    pub(super) fn initial(&self, field: &Field) -> String {
        match (&field.default, field.ty) {
            (Some(default), Type::One(element)) => self.default(default, element),
            (_, Type::One(Element::Scalar(_) | Element::Enum(_))) => String::new(),
            (_, Type::One(Element::Message(index))) => format!("new {}()", self.message_type(index)),
            (_, Type::One(Element::String(_))) => "\"\"".to_owned(),
            (_, Type::One(Element::Bytes(Extent::Fixed(size)))) => format!("new byte[{size}]"),
            (_, Type::One(Element::Bytes(Extent::Bounded(_)))) => "new byte[0]".to_owned(),
            (_, Type::Array { extent: Extent::Bounded(_), .. }) => format!("new {}()", self.field(field.ty)),
            // Slots of an array are zeros, also where the element has defaults (SF-10.3).
            (_, Type::Array { element, extent: Extent::Fixed(size) }) => match element {
                Element::Message(index) => {
                    format!("Rt::Values.Filled({size}, {}.Zero)", self.message_class(index))
                }
                Element::String(_) => format!("Rt::Values.Filled({size}, () => \"\")"),
                Element::Bytes(extent) => format!("Rt::Values.Filled({size}, () => new byte[{}])", extent.limit()),
                Element::Scalar(_) | Element::Enum(_) => format!("new {}[{size}]", self.element(element)),
            },
        }
    }

    fn default(&self, default: &DefaultValue, element: Element) -> String {
        match (default, element) {
            (DefaultValue::Bool(value), _) => value.to_string(),
            (DefaultValue::Integer(value), Element::Scalar(Scalar::Float | Scalar::Double)) => {
                self.default(&DefaultValue::Real(*value as f64), element)
            }
            (DefaultValue::Integer(value), Element::Scalar(Scalar::Uint64)) => format!("{value}UL"),
            (DefaultValue::Integer(value), Element::Scalar(Scalar::Int64)) => format!("{value}L"),
            (DefaultValue::Integer(value), Element::Scalar(Scalar::Uint32)) => format!("{value}U"),
            (DefaultValue::Integer(value), _) => value.to_string(),
            (DefaultValue::Real(value), Element::Scalar(Scalar::Float)) => {
                let value = *value as f32;
                if value.is_finite() { format!("{value:?}f") } else { non_finite("float", value.into()) }
            }
            (DefaultValue::Real(value), _) if value.is_finite() => format!("{value:?}"),
            (DefaultValue::Real(value), _) => non_finite("double", *value),
            (DefaultValue::Enum { number, .. }, Element::Enum(index)) => {
                let at = self.schema[index].values.iter().position(|value| value.number == *number);
                let names = self.names.of_enum(index);
                let ty = format!("global::{}.{}", self.names.namespace(self.schema[index].package), names.ty);
                match at.and_then(|at| names.values.get(at)) {
                    Some(name) => format!("{ty}.{name}"),
                    None => format!("({ty}){number}"),
                }
            }
            (DefaultValue::Enum { number, .. }, _) => number.to_string(),
            (DefaultValue::Text(text), Element::Bytes(extent)) => {
                let mut bytes = text.as_bytes().to_vec();
                if extent.prefix_len() == 0 {
                    bytes.resize(extent.limit(), 0);
                }
                let bytes: Vec<_> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
                format!("new byte[] {{ {} }}", bytes.join(", "))
            }
            (DefaultValue::Text(text), Element::String(extent)) => {
                let shown = if extent.prefix_len() == 0 { text.split('\0').next().unwrap_or_default() } else { text };
                literal(shown)
            }
            (DefaultValue::Text(text), _) => literal(text),
        }
    }

    fn path(&self, package: PackageIndex, name: &str) -> String {
        if package == self.package {
            name.to_owned()
        } else {
            format!("global::{}.{name}", self.names.namespace(package))
        }
    }
}

fn non_finite(ty: &str, value: f64) -> String {
    let name = match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "PositiveInfinity",
        _ => "NegativeInfinity",
    };
    format!("{ty}.{name}")
}

/// A string literal.
pub(super) fn literal(text: &str) -> String {
    let mut out = "\"".to_owned();
    for unit in text.encode_utf16() {
        match char::from_u32(unit.into()) {
            Some(letter @ ('"' | '\\')) => out.extend(['\\', letter]),
            Some(letter @ ' '..='~') => out.push(letter),
            _ => out += &format!("\\u{unit:04x}"),
        }
    }
    out.push('"');
    out
}

pub(super) const fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint8 => "byte",
        Scalar::Int8 => "sbyte",
        Scalar::Uint16 => "ushort",
        Scalar::Int16 => "short",
        Scalar::Uint32 => "uint",
        Scalar::Int32 => "int",
        Scalar::Uint64 => "ulong",
        Scalar::Int64 => "long",
        Scalar::Float => "float",
        Scalar::Double => "double",
        Scalar::Bool => "bool",
    }
}

const fn scalar_method(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Uint8 => "UInt8",
        Scalar::Int8 => "Int8",
        Scalar::Uint16 => "UInt16",
        Scalar::Int16 => "Int16",
        Scalar::Uint32 => "UInt32",
        Scalar::Int32 => "Int32",
        Scalar::Uint64 => "UInt64",
        Scalar::Int64 => "Int64",
        Scalar::Float => "Single",
        Scalar::Double => "Double",
        Scalar::Bool => "Bool",
    }
}

/// The comment of the schema, or `otherwise`, as a summary.
pub(super) fn docs(text: &mut Text, docs: &[String], otherwise: &str) {
    let lines: Vec<String> = docs.iter().map(|line| escape(line.trim())).filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [] => text.line(format!("/// <summary>{}</summary>", escape(otherwise))),
        [one] => text.line(format!("/// <summary>{one}</summary>")),
        many => {
            text.line("/// <summary>");
            text.lines(many.iter().map(|line| format!("/// {line}")));
            text.line("/// </summary>")
        }
    };
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A head with its body in braces on lines of their own.
pub(super) fn braced(text: &mut Text, head: impl std::fmt::Display, fill: impl FnOnce(&mut Text)) {
    text.line(head).block("{", "}", fill);
}
