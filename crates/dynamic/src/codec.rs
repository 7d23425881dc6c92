//! Fixed layout to values and back.

use crate::error::Error;
use crate::image::{Expanded, expand, number, overlay, part, trim};
use crate::value::{UnionValue, Value};
use fw_schema::Schema;
use fw_schema::layout::{Discriminator, Element, Extent, Message, MessageIndex, Scalar, Type, Union};
use fw_structframe::Layout;
use std::borrow::Cow;
use std::sync::OnceLock;

/// What to do with payloads that a newer, older or careless peer sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strictness {
    /// Read them as the format says (SF-6.4): fill, ignore, clamp.
    #[default]
    Lenient,
    /// Refuse a length outside `MIN_SIZE` to `MAX_SIZE` of a message without extensions, and counts beyond their bounds.
    Strict,
}

/// Reads and writes payloads of the messages of a schema.
#[derive(Debug)]
pub struct Codec<'s> {
    schema: &'s Schema,
    strictness: Strictness,
    /// Default images, made when first needed.
    defaults: Vec<OnceLock<Vec<u8>>>,
}

impl<'s> Codec<'s> {
    /// A codec for a schema.
    pub fn new(schema: &'s Schema) -> Self {
        let defaults = schema.messages().iter().map(|_| OnceLock::new()).collect();
        Self { schema, strictness: Strictness::default(), defaults }
    }

