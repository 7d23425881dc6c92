//! NaN and infinities found at the speed of memory, and the extrema of doubles.
//!
//! A number is not finite exactly when all bits of its exponent are set, whatever the byte order: only the place of
//! those bits changes. So one comparison of integers serves every type and order, without touching the floating-point
//! unit.

mod extrema; // minimum and maximum of doubles, in one pass with the check

pub use extrema::{Extrema, extrema};

use crate::simd::vectorized;
use crate::{CodecError, parallel};
use fw_tensor::{ByteOrder, DType};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What makes a number not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Not a number.
    Nan,
    /// Plus infinity.
    PosInf,
    /// Minus infinity.
    NegInf,
}

impl Kind {
    /// All kinds, in the order in which masks are stored.
    pub const ALL: [Self; 3] = [Self::Nan, Self::PosInf, Self::NegInf];

    /// The key of the kind in a descriptor's map of masks.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Nan => "nan",
            Self::PosInf => "inf+",
            Self::NegInf => "inf-",
        }
    }
}

/// Where the parts of a floating-point number are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes of a scalar: 2, 4 or 8.
    pub(crate) width: usize,
    /// Scalars per element: 2 for complex numbers.
    pub(crate) parts: usize,
    /// The bits of the exponent; also plus infinity.
    pub(crate) exponent: u64,
    /// The sign bit.
    pub(crate) sign: u64,
    /// The canonical NaN.
    pub(crate) nan: u64,
}

