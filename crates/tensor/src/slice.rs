//! N-dimensional selections, planned as the fewest contiguous runs of elements.

use crate::TensorError;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// What to take along one axis. Bounds may be negative, counting from the end, and are clamped as in NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AxisSlice {
    /// One index; the axis disappears from the result.
    Index(i64),
    /// `start..end` with a step; absent bounds mean the ends of the axis in the direction of the step.
    Range {
        /// First index.
        start: Option<i64>,
        /// One past the last index.
        end: Option<i64>,
        /// Distance between indices; never zero.
        step: i64,
    },
    /// Everything along as many axes as are not named; at most one per slice.
    Ellipsis,
}

impl AxisSlice {
    /// The whole axis.
    pub const FULL: Self = Self::Range { start: None, end: None, step: 1 };

    /// A plain range; a bound that no axis reaches is the end.
    fn range(start: Option<i64>, end: Option<i64>) -> Self {
        Self::Range { start: Some(start.unwrap_or(i64::MAX)), end, step: 1 }
    }

    /// `start..end` taking every `step`-th element.
    pub fn stepped(range: impl Into<Self>, step: i64) -> Self {
        match range.into() {
            Self::Range { start, end, .. } => Self::Range { start, end, step },
            other => other,
        }
    }
}

/// Bounds of every integer type in use; literals need no suffix. What is beyond `i64` is beyond every axis.
macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for AxisSlice {
            fn from(index: $integer) -> Self {
                Self::Index(index.try_into().unwrap_or(i64::MAX))
            }
        }

        impl From<Range<$integer>> for AxisSlice {
            fn from(range: Range<$integer>) -> Self {
                Self::range(range.start.try_into().ok(), range.end.try_into().ok())
            }
        }

        impl From<RangeInclusive<$integer>> for AxisSlice {
            fn from(range: RangeInclusive<$integer>) -> Self {
                let (start, end) = range.into_inner();
                Self::Range { start: Some(start.try_into().unwrap_or(i64::MAX)), end: behind(end.try_into().ok()), step: 1 }
            }
        }

        impl From<RangeToInclusive<$integer>> for AxisSlice {
            fn from(range: RangeToInclusive<$integer>) -> Self {
                Self::Range { start: None, end: behind(range.end.try_into().ok()), step: 1 }
            }
        }

        impl From<RangeFrom<$integer>> for AxisSlice {
            fn from(range: RangeFrom<$integer>) -> Self {
                Self::Range { start: Some(range.start.try_into().unwrap_or(i64::MAX)), end: None, step: 1 }
            }
        }

        impl From<RangeTo<$integer>> for AxisSlice {
            fn from(range: RangeTo<$integer>) -> Self {
                Self::Range { start: None, end: range.end.try_into().ok(), step: 1 }
            }
        }
    )*};
}

from_integers!(i32, i64, usize, u64);

/// The bound one past `last`; `..=-1` ends at the end of the axis, which has no index of its own.
fn behind(last: Option<i64>) -> Option<i64> {
    last.filter(|last| *last != -1).and_then(|last| last.checked_add(1))
}

impl From<RangeFull> for AxisSlice {
    fn from(_: RangeFull) -> Self {
        Self::FULL
    }
}

/// A selection of axes, resolved against a shape by [`Selection::plan`]. Every function that takes a selection takes
/// one index or range, a tuple of up to eight of them, or an array of slices of one kind as well;
/// [`select!`](crate::select) also writes steps.
///
/// ```
/// use fw_tensor::{Selection, select};
///
/// let plan = select![0..2, 1..3].plan(&[4, 5]).unwrap();
/// assert_eq!(plan.shape(), [2, 2]);
/// assert_eq!(plan.runs().collect::<Vec<_>>(), [1..3, 6..8]);
/// assert_eq!(select![0..2, 1..3], Selection::new().axis(0..2).axis(1..3));
/// assert_eq!(select![0..2, 1..3], Selection::from([0..2, 1..3]));
/// assert_eq!(select![0..2, 3, ..], Selection::from((0..2, 3, ..)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    axes: Vec<AxisSlice>,
}

