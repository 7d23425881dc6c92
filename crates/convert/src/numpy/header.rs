//! The npy header: a mark, a version, a length, and a Python dictionary as text.

use crate::ConvertError;
use fw_tensor::{ByteOrder, DType};
use std::io::Read;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    pub(crate) dtype: DType,
    pub(crate) order: ByteOrder,
    pub(crate) layout: Layout,
    pub(crate) shape: Vec<u64>,
    /// Bytes before the data.
    pub(crate) len: u64,
}

/// Which axis varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The last.
    Rows,
    /// The first.
    Columns,
}

impl NpyHeader {
    /// Reads a header; `name` is for messages.
    pub(crate) fn read(input: &mut impl Read, name: &str) -> Result<Self, ConvertError> {
        let mut start = [0u8; 8];
        fill(input, &mut start, name)?;
        let [mark @ .., major, _minor] = start;
        if mark != *MARK {
            return Err(ConvertError::format("bad_magic", format!("{name}: not an npy array"), 0));
        }
        let (text_len, before) = match major {
            1 => {
                let mut len = [0u8; 2];
                fill(input, &mut len, name)?;
                (u64::from(u16::from_le_bytes(len)), 10)
            }
            2 | 3 => {
                let mut len = [0u8; 4];
                fill(input, &mut len, name)?;
                (u64::from(u32::from_le_bytes(len)), 12)
            }
            other => {
                let message = format!("{name}: unsupported npy version {other}, expected 1 to 3");
                return Err(ConvertError::format("unknown_version", message, 6));
            }
        };
        if text_len > MAX_TEXT {
            let message = format!("{name}: an npy header of {text_len} bytes, the limit is {MAX_TEXT}");
            return Err(ConvertError::format("header_too_large", message, 8));
        }
        let mut text = Vec::new();
        input.by_ref().take(text_len).read_to_end(&mut text)?;
        if text.len() as u64 != text_len {
            return Err(short(name));
        }
        Literal { text: &text, at: 0, base: before, name }.header(before + text_len)
    }
}

/// The text of a type, or `None` when NumPy has no counterpart.
pub(crate) const fn descr(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool => "|b1",
        DType::Int8 => "|i1",
        DType::UInt8 => "|u1",
        DType::Int16 => "<i2",
        DType::UInt16 => "<u2",
        DType::Int32 => "<i4",
        DType::UInt32 => "<u4",
        DType::Int64 => "<i8",
        DType::UInt64 => "<u8",
        DType::Float16 => "<f2",
        DType::Float32 => "<f4",
        DType::Float64 => "<f8",
        DType::Complex64 => "<c8",
        DType::Complex128 => "<c16",
        DType::BFloat16 | DType::Bitmask => return None,
        DType::Float8E4M3 | DType::Float8E5M2 | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz => return None,
        DType::Float8E8M0 | DType::Float6E2M3 | DType::Float6E3M2 | DType::Float4 => return None,
    })
}

/// What stands before the elements of a little-endian, row-major array in an npy file, or `None` when NumPy has no such type.
pub fn npy_header(dtype: DType, shape: &[u64]) -> Option<Vec<u8>> {
    descr(dtype).map(|descr| encode(descr, shape))
}

/// The header of a little-endian, row-major array, as NumPy itself writes it.
pub(crate) fn encode(descr: &str, shape: &[u64]) -> Vec<u8> {
    let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
    let tuple = match &dims[..] {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple}, }}");
    // NumPy leaves room for the first dimension to grow in place.
    if let Some(first) = dims.first() {
        text.extend(std::iter::repeat_n(' ', GROWTH.saturating_sub(first.len())));
    }
    let version_1 = padded(text.len(), 10) <= usize::from(u16::MAX);
    let before = if version_1 { 10 } else { 12 };
    let len = padded(text.len(), before);
    text.extend(std::iter::repeat_n(' ', len - text.len() - 1));
    text.push('\n');
    let mut bytes = MARK.to_vec();
    if version_1 {
        bytes.extend([1, 0]);
        bytes.extend((len as u16).to_le_bytes());
    } else {
        bytes.extend([2, 0]);
        bytes.extend((len as u32).to_le_bytes());
    }
    bytes.extend(text.bytes());
    bytes
}

