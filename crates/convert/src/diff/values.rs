//! The elements of a pair of tensors.

use super::{Comparison, DiffOptions, Distance, Types};
use crate::error::{ConvertError, Side};
use crate::model::{Entry, TensorFile};
use fw_stats::{Compare, Difference, StatsError, Tolerance};
use fw_tensor::{ByteOrder, DType, swap_in_place};
use std::borrow::Cow;

/// A tensor of a file: which one, and what it is.
type Tensor<'a> = (&'a dyn TensorFile, usize, &'a Entry);

/// Compares two tensors. The second is held in memory, the first is read piece by piece; `watch` is told their lengths.
pub(super) fn compare(
    left: Tensor<'_>,
    right: Tensor<'_>,
    options: &DiffOptions,
    mut watch: impl FnMut(u64),
) -> Result<Comparison, ConvertError> {
    let ((file, index, a), (other, place, b)) = (left, right);
    if a.shape != b.shape {
        return Ok(Comparison::Shapes { left: a.shape.clone(), right: b.shape.clone() });
    }
    let types = || Comparison::Types { left: a.dtype.to_string(), right: b.dtype.to_string() };
    if a.dtype != b.dtype && options.types == Types::Strict {
        return Ok(types());
    }
    let on = |side| move |error| ConvertError::Compared { side, error: Box::new(error) };
    let second = other.data(place).map_err(on(Side::Right))?;
    let mut pair = Values::new((a.dtype, b.dtype), second, options);
    if a.dtype != b.dtype && pair.compare.is_none() {
        return Ok(types());
    }
    let mut fault = None;
    let read = file.stream(index, &mut |piece| {
        if let Err(error) = pair.take(piece) {
            fault = Some(error);
        }
        watch(piece.len() as u64);
        Ok(())
    });
    read.map_err(on(Side::Left))?;
    match fault {
        // The lengths follow from the shapes, so a reader has given too much or too little.
        Some(error) => {
            let error = ConvertError::format("length_mismatch", format!("tensor {:?}: {error}", a.name), None);
            Err(on(Side::Left)(error))
        }
        None => Ok(pair.finish(&a.shape)),
    }
}

/// Two tensors on their way.
struct Values {
    dtypes: (DType, DType),
    second: Vec<u8>,
    /// Bytes of the second tensor that are compared.
    done: usize,
    /// The begin of an element whose end is in the next piece.
    rest: Vec<u8>,
    /// Whether the bytes were equal so far.
    same: bool,
    /// Nothing where there are only bits to compare.
    compare: Option<Compare>,
}

impl Values {
    fn new((a, b): (DType, DType), second: Vec<u8>, options: &DiffOptions) -> Self {
        // A tolerance is relative to the second file's element: it takes the first place.
        let tolerance = Tolerance { rtol: options.relative, atol: options.absolute };
        let compare = Compare::new(b, a, tolerance).ok();
        Self { dtypes: (a, b), second, done: 0, rest: Vec::new(), same: a == b, compare }
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), StatsError> {
        let joined = match self.rest.is_empty() {
            true => Cow::Borrowed(piece),
            false => Cow::Owned([&std::mem::take(&mut self.rest)[..], piece].concat()),
        };
        let width = self.dtypes.0.byte_width().unwrap_or(1);
        let (whole, rest) = joined.split_at(joined.len() / width * width);
        self.rest.extend_from_slice(rest);
        let other_width = self.dtypes.1.byte_width().unwrap_or(1);
        let end = self.done.saturating_add(whole.len() / width * other_width);
        let Some(second) = self.second.get(self.done..end) else {
            let (first, second) = (end as u64, self.second.len() as u64);
            return Err(StatsError::LengthMismatch { first, second });
        };
        self.done = end;
        self.same = self.same && whole == second;
        match &mut self.compare {
            Some(compare) => compare.update(&native(self.dtypes.1, second), &native(self.dtypes.0, whole)),
            None => Ok(()),
        }
    }

    fn finish(self, shape: &[u64]) -> Comparison {
        let complete = self.done == self.second.len() && self.rest.is_empty();
        match self.compare {
            _ if self.same && complete => Comparison::Identical,
            Some(compare) if complete => judged(&compare.finish(), shape),
            _ => Comparison::DifferentBits,
        }
    }
}

