//! Values with a fixed number of bytes: numbers, enums, nested messages, and arrays of them (SF-5).

use crate::message::MessageError;

/// A value that takes the same number of bytes in every message that holds it.
///
/// Generated code implements this for enums, unions and messages; the layout is the fixed one.
pub trait Field: Sized {
    /// Its bytes.
    const SIZE: usize;

    /// Writes it, padding included, to the first [`SIZE`](Self::SIZE) bytes of `out`; nothing when there are fewer.
    fn put(&self, out: &mut [u8]);

    /// Reads it from the beginning of `bytes`. Missing bytes are zeros, counts beyond their bound are the bound.
    fn take(bytes: &[u8]) -> Self;
}

/// The value whose bytes are all zero.
#[inline]
pub fn zeroed<T: Field>() -> T {
    T::take(&[])
}

/// Reads a value, as [`Field::take`] does, of the type that the place asks for.
#[inline]
pub fn take<T: Field>(bytes: &[u8]) -> T {
    T::take(bytes)
}

/// Writes the fixed layout of a message to the beginning of `out` and returns its length.
///
/// # Errors
/// When `out` is too short.
#[inline]
pub fn write_fixed<T: Field>(message: &T, out: &mut [u8]) -> Result<usize, MessageError> {
    let have = out.len();
    let image = out.get_mut(..T::SIZE).ok_or(MessageError::BufferTooShort { need: T::SIZE, have })?;
    message.put(image);
    Ok(T::SIZE)
}

/// Reads a payload in the fixed layout, of which there are `N` bytes. Missing bytes are those of a new message (SF-6.4),
/// surplus ones are ignored.
#[inline]
pub fn read_fixed<T: Field + Default, const N: usize>(payload: &[u8]) -> T {
    match payload.first_chunk::<N>() {
        Some(image) => T::take(image),
        None => read_short::<T, N>(payload),
    }
}

#[cold]
fn read_short<T: Field + Default, const N: usize>(payload: &[u8]) -> T {
    let mut image = [0; N];
    T::default().put(&mut image);
    for (to, from) in image.iter_mut().zip(payload) {
        *to = *from;
    }
    T::take(&image)
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Field for $number {
            const SIZE: usize = size_of::<Self>();

            #[inline]
            fn put(&self, out: &mut [u8]) {
                if let Some(out) = out.first_chunk_mut() {
                    *out = self.to_le_bytes();
                }
            }

            #[inline]
            fn take(bytes: &[u8]) -> Self {
                match bytes.first_chunk() {
                    Some(bytes) => Self::from_le_bytes(*bytes),
                    None => Self::from_le_bytes(padded(bytes)),
                }
            }
        }
    )*};
}

numbers!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// These bytes with zeros behind them.
#[cold]
pub fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut whole = [0; N];
    for (to, from) in whole.iter_mut().zip(bytes) {
        *to = *from;
    }
    whole
}

impl Field for bool {
    const SIZE: usize = 1;

    #[inline]
    fn put(&self, out: &mut [u8]) {
        u8::from(*self).put(out);
    }

    #[inline]
    fn take(bytes: &[u8]) -> Self {
        u8::take(bytes) != 0
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    const SIZE: usize = N * T::SIZE;

    #[inline]
    fn put(&self, out: &mut [u8]) {
        for (value, out) in self.iter().zip(out.chunks_exact_mut(T::SIZE.max(1))) {
            value.put(out);
        }
    }

    #[inline]
    fn take(bytes: &[u8]) -> Self {
        match bytes.get(..Self::SIZE) {
            // All there: for numbers the compiler makes a copy of this.
            Some(bytes) => core::array::from_fn(|at| T::take(bytes.get(at * T::SIZE..).unwrap_or_default())),
            None => {
                let mut chunks = bytes.chunks(T::SIZE.max(1));
                core::array::from_fn(|_| T::take(chunks.next().unwrap_or_default()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn numbers_there_and_back() {
        let mut out = vec![0xee; 6];
        [1u16, 0x0203, 0xffff].put(&mut out);
        assert_eq!(out, [1, 0, 3, 2, 0xff, 0xff]);
        assert_eq!(<[u16; 3]>::take(&out), [1, 0x0203, 0xffff]);
        assert_eq!(<[u16; 3]>::take(&out[..3]), [1, 3, 0], "missing bytes are zeros");
        assert!(bool::take(&[7]) && !zeroed::<bool>());
        assert_eq!(i64::take(&(-5i64).to_le_bytes()), -5);
    }

    #[test]
    fn short_payloads_are_filled_with_defaults() {
        #[derive(Debug, PartialEq)]
        struct Level(u16);
        impl Default for Level {
            fn default() -> Self {
                Self(0x0504)
            }
        }
        impl Field for Level {
            const SIZE: usize = 2;
            fn put(&self, out: &mut [u8]) {
                self.0.put(out);
            }
            fn take(bytes: &[u8]) -> Self {
                Self(Field::take(bytes))
            }
        }
        assert_eq!(read_fixed::<Level, 2>(&[1]), Level(0x0501));
        assert_eq!(read_fixed::<Level, 2>(&[1, 2, 3]), Level(0x0201));
        assert_eq!(write_fixed(&Level(1), &mut [0; 1]), Err(MessageError::BufferTooShort { need: 2, have: 1 }));
    }
}
