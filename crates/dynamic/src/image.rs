//! Wire layout to fixed layout and back (SF-6, SF-8): the only place that reads payloads sequentially.

use crate::error::Error;
use fw_schema::Schema;
use fw_schema::layout::{Element, Field, Message, Union, UnionWire};

/// What was noticed while expanding, for those who must reproduce the payload exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expanded {
    /// The payload did not carry every field.
    pub(crate) short: bool,
    /// A count exceeded its bound and was cut, or a union holds more than its member.
    pub(crate) irregular: bool,
}

/// Fills `image`, which holds the default image, from a payload in the fixed layout (SF-6.4).
pub(crate) fn overlay(payload: &[u8], image: &mut [u8]) -> Expanded {
    for (to, from) in image.iter_mut().zip(payload) {
        *to = *from;
    }
    Expanded { short: payload.len() < image.len(), irregular: payload.len() > image.len() }
}

/// Fills `image`, which holds the default image, from a payload in the wire layout of a variable message (SF-8.4).
pub(crate) fn expand(schema: &Schema, message: &Message, payload: &[u8], image: &mut [u8]) -> Result<Expanded, Error> {
    let mut reader = Reader { payload, at: 0 };
    let mut expanded = Expanded::default();
    for field in &message.fields {
        let start = reader.at;
        match reader.field(field, image) {
            Ok(()) => {}
            // An extension field that is not all there, and everything after it, keeps its default.
            Err(fault) if field.extension && fault.code == "truncated" => {
                return Ok(Expanded { short: true, irregular: start < payload.len() });
            }
            Err(fault) => return Err(fault.inside(&field.name)),
        }
    }
    let count = message.unions.len();
    for (index, union) in message.unions.iter().enumerate() {
        let last = index + 1 == count;
        expanded.irregular |= reader.union(schema, union, last, image).map_err(|fault| fault.inside(&union.name))?;
    }
    expanded.irregular |= reader.at < payload.len();
    Ok(expanded)
}

/// Appends the wire layout of a variable message, given its fixed layout (SF-8.1 to SF-8.3).
pub(crate) fn trim(message: &Message, image: &[u8], out: &mut Vec<u8>) {
    for field in &message.fields {
        let bytes = part(image, field.offset, field.size);
        match field.ty.extent().filter(|_| field.ty.prefix_len() > 0) {
            Some(extent) => {
                let prefix = field.ty.prefix_len();
                let count = number(part(bytes, 0, prefix)).min(extent.limit());
                out.extend_from_slice(part(bytes, 0, prefix + count * field.unit));
            }
            None => out.extend_from_slice(bytes),
        }
    }
    for union in &message.unions {
        let tag = part(image, union.offset, union.discriminator.len());
        let region = part(image, union.region_offset(), union.region);
        out.extend_from_slice(tag);
        if union.wire == UnionWire::Full {
            out.extend_from_slice(region);
            continue;
        }
        let tag = number(tag);
        let held = match union.member_by_tag(tag as u16) {
            Some(member) => member.size,
            None if tag == 0 => 0,
            // The length of what we do not know: up to its last byte that says something.
            None => region.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1),
        };
        let len = held.max(union.min_size);
        if union.wire == UnionWire::Prefixed {
            out.extend_from_slice(&(len as u16).to_le_bytes());
        }
        let held = part(region, 0, held);
        out.extend_from_slice(held);
        out.extend(std::iter::repeat_n(0, len - held.len()));
    }
}

/// `len` bytes from `at`; fewer only if the image is not of this message, which no caller does.
pub(crate) fn part(bytes: &[u8], at: usize, len: usize) -> &[u8] {
    bytes.get(at..).map_or(&[], |rest| rest.get(..len).unwrap_or(rest))
}

/// A little-endian number of up to eight bytes.
pub(crate) fn number(bytes: &[u8]) -> usize {
    match *bytes {
        [one] => one.into(),
        [low, high] => u16::from_le_bytes([low, high]).into(),
        _ => bytes.iter().rev().fold(0, |number, byte| (number << 8) | usize::from(*byte)),
    }
}