impl Selection {
    /// Nothing named yet: everything is taken.
    pub const fn new() -> Self {
        Self { axes: Vec::new() }
    }

    /// Names what to take along the next axis.
    #[must_use]
    pub fn axis(mut self, slice: impl Into<AxisSlice>) -> Self {
        self.axes.push(slice.into());
        self
    }

    /// Names `slice` with a step along the next axis.
    #[must_use]
    pub fn stepped(self, slice: impl Into<AxisSlice>, step: i64) -> Self {
        self.axis(AxisSlice::stepped(slice, step))
    }

    /// Takes everything along the axes that the rest of the selection does not name.
    #[must_use]
    pub fn ellipsis(self) -> Self {
        self.axis(AxisSlice::Ellipsis)
    }

    /// Resolves the selection against a shape.
    ///
    /// # Errors
    /// Too many axes, an index out of bounds, a zero step, or a shape whose element count overflows.
    pub fn plan(&self, shape: &[u64]) -> Result<SlicePlan, TensorError> {
        let axes = self
            .expanded(shape.len())?
            .into_iter()
            .zip(shape)
            .enumerate()
            .map(|(axis, (slice, len))| resolve(axis, slice, *len))
            .collect::<Result<Vec<_>, _>>()?;
        SlicePlan::new(shape, &axes)
    }

    /// What is taken along each axis of a tensor of `rank` axes; those that are not named are taken whole.
    ///
    /// # Errors
    /// Too many axes.
    pub fn expanded(&self, rank: usize) -> Result<Vec<AxisSlice>, TensorError> {
        let named = self.axes.iter().filter(|slice| **slice != AxisSlice::Ellipsis).count();
        let ellipses = self.axes.len() - named;
        if named > rank || ellipses > 1 {
            return Err(TensorError::TooManyAxes { rank, found: self.axes.len() });
        }
        // The ellipsis stands for the axes that are not named; without one, they come last.
        let unnamed = std::iter::repeat_n(AxisSlice::FULL, rank - named);
        let (before, after) = match self.axes.iter().position(|slice| *slice == AxisSlice::Ellipsis) {
            Some(place) => (&self.axes[..place], &self.axes[place + 1..]),
            None => (&self.axes[..], &[][..]),
        };
        Ok(before.iter().copied().chain(unnamed).chain(after.iter().copied()).collect())
    }
}

impl<S: Into<AxisSlice>> FromIterator<S> for Selection {
    fn from_iter<I: IntoIterator<Item = S>>(slices: I) -> Self {
        Self { axes: slices.into_iter().map(Into::into).collect() }
    }
}

impl From<&Selection> for Selection {
    fn from(selection: &Selection) -> Self {
        selection.clone()
    }
}

impl<S: Into<AxisSlice>, const N: usize> From<[S; N]> for Selection {
    fn from(slices: [S; N]) -> Self {
        slices.into_iter().collect()
    }
}

impl<S: Into<AxisSlice> + Clone, const N: usize> From<&[S; N]> for Selection {
    fn from(slices: &[S; N]) -> Self {
        slices.iter().cloned().collect()
    }
}

/// A [`Selection`] as it is written in NumPy: indices, ranges, and ranges with a step behind a semicolon, axis by axis.
/// Negative numbers count from the end; axes that are not named are taken whole.
///
/// ```
/// use fw_tensor::{AxisSlice, select};
///
/// let shape = [10, 20, 30];
/// // rows 0 to 9 by threes, the last column, all levels but the first in reverse order
/// let plan = select![0..10; 3, -1, ..0; -1].plan(&shape).unwrap();
/// assert_eq!(plan.shape(), [4, 29]);
/// assert_eq!(select![.., 5..].plan(&shape).unwrap().shape(), [10, 15, 30]);
/// assert_eq!(select![AxisSlice::Ellipsis, 2..=4].plan(&shape).unwrap().shape(), [10, 20, 3]);
/// ```
#[macro_export]
macro_rules! select {
    (@axis $slice:expr; $step:expr) => { $crate::AxisSlice::stepped($slice, $step) };
    (@axis $slice:expr) => { $slice };
    ($($slice:expr $(; $step:expr)?),* $(,)?) => {
        $crate::Selection::new()$(.axis($crate::select!(@axis $slice $(; $step)?)))*
    };
}

