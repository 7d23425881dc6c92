//! Kinds found, zeros put in their place.

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::{Bits, Masks, NAME, Options};
use crate::bits::byte_len;
use crate::finite::{self, Kind, Layout, any_non_finite};
use crate::simd::vectorized;
use crate::{CodecError, alloc, parallel};
use fw_tensor::{ByteOrder, DType};

/// An object without its NaN and infinities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Separated {
    /// The elements, with zero bytes where a mask has a bit.
    pub bytes: Vec<u8>,
    /// Where they were.
    pub masks: Masks,
}

/// Sets aside what is not finite in whole elements of `dtype`, given in `order`. `None` means: all elements are finite
/// (or the type knows nothing else), and the input is good as it is.
///
/// # Errors
/// A kind that the options do not allow, naming its first element; an input that is no whole number of elements.
pub fn separate(
    input: &[u8],
    dtype: DType,
    order: ByteOrder,
    options: &Options,
    threads: usize,
) -> Result<Option<Separated>, CodecError> {
    let Some(layout) = Layout::of(dtype) else { return Ok(None) };
    let width = layout.element_len();
    if !input.len().is_multiple_of(width) {
        let message = format!("{} bytes are not a whole number of {dtype} elements", input.len());
        return Err(CodecError::misuse(NAME, "partial_element", message));
    }
    let not_allowed = |index, kind| finite::not_allowed(input, 0, index, kind, dtype, order);
    match finite::first_non_finite(input, dtype, order, threads) {
        None => return Ok(None),
        Some((index, kind)) if !options.allows(kind) => return Err(not_allowed(index, kind)),
        Some(_) => {}
    }
    let count = (input.len() / width) as u64;
    let mask_len = byte_len(count) as usize;
    let mut bytes = alloc::overwritable(input.len())?;
    let [mut nan, mut pos_inf, mut neg_inf] =
        [alloc::zeroed(mask_len)?, alloc::zeroed(mask_len)?, alloc::zeroed(mask_len)?];
    let threads = if input.len() < PARALLEL_FROM { 1 } else { threads };
    let masks = nan.chunks_mut(TASK / 8).zip(pos_inf.chunks_mut(TASK / 8)).zip(neg_inf.chunks_mut(TASK / 8));
    let tasks = input.chunks(TASK * width).zip(bytes.chunks_mut(TASK * width)).zip(masks);
    let swap = order != ByteOrder::NATIVE;
    parallel::for_each(threads, tasks.enumerate(), |(task, ((input, bytes), ((nan, pos_inf), neg_inf)))| {
        let masks = nan.chunks_mut(BLOCK / 8).zip(pos_inf.chunks_mut(BLOCK / 8)).zip(neg_inf.chunks_mut(BLOCK / 8));
        let blocks = input.chunks(BLOCK * width).zip(bytes.chunks_mut(BLOCK * width));
        for (block, ((input, bytes), ((nan, pos_inf), neg_inf))) in blocks.zip(masks).enumerate() {
            let first = (task * TASK + block * BLOCK) as u64;
            #[cfg(target_arch = "x86_64")]
            if !swap && layout.parts == 1 && avx2::set_nan_aside(layout.width, input, bytes, nan) {
                if !options.allow_nan {
                    refuse(options, first, [nan, pos_inf, neg_inf], &not_allowed)?;
                }
                continue;
            }
            if !any_non_finite(input, layout, order) {
                bytes.copy_from_slice(input);
                continue;
            }
            match (layout.width, swap) {
                (2, false) => block_16::<false>(layout, input, bytes, [nan, pos_inf, neg_inf]),
                (2, true) => block_16::<true>(layout, input, bytes, [nan, pos_inf, neg_inf]),
                (4, false) => block_32::<false>(layout, input, bytes, [nan, pos_inf, neg_inf]),
                (4, true) => block_32::<true>(layout, input, bytes, [nan, pos_inf, neg_inf]),
                (_, false) => block_64::<false>(layout, input, bytes, [nan, pos_inf, neg_inf]),
                (_, true) => block_64::<true>(layout, input, bytes, [nan, pos_inf, neg_inf]),
            }
            refuse(options, first, [nan, pos_inf, neg_inf], &not_allowed)?;
        }
        Ok(())
    })?;
    let mask = |bytes: Vec<u8>| any_set(&bytes).then_some(Bits { bytes, count });
    let masks = Masks { nan: mask(nan), pos_inf: mask(pos_inf), neg_inf: mask(neg_inf) };
    Ok(Some(Separated { bytes, masks }))
}

/// Whether a mask has any bit.
fn any_set(mask: &[u8]) -> bool {
    let (words, rest) = mask.as_chunks::<64>();
    words.iter().any(|word| word.iter().fold(0, |all, byte| all | byte) != 0) || rest.iter().any(|byte| *byte != 0)
}

