//! Frames as lines of JSON, straight from the payload: the same text as a [`FrameLine`](crate::FrameLine), without a value in between.

use crate::codec::Codec;
use crate::error::Error;
use crate::frames::FrameCodec;
use crate::image::{number, part};
use crate::json::EnumStyle;
use crate::line::shown_name;
use fw_schema::Schema;
use fw_schema::layout::{Discriminator, Element, Extent, Message, Scalar, Type, Union};
use fw_structframe::{Frame, Header};

/// Writes frames as lines of JSON, as fast as they come: no memory is taken per frame or per field.
///
/// ```
/// use fw_dynamic::{Codec, FrameCodec, LineWriter};
/// use fw_structframe::{Event, Header, Profile};
///
/// let schema = fw_schema::check_text("demo.sf", "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }")
///     .into_result()
///     .unwrap();
/// let codec = Codec::new(&schema);
/// let frames = FrameCodec::new(&codec, Profile::Standard.framing());
/// let mut bytes = Vec::new();
/// frames.write_payload(7, Header::default(), &[0x34, 0x12, 1], &mut bytes).unwrap();
/// let (mut lines, mut text) = (LineWriter::new(&frames), Vec::new());
/// for event in frames.read(&bytes) {
///     let Event::Frame(frame) = event else { panic!() };
///     assert!(lines.write(&frame, None, &mut text).is_none());
/// }
/// assert_eq!(text, b"{\"at\":0,\"id\":7,\"message\":\"Ping\",\"values\":{\"seq\":4660,\"ack\":true}}\n");
/// ```
#[derive(Debug)]
pub struct LineWriter<'f, 's> {
    frames: &'f FrameCodec<'f, 's>,
    /// Messages that frames carry, by id.
    messages: Vec<Known<'s>>,
    /// Keys of every message of the schema: fields, then unions, each with its comma and colon.
    keys: Vec<Vec<Key>>,
    /// The fixed layout of a payload that has another.
    image: Vec<u8>,
}

#[derive(Debug)]
struct Known<'s> {
    id: u16,
    message: &'s Message,
    /// `,"id":7,"message":"Ping"`.
    head: Vec<u8>,
}

impl<'f, 's> LineWriter<'f, 's> {
    /// A writer for the frames of a codec.
    pub fn new(frames: &'f FrameCodec<'f, 's>) -> Self {
        let schema: &'s Schema = frames.schema();
        let known = |(id, message): (u16, &'s Message)| {
            let mut head = format!(",\"id\":{id},\"message\":").into_bytes();
            json(&mut head, &shown_name(schema, message));
            Known { id, message, head }
        };
        let mut messages: Vec<_> = schema.ids().map(known).collect();
        messages.sort_by_key(|known| known.id);
        let keys = schema.messages().iter().map(|message| {
            let fields = message.fields.iter().map(|field| field.name.as_str());
            let names = fields.chain(message.unions.iter().map(|union| union.name.as_str()));
            let key = |(index, name): (usize, &str)| {
                let mut key = if index == 0 { Vec::new() } else { b",".to_vec() };
                json(&mut key, name);
                key.push(b':');
                Key::new(&key)
            };
            names.enumerate().map(key).collect()
        });
        let keys = keys.collect();
        Self { frames, messages, keys, image: Vec::new() }
    }

    /// Appends a line. `received` is when the frame arrived, as text; what cannot be read is shown as bytes, and the error is
    /// returned.
    pub fn write(&mut self, frame: &Frame<'_>, received: Option<&str>, out: &mut Vec<u8>) -> Option<Error> {
        let begin = out.len();
        let at = self.messages.binary_search_by_key(&frame.id, |known| known.id);
        if let Some(known) = at.ok().and_then(|at| self.messages.get(at)) {
            out.extend_from_slice(b"{\"at\":");
            decimal(out, frame.span.start);
            if let Some(received) = received {
                out.extend_from_slice(b",\"received\":");
                json(out, received);
            }
            out.extend_from_slice(&known.head);
            let framing = self.frames.framing();
            let Header { sequence, system, component } = frame.header;
            if framing.has_sequence() {
                out.extend_from_slice(b",\"sequence\":");
                decimal(out, sequence.into());
            }
            if framing.has_system() {
                out.extend_from_slice(b",\"system\":");
                decimal(out, system.into());
                out.extend_from_slice(b",\"component\":");
                decimal(out, component.into());
            }
            if frame.recovered {
                out.extend_from_slice(b",\"recovered\":true");
            }
            out.extend_from_slice(b",\"values\":");
            self.image.clear();
            let codec = self.frames.codec();
            let image = codec.image_in(known.message, framing.layout(), frame.payload, &mut self.image);
            let printer = Printer { codec, keys: &self.keys, enums: self.frames.enums() };
            if image.and_then(|image| printer.message(known.message, image, out)).is_ok() {
                out.extend_from_slice(b"}\n");
                return None;
            }
        }
        // Unknown ids and payloads that cannot be read are rare, and need more words.
        out.truncate(begin);
        let mut line = self.frames.line(frame);
        line.received = received.map(str::to_owned);
        json(out, &line);
        out.push(b'\n');
        line.error
    }
}

