//! 8-bit floats, by tables of their 256 values.

use std::sync::LazyLock;

/// The 8-bit floating-point formats.
#[derive(Clone, Copy)]
pub(crate) enum SmallFloat {
    /// Bias 7, no infinity, NaN is 0x7f and 0xff.
    E4M3,
    /// Bias 15, as IEEE.
    E5M2,
    /// Bias 8, no infinity, NaN is 0x80.
    E4M3Fnuz,
    /// Bias 16, no infinity, NaN is 0x80.
    E5M2Fnuz,
    /// A power of two with bias 127, NaN is 0xff.
    E8M0,
}

/// The value of every byte.
pub(crate) fn table(kind: SmallFloat) -> &'static [f32; 256] {
    static TABLES: LazyLock<[[f32; 256]; 5]> = LazyLock::new(|| {
        [SmallFloat::E4M3, SmallFloat::E5M2, SmallFloat::E4M3Fnuz, SmallFloat::E5M2Fnuz, SmallFloat::E8M0]
            .map(|kind| std::array::from_fn(|byte| decode(kind, byte as u8)))
    });
    &TABLES[kind as usize]
}

fn decode(kind: SmallFloat, byte: u8) -> f32 {
    let (mantissa_bits, bias) = match kind {
        SmallFloat::E4M3 => (3, 7),
        SmallFloat::E5M2 => (2, 15),
        SmallFloat::E4M3Fnuz => (3, 8),
        SmallFloat::E5M2Fnuz => (2, 16),
        // 2^-127 is a subnormal float32; both steps are exact.
        SmallFloat::E8M0 if byte == 0xff => return f32::NAN,
        SmallFloat::E8M0 => return 2f64.powi(i32::from(byte) - 127) as f32,
    };
    let exponent = i32::from((byte & 0x7f) >> mantissa_bits);
    let mantissa = f64::from(byte & ((1 << mantissa_bits) - 1));
    match (kind, byte) {
        (SmallFloat::E4M3, 0x7f | 0xff) | (SmallFloat::E4M3Fnuz | SmallFloat::E5M2Fnuz, 0x80) => return f32::NAN,
        (SmallFloat::E5M2, 0x7c) => return f32::INFINITY,
        (SmallFloat::E5M2, 0xfc) => return f32::NEG_INFINITY,
        (SmallFloat::E5M2, _) if exponent == 31 => return f32::NAN,
        _ => {}
    }
    let fraction = mantissa / f64::from(1 << mantissa_bits);
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(1 - bias),
        exponent => (1.0 + fraction) * 2f64.powi(exponent - bias),
    };
    (if byte & 0x80 == 0 { magnitude } else { -magnitude }) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Largest, one, smallest subnormal, of the OCP and FNUZ formats.
        for (kind, byte, expected) in [
            (SmallFloat::E4M3, 0x7e, 448.0),
            (SmallFloat::E4M3, 0x38, 1.0),
            (SmallFloat::E4M3, 0x01, 2f32.powi(-9)),
            (SmallFloat::E4M3, 0xfe, -448.0),
            (SmallFloat::E5M2, 0x7b, 57344.0),
            (SmallFloat::E5M2, 0x3c, 1.0),
            (SmallFloat::E5M2, 0x01, 2f32.powi(-16)),
            (SmallFloat::E5M2, 0x7c, f32::INFINITY),
            (SmallFloat::E4M3Fnuz, 0x7f, 240.0),
            (SmallFloat::E4M3Fnuz, 0x40, 1.0),
            (SmallFloat::E5M2Fnuz, 0x7f, 57344.0),
            (SmallFloat::E5M2Fnuz, 0x40, 1.0),
            (SmallFloat::E8M0, 0x7f, 1.0),
            (SmallFloat::E8M0, 0x00, f32::from_bits(0x0040_0000)),
            (SmallFloat::E8M0, 0xfe, 1.7014118e38),
        ] {
            assert_eq!(table(kind)[byte], expected);
        }
        for (kind, count) in [
            (SmallFloat::E4M3, 2),
            (SmallFloat::E5M2, 6),
            (SmallFloat::E4M3Fnuz, 1),
            (SmallFloat::E5M2Fnuz, 1),
            (SmallFloat::E8M0, 1),
        ] {
            assert_eq!(table(kind).iter().filter(|value| value.is_nan()).count(), count);
        }
    }
}