/// Refuses the first element of a kind that is not allowed.
fn refuse(
    options: &Options,
    first: u64,
    masks: [&[u8]; 3],
    not_allowed: &impl Fn(u64, Kind) -> CodecError,
) -> Result<(), CodecError> {
    if options.allow_nan && options.allow_inf {
        return Ok(());
    }
    let found =
        Kind::ALL.into_iter().zip(masks).filter(|(kind, _)| !options.allows(*kind)).filter_map(|(kind, mask)| {
            let (byte, bits) = mask.iter().enumerate().find(|(_, bits)| **bits != 0)?;
            Some((first + byte as u64 * 8 + u64::from(bits.leading_zeros()), kind))
        });
    match found.min_by_key(|(index, _)| *index) {
        Some((index, kind)) => Err(not_allowed(index, kind)),
        None => Ok(()),
    }
}

/// Copies up to [`BLOCK`] elements with zeros in place of those that are not finite, and writes their bits: NaN, plus
/// infinity, minus infinity. Every loop is without branches, so that it runs on vector registers.
macro_rules! block {
    ($name:ident, $word:ty) => {
        fn $name<const SWAP: bool>(layout: Layout, input: &[u8], bytes: &mut [u8], mut masks: [&mut [u8]; 3]) {
            vectorized(
                #[inline(always)]
                || {
                    let (words, _) = input.as_chunks::<{ size_of::<$word>() }>();
                    let (out, _) = bytes.as_chunks_mut::<{ size_of::<$word>() }>();
                    let (exponent, sign) = (layout.exponent as $word, layout.sign as $word);
                    let value = |word: &[u8; size_of::<$word>()]| {
                        let word = <$word>::from_ne_bytes(*word);
                        if SWAP { word.swap_bytes() } else { word }
                    };
                    let mut nan_flags = [0u8; 2 * BLOCK];
                    let mut infinities: $word = 0;
                    for ((word, out), nan) in words.iter().zip(&mut *out).zip(&mut nan_flags) {
                        let magnitude = value(word) & !sign;
                        *nan = u8::from(magnitude > exponent);
                        infinities |= <$word>::from(magnitude == exponent);
                        // All ones for what is finite.
                        let keep = <$word>::from(magnitude < exponent).wrapping_neg();
                        *out = (<$word>::from_ne_bytes(*word) & keep).to_ne_bytes();
                    }
                    let [nan, pos_inf, neg_inf] = masks.each_mut();
                    if layout.parts == 1 && infinities == 0 {
                        return pack(&nan_flags, nan);
                    }
                    let mut flags = Flags { nan: nan_flags, pos_inf: [0; 2 * BLOCK], neg_inf: [0; 2 * BLOCK] };
                    for (word, (pos_inf, neg_inf)) in words.iter().zip(flags.pos_inf.iter_mut().zip(&mut flags.neg_inf))
                    {
                        let word = value(word);
                        *pos_inf = u8::from(word == exponent);
                        *neg_inf = u8::from(word == (exponent | sign));
                    }
                    if layout.parts == 2 {
                        let count = words.len() / 2;
                        flags.join_parts(count);
                        // A part that is finite goes with the other one.
                        for (i, element) in out.chunks_exact_mut(2).enumerate() {
                            if flags.nan[i] | flags.pos_inf[i] | flags.neg_inf[i] != 0 {
                                element.fill([0; size_of::<$word>()]);
                            }
                        }
                    }
                    pack(&flags.nan, nan);
                    pack(&flags.pos_inf, pos_inf);
                    pack(&flags.neg_inf, neg_inf);
                },
            );
        }
    };
}

block!(block_16, u16);
block!(block_32, u32);
block!(block_64, u64);

/// One byte, 0 or 1, per scalar of a block.
struct Flags {
    nan: [u8; 2 * BLOCK],
    pos_inf: [u8; 2 * BLOCK],
    neg_inf: [u8; 2 * BLOCK],
}

impl Flags {
    /// From two parts to one kind per element: NaN beats plus infinity beats minus infinity.
    #[inline(always)]
    fn join_parts(&mut self, count: usize) {
        for i in 0..count {
            let nan = self.nan[2 * i] | self.nan[2 * i + 1];
            let pos_inf = (self.pos_inf[2 * i] | self.pos_inf[2 * i + 1]) & (nan ^ 1);
            let neg_inf = (self.neg_inf[2 * i] | self.neg_inf[2 * i + 1]) & ((nan | pos_inf) ^ 1);
            (self.nan[i], self.pos_inf[i], self.neg_inf[i]) = (nan, pos_inf, neg_inf);
        }
        for flags in [&mut self.nan, &mut self.pos_inf, &mut self.neg_inf] {
            flags[count..2 * count].fill(0);
        }
    }
}

/// Eight flags to a byte, the first in the most significant bit.
#[inline(always)]
fn pack(flags: &[u8; 2 * BLOCK], mask: &mut [u8]) {
    for (byte, flags) in mask.iter_mut().zip(flags.as_chunks::<8>().0) {
        // Flag i moves from bit 8 i to bit 63 - i; the product has no carries.
        *byte = (u64::from_le_bytes(*flags).wrapping_mul(0x8040_2010_0804_0201) >> 56) as u8;
    }
}

/// Elements classified together; a multiple of eight.
const BLOCK: usize = 512;
/// Elements per task; a multiple of [`BLOCK`].
const TASK: usize = 64 * BLOCK;
/// Below this many bytes a second thread costs more than it saves.
const PARALLEL_FROM: usize = 1 << 20;