fn judged(found: &Difference, shape: &[u64]) -> Comparison {
    let largest = found.max_abs.map_or(0.0, fw_stats::Scalar::to_f64);
    let distance = Distance {
        max_absolute: if found.one_nan > 0 { f64::INFINITY } else { largest },
        rmse: found.rmse,
        // The second file was taken for the first: the sign is the other way round.
        bias: found.bias.map(|bias| if bias == 0.0 { 0.0 } else { -bias }),
        relative_norm: found.relative_l2,
        cosine: found.cosine,
        differing: found.differing,
        count: found.beyond,
        first: found.first_at.unwrap_or_default(),
        first_index: found.first_at.and_then(|at| fw_stats::coordinates(shape, at)).unwrap_or_default(),
    };
    if found.beyond == 0 { Comparison::Close(distance) } else { Comparison::Different(distance) }
}

/// Little-endian elements in the order of this machine.
fn native(dtype: DType, bytes: &[u8]) -> Cow<'_, [u8]> {
    if ByteOrder::NATIVE == ByteOrder::Little {
        return Cow::Borrowed(bytes);
    }
    let mut swapped = bytes.to_vec();
    swap_in_place(&mut swapped, dtype.swap_unit());
    Cow::Owned(swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn run(dtypes: (DType, DType), first: &[u8], second: &[u8], options: &DiffOptions) -> Comparison {
        let mut found = Vec::new();
        // However the bytes come, the answer is the same.
        for piece in [1, 3, 7, first.len().max(1)] {
            let mut values = Values::new(dtypes, second.to_vec(), options);
            first.chunks(piece).for_each(|piece| values.take(piece).unwrap());
            found.push(values.finish(&[2, 2]));
        }
        assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
        found.swap_remove(0)
    }

    #[test]
    fn tolerances() {
        let (a, b) = (floats(&[1.0, 2.0, f32::NAN, 0.0]), floats(&[1.0, 2.001, f32::NAN, -0.0]));
        let single = (DType::Float32, DType::Float32);
        let with = |absolute, relative| DiffOptions::new().with_tolerance(absolute, relative);
        let Comparison::Different(found) = run(single, &a, &b, &DiffOptions::new()) else { panic!("they differ") };
        assert_eq!((found.count, found.first), (1, 1));
        assert_eq!(found.first_index, [0, 1]);
        // Of the pairs that are finite: a difference of 0.001 beside a norm of √(1 + 2.001²).
        let expected = f64::from(2.001f32 - 2.0) / (1.0 + f64::from(2.001f32).powi(2)).sqrt();
        assert!((found.relative_norm.unwrap() - expected).abs() < 1e-9, "{found:?}");
        assert!((found.cosine.unwrap() - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.bias.unwrap() - 0.001 / 3.0).abs() < 1e-6, "second minus first: {found:?}");
        assert!((found.rmse.unwrap() - 0.001 / 3f64.sqrt()).abs() < 1e-6, "{found:?}");
        assert!(run(single, &a, &b, &with(0.01, 0.0)).is_equal());
        assert!(run(single, &a, &b, &with(0.0, 0.001)).is_equal());
        assert!(!run(single, &a, &b, &with(0.0, 0.0001)).is_equal());
        assert_eq!(run(single, &a, &a, &with(0.0, 0.0)), Comparison::Identical);
        let inf = floats(&[f32::INFINITY, 2.0, f32::NAN, 0.0]);
        for (one, other) in [(&inf, &a), (&a, &inf)] {
            let Comparison::Different(found) = run(single, one, other, &with(1e300, 1e300)) else {
                panic!("no tolerance reaches infinity")
            };
            assert_eq!(found.max_absolute, f64::INFINITY);
        }
        let number = floats(&[1.0, 2.0, 5.0, 0.0]);
        assert!(!run(single, &a, &number, &with(1e300, 1e300)).is_equal(), "NaN is not close to a number");
    }

    /// As doubles these would be equal.
    #[test]
    fn integers_are_compared_exactly() {
        let (a, b) = (9_007_199_254_740_993i64.to_le_bytes(), 9_007_199_254_740_992i64.to_le_bytes());
        let long = (DType::Int64, DType::Int64);
        let Comparison::Different(found) = run(long, &a, &b, &DiffOptions::new()) else { panic!("they differ") };
        assert_eq!((found.count, found.max_absolute), (1, 1.0));
        let double = 9_007_199_254_740_992f64.to_le_bytes();
        assert!(!run((DType::Int64, DType::Float64), &a, &double, &DiffOptions::new()).is_equal());
        assert!(run((DType::Int64, DType::Float64), &b, &double, &DiffOptions::new()).is_equal());
    }
}
