//! Reading numbers and text from the header, as fast as the bytes arrive and never past their end.

use crate::error::DecodeKind;

/// Reads forward through the header body. What it returns on failure is one byte, so that success costs nothing;
/// the caller turns it into a full error with the position from [`Scan::consumed`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    rest: &'a [u8],
    total: usize,
}

/// Why a field could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    End,
    Integer,
    Utf8,
}

impl Fault {
    pub(crate) const fn kind(self) -> DecodeKind {
        match self {
            Self::End => DecodeKind::UnexpectedEnd,
            Self::Integer => DecodeKind::InvalidIntegerType,
            Self::Utf8 => DecodeKind::Utf8,
        }
    }
}

impl<'a> Scan<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, total: bytes.len() }
    }

    /// Bytes consumed so far.
    #[inline(always)]
    pub(crate) const fn consumed(&self) -> usize {
        self.total.saturating_sub(self.rest.len())
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline(always)]
    pub(crate) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    #[inline(always)]
    pub(crate) fn byte(&mut self) -> Result<u8, Fault> {
        let (first, rest) = self.rest.split_first().ok_or(Fault::End)?;
        self.rest = rest;
        Ok(*first)
    }

    /// A count, length, dimension or offset (BT-2.1).
    #[inline(always)]
    pub(crate) fn varint(&mut self) -> Result<u64, Fault> {
        let (tag, rest) = self.rest.split_first().ok_or(Fault::End)?;
        if *tag < TAG_16 {
            self.rest = rest;
            return Ok(u64::from(*tag));
        }
        self.tail(*tag, rest)
    }

    /// The element type's number, a 32-bit field (BT-2.2): tag `FD` is refused too.
    #[inline(always)]
    pub(crate) fn varint32(&mut self) -> Result<u32, Fault> {
        let (tag, rest) = self.rest.split_first().ok_or(Fault::End)?;
        if *tag < TAG_16 {
            self.rest = rest;
            return Ok(u32::from(*tag));
        }
        if *tag == TAG_64 {
            return Err(Fault::Integer);
        }
        // The remaining tags carry at most 32 bits.
        self.tail(*tag, rest).map(|value| value as u32)
    }

    /// Bytes of a length that came from the input.
    #[inline(always)]
    pub(crate) fn take(&mut self, len: u64) -> Result<&'a [u8], Fault> {
        let len = usize::try_from(len).map_err(|_| Fault::End)?;
        let (head, rest) = self.rest.split_at_checked(len).ok_or(Fault::End)?;
        self.rest = rest;
        Ok(head)
    }

    /// A string (BT-2.4): length, then strict UTF-8.
    #[inline(always)]
    pub(crate) fn text(&mut self) -> Result<&'a str, Fault> {
        let len = self.varint()?;
        let bytes = self.take(len)?;
        std::str::from_utf8(bytes).map_err(|_| Fault::Utf8)
    }

    #[inline(always)]
    fn tail(&mut self, tag: u8, rest: &'a [u8]) -> Result<u64, Fault> {
        let (value, rest) = match tag {
            TAG_16 => {
                let (bytes, rest) = rest.split_first_chunk::<2>().ok_or(Fault::End)?;
                (u64::from(u16::from_le_bytes(*bytes)), rest)
            }
            TAG_32 => {
                let (bytes, rest) = rest.split_first_chunk::<4>().ok_or(Fault::End)?;
                (u64::from(u32::from_le_bytes(*bytes)), rest)
            }
            TAG_64 => {
                let (bytes, rest) = rest.split_first_chunk::<8>().ok_or(Fault::End)?;
                (u64::from_le_bytes(*bytes), rest)
            }
            _ => return Err(Fault::Integer),
        };
        self.rest = rest;
        Ok(value)
    }
}

/// The next two bytes are the value.
pub(super) const TAG_16: u8 = 0xfb;
/// The next four bytes are the value.
pub(super) const TAG_32: u8 = 0xfc;
/// The next eight bytes are the value.
pub(super) const TAG_64: u8 = 0xfd;

#[cfg(test)]
mod tests {
    use super::*;

    /// BT-2.1: every width, its boundaries, longer forms, and the tags that are never legal.
    #[test]
    fn integers_of_every_width() {
        let cases: &[(&[u8], Result<u64, Fault>)] = &[
            (&[0], Ok(0)),
            (&[250], Ok(250)),
            (&[0xfb, 0xfb, 0], Ok(251)),
            (&[0xfb, 0xb8, 0x0b], Ok(3000)),
            (&[0xfb, 5, 0], Ok(5)),
            (&[0xfc, 0, 0, 1, 0], Ok(65536)),
            (&[0xfd, 0, 0, 0, 0, 1, 0, 0, 0], Ok(1 << 32)),
            (&[0xfd, 255, 255, 255, 255, 255, 255, 255, 255], Ok(u64::MAX)),
            (&[0xfe], Err(Fault::Integer)),
            (&[0xff, 0, 0], Err(Fault::Integer)),
            (&[], Err(Fault::End)),
            (&[0xfb, 1], Err(Fault::End)),
            (&[0xfc, 1, 2, 3], Err(Fault::End)),
            (&[0xfd, 1, 2, 3, 4, 5, 6, 7], Err(Fault::End)),
        ];
        for (bytes, expected) in cases {
            let mut scan = Scan::new(bytes);
            assert_eq!(scan.varint(), *expected, "{bytes:02x?}");
            if expected.is_ok() {
                assert_eq!(scan.consumed(), bytes.len());
            } else {
                assert_eq!(scan.consumed(), 0, "a failed read consumes nothing");
            }
        }
        // BT-2.2: the dtype field refuses the 64-bit form before looking at its bytes.
        assert_eq!(Scan::new(&[0xfd]).varint32(), Err(Fault::Integer));
        assert_eq!(Scan::new(&[0xfc, 11, 0, 0, 0]).varint32(), Ok(11));
    }

    /// BT-2.4: strict UTF-8, and lengths that cannot be believed.
    #[test]
    fn text_is_strict() {
        assert_eq!(Scan::new(b"\x02\xc3\xa9").text(), Ok("\u{e9}"));
        for bad in [&b"\x01\xff"[..], b"\x03\xed\xa0\x80", b"\x02\xc0\x80", b"\x02\xe2\x82", b"\x04\xf4\x90\x80\x80"] {
            assert_eq!(Scan::new(bad).text(), Err(Fault::Utf8), "{bad:02x?}");
        }
        assert_eq!(Scan::new(&[0xfd, 255, 255, 255, 255, 255, 255, 255, 255, b'x']).text(), Err(Fault::End));
    }
}
