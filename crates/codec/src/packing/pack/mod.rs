//! Doubles to bits.

#[cfg(target_arch = "x86_64")]
mod avx2; // quantising on vector registers

use super::bits::{SLACK, write_24, write_groups, write_values};
use super::{Packing, scale};
use crate::simd::vectorized;
use crate::{CodecError, parallel};
use fw_tensor::ByteOrder;

/// Packs finite doubles; lengths have been checked.
pub(super) fn pack(
    packing: &Packing,
    values: &[u8],
    order: ByteOrder,
    threads: usize,
    out: &mut [u8],
) -> Result<(), CodecError> {
    if packing.bits == 0 {
        return Ok(());
    }
    let (values, _) = values.as_chunks::<8>();
    let quantiser = Quantiser::new(packing);
    let threads = if values.len() < PARALLEL_FROM { 1 } else { threads };
    // A multiple of eight values is a whole number of bytes, so tasks never share one.
    let tasks = values.chunks(TASK).zip(out.chunks_mut(TASK / 8 * packing.bits as usize));
    parallel::for_each(threads, tasks, |(values, out)| {
        match order {
            ByteOrder::NATIVE => vectorized(
                #[inline(always)]
                || quantiser.task::<false>(values, out),
            ),
            _ => vectorized(
                #[inline(always)]
                || quantiser.task::<true>(values, out),
            ),
        }
        Ok(())
    })
}

/// One double in `order`.
pub(super) fn read(bytes: &[u8; 8], order: ByteOrder) -> f64 {
    match order {
        ByteOrder::Little => f64::from_le_bytes(*bytes),
        ByteOrder::Big => f64::from_be_bytes(*bytes),
    }
}

struct Quantiser {
    bits: u32,
    reference: f64,
    scale: f64,
    largest: u64,
}

impl Quantiser {
    fn new(packing: &Packing) -> Self {
        Self {
            bits: packing.bits,
            reference: packing.reference,
            scale: scale::power_of_ten(packing.decimal) * scale::power_of_two(packing.binary.saturating_neg()),
            largest: scale::largest(packing.bits),
        }
    }

    #[inline(always)]
    fn task<const SWAP: bool>(&self, values: &[[u8; 8]], out: &mut [u8]) {
        match self.bits {
            ..32 => self.narrow::<SWAP>(values, out),
            32 => {
                let (out, _) = out.as_chunks_mut::<4>();
                for (out, value) in out.iter_mut().zip(values) {
                    *out = self.small::<SWAP>(value).to_be_bytes();
                }
            }
            _ => self.wide::<SWAP>(values, out),
        }
    }

    /// Any width below 32: quantise a chunk, then join its bits.
    #[inline(always)]
    fn narrow<const SWAP: bool>(&self, values: &[[u8; 8]], out: &mut [u8]) {
        let mut integers = [[0u32; 8]; CHUNK / 8];
        let mut packed = [0u8; CHUNK * 4 + SLACK];
        for (values, out) in values.chunks(CHUNK).zip(out.chunks_mut(CHUNK / 8 * self.bits as usize)) {
            let flat = integers.as_flattened_mut();
            self.quantise::<SWAP>(values, &mut flat[..values.len()]);
            match self.bits {
                8 => out.iter_mut().zip(&*flat).for_each(|(out, integer)| *out = *integer as u8),
                16 => {
                    let (out, _) = out.as_chunks_mut::<2>();
                    out.iter_mut().zip(&*flat).for_each(|(out, integer)| *out = (*integer as u16).to_be_bytes());
                }
                24 => {
                    write_24(&flat[..values.len()], &mut packed);
                    out.copy_from_slice(&packed[..out.len()]);
                }
                bits => {
                    // The last group of all is filled up with zeros, which pads the last byte as the format asks.
                    flat[values.len()..].iter_mut().take(7).for_each(|integer| *integer = 0);
                    write_groups(&integers[..values.len().div_ceil(8)], bits, &mut packed);
                    out.copy_from_slice(&packed[..out.len()]);
                }
            }
        }
    }

    /// Quantises to fewer than 32 bits.
    #[inline(always)]
    fn quantise<const SWAP: bool>(&self, values: &[[u8; 8]], integers: &mut [u32]) {
        #[cfg(target_arch = "x86_64")]
        let done = avx2::quantise::<SWAP>(self, values, integers);
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        for (integer, value) in integers.iter_mut().zip(values).skip(done) {
            *integer = self.small::<SWAP>(value);
        }
    }

