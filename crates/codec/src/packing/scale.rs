//! Powers of ten and two, evaluated as the format does: by squaring, one rounding per product.

/// `10^n`. A correctly rounded power differs from this for `|n| > 22`, and so would decoded bits.
pub(super) fn power_of_ten(n: i32) -> f64 {
    power(10.0, n)
}

/// `2^n`; 0 or infinity beyond what a double can hold.
pub(super) fn power_of_two(n: i32) -> f64 {
    power(2.0, n)
}

/// The largest integer of `bits` bits.
pub(super) fn largest(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

fn power(base: f64, n: i32) -> f64 {
    let mut result = 1.0;
    let mut square = base;
    let mut left = n.unsigned_abs();
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    if n < 0 { 1.0 / result } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_powers_are_exact_and_extreme_ones_end_well() {
        assert_eq!(power_of_ten(22), 1e22);
        assert_eq!(power_of_ten(-1), 0.1);
        assert_eq!(power_of_two(-256), f64::from_bits((1023 - 256) << 52));
        assert_eq!(power_of_ten(i32::MIN), 0.0);
        assert_eq!(power_of_two(i32::MAX), f64::INFINITY);
        assert_eq!((largest(0), largest(1), largest(64)), (0, 1, u64::MAX));
    }
}
