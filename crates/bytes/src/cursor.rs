//! One checked reader: it never reads past its end and always knows its absolute position.

use crate::{Detail, ParseError};

/// Reads forward through a slice. All positions it reports are absolute: `base` plus what was consumed.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    position: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor over `bytes`, counting from zero.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self::at(bytes, 0)
    }

    /// A cursor over `bytes`, whose first byte has absolute position `base`.
    pub const fn at(bytes: &'a [u8], base: u64) -> Self {
        Self { rest: bytes, position: base }
    }

    /// Consumes `len` bytes.
    ///
    /// # Errors
    /// `truncated` when fewer are left; nothing is consumed then.
    pub fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], ParseError> {
        match self.rest.split_at_checked(len) {
            Some((head, tail)) => {
                self.rest = tail;
                self.position = self.position.saturating_add(len as u64);
                Ok(head)
            }
            None => Err(ParseError::short(what, len as u64, self.rest.len() as u64, self.position)),
        }
    }

    /// Consumes `len` bytes whose length came from the input.
    ///
    /// # Errors
    /// `truncated` when fewer are left, also when `len` does not fit the address space.
    pub fn take_u64(&mut self, len: u64, what: &'static str) -> Result<&'a [u8], ParseError> {
        match usize::try_from(len) {
            Ok(len) => self.take(len, what),
            Err(_) => Err(ParseError::short(what, len, self.rest.len() as u64, self.position)),
        }
    }

    /// Consumes exactly `N` bytes as an array.
    ///
    /// # Errors
    /// `truncated` when fewer are left.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ParseError> {
        let at = self.position;
        let bytes = self.take(N, what)?;
        // `take` returned exactly N bytes, so this conversion cannot fail; the error keeps the function total.
        <[u8; N]>::try_from(bytes).map_err(|_| ParseError::short(what, N as u64, bytes.len() as u64, at))
    }

    /// A cursor over the next `len` bytes, with the same absolute positions; this one moves past them.
    ///
    /// # Errors
    /// `truncated` when fewer are left.
    pub fn sub(&mut self, len: usize, what: &'static str) -> Result<Cursor<'a>, ParseError> {
        let base = self.position;
        Ok(Cursor::at(self.take(len, what)?, base))
    }

    /// Consumes bytes that must equal `magic`.
    ///
    /// # Errors
    /// `truncated`, or `code` when other bytes stand there.
    pub fn expect(&mut self, magic: &[u8], code: &'static str, what: &'static str) -> Result<(), ParseError> {
        let at = self.position;
        let found = self.take(magic.len(), what)?;
        if found == magic {
            return Ok(());
        }
        Err(ParseError::value(code, what, Detail::raw(magic), Detail::raw(found), at))
    }

    /// Refuses leftovers.
    ///
    /// # Errors
    /// `trailing_bytes` when anything is left.
    pub fn finish(self, what: &'static str) -> Result<(), ParseError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let found = Detail::Number(self.rest.len() as u64);
        Err(ParseError::value("trailing_bytes", what, Detail::Text("no further byte"), found, self.position))
    }

    /// The bytes not yet consumed.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// How many bytes are left.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// True when nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Absolute position of the next byte.
    pub const fn position(&self) -> u64 {
        self.position
    }
}

macro_rules! integers {
    ($($be:ident $le:ident $type:ty;)*) => {
        /// Fixed-width integers; each fails with `truncated` when too few bytes are left.
        #[allow(missing_docs)]
        impl Cursor<'_> {
            pub fn u8(&mut self, what: &'static str) -> Result<u8, ParseError> {
                self.array::<1>(what).map(|[byte]| byte)
            }
            $(
                pub fn $be(&mut self, what: &'static str) -> Result<$type, ParseError> {
                    self.array(what).map(<$type>::from_be_bytes)
                }
                pub fn $le(&mut self, what: &'static str) -> Result<$type, ParseError> {
                    self.array(what).map(<$type>::from_le_bytes)
                }
            )*
        }
    };
}

integers! {
    u16_be u16_le u16;
    u32_be u32_le u32;
    u64_be u64_le u64;
    i16_be i16_le i16;
    i32_be i32_le i32;
    i64_be i64_le i64;
    f32_be f32_le f32;
    f64_be f64_le f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_absolute_through_sub_cursors() {
        let bytes = [1, 2, 3, 4, 5, 6];
        let mut cursor = Cursor::at(&bytes, 50);
        cursor.u8("first").unwrap();
        let mut inner = cursor.sub(3, "inner").unwrap();
        assert_eq!(inner.u16_le("pair").unwrap(), 0x0302);
        assert_eq!(inner.u16_be("pair").unwrap_err(), ParseError::short("pair", 2, 1, 53));
        assert_eq!(inner.remaining(), 1, "a failed read consumes nothing");
        assert_eq!(cursor.position(), 54);
        assert_eq!(cursor.finish("record").unwrap_err().code, "trailing_bytes");
    }

    #[test]
    fn lengths_from_the_input_cannot_overflow() {
        let mut cursor = Cursor::new(&[0; 4]);
        assert_eq!(cursor.take_u64(u64::MAX, "payload").unwrap_err().code, "truncated");
        assert_eq!(cursor.take_u64(4, "payload").unwrap().len(), 4);
    }
}
