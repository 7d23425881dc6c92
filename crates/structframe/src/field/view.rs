//! Arrays and text borrowed from a payload.

use super::bounded::prefix_len;
use super::fixed::Field;
use crate::message::MessageError;
use core::fmt;
use core::marker::PhantomData;
use core::str::{Utf8Error, from_utf8};

/// Text in a payload.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TextView<'p>(&'p [u8]);

impl<'p> TextView<'p> {
    /// All of these bytes.
    pub const fn new(bytes: &'p [u8]) -> Self {
        Self(bytes)
    }

    /// Up to the first zero, if there is one.
    pub fn until_zero(bytes: &'p [u8]) -> Self {
        Self(bytes.split(|byte| *byte == 0).next().unwrap_or(bytes))
    }

    /// The text.
    ///
    /// # Errors
    /// When the peer sent something that is not UTF-8.
    pub fn as_str(self) -> Result<&'p str, Utf8Error> {
        from_utf8(self.0)
    }

    /// Its bytes.
    pub const fn as_bytes(self) -> &'p [u8] {
        self.0
    }
}

/// What is not UTF-8 is shown as replacement characters.
impl fmt::Display for TextView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_str("\u{fffd}")?;
            }
        }
        Ok(())
    }
}

/// What is not UTF-8 is shown as escaped bytes.
impl fmt::Debug for TextView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Ok(text) => text.fmt(f),
            Err(_) => write!(f, "b\"{}\"", self.0.escape_ascii()),
        }
    }
}

impl PartialEq<str> for TextView<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for TextView<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

/// The bytes of a message in the fixed layout, of which there must be `N`.
///
/// # Errors
/// When there are fewer.
#[inline]
pub fn whole<'p, const N: usize>(payload: &'p [u8], field: &'static str) -> Result<&'p [u8; N], MessageError> {
    let have = payload.len();
    payload.first_chunk().ok_or(MessageError::Truncated { field, at: 0, need: N, have })
}

/// The units behind the count of a bounded field, no more than its bound.
#[inline]
pub fn content(bytes: &[u8], limit: usize, unit: usize) -> &[u8] {
    let (prefix, content) = bytes.split_at_checked(prefix_len(limit)).unwrap_or((bytes, &[]));
    let count = match *prefix {
        [low, high] => u16::from_le_bytes([low, high]),
        [one] => one.into(),
        _ => 0,
    };
    part(content, usize::from(count).min(limit).saturating_mul(unit))
}

/// The first `len` bytes, or all.
#[inline]
pub fn part(bytes: &[u8], len: usize) -> &[u8] {
    bytes.get(..len).unwrap_or(bytes)
}

/// Reads an element, as [`Item::item`] does, of the type that the place asks for.
#[inline]
pub fn item<'p, T: Item<'p>>(bytes: &'p [u8]) -> T {
    T::item(bytes)
}

/// What an [`ArrayView`] gives for the bytes of one element.
pub trait Item<'p> {
    /// Reads it.
    fn item(bytes: &'p [u8]) -> Self;
}

macro_rules! items {
    ($($number:ty),*) => {$(
        impl Item<'_> for $number {
            #[inline]
            fn item(bytes: &[u8]) -> Self {
                Self::take(bytes)
            }
        }
    )*};
}

items!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, bool);

impl<'p> Item<'p> for TextView<'p> {
    fn item(bytes: &'p [u8]) -> Self {
        Self::until_zero(bytes)
    }
}

impl<'p> Item<'p> for &'p [u8] {
    fn item(bytes: &'p [u8]) -> Self {
        bytes
    }
}

/// An array in a payload; elements are read when asked for.
///
/// ```
/// use fw_structframe::ArrayView;
///
/// let ranges = ArrayView::<u16>::new(&[1, 0, 2, 1], 2);
/// assert_eq!((ranges.len(), ranges.get(1)), (2, Some(0x0102)));
/// assert_eq!(ranges.iter().map(u32::from).sum::<u32>(), 0x0103);
/// ```
#[derive(Clone, Copy)]
pub struct ArrayView<'p, T> {
    bytes: &'p [u8],
    unit: usize,
    of: PhantomData<fn() -> T>,
}

impl<'p, T: Item<'p>> ArrayView<'p, T> {
    /// Elements of `unit` bytes each.
    pub const fn new(bytes: &'p [u8], unit: usize) -> Self {
        Self { bytes, unit: if unit == 0 { 1 } else { unit }, of: PhantomData }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.bytes.len() / self.unit
    }

    /// True when there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    pub fn get(&self, index: usize) -> Option<T> {
        self.bytes.chunks_exact(self.unit).nth(index).map(T::item)
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + use<'p, T> {
        self.bytes.chunks_exact(self.unit).map(T::item)
    }
}

impl<'p, T: Item<'p> + fmt::Debug> fmt::Debug for ArrayView<'p, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
