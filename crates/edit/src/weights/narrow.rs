//! Floats as other floats, with the error that this makes.

use fw_convert::ConvertError;
use fw_tensor::DType;
use half::f16;
use half::slice::HalfFloatSliceExt;
use serde::Serialize;

/// What tensors are cast to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CastType {
    /// IEEE half precision.
    F16,
    /// The upper half of single precision.
    BF16,
    /// IEEE single precision.
    F32,
    /// Eight bits: four of the exponent, three of the fraction; up to 448, no infinity.
    F8E4M3,
}

impl CastType {
    /// Every type.
    pub const ALL: [Self; 4] = [Self::F16, Self::BF16, Self::F32, Self::F8E4M3];

    /// Lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F8E4M3 => "f8_e4m3",
        }
    }

    /// The element type.
    pub const fn dtype(self) -> DType {
        match self {
            Self::F16 => DType::Float16,
            Self::BF16 => DType::BFloat16,
            Self::F32 => DType::Float32,
            Self::F8E4M3 => DType::Float8E4M3,
        }
    }

    const fn width(self) -> usize {
        match self {
            Self::F16 | Self::BF16 => 2,
            Self::F32 => 4,
            Self::F8E4M3 => 1,
        }
    }

    /// The greatest finite value, little endian, with its sign.
    fn greatest(self, is_negative: bool) -> [u8; 4] {
        let [mut bytes, sign] = match self {
            Self::F16 => [[0xff, 0x7b, 0, 0], [0, 0x80, 0, 0]],
            Self::BF16 => [[0x7f, 0x7f, 0, 0], [0, 0x80, 0, 0]],
            Self::F32 => [[0xff, 0xff, 0x7f, 0x7f], [0, 0, 0, 0x80]],
            Self::F8E4M3 => [[0x7e, 0, 0, 0], [0x80, 0, 0, 0]],
        };
        bytes.iter_mut().zip(sign).filter(|_| is_negative).for_each(|(byte, bit)| *byte |= bit);
        bytes
    }
}

/// True for types that can be cast: floats of whole bytes, without those that have no fraction.
pub(crate) const fn is_castable(dtype: DType) -> bool {
    matches!(
        dtype,
        DType::Float64
            | DType::Float32
            | DType::Float16
            | DType::BFloat16
            | DType::Float8E4M3
            | DType::Float8E5M2
            | DType::Float8E4M3Fnuz
            | DType::Float8E5M2Fnuz
    )
}

/// What a cast did to the elements of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CastError {
    /// The greatest absolute error of those that are finite before and after.
    pub max_error: f64,
    /// The root of their mean squared error.
    pub rms_error: f64,
    /// Elements beyond the range of the new type.
    pub overflow: u64,
    /// Elements that became zero.
    pub underflow: u64,
    /// Elements that were not a number before.
    pub nan: u64,
    /// Sum of squared errors, and how many elements it is of.
    #[serde(skip)]
    sum: (f64, u64),
}

impl CastError {
    /// Adds what was done to other elements.
    pub(crate) fn add(&mut self, other: &Self) {
        self.max_error = self.max_error.max(other.max_error);
        self.overflow += other.overflow;
        self.underflow += other.underflow;
        self.nan += other.nan;
        self.sum = (self.sum.0 + other.sum.0, self.sum.1 + other.sum.1);
        self.rms_error = if self.sum.1 == 0 { 0.0 } else { (self.sum.0 / self.sum.1 as f64).sqrt() };
    }
}

/// Casts little-endian elements that come in pieces of any size.
pub(crate) struct Caster {
    from: DType,
    to: CastType,
    /// Whether what is out of range becomes the greatest value instead of infinity, or NaN where there is no infinity.
    saturates: bool,
    rest: Vec<u8>,
    out: Vec<u8>,
    error: CastError,
}

impl Caster {
    pub(crate) fn new(from: DType, to: CastType, saturates: bool) -> Self {
        Self { from, to, saturates, rest: Vec::new(), out: Vec::new(), error: CastError::default() }
    }

    /// Casts a piece, and hands what became of it to `take`.
    pub(crate) fn push(
        &mut self,
        piece: &[u8],
        take: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        let width = self.from.byte_width().unwrap_or(1);
        for piece in piece.chunks(STEP) {
            self.rest.extend_from_slice(piece);
            let whole = self.rest.len() / width * width;
            let (elements, _) = self.rest.split_at(whole);
            self.out.clear();
            match Values::read(self.from, elements) {
                Values::Singles(values) => singles(&values, self.to, &mut self.out),
                Values::Doubles(values) => doubles(&values, self.to, &mut self.out),
            }
            let found = measured(self.from, elements, self.to, self.saturates, &mut self.out);
            self.error.add(&found);
            self.rest.drain(..whole);
            take(&self.out)?;
        }
        Ok(())
    }

