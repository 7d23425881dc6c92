//! Bits to doubles.

use super::bits::{SLACK, read_groups, read_values};
use super::{Packing, scale};
use crate::simd::vectorized;
use crate::{CodecError, parallel};
use fw_tensor::ByteOrder;

/// Fills `out` with the values from number `lead` (0 to 7) of `packed` on; lengths have been checked.
pub(super) fn unpack(
    packing: &Packing,
    packed: &[u8],
    lead: usize,
    order: ByteOrder,
    threads: usize,
    out: &mut [u8],
) -> Result<(), CodecError> {
    let (values, _) = out.as_chunks_mut::<8>();
    let bits = packing.bits as usize;
    let swap = order != ByteOrder::NATIVE;
    if bits == 0 {
        let bytes = packing.reference.to_bits();
        values.fill(if swap { bytes.swap_bytes() } else { bytes }.to_ne_bytes());
        return Ok(());
    }
    let scaler = Scaler {
        reference: packing.reference,
        scale: scale::power_of_two(packing.binary) * scale::power_of_ten(packing.decimal.saturating_neg()),
    };
    // `packed` begins at the byte that holds the first bit wanted. Values before the next multiple of eight are read one
    // by one; from there on groups of eight begin at whole bytes.
    let first_bit = lead * bits % 8;
    let head_len = if lead == 0 { 0 } else { (8 - lead).min(values.len()) };
    let (head, values) = values.split_at_mut(head_len);
    if !head.is_empty() {
        let mut padded = [0; 8 * 8 + SLACK];
        let used = (first_bit + head.len() * bits).div_ceil(8);
        padded[..used].copy_from_slice(&packed[..used]);
        let mut integers = [0; 8];
        let integers = &mut integers[..head.len()];
        read_values(&padded, first_bit, packing.bits, integers);
        for (to, integer) in head.iter_mut().zip(integers) {
            *to = if swap { scaler.wide::<true>(*integer) } else { scaler.wide::<false>(*integer) };
        }
    }
    let body = &packed[(first_bit + head_len * bits) / 8..];
    let threads = if values.len() < PARALLEL_FROM { 1 } else { threads };
    let tasks = values.chunks_mut(TASK).enumerate();
    parallel::for_each(threads, tasks, |(index, values)| {
        let body = &body[index * (TASK / 8) * bits..];
        if swap {
            vectorized(
                #[inline(always)]
                || scaler.task::<true>(body, packing.bits, values),
            );
        } else {
            vectorized(
                #[inline(always)]
                || scaler.task::<false>(body, packing.bits, values),
            );
        }
        Ok(())
    })
}

struct Scaler {
    reference: f64,
    scale: f64,
}

impl Scaler {
    #[inline(always)]
    fn task<const SWAP: bool>(&self, packed: &[u8], bits: u32, out: &mut [[u8; 8]]) {
        match bits {
            8 => {
                for (out, integer) in out.iter_mut().zip(packed) {
                    *out = self.small::<SWAP>(u32::from(*integer));
                }
            }
            16 => {
                for (out, integer) in out.iter_mut().zip(packed.as_chunks::<2>().0) {
                    *out = self.small::<SWAP>(u32::from(u16::from_be_bytes(*integer)));
                }
            }
            32 => {
                for (out, integer) in out.iter_mut().zip(packed.as_chunks::<4>().0) {
                    *out = self.full::<SWAP>(u32::from_be_bytes(*integer));
                }
            }
            ..32 => self.groups::<SWAP>(packed, bits, out),
            _ => self.many::<SWAP>(packed, bits, out),
        }
    }

    /// Any width below 32: take the bits of a chunk apart, then scale.
    #[inline(always)]
    fn groups<const SWAP: bool>(&self, packed: &[u8], bits: u32, out: &mut [[u8; 8]]) {
        let mut integers = [[0u32; 8]; CHUNK / 8];
        let mut padded = [0; CHUNK * 4 + SLACK];
        for (index, out) in out.chunks_mut(CHUNK).enumerate() {
            let source = with_slack(&packed[index * (CHUNK / 8) * bits as usize..], out.len(), bits, &mut padded);
            read_groups(source, bits, &mut integers[..out.len().div_ceil(8)]);
            for (out, integer) in out.iter_mut().zip(integers.as_flattened()) {
                *out = self.small::<SWAP>(*integer);
            }
        }
    }

    #[inline(always)]
    fn many<const SWAP: bool>(&self, packed: &[u8], bits: u32, out: &mut [[u8; 8]]) {
        let mut integers = [0; CHUNK];
        let mut padded = [0; CHUNK * 8 + SLACK];
        for (index, out) in out.chunks_mut(CHUNK).enumerate() {
            let source = with_slack(&packed[index * (CHUNK / 8) * bits as usize..], out.len(), bits, &mut padded);
            read_values(source, 0, bits, &mut integers[..out.len()]);
            for (out, integer) in out.iter_mut().zip(integers) {
                *out = self.wide::<SWAP>(integer);
            }
        }
    }

    /// Fewer than 32 bits: signed conversion is one instruction.
    #[inline(always)]
    fn small<const SWAP: bool>(&self, integer: u32) -> [u8; 8] {
        self.value::<SWAP>(f64::from(integer as i32))
    }

    #[inline(always)]
    fn full<const SWAP: bool>(&self, integer: u32) -> [u8; 8] {
        self.value::<SWAP>(f64::from(integer))
    }

    #[inline(always)]
    fn wide<const SWAP: bool>(&self, integer: u64) -> [u8; 8] {
        self.value::<SWAP>(integer as f64)
    }

    /// Two roundings, as the format says; Rust never fuses them.
    #[inline(always)]
    fn value<const SWAP: bool>(&self, integer: f64) -> [u8; 8] {
        let bits = (self.reference + self.scale * integer).to_bits();
        if SWAP { bits.swap_bytes() } else { bits }.to_ne_bytes()
    }
}

/// The bytes of `count` values with [`SLACK`] bytes behind them: `packed` itself where it goes on, else a padded copy.
/// Groups are read whole, so a last part of a group counts as a group.
#[inline(always)]
fn with_slack<'a>(packed: &'a [u8], count: usize, bits: u32, padded: &'a mut [u8]) -> &'a [u8] {
    let used = (count * bits as usize).div_ceil(8);
    let wanted = count.div_ceil(8) * bits as usize + SLACK;
    match packed.get(..wanted) {
        Some(source) => source,
        None => {
            padded[..used].copy_from_slice(&packed[..used]);
            padded[used..wanted].fill(0);
            &padded[..wanted]
        }
    }
}

/// Values unpacked before they are scaled; they stay in the first-level cache.
const CHUNK: usize = 512;
/// Values per task; a multiple of [`CHUNK`].
const TASK: usize = 32 << 10;
/// Below this many values a second thread costs more than it saves.
const PARALLEL_FROM: usize = 256 << 10;
