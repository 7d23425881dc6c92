//! Bytes to values: any well-formed item, bounded depth, no memory beyond what the bytes justify (TG-5.2).

use super::Value;
use super::canonical::sort_entries;
use crate::error::{Fault, Result, TensogramError};
use minicbor::data::Type;
use minicbor::decode::{Decoder, Error};

/// Reads the first item of `bytes`, which stand at absolute position `at`; bytes behind it are ignored.
///
/// # Errors
/// Metadata errors for anything that is not well-formed, nested deeper than `depth` containers, or not representable.
pub fn read_value(bytes: &[u8], at: u64, depth: u32) -> Result<Value> {
    let mut reader = Reader { decoder: Decoder::new(bytes), at, limit: depth };
    reader.value(depth)
}

/// The first item of `bytes` and how long it is, when it is well-formed and nested at most `depth` deep.
pub(super) fn read_prefix(bytes: &[u8], depth: u32) -> Option<(Value, usize)> {
    let mut reader = Reader { decoder: Decoder::new(bytes), at: 0, limit: depth };
    let value = reader.value(depth).ok()?;
    Some((value, reader.decoder.position()))
}

/// How long the first item of `bytes` is, or `None` when it is cut short.
///
/// # Errors
/// When the bytes are not well-formed.
pub fn item_len(bytes: &[u8], at: u64) -> Result<Option<u64>> {
    let mut decoder = Decoder::new(bytes);
    // The decoder steps over an end mark as if it were an item.
    if bytes.first() == Some(&BREAK) {
        let text = "CBOR is not well-formed: a break that ends nothing";
        return Err(TensogramError::Metadata(Fault::format("cbor_malformed", text).at(at)));
    }
    match decoder.skip() {
        Ok(()) => Ok(Some(decoder.position() as u64)),
        Err(error) if error.is_end_of_input() => Ok(None),
        Err(error) => Err(malformed(&error, decoder.position(), at)),
    }
}

/// The end mark of containers of unknown length.
const BREAK: u8 = 0xff;

/// The error of an item that ends too early, at `at`.
pub fn truncated(at: u64) -> TensogramError {
    TensogramError::Metadata(Fault::format("cbor_malformed", "CBOR item is truncated").at(at))
}

struct Reader<'b> {
    decoder: Decoder<'b>,
    at: u64,
    limit: u32,
}