struct Printer<'a, 's> {
    codec: &'a Codec<'s>,
    keys: &'a [Vec<Key>],
    enums: EnumStyle,
}

impl<'s> Printer<'_, 's> {
    fn message(&self, message: &'s Message, image: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut keys = self.keys.get(message.index.get()).map_or(&[][..], Vec::as_slice).iter();
        out.push(b'{');
        for (field, key) in message.fields.iter().zip(keys.by_ref()) {
            key.append(out);
            let bytes = part(image, field.offset, field.size);
            match field.ty {
                Type::One(element) => self.element(element, bytes, out)?,
                Type::Array { element, extent } => {
                    let (count, body) = self.codec.counted(extent, bytes)?;
                    out.push(b'[');
                    for (index, bytes) in body.chunks_exact(field.unit.max(1)).take(count).enumerate() {
                        if index > 0 {
                            out.push(b',');
                        }
                        self.element(element, bytes, out)?;
                    }
                    out.push(b']');
                }
            }
        }
        for (union, key) in message.unions.iter().zip(keys) {
            key.append(out);
            self.union(union, image, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    #[inline]
    fn element(&self, element: Element, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        match element {
            Element::Scalar(scalar) => self.scalar(scalar, bytes, out),
            Element::Enum(index) => {
                let byte = number(bytes) as u8;
                let schema: &'s Schema = self.codec.schema();
                let name = schema[index].name_of(byte).filter(|_| self.enums == EnumStyle::Names);
                match name {
                    // An identifier has nothing that JSON escapes.
                    Some(name) => {
                        out.push(b'"');
                        out.extend_from_slice(name.as_bytes());
                        out.push(b'"');
                    }
                    None => decimal(out, byte.into()),
                }
            }
            Element::Message(index) => {
                let schema: &'s Schema = self.codec.schema();
                self.message(&schema[index], bytes, out)?;
            }
            Element::String(extent) => {
                let (count, body) = self.codec.counted(extent, bytes)?;
                let mut text = part(body, 0, count);
                if let Extent::Fixed(_) = extent {
                    // Shown up to the first zero byte (SF-6.5).
                    text = text.split(|byte| *byte == 0).next().unwrap_or(text);
                }
                match std::str::from_utf8(text) {
                    Ok(text) => json(out, text),
                    Err(_) => hex(out, text),
                }
            }
            Element::Bytes(extent) => {
                let (count, body) = self.codec.counted(extent, bytes)?;
                hex(out, part(body, 0, count));
            }
        }
        Ok(())
    }

    #[inline]
    fn scalar(&self, scalar: Scalar, bytes: &[u8], out: &mut Vec<u8>) {
        match scalar {
            Scalar::Uint8 => decimal(out, u8::from_le_bytes(fixed(bytes)).into()),
            Scalar::Uint16 => decimal(out, u16::from_le_bytes(fixed(bytes)).into()),
            Scalar::Uint32 => decimal(out, u32::from_le_bytes(fixed(bytes)).into()),
            Scalar::Int8 => signed(out, i8::from_le_bytes(fixed(bytes)).into()),
            Scalar::Int16 => signed(out, i16::from_le_bytes(fixed(bytes)).into()),
            Scalar::Int32 => signed(out, i32::from_le_bytes(fixed(bytes)).into()),
            Scalar::Uint64 => quoted(out, |out| decimal(out, u64::from_le_bytes(fixed(bytes)))),
            Scalar::Int64 => quoted(out, |out| signed(out, i64::from_le_bytes(fixed(bytes)))),
            Scalar::Bool => out.extend_from_slice(if fixed::<1>(bytes) == [0] { b"false" } else { b"true" }),
            Scalar::Float => match f32::from_le_bytes(fixed(bytes)) {
                value if value.is_finite() => json(out, &value),
                value => not_finite(out, value.into(), value.to_bits() == f32::NAN.to_bits(), &value.to_le_bytes()),
            },
            Scalar::Double => match f64::from_le_bytes(fixed(bytes)) {
                value if value.is_finite() => json(out, &value),
                value => not_finite(out, value, value.to_bits() == f64::NAN.to_bits(), &value.to_le_bytes()),
            },
        }
    }

    fn union(&self, union: &'s Union, image: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let region = part(image, union.region_offset(), union.region);
        if union.members.is_empty() {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        if union.discriminator == Discriminator::None {
            hex(out, region);
            return Ok(());
        }
        let tag = number(part(image, union.offset, union.discriminator.len())) as u16;
        match union.member_by_tag(tag) {
            Some(member) => {
                out.extend_from_slice(b"{\"which\":");
                json(out, &member.name);
                out.extend_from_slice(b",\"value\":");
                self.element(member.element, part(region, 0, member.size), out)?;
                out.push(b'}');
            }
            None if tag == 0 => out.extend_from_slice(b"null"),
            None => {
                out.extend_from_slice(b"{\"unknown_discriminator\":");
                decimal(out, tag.into());
                out.extend_from_slice(b",\"region\":");
                hex(out, region);
                out.push(b'}');
            }
        }
        Ok(())
    }
}

/// Appends a value as JSON. Writing to memory cannot fail, and the values here can all be shown.
#[inline]
fn json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    let _ = serde_json::to_writer(out, value);
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

/// The key of a field. It is copied at one length, which takes two stores where a copy of any length is a call, and cut.
#[derive(Debug)]
struct Key {
    head: [u8; KEY_LEN],
    len: usize,
    rest: Vec<u8>,
}

/// Longer than most keys.
const KEY_LEN: usize = 24;

impl Key {
    fn new(bytes: &[u8]) -> Self {
        let (start, rest) = bytes.split_at(bytes.len().min(KEY_LEN));
        let mut head = [0; KEY_LEN];
        head.iter_mut().zip(start).for_each(|(to, from)| *to = *from);
        Self { head, len: start.len(), rest: rest.to_vec() }
    }

    #[inline]
    fn append(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.len;
        out.extend_from_slice(&self.head);
        out.truncate(end);
        if !self.rest.is_empty() {
            out.extend_from_slice(&self.rest);
        }
    }
}

/// Appends a number as `serde_json` spells it, two digits at a time, copied as keys are.
#[inline]
fn decimal(out: &mut Vec<u8>, value: u64) {
    let (mut text, mut at, mut rest) = ([0; 2 * LONGEST], LONGEST, value);
    let mut put = |at: usize, digit: u8| {
        if let Some(place) = text.get_mut(at) {
            *place = digit;
        }
    };
    while rest >= 10 {
        let [tens, ones] = PAIRS.get((rest % 100) as usize).copied().unwrap_or_default();
        at -= 2;
        put(at, tens);
        put(at + 1, ones);
        rest /= 100;
    }
    if rest > 0 || value == 0 {
        at -= 1;
        put(at, b'0' + rest as u8);
    }
    let end = out.len() + (LONGEST - at);
    out.extend_from_slice(text.get(at..).and_then(<[u8]>::first_chunk::<LONGEST>).unwrap_or(&[b'0'; LONGEST]));
    out.truncate(end);
}

#[inline]
fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    decimal(out, value.unsigned_abs());
}

/// Digits of the largest number, and one to make pairs of.
const LONGEST: usize = 20;

/// `00` to `99`.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"{\"hex\":\"");
    out.extend(bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]));
    out.extend_from_slice(b"\"}");
}

