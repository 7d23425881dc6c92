//! The header of a file, read from front to back through a window, with the position in every error.

use crate::ConvertError;
use fw_source::ReadAt;
use fw_tensor::ByteOrder;

/// A position in a header whose length is not known before its end.
pub(super) struct Cursor<'a> {
    source: &'a dyn ReadAt,
    source_len: u64,
    pub(super) order: ByteOrder,
    at: u64,
    window: Vec<u8>,
    /// Where the window begins.
    base: u64,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a dyn ReadAt) -> Result<Self, ConvertError> {
        let source_len = source.len()?;
        Ok(Self { source, source_len, order: ByteOrder::Little, at: 0, window: Vec::new(), base: 0 })
    }

    pub(super) const fn position(&self) -> u64 {
        self.at
    }

    pub(super) const fn source_len(&self) -> u64 {
        self.source_len
    }

    /// The next bytes; that there are so many is proved before memory is reserved for them.
    pub(super) fn bytes(&mut self, len: u64, what: &str) -> Result<&[u8], ConvertError> {
        let have = self.source_len.saturating_sub(self.at);
        if len > have {
            let message = format!("need {len} bytes for {what}, have {have}");
            return Err(ConvertError::format("truncated", message, self.at));
        }
        // At most as long as the source.
        let end = self.at.saturating_add(len);
        if end > MAX_HEADER_LEN {
            let message = format!("{what} ends at byte {end}, past the limit of {MAX_HEADER_LEN} bytes for a header");
            return Err(ConvertError::format("header_too_large", message, self.at));
        }
        if end > self.base.saturating_add(self.window.len() as u64) {
            // Twice as much each time: few requests for a long header, few bytes for a short one.
            let room = (self.window.len() as u64).saturating_mul(2).clamp(WINDOW_LEN, WINDOW_MAX);
            let wanted = len.max(room).min(have);
            self.window.resize(usize::try_from(wanted).map_err(std::io::Error::other)?, 0);
            self.source.read_exact_at(self.at, &mut self.window)?;
            self.base = self.at;
        }
        let from = self.at.saturating_sub(self.base) as usize;
        self.at = end;
        Ok(self.window.get(from..).and_then(|rest| rest.get(..len as usize)).unwrap_or(&[]))
    }

    /// The next bytes of a number, least significant first.
    pub(super) fn number<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ConvertError> {
        let order = self.order;
        let bytes = self.bytes(N as u64, what)?;
        let mut number = [0; N];
        number.copy_from_slice(bytes);
        if order == ByteOrder::Big {
            number.reverse();
        }
        Ok(number)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, ConvertError> {
        Ok(u32::from_le_bytes(self.number(what)?))
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, ConvertError> {
        Ok(u64::from_le_bytes(self.number(what)?))
    }

    /// A number of things of which each takes at least `least` bytes, all of them still to come.
    pub(super) fn count(&mut self, least: u64, what: &str) -> Result<u64, ConvertError> {
        let at = self.at;
        let count = self.u64(what)?;
        let have = self.source_len.saturating_sub(self.at);
        if count.checked_mul(least).is_none_or(|need| need > have) {
            let message =
                format!("{count} {what} of at least {least} bytes each do not fit into the {have} bytes that follow");
            return Err(ConvertError::format("count_too_large", message, at));
        }
        Ok(count)
    }

    /// The bytes of a string: its length stands before it.
    pub(super) fn string(&mut self, what: &str) -> Result<&[u8], ConvertError> {
        let len = self.u64(what)?;
        self.bytes(len, what)
    }

    /// A string that names something.
    pub(super) fn name(&mut self, what: &str) -> Result<String, ConvertError> {
        let at = self.at;
        let len = self.u64(what)?;
        if len > MAX_NAME_LEN {
            let message = format!("{what} of {len} bytes, at most {MAX_NAME_LEN} are allowed");
            return Err(ConvertError::format("name_too_long", message, at));
        }
        let text = std::str::from_utf8(self.bytes(len, what)?).map(str::to_owned);
        text.map_err(|error| ConvertError::format("invalid_utf8", format!("{what} is not UTF-8: {error}"), at))
    }
}

/// What is read at once, at first and at most.
const WINDOW_LEN: u64 = 64 << 10;
const WINDOW_MAX: u64 = 4 << 20;
/// Far above any real header: vocabularies take a few MiB.
const MAX_HEADER_LEN: u64 = 256 << 20;
/// The format allows keys of so many bytes.
const MAX_NAME_LEN: u64 = 65_535;
