//! Values to bytes.

use super::descriptor::{Names, descriptors};
use fw_dynamic::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Element, Message, Scalar, Type};
use prost::Message as _;
use prost::encoding::{WireType, encode_key, encode_varint};

/// The messages of a schema in protobuf.
///
/// ```
/// use fw_dynamic::Value;
/// use fw_telemetry::Protobuf;
///
/// let text = "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }";
/// let schema = fw_schema::check_text("demo.sf", text).into_result().unwrap();
/// let protobuf = Protobuf::new(&schema);
/// let ping = schema.by_id(7).unwrap();
/// let value = Value::Message(vec![("seq", Value::Unsigned(150)), ("ack", Value::Bool(true))]);
/// let mut bytes = Vec::new();
/// assert!(protobuf.encode(ping, &value, &mut bytes).is_whole());
/// assert_eq!(bytes, [0x08, 0x96, 0x01, 0x10, 0x01]);
/// assert_eq!(protobuf.name(ping), "demo.Ping");
/// ```
#[derive(Debug)]
pub struct Protobuf<'s> {
    schema: &'s Schema,
    names: Names,
}

/// What of a message protobuf cannot hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Strings that are not UTF-8: written with replacement characters.
    pub bad_text: u32,
    /// Oneofs with a tag that the schema does not know: not written.
    pub unknown_tags: u32,
}

impl Kept {
    /// True when everything was written.
    pub const fn is_whole(self) -> bool {
        self.bad_text == 0 && self.unknown_tags == 0
    }
}

impl<'s> Protobuf<'s> {
    /// The mapping of a schema.
    pub fn new(schema: &'s Schema) -> Self {
        Self { schema, names: Names::new(schema) }
    }

    /// The full name of a message.
    pub fn name(&self, message: &Message) -> &str {
        self.names.messages.get(message.index.get()).map_or("", String::as_str)
    }

    /// A serialised `FileDescriptorSet` with a message and everything it contains.
    pub fn descriptors(&self, message: &Message) -> Vec<u8> {
        descriptors(self.schema, &self.names, message.index).encode_to_vec()
    }

    /// Appends a message. As proto3 has it, zeros and what is empty are left out.
    pub fn encode(&self, message: &Message, value: &Value<'_>, out: &mut Vec<u8>) -> Kept {
        let mut kept = Kept::default();
        self.message(message, value, out, &mut kept);
        kept
    }

    fn message(&self, message: &Message, value: &Value<'_>, out: &mut Vec<u8>, kept: &mut Kept) {
        let Value::Message(entries) = value else { return };
        let at = message.index.get();
        // Values are in the order of the schema, unions last.
        let numbers = self.names.fields.get(at).into_iter().flatten();
        let mut entries = entries.iter().map(|(_, value)| value);
        for ((field, number), value) in message.fields.iter().zip(numbers).zip(entries.by_ref()) {
            match (field.ty, value) {
                (Type::Array { element, .. }, Value::List(list)) => self.list(*number, element, list, out, kept),
                (ty, value) => self.field(*number, ty.element(), value, Zeros::LeftOut, out, kept),
            }
        }
        let numbers = self.names.members.get(at).into_iter().flatten();
        let regions = self.names.regions.get(at).into_iter().flatten();
        for (((union, numbers), region), value) in message.unions.iter().zip(numbers).zip(regions).zip(entries) {
            let Value::Union(held) = value else { continue };
            match &**held {
                UnionValue::Unset => {}
                UnionValue::Member { name, value } => {
                    let member = union.members.iter().zip(numbers).find(|(member, _)| member.name == *name);
                    if let Some((member, number)) = member {
                        self.field(*number, member.element, value, Zeros::Written, out, kept);
                    }
                }
                UnionValue::Unknown { .. } => kept.unknown_tags = kept.unknown_tags.saturating_add(1),
                UnionValue::Untagged(bytes) => delimited(*region, bytes, out),
            }
        }
    }

    fn list(&self, number: u32, element: Element, list: &[Value<'_>], out: &mut Vec<u8>, kept: &mut Kept) {
        if list.is_empty() {
            return;
        }
        match element {
            Element::Scalar(_) | Element::Enum(_) => {
                let mut packed = Vec::new();
                list.iter().for_each(|value| bare(value, &mut packed));
                delimited(number, &packed, out);
            }
            element => list.iter().for_each(|value| self.field(number, element, value, Zeros::Written, out, kept)),
        }
    }

    fn field(
        &self,
        number: u32,
        element: Element,
        value: &Value<'_>,
        zeros: Zeros,
        out: &mut Vec<u8>,
        kept: &mut Kept,
    ) {
        match (element, value) {
            (Element::Message(index), value) => {
                let mut inner = Vec::new();
                self.message(&self.schema[index], value, &mut inner, kept);
                delimited(number, &inner, out);
            }
            (Element::String(_), Value::Bytes(bytes)) => {
                kept.bad_text = kept.bad_text.saturating_add(1);
                delimited(number, String::from_utf8_lossy(bytes).as_bytes(), out);
            }
            (_, Value::Text(text)) if !text.is_empty() || zeros == Zeros::Written => {
                delimited(number, text.as_bytes(), out);
            }
            (_, Value::Bytes(bytes)) if !bytes.is_empty() || zeros == Zeros::Written => delimited(number, bytes, out),
            (Element::Scalar(_) | Element::Enum(_), value) if zeros == Zeros::Written || !is_zero(value) => {
                encode_key(number, wire_type(element), out);
                bare(value, out);
            }
            _ => {}
        }
    }
}

/// Whether a field that is zero or empty is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zeros {
    LeftOut,
    Written,
}

fn delimited(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// A number without its key.
fn bare(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Bool(value) => out.push(u8::from(*value)),
        Value::Unsigned(value) | Value::Unsigned64(value) => encode_varint(*value, out),
        // Zigzag: small negative numbers stay short.
        Value::Signed(value) | Value::Signed64(value) => encode_varint(((value << 1) ^ (value >> 63)) as u64, out),
        Value::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
        Value::Double(value) => out.extend_from_slice(&value.to_le_bytes()),
        Value::Enum(byte, _) => encode_varint((*byte).into(), out),
        _ => {}
    }
}

const fn wire_type(element: Element) -> WireType {
    match element {
        Element::Scalar(Scalar::Float) => WireType::ThirtyTwoBit,
        Element::Scalar(Scalar::Double) => WireType::SixtyFourBit,
        _ => WireType::Varint,
    }
}

fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Unsigned(value) | Value::Unsigned64(value) => *value == 0,
        Value::Signed(value) | Value::Signed64(value) => *value == 0,
        // Minus zero is not what a reader fills in.
        Value::Float(value) => value.to_bits() == 0,
        Value::Double(value) => value.to_bits() == 0,
        Value::Enum(byte, _) => *byte == 0,
        _ => false,
    }
}
