//! One block of each tensor, of the same type.

use super::comparable::Comparable;
use super::sums::Sums;
use super::{Counts, Found, Known, Tolerance, exceeds};
use crate::Scalar;
use crate::lanes::{count_pairs, max_pairs, sum, sum_pairs};

/// Compares one block with the widest vector unit of the machine; `known` says what need not be searched.
pub(super) fn compare<T: Comparable>(first: &[T], second: &[T], known: Known, tolerance: Tolerance) -> Found {
    pulp::Arch::new().dispatch(Task { first, second, known, tolerance })
}

struct Task<'b, T> {
    first: &'b [T],
    second: &'b [T],
    known: Known,
    tolerance: Tolerance,
}

impl<T: Comparable> pulp::NullaryFnOnce for Task<'_, T> {
    type Output = Found;

    // Inlined, as are the loops that it calls, so that it is compiled once for every vector unit.
    #[inline(always)]
    fn call(self) -> Found {
        plain(self.first, self.second, self.known, self.tolerance)
    }
}

#[inline(always)]
fn plain<T: Comparable>(first: &[T], second: &[T], known: Known, tolerance: Tolerance) -> Found {
    let count = first.len() as u64;
    if known.same {
        let squares = sum(first, |a| a.near() * a.near());
        if squares.is_finite() {
            let sums = Sums { count, first: squares, second: squares, product: squares, ..Sums::default() };
            return Found { sums, ..Found::default() };
        }
    }
    let [squares1, squares2, product] =
        sum_pairs(first, second, |a, b| [a.near() * a.near(), b.near() * b.near(), a.near() * b.near()]);
    // NaN and infinities survive in a sum of squares, so finite ones need no look at the single values.
    if !(squares1.is_finite() && squares2.is_finite()) {
        return one_by_one(first, second, tolerance);
    }
    let [difference, squares] = sum_pairs(first, second, |a, b| [b.minus(a), b.minus(a) * b.minus(a)]);
    let greatest = max_pairs(first, second, |a, b| b.minus(a).abs());
    let sums = Sums { count, difference, squares, first: squares1, second: squares2, product };
    if greatest == 0.0 {
        return Found { sums, ..Found::default() };
    }
    let differing = count_pairs(first, second, |a, b| a != b);
    let beyond = if tolerance.is_zero() {
        differing
    } else {
        count_pairs(first, second, |a, b| !tolerance.allows(b.minus(a).abs(), a.near()))
    };
    // Of equal distances the first counts; those of long integers may still differ before rounding.
    let no_news = greatest < known.worst || T::SHORT && greatest == known.worst;
    Found {
        sums,
        counts: Counts { differing, beyond, ..Counts::default() },
        first: if known.first { None } else { first.iter().zip(second).position(|(a, b)| a != b) },
        worst: if no_news { None } else { worst(first, second, greatest) },
    }
}

/// The greatest distance and its first place, among those that round to `greatest`.
fn worst<T: Comparable>(first: &[T], second: &[T], greatest: f64) -> Option<(Scalar, usize)> {
    let mut worst: Option<(Scalar, usize)> = None;
    for (index, (a, b)) in first.iter().zip(second).enumerate() {
        if b.minus(*a).abs() == greatest {
            let distance = b.distance(*a);
            if worst.is_none_or(|(worst, _)| exceeds(distance, worst)) {
                worst = Some((distance, index));
            }
        }
    }
    worst
}

/// The same for floats with NaN, infinities, or squares beyond the range of a double.
fn one_by_one<T: Comparable>(first: &[T], second: &[T], tolerance: Tolerance) -> Found {
    let mut found = Found::default();
    for (index, (a, b)) in first.iter().zip(second).enumerate() {
        let (a, b) = (a.near(), b.near());
        match (a.is_nan(), b.is_nan()) {
            (true, true) => {
                found.counts.both_nan += 1;
                continue;
            }
            (true, false) | (false, true) => {
                found.counts.one_nan += 1;
                found.differs(index, true);
                continue;
            }
            (false, false) => {}
        }
        // Equal infinities have no difference that is a number.
        let difference = if a == b { 0.0 } else { b - a };
        let finite = a.is_finite() && b.is_finite();
        if finite {
            found.sums.add(a, b, difference);
        }
        if a != b {
            found.differs(index, !(finite && tolerance.allows(difference.abs(), a)));
            found.raise(difference.abs(), index);
        }
    }
    found
}

impl Found {
    /// Counts a pair that differs.
    pub(super) fn differs(&mut self, index: usize, beyond: bool) {
        self.counts.differing += 1;
        self.counts.beyond += u64::from(beyond);
        self.first = self.first.or(Some(index));
    }

    /// Notes a difference of floats.
    pub(super) fn raise(&mut self, difference: f64, index: usize) {
        if self.worst.is_none_or(|(worst, _)| exceeds(Scalar::Float(difference), worst)) {
            self.worst = Some((Scalar::Float(difference), index));
        }
    }
}
