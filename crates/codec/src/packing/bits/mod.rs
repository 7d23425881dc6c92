//! Integers of any width, most significant bit first.
//!
//! Eight values of `B` bits are `B` whole bytes, so everything works in groups of eight. Writers and readers of groups
//! touch up to [`SLACK`] bytes behind a group; callers give them buffers with that much room.

#[cfg(target_arch = "x86_64")]
mod avx2; // groups taken apart on vector registers

use std::ops::{BitOr, Shl, Shr};

/// Bytes behind the last group that writers may touch and readers must find.
pub(super) const SLACK: usize = 16;

/// Writes groups of eight values of `bits` (1 to 31) bits to the front of `out`.
#[inline(always)]
pub(super) fn write_groups(groups: &[[u32; 8]], bits: u32, out: &mut [u8]) {
    match bits {
        ..=14 => {
            let quad = |v: &[u32; 8], i: usize| {
                let pair = |i: usize| u64::from(v[i] << bits | v[i + 1]);
                pair(4 * i) << (2 * bits) | pair(4 * i + 2)
            };
            write_joined::<2>(groups, bits, out, quad);
        }
        15..=28 => write_joined::<4>(groups, bits, out, |v, i| u64::from(v[2 * i]) << bits | u64::from(v[2 * i + 1])),
        _ => write_words::<u64, 8>(groups.as_flattened().iter().map(|value| u64::from(*value)), bits, out),
    }
}

/// Writes each group as `N` words that `join` makes of equal parts of it, of at most 56 bits. A word begins within the
/// last byte of the one before, so it brings the low bits of that one along; no step waits for another.
#[inline(always)]
fn write_joined<const N: usize>(
    groups: &[[u32; 8]],
    bits: u32,
    out: &mut [u8],
    join: impl Fn(&[u32; 8], usize) -> u64,
) {
    let step = bits as usize;
    let width = bits * (8 / N as u32);
    let at: [usize; N] = std::array::from_fn(|i| i * width as usize / 8);
    let shared: [u32; N] = std::array::from_fn(|i| i as u32 * width % 8);
    for (index, group) in groups.iter().enumerate() {
        let target = &mut out[index * step..][..step + 8];
        let words: [u64; N] = std::array::from_fn(|i| join(group, i));
        for i in 0..N {
            let before = if i == 0 { 0 } else { words[i - 1] };
            let word = (before & ((1 << shared[i]) - 1)) << width | words[i];
            target[at[i]..][..8].copy_from_slice(&(word << (64 - width - shared[i])).to_be_bytes());
        }
    }
}

/// Writes 24-bit values to the front of `out`, which has [`SLACK`] bytes more than they need.
#[inline(always)]
pub(super) fn write_24(values: &[u32], out: &mut [u8]) {
    for (index, value) in values.iter().enumerate() {
        out[3 * index..][..4].copy_from_slice(&(value << 8).to_be_bytes());
    }
}

/// Writes values of `bits` (1 to 64) bits to the front of `out`, which has [`SLACK`] bytes more than they need. Bits of
/// the last byte that no value covers are zero.
#[inline(always)]
pub(super) fn write_values(values: &[u64], bits: u32, out: &mut [u8]) {
    let values = values.iter().copied();
    if bits <= 56 { write_words::<u64, 8>(values, bits, out) } else { write_words::<u128, 16>(values, bits, out) }
}

/// A word takes one value and up to seven bits that wait for a whole byte.
#[inline(always)]
fn write_words<W: Word<N>, const N: usize>(values: impl Iterator<Item = u64>, bits: u32, out: &mut [u8]) {
    let mut at = 0;
    let mut held = 0;
    let mut word = W::from(0);
    for value in values {
        word = word << bits | W::from(value);
        held += bits;
        out[at..][..N].copy_from_slice(&(word << (W::BITS - held)).to_bytes());
        // Bits already written are shifted out at the top sooner or later, and never come back.
        at += (held / 8) as usize;
        held %= 8;
    }
}

/// Reads values of `bits` (1 to 64) bits from bit `start` of `packed` on, which has [`SLACK`] bytes more than they need.
#[inline(always)]
pub(super) fn read_values(packed: &[u8], start: usize, bits: u32, values: &mut [u64]) {
    if bits <= 57 {
        read_words::<u64, 8>(packed, start, bits, values);
    } else {
        read_words::<u128, 16>(packed, start, bits, values);
    }
}

#[inline(always)]
fn read_words<W: Word<N>, const N: usize>(packed: &[u8], start: usize, bits: u32, values: &mut [u64]) {
    let mut position = start;
    for value in values {
        let bytes = packed[position / 8..].first_chunk().map_or([0; N], |bytes| *bytes);
        *value = (W::from_bytes(bytes) << (position % 8) as u32 >> (W::BITS - bits)).low();
        position += bits as usize;
    }
}