    /// What it did.
    pub(crate) const fn error(&self) -> CastError {
        self.error
    }
}

/// Elements as numbers that hold them exactly.
enum Values {
    Singles(Vec<f32>),
    Doubles(Vec<f64>),
}

impl Values {
    fn read(dtype: DType, bytes: &[u8]) -> Self {
        match dtype {
            DType::Float32 => Self::Singles(each(bytes, f32::from_le_bytes).collect()),
            DType::Float16 => {
                let halves: Vec<f16> = each(bytes, f16::from_le_bytes).collect();
                let mut wide = vec![0.0; halves.len()];
                halves.convert_to_f32_slice(&mut wide);
                Self::Singles(wide)
            }
            DType::BFloat16 => {
                Self::Singles(each(bytes, |two| f32::from_bits(u32::from(u16::from_le_bytes(two)) << 16)).collect())
            }
            DType::Float64 => Self::Doubles(each(bytes, f64::from_le_bytes).collect()),
            // One byte each: they have no order of bytes.
            other => Self::Doubles(fw_stats::to_f64(other, bytes).unwrap_or_default()),
        }
    }

    fn to_doubles(&self) -> Vec<f64> {
        match self {
            Self::Singles(values) => values.iter().map(|value| f64::from(*value)).collect(),
            Self::Doubles(values) => values.clone(),
        }
    }
}

fn each<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> impl Iterator<Item = T> {
    bytes.as_chunks::<N>().0.iter().map(move |chunk| read(*chunk))
}

fn singles(values: &[f32], to: CastType, out: &mut Vec<u8>) {
    match to {
        CastType::F32 => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
        CastType::F16 => {
            let mut halves = vec![f16::ZERO; values.len()];
            halves.convert_from_f32_slice(values);
            out.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
        }
        CastType::BF16 => out.extend(values.iter().flat_map(|value| bf16_bits(*value).to_le_bytes())),
        CastType::F8E4M3 => out.extend(values.iter().map(|value| e4m3(*value))),
    }
}

/// Each rounded once: by way of single precision it would be rounded twice.
fn doubles(values: &[f64], to: CastType, out: &mut Vec<u8>) {
    match to {
        CastType::F32 => out.extend(values.iter().flat_map(|value| (*value as f32).to_le_bytes())),
        CastType::F16 | CastType::BF16 => {
            let odd: Vec<f32> = values.iter().map(|value| to_odd(*value)).collect();
            singles(&odd, to, out);
        }
        CastType::F8E4M3 => out.extend(values.iter().map(|value| e4m3_of_double(*value))),
    }
}