impl Layout {
    /// The layout of an element type that knows NaN and infinities.
    pub(crate) const fn of(dtype: DType) -> Option<Self> {
        let (width, parts, exponent, nan) = match dtype {
            DType::Float16 => (2, 1, 0x7c00, 0x7e00),
            DType::BFloat16 => (2, 1, 0x7f80, 0x7fc0),
            DType::Float32 => (4, 1, 0x7f80_0000, 0x7fc0_0000),
            DType::Complex64 => (4, 2, 0x7f80_0000, 0x7fc0_0000),
            DType::Float64 => (8, 1, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
            DType::Complex128 => (8, 2, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000),
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => return None,
            DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => return None,
            DType::Bitmask | DType::Bool => return None,
            DType::Float8E4M3 | DType::Float8E5M2 | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz => return None,
            DType::Float8E8M0 | DType::Float6E2M3 | DType::Float6E3M2 | DType::Float4 => return None,
        };
        Some(Self { width, parts, exponent, sign: 1 << (width * 8 - 1), nan })
    }

    /// Bytes of an element.
    pub(crate) const fn element_len(self) -> usize {
        self.width * self.parts
    }

    /// The kind of one element given in `order`, or `None` when it is finite. Complex numbers: NaN in either part, else
    /// plus infinity in either, else minus infinity.
    pub(crate) fn classify(self, element: &[u8], order: ByteOrder) -> Option<Kind> {
        let parts = element.chunks_exact(self.width).filter_map(|scalar| {
            let mut bytes = [0; 8];
            match order {
                ByteOrder::Little => bytes[..self.width].copy_from_slice(scalar),
                ByteOrder::Big => bytes[..self.width].iter_mut().zip(scalar.iter().rev()).for_each(|(to, b)| *to = *b),
            }
            let bits = u64::from_le_bytes(bytes);
            match bits & !self.sign {
                magnitude if magnitude < self.exponent => None,
                magnitude if magnitude > self.exponent => Some(Kind::Nan),
                _ if bits & self.sign == 0 => Some(Kind::PosInf),
                _ => Some(Kind::NegInf),
            }
        });
        parts.min_by_key(|kind| *kind as u8)
    }
}

/// The first element that is not finite, with its kind; `None` when all are, or the type has none.
///
/// `bytes` are whole elements in `order`.
pub fn first_non_finite(bytes: &[u8], dtype: DType, order: ByteOrder, threads: usize) -> Option<(u64, Kind)> {
    let layout = Layout::of(dtype)?;
    let block = first_block(bytes, layout, order, threads)?;
    let elements = bytes[block * BLOCK..].chunks_exact(layout.element_len());
    let (index, kind) = elements.enumerate().find_map(|(i, element)| Some((i, layout.classify(element, order)?)))?;
    Some(((block * BLOCK / layout.element_len() + index) as u64, kind))
}

/// Refuses NaN and infinities.
///
/// # Errors
/// `nan_not_allowed` or `inf_not_allowed`, naming the first element concerned; of complex numbers also which part it is.
pub fn check_finite(bytes: &[u8], dtype: DType, order: ByteOrder, threads: usize) -> Result<(), CodecError> {
    match first_non_finite(bytes, dtype, order, threads) {
        None => Ok(()),
        Some((index, kind)) => Err(not_allowed(bytes, 0, index, kind, dtype, order)),
    }
}

/// [`check_finite`] for a part that begins with element `first`, on this thread: for callers who do something else with
/// the part while it is in the cache.
///
/// # Errors
/// As [`check_finite`].
pub fn check_finite_from(first: u64, bytes: &[u8], dtype: DType, order: ByteOrder) -> Result<(), CodecError> {
    match first_non_finite(bytes, dtype, order, 1) {
        None => Ok(()),
        Some((index, kind)) => Err(not_allowed(bytes, first, index, kind, dtype, order)),
    }
}

/// The error for element `index` of `bytes`, which begin with element `first` of the object.
pub(crate) fn not_allowed(
    bytes: &[u8],
    first: u64,
    index: u64,
    kind: Kind,
    dtype: DType,
    order: ByteOrder,
) -> CodecError {
    let (code, what) = match kind {
        Kind::Nan => ("nan_not_allowed", "NaN"),
        Kind::PosInf => ("inf_not_allowed", "+Inf"),
        Kind::NegInf => ("inf_not_allowed", "-Inf"),
    };
    let element = first + index;
    let message = match imaginary(bytes, index, kind, dtype, order) {
        None => format!("element {element} is {what}, expected finite values"),
        Some(imaginary) => {
            let part = if imaginary { "imaginary" } else { "real" };
            format!("the {part} part of element {element} ({dtype}) is {what}, expected finite values")
        }
    };
    CodecError::misuse("finite", code, message)
}

/// Whether the imaginary part of a complex number is what makes it `kind`, rather than the real part; `None` for other
/// types.
fn imaginary(bytes: &[u8], index: u64, kind: Kind, dtype: DType, order: ByteOrder) -> Option<bool> {
    let layout = Layout::of(dtype).filter(|layout| layout.parts == 2)?;
    let start = usize::try_from(index).ok()?.checked_mul(layout.element_len())?;
    let real = bytes.get(start..)?.get(..layout.width)?;
    Some(layout.classify(real, order) != Some(kind))
}

/// Index of the first block of [`BLOCK`] bytes that holds a scalar with all exponent bits set.
fn first_block(bytes: &[u8], layout: Layout, order: ByteOrder, threads: usize) -> Option<usize> {
    if threads <= 1 || bytes.len() < PARALLEL_FROM {
        return bytes.chunks(BLOCK).position(|block| any_non_finite(block, layout, order));
    }
    let first = AtomicUsize::new(usize::MAX);
    let done = parallel::for_each(threads, bytes.chunks(TASK_LEN).enumerate(), |(task, part)| {
        let base = task * (TASK_LEN / BLOCK);
        if base < first.load(Ordering::Relaxed)
            && let Some(block) = part.chunks(BLOCK).position(|block| any_non_finite(block, layout, order))
        {
            first.fetch_min(base + block, Ordering::Relaxed);
        }
        Ok(())
    });
    debug_assert!(done.is_ok());
    Some(first.into_inner()).filter(|block| *block != usize::MAX)
}

/// True when some scalar of the block has all exponent bits set.
pub(crate) fn any_non_finite(block: &[u8], layout: Layout, order: ByteOrder) -> bool {
    // The exponent bits as they lie in memory.
    let mask = match order {
        ByteOrder::Little => layout.exponent.to_le_bytes(),
        ByteOrder::Big => (layout.exponent << (64 - 8 * layout.width)).to_be_bytes(),
    };
    match layout.width {
        2 => any_all_set::<2>(block, mask),
        4 => any_all_set::<4>(block, mask),
        _ => any_all_set::<8>(block, mask),
    }
}

fn any_all_set<const W: usize>(block: &[u8], mask: [u8; 8]) -> bool {
    macro_rules! any {
        ($word:ty) => {
            vectorized(
                #[inline(always)]
                || {
                    const W: usize = size_of::<$word>();
                    let mut bytes = [0; W];
                    bytes.copy_from_slice(&mask[..W]);
                    let mask = <$word>::from_ne_bytes(bytes);
                    let (words, _) = block.as_chunks::<W>();
                    // Counting in the width of the scalar keeps the lanes; wrapping cannot happen in one block.
                    let mut hits: $word = 0;
                    for word in words {
                        hits |= <$word>::from(<$word>::from_ne_bytes(*word) & mask == mask);
                    }
                    hits != 0
                },
            )
        };
    }
    match W {
        2 => any!(u16),
        4 => any!(u32),
        _ => any!(u64),
    }
}

/// Bytes looked at before asking whether anything was found: small enough for the first-level cache.
pub(crate) const BLOCK: usize = 16 << 10;
/// Bytes per task.
const TASK_LEN: usize = 256 << 10;
/// Below this many bytes a second thread costs more than it saves.
const PARALLEL_FROM: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLOATS: [DType; 6] =
        [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];

    /// The bytes of a scalar in `order`.
    fn scalar(bits: u64, width: usize, order: ByteOrder) -> Vec<u8> {
        let mut bytes = bits.to_le_bytes()[..width].to_vec();
        if order == ByteOrder::Big {
            bytes.reverse();
        }
        bytes
    }