/// A machine word to shift bits through.
trait Word<const N: usize>:
    Copy + From<u64> + Shl<u32, Output = Self> + Shr<u32, Output = Self> + BitOr<Output = Self>
{
    const BITS: u32;
    fn to_bytes(self) -> [u8; N];
    fn from_bytes(bytes: [u8; N]) -> Self;
    fn low(self) -> u64;
}

impl Word<8> for u64 {
    const BITS: u32 = 64;
    #[inline(always)]
    fn to_bytes(self) -> [u8; 8] {
        self.to_be_bytes()
    }
    #[inline(always)]
    fn from_bytes(bytes: [u8; 8]) -> Self {
        Self::from_be_bytes(bytes)
    }
    #[inline(always)]
    fn low(self) -> u64 {
        self
    }
}

impl Word<16> for u128 {
    const BITS: u32 = 128;
    #[inline(always)]
    fn to_bytes(self) -> [u8; 16] {
        self.to_be_bytes()
    }
    #[inline(always)]
    fn from_bytes(bytes: [u8; 16]) -> Self {
        Self::from_be_bytes(bytes)
    }
    #[inline(always)]
    fn low(self) -> u64 {
        self as u64
    }
}

/// Reads groups of eight values of `bits` (1 to 31) bits.
#[inline(always)]
pub(super) fn read_groups(packed: &[u8], bits: u32, groups: &mut [[u32; 8]]) {
    #[cfg(target_arch = "x86_64")]
    if bits <= avx2::MAX_BITS && avx2::read_groups(packed, bits, groups) {
        return;
    }
    read_groups_plain(packed, bits, groups);
}

#[inline(always)]
fn read_groups_plain(packed: &[u8], bits: u32, groups: &mut [[u32; 8]]) {
    let step = bits as usize;
    let at: [usize; 8] = std::array::from_fn(|i| i * step / 8);
    let shift: [u32; 8] = std::array::from_fn(|i| (i as u32 * bits) % 8);
    for (index, group) in groups.iter_mut().enumerate() {
        let bytes = &packed[index * step..][..step + 8];
        for i in 0..8 {
            // A value and the bits before it in its first byte are at most 38 bits.
            group[i] = ((word_64(&bytes[at[i]..]) << shift[i]) >> (64 - bits)) as u32;
        }
    }
}

#[inline(always)]
fn word_64(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(count: usize, bits: u32) -> Vec<u64> {
        let noise = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (i << 7);
        (0..count as u64).map(|i| noise(i) >> (64 - bits)).collect()
    }

    /// One bit at a time.
    fn naive(values: &[u64], bits: u32) -> Vec<u8> {
        let mut out = vec![0; (values.len() * bits as usize).div_ceil(8)];
        for (i, value) in values.iter().enumerate() {
            for bit in 0..bits as usize {
                let position = i * bits as usize + bit;
                out[position / 8] |= ((value >> (bits as usize - 1 - bit) & 1) as u8) << (7 - position % 8);
            }
        }
        out
    }

    #[test]
    fn every_width_agrees_with_one_bit_at_a_time() {
        for bits in 1..=64 {
            let values = values(45, bits);
            let expected = naive(&values, bits);
            let mut out = vec![0xaa; expected.len() + SLACK];
            write_values(&values, bits, &mut out);
            assert_eq!(out[..expected.len()], expected, "{bits} bits");
            let mut padded = expected.clone();
            padded.extend([0xff; SLACK]);
            for first in 0..45 {
                let mut back = vec![0; 45 - first];
                read_values(&padded, first * bits as usize, bits, &mut back);
                assert_eq!(back, values[first..], "{bits} bits from {first}");
            }
            if bits < 32 {
                let groups: Vec<[u32; 8]> =
                    values.as_chunks::<8>().0.iter().map(|group| group.map(|value| value as u32)).collect();
                let mut out = vec![0xaa; expected.len() + SLACK];
                write_groups(&groups, bits, &mut out);
                assert_eq!(out[..5 * bits as usize], expected[..5 * bits as usize], "{bits} bits in groups");
                let mut back = vec![[0; 8]; 5];
                read_groups(&padded, bits, &mut back);
                assert_eq!(back, groups, "{bits} bits in groups");
                let mut back = vec![[0; 8]; 5];
                read_groups_plain(&padded, bits, &mut back);
                assert_eq!(back, groups, "{bits} bits in groups, plainly");
            }
        }
    }

    proptest! {
        #[test]
        fn groups_of_any_number_at_any_offset_agree_with_the_plain_twin(
            count in 0usize..40,
            bits in 1u32..32,
            offset in 0usize..40,
        ) {
            let values = values(count * 8, bits);
            let mut memory = vec![0xff; offset];
            memory.extend(naive(&values, bits));
            memory.extend([0xff; SLACK]);
            let expected: Vec<[u32; 8]> =
                values.as_chunks::<8>().0.iter().map(|group| group.map(|value| value as u32)).collect();
            for read in [read_groups, read_groups_plain] {
                let mut back = vec![[0; 8]; offset + count];
                read(&memory[offset..], bits, &mut back[offset..]);
                prop_assert_eq!(&back[offset..], &expected);
            }
        }
    }
}
