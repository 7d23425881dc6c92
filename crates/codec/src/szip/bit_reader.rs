//! Reading a bit stream, most significant bit first, a machine word at a time.

use super::fault::{Fault, FaultKind};

/// A position in a bit stream.
///
/// Fixed-width reads past the end give zero bits and move on; [`BitReader::check`] tells afterwards. Unary reads, whose
/// length the stream decides, stop at the end by themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits consumed.
    position: u64,
}

impl<'a> BitReader<'a> {
    pub(super) const fn at(bytes: &'a [u8], position: u64) -> Self {
        Self { bytes, position }
    }

    #[inline(always)]
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// Consumes `len` (1..=32) bits.
    #[inline(always)]
    pub(super) fn bits(&mut self, len: u32) -> u32 {
        let value = self.window(self.position) >> (64 - len);
        self.position += u64::from(len);
        value as u32
    }

    /// Consumes `len` bits unseen; a block's worth at most, so that positions cannot overflow.
    #[inline(always)]
    pub(super) fn skip(&mut self, len: u64) {
        self.position += len;
    }

    /// Refuses to have read past the end.
    #[inline(always)]
    pub(super) fn check(&self) -> Result<(), Fault> {
        if self.position > self.bytes.len() as u64 * 8 {
            return Err(self.truncated());
        }
        Ok(())
    }

    /// Consumes one unary number: as many zeros as it says, then a one.
    #[inline(always)]
    pub(super) fn unary(&mut self) -> Result<u64, Fault> {
        let start = self.position;
        loop {
            let window = self.window(self.position);
            if window != 0 {
                let end = self.position + u64::from(window.leading_zeros());
                self.position = end + 1;
                return Ok(end - start);
            }
            self.position += WINDOW_BITS;
            self.check()?;
        }
    }

    /// Consumes a unary number for each of `values`; returns the union of their bits, unclipped.
    ///
    /// Words are taken lowest bit first here: then clearing the bit just seen is the only step that waits for the one
    /// before it.
    #[inline(always)]
    pub(super) fn unary_into(&mut self, values: &mut [u32]) -> Result<u64, Fault> {
        let mut ones = Ones::at(self.bytes, self.position);
        let mut next = self.position;
        let mut union = 0;
        for value in values {
            let one = ones.next()?;
            let zeros = one - next;
            next = one + 1;
            union |= zeros;
            *value = zeros as u32;
        }
        self.position = next;
        Ok(union)
    }

    /// Consumes `count` unary numbers unseen.
    #[inline(always)]
    pub(super) fn skip_unary(&mut self, mut count: u32) -> Result<(), Fault> {
        if count == 0 {
            return Ok(());
        }
        let mut ones = Ones::at(self.bytes, self.position);
        loop {
            let here = ones.word.count_ones();
            if here >= count {
                break;
            }
            count -= here;
            ones.refill()?;
        }
        for _ in 1..count {
            ones.word &= ones.word - 1;
        }
        self.position = ones.base + u64::from(ones.word.trailing_zeros()) + 1;
        Ok(())
    }

    /// Consumes `len` (0..=32) bits for each of `values` and appends them to what it holds.
    #[inline(always)]
    pub(super) fn append_bits(&mut self, len: u32, values: &mut [u32]) {
        match len {
            0 => {}
            1..=7 => self.append_groups::<8>(len, values),
            8..=14 => self.append_groups::<4>(len, values),
            _ => self.append_groups::<1>(len, values),
        }
    }

    /// `N` values of `len` bits fit one window.
    #[inline(always)]
    fn append_groups<const N: usize>(&mut self, len: u32, values: &mut [u32]) {
        let mask = (1u64 << len) - 1;
        let mut position = self.position;
        let (groups, rest) = values.as_chunks_mut::<N>();
        for group in groups {
            let window = self.window(position) >> (64 - N as u32 * len);
            for (index, value) in group.iter_mut().enumerate() {
                let low = (window >> ((N - 1 - index) as u32 * len)) & mask;
                *value = shift_up(*value, len) | low as u32;
            }
            position += u64::from(N as u32 * len);
        }
        for value in rest {
            *value = shift_up(*value, len) | (self.window(position) >> (64 - len)) as u32;
            position += u64::from(len);
        }
        self.position = position;
    }

    /// At least [`WINDOW_BITS`] bits from `position` on, at the top of the word.
    #[inline(always)]
    fn window(&self, position: u64) -> u64 {
        word(self.bytes, position >> 3) << (position & 7)
    }

    #[cold]
    fn truncated(&self) -> Fault {
        Fault { kind: FaultKind::Truncated, position: self.bytes.len() as u64 * 8 }
    }
}

