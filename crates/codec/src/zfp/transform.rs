//! From four aligned integers to bit planes and back.
//!
//! Planes are held as nibbles: sixteen planes to a word, the most significant plane in the lowest nibble, coefficient
//! 0 in the lowest bit of each. That is the order in which the stream wants them.

use super::bits::low_bits;

/// The planes of one block; the fifth word stays zero, so that a window may reach past the last plane.
pub(super) type Planes = [u64; 5];

/// Decorrelates four integers and turns them into planes.
#[inline(always)]
pub(super) fn forward(values: [i64; 4]) -> Planes {
    let words = transpose(lift(values).map(to_negabinary)).map(lanes_to_nibbles);
    [words[0], words[1], words[2], words[3], 0]
}

/// The inverse of [`forward`], as far as planes are present.
#[inline(always)]
pub(super) fn inverse(planes: &Planes) -> [i64; 4] {
    let words = [planes[0], planes[1], planes[2], planes[3]].map(nibbles_to_lanes);
    unlift(transpose(words).map(from_negabinary))
}

/// The sixteen planes from plane `at` (below 64).
#[inline(always)]
pub(super) fn window(planes: &Planes, at: u32) -> u64 {
    let (word, shift) = ((at / 16 % 4) as usize, at % 16 * 4);
    planes[word] >> shift | planes[word + 1] << 1 << (63 - shift)
}

/// Sets up to sixteen planes from plane `at` (below 64, or 64 with nothing to set).
#[inline(always)]
pub(super) fn deposit(planes: &mut Planes, at: u32, nibbles: u64) {
    let (word, shift) = ((at / 16 % 4) as usize, at % 16 * 4);
    planes[word] |= nibbles << shift;
    planes[word + 1] |= nibbles >> 1 >> (63 - shift);
}

/// Squeezes sixteen nibbles of 4-bit spacing to a spacing of `4 - drop` bits; the dropped bits must be zero.
#[inline(always)]
pub(super) fn squeeze(nibbles: u64, drop: u32) -> u64 {
    let step = |x: u64, low: u64, shift: u32| (x & low) | (x & !low) >> shift;
    let x = step(nibbles, 0x0f0f_0f0f_0f0f_0f0f, drop);
    let x = step(x, 0x00ff_00ff_00ff_00ff, 2 * drop);
    let x = step(x, 0x0000_ffff_0000_ffff, 4 * drop);
    step(x, 0x0000_0000_ffff_ffff, 8 * drop)
}

/// Masks that undo [`squeeze`] for one spacing, coarsest first.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    drop: u32,
    low: [u64; 4],
}

impl Spread {
    /// The inverse of `squeeze(_, drop)`.
    pub(super) const fn new(drop: u32) -> Self {
        let mut low = [u64::MAX; 4];
        let mut step = 0;
        while step < 4 && drop > 0 {
            // After this step, groups of `16 >> (step + 1)` planes start every `64 >> (step + 1)` bits.
            let (group, width) = (8 >> step, 32 >> step);
            let mut mask = 0;
            let mut at = 0;
            while at < 64 {
                mask |= low_bits(group * (4 - drop)) << at;
                at += 2 * width;
            }
            low[step] = mask;
            step += 1;
        }
        Self { drop, low }
    }

    /// Spreads up to sixteen groups of `4 - drop` bits to one nibble each.
    #[inline(always)]
    pub(super) fn apply(&self, bits: u64) -> u64 {
        let step = |x: u64, low: u64, shift: u32| (x & low) | (x & !low) << shift;
        let x = step(bits, self.low[0], 8 * self.drop);
        let x = step(x, self.low[1], 4 * self.drop);
        let x = step(x, self.low[2], 2 * self.drop);
        step(x, self.low[3], self.drop)
    }
}

#[inline(always)]
fn lift([mut x, mut y, mut z, mut w]: [i64; 4]) -> [i64; 4] {
    x = x.wrapping_add(w) >> 1;
    w = w.wrapping_sub(x);
    z = z.wrapping_add(y) >> 1;
    y = y.wrapping_sub(z);
    x = x.wrapping_add(z) >> 1;
    z = z.wrapping_sub(x);
    w = w.wrapping_add(y) >> 1;
    y = y.wrapping_sub(w);
    w = w.wrapping_add(y >> 1);
    y = y.wrapping_sub(w >> 1);
    [x, y, z, w]
}

#[inline(always)]
fn unlift([mut x, mut y, mut z, mut w]: [i64; 4]) -> [i64; 4] {
    y = y.wrapping_add(w >> 1);
    w = w.wrapping_sub(y >> 1);
    y = y.wrapping_add(w);
    w = (w << 1).wrapping_sub(y);
    z = z.wrapping_add(x);
    x = (x << 1).wrapping_sub(z);
    y = y.wrapping_add(z);
    z = (z << 1).wrapping_sub(y);
    w = w.wrapping_add(x);
    x = (x << 1).wrapping_sub(w);
    [x, y, z, w]
}