/// Which elements a selection takes from a row-major tensor, as contiguous runs in output order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlicePlan {
    shape: Vec<u64>,
    first: u64,
    run_len: u64,
    outer: Vec<Outer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outer {
    count: u64,
    stride: i128,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    start: u64,
    step: i64,
    count: u64,
    kept: bool,
}

impl SlicePlan {
    fn new(shape: &[u64], axes: &[Axis]) -> Result<Self, TensorError> {
        crate::element_count(shape)?;
        let mut first = 0u64;
        let mut stride = 1u64;
        let mut run_len = 1u64;
        let mut joined = true;
        let mut outer = Vec::new();
        for (axis, len) in axes.iter().zip(shape).rev() {
            // An empty axis makes the plan empty; its stride products are then never used.
            first = first.saturating_add(axis.start.saturating_mul(stride));
            if joined && axis.step == 1 {
                run_len *= axis.count;
                // Only a full axis leaves the run open for the next one to continue.
                joined = axis.count == *len;
            } else if axis.count != 1 {
                outer.push(Outer { count: axis.count, stride: i128::from(axis.step) * i128::from(stride) });
                joined = false;
            } else {
                joined = joined && *len == 1;
            }
            stride = stride.saturating_mul(*len);
        }
        outer.reverse();
        let shape = axes.iter().filter(|axis| axis.kept).map(|axis| axis.count).collect();
        Ok(Self { shape, first, run_len, outer })
    }

    /// Shape of the result.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Elements of the result.
    pub fn element_count(&self) -> u64 {
        self.run_count() * self.run_len
    }

    /// Elements in each run; every run has the same length.
    pub const fn run_len(&self) -> u64 {
        self.run_len
    }

    /// How many runs there are.
    pub fn run_count(&self) -> u64 {
        if self.run_len == 0 { 0 } else { self.outer.iter().map(|axis| axis.count).product() }
    }

    /// The smallest element range that covers every run.
    pub fn bounds(&self) -> Range<u64> {
        if self.element_count() == 0 {
            return 0..0;
        }
        let (mut low, mut high) = (i128::from(self.first), i128::from(self.first));
        for axis in &self.outer {
            let reach = axis.stride * i128::from(axis.count - 1);
            if reach < 0 { low += reach } else { high += reach }
        }
        // The runs lie inside the tensor, whose element count fits in 64 bits.
        low as u64..high as u64 + self.run_len
    }

    /// The runs, in output order.
    pub fn runs(&self) -> impl Iterator<Item = Range<u64>> + Clone + '_ {
        let mut counters = vec![0u64; self.outer.len()];
        let mut position = i128::from(self.first);
        let mut left = self.run_count();
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            left -= 1;
            let start = position as u64;
            for (counter, axis) in counters.iter_mut().zip(&self.outer).rev() {
                *counter += 1;
                position += axis.stride;
                if *counter < axis.count {
                    break;
                }
                position -= axis.stride * i128::from(axis.count);
                *counter = 0;
            }
            Some(start..start + self.run_len)
        })
    }
}