    /// Chooses what to do with unusual payloads.
    #[must_use]
    pub fn with_strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = strictness;
        self
    }

    /// The schema.
    pub fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// When a variable message ends within its base, or a count in it exceeds its bound; in strict mode also as
    /// [`Strictness::Strict`] says.
    pub fn decode(&self, message: &'s Message, layout: Layout, payload: &[u8]) -> Result<Value<'s>, Error> {
        let image = self.image(message, layout, payload)?;
        self.message(message, &image)
    }

    /// Writes a payload.
    ///
    /// # Errors
    /// When the value does not fit the message: a missing or unknown field, text or an array that is too long, a
    /// number out of range.
    pub fn encode(&self, message: &Message, layout: Layout, value: &Value<'_>) -> Result<Vec<u8>, Error> {
        let mut image = vec![0; message.sizes.max];
        self.write_message(message, value, &mut image)?;
        if layout == Layout::Fixed || !message.variable {
            return Ok(image);
        }
        let mut out = Vec::with_capacity(image.len());
        trim(message, &image, &mut out);
        Ok(out)
    }

    /// The value of a new message: its defaults, and nothing set.
    pub fn default_value(&self, message: &'s Message) -> Value<'s> {
        self.message(message, self.default_image(message)).unwrap_or_else(|_| Value::Message(Vec::new()))
    }

    /// The fixed layout of a payload, borrowed when it is that already.
    fn image<'p>(&self, message: &Message, layout: Layout, payload: &'p [u8]) -> Result<Cow<'p, [u8]>, Error> {
        if payload.len() == message.sizes.max && !(message.variable && layout == Layout::Wire) {
            return Ok(Cow::Borrowed(payload));
        }
        let mut image = Vec::new();
        self.append_image(message, layout, payload, &mut image)?;
        Ok(Cow::Owned(image))
    }

    /// The same, with the caller's memory for a payload that has another layout.
    pub(crate) fn image_in<'p>(
        &self,
        message: &Message,
        layout: Layout,
        payload: &'p [u8],
        memory: &'p mut Vec<u8>,
    ) -> Result<&'p [u8], Error> {
        if payload.len() == message.sizes.max && !(message.variable && layout == Layout::Wire) {
            return Ok(payload);
        }
        memory.clear();
        self.append_image(message, layout, payload, memory)?;
        Ok(memory)
    }

    /// Appends the fixed layout of a payload; nothing is appended after a fault.
    pub(crate) fn append_image(
        &self,
        message: &Message,
        layout: Layout,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Expanded, Error> {
        if self.strictness == Strictness::Strict {
            self.check_length(message, layout, payload)?;
        }
        let max = message.sizes.max;
        let trimmed = message.variable && layout == Layout::Wire;
        if !trimmed && payload.len() >= max {
            out.extend_from_slice(part(payload, 0, max));
            return Ok(Expanded { short: false, irregular: payload.len() > max });
        }
        let begin = out.len();
        out.extend_from_slice(self.default_image(message));
        let image = out.get_mut(begin..).unwrap_or_default();
        if !trimmed {
            return Ok(overlay(payload, image));
        }
        let expanded = expand(self.schema, message, payload, image);
        if expanded.is_err() {
            out.truncate(begin);
        }
        expanded
    }

    fn check_length(&self, message: &Message, layout: Layout, payload: &[u8]) -> Result<(), Error> {
        let min = if layout == Layout::Wire { message.sizes.min } else { message.sizes.max };
        if message.is_extended() || (min..=message.sizes.max).contains(&payload.len()) {
            return Ok(());
        }
        let words = format!("{} bytes, expected {min} to {}", payload.len(), message.sizes.max);
        Err(Error::new("length_out_of_range", words).at(payload.len()))
    }

    pub(crate) fn default_image(&self, message: &Message) -> &[u8] {
        let ours = self.schema.messages().get(message.index.get()).is_some_and(|known| std::ptr::eq(known, message));
        match self.defaults.get(message.index.get()).filter(|_| ours) {
            Some(cell) => cell.get_or_init(|| self.schema.default_image(message)),
            // A message of another schema: its caller mixed them up. Nothing is filled, nothing panics.
            None => &[],
        }
    }

    // Reading.

    pub(crate) fn message(&self, message: &'s Message, image: &[u8]) -> Result<Value<'s>, Error> {
        let mut entries = Vec::with_capacity(message.fields.len() + message.unions.len());
        for field in &message.fields {
            let bytes = part(image, field.offset, field.size);
            let value = self.read(field.ty, field.unit, bytes).map_err(|fault| fault.inside(&field.name))?;
            entries.push((field.name.as_str(), value));
        }
        for union in &message.unions {
            let value = self.read_union(union, image).map_err(|fault| fault.inside(&union.name))?;
            entries.push((union.name.as_str(), Value::Union(Box::new(value))));
        }
        Ok(Value::Message(entries))
    }

    fn nested(&self, index: MessageIndex, bytes: &[u8]) -> Result<Value<'s>, Error> {
        let schema: &'s Schema = self.schema;
        self.message(&schema[index], bytes)
    }

    fn read(&self, ty: Type, unit: usize, bytes: &[u8]) -> Result<Value<'s>, Error> {
        match ty {
            Type::One(element) => self.element(element, bytes),
            Type::Array { element, extent } => {
                let (count, body) = self.counted(extent, bytes)?;
                let elements = body.chunks_exact(unit.max(1)).take(count);
                // Numbers cannot fail: no results to collect.
                if let Element::Scalar(scalar) = element {
                    return Ok(Value::List(elements.map(|bytes| read_scalar(scalar, bytes)).collect()));
                }
                let elements = elements.enumerate();
                let list =
                    elements.map(|(index, bytes)| self.element(element, bytes).map_err(|fault| fault.element(index)));
                list.collect::<Result<_, _>>().map(Value::List)
            }
        }
    }

    /// Count, clamped to its bound (SF-6.4), and content.
    pub(crate) fn counted<'b>(&self, extent: Extent, bytes: &'b [u8]) -> Result<(usize, &'b [u8]), Error> {
        let prefix = extent.prefix_len();
        let body = part(bytes, prefix, bytes.len().saturating_sub(prefix));
        let limit = extent.limit();
        let count = if prefix > 0 { number(part(bytes, 0, prefix)) } else { limit };
        if count > limit && self.strictness == Strictness::Strict {
            return Err(Error::new("count_exceeds_bound", format!("count {count} exceeds the bound {limit}")));
        }
        Ok((count.min(limit), body))
    }

    fn element(&self, element: Element, bytes: &[u8]) -> Result<Value<'s>, Error> {
        Ok(match element {
            Element::Scalar(scalar) => read_scalar(scalar, bytes),
            Element::Enum(index) => {
                let schema: &'s Schema = self.schema;
                let byte = number(bytes) as u8;
                Value::Enum(byte, schema[index].name_of(byte))
            }
            Element::Message(index) => return self.nested(index, bytes),
            Element::String(extent) => {
                let (count, body) = self.counted(extent, bytes)?;
                let mut text = part(body, 0, count);
                if let Extent::Fixed(_) = extent {
                    // Shown up to the first zero byte (SF-6.5).
                    text = text.split(|byte| *byte == 0).next().unwrap_or(text);
                }
                match std::str::from_utf8(text) {
                    Ok(text) => Value::Text(text.to_owned()),
                    Err(_) => Value::Bytes(text.to_vec()),
                }
            }
            Element::Bytes(extent) => {
                let (count, body) = self.counted(extent, bytes)?;
                Value::Bytes(part(body, 0, count).to_vec())
            }
        })
    }

    fn read_union(&self, union: &'s Union, image: &[u8]) -> Result<UnionValue<'s>, Error> {
        let region = part(image, union.region_offset(), union.region);
        if union.members.is_empty() {
            return Ok(UnionValue::Unset);
        }
        if union.discriminator == Discriminator::None {
            return Ok(UnionValue::Untagged(region.to_vec()));
        }
        let tag = number(part(image, union.offset, union.discriminator.len())) as u16;
        match union.member_by_tag(tag) {
            Some(member) => {
                let value = self.element(member.element, part(region, 0, member.size));
                Ok(UnionValue::Member { name: &member.name, value: value.map_err(|fault| fault.inside(&member.name))? })
            }
            None if tag == 0 => Ok(UnionValue::Unset),
            None => Ok(UnionValue::Unknown { tag, region: region.to_vec() }),
        }
    }

    // Writing.

    fn write_message(&self, message: &Message, value: &Value<'_>, image: &mut [u8]) -> Result<(), Error> {
        let Value::Message(entries) = value else { return Err(mismatch("a message", value)) };
        let expected = message.fields.len() + message.unions.len();
        if entries.len() != expected {
            let words = format!("{} values for {expected} fields and unions", entries.len());
            return Err(Error::new("field_count", words));
        }
        let find = |position: usize, name: &str| {
            let here = entries.get(position).filter(|(known, _)| *known == name);
            here.or_else(|| entries.iter().find(|(known, _)| *known == name))
                .map(|(_, value)| value)
                .ok_or_else(|| Error::new("missing_field", "no value given").inside(name))
        };
        for (position, field) in message.fields.iter().enumerate() {
            let bytes = slot(image, field.offset, field.size);
            self.write(field.ty, field.unit, find(position, &field.name)?, bytes)
                .map_err(|fault| fault.inside(&field.name))?;
        }
        for (position, union) in message.unions.iter().enumerate() {
            let value = find(message.fields.len() + position, &union.name)?;
            self.write_union(union, value, image).map_err(|fault| fault.inside(&union.name))?;
        }
        Ok(())
    }

    fn write(&self, ty: Type, unit: usize, value: &Value<'_>, bytes: &mut [u8]) -> Result<(), Error> {
        let Type::Array { element, extent } = ty else { return self.write_element(ty.element(), value, bytes) };
        let Value::List(list) = value else { return Err(mismatch("a list", value)) };
        let exact = extent.prefix_len() == 0 && list.len() != extent.limit();
        if list.len() > extent.limit() || exact {
            let words = format!("{} elements, the array has {}", list.len(), extent.limit());
            return Err(Error::new("array_length", words));
        }
        write_prefix(extent, list.len(), bytes);
        let body = slot(bytes, extent.prefix_len(), bytes.len());
        for (index, (value, bytes)) in list.iter().zip(body.chunks_exact_mut(unit.max(1))).enumerate() {
            self.write_element(element, value, bytes).map_err(|fault| fault.element(index))?;
        }
        Ok(())
    }

    fn write_element(&self, element: Element, value: &Value<'_>, bytes: &mut [u8]) -> Result<(), Error> {
        match element {
            Element::Scalar(scalar) => write_scalar(scalar, value, bytes),
            Element::Enum(_) => match value {
                Value::Enum(byte, _) => {
                    copy(bytes, &[*byte]);
                    Ok(())
                }
                _ => Err(mismatch("an enum", value)),
            },
            Element::Message(index) => self.write_message(&self.schema[index], value, bytes),
            Element::String(extent) | Element::Bytes(extent) => {
                let content = match value {
                    Value::Text(text) => text.as_bytes(),
                    Value::Bytes(bytes) => bytes,
                    _ => return Err(mismatch("text or bytes", value)),
                };
                if content.len() > extent.limit() {
                    let words = format!("{} bytes, the field has {}", content.len(), extent.limit());
                    return Err(Error::new("text_too_long", words));
                }
                if matches!(element, Element::String(Extent::Fixed(_))) && content.contains(&0) {
                    return Err(Error::new("text_with_zero", "a zero byte would end this fixed text"));
                }
                write_prefix(extent, content.len(), bytes);
                copy(slot(bytes, extent.prefix_len(), bytes.len()), content);
                Ok(())
            }
        }
    }

    fn write_union(&self, union: &Union, value: &Value<'_>, image: &mut [u8]) -> Result<(), Error> {
        let Value::Union(value) = value else { return Err(mismatch("a oneof", value)) };
        let tag_len = union.discriminator.len();
        let (tag, region) = slot(image, union.offset, tag_len + union.region).split_at_mut(tag_len);
        match &**value {
            UnionValue::Unset => Ok(()),
            UnionValue::Member { name, value } => {
                let member = union.member(name);
                let member = member.ok_or_else(|| Error::new("unknown_member", format!("no member `{name}`")))?;
                copy(tag, &member.tag.unwrap_or(0).to_le_bytes());
                self.write_element(member.element, value, slot(region, 0, member.size))
                    .map_err(|fault| fault.inside(name))
            }
            UnionValue::Unknown { tag: given, region: content } => {
                if tag_len == 0 || (tag_len == 1 && *given > 255) || content.len() > region.len() {
                    return Err(Error::new("unknown_tag", format!("tag {given} does not fit this oneof")));
                }
                copy(tag, &given.to_le_bytes());
                copy(region, content);
                Ok(())
            }
            UnionValue::Untagged(content) => {
                if tag_len > 0 || content.len() > region.len() {
                    let words = format!("{} bytes without a tag for a region of {}", content.len(), region.len());
                    return Err(Error::new("untagged_region", words));
                }
                copy(region, content);
                Ok(())
            }
        }
    }
}