const NEGABINARY: u64 = 0xaaaa_aaaa_aaaa_aaaa;

#[inline(always)]
fn to_negabinary(value: i64) -> u64 {
    (value as u64).wrapping_add(NEGABINARY) ^ NEGABINARY
}

#[inline(always)]
fn from_negabinary(value: u64) -> i64 {
    (value ^ NEGABINARY).wrapping_sub(NEGABINARY) as i64
}

/// Turns a 4 × 4 matrix of 16-bit elements, most significant element first; its own inverse.
#[inline(always)]
fn transpose([mut a, mut b, mut c, mut d]: [u64; 4]) -> [u64; 4] {
    let swap = |upper: &mut u64, lower: &mut u64, shift: u32, mask: u64| {
        let moved = (*upper ^ *lower >> shift) & mask;
        *upper ^= moved;
        *lower ^= moved << shift;
    };
    swap(&mut a, &mut c, 32, 0x0000_0000_ffff_ffff);
    swap(&mut b, &mut d, 32, 0x0000_0000_ffff_ffff);
    swap(&mut a, &mut b, 16, 0x0000_ffff_0000_ffff);
    swap(&mut c, &mut d, 16, 0x0000_ffff_0000_ffff);
    [a, b, c, d]
}

/// Four lanes of sixteen planes, coefficient 0 in the highest lane and the first plane in its highest bit, as nibbles.
#[inline(always)]
fn lanes_to_nibbles(lanes: u64) -> u64 {
    // Reversed, bit 16c + p is plane p of coefficient c. Moving it to bit 4p + c rotates the six bits of its position,
    // which takes four exchanges of two position bits each.
    let x = lanes.reverse_bits();
    let x = exchange(x, 24, 0x0000_0000_ff00_ff00);
    let x = exchange(x, 12, 0x0000_f0f0_0000_f0f0);
    let x = exchange(x, 6, 0x00cc_00cc_00cc_00cc);
    exchange(x, 3, 0x0a0a_0a0a_0a0a_0a0a)
}

#[inline(always)]
fn nibbles_to_lanes(nibbles: u64) -> u64 {
    let x = exchange(nibbles, 3, 0x0a0a_0a0a_0a0a_0a0a);
    let x = exchange(x, 6, 0x00cc_00cc_00cc_00cc);
    let x = exchange(x, 12, 0x0000_f0f0_0000_f0f0);
    exchange(x, 24, 0x0000_0000_ff00_ff00).reverse_bits()
}

/// Exchanges the bits under `mask` with those `shift` positions above.
#[inline(always)]
fn exchange(x: u64, shift: u32, mask: u64) -> u64 {
    let moved = (x ^ x >> shift) & mask;
    x ^ moved ^ moved << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn planes_hold_the_negabinary_bits(values: [i64; 4]) {
            let planes = forward(values);
            let coefficients = lift(values).map(to_negabinary);
            for plane in 0..64u32 {
                let expected = (0..4).fold(0, |nibble, c| nibble | (coefficients[c] >> (63 - plane) & 1) << c);
                prop_assert_eq!(window(&planes, plane) & 15, expected);
            }
        }

        #[test]
        fn inverse_undoes_forward_but_for_the_lowest_bits(values: [i32; 4]) {
            let values = values.map(|v| i64::from(v) << 8);
            for (back, value) in inverse(&forward(values)).into_iter().zip(values) {
                prop_assert!((back - value).abs() <= 8, "{back} for {value}");
            }
        }

        #[test]
        fn deposit_is_the_inverse_of_window(planes: [u64; 4]) {
            let planes = [planes[0], planes[1], planes[2], planes[3], 0];
            let mut copy = [0; 5];
            for at in (0..64).step_by(5) {
                deposit(&mut copy, at, window(&planes, at) & low_bits(20));
            }
            prop_assert_eq!(&copy[..4], &planes[..4]);
        }

        #[test]
        fn spread_undoes_squeeze(bits: u64, drop in 0u32..3) {
            let kept = [0xffff_ffff_ffff_ffff, 0x7777_7777_7777_7777, 0x3333_3333_3333_3333][drop as usize];
            let squeezed = squeeze(bits & kept, drop);
            prop_assert_eq!(squeezed.checked_shr(64 - 16 * drop).unwrap_or(0), 0);
            prop_assert_eq!(Spread::new(drop).apply(squeezed), bits & kept);
        }
    }
}