    #[test]
    fn every_kind_is_found_in_every_type_and_order() {
        for dtype in FLOATS {
            let layout = Layout::of(dtype).unwrap();
            for order in [ByteOrder::Little, ByteOrder::Big] {
                // The largest finite number looks most like an infinity.
                let finite = scalar((layout.exponent - 1) | layout.sign, layout.width, order);
                let bytes = finite.repeat(5000 * layout.parts);
                assert_eq!(first_non_finite(&bytes, dtype, order, 1), None, "{dtype}");
                for (bits, kind) in [
                    (layout.nan, Kind::Nan),
                    (layout.exponent | 1 | layout.sign, Kind::Nan),
                    (layout.exponent, Kind::PosInf),
                    (layout.exponent | layout.sign, Kind::NegInf),
                ] {
                    for place in [0, 1, 4999, 4999 * layout.parts + layout.parts - 1] {
                        let mut bytes = bytes.clone();
                        bytes[place * layout.width..][..layout.width].copy_from_slice(&scalar(
                            bits,
                            layout.width,
                            order,
                        ));
                        let index = (place / layout.parts) as u64;
                        assert_eq!(first_non_finite(&bytes, dtype, order, 1), Some((index, kind)), "{dtype} {order}");
                    }
                }
            }
        }
        assert_eq!(first_non_finite(&[0xff; 64], DType::Int64, ByteOrder::Little, 1), None);
    }

    #[test]
    fn complex_numbers_have_one_kind() {
        let element = |re: f32, im: f32| [re.to_le_bytes(), im.to_le_bytes()].concat();
        let classify = |re, im| Layout::of(DType::Complex64).unwrap().classify(&element(re, im), ByteOrder::Little);
        assert_eq!(classify(f32::NEG_INFINITY, f32::NAN), Some(Kind::Nan));
        assert_eq!(classify(f32::NEG_INFINITY, f32::INFINITY), Some(Kind::PosInf));
        assert_eq!(classify(1.0, f32::NEG_INFINITY), Some(Kind::NegInf));
        assert_eq!(classify(1.0, 2.0), None);
    }

    #[test]
    fn every_type_with_nan_has_a_layout() {
        for dtype in DType::ALL {
            assert_eq!(Layout::of(*dtype).is_some(), dtype.has_non_finite(), "{dtype}");
        }
    }

    #[test]
    fn errors_of_complex_numbers_name_part_and_type() {
        let element = |re: f64, im: f64| [re.to_be_bytes(), im.to_be_bytes()].concat();
        let bytes = [element(1.0, 2.0), element(f64::NEG_INFINITY, f64::NAN), element(f64::INFINITY, 0.0)].concat();
        let message = |first, from: usize| {
            check_finite_from(first, &bytes[from..], DType::Complex128, ByteOrder::Big).unwrap_err().message
        };
        assert_eq!(message(0, 0), "the imaginary part of element 1 (complex128) is NaN, expected finite values");
        assert_eq!(message(7, 32), "the real part of element 7 (complex128) is +Inf, expected finite values");
        let small: Vec<u8> = [1f32, 2.0, 3.0, f32::NEG_INFINITY].iter().flat_map(|value| value.to_le_bytes()).collect();
        let error = check_finite(&small, DType::Complex64, ByteOrder::Little, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "finite: the imaginary part of element 1 (complex64) is -Inf, expected finite values"
        );
    }

    #[test]
    fn threads_find_the_same_element() {
        let mut bytes = 1.5f64.to_le_bytes().repeat(1 << 20);
        for place in [900_000usize, 700_001, 13] {
            bytes[place * 8..place * 8 + 8].copy_from_slice(&f64::NAN.to_le_bytes());
            for threads in [1, 2, 4] {
                let found = first_non_finite(&bytes, DType::Float64, ByteOrder::Little, threads);
                assert_eq!(found, Some((place as u64, Kind::Nan)));
            }
        }
        let error = check_finite(&bytes, DType::Float64, ByteOrder::Little, 2).unwrap_err();
        assert_eq!(error.to_string(), "finite: element 13 is NaN, expected finite values");
    }

    proptest! {
        #[test]
        fn the_fast_check_agrees_with_classifying_each(
            words in proptest::collection::vec(any::<u16>(), 0..300),
            offset in 0usize..40,
            which in 0usize..6,
        ) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let dtype = FLOATS[which];
            let layout = Layout::of(dtype).unwrap();
            let bytes = bytes.get(offset..).unwrap_or_default();
            let bytes = &bytes[..bytes.len() / layout.element_len() * layout.element_len()];
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let plain = bytes.chunks_exact(layout.element_len()).enumerate()
                    .find_map(|(i, element)| Some((i as u64, layout.classify(element, order)?)));
                prop_assert_eq!(first_non_finite(bytes, dtype, order, 1), plain);
            }
        }
    }
}