fn mismatch(expected: &str, found: &Value<'_>) -> Error {
    let found = match found {
        Value::Bool(_) => "a bool",
        Value::Unsigned(_) | Value::Signed(_) | Value::Unsigned64(_) | Value::Signed64(_) => "an integer",
        Value::Float(_) | Value::Double(_) => "a float",
        Value::Enum(..) => "an enum",
        Value::Text(_) => "text",
        Value::Bytes(_) => "bytes",
        Value::List(_) => "a list",
        Value::Message(_) => "a message",
        Value::Union(_) => "a oneof",
    };
    Error::new("wrong_type", format!("expected {expected}, found {found}"))
}

fn slot(bytes: &mut [u8], at: usize, len: usize) -> &mut [u8] {
    let end = at.saturating_add(len).min(bytes.len());
    let at = at.min(end);
    &mut bytes[at..end]
}

fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

fn write_prefix(extent: Extent, count: usize, bytes: &mut [u8]) {
    copy(slot(bytes, 0, extent.prefix_len()), &count.to_le_bytes());
}

fn read_scalar(scalar: Scalar, bytes: &[u8]) -> Value<'static> {
    match scalar {
        Scalar::Uint8 => Value::Unsigned(u8::from_le_bytes(fixed(bytes)).into()),
        Scalar::Uint16 => Value::Unsigned(u16::from_le_bytes(fixed(bytes)).into()),
        Scalar::Uint32 => Value::Unsigned(u32::from_le_bytes(fixed(bytes)).into()),
        Scalar::Int8 => Value::Signed(i8::from_le_bytes(fixed(bytes)).into()),
        Scalar::Int16 => Value::Signed(i16::from_le_bytes(fixed(bytes)).into()),
        Scalar::Int32 => Value::Signed(i32::from_le_bytes(fixed(bytes)).into()),
        Scalar::Uint64 => Value::Unsigned64(u64::from_le_bytes(fixed(bytes))),
        Scalar::Int64 => Value::Signed64(i64::from_le_bytes(fixed(bytes))),
        Scalar::Float => Value::Float(f32::from_le_bytes(fixed(bytes))),
        Scalar::Double => Value::Double(f64::from_le_bytes(fixed(bytes))),
        Scalar::Bool => Value::Bool(fixed::<1>(bytes) != [0]),
    }
}

