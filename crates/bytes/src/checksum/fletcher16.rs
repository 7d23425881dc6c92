//! The two sums of struct-frame: Fletcher's, eight bits each, modulo 256.

/// Two running sums: `a += x; b += a` for every byte.
///
/// ```
/// use fw_bytes::checksum::Fletcher16;
///
/// let mut sums = Fletcher16::new();
/// sums.update(&[0x04, 0x07, 0x34, 0x12, 0x01, 0x01]);
/// sums.update(&[0x1d, 0x2e]);
/// assert_eq!(sums.value(), [0x9e, 0x52]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fletcher16 {
    a: u8,
    b: u8,
}

impl Fletcher16 {
    /// Nothing fed yet.
    pub const fn new() -> Self {
        Self { a: 0, b: 0 }
    }

    /// Feeds bytes.
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) {
        let rest = if bytes.len() >= WIDE { self.lanes::<WIDE>(bytes) } else { bytes };
        let rest = if rest.len() >= NARROW { self.lanes::<NARROW>(rest) } else { rest };
        self.plain(rest);
    }

    /// Both sums, in the order they are sent.
    pub const fn value(self) -> [u8; 2] {
        [self.a, self.b]
    }

    /// Feeds all whole blocks of `W` bytes and returns the rest.
    ///
    /// Lane `j` keeps the sum of its own bytes and the sum of those sums before each block. With n bytes in all,
    /// a = Σ x and b = Σ (n - i) · x, which splits over the lanes as Σ (W · vb[j] + (W - j) · va[j]).
    #[inline]
    fn lanes<'b, const W: usize>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (mut va, mut vb) = ([0_u8; W], [0_u8; W]);
        let (blocks, rest) = bytes.as_chunks::<W>();
        for block in blocks {
            for ((va, vb), x) in va.iter_mut().zip(&mut vb).zip(block) {
                *vb = vb.wrapping_add(*va);
                *va = va.wrapping_add(*x);
            }
        }
        // Modulo 256 only the low byte of a count matters.
        let len = (blocks.len() as u8).wrapping_mul(W as u8);
        self.b = self.b.wrapping_add(len.wrapping_mul(self.a));
        for (j, (va, vb)) in va.iter().zip(&vb).enumerate() {
            self.a = self.a.wrapping_add(*va);
            self.b = self.b.wrapping_add((W as u8).wrapping_mul(*vb)).wrapping_add(((W - j) as u8).wrapping_mul(*va));
        }
        rest
    }

    /// The definition, byte by byte: the twin of `lanes`.
    #[inline]
    fn plain(&mut self, bytes: &[u8]) {
        for x in bytes {
            self.a = self.a.wrapping_add(*x);
            self.b = self.b.wrapping_add(self.a);
        }
    }
}

/// Lanes for long runs: several vector registers, so that additions do not wait for one another.
const WIDE: usize = 64;

/// Lanes for what is left, and for short payloads.
const NARROW: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_and_plain_agree() {
        let bytes: alloc::vec::Vec<u8> = (0..70_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let lens = (0..600).chain([4095, 4096, 4097, 65_535, 65_536, 70_000]);
        for len in lens {
            let (mut plain, mut wide) = (Fletcher16 { a: 7, b: 201 }, Fletcher16 { a: 7, b: 201 });
            plain.plain(&bytes[..len]);
            wide.update(&bytes[..len]);
            assert_eq!(plain, wide, "{len} bytes");
        }
    }

    #[test]
    fn pieces_and_whole_agree() {
        let bytes: alloc::vec::Vec<u8> = (0..300_u32).map(|i| (i * 31 + 5) as u8).collect();
        let mut whole = Fletcher16::new();
        whole.update(&bytes);
        for split in 0..=bytes.len() {
            let mut pieces = Fletcher16::new();
            pieces.update(&bytes[..split]);
            pieces.update(&bytes[split..]);
            assert_eq!(pieces, whole, "split at {split}");
        }
    }
}
