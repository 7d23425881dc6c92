//! The plain twin: the specification's own loops, one bit at a time. Only tests use it.

use super::params::BlockLimits;

/// A stream of bits, one per element.
pub(super) type BitList = Vec<bool>;

/// Encodes values as the specification says it.
pub(super) fn encode(limits: &BlockLimits, values: &[f64]) -> Vec<u8> {
    let mut bits = BitList::new();
    for block in values.chunks(4) {
        let padded = match *block {
            [a] => [a, a, a, a],
            [a, b] => [a, b, b, a],
            [a, b, c] => [a, b, c, a],
            [a, b, c, d] => [a, b, c, d],
            _ => unreachable!("chunks of one to four"),
        };
        encode_block(limits, padded, &mut bits);
    }
    while !bits.len().is_multiple_of(64) {
        bits.push(false);
    }
    bits.chunks(8).map(|byte| byte.iter().enumerate().fold(0, |sum, (i, bit)| sum | u8::from(*bit) << i)).collect()
}

/// Decodes `count` values as the specification says it; zeros behind the end.
pub(super) fn decode(limits: &BlockLimits, bytes: &[u8], count: usize) -> Vec<f64> {
    let bits: BitList = bytes.iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1)).collect();
    let mut at = 0;
    let mut values = Vec::new();
    while values.len() < count {
        let (block, len) = decode_block(limits, &bits, at);
        values.extend(block);
        at += len;
    }
    values.truncate(count);
    values
}

fn encode_block(limits: &BlockLimits, values: [f64; 4], bits: &mut BitList) {
    let start = bits.len();
    let largest = values.iter().fold(0.0f64, |top, value| top.max(value.abs()));
    let exponent = frexp_exponent(largest);
    let planes = limits.planes(exponent);
    if planes > 0 && largest > 0.0 {
        let header = 1 + 2 * (exponent + 1023);
        bits.extend((0..12).map(|i| header >> i & 1 == 1));
        let [mut x, mut y, mut z, mut w] = values.map(|value| scaled(value, 62 - exponent) as i64);
        x = x.wrapping_add(w);
        x >>= 1;
        w = w.wrapping_sub(x);
        z = z.wrapping_add(y);
        z >>= 1;
        y = y.wrapping_sub(z);
        x = x.wrapping_add(z);
        x >>= 1;
        z = z.wrapping_sub(x);
        w = w.wrapping_add(y);
        w >>= 1;
        y = y.wrapping_sub(w);
        w = w.wrapping_add(y >> 1);
        y = y.wrapping_sub(w >> 1);
        let coefficients = [x, y, z, w].map(|i| (i as u64).wrapping_add(MASK) ^ MASK);
        let mut budget = limits.max_bits - 12;
        let mut n = 0;
        for plane in (64 - planes..64).rev() {
            if budget == 0 {
                break;
            }
            let mut x = (0..4).fold(0u32, |x, c| x | ((coefficients[c] >> plane & 1) as u32) << c);
            let mut emit = |bit: bool, budget: &mut u32| {
                bits.push(bit);
                *budget -= 1;
            };
            for _ in 0..n.min(budget) {
                emit(x & 1 == 1, &mut budget);
                x >>= 1;
            }
            while n < 4 && budget > 0 {
                emit(x != 0, &mut budget);
                if x == 0 {
                    break;
                }
                while n < 3 && budget > 0 {
                    emit(x & 1 == 1, &mut budget);
                    if x & 1 == 1 {
                        break;
                    }
                    x >>= 1;
                    n += 1;
                }
                x >>= 1;
                n += 1;
            }
        }
    } else {
        bits.push(false);
    }
    while bits.len() - start < limits.min_bits as usize {
        bits.push(false);
    }
}

fn decode_block(limits: &BlockLimits, bits: &BitList, start: usize) -> ([f64; 4], usize) {
    let mut at = start;
    let mut read = || {
        at += 1;
        bits.get(at - 1).copied().unwrap_or(false)
    };
    let mut values = [0.0; 4];
    if read() {
        let exponent = (0..11).fold(0, |e, i| e | i32::from(read()) << i) - 1023;
        let planes = limits.planes(exponent);
        let mut budget = limits.max_bits - 12;
        let mut n = 0;
        let mut coefficients = [0u64; 4];
        for plane in (64 - planes..64).rev() {
            if budget == 0 {
                break;
            }
            let mut x = 0u32;
            let verbatim = n.min(budget);
            for i in 0..verbatim {
                x |= u32::from(read()) << i;
            }
            budget -= verbatim;
            while n < 4 && budget > 0 {
                budget -= 1;
                if !read() {
                    break;
                }
                while n < 3 && budget > 0 {
                    budget -= 1;
                    if read() {
                        break;
                    }
                    n += 1;
                }
                x |= 1 << n;
                n += 1;
            }
            for (c, coefficient) in coefficients.iter_mut().enumerate() {
                *coefficient |= u64::from(x >> c & 1) << plane;
            }
        }
        let [mut x, mut y, mut z, mut w] = coefficients.map(|u| (u ^ MASK).wrapping_sub(MASK) as i64);
        y = y.wrapping_add(w >> 1);
        w = w.wrapping_sub(y >> 1);
        y = y.wrapping_add(w);
        w <<= 1;
        w = w.wrapping_sub(y);
        z = z.wrapping_add(x);
        x <<= 1;
        x = x.wrapping_sub(z);
        y = y.wrapping_add(z);
        z <<= 1;
        z = z.wrapping_sub(y);
        w = w.wrapping_add(x);
        x <<= 1;
        x = x.wrapping_sub(w);
        values = [x, y, z, w].map(|i| scaled(i as f64, exponent - 62));
    }
    (values, (at - start).max(limits.min_bits as usize))
}

/// The exponent e with 2^(e-1) <= value < 2^e, at least -1022; -1023 for zero.
fn frexp_exponent(value: f64) -> i32 {
    if value == 0.0 {
        return -1023;
    }
    let mut exponent = -1022;
    while exponent < 1024 && value >= scaled(1.0, exponent) {
        exponent += 1;
    }
    exponent
}

/// `value` × 2^`exponent` with one rounding: halving and doubling are exact until the last step into the subnormals.
fn scaled(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2f64.powi(half) * 2f64.powi(exponent - half)
}

const MASK: u64 = 0xaaaa_aaaa_aaaa_aaaa;
