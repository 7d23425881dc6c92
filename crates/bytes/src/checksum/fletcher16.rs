//! The two sums of struct-frame: Fletcher's, eight bits each, modulo 256.
//!
//! Several ways to the same sums besides the definition: `words` for short runs and `lanes` for long ones on any processor,
//! `sse2` and `avx2` in their places on x86-64.

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod avx2;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod sse2;

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
    #[inline(always)]
    pub fn update(&mut self, bytes: &[u8]) {
        // By value, so that the sums of short runs never leave their registers.
        *self = if bytes.len() <= SHORT { self.short(bytes) } else { self.long(bytes) };
    }

    /// Feeds a few bytes that were written a moment ago: read wider than they were written, they would have to wait until
    /// they have reached the cache. Byte by byte the compiler may take them from the registers they were written from.
    #[inline(always)]
    pub fn update_fresh(&mut self, bytes: &[u8]) {
        if bytes.len() > FRESH {
            return self.update(bytes);
        }
        let (first, words) = bytes.as_rchunks::<4>();
        first.iter().for_each(|x| self.roll(*x));
        // Two lanes of sixteen bits, none of which can overflow; of bytes that are not neighbours, so that no wider read is
        // made of them.
        let (mut pairs, mut odd, mut before) = (0_u32, 0_u32, 0_u32);
        for [a, b, c, d] in words {
            let low = u32::from(*a) | u32::from(*c) << 16;
            let high = u32::from(*b) | u32::from(*d) << 16;
            before = before.wrapping_add(pairs);
            odd = odd.wrapping_add(high);
            pairs = pairs.wrapping_add(low).wrapping_add(high);
        }
        // Of four bytes the weights are 4, 3, 2 and 1: in the second lane twice a pair less the odd byte, in the first twice
        // a pair more.
        let across = |lanes: u32| lanes.wrapping_add(lanes >> 16);
        let lanes = before.wrapping_mul(2).wrapping_add(pairs).wrapping_mul(2).wrapping_sub(odd);
        let b = across(lanes).wrapping_add(pairs.wrapping_mul(2));
        *self = self.and((4 * words.len()) as u8, across(pairs) as u8, b as u8);
    }

    /// Feeds one byte.
    #[inline]
    pub const fn roll(&mut self, byte: u8) {
        self.a = self.a.wrapping_add(byte);
        self.b = self.b.wrapping_add(self.a);
    }

    /// Both sums, in the order they are sent.
    pub const fn value(self) -> [u8; 2] {
        [self.a, self.b]
    }

    /// Feeds at most [`SHORT`] bytes.
    #[inline(always)]
    fn short(self, bytes: &[u8]) -> Self {
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        if let Some(simd) = sse2::Simd::try_new() {
            return sse2::feed::<{ SHORT / 16 }>(simd, self, bytes);
        }
        self.words(bytes)
    }

    /// Feeds more bytes than [`SHORT`]. Never a part of [`update`](Self::update), where short runs would pay for its registers.
    #[inline(never)]
    fn long(self, bytes: &[u8]) -> Self {
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        if let Some(sums) = avx2::feed(self, bytes) {
            return sums;
        } else if let Some(simd) = sse2::Simd::try_new() {
            return sse2::feed::<{ usize::MAX }>(simd, self, bytes);
        }
        let (sums, rest) = self.lanes(bytes);
        sums.words(rest)
    }

    /// Feeds all whole blocks of a byte for every lane and returns the rest.
    ///
    /// Lane `j` keeps the sum of its own bytes and the sum of those sums before each block. With n bytes in all,
    /// a = Σ x and b = Σ (n - i) · x, which with W lanes splits over them as Σ (W · vb[j] + (W - j) · va[j]).
    #[inline(always)]
    fn lanes(self, bytes: &[u8]) -> (Self, &[u8]) {
        const W: usize = LANES;
        let (mut va, mut vb) = ([0_u8; W], [0_u8; W]);
        let (blocks, rest) = bytes.as_chunks::<W>();
        for block in blocks {
            for ((va, vb), x) in va.iter_mut().zip(&mut vb).zip(block) {
                *vb = vb.wrapping_add(*va);
                *va = va.wrapping_add(*x);
            }
        }
        // Modulo 256 only the low byte of a count matters; sixteen bits wide, the products need no narrowing in between.
        let len = (blocks.len() as u8).wrapping_mul(W as u8);
        let (mut sum, mut before, mut weighted) = (0_u16, 0_u16, 0_u16);
        for (j, (va, vb)) in va.iter().zip(&vb).enumerate() {
            sum = sum.wrapping_add(u16::from(*va));
            before = before.wrapping_add(u16::from(*vb));
            weighted = weighted.wrapping_add(u16::from(*va).wrapping_mul((W - j) as u16));
        }
        let block_sum = (W as u16).wrapping_mul(before).wrapping_add(weighted);
        (self.and(len, sum as u8, block_sum as u8), rest)
    }

    /// With `len` bytes more, whose sums from zero are `a` and `b`; modulo 256 only the low byte of a length matters.
    #[inline(always)]
    const fn and(self, len: u8, a: u8, b: u8) -> Self {
        Self { a: self.a.wrapping_add(a), b: self.b.wrapping_add(len.wrapping_mul(self.a)).wrapping_add(b) }
    }

    /// Feeds at most [`SHORT`] bytes, eight at a time. Bytes at even and at odd places are added up in lanes of sixteen bits,
    /// none of which can overflow; at the end one multiplication adds up four lanes with their weights.
    #[inline(always)]
    fn words(mut self, bytes: &[u8]) -> Self {
        const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
        const ONES: u64 = 0x0001_0001_0001_0001;
        let Some(first) = bytes.first_chunk::<8>() else {
            for x in bytes {
                self.roll(*x);
            }
            return self;
        };
        // Zeros in front change nothing: what is left over goes first, behind as many zeros as make it eight bytes.
        let (rest, words) = bytes.as_rchunks::<8>();
        let first = u64::from_le_bytes(*first).checked_shl(64 - 8 * rest.len() as u32).unwrap_or(0);
        let (mut even, mut odd, mut before) = (first & EVEN, (first >> 8) & EVEN, 0_u64);
        for word in words {
            let word = u64::from_le_bytes(*word);
            before = before.wrapping_add(even.wrapping_add(odd));
            even = even.wrapping_add(word & EVEN);
            odd = odd.wrapping_add((word >> 8) & EVEN);
        }
        // In a product the top lane is the sum of all four products of a lane and the weight facing it; nothing is large
        // enough to carry into it.
        let sum = even.wrapping_add(odd).wrapping_mul(ONES) >> 48;
        let before = before.wrapping_mul(ONES) >> 48;
        let even = even.wrapping_mul(0x0008_0006_0004_0002) >> 48;
        let odd = odd.wrapping_mul(0x0007_0005_0003_0001) >> 48;
        self.and(bytes.len() as u8, sum as u8, (8 * before + even + odd) as u8)
    }

    /// The definition, byte by byte: the twin of all the others, to test against.
    #[cfg(test)]
    fn plain(&mut self, bytes: &[u8]) {
        for x in bytes {
            self.roll(*x);
        }
    }
}