fn not_finite(out: &mut Vec<u8>, value: f64, usual: bool, bytes: &[u8]) {
    match (value.is_nan(), usual) {
        (true, true) => out.extend_from_slice(b"\"NaN\""),
        (true, false) => hex(out, bytes),
        _ => out.extend_from_slice(if value > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" }),
    }
}

/// The first bytes of a field; the layout made sure that they are there.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_serde_spells_them() {
        let powers = (0..20).flat_map(|power| {
            let power = 10_u64.pow(power);
            [power - 1, power, power + 1, 2 * (power / 2), power.wrapping_mul(11) / 7]
        });
        for value in powers.chain([u64::MAX, u64::MAX - 1, 1 << 63]).chain(0..1200) {
            let mut text = b"x".to_vec();
            decimal(&mut text, value);
            text.push(b' ');
            for value in [value as i64, (value as i64).wrapping_neg()] {
                signed(&mut text, value);
                text.push(b' ');
            }
            let wanted = format!("x{value} {} {} ", value as i64, (value as i64).wrapping_neg());
            assert_eq!(String::from_utf8(text).unwrap(), wanted);
        }
    }

    #[test]
    fn keys_of_every_length() {
        for len in 0..60 {
            let key: Vec<u8> = (0..len).map(|at| b'a' + at % 26).collect();
            let mut out = b"before".to_vec();
            Key::new(&key).append(&mut out);
            assert_eq!(out, [b"before", &key[..]].concat());
        }
    }
}
