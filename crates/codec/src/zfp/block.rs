//! Blocks of four values to bits and back, several in step.
//!
//! Coding one block is a chain of dependent look-ups. Blocks do not depend on each other, so running a few through
//! the same steps side by side keeps the processor busy; that is all `LANES` is about.

use super::BLOCK;
use super::bits::{BitWriter, Bits, low_bits};
use super::params::{BlockLimits, HEADER_BITS};
use super::planes::{Code, Decoder, Encoder};
use super::transform;

/// Bits of four float64 values.
pub(super) type Block = [u64; BLOCK];

/// Appends `LANES` blocks to `out`. Fails with the number of the first block that holds NaN or an infinity.
#[inline(always)]
pub(super) fn encode<const LANES: usize>(
    limits: &BlockLimits,
    blocks: &[Block; LANES],
    out: &mut BitWriter<'_>,
) -> Result<u64, usize> {
    let mut codes = [[0; 8]; LANES];
    let mut planes = [[0; 5]; LANES];
    let mut encoders = [Encoder::new(0, 1); LANES];
    for lane in 0..LANES {
        let top = blocks[lane].iter().fold(0, |top: u64, bits| top.max(bits & MAGNITUDE));
        if top >= INFINITE {
            return Err(lane);
        }
        let exponent = (top >> 52) as i32 - 1022;
        let count = if top == 0 { 0 } else { limits.planes(exponent) };
        if count > 0 {
            codes[lane][0] = 1 | ((exponent + EXPONENT_BIAS) as u64) << 1;
            encoders[lane] = Encoder::new(count, HEADER_BITS);
            planes[lane] = transform::forward(quantise(&blocks[lane], exponent));
        }
    }
    while encoders.iter().any(|encoder| encoder.is_searching(limits.max_bits)) {
        for lane in 0..LANES {
            encoders[lane].step(&planes[lane], &mut codes[lane]);
        }
    }
    let mut total = 0;
    for lane in 0..LANES {
        let len = encoders[lane].finish(&planes[lane], &mut codes[lane], limits.max_bits);
        put_code(&codes[lane], len, out);
        let padding = limits.min_bits.saturating_sub(len);
        out.pad(padding);
        total += u64::from(len + padding);
    }
    Ok(total)
}

/// Decodes blocks that begin at the bits `starts`; the second result is where each one ends.
#[inline(always)]
pub(super) fn decode<const LANES: usize>(
    limits: &BlockLimits,
    bits: Bits<'_>,
    starts: [u64; LANES],
) -> ([[f64; BLOCK]; LANES], [u64; LANES]) {
    let mut exponents = [0; LANES];
    let mut planes = [[0; 5]; LANES];
    let mut decoders = [Decoder::new(0, 0, 0); LANES];
    for lane in 0..LANES {
        (exponents[lane], decoders[lane]) = open(limits, bits, starts[lane]);
        // The first step by itself: with nothing known yet it compiles to much less.
        decoders[lane].step(bits, &mut planes[lane]);
    }
    while decoders.iter().any(Decoder::is_searching) {
        for lane in 0..LANES {
            decoders[lane].step(bits, &mut planes[lane]);
        }
    }
    let mut values = [[0.0; BLOCK]; LANES];
    let mut ends = [0; LANES];
    for lane in 0..LANES {
        let end = decoders[lane].finish(bits, &mut planes[lane]);
        ends[lane] = end.max(starts[lane] + u64::from(limits.min_bits));
        values[lane] = dequantise(transform::inverse(&planes[lane]), exponents[lane]);
    }
    (values, ends)
}

/// Where the block that begins at bit `start` ends.
#[inline(always)]
pub(super) fn skim(limits: &BlockLimits, bits: Bits<'_>, start: u64) -> u64 {
    let (_, mut decoder) = open(limits, bits, start);
    decoder.step(bits, &mut [0; 5]);
    while decoder.is_searching() {
        decoder.step(bits, &mut [0; 5]);
    }
    decoder.end().max(start + u64::from(limits.min_bits))
}

/// Reads the header of a block.
#[inline(always)]
fn open(limits: &BlockLimits, bits: Bits<'_>, start: u64) -> (i32, Decoder) {
    let header = bits.window(start);
    if header & 1 == 0 {
        return (0, Decoder::new(0, 0, start + 1));
    }
    let exponent = (header >> 1 & 0x7ff) as i32 - EXPONENT_BIAS;
    let start = start + u64::from(HEADER_BITS);
    (exponent, Decoder::new(limits.planes(exponent), limits.max_bits - HEADER_BITS, start))
}

/// Writes the first `len` bits of `code`.
#[inline(always)]
fn put_code(code: &Code, len: u32, out: &mut BitWriter<'_>) {
    let mut left = len;
    for &word in code {
        if left < 64 {
            out.put(word & low_bits(left), left);
            return;
        }
        out.put(word, 64);
        left -= 64;
    }
}

/// The values as integers below 2^62 in magnitude, cut towards zero, when all are below 2^`exponent`.
#[inline(always)]
fn quantise(block: &Block, exponent: i32) -> [i64; BLOCK] {
    let shift = INTEGER_BITS - exponent;
    if shift > MAX_SHIFT {
        // 2^shift overflows; two factors do not, and the product is as exact.
        let (first, second) = (power_of_two(MAX_SHIFT), power_of_two(shift - MAX_SHIFT));
        return block.map(|bits| (f64::from_bits(bits) * first * second) as i64);
    }
    let scale = power_of_two(shift);
    block.map(|bits| (f64::from_bits(bits) * scale) as i64)
}

/// The inverse of [`quantise`], each value rounded once.
#[inline(always)]
fn dequantise(integers: [i64; BLOCK], exponent: i32) -> [f64; BLOCK] {
    let shift = exponent - INTEGER_BITS;
    if shift < MIN_SHIFT {
        // 2^shift is subnormal or zero. The first factor keeps the product normal and so exact.
        let (first, second) = (power_of_two(MIN_SHIFT / 2), power_of_two(shift - MIN_SHIFT / 2));
        return integers.map(|integer| integer as f64 * first * second);
    }
    let scale = power_of_two(shift);
    integers.map(|integer| integer as f64 * scale)
}

/// 2^`exponent`, for exponents of normal numbers.
#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

const MAGNITUDE: u64 = !(1 << 63);
const INFINITE: u64 = 0x7ff << 52;
const EXPONENT_BIAS: i32 = 1023;
/// Quantised values use this many bits, which leaves two for the growth in the transform.
const INTEGER_BITS: i32 = 62;
const MAX_SHIFT: i32 = 1023;
const MIN_SHIFT: i32 = -1022;
