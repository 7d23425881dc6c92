//! Text with a bound.
//!
//! Peers may send bytes that are not UTF-8. They are kept as they are, so that a message can be forwarded unchanged;
//! [`as_str`](Text::as_str) says so.

use super::bounded::{prefix_len, put_prefix, split_prefix};
use super::fixed::Field;
use super::trimmed::Trim;
use super::view::TextView;
use core::fmt;
use core::str::{FromStr, Utf8Error};

/// Why something does not fit its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FitError {
    /// More than the bound.
    TooLong {
        /// How many there are.
        len: usize,
        /// How many there may be.
        max: usize,
    },
    /// A zero byte would end fixed text.
    Zero {
        /// Where it stands.
        at: usize,
    },
}

impl FitError {
    /// Stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TooLong { .. } => "too_long",
            Self::Zero { .. } => "text_with_zero",
        }
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len, max } => write!(f, "{len} exceeds the bound {max}"),
            Self::Zero { at } => write!(f, "the zero byte at {at} would end this fixed text"),
        }
    }
}

impl core::error::Error for FitError {}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, ends_at_zero: $ends_at_zero:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<const N: usize> {
            /// Those behind `len` are zeros.
            bytes: [u8; N],
            len: u16,
        }

        impl<const N: usize> $name<N> {
            /// How many bytes there can be.
            pub const CAPACITY: usize = N;

            /// No text.
            pub const fn empty() -> Self {
                const { assert!(N <= u16::MAX as usize, "lengths have two bytes at most") };
                Self { bytes: [0; N], len: 0 }
            }

            /// This text.
            ///
            /// # Errors
            /// When it does not fit.
            pub const fn new(text: &str) -> Result<Self, FitError> {
                Self::from_bytes(text.as_bytes())
            }

            /// A literal, checked by the compiler when it is used for a constant.
            ///
            /// # Panics
            /// When it does not fit.
            pub const fn literal(text: &str) -> Self {
                match Self::new(text) {
                    Ok(text) => text,
                    Err(_) => panic!("the literal does not fit"),
                }
            }

            /// These bytes, which should be UTF-8.
            ///
            /// # Errors
            /// When they do not fit.
            pub const fn from_bytes(bytes: &[u8]) -> Result<Self, FitError> {
                let len = bytes.len();
                if len > N {
                    return Err(FitError::TooLong { len, max: N });
                }
                let mut all = Self::empty();
                let mut at = 0;
                while at < len {
                    if $ends_at_zero && bytes[at] == 0 {
                        return Err(FitError::Zero { at });
                    }
                    all.bytes[at] = bytes[at];
                    at += 1;
                }
                all.len = len as u16;
                Ok(all)
            }

            /// The text.
            ///
            /// # Errors
            /// When a peer sent something that is not UTF-8.
            pub fn as_str(&self) -> Result<&str, Utf8Error> {
                self.view().as_str()
            }

            /// Its bytes.
            #[inline]
            pub fn as_bytes(&self) -> &[u8] {
                self.bytes.get(..usize::from(self.len)).unwrap_or_default()
            }

            /// How many bytes it has.
            pub const fn len(&self) -> usize {
                self.len as usize
            }

            /// True when there is no text.
            pub const fn is_empty(&self) -> bool {
                self.len == 0
            }

            fn view(&self) -> TextView<'_> {
                TextView::new(self.as_bytes())
            }
        }

        impl<const N: usize> Default for $name<N> {
            fn default() -> Self {
                Self::empty()
            }
        }

        impl<const N: usize> fmt::Debug for $name<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.view(), f)
            }
        }

        impl<const N: usize> fmt::Display for $name<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.view(), f)
            }
        }

        impl<const N: usize> PartialEq for $name<N> {
            fn eq(&self, other: &Self) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl<const N: usize> Eq for $name<N> {}

        impl<const N: usize> PartialEq<str> for $name<N> {
            fn eq(&self, other: &str) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl<const N: usize> PartialEq<&str> for $name<N> {
            fn eq(&self, other: &&str) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl<const N: usize> TryFrom<&str> for $name<N> {
            type Error = FitError;
            fn try_from(text: &str) -> Result<Self, FitError> {
                Self::new(text)
            }
        }

        impl<const N: usize> FromStr for $name<N> {
            type Err = FitError;
            fn from_str(text: &str) -> Result<Self, FitError> {
                Self::new(text)
            }
        }
    };
}

text! {
    /// Text of up to `N` bytes with its length in front.
    ///
    /// ```
    /// use fw_structframe::Text;
    ///
    /// let note = Text::<8>::new("fähig").unwrap();
    /// assert_eq!((note.as_str(), note.len()), (Ok("fähig"), 6));
    /// assert_eq!(Text::<5>::new("fähig").unwrap_err().code(), "too_long");
    /// ```
    Text, ends_at_zero: false
}

text! {
    /// Text of up to `N` bytes that ends at the first zero or fills its field.
    FixedText, ends_at_zero: true
}

impl<const N: usize> Field for Text<N> {
    const SIZE: usize = prefix_len(N) + N;

    #[inline]
    fn put(&self, out: &mut [u8]) {
        let Some((prefix, content)) = out.split_at_mut_checked(prefix_len(N)) else { return };
        put_prefix(self.len, prefix);
        // What comes after the text is zero already.
        self.bytes.put(content);
    }

    #[inline]
    fn take(bytes: &[u8]) -> Self {
        let (count, content) = split_prefix::<N>(bytes);
        let mut text = Self::empty();
        let held = content.get(..count).unwrap_or(content);
        if let Some(room) = text.bytes.get_mut(..held.len()) {
            room.copy_from_slice(held);
        }
        text.len = count as u16;
        text
    }
}

impl<const N: usize> Trim for Text<N> {
    const LIMIT: usize = N;
    const UNIT: usize = 1;

    #[inline]
    fn count(&self) -> usize {
        self.len.into()
    }

    #[inline]
    fn put_trimmed(&self, out: &mut [u8]) {
        let (prefix, content) = out.split_at_mut(prefix_len(N).min(out.len()));
        put_prefix(self.len, prefix);
        for (to, from) in content.iter_mut().zip(self.as_bytes()) {
            *to = *from;
        }
    }
}

impl<const N: usize> Field for FixedText<N> {
    const SIZE: usize = N;

    #[inline]
    fn put(&self, out: &mut [u8]) {
        self.bytes.put(out);
    }

    #[inline]
    fn take(bytes: &[u8]) -> Self {
        let mut text = Self::empty();
        let mut len = 0;
        for (to, from) in text.bytes.iter_mut().zip(bytes).take_while(|(_, from)| **from != 0) {
            *to = *from;
            len += 1;
        }
        text.len = len;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn text_with_a_length() {
        let mut out = [0xee; 6];
        Text::<5>::literal("hi").put(&mut out);
        assert_eq!(out, [2, b'h', b'i', 0, 0, 0]);
        assert_eq!(Text::<5>::take(&out), "hi");
        out[0] = 99;
        assert_eq!(Text::<5>::take(&out), "hi\0\0\0");
        assert_eq!(Text::<5>::new("sixsix"), Err(FitError::TooLong { len: 6, max: 5 }));
        let broken = Text::<5>::take(&[2, 0xff, b'a']);
        assert!(broken.as_str().is_err());
        assert_eq!((broken.to_string(), broken.as_bytes()), ("\u{fffd}a".into(), &[0xff, b'a'][..]));
    }

    #[test]
    fn fixed_text_ends_at_a_zero() {
        let mut out = [0xee; 3];
        FixedText::<3>::literal("a").put(&mut out);
        assert_eq!(out, [b'a', 0, 0]);
        assert_eq!(FixedText::<3>::take(b"a\0b"), "a");
        assert_eq!(FixedText::<3>::take(b"abc"), "abc");
        assert_eq!(FixedText::<3>::new("a\0"), Err(FitError::Zero { at: 1 }));
    }
}
