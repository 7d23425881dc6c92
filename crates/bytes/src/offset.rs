//! Half-open byte ranges with absolute `u64` positions, and alignment without overflow.

use core::fmt;
use core::ops::Range;

/// A half-open range of bytes, `[start .. end)`, counted from the beginning of a file or message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// One past the last byte; never below `start`.
    pub end: u64,
}

impl Span {
    /// The span `[start .. end)`; an `end` before `start` gives the empty span at `start`.
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// The span of `len` bytes from `start`, or `None` when its end does not fit in 64 bits.
    pub const fn sized(start: u64, len: u64) -> Option<Self> {
        match start.checked_add(len) {
            Some(end) => Some(Self { start, end }),
            None => None,
        }
    }

    /// Number of bytes.
    pub const fn len(self) -> u64 {
        self.end - self.start
    }

    /// True when the span holds no byte.
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }

    /// True when every byte of `other` lies inside.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The same bytes counted from an origin `base` bytes earlier, or `None` on overflow.
    pub const fn shifted(self, base: u64) -> Option<Self> {
        match (self.start.checked_add(base), self.end.checked_add(base)) {
            (Some(start), Some(end)) => Some(Self { start, end }),
            _ => None,
        }
    }

    /// The part of `bytes` that this span names, when `bytes` begins at absolute position `base`.
    pub fn slice_of(self, bytes: &[u8], base: u64) -> Option<&[u8]> {
        let start = usize::try_from(self.start.checked_sub(base)?).ok()?;
        let end = usize::try_from(self.end.checked_sub(base)?).ok()?;
        bytes.get(start..end)
    }
}

impl From<Range<u64>> for Span {
    fn from(range: Range<u64>) -> Self {
        Self::new(range.start, range.end)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// `value` rounded up to a multiple of `alignment` (a power of two), or `None` on overflow.
pub const fn align_up(value: u64, alignment: u64) -> Option<u64> {
    debug_assert!(alignment.is_power_of_two());
    match value.checked_add(alignment - 1) {
        Some(sum) => Some(sum & !(alignment - 1)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignment_rounds_up_and_refuses_overflow() {
        assert_eq!(align_up(0, 8), Some(0));
        assert_eq!(align_up(1, 8), Some(8));
        assert_eq!(align_up(8, 8), Some(8));
        assert_eq!(align_up(u64::MAX - 3, 8), None);
    }

    #[test]
    fn spans_compare_and_slice() {
        let span = Span::new(10, 14);
        assert_eq!(span.len(), 4);
        assert!(Span::new(8, 20).contains(span));
        assert!(!Span::new(11, 20).contains(span));
        assert_eq!(span.slice_of(&[0, 1, 2, 3, 4, 5], 9), Some(&[1, 2, 3, 4][..]));
        assert_eq!(span.slice_of(&[0, 1, 2], 9), None);
        assert_eq!(span.slice_of(&[0, 1, 2], 11), None);
        assert_eq!(Span::sized(u64::MAX, 1), None);
    }
}