/// The first bytes of a field; the layout made sure that they are there.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

fn write_scalar(scalar: Scalar, value: &Value<'_>, bytes: &mut [u8]) -> Result<(), Error> {
    let raw = match (scalar, value) {
        (Scalar::Bool, Value::Bool(value)) => u64::from(*value),
        (Scalar::Float, Value::Float(value)) => u64::from(value.to_bits()),
        (Scalar::Double, Value::Double(value)) => value.to_bits(),
        (Scalar::Bool | Scalar::Float | Scalar::Double, _) => return Err(mismatch(scalar.name(), value)),
        (_, Value::Unsigned(value) | Value::Unsigned64(value)) => in_range(scalar, i128::from(*value))?,
        (_, Value::Signed(value) | Value::Signed64(value)) => in_range(scalar, i128::from(*value))?,
        _ => return Err(mismatch(scalar.name(), value)),
    };
    copy(bytes, &raw.to_le_bytes());
    Ok(())
}

/// The low bytes of an integer, if the type can hold it.
pub(crate) fn in_range(scalar: Scalar, value: i128) -> Result<u64, Error> {
    match scalar.range() {
        Some((low, high)) if (low..=high).contains(&value) => Ok(value as u64),
        _ => Err(Error::new("number_out_of_range", format!("{value} does not fit {}", scalar.name()))),
    }
}
