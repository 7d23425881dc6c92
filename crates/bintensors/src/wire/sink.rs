//! Writing numbers and text into a header: always the shortest form (BT-2.1).

use super::scan::{TAG_16, TAG_32, TAG_64};

/// Appends a count, length, dimension, offset or element type.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, value: u64) {
    if value < u64::from(TAG_16) {
        out.push(value as u8);
    } else if let Ok(value) = u16::try_from(value) {
        let [a, b] = value.to_le_bytes();
        out.extend_from_slice(&[TAG_16, a, b]);
    } else if let Ok(value) = u32::try_from(value) {
        let [a, b, c, d] = value.to_le_bytes();
        out.extend_from_slice(&[TAG_32, a, b, c, d]);
    } else {
        let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
        out.extend_from_slice(&[TAG_64, a, b, c, d, e, f, g, h]);
    }
}

/// Bytes that [`put_varint`] appends.
#[inline]
pub(crate) const fn varint_len(value: u64) -> u64 {
    match value {
        0..=250 => 1,
        251..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// Writes fields one after the other into memory that was measured before. Every number is stored in nine bytes of which the next
/// field overwrites those it does not need: one store instead of a choice of four.
#[derive(Debug)]
pub(crate) struct Fields {
    bytes: Vec<u8>,
    at: usize,
}

/// The longest form of a number.
const LONGEST: usize = 9;

impl Fields {
    /// Room for `len` bytes.
    pub(crate) fn with_len(len: usize) -> Self {
        Self { bytes: vec![0; len.saturating_add(LONGEST)], at: 0 }
    }

    /// A single byte.
    #[inline(always)]
    pub(crate) fn byte(&mut self, value: u8) {
        if let Some(place) = self.bytes.get_mut(self.at) {
            *place = value;
        }
        self.at = self.at.saturating_add(1);
    }

    /// What [`put_varint`] appends.
    #[inline(always)]
    pub(crate) fn varint(&mut self, value: u64) {
        let (tag, len) = match value {
            0..=250 => (value as u8, 1),
            251..=0xffff => (TAG_16, 3),
            0x1_0000..=0xffff_ffff => (TAG_32, 5),
            _ => (TAG_64, LONGEST),
        };
        if let Some(place) = self.bytes.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut::<LONGEST>()) {
            let [first, rest @ ..] = place;
            *first = tag;
            *rest = value.to_le_bytes();
        }
        self.at = self.at.saturating_add(len);
    }

    /// Bytes as they are.
    #[inline(always)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let end = self.at.saturating_add(bytes.len());
        if let Some(place) = self.bytes.get_mut(self.at..end) {
            place.copy_from_slice(bytes);
        }
        self.at = end;
    }

    /// What [`put_text`] appends.
    #[inline(always)]
    pub(crate) fn text(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Bytes written so far; more than there is room for means that the measure was wrong.
    pub(crate) const fn len(&self) -> usize {
        self.at
    }

    /// Everything, filled up to `len` bytes.
    pub(crate) fn filled(mut self, len: usize, padding: u8) -> Vec<u8> {
        self.bytes.resize(len, padding);
        if let Some(rest) = self.bytes.get_mut(self.at..) {
            rest.fill(padding);
        }
        self.bytes
    }
}

/// Appends a string: length, then its bytes.
#[inline]
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Bytes that [`put_text`] appends.
#[inline]
pub(crate) const fn text_len(text: &str) -> u64 {
    let len = text.len() as u64;
    varint_len(len).saturating_add(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Scan;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_round_trip_in_the_announced_length(value in any::<u64>(), shift in 0u32..64) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            prop_assert_eq!(bytes.len() as u64, varint_len(value));
            prop_assert_eq!(Scan::new(&bytes).varint(), Ok(value));
        }

        /// Both ways of writing give the same bytes, to the last one that was measured.
        #[test]
        fn fields_are_what_is_appended(values in prop::collection::vec((any::<u64>(), 0u32..64, ".{0,9}"), 0..9), pad in 0usize..9) {
            let mut bytes = Vec::new();
            for (value, shift, text) in &values {
                put_varint(&mut bytes, value >> shift);
                put_text(&mut bytes, text);
                bytes.push(7);
            }
            let mut fields = Fields::with_len(bytes.len());
            for (value, shift, text) in &values {
                fields.varint(value >> shift);
                fields.text(text);
                fields.byte(7);
            }
            prop_assert_eq!(fields.len(), bytes.len());
            let len = bytes.len().saturating_add(pad);
            bytes.resize(len, b' ');
            prop_assert_eq!(fields.filled(len, b' '), bytes);
        }
    }
}