/// Length of the text with its newline, so that the data begins at a multiple of 64.
fn padded(text: usize, before: usize) -> usize {
    (text + 1 + before).next_multiple_of(64) - before
}

/// The Python literals that a header uses.
struct Literal<'a> {
    text: &'a [u8],
    at: usize,
    base: u64,
    name: &'a str,
}

impl Literal<'_> {
    fn header(mut self, len: u64) -> Result<NpyHeader, ConvertError> {
        let (mut descr, mut layout, mut shape) = (None, None, None);
        self.expect(b'{')?;
        loop {
            self.spaces();
            if self.peek() == Some(b'}') {
                break;
            }
            let key = self.string()?;
            self.expect(b':')?;
            self.spaces();
            match key.as_str() {
                "descr" if self.peek() == Some(b'[') => {
                    let message = format!("{}: records (a structured array) are not a tensor", self.name);
                    return Err(ConvertError::unsupported(NOT_A_TENSOR, message));
                }
                "descr" => descr = Some(self.string()?),
                "fortran_order" => layout = Some(self.layout()?),
                "shape" => shape = Some(self.tuple()?),
                other => return Err(self.fault(&format!("unknown key {other:?}"))),
            }
            self.spaces();
            if self.peek() == Some(b',') {
                self.at += 1;
            }
        }
        let (Some(descr), Some(layout), Some(shape)) = (descr, layout, shape) else {
            return Err(self.fault("descr, fortran_order and shape are all required"));
        };
        let (dtype, order) = type_of(&descr).ok_or_else(|| {
            let message = format!("{}: {} (NumPy type {descr}) are not a tensor", self.name, kind_of(&descr));
            ConvertError::unsupported(NOT_A_TENSOR, message)
        })?;
        Ok(NpyHeader { dtype, order, layout, shape, len })
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn expect(&mut self, wanted: u8) -> Result<(), ConvertError> {
        self.spaces();
        if self.peek() != Some(wanted) {
            return Err(self.fault(&format!("expected {:?}", char::from(wanted))));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<String, ConvertError> {
        self.spaces();
        let quote =
            self.peek().filter(|byte| matches!(byte, b'\'' | b'"')).ok_or_else(|| self.fault("expected text"))?;
        self.at += 1;
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        let len = rest.iter().position(|byte| *byte == quote).ok_or_else(|| self.fault("text without an end"))?;
        self.at += len + 1;
        Ok(String::from_utf8_lossy(rest.get(..len).unwrap_or(&[])).into_owned())
    }

    fn layout(&mut self) -> Result<Layout, ConvertError> {
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        for (word, layout) in [(&b"True"[..], Layout::Columns), (b"False", Layout::Rows)] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(layout);
            }
        }
        Err(self.fault("expected True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<u64>, ConvertError> {
        self.expect(b'(')?;
        let mut dims = Vec::new();
        loop {
            self.spaces();
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    return Ok(dims);
                }
                Some(b'0'..=b'9') => dims.push(self.number()?),
                _ => return Err(self.fault("expected a dimension")),
            }
            self.spaces();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b')') => {}
                _ => return Err(self.fault("expected , or )")),
            }
        }
    }

    fn number(&mut self) -> Result<u64, ConvertError> {
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let next = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit - b'0')));
            value = next.ok_or_else(|| self.fault("a dimension above 64 bits"))?;
            self.at += 1;
        }
        // Python 2 marked long integers.
        if self.peek() == Some(b'L') {
            self.at += 1;
        }
        Ok(value)
    }

    fn fault(&self, what: &str) -> ConvertError {
        let at = self.base.saturating_add(self.at as u64);
        ConvertError::format("invalid_header", format!("{}: npy header: {what}", self.name), at)
    }
}

