//! Arrays with a count in front.

use super::fixed::{Field, zeroed};
use super::text::FitError;
use super::trimmed::Trim;
use core::fmt;
use core::ops::{Deref, DerefMut};

/// Up to `N` values, in place. It is a slice of those that are there.
///
/// ```
/// use fw_structframe::Bounded;
///
/// let mut ranges = Bounded::<u16, 4>::from_slice(&[120, 340]).unwrap();
/// ranges.push(560).unwrap();
/// assert_eq!(ranges.iter().max(), Some(&560));
/// assert_eq!(Bounded::<u16, 4>::from_slice(&[0; 5]).unwrap_err().to_string(), "5 exceeds the bound 4");
/// ```
#[derive(Clone, Copy)]
pub struct Bounded<T, const N: usize> {
    /// Those behind `len` are zeros, or what was there before.
    items: [T; N],
    len: u16,
}

impl<T: Field, const N: usize> Bounded<T, N> {
    /// None yet.
    pub fn new() -> Self {
        const { assert!(N <= u16::MAX as usize, "counts have two bytes at most") };
        Self { items: core::array::from_fn(|_| zeroed()), len: 0 }
    }

    /// A copy of these.
    ///
    /// # Errors
    /// When there are more than `N`.
    pub fn from_slice(items: &[T]) -> Result<Self, FitError>
    where
        T: Clone,
    {
        let mut all = Self::new();
        let len = items.len();
        let room = all.items.get_mut(..len).ok_or(FitError::TooLong { len, max: N })?;
        room.clone_from_slice(items);
        all.len = len as u16;
        Ok(all)
    }

    /// Adds one at the end.
    ///
    /// # Errors
    /// When there is no room; the value comes back.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        match self.items.get_mut(usize::from(self.len)) {
            Some(room) => {
                *room = item;
                self.len += 1;
                Ok(())
            }
            None => Err(item),
        }
    }

    /// Keeps the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(u16::try_from(len).unwrap_or(u16::MAX));
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl<T, const N: usize> Bounded<T, N> {
    /// How many there can be.
    pub const CAPACITY: usize = N;

    /// Those that are there.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self.items.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Those that are there.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.items.get_mut(..usize::from(self.len)).unwrap_or_default()
    }
}

impl<T: Field, const N: usize> Default for Bounded<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> Deref for Bounded<T, N> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T, const N: usize> DerefMut for Bounded<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Bounded<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Bounded<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Eq, const N: usize> Eq for Bounded<T, N> {}

impl<'b, T, const N: usize> IntoIterator for &'b Bounded<T, N> {
    type Item = &'b T;
    type IntoIter = core::slice::Iter<'b, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

impl<'b, T, const N: usize> IntoIterator for &'b mut Bounded<T, N> {
    type Item = &'b mut T;
    type IntoIter = core::slice::IterMut<'b, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.as_mut_slice().iter_mut()
    }
}

impl<T: Field + Clone, const N: usize> TryFrom<&[T]> for Bounded<T, N> {
    type Error = FitError;
    fn try_from(items: &[T]) -> Result<Self, FitError> {
        Self::from_slice(items)
    }
}

impl<T: Field, const N: usize> Field for Bounded<T, N> {
    const SIZE: usize = prefix_len(N) + N * T::SIZE;

    #[inline]
    fn put(&self, out: &mut [u8]) {
        let Some(out) = out.get_mut(..Self::SIZE) else { return };
        let (used, unused) = out.split_at_mut(self.trimmed_len());
        self.put_trimmed(used);
        unused.fill(0);
    }

    #[inline]
    fn take(bytes: &[u8]) -> Self {
        let (count, content) = split_prefix::<N>(bytes);
        let mut all = Self::new();
        match content.get(..count.saturating_mul(T::SIZE)) {
            // Whole elements: for numbers the compiler makes a copy of this.
            Some(held) => {
                for (item, bytes) in all.items.iter_mut().zip(held.chunks_exact(T::SIZE.max(1))) {
                    *item = T::take(bytes);
                }
            }
            None => {
                for (item, bytes) in all.items.iter_mut().zip(content.chunks(T::SIZE.max(1))).take(count) {
                    *item = T::take(bytes);
                }
            }
        }
        all.len = count as u16;
        all
    }
}

impl<T: Field, const N: usize> Trim for Bounded<T, N> {
    const LIMIT: usize = N;
    const UNIT: usize = T::SIZE;

    #[inline]
    fn count(&self) -> usize {
        self.len.into()
    }

    #[inline]
    fn put_trimmed(&self, out: &mut [u8]) {
        let (prefix, content) = out.split_at_mut(prefix_len(N).min(out.len()));
        put_prefix(self.len, prefix);
        for (item, out) in self.as_slice().iter().zip(content.chunks_exact_mut(T::SIZE.max(1))) {
            item.put(out);
        }
    }
}

/// Bytes of the count: one up to a bound of 255, else two (SF-5.2).
pub(super) const fn prefix_len(limit: usize) -> usize {
    1 + (limit > 255) as usize
}

pub(super) fn put_prefix(count: u16, out: &mut [u8]) {
    for (to, from) in out.iter_mut().zip(count.to_le_bytes()) {
        *to = from;
    }
}

/// Count, clamped to its bound (SF-6.4), and content.
#[inline]
pub(super) fn split_prefix<const N: usize>(bytes: &[u8]) -> (usize, &[u8]) {
    let (prefix, content) = bytes.split_at_checked(prefix_len(N)).unwrap_or((bytes, &[]));
    let count = if N > 255 { u16::take(prefix) } else { u8::take(prefix).into() };
    (usize::from(count).min(N), content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_room_is_zero_and_counts_are_clamped() {
        let some = Bounded::<u16, 3>::from_slice(&[1, 2]).unwrap();
        let mut out = [0xee; 7];
        some.put(&mut out);
        assert_eq!(out, [2, 1, 0, 2, 0, 0, 0]);
        assert_eq!(Bounded::<u16, 3>::take(&out), some);
        out[0] = 200;
        assert_eq!(*Bounded::<u16, 3>::take(&out), [1, 2, 0]);
        assert_eq!(*Bounded::<u16, 3>::take(&[3, 9]), [9, 0, 0], "missing bytes are zeros");
    }

    #[test]
    fn bounds_over_255_have_two_byte_counts() {
        let mut wide = Bounded::<u8, 300>::new();
        (0..300).for_each(|at| wide.push(at as u8).unwrap());
        assert_eq!(wide.push(0), Err(0));
        let mut out = [0; 302];
        wide.put(&mut out);
        assert_eq!(out[..3], [44, 1, 0]);
        assert_eq!(Bounded::<u8, 300>::take(&out), wide);
        wide.truncate(2);
        assert_eq!(wide.as_slice(), [0, 1]);
    }
}