/// Up to this many bytes, four times the sum of a lane of [`update_fresh`](Fletcher16::update_fresh) has room in sixteen bits.
const FRESH: usize = 32;

/// Up to this many bytes, lanes would cost more for their sums across at the end than they save.
const SHORT: usize = 64;

/// Lanes for long runs: several vector registers, so that additions do not wait for one another.
const LANES: usize = 64;

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

    /// Also where `update` takes others.
    #[test]
    fn portable_ways_and_plain_agree() {
        let bytes: alloc::vec::Vec<u8> = (0..1000_u32).map(|i| (i * 37 + 11) as u8).collect();
        for len in 0..1000 {
            let mut plain = Fletcher16 { a: 3, b: 99 };
            let (lanes, rest) = plain.lanes(&bytes[..len]);
            plain.plain(&bytes[..len]);
            assert_eq!(plain, lanes.words(rest), "{len} bytes");
        }
        for len in 0..=SHORT {
            let mut plain = Fletcher16 { a: 3, b: 99 };
            let words = plain.words(&bytes[..len]);
            plain.plain(&bytes[..len]);
            assert_eq!(plain, words, "{len} bytes");
        }
        let mut plain = Fletcher16::new();
        plain.plain(&[0xff; SHORT]);
        assert_eq!(plain, Fletcher16::new().words(&[0xff; SHORT]));
    }

    #[test]
    fn fresh_and_plain_agree() {
        for fill in [0x5b, 0xff] {
            let bytes: alloc::vec::Vec<u8> = (0..100_u32).map(|i| (i * 37) as u8 | fill).collect();
            for len in 0..=bytes.len() {
                let (mut plain, mut fresh) = (Fletcher16 { a: 3, b: 99 }, Fletcher16 { a: 3, b: 99 });
                plain.plain(&bytes[..len]);
                fresh.update_fresh(&bytes[..len]);
                assert_eq!(plain, fresh, "{len} bytes");
            }
        }
    }

    /// Wherever the bytes begin.
    #[test]
    fn places_do_not_matter() {
        let bytes: alloc::vec::Vec<u8> = (0..700_u32).map(|i| (i * 7 + 1) as u8).collect();
        for from in 0..70 {
            for len in [250, 256, 257, 300, 600] {
                let (mut plain, mut wide) = (Fletcher16::new(), Fletcher16::new());
                plain.plain(&bytes[from..from + len]);
                wide.update(&bytes[from..from + len]);
                assert_eq!(plain, wide, "{len} bytes from {from}");
            }
        }
    }

    /// The largest bytes there are overflow no lane.
    #[test]
    fn no_lane_overflows() {
        for len in 0..=1000 {
            let bytes = alloc::vec![0xff; len];
            let (mut plain, mut wide) = (Fletcher16::new(), Fletcher16::new());
            plain.plain(&bytes);
            wide.update(&bytes);
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