/// A single whose last bit says whether anything was cut off: rounding it again gives what rounding once would have given, as long
/// as the result has two bits less than a single at least.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let wide = f64::from(near);
    if wide == value || !near.is_finite() || near.to_bits() & 1 == 1 {
        return near;
    }
    // The neighbour on the other side of the value ends in a one.
    let up = wide.abs() < value.abs();
    f32::from_bits(if up { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

/// To the nearest, ties to even; a NaN stays one.
fn bf16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    // The sign and a quiet NaN: what is cut off might have been all of its payload.
    let nan = (bits >> 16) as u16 | 0x0040;
    if value.is_nan() { nan } else { (rounded >> 16) as u16 }
}

/// To the nearest, ties to even; NaN beyond 448 and for infinities, which this type does not have.
fn e4m3(value: f32) -> u8 {
    let bits = value.to_bits();
    let (sign, magnitude) = ((bits >> 24) as u8 & 0x80, bits & 0x7fff_ffff);
    // Below the least normal number, 2^-6, an addition rounds to multiples of 2^-9.
    let low = (f32::from_bits(magnitude) + LOW).to_bits().wrapping_sub(LOW.to_bits());
    // Else 20 bits of the fraction are rounded off, and the bias is 7 instead of 127.
    let high = magnitude.wrapping_add(0x7_ffff + ((magnitude >> 20) & 1)).wrapping_sub(120 << 23) >> 20;
    let is_low = magnitude < 121 << 23;
    let is_beyond = magnitude >= 136 << 23 || !is_low && high > 0x7e;
    let code = if is_low { low as u8 } else { high as u8 };
    sign | if is_beyond { 0x7f } else { code }
}

/// The number whose last bit is worth 2^-9.
const LOW: f32 = 16_384.0;

fn e4m3_of_double(value: f64) -> u8 {
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() || magnitude >= 512.0 {
        return sign | 0x7f;
    }
    // The exponent of a double; below the least normal number that of the type.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-6);
    let steps = (magnitude / 2f64.powi(exponent - 3)).round_ties_even() as i32;
    let code = ((exponent + 7) << 3) + steps - 8;
    sign | if code > 0x7e { 0x7f } else { code as u8 }
}

/// Compares elements with what they were cast to, and puts the greatest values in place of what overflowed where that is wanted.
fn measured(from: DType, elements: &[u8], to: CastType, saturates: bool, out: &mut [u8]) -> CastError {
    let before = Values::read(from, elements).to_doubles();
    let mut after = Values::read(to.dtype(), out).to_doubles();
    let mut found = CastError::default();
    for (place, (a, b)) in before.iter().zip(&mut after).enumerate() {
        if a.is_nan() {
            found.nan += 1;
            continue;
        }
        // An infinity is out of range where the type has none.
        if !b.is_finite() && *a != *b {
            found.overflow += 1;
            let at = place * to.width();
            if let (true, Some(slot)) = (saturates, out.get_mut(at..at + to.width())) {
                let greatest = to.greatest(a.is_sign_negative());
                slot.copy_from_slice(&greatest[..to.width()]);
            }
            continue;
        }
        if a.is_finite() {
            let distance = (a - *b).abs();
            found.max_error = found.max_error.max(distance);
            found.sum = (found.sum.0 + distance * distance, found.sum.1 + 1);
            found.underflow += u64::from(*b == 0.0 && *a != 0.0);
        }
    }
    found
}

/// Bytes that are cast at a time.
const STEP: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;
    use proptest::prelude::*;

    fn cast(from: DType, to: CastType, saturates: bool, bytes: &[u8]) -> (Vec<u8>, CastError) {
        let (mut caster, mut out) = (Caster::new(from, to, saturates), Vec::new());
        for piece in bytes.chunks(3) {
            caster
                .push(piece, &mut |part| {
                    out.extend_from_slice(part);
                    Ok(())
                })
                .unwrap();
        }
        (out, caster.error())
    }

    fn value(code: u8) -> f64 {
        fw_stats::to_f64(DType::Float8E4M3, &[code]).unwrap()[0]
    }

    /// The nearest of all values, the even one of two.
    fn nearest(x: f64) -> u8 {
        let sign = if x.is_sign_negative() { 0x80u8 } else { 0 };
        // One step beyond the greatest: what is nearer to that overflows.
        let mut best = (f64::INFINITY, 0u8);
        for code in 0..=0x7fu8 {
            let at = if code == 0x7f { 480.0 } else { value(code) };
            let distance = (at - x.abs()).abs();
            if distance < best.0 || distance == best.0 && code % 2 == 0 {
                best = (distance, code);
            }
        }
        sign | if x.abs() > 480.0 { 0x7f } else { best.1 }
    }

    #[test]
    fn known_values_of_eight_bits() {
        for (x, code) in [
            (0.0, 0x00),
            (-0.0, 0x80),
            (1.0, 0x38),
            (448.0, 0x7e),
            (463.9, 0x7e),
            (464.0, 0x7e),
            (464.1, 0x7f),
            (1e9, 0x7f),
            (f32::INFINITY, 0x7f),
            (-449.0, 0xfe),
            (2f32.powi(-9), 0x01),
            (2f32.powi(-10), 0x00),
            (1.5 * 2f32.powi(-10), 0x01),
            (2f32.powi(-6), 0x08),
            (0.9999 * 2f32.powi(-6), 0x08),
            (17.0, 0x58),
            (19.0, 0x5a),
        ] {
            assert_eq!((e4m3(x), e4m3_of_double(f64::from(x))), (code, code), "{x}");
        }
        assert_eq!(e4m3(f32::NAN) & 0x7f, 0x7f);
        assert_eq!(e4m3_of_double(f64::NAN) & 0x7f, 0x7f);
        for code in 0..=255u8 {
            let x = value(code);
            if !x.is_nan() {
                assert_eq!((e4m3(x as f32), e4m3_of_double(x)), (code, code), "{code:#x}");
            }
        }
    }

    proptest! {
        #[test]
        fn eight_bits_are_the_nearest(x in prop_oneof![-500.0f32..500.0, -0.1f32..0.1, any::<f32>()]) {
            prop_assume!(!x.is_nan());
            prop_assert_eq!(e4m3(x), nearest(f64::from(x)), "{}", x);
            prop_assert_eq!(e4m3_of_double(f64::from(x)), nearest(f64::from(x)), "{}", x);
        }

        #[test]
        fn sixteen_bits_are_rounded_once(x in prop_oneof![any::<f32>(), -70_000f32..70_000f32]) {
            prop_assume!(!x.is_nan());
            prop_assert_eq!(bf16_bits(x), bf16::from_f32_const(x).to_bits());
            let (out, _) = cast(DType::Float32, CastType::F16, false, &x.to_le_bytes());
            prop_assert_eq!(out, f16::from_f32_const(x).to_le_bytes());
        }
    }

    #[test]
    fn doubles_are_rounded_once() {
        // Halfway between two halves after a first rounding to single precision, and above it before.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        let (out, error) = cast(DType::Float64, CastType::F16, false, &x.to_le_bytes());
        assert_eq!(f16::from_le_bytes([out[0], out[1]]).to_f64(), 1.0 + 2f64.powi(-10));
        assert_eq!(error.max_error, 2f64.powi(-11) - 2f64.powi(-40));
        let below = 1.0 + 2f64.powi(-11) - 2f64.powi(-40);
        for (x, expected) in [(-x, -1.0 - 2f64.powi(-10)), (below, 1.0), (1.0 + 2f64.powi(-11), 1.0), (1e-300, 0.0)] {
            let (out, _) = cast(DType::Float64, CastType::F16, false, &x.to_le_bytes());
            assert_eq!(f16::from_le_bytes([out[0], out[1]]).to_f64(), expected, "{x:e}");
        }
        let x = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        let (out, _) = cast(DType::Float64, CastType::BF16, false, &x.to_le_bytes());
        assert_eq!(bf16::from_le_bytes([out[0], out[1]]).to_f64(), 1.0 + 2f64.powi(-7));
    }

    #[test]
    fn errors_are_counted() {
        let values = [1.0f32, 1.0001, 1e-30, 1e30, -1e30, f32::NAN, f32::INFINITY, 0.0];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let (out, error) = cast(DType::Float32, CastType::F16, false, &bytes);
        assert_eq!((error.overflow, error.underflow, error.nan), (2, 1, 1));
        let error_of_one = f64::from(1.0001f32) - 1.0;
        assert_eq!(error.max_error, error_of_one);
        let rms = ((error_of_one.powi(2) + f64::from(1e-30f32).powi(2)) / 4.0).sqrt();
        assert!((error.rms_error - rms).abs() < 1e-12, "{error:?}");
        assert_eq!(&out[6..10], [0, 0x7c, 0, 0xfc]);
        let (out, error) = cast(DType::Float32, CastType::F16, true, &bytes);
        assert_eq!((error.overflow, &out[6..10]), (2, &[0xff, 0x7b, 0xff, 0xfb][..]));
        assert_eq!(&out[12..14], [0, 0x7c], "an infinity is one");
        let (out, error) = cast(DType::Float32, CastType::F8E4M3, false, &bytes);
        assert_eq!((error.overflow, &out[3..7]), (3, &[0x7f, 0xff, 0x7f, 0x7f][..]), "this type has none");
        let (out, _) = cast(DType::Float32, CastType::F8E4M3, true, &bytes);
        assert_eq!(&out[3..7], [0x7e, 0xfe, 0x7f, 0x7e]);
        let (out, _) = cast(DType::Float64, CastType::F32, true, &(-1e300f64).to_le_bytes());
        assert_eq!(out, f32::MIN.to_le_bytes());
        let (out, _) = cast(DType::Float64, CastType::BF16, true, &1e300f64.to_le_bytes());
        assert_eq!(out, [0x7f, 0x7f]);
        // Wider types are exact.
        let (out, error) = cast(DType::BFloat16, CastType::F32, false, &[0x80, 0x3f, 0xc0, 0xff]);
        assert_eq!(&out[..4], 1.0f32.to_le_bytes());
        assert_eq!((error.max_error, error.nan), (0.0, 1));
    }
}
