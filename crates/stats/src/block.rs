//! The bytes of one block as values.

use crate::StatsError;
use crate::sizes::BLOCK;
use crate::small_float::{SmallFloat, table};
use fw_tensor::{DType, Element};
use half::f16;
use half::slice::HalfFloatSliceExt;
use std::borrow::Cow;
use zerocopy::FromBytes;

/// Values of one block, borrowed where type and alignment allow it. Narrow floats are widened, which is exact; complex
/// numbers are their moduli.
pub(crate) enum Block<'a> {
    F32(Cow<'a, [f32]>),
    F64(Cow<'a, [f64]>),
    I8(Cow<'a, [i8]>),
    I16(Cow<'a, [i16]>),
    I32(Cow<'a, [i32]>),
    I64(Cow<'a, [i64]>),
    U8(Cow<'a, [u8]>),
    U16(Cow<'a, [u16]>),
    U32(Cow<'a, [u32]>),
    U64(Cow<'a, [u64]>),
}

/// Runs an expression on the values of a block, whatever their type.
macro_rules! each_block {
    ($block:expr, $values:ident => $body:expr) => {
        match $block {
            $crate::block::Block::F32($values) => $body,
            $crate::block::Block::F64($values) => $body,
            $crate::block::Block::I8($values) => $body,
            $crate::block::Block::I16($values) => $body,
            $crate::block::Block::I32($values) => $body,
            $crate::block::Block::I64($values) => $body,
            $crate::block::Block::U8($values) => $body,
            $crate::block::Block::U16($values) => $body,
            $crate::block::Block::U32($values) => $body,
            $crate::block::Block::U64($values) => $body,
        }
    };
}
pub(crate) use each_block;

/// Bytes of one element of a type that is supported.
pub(crate) fn width(dtype: DType) -> Result<usize, StatsError> {
    dtype.byte_width().ok_or(StatsError::Unsupported(dtype))
}

impl<'a> Block<'a> {
    /// Whole elements in native byte order. The caller has checked the type with [`width`].
    pub(crate) fn load(dtype: DType, bytes: &'a [u8]) -> Result<Self, StatsError> {
        let small = |kind| {
            let table = table(kind);
            Self::F32(bytes.iter().map(|byte| table[usize::from(*byte)]).collect())
        };
        Ok(match dtype {
            DType::Float32 => Self::F32(values(bytes)),
            DType::Float64 => Self::F64(values(bytes)),
            DType::Int8 => Self::I8(values(bytes)),
            DType::Int16 => Self::I16(values(bytes)),
            DType::Int32 => Self::I32(values(bytes)),
            DType::Int64 => Self::I64(values(bytes)),
            DType::UInt8 | DType::Bool => Self::U8(Cow::Borrowed(bytes)),
            DType::UInt16 => Self::U16(values(bytes)),
            DType::UInt32 => Self::U32(values(bytes)),
            DType::UInt64 => Self::U64(values(bytes)),
            DType::Float16 => {
                let narrow: Cow<'_, [f16]> = values(bytes);
                let mut wide = vec![0.0; narrow.len()];
                narrow.convert_to_f32_slice(&mut wide);
                Self::F32(wide.into())
            }
            DType::BFloat16 => {
                let narrow: Cow<'_, [u16]> = values(bytes);
                Self::F32(narrow.iter().map(|bits| f32::from_bits(u32::from(*bits) << 16)).collect())
            }
            DType::Complex64 => {
                let pairs: Cow<'_, [[f32; 2]]> = values(bytes);
                Self::F64(pairs.iter().map(|[re, im]| modulus(f64::from(*re), f64::from(*im))).collect())
            }
            DType::Complex128 => {
                let pairs: Cow<'_, [[f64; 2]]> = values(bytes);
                Self::F64(pairs.iter().map(|[re, im]| modulus(*re, *im)).collect())
            }
            DType::Float8E4M3 => small(SmallFloat::E4M3),
            DType::Float8E5M2 => small(SmallFloat::E5M2),
            DType::Float8E4M3Fnuz => small(SmallFloat::E4M3Fnuz),
            DType::Float8E5M2Fnuz => small(SmallFloat::E5M2Fnuz),
            DType::Float8E8M0 => small(SmallFloat::E8M0),
            DType::Bitmask | DType::Float6E2M3 | DType::Float6E3M2 | DType::Float4 => {
                return Err(StatsError::Unsupported(dtype));
            }
        })
    }

    /// The values as doubles: exact but for 64-bit integers.
    pub(crate) fn to_f64(&self) -> Cow<'_, [f64]> {
        fn wide<T: Copy + Into<f64>>(values: &[T]) -> Cow<'_, [f64]> {
            values.iter().map(|value| (*value).into()).collect()
        }
        match self {
            Self::F64(values) => Cow::Borrowed(values),
            Self::F32(values) => wide(values),
            Self::I8(values) => wide(values),
            Self::I16(values) => wide(values),
            Self::I32(values) => wide(values),
            Self::U8(values) => wide(values),
            Self::U16(values) => wide(values),
            Self::U32(values) => wide(values),
            Self::I64(values) => values.iter().map(|value| *value as f64).collect(),
            Self::U64(values) => values.iter().map(|value| *value as f64).collect(),
        }
    }
}

/// The elements of a tensor as doubles: narrow floats and integers up to 53 bits exactly, complex numbers by their modulus.
///
/// # Errors
/// When the elements are smaller than a byte, or the bytes end inside an element.
///
/// ```
/// use fw_tensor::DType;
///
/// let bytes = [1.5f32, f32::NAN].map(f32::to_ne_bytes).concat();
/// assert_eq!(fw_stats::to_f64(DType::Float32, &bytes)?[0], 1.5);
/// # Ok::<(), fw_stats::StatsError>(())
/// ```
pub fn to_f64(dtype: DType, bytes: &[u8]) -> Result<Vec<f64>, StatsError> {
    let width = width(dtype)?;
    if !bytes.len().is_multiple_of(width) {
        return Err(StatsError::PartialElement { dtype, bytes: bytes.len() % width });
    }
    let mut values = Vec::with_capacity(bytes.len() / width);
    for block in bytes.chunks(BLOCK * width) {
        values.extend_from_slice(&Block::load(dtype, block)?.to_f64());
    }
    Ok(values)
}

/// NaN where either part is NaN; `hypot` alone prefers infinity.
fn modulus(re: f64, im: f64) -> f64 {
    if re.is_nan() || im.is_nan() { f64::NAN } else { re.hypot(im) }
}

fn values<T: Element>(bytes: &[u8]) -> Cow<'_, [T]> {
    match <[T]>::ref_from_bytes(bytes) {
        Ok(values) => Cow::Borrowed(values),
        Err(_) => {
            // Not aligned for `T`: one block is copied.
            let mut values = vec![T::new_zeroed(); bytes.len() / size_of::<T>()];
            let len = values.len() * size_of::<T>();
            zerocopy::IntoBytes::as_mut_bytes(values.as_mut_slice()).copy_from_slice(&bytes[..len]);
            Cow::Owned(values)
        }
    }
}