fn resolve(axis: usize, slice: AxisSlice, len: u64) -> Result<Axis, TensorError> {
    let signed = i128::from(len);
    match slice {
        AxisSlice::Index(index) => {
            let position = if index < 0 { i128::from(index) + signed } else { i128::from(index) };
            if !(0..signed).contains(&position) {
                return Err(TensorError::OutOfBounds { axis, index, len });
            }
            Ok(Axis { start: position as u64, step: 1, count: 1, kept: false })
        }
        AxisSlice::Range { step: 0, .. } => Err(TensorError::ZeroStep { axis }),
        AxisSlice::Range { start, end, step } => {
            let (lowest, highest) = if step > 0 { (0, signed) } else { (-1, signed - 1) };
            let clamp = |bound: Option<i64>, absent: i128| match bound {
                None => absent,
                Some(bound) if bound < 0 => (i128::from(bound) + signed).clamp(lowest, highest),
                Some(bound) => i128::from(bound).clamp(lowest, highest),
            };
            let (start, end) = if step > 0 {
                (clamp(start, lowest), clamp(end, highest))
            } else {
                (clamp(start, highest), clamp(end, lowest))
            };
            let distance = if step > 0 { end - start } else { start - end };
            let count = if distance <= 0 { 0 } else { (distance as u128).div_ceil(step.unsigned_abs().into()) as u64 };
            let start = if count == 0 { 0 } else { start as u64 };
            // One element needs no step; saying 1 lets it join its neighbours in one run.
            let step = if count == 1 { 1 } else { step };
            Ok(Axis { start, step, count, kept: true })
        }
        // `Selection::plan` replaced it; treating it as a full axis keeps this total.
        AxisSlice::Ellipsis => Ok(Axis { start: 0, step: 1, count: len, kept: true }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The plain twin: every selected element, one by one.
    fn naive(shape: &[u64], axes: &[AxisSlice]) -> Vec<u64> {
        let resolved: Vec<Axis> = axes.iter().zip(shape).map(|(s, len)| resolve(0, *s, *len).unwrap()).collect();
        let strides = crate::row_major_strides(shape).unwrap();
        let mut elements = vec![0u64];
        for (axis, stride) in resolved.iter().zip(&strides) {
            elements = elements
                .iter()
                .flat_map(|base| {
                    (0..axis.count).map(move |i| {
                        (*base as i128 + (axis.start as i128 + axis.step as i128 * i as i128) * *stride as i128) as u64
                    })
                })
                .collect();
        }
        elements
    }

    #[test]
    fn full_axes_join_into_one_run() {
        let plan = Selection::new().axis(1..3).plan(&[4, 5, 6]).unwrap();
        assert!(plan.runs().eq(std::iter::once(30..90)));
        let plan = Selection::new().axis(1).ellipsis().axis(-1).plan(&[4, 5, 6]).unwrap();
        assert_eq!(plan.shape(), [5]);
        assert_eq!(plan.runs().map(|run| run.start).collect::<Vec<_>>(), [35, 41, 47, 53, 59]);
    }

    #[test]
    fn bounds_outside_are_clamped_and_indices_are_not() {
        let plan = Selection::new().axis(-100..100).plan(&[4]).unwrap();
        assert!(plan.runs().eq(std::iter::once(0..4)));
        assert!(Selection::new().axis(4).plan(&[4]).is_err());
        assert!(Selection::new().stepped(.., 0).plan(&[4]).is_err());
        assert!(Selection::new().axis(0).axis(0).plan(&[4]).is_err());
        let reversed = Selection::new().stepped(.., -1).plan(&[4]).unwrap();
        assert_eq!(reversed.runs().map(|r| r.start).collect::<Vec<_>>(), [3, 2, 1, 0]);
        assert_eq!(reversed.bounds(), 0..4);
    }

    proptest! {
        #[test]
        fn plans_equal_the_plain_twin(
            dims in prop::collection::vec((0u64..5, -7i64..7, -7i64..7, prop::sample::select(vec![-3i64, -2, -1, 1, 2, 3])), 0..4)
        ) {
            let shape: Vec<u64> = dims.iter().map(|d| d.0).collect();
            let axes: Vec<AxisSlice> = dims.iter()
                .map(|(_, start, end, step)| AxisSlice::Range { start: Some(*start), end: Some(*end), step: *step })
                .collect();
            let plan = axes.iter().copied().collect::<Selection>().plan(&shape).unwrap();
            let elements: Vec<u64> = plan.runs().flatten().collect();
            prop_assert_eq!(&elements, &naive(&shape, &axes));
            prop_assert_eq!(elements.len() as u64, plan.element_count());
            if let (Some(low), Some(high)) = (elements.iter().min(), elements.iter().max()) {
                prop_assert_eq!(plan.bounds(), *low..*high + 1);
            }
        }
    }
}
