//! The wire layout of variable messages (SF-8): read and written one field after the other.

use super::bounded::prefix_len;
use super::fixed::Field;
use crate::message::MessageError;

/// A field that a variable message writes without its unused room: a count, and that many units.
pub trait Trim: Field {
    /// The largest count.
    const LIMIT: usize;
    /// Bytes of one unit.
    const UNIT: usize;

    /// How many units there are.
    fn count(&self) -> usize;

    /// Writes count and units; `out` has [`trimmed_len`](Self::trimmed_len) bytes.
    fn put_trimmed(&self, out: &mut [u8]);

    /// Bytes without the unused room.
    #[inline]
    fn trimmed_len(&self) -> usize {
        prefix_len(Self::LIMIT) + self.count() * Self::UNIT
    }
}

/// Writes the wire layout.
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut [u8],
    at: usize,
}

impl<'o> Writer<'o> {
    /// Writes to the beginning of `out`.
    pub const fn new(out: &'o mut [u8]) -> Self {
        Self { out, at: 0 }
    }

    /// Bytes written.
    pub const fn len(&self) -> usize {
        self.at
    }

    /// True when nothing was written.
    pub const fn is_empty(&self) -> bool {
        self.at == 0
    }

    /// A field at full width.
    ///
    /// # Errors
    /// When there is no room.
    #[inline]
    pub fn field<T: Field>(&mut self, value: &T) -> Result<(), MessageError> {
        value.put(self.room(T::SIZE)?);
        Ok(())
    }

    /// A field without its unused room.
    ///
    /// # Errors
    /// When there is no room.
    #[inline]
    pub fn trimmed<T: Trim>(&mut self, value: &T) -> Result<(), MessageError> {
        value.put_trimmed(self.room(value.trimmed_len())?);
        Ok(())
    }

    /// A member of a trimmed union, with zeros up to `min` bytes.
    ///
    /// # Errors
    /// When there is no room.
    #[inline]
    pub fn member<T: Field>(&mut self, value: &T, min: usize) -> Result<(), MessageError> {
        self.field(value)?;
        self.room(min.saturating_sub(T::SIZE))?.fill(0);
        Ok(())
    }

    /// A member of a length-prefixed union, with zeros up to `min` bytes.
    ///
    /// # Errors
    /// When there is no room.
    #[inline]
    pub fn prefixed<T: Field>(&mut self, value: &T, min: usize) -> Result<(), MessageError> {
        self.field(&(T::SIZE.max(min) as u16))?;
        self.member(value, min)
    }

    /// What a trimmed union holds that has nothing set (no bytes) or an unknown tag: up to the last byte that is not zero.
    ///
    /// # Errors
    /// When there is no room.
    pub fn raw(&mut self, region: &[u8], min: usize) -> Result<(), MessageError> {
        let held = significant(region);
        self.room(held.len())?.copy_from_slice(held);
        self.room(min.saturating_sub(held.len()))?.fill(0);
        Ok(())
    }

    /// Like [`raw`](Self::raw), with the length of a length-prefixed union in front.
    ///
    /// # Errors
    /// When there is no room.
    pub fn raw_prefixed(&mut self, region: &[u8], min: usize) -> Result<(), MessageError> {
        self.field(&(significant(region).len().max(min) as u16))?;
        self.raw(region, min)
    }

    #[inline]
    fn room(&mut self, len: usize) -> Result<&mut [u8], MessageError> {
        let have = self.out.len();
        let need = self.at.saturating_add(len);
        let room = self.out.get_mut(self.at..need).ok_or(MessageError::BufferTooShort { need, have })?;
        self.at = need;
        Ok(room)
    }
}

/// Up to the last byte that says something.
fn significant(region: &[u8]) -> &[u8] {
    let len = region.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    region.get(..len).unwrap_or(region)
}

/// Reads the wire layout.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'p> {
    payload: &'p [u8],
    at: usize,
}

impl<'p> Reader<'p> {
    /// Reads from the beginning of `payload`.
    pub const fn new(payload: &'p [u8]) -> Self {
        Self { payload, at: 0 }
    }

    /// A field at full width.
    ///
    /// # Errors
    /// When bytes are missing.
    #[inline]
    pub fn field<T: Field>(&mut self, name: &'static str) -> Result<T, MessageError> {
        self.bytes(T::SIZE, name).map(T::take)
    }

    /// A field without its unused room.
    ///
    /// # Errors
    /// When bytes are missing, or the count exceeds its bound: then nobody knows where the next field begins.
    #[inline]
    pub fn trimmed<T: Trim>(&mut self, name: &'static str) -> Result<T, MessageError> {
        self.counted(T::LIMIT, T::UNIT, name).map(T::take)
    }

    /// An extension field at full width; `None` when it is not all there, and then nothing behind it is.
    #[inline]
    pub fn extension<T: Field>(&mut self) -> Option<T> {
        self.field("").ok()
    }