    #[inline(always)]
    fn wide<const SWAP: bool>(&self, values: &[[u8; 8]], out: &mut [u8]) {
        let mut integers = [0u64; CHUNK];
        let mut packed = [0u8; CHUNK * 8 + SLACK];
        for (values, out) in values.chunks(CHUNK).zip(out.chunks_mut(CHUNK / 8 * self.bits as usize)) {
            for (integer, value) in integers.iter_mut().zip(values) {
                *integer = self.large::<SWAP>(value);
            }
            write_values(&integers[..values.len()], self.bits, &mut packed);
            out.copy_from_slice(&packed[..out.len()]);
        }
    }

    /// Up to 32 bits, without leaving the vector unit.
    ///
    /// Adding 2^52 leaves the nearest integer in the low bits of the sum, ties to even. Where a tie went down, the
    /// remainder is exactly one half, and the format wants it up.
    #[inline(always)]
    fn small<const SWAP: bool>(&self, value: &[u8; 8]) -> u32 {
        let largest = self.largest as f64;
        let x = self.scaled::<SWAP>(value);
        let x = if x > 0.0 { x } else { 0.0 }; // NaN too
        let x = if x < largest { x } else { largest };
        let sum = x + SHIFT;
        let rest = x - (sum - SHIFT);
        (sum.to_bits() as u32).wrapping_add(u32::from(rest >= 0.5))
    }

    /// Any number of bits: the same, except that from 2^52 on doubles are whole numbers already.
    #[inline(always)]
    fn large<const SWAP: bool>(&self, value: &[u8; 8]) -> u64 {
        let x = self.scaled::<SWAP>(value);
        let x = if x > 0.0 { x } else { 0.0 }; // NaN too
        let sum = x + SHIFT;
        let rest = x - (sum - SHIFT);
        let rounded = (sum.to_bits() - SHIFT.to_bits()) + u64::from(rest >= 0.5);
        // The conversion saturates.
        (if x < SHIFT { rounded } else { x as u64 }).min(self.largest)
    }

    #[inline(always)]
    fn scaled<const SWAP: bool>(&self, value: &[u8; 8]) -> f64 {
        let bits = u64::from_ne_bytes(*value);
        let value = f64::from_bits(if SWAP { bits.swap_bytes() } else { bits });
        (value - self.reference) * self.scale
    }
}

/// From here to twice as much, doubles are exactly the whole numbers.
const SHIFT: f64 = (1u64 << 52) as f64;
/// Values quantised before their bits are joined; they stay in the first-level cache.
const CHUNK: usize = 512;
/// Values per task; a multiple of [`CHUNK`].
const TASK: usize = 32 << 10;
/// Below this many values a second thread costs more than it saves.
const PARALLEL_FROM: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vector_registers_agree_with_the_plain_twin(
            values in proptest::collection::vec(
                prop_oneof![
                    4 => -1e5f64..1e5,
                    2 => (-100_000i32..100_000).prop_map(|n| f64::from(n) / 2.0),
                    1 => prop_oneof![Just(f64::MAX), Just(f64::MIN), Just(0.49999999999999994), Just(-0.0), Just(5e-324)],
                ],
                0..60,
            ),
            bits in 1u32..32,
            binary in -20i32..20,
            offset in 0usize..40,
        ) {
            let packing = Packing { bits, reference: 0.0, binary, decimal: 0 };
            let quantiser = Quantiser::new(&packing);
            // Anywhere in memory.
            let at_offset = |swap: bool| {
                let mut memory = vec![0u8; offset];
                for value in &values {
                    let bits = value.to_bits();
                    memory.extend(if swap { bits.swap_bytes() } else { bits }.to_ne_bytes());
                }
                memory
            };
            let (bytes, swapped) = (at_offset(false), at_offset(true));
            let (bytes, swapped) = (bytes[offset..].as_chunks().0, swapped[offset..].as_chunks().0);
            let plain: Vec<u32> = bytes.iter().map(|value| quantiser.small::<false>(value)).collect();
            let mut fast = vec![0; offset + values.len()];
            quantiser.quantise::<false>(bytes, &mut fast[offset..]);
            prop_assert_eq!(&fast[offset..], &plain);
            quantiser.quantise::<true>(swapped, &mut fast[offset..]);
            prop_assert_eq!(&fast[offset..], &plain);
            let wide: Vec<u64> = bytes.iter().map(|value| quantiser.large::<false>(value)).collect();
            prop_assert_eq!(wide, plain.iter().map(|q| u64::from(*q)).collect::<Vec<_>>());
        }
    }
}
