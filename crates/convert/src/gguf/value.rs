//! Values of the metadata as text: strings as they are, all others as JSON.

use super::cursor::Cursor;
use crate::ConvertError;
use std::io::Write;

/// A value as text.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) form: TextForm,
    /// The value, when it is a 32-bit unsigned number.
    pub(super) number: Option<u32>,
}

/// What the text of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextForm {
    /// The value itself.
    Plain,
    /// The JSON of the value.
    Json,
    /// Something like it: the value has bytes that are not UTF-8, or a number that is not finite.
    Lossy,
}

/// Reads a value: its type, then itself.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Text, ConvertError> {
    let code = cursor.u32("a value type")?;
    if code == STRING {
        let bytes = cursor.string("a string")?;
        return Ok(match std::str::from_utf8(bytes) {
            Ok(text) => Text { text: text.to_owned(), form: TextForm::Plain, number: None },
            Err(_) => {
                let text = String::from_utf8_lossy(bytes).into_owned();
                Text { text, form: TextForm::Lossy, number: None }
            }
        });
    }
    let mut json = Json { bytes: Vec::new(), is_exact: true };
    json.value(cursor, code, 0)?;
    let number = std::str::from_utf8(&json.bytes).ok().filter(|_| code == UINT32).and_then(|text| text.parse().ok());
    let form = if json.is_exact { TextForm::Json } else { TextForm::Lossy };
    // Everything in it was written as text.
    let text = String::from_utf8(json.bytes).unwrap_or_default();
    Ok(Text { text, form, number })
}

/// JSON on its way: written as it is read, so that it takes a few bytes for each byte of the file.
struct Json {
    bytes: Vec<u8>,
    /// False when JSON has no form for something in it.
    is_exact: bool,
}

impl Json {
    fn value(&mut self, cursor: &mut Cursor<'_>, code: u32, depth: u32) -> Result<(), ConvertError> {
        let at = cursor.position();
        match code {
            0 => self.put(u8::from_le_bytes(cursor.number("a uint8")?)),
            1 => self.put(i8::from_le_bytes(cursor.number("an int8")?)),
            2 => self.put(u16::from_le_bytes(cursor.number("a uint16")?)),
            3 => self.put(i16::from_le_bytes(cursor.number("an int16")?)),
            UINT32 => self.put(cursor.u32("a uint32")?),
            5 => self.put(i32::from_le_bytes(cursor.number("an int32")?)),
            6 => self.float(f32::from_le_bytes(cursor.number("a float32")?).into()),
            7 => match cursor.number::<1>("a bool")? {
                [0] => self.put(false),
                [1] => self.put(true),
                [other] => {
                    let message = format!("a bool is 0 or 1, found {other}");
                    return Err(ConvertError::format("invalid_bool", message, at));
                }
            },
            STRING => self.string(cursor.string("a string")?)?,
            ARRAY => self.array(cursor, depth)?,
            10 => self.put(cursor.u64("a uint64")?),
            11 => self.put(i64::from_le_bytes(cursor.number("an int64")?)),
            12 => self.float(f64::from_le_bytes(cursor.number("a float64")?)),
            other => {
                let message = format!("unknown value type {other}, expected 0 to 12");
                return Err(ConvertError::format("unknown_value_type", message, at));
            }
        }
        Ok(())
    }

    fn array(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> Result<(), ConvertError> {
        let at = cursor.position();
        if depth >= MAX_DEPTH {
            let message = format!("arrays nested deeper than {MAX_DEPTH} levels are unsupported");
            return Err(ConvertError::format("nesting_too_deep", message, at));
        }
        let code = cursor.u32("an array's type")?;
        let count = cursor.count(least_len(code), "array items")?;
        self.bytes.push(b'[');
        for place in 0..count {
            if place > 0 {
                self.bytes.push(b',');
            }
            self.value(cursor, code, depth.saturating_add(1))?;
        }
        self.bytes.push(b']');
        Ok(())
    }

    fn put(&mut self, value: impl std::fmt::Display) {
        // Memory takes everything.
        let _ = write!(self.bytes, "{value}");
    }

    fn float(&mut self, value: f64) {
        if value.is_finite() {
            let _ = serde_json::to_writer(&mut self.bytes, &value);
        } else {
            let _ = write!(self.bytes, "\"{value}\"");
            self.is_exact = false;
        }
    }

    fn string(&mut self, bytes: &[u8]) -> Result<(), ConvertError> {
        let text = String::from_utf8_lossy(bytes);
        self.is_exact &= matches!(text, std::borrow::Cow::Borrowed(_));
        serde_json::to_writer(&mut self.bytes, &text).map_err(|error| ConvertError::Io(error.into()))
    }
}

/// The fewest bytes that a value of a type takes.
const fn least_len(code: u32) -> u64 {
    match code {
        2 | 3 => 2,
        4..=6 => 4,
        STRING | 10..=12 => 8,
        ARRAY => 12,
        // One byte, or a type that reading refuses.
        _ => 1,
    }
}

const UINT32: u32 = 4;
const STRING: u32 = 8;
const ARRAY: u32 = 9;
/// Real files nest once at most.
const MAX_DEPTH: u32 = 16;
