//! Finding repeated strings: what the two encoders share.

/// The four bytes at `at`, or zero past the end.
#[inline(always)]
pub(super) fn word(input: &[u8], at: usize) -> u32 {
    match input.get(at..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u32::from_le_bytes(*bytes),
        None => 0,
    }
}

/// A table position of `bits` bits for four bytes.
#[inline(always)]
pub(super) fn hash(word: u32, bits: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// How many bytes from `earlier` and `later` (which is greater) on agree, both read before `end`.
#[inline]
pub(super) fn common_len(input: &[u8], earlier: usize, later: usize, end: usize) -> usize {
    let (Some(a), Some(b)) = (input.get(earlier..end), input.get(later..end)) else { return 0 };
    let (a_words, _) = a.as_chunks::<8>();
    let (b_words, _) = b.as_chunks::<8>();
    let mut len = 0;
    for (x, y) in a_words.iter().zip(b_words) {
        let differing = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differing != 0 {
            return len + (differing.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    len + a[len..].iter().zip(&b[len..]).take_while(|(x, y)| x == y).count()
}

/// A writer that remembers instead of failing when its buffer is full.
#[derive(Debug)]
pub(super) struct Bounded<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> Self {
        Self { out, len: 0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, byte: u8) -> Option<()> {
        *self.out.get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    #[inline(always)]
    pub(super) fn extend(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.len.checked_add(bytes.len())?;
        self.out.get_mut(self.len..end)?.copy_from_slice(bytes);
        self.len = end;
        Some(())
    }

    /// `value` as a row of 255s and a smaller last byte.
    pub(super) fn push_long(&mut self, mut value: usize) -> Option<()> {
        while value >= 255 {
            self.push(255)?;
            value -= 255;
        }
        self.push(value as u8)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_prefixes_of_every_length() {
        for len in 0..40 {
            let mut input = vec![7u8; 100];
            input[50 + len] = 8;
            assert_eq!(common_len(&input, 10, 50, 100), len);
            assert_eq!(common_len(&input, 10, 50, 50 + len / 2), len / 2, "stops at the end");
        }
    }
}