/// What arrays of a type that is no element type hold.
fn kind_of(descr: &str) -> &'static str {
    match descr.trim_start_matches(['<', '>', '|', '=']).as_bytes().first() {
        Some(b'U' | b'S' | b'a' | b'T') => "texts",
        Some(b'O') => "Python objects",
        Some(b'M') => "dates",
        Some(b'm') => "spans of time",
        Some(b'V') => "records or plain bytes",
        Some(b'f' | b'c') => "floats of this width",
        _ => "elements of this type",
    }
}

fn type_of(descr: &str) -> Option<(DType, ByteOrder)> {
    let (order, code) = match descr.as_bytes() {
        [b'<' | b'|', ..] => (ByteOrder::Little, descr.get(1..)?),
        [b'=', ..] => (ByteOrder::NATIVE, descr.get(1..)?),
        [b'>', ..] => (ByteOrder::Big, descr.get(1..)?),
        _ => (ByteOrder::Little, descr),
    };
    let dtype = match code {
        "b1" | "?" => DType::Bool,
        "i1" => DType::Int8,
        "u1" => DType::UInt8,
        "i2" => DType::Int16,
        "u2" => DType::UInt16,
        "i4" => DType::Int32,
        "u4" => DType::UInt32,
        "i8" => DType::Int64,
        "u8" => DType::UInt64,
        "f2" => DType::Float16,
        "f4" => DType::Float32,
        "f8" => DType::Float64,
        "c8" => DType::Complex64,
        "c16" => DType::Complex128,
        _ => return None,
    };
    Some((dtype, order))
}

fn fill(input: &mut impl Read, buffer: &mut [u8], name: &str) -> Result<(), ConvertError> {
    input.read_exact(buffer).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => short(name),
        _ => error.into(),
    })
}

fn short(name: &str) -> ConvertError {
    ConvertError::format("truncated", format!("{name}: the npy header is truncated"), None)
}

/// The code of arrays that hold no numbers.
pub(super) const NOT_A_TENSOR: &str = "not_a_tensor";

const MARK: &[u8; 6] = b"\x93NUMPY";
/// Far above any real header, far below anything that hurts.
const MAX_TEXT: u64 = 1 << 20;
/// Digits that NumPy reserves for the first dimension.
const GROWTH: usize = 21;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        for shape in [&[][..], &[3], &[2, 0, 70_000], &[1; 40]] {
            let bytes = encode("<f4", shape);
            assert_eq!(bytes.len() % 64, 0);
            let header = NpyHeader::read(&mut &bytes[..], "x").unwrap();
            assert_eq!((header.dtype, header.layout), (DType::Float32, Layout::Rows));
            assert_eq!((&header.shape[..], header.len), (shape, bytes.len() as u64));
        }
    }

    #[test]
    fn faults_have_codes_and_places() {
        let file = |text: &str| [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat();
        let rows: &[(&str, &str)] = &[
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)", "invalid_header"),
            ("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,)}", "invalid_header"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "invalid_header"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "invalid_header"),
            ("{'descr': '<f4', 'shape': (3,)}", "invalid_header"),
            ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", "not_a_tensor"),
            ("{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", "not_a_tensor"),
            ("{'descr': '<V2', 'fortran_order': False, 'shape': (3,)}", "not_a_tensor"),
            ("", "invalid_header"),
        ];
        for (text, code) in rows {
            assert_eq!(NpyHeader::read(&mut &file(text)[..], "x").unwrap_err().code(), *code, "{text}");
        }
        assert_eq!(NpyHeader::read(&mut &b"\x93NUMPY\x09\0aaaa"[..], "x").unwrap_err().code(), "unknown_version");
        assert_eq!(NpyHeader::read(&mut &b"\x93NUMPY\x01\0\xff\0{"[..], "x").unwrap_err().code(), "truncated");
        assert_eq!(NpyHeader::read(&mut &b"\x93NUM"[..], "x").unwrap_err().code(), "truncated");
        let big = NpyHeader::read(&mut &file("{'descr': '>i2', 'fortran_order': True, 'shape': (2L, 3L), }")[..], "x")
            .unwrap();
        assert_eq!((big.order, big.layout, big.shape), (ByteOrder::Big, Layout::Columns, vec![2, 3]));
    }
}
