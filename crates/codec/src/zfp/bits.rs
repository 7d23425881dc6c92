//! Bits in order of the stream: 64-bit windows into a payload, and whole words out.

/// A payload, or a part of one, read by windows of 64 bits. Past its end it reads as zeros; callers compare the
/// position they reached with [`Bits::len`].
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Number of bits.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64 * 8
    }

    /// The 64 bits from `at`, first one lowest.
    #[inline(always)]
    pub(super) fn window(&self, at: u64) -> u64 {
        let (byte, shift) = ((at / 8) as usize, (at % 8) as u32);
        let nine = self.bytes.get(byte..).and_then(|rest| rest.first_chunk::<9>());
        let [low @ .., high] = match nine {
            Some(nine) => *nine,
            None => self.last_bytes(byte),
        };
        u64::from_le_bytes(low) >> shift | u64::from(high) << 1 << (63 - shift)
    }

    /// Up to nine bytes from `byte`, zeros behind the end.
    #[cold]
    fn last_bytes(&self, byte: usize) -> [u8; 9] {
        let mut nine = [0; 9];
        let rest = self.bytes.get(byte..).unwrap_or(&[]);
        nine.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        nine
    }
}

/// Fills a buffer with whole words, least significant bit first.
pub(super) struct BitWriter<'a> {
    free: &'a mut [u8],
    word: u64,
    /// Bits of `word` in use, below 64.
    used: u32,
}

impl<'a> BitWriter<'a> {
    /// A writer into `buffer`, which must be large enough for all that follows: what does not fit is dropped.
    pub(super) fn new(buffer: &'a mut [u8]) -> Self {
        Self { free: buffer, word: 0, used: 0 }
    }

    /// Appends the low `count` bits of `bits`; the others must be zero, and `count` at most 64.
    #[inline(always)]
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        self.word |= bits << self.used;
        let total = self.used + count;
        if total >= 64 {
            self.store();
            self.word = bits >> 1 >> (63 - self.used);
        }
        self.used = total % 64;
    }

    /// Appends zeros.
    #[inline(always)]
    pub(super) fn pad(&mut self, mut count: u32) {
        while count > 0 {
            let step = count.min(64);
            self.put(0, step);
            count -= step;
        }
    }

    /// Writes the last, partly filled word.
    pub(super) fn finish(mut self) {
        if self.used > 0 {
            self.store();
        }
    }

    #[inline(always)]
    fn store(&mut self) {
        if let Some((slot, rest)) = std::mem::take(&mut self.free).split_first_chunk_mut::<8>() {
            *slot = self.word.to_le_bytes();
            self.free = rest;
        }
    }
}

/// Appends streams of bits to a vector of bytes, one behind the other without a seam.
pub(super) struct BitJoiner<'a> {
    out: &'a mut Vec<u8>,
    word: u64,
    used: u32,
}

impl<'a> BitJoiner<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, word: 0, used: 0 }
    }

    /// Appends the first `len` bits of `bytes`, whose later bits in the last word must be zero.
    pub(super) fn append(&mut self, bytes: &[u8], len: u64) {
        let mut left = len;
        for chunk in bytes.chunks_exact(8) {
            if left == 0 {
                break;
            }
            let bits = chunk.try_into().map_or(0, u64::from_le_bytes);
            let count = left.min(64) as u32;
            self.word |= bits << self.used;
            let total = self.used + count;
            if total >= 64 {
                self.out.extend_from_slice(&self.word.to_le_bytes());
                self.word = bits >> 1 >> (63 - self.used);
            }
            self.used = total % 64;
            left -= u64::from(count);
        }
    }

    /// Writes the last, partly filled word.
    pub(super) fn finish(self) {
        if self.used > 0 {
            self.out.extend_from_slice(&self.word.to_le_bytes());
        }
    }
}

/// The lowest `count` bits set, for `count` below 64.
#[inline(always)]
pub(super) const fn low_bits(count: u32) -> u64 {
    (1 << count) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_see_every_bit_and_zeros_behind_the_end() {
        let bytes: Vec<u8> = (0..23).map(|i: u8| i.wrapping_mul(37) ^ 0x5a).collect();
        let bits = Bits::new(&bytes);
        let bit = |at: u64| bytes.get((at / 8) as usize).map_or(0, |byte| u64::from(byte >> (at % 8) & 1));
        for at in 0..bits.len() + 70 {
            let expected = (0..64).fold(0, |word, i| word | bit(at + i) << i);
            assert_eq!(bits.window(at), expected, "at {at}");
        }
    }

    #[test]
    fn joined_pieces_equal_one_stream() {
        let pieces: Vec<(u64, u32)> =
            (0..200u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15), (i % 65) as u32)).collect();
        let masked = |bits: u64, count| if count == 64 { bits } else { bits & low_bits(count) };
        let mut whole = vec![0; 200 * 8];
        let mut writer = BitWriter::new(&mut whole);
        let mut joined = Vec::new();
        let mut joiner = BitJoiner::new(&mut joined);
        let mut total = 0;
        for (bits, count) in pieces {
            writer.put(masked(bits, count), count);
            joiner.append(&masked(bits, count).to_le_bytes(), u64::from(count));
            total += count;
        }
        writer.finish();
        joiner.finish();
        assert_eq!(joined.len(), total.div_ceil(64) as usize * 8);
        assert_eq!(joined, whole[..joined.len()]);
    }
}