impl Reader<'_> {
    fn value(&mut self, depth: u32) -> Result<Value> {
        let start = self.decoder.position();
        let kind = self.decoder.datatype().map_err(|error| self.fail(&error))?;
        let wrap = |reader: &Self, error: Error| reader.fail(&error);
        let value = match kind {
            Type::Bool => self.decoder.bool().map(Value::Bool),
            Type::Null => self.decoder.null().map(|()| Value::Null),
            Type::Undefined => self.decoder.undefined().map(|()| Value::Null),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int => {
                self.decoder.int().map(|number| Value::Integer(number.into()))
            }
            Type::F16 | Type::F32 | Type::F64 => return self.float(start),
            Type::String => self.decoder.str().map(|text| Value::Text(text.to_owned())),
            Type::Bytes => self.decoder.bytes().map(|bytes| Value::Bytes(bytes.to_owned())),
            Type::StringIndef => self
                .decoder
                .str_iter()
                .and_then(|mut parts| {
                    parts.try_fold(String::new(), |mut text, part| {
                        text.push_str(part?);
                        Ok(text)
                    })
                })
                .map(Value::Text),
            Type::BytesIndef => self
                .decoder
                .bytes_iter()
                .and_then(|mut parts| {
                    parts.try_fold(Vec::new(), |mut bytes, part| {
                        bytes.extend_from_slice(part?);
                        Ok(bytes)
                    })
                })
                .map(Value::Bytes),
            Type::Array | Type::ArrayIndef => return self.array(self.deeper(depth, start)?),
            Type::Map | Type::MapIndef => return self.map(self.deeper(depth, start)?),
            Type::Tag => {
                let depth = self.deeper(depth, start)?;
                let tag = self.decoder.tag().map_err(|error| wrap(self, error))?;
                return Ok(Value::Tag(tag.as_u64(), Box::new(self.value(depth)?)));
            }
            other => return Err(self.fault(format!("CBOR item of type {other} is not a metadata value"), start)),
        };
        value.map_err(|error| wrap(self, error))
    }

    fn array(&mut self, depth: u32) -> Result<Value> {
        let count = self.decoder.array().map_err(|error| self.fail(&error))?;
        let mut items = Vec::new();
        while self.more(count, items.len())? {
            items.push(self.value(depth)?);
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, depth: u32) -> Result<Value> {
        let count = self.decoder.map().map_err(|error| self.fail(&error))?;
        let mut entries = Vec::new();
        while self.more(count, entries.len())? {
            let key = self.value(depth)?;
            entries.push((key, self.value(depth)?));
        }
        // Inner maps were sorted when they were read.
        sort_entries(&mut entries);
        Ok(Value::Map(entries))
    }

    /// Whether another item of a container follows.
    fn more(&mut self, count: Option<u64>, have: usize) -> Result<bool> {
        match count {
            Some(count) => Ok((have as u64) < count),
            None if self.decoder.datatype().map_err(|error| self.fail(&error))? == Type::Break => {
                let next = self.decoder.position() + 1;
                self.decoder.set_position(next);
                Ok(false)
            }
            None => Ok(true),
        }
    }

    /// Floats are taken bit by bit, so that the payload of a NaN survives.
    fn float(&mut self, start: usize) -> Result<Value> {
        let bytes = self.decoder.input();
        let float = match bytes.get(start..) {
            Some([0xf9, a, b, ..]) => (3, widen_half(u16::from_be_bytes([*a, *b]))),
            Some([0xfa, a, b, c, d, ..]) => (5, widen_single(u32::from_be_bytes([*a, *b, *c, *d]))),
            Some([0xfb, rest @ ..]) => match rest.first_chunk::<8>() {
                Some(bits) => (9, f64::from_be_bytes(*bits)),
                None => return Err(truncated(self.at + start as u64)),
            },
            _ => return Err(truncated(self.at + start as u64)),
        };
        self.decoder.set_position(start + float.0);
        Ok(Value::Float(float.1))
    }

    fn deeper(&self, depth: u32, start: usize) -> Result<u32> {
        depth.checked_sub(1).ok_or_else(|| {
            let message = format!("CBOR is nested too deeply, above the limit of {}", self.limit);
            TensogramError::Metadata(Fault::limit("limit_depth", message).at(self.at + start as u64))
        })
    }

    fn fail(&self, error: &Error) -> TensogramError {
        malformed(error, self.decoder.position(), self.at)
    }

    fn fault(&self, message: String, position: usize) -> TensogramError {
        TensogramError::Metadata(Fault::format("cbor_malformed", message).at(self.at + position as u64))
    }
}

fn malformed(error: &Error, position: usize, at: u64) -> TensogramError {
    let at = at + error.position().unwrap_or(position) as u64;
    if error.is_end_of_input() {
        return truncated(at);
    }
    TensogramError::Metadata(Fault::format("cbor_malformed", format!("CBOR is not well-formed: {error}")).at(at))
}

pub(super) fn widen_single(bits: u32) -> f64 {
    let mantissa = bits & 0x007f_ffff;
    if bits & 0x7f80_0000 == 0x7f80_0000 && mantissa != 0 {
        let sign = u64::from(bits >> 31) << 63;
        return f64::from_bits(sign | 0x7ff0_0000_0000_0000 | u64::from(mantissa) << 29);
    }
    f64::from(f32::from_bits(bits))
}

pub(super) fn widen_half(bits: u16) -> f64 {
    let (sign, exponent, mantissa) = (u64::from(bits >> 15) << 63, (bits >> 10) & 0x1f, u64::from(bits & 0x3ff));
    match exponent {
        0x1f => f64::from_bits(sign | 0x7ff0_0000_0000_0000 | mantissa << 42),
        // Subnormal halves are exact multiples of 2^-24.
        0 => f64::from_bits((mantissa as f64 * 2f64.powi(-24)).to_bits() | sign),
        _ => f64::from_bits(sign | (u64::from(exponent) + 1023 - 15) << 52 | mantissa << 42),
    }
}