/// Bits that are certainly in a window, wherever in a byte it starts.
const WINDOW_BITS: u64 = 57;

/// The positions of the one bits of a stream.
struct Ones<'a> {
    bytes: &'a [u8],
    /// Bits not yet visited, the earliest lowest.
    word: u64,
    /// Position of the lowest bit of `word`.
    base: u64,
    /// Where the next word starts.
    next_byte: u64,
}

impl<'a> Ones<'a> {
    #[inline(always)]
    fn at(bytes: &'a [u8], position: u64) -> Self {
        let byte = position >> 3;
        let word = word(bytes, byte).reverse_bits() >> (position & 7);
        Self { bytes, word, base: position, next_byte: byte + 8 }
    }

    #[inline(always)]
    fn next(&mut self) -> Result<u64, Fault> {
        while self.word == 0 {
            self.refill()?;
        }
        let one = self.base + u64::from(self.word.trailing_zeros());
        self.word &= self.word - 1;
        Ok(one)
    }

    #[inline(always)]
    fn refill(&mut self) -> Result<(), Fault> {
        if self.next_byte >= self.bytes.len() as u64 {
            return Err(BitReader::at(self.bytes, 0).truncated());
        }
        self.word = word(self.bytes, self.next_byte).reverse_bits();
        self.base = self.next_byte * 8;
        self.next_byte += 8;
        Ok(())
    }
}

/// Eight bytes from `byte` on, big-endian, zero behind the end.
#[inline(always)]
fn word(bytes: &[u8], byte: u64) -> u64 {
    let tail = usize::try_from(byte).ok().and_then(|byte| bytes.get(byte..)).unwrap_or(&[]);
    match tail.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => short_word(tail),
    }
}

#[cold]
fn short_word(tail: &[u8]) -> u64 {
    let mut chunk = [0; 8];
    for (to, from) in chunk.iter_mut().zip(tail) {
        *to = *from;
    }
    u64::from_be_bytes(chunk)
}

/// `value << len`, where all 32 bits may go.
#[inline(always)]
fn shift_up(value: u32, len: u32) -> u32 {
    (u64::from(value) << len) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cross_words() {
        let bytes: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
        let bit = |at: u64| u64::from(bytes[(at / 8) as usize] >> (7 - at % 8) & 1);
        for start in 0..80 {
            for len in 1..=32u32 {
                let expected = (0..u64::from(len)).fold(0, |value, i| value << 1 | bit(start + i));
                assert_eq!(u64::from(BitReader::at(&bytes, start).bits(len)), expected);
                let mut values = [0u32; 4];
                let mut reader = BitReader::at(&bytes, start);
                reader.append_bits(len, &mut values);
                assert_eq!(reader.position(), start + 4 * u64::from(len));
                let mut singles = BitReader::at(&bytes, start);
                assert_eq!(values, [(); 4].map(|()| singles.bits(len)));
            }
        }
    }

    #[test]
    fn unary_forms_agree() {
        // zeros between ones: 0, 5, 130, 0, 63, 64, 1
        let counts = [0u64, 5, 130, 0, 63, 64, 1];
        for lead in 0..20u64 {
            let mut bytes = vec![0u8; 60];
            let mut at = lead;
            for count in counts {
                at += count;
                bytes[(at / 8) as usize] |= 0x80 >> (at % 8);
                at += 1;
            }
            let mut singles = BitReader::at(&bytes, lead);
            assert_eq!(counts.map(|_| singles.unary().unwrap()), counts);
            let mut values = [0u32; 7];
            let mut many = BitReader::at(&bytes, lead);
            assert_eq!(many.unary_into(&mut values).unwrap(), counts.iter().fold(0, |a, b| a | b));
            assert_eq!(values.map(u64::from), counts);
            let mut unseen = BitReader::at(&bytes, lead);
            unseen.skip_unary(7).unwrap();
            assert_eq!([singles.position(), many.position(), unseen.position()], [at; 3]);
            assert_eq!(many.unary().unwrap_err().kind, FaultKind::Truncated);
            assert_eq!(many.unary_into(&mut values).unwrap_err().kind, FaultKind::Truncated);
            assert_eq!(unseen.skip_unary(1).unwrap_err().kind, FaultKind::Truncated);
        }
    }

    #[test]
    fn reading_past_the_end_is_noticed() {
        let mut reader = BitReader::at(&[0xff; 3], 20);
        assert_eq!(reader.bits(4), 15);
        assert!(reader.check().is_ok());
        assert_eq!(reader.bits(1), 0);
        assert_eq!(reader.check().unwrap_err().position, 24);
    }
}
