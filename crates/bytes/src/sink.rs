//! Appending bytes, with lengths that are known only later.

use alloc::vec::Vec;

/// An append-only buffer that can reserve a length field and fill it in when the record is complete.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    bytes: Vec<u8>,
}

/// A big-endian `u64` length field waiting for its value; made by [`Sink::length_prefix`].
#[derive(Debug)]
#[must_use = "a length that is never patched stays at its maximum, which no reader accepts"]
pub struct LengthField {
    field: usize,
    counted_from: usize,
}

impl Sink {
    /// An empty sink.
    pub const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// A sink with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends zero bytes until the length is a multiple of `alignment` (a power of two).
    pub fn pad_to(&mut self, alignment: usize) {
        debug_assert!(alignment.is_power_of_two());
        let padded = (self.bytes.len() + alignment - 1) & !(alignment - 1);
        self.bytes.resize(padded, 0);
    }

    /// Appends a big-endian `u64` length that counts from `counted_from` (a position in this sink).
    ///
    /// Until it is patched it holds the largest value, so a half-written buffer cannot be read as something else.
    pub fn length_prefix(&mut self, counted_from: usize) -> LengthField {
        let field = self.bytes.len();
        self.put(&u64::MAX.to_be_bytes());
        LengthField { field, counted_from }
    }

    /// Fills in a length: the bytes from where it counts to here.
    pub fn patch(&mut self, length: LengthField) {
        let len = (self.bytes.len() - length.counted_from) as u64;
        if let Some(field) = self.bytes.get_mut(length.field..length.field + 8) {
            field.copy_from_slice(&len.to_be_bytes());
        }
    }

    /// How many bytes were appended.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True when nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// The finished bytes.
    pub fn into_vec(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_patched_when_the_record_is_complete() {
        let mut sink = Sink::new();
        sink.put(b"FR");
        let length = sink.length_prefix(0);
        assert_eq!(sink.as_slice().get(2..), Some(&[0xff; 8][..]));
        sink.put(b"body");
        sink.patch(length);
        assert_eq!(sink.as_slice(), b"FR\0\0\0\0\0\0\0\x0ebody");
        sink.pad_to(8);
        assert_eq!(sink.len(), 16);
    }
}
