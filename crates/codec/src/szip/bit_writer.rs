//! Writing a bit stream, most significant bit first, a machine word at a time.

/// Appends bits to a vector of bytes.
///
/// Every write stores a whole word and then moves on by whole bytes, so there is no branch on how full the word is.
/// The vector is kept longer than what is written; [`BitWriter::finish`] cuts it.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// First byte of this stream in `bytes`.
    start: usize,
    /// The byte that the next bit goes to.
    at: usize,
    /// Bits of byte `at` already taken, at the top.
    word: u64,
    taken: u32,
}

/// The most bits that go in at once.
pub(super) const MAX_PUT: u32 = 56;

impl BitWriter {
    /// A writer whose stream begins behind what `bytes` already holds.
    pub(super) fn append_to(bytes: Vec<u8>) -> Self {
        let start = bytes.len();
        Self { bytes, start, at: start, word: 0, taken: 0 }
    }

    /// Bits written.
    pub(super) fn bit_len(&self) -> u64 {
        (self.at - self.start) as u64 * 8 + u64::from(self.taken)
    }

    /// The bytes, the last one filled with zero bits.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.put(0, 0);
        self.bytes.truncate(self.at + usize::from(self.taken > 0));
        self.bytes
    }

    /// Writes the low `len` (0..=[`MAX_PUT`]) bits of `value`, which must have no others.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, len: u32) {
        debug_assert!(len <= MAX_PUT && value >> len == 0);
        let filled = self.taken + len;
        // Two shifts: with nothing taken and nothing to write the distance is a full word.
        self.word |= (value << 1) << (63 - filled);
        match self.bytes.get_mut(self.at..).and_then(|tail| tail.first_chunk_mut::<8>()) {
            Some(slot) => *slot = self.word.to_be_bytes(),
            None => self.grow(),
        }
        self.at += (filled / 8) as usize;
        self.word <<= filled & !7;
        self.taken = filled & 7;
    }

    /// Writes `value` in unary: that many zeros, then a one.
    #[inline(always)]
    pub(super) fn put_unary(&mut self, mut value: u32) {
        while value >= MAX_PUT {
            self.put(0, MAX_PUT);
            value -= MAX_PUT;
        }
        self.put(1, value + 1);
    }

    /// Writes `head` in `head_len` (at most 32) bits, then `value >> shift` in unary for each of `values`.
    #[inline(always)]
    pub(super) fn put_unary_all(&mut self, head: u64, head_len: u32, shift: u32, values: &[u32]) {
        let (groups, rest) = values.as_chunks::<16>();
        let (mut head, mut head_len) = (head, head_len);
        for group in groups {
            if !self.try_unary_group(head, head_len, shift, group) {
                self.put(head, head_len);
                self.put_unary_halves(shift, group);
            }
            (head, head_len) = (0, 0);
        }
        if head_len > 0 {
            self.put(head, head_len);
        }
        self.put_unary_halves(shift, rest);
    }

    fn put_unary_halves(&mut self, shift: u32, values: &[u32]) {
        for half in values.chunks(8) {
            if !self.try_unary_group(0, 0, shift, half) {
                for value in half {
                    self.put_unary(value >> shift);
                }
            }
        }
    }

    /// Writes a group at once, when it fits. The numbers must sum up to less than 2^32.
    #[inline(always)]
    fn try_unary_group(&mut self, head: u64, head_len: u32, shift: u32, group: &[u32]) -> bool {
        let mut len = head_len;
        let mut word = (head << 1) << (63 - head_len);
        for value in group {
            len = len.wrapping_add(value >> shift);
            word |= (1 << 63) >> (len & 63);
            len = len.wrapping_add(1);
        }
        if len > MAX_PUT {
            return false;
        }
        self.put((word >> 1) >> (63 - len), len);
        true
    }

    /// Writes the low `len` (0..=32) bits of each of `values`.
    #[inline(always)]
    pub(super) fn put_all(&mut self, len: u32, values: &[u32]) {
        match len {
            0 => {}
            1..=7 => self.put_groups::<8>(len, values),
            8..=14 => self.put_groups::<4>(len, values),
            15..=28 => self.put_groups::<2>(len, values),
            _ => self.put_groups::<1>(len, values),
        }
    }

    /// `N` (a power of two) numbers of `len` bits fit one word; they are joined in pairs, and the pairs in pairs.
    #[inline(always)]
    fn put_groups<const N: usize>(&mut self, len: u32, values: &[u32]) {
        let mask = (1u64 << len) - 1;
        let (groups, rest) = values.as_chunks::<N>();
        for group in groups {
            let mut words = group.map(|value| u64::from(value) & mask);
            let (mut count, mut width) = (N, len);
            while count > 1 {
                count /= 2;
                for index in 0..count {
                    words[index] = words[2 * index] << width | words[2 * index + 1];
                }
                width *= 2;
            }
            self.put(words[0], width);
        }
        for value in rest {
            self.put(u64::from(*value) & mask, len);
        }
    }

    /// Writes the first `bit_len` bits of `stream`.
    pub(super) fn put_stream(&mut self, stream: &[u8], bit_len: u64) {
        let whole = usize::try_from(bit_len / 8).unwrap_or(usize::MAX).min(stream.len());
        let (bytes, rest) = stream.split_at(whole);
        self.bytes.truncate(self.at);
        if self.taken == 0 {
            self.bytes.extend_from_slice(bytes);
        } else {
            let (words, tail) = bytes.as_chunks::<8>();
            self.bytes.resize(self.at + words.len() * 8, 0);
            let mut carry = self.word;
            for (slot, chunk) in self.bytes[self.at..].as_chunks_mut::<8>().0.iter_mut().zip(words) {
                let word = u64::from_be_bytes(*chunk);
                *slot = (carry | word >> self.taken).to_be_bytes();
                carry = word << (64 - self.taken);
            }
            self.word = carry;
            self.at = self.bytes.len();
            for byte in tail {
                self.put(u64::from(*byte), 8);
            }
            self.bytes.truncate(self.at);
        }
        self.at = self.bytes.len();
        let left = (bit_len % 8) as u32;
        if let Some(last) = rest.first().filter(|_| left > 0) {
            self.put(u64::from(last >> (8 - left)), left);
        }
    }

    /// Makes room and stores the word that found none.
    #[cold]
    fn grow(&mut self) {
        let room = (self.at / 2).clamp(1 << 10, 1 << 20);
        self.bytes.resize(self.at + room, 0);
        self.bytes[self.at..self.at + 8].copy_from_slice(&self.word.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A stream as a list of bits.
    fn bits_of(bytes: &[u8], len: u64) -> Vec<bool> {
        (0..len as usize).map(|i| bytes[i / 8] << (i % 8) & 0x80 != 0).collect()
    }

    proptest! {
        #[test]
        fn fields_come_out_as_they_went_in(fields in proptest::collection::vec((any::<u64>(), 0u32..=MAX_PUT), 0..200)) {
            let mut writer = BitWriter::append_to(vec![1, 2, 3]);
            let mut expected = Vec::new();
            for (value, len) in fields {
                let value = value & ((1 << len) - 1);
                writer.put(value, len);
                expected.extend((0..len).rev().map(|bit| value >> bit & 1 == 1));
            }
            let bit_len = writer.bit_len();
            let bytes = writer.finish();
            prop_assert_eq!(&bytes[..3], &[1, 2, 3]);
            prop_assert_eq!(bytes.len(), 3 + expected.len().div_ceil(8));
            prop_assert_eq!(bits_of(&bytes[3..], bit_len), expected);
        }

        #[test]
        fn groups_equal_single_numbers(
            lead in 0u32..9,
            shift in 0u32..8,
            len in 0u32..=32,
            values in proptest::collection::vec(prop_oneof![4 => 0u32..12, 1 => 0u32..2000], 0..70),
        ) {
            let mut all = BitWriter::append_to(Vec::new());
            let mut singles = BitWriter::append_to(Vec::new());
            all.put(0, lead);
            singles.put(0, lead);
            all.put_unary_all(5, 3, shift, &values);
            all.put_all(len, &values);
            singles.put(5, 3);
            for value in &values {
                singles.put_unary(value >> shift);
            }
            for value in &values {
                singles.put(u64::from(*value) & ((1 << len) - 1), len);
            }
            prop_assert_eq!(all.bit_len(), singles.bit_len());
            prop_assert_eq!(all.finish(), singles.finish());
        }

        #[test]
        fn streams_join_at_any_bit(lengths in proptest::collection::vec(0usize..300, 1..8), seed in any::<u64>()) {
            let mut state = seed;
            let mut joined = BitWriter::append_to(vec![9]);
            let mut expected = Vec::new();
            for bit_len in lengths {
                let bytes: Vec<u8> = (0..bit_len.div_ceil(8)).map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 33) as u8
                }).collect();
                joined.put_stream(&bytes, bit_len as u64);
                expected.extend(bits_of(&bytes, bit_len as u64));
                joined.put(1, 1);
                expected.push(true);
            }
            let bit_len = joined.bit_len();
            let bytes = joined.finish();
            prop_assert_eq!(bit_len, expected.len() as u64);
            prop_assert_eq!(bits_of(&bytes[1..], bit_len), expected);
        }
    }
}