struct Reader<'a> {
    payload: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn left(&self) -> usize {
        self.payload.len() - self.at
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        if len > self.left() {
            return Err(Error::truncated(len, self.left(), self.at));
        }
        let bytes = part(self.payload, self.at, len);
        self.at += len;
        Ok(bytes)
    }

    fn field(&mut self, field: &Field, image: &mut [u8]) -> Result<(), Error> {
        let begin = self.at;
        let prefix = field.ty.prefix_len();
        let bytes = match field.ty.extent().filter(|_| prefix > 0) {
            Some(extent) => {
                let count = number(self.take(prefix)?);
                if count > extent.limit() {
                    let message = format!("count {count} exceeds the bound {}", extent.limit());
                    return Err(Error::new("count_exceeds_bound", message).at(begin));
                }
                let body = self.take(count * field.unit);
                if body.is_err() {
                    self.at = begin;
                }
                body?;
                part(self.payload, begin, prefix + count * field.unit)
            }
            None => self.take(field.size)?,
        };
        put(image, field.offset, field.size, bytes);
        Ok(())
    }

    /// Reads a union; true when what was read cannot be written again from the fixed layout alone.
    fn union(&mut self, schema: &Schema, union: &Union, last: bool, image: &mut [u8]) -> Result<bool, Error> {
        if union.members.is_empty() {
            return Ok(false);
        }
        let tag_len = union.discriminator.len();
        let tag_at = self.at;
        let tag_bytes = self.take(tag_len)?;
        let tag = number(tag_bytes);
        let member = union.member_by_tag(tag as u16);
        let region_at = union.region_offset();
        put(image, union.offset, tag_len, tag_bytes);
        match union.wire {
            UnionWire::Full => {
                // An older sender's region ends with its base.
                let len = union.region.min(self.left().max(union.base_region));
                let bytes = self.take(len)?;
                put(image, region_at, union.region, bytes);
                Ok(len < union.region)
            }
            UnionWire::Trimmed => {
                let Some(size) = member.map(|member| member.size).or((tag == 0).then_some(0)) else {
                    if !last {
                        let message = format!("unknown tag {tag} hides what follows");
                        return Err(Error::new("unknown_tag", message).at(tag_at));
                    }
                    let rest = self.take(self.left())?;
                    put(image, region_at, union.region, part(rest, 0, union.region));
                    return Ok(true);
                };
                let bytes = self.take(size)?;
                put(image, region_at, union.region, bytes);
                let padding = self.take(union.min_size.saturating_sub(size))?;
                Ok(padding.iter().any(|byte| *byte != 0))
            }
            UnionWire::Prefixed => {
                let len = number(self.take(2)?);
                let bytes = self.take(len)?;
                let size = member.map_or(union.region, |member| member.size);
                put(image, region_at, union.region, part(bytes, 0, size.min(union.region)));
                let Some(member) = member else { return Ok(tag != 0 || bytes.iter().any(|byte| *byte != 0)) };
                // A shorter member is completed with its defaults (SF-8.3).
                if let Element::Message(inner) = member.element
                    && len < member.size
                {
                    let defaults = schema.default_image(&schema[inner]);
                    if let Some(missing) = image.get_mut(region_at + len..region_at + member.size) {
                        missing.copy_from_slice(part(&defaults, len, missing.len()));
                    }
                }
                let canonical = len == member.size.max(union.min_size);
                Ok(!canonical || bytes.iter().skip(member.size).any(|byte| *byte != 0))
            }
        }
    }
}

/// Writes `bytes` at the beginning of a part of the image and zeros over the rest of it.
fn put(image: &mut [u8], at: usize, len: usize, bytes: &[u8]) {
    let Some(part) = image.get_mut(at..at + len) else { return };
    let Some((used, rest)) = part.split_at_mut_checked(bytes.len()) else { return };
    used.copy_from_slice(bytes);
    rest.fill(0);
}
