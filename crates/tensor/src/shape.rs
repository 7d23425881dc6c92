//! Element counts, byte lengths and strides, with checked arithmetic.

use crate::{DType, TensorError};

/// Product of the dimensions, left to right; an empty shape is one element.
///
/// # Errors
/// When the running product overflows, even if a later dimension is zero.
pub fn element_count(shape: &[u64]) -> Result<u64, TensorError> {
    shape
        .iter()
        .try_fold(1u64, |count, dimension| count.checked_mul(*dimension))
        .ok_or_else(|| TensorError::ShapeOverflow { shape: shape.to_vec() })
}

/// Bytes of a tensor: elements times width, sub-byte types rounded up to whole bytes for the tensor as a whole.
///
/// # Errors
/// When the product overflows.
pub fn byte_len(dtype: DType, shape: &[u64]) -> Result<u64, TensorError> {
    let count = element_count(shape)?;
    let overflow = || TensorError::ShapeOverflow { shape: shape.to_vec() };
    match dtype.byte_width() {
        Some(width) => count.checked_mul(width as u64).ok_or_else(overflow),
        None => Ok(u64::try_from((u128::from(count) * u128::from(dtype.bits())).div_ceil(8)).map_err(|_| overflow())?),
    }
}

/// Strides in elements for the last axis varying fastest.
///
/// # Errors
/// When a stride overflows.
pub fn row_major_strides(shape: &[u64]) -> Result<Vec<u64>, TensorError> {
    let mut strides = vec![1u64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis]
            .checked_mul(shape[axis])
            .ok_or_else(|| TensorError::ShapeOverflow { shape: shape.to_vec() })?;
    }
    Ok(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_the_left_to_right_rule() {
        assert_eq!(element_count(&[]), Ok(1));
        assert_eq!(element_count(&[1 << 40, 0, 1 << 40]), Ok(0));
        assert!(element_count(&[1 << 40, 1 << 40, 0]).is_err());
        assert_eq!(byte_len(DType::Bitmask, &[9]), Ok(2));
        assert_eq!(byte_len(DType::Float4, &[3]), Ok(2));
        assert_eq!(byte_len(DType::Complex128, &[2, 3]), Ok(96));
        assert!(byte_len(DType::Float64, &[1 << 61]).is_err());
    }

    #[test]
    fn strides_are_row_major() {
        assert_eq!(row_major_strides(&[]), Ok(vec![]));
        assert_eq!(row_major_strides(&[2, 3, 4]), Ok(vec![12, 4, 1]));
        assert_eq!(row_major_strides(&[3, 0, 2]), Ok(vec![0, 2, 1]));
        assert!(row_major_strides(&[1, 1 << 40, 1 << 40]).is_err());
    }
}
