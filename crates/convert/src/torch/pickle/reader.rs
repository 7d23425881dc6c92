//! The checked way through a pickle, with the position in every error.

use crate::ConvertError;

/// A position in a pickle.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the pickle begins in the file, when it lies there as it is.
    base: Option<u64>,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8], base: Option<u64>) -> Self {
        Self { bytes, at: 0, base }
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// A fault of the opcode at `at`.
    pub(super) fn fault(&self, code: &'static str, at: usize, what: impl std::fmt::Display) -> ConvertError {
        let place = self.base.map(|base| base.saturating_add(at as u64));
        let within = if place.is_none() { format!(", byte {at} of it") } else { String::new() };
        ConvertError::format(code, format!("the pickle (data.pkl{within}) {what}"), place)
    }

    pub(super) fn bytes(&mut self, len: u64, what: &str) -> Result<&'a [u8], ConvertError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let Some(taken) = taken else {
            let have = rest.len();
            return Err(self.fault("truncated", self.at, format_args!("needs {len} bytes for {what}, has {have}")));
        };
        self.at = self.at.saturating_add(taken.len());
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ConvertError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N as u64, what)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self, what: &str) -> Result<u8, ConvertError> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, ConvertError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// A text up to the end of its line.
    pub(super) fn line(&mut self) -> Result<&'a str, ConvertError> {
        let (at, rest) = (self.at, self.bytes.get(self.at..).unwrap_or_default());
        let Some(len) = rest.iter().position(|byte| *byte == b'\n') else {
            return Err(self.fault("truncated", at, "has a line without an end"));
        };
        let line = self.bytes(len as u64, "a line")?;
        self.at = self.at.saturating_add(1);
        self.text(line, at)
    }

    pub(super) fn text(&self, bytes: &'a [u8], at: usize) -> Result<&'a str, ConvertError> {
        std::str::from_utf8(bytes).map_err(|_| self.fault("invalid_pickle", at, "has text that is not UTF-8"))
    }
}