    /// An extension field without its unused room; `None` when it is not all there.
    ///
    /// # Errors
    /// When the count exceeds its bound.
    #[inline]
    pub fn trimmed_extension<T: Trim>(&mut self, name: &'static str) -> Result<Option<T>, MessageError> {
        match self.trimmed(name) {
            Ok(value) => Ok(Some(value)),
            Err(MessageError::Truncated { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A member of a trimmed union that writes at least `min` bytes.
    ///
    /// # Errors
    /// When bytes are missing.
    #[inline]
    pub fn member<T: Field>(&mut self, name: &'static str, min: usize) -> Result<T, MessageError> {
        let value = self.field(name)?;
        self.bytes(min.saturating_sub(T::SIZE), name)?;
        Ok(value)
    }

    /// The bytes of a length-prefixed union.
    ///
    /// # Errors
    /// When bytes are missing.
    #[inline]
    pub fn prefixed(&mut self, name: &'static str) -> Result<&'p [u8], MessageError> {
        let len: u16 = self.field(name)?;
        self.bytes(len.into(), name)
    }

    /// The region of a union that is written at full width; of an older sender, its base.
    ///
    /// # Errors
    /// When bytes of the base are missing.
    #[inline]
    pub fn region(&mut self, len: usize, base: usize, name: &'static str) -> Result<&'p [u8], MessageError> {
        self.bytes(len.min(self.left().max(base)), name)
    }

    /// Everything that is left.
    #[inline]
    pub fn rest(&mut self) -> &'p [u8] {
        let rest = self.payload.get(self.at..).unwrap_or_default();
        self.at = self.payload.len();
        rest
    }

    /// The error for a tag of unknown meaning with more fields behind it.
    pub const fn unknown_tag(&self, field: &'static str, tag: u16) -> MessageError {
        MessageError::UnknownTag { field, tag, at: self.at }
    }

    /// So many bytes.
    ///
    /// # Errors
    /// When some are missing.
    #[inline]
    pub fn bytes(&mut self, need: usize, field: &'static str) -> Result<&'p [u8], MessageError> {
        let have = self.left();
        let bytes = self.payload.get(self.at..).and_then(|rest| rest.get(..need));
        let bytes = bytes.ok_or(MessageError::Truncated { field, at: self.at, need, have })?;
        self.at += need;
        Ok(bytes)
    }

    /// Count and units of a trimmed field.
    ///
    /// # Errors
    /// As [`trimmed`](Self::trimmed).
    pub fn counted(&mut self, limit: usize, unit: usize, field: &'static str) -> Result<&'p [u8], MessageError> {
        let prefix = prefix_len(limit);
        let begin = *self;
        let count = if prefix > 1 { self.field::<u16>(field)? } else { self.field::<u8>(field)?.into() };
        let count = usize::from(count);
        if count > limit {
            return Err(MessageError::TooLong { field, len: count, max: limit });
        }
        *self = begin;
        self.bytes(prefix.saturating_add(count.saturating_mul(unit)), field)
    }

    /// The bytes of a length-prefixed union, which must be at least `need`.
    ///
    /// # Errors
    /// When bytes are missing.
    pub fn prefixed_of(&mut self, need: usize, field: &'static str) -> Result<&'p [u8], MessageError> {
        let bytes = self.prefixed(field)?;
        let (at, have) = (self.at.saturating_sub(bytes.len()), bytes.len());
        if have < need { Err(MessageError::Truncated { field, at, need, have }) } else { Ok(bytes) }
    }

    #[inline]
    const fn left(&self) -> usize {
        self.payload.len().saturating_sub(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounded, Text};

    #[test]
    fn sf_8_1_without_unused_room() {
        let mut out = [0xee; 16];
        let mut writer = Writer::new(&mut out);
        writer.field(&3u8).unwrap();
        writer.trimmed(&Bounded::<u16, 4>::from_slice(&[1, 0x0203]).unwrap()).unwrap();
        writer.trimmed(&Text::<5>::literal("hi")).unwrap();
        assert_eq!(writer.len(), 9);
        assert_eq!(out[..9], [3, 2, 1, 0, 3, 2, 2, b'h', b'i']);
        let mut reader = Reader::new(&out[..9]);
        assert_eq!(reader.field::<u8>("n"), Ok(3));
        assert_eq!(*reader.trimmed::<Bounded<u16, 4>>("v").unwrap(), [1, 0x0203]);
        assert_eq!(reader.trimmed::<Text<5>>("s").unwrap(), "hi");
        assert_eq!(reader.field::<u8>("end").unwrap_err().code(), "truncated");
        assert_eq!(reader.extension::<u8>(), None);
    }

    #[test]
    fn counts_beyond_their_bound_are_refused() {
        let error = Reader::new(&[5, 0, 0, 0, 0, 0]).trimmed::<Text<4>>("s").unwrap_err();
        assert_eq!(error, MessageError::TooLong { field: "s", len: 5, max: 4 });
        assert!(Reader::new(&[5]).trimmed_extension::<Text<4>>("s").is_err());
        assert_eq!(Reader::new(&[3, 0]).trimmed_extension::<Text<4>>("s"), Ok(None));
    }

    #[test]
    fn sf_8_3_union_bytes() {
        let mut out = [0xee; 9];
        let mut writer = Writer::new(&mut out);
        writer.prefixed(&7u8, 3).unwrap();
        writer.raw_prefixed(&[0, 9, 0], 0).unwrap();
        assert_eq!(writer.field(&1u8).unwrap_err().code(), "buffer_too_short");
        assert_eq!(out, [3, 0, 7, 0, 0, 2, 0, 0, 9]);
    }
}
