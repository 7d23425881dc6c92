//! How two tensors differ.

mod comparable; // values that are compared
mod kernel; // blocks of the same type
mod mixed; // blocks of different types
mod sums; // what is summed over pairs

use crate::block::{Block, width};
use crate::tree::Tree;
use crate::{BLOCK, Scalar, StatsError};
use fw_tensor::{DType, Element};
use sums::Sums;
use zerocopy::IntoBytes;

/// How far two values may be apart to count as close: `|second - first| <= atol + rtol * |first|`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Relative to the first value.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

/// How two tensors of the same number of elements differ. The names of the fields are those of the JSON form.
///
/// Values are compared, not bits: 0.0 equals -0.0, NaN equals NaN, and an integer equals a float of exactly its value.
/// `rmse`, `bias`, `relative_l2` and `cosine` are of the pairs in which both values are finite. The two parts of a
/// complex number are compared, and counted, one by one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// Number of pairs.
    pub count: u64,
    /// Pairs in which both values are finite.
    pub finite: u64,
    /// Pairs that differ at all.
    pub differing: u64,
    /// Pairs that differ by more than the tolerance.
    pub beyond: u64,
    /// Pairs of two NaN.
    pub both_nan: u64,
    /// Pairs of a NaN and a number.
    pub one_nan: u64,
    /// Position of the first pair that differs, in row-major order.
    pub first_at: Option<u64>,
    /// The greatest absolute difference, exact between integers; infinite where only one value is. `None` when no two
    /// numbers differ.
    pub max_abs: Option<Scalar>,
    /// Position of its first occurrence.
    pub max_abs_at: Option<u64>,
    /// Root of the mean squared difference.
    pub rmse: Option<f64>,
    /// Mean of second minus first.
    pub bias: Option<f64>,
    /// Norm of the difference over the norm of the first tensor; `None` when only that is zero.
    pub relative_l2: Option<f64>,
    /// Cosine of the angle between the two as vectors; `None` when one is zero.
    pub cosine: Option<f64>,
}

/// Compares two tensors chunk by chunk, of equal or different element types.
///
/// ```
/// use fw_stats::{Compare, Scalar, Tolerance};
/// use fw_tensor::DType;
///
/// let mut compare = Compare::new(DType::Int64, DType::Float64, Tolerance::default())?;
/// compare.update_values(&[1i64, 9007199254740993], &[1.0f64, 9007199254740992.0])?;
/// let difference = compare.finish();
/// assert_eq!((difference.differing, difference.first_at), (1, Some(1))); // as doubles they would be equal
/// # Ok::<(), fw_stats::StatsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compare {
    pair: Pair,
    tolerance: Tolerance,
    start: u64,
    count: u64,
    carry: (Vec<u8>, Vec<u8>),
    tree: Tree<Sums>,
    counts: Counts,
    first_at: Option<u64>,
    worst: Option<(Scalar, u64)>,
}

/// The types of both sides, complex ones as their parts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    first: DType,
    second: DType,
    widths: (usize, usize),
    /// Parts per element: 2 for complex numbers.
    parts: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    differing: u64,
    beyond: u64,
    both_nan: u64,
    one_nan: u64,
}

/// What earlier blocks gave, so that it is not searched again.
#[derive(Clone, Copy)]
struct Known {
    /// The bytes of both blocks are equal.
    same: bool,
    /// A pair that differs was found.
    first: bool,
    /// The greatest absolute difference so far.
    worst: f64,
}

/// What is found in one block.
#[derive(Default)]
struct Found {
    sums: Sums,
    counts: Counts,
    /// The first pair that differs.
    first: Option<usize>,
    /// The greatest absolute difference and its first place.
    worst: Option<(Scalar, usize)>,
}

impl Compare {
    /// Of tensors with these element types.
    ///
    /// # Errors
    /// When elements are smaller than a byte, or only one of the types is complex.
    pub fn new(first: DType, second: DType, tolerance: Tolerance) -> Result<Self, StatsError> {
        Self::starting_at(first, second, tolerance, 0)
    }

    /// Of parts of two tensors that start at an element, for [`Compare::merge`].
    ///
    /// # Errors
    /// As [`Compare::new`], and when `start` is not a multiple of [`BLOCK`].
    pub fn starting_at(first: DType, second: DType, tolerance: Tolerance, start: u64) -> Result<Self, StatsError> {
        if !start.is_multiple_of(BLOCK as u64) {
            return Err(StatsError::NotAtBlock { start });
        }
        let (part1, part2) = (part_of(first), part_of(second));
        if (part1 == first) != (part2 == second) {
            return Err(StatsError::Mismatch("kinds (complex and real)"));
        }
        let parts = if part1 == first { 1 } else { 2 };
        let pair = Pair { first: part1, second: part2, widths: (width(part1)?, width(part2)?), parts };
        Ok(Self {
            pair,
            tolerance,
            start: start * parts,
            count: 0,
            carry: Default::default(),
            tree: Tree::new(),
            counts: Counts::default(),
            first_at: None,
            worst: None,
        })
    }

    /// Takes the next bytes of both tensors, in the machine's byte order: whole elements, as many of one as of the
    /// other.
    ///
    /// # Errors
    /// When they are not. Nothing is taken then.
    pub fn update(&mut self, first: &[u8], second: &[u8]) -> Result<(), StatsError> {
        let (width1, width2) = self.pair.widths;
        for (dtype, bytes) in [(self.pair.first, first.len() % width1), (self.pair.second, second.len() % width2)] {
            if bytes > 0 {
                return Err(StatsError::PartialElement { dtype, bytes });
            }
        }
        let (len, len2) = (first.len() / width1, second.len() / width2);
        if len != len2 {
            return Err(StatsError::LengthMismatch { first: len as u64, second: len2 as u64 });
        }
        let mut done = 0;
        while done < len {
            let held = self.carry.0.len() / width1;
            let take = (BLOCK - held).min(len - done);
            let one = &first[done * width1..(done + take) * width1];
            let two = &second[done * width2..(done + take) * width2];
            if take == BLOCK {
                self.add(one, two);
            } else {
                self.carry.0.extend_from_slice(one);
                self.carry.1.extend_from_slice(two);
                if held + take == BLOCK {
                    self.add_carry();
                }
            }
            done += take;
        }
        Ok(())
    }

    /// Takes the next values of both tensors.
    ///
    /// # Errors
    /// When element types or numbers of values differ.
    pub fn update_values<A: Element, B: Element>(&mut self, first: &[A], second: &[B]) -> Result<(), StatsError> {
        for (expected, found) in [(self.pair.first, A::DTYPE), (self.pair.second, B::DTYPE)] {
            if expected != part_of(found) {
                return Err(StatsError::WrongType { expected, found });
            }
        }
        self.update(first.as_bytes(), second.as_bytes())
    }

    /// Adds the parts of both tensors that follow.
    ///
    /// # Errors
    /// When types or tolerance differ, or `next` does not start where this part ends, at a whole block.
    pub fn merge(&mut self, next: Self) -> Result<(), StatsError> {
        if self.pair != next.pair || self.tolerance != next.tolerance {
            return Err(StatsError::Mismatch("element types or tolerance"));
        }
        let end = self.start + self.count + (self.carry.0.len() / self.pair.widths.0) as u64;
        if !self.carry.0.is_empty() || end != next.start {
            return Err(StatsError::NotAdjacent {
                expected: end / self.pair.parts,
                found: next.start / self.pair.parts,
            });
        }
        self.count += next.count;
        self.carry = next.carry;
        self.tree.append(next.tree);
        self.counts.add(next.counts);
        self.first_at = self.first_at.or(next.first_at);
        if let Some((worst, at)) = next.worst {
            self.raise(worst, at);
        }
        Ok(())
    }

    /// The difference of everything that was fed.
    pub fn finish(mut self) -> Difference {
        if !self.carry.0.is_empty() {
            self.add_carry();
        }
        let sums = self.tree.finish().unwrap_or_default();
        let finite = |value: f64| value.is_finite().then_some(value);
        let some = sums.count > 0;
        Difference {
            count: self.count,
            finite: sums.count,
            differing: self.counts.differing,
            beyond: self.counts.beyond,
            both_nan: self.counts.both_nan,
            one_nan: self.counts.one_nan,
            first_at: self.first_at.map(|at| at / self.pair.parts),
            max_abs: self.worst.map(|(worst, _)| worst),
            max_abs_at: self.worst.map(|(_, at)| at / self.pair.parts),
            rmse: some.then(|| (sums.squares / sums.count as f64).sqrt()),
            bias: some.then(|| sums.difference / sums.count as f64),
            relative_l2: match sums.squares {
                0.0 => some.then_some(0.0),
                squares => finite((squares / sums.first).sqrt()),
            },
            cosine: finite(sums.product / (sums.first.sqrt() * sums.second.sqrt()))
                .map(|cosine| cosine.clamp(-1.0, 1.0)),
        }
    }

    fn add_carry(&mut self) {
        let (first, second) = std::mem::take(&mut self.carry);
        self.add(&first, &second);
    }

    fn add(&mut self, first: &[u8], second: &[u8]) {
        let blocks = (Block::load(self.pair.first, first), Block::load(self.pair.second, second));
        let (Ok(one), Ok(two)) = blocks else { return };
        let known = Known {
            same: self.pair.first == self.pair.second && first == second,
            first: self.first_at.is_some(),
            worst: self.worst.map_or(0.0, |(worst, _)| worst.to_f64()),
        };
        let found = same_type!(one, two, (a, b) => kernel::compare(a, b, known, self.tolerance),
            _ => mixed::compare(&one, &two, known, self.tolerance));
        let at = self.start + self.count;
        self.first_at = self.first_at.or(found.first.map(|index| at + index as u64));
        if let Some((worst, index)) = found.worst {
            self.raise(worst, at + index as u64);
        }
        self.counts.add(found.counts);
        self.tree.push(at / BLOCK as u64, found.sums);
        self.count += (first.len() / self.pair.widths.0) as u64;
    }

    /// Keeps the earlier of two equal differences.
    fn raise(&mut self, worst: Scalar, at: u64) {
        if self.worst.is_none_or(|(own, _)| exceeds(worst, own)) {
            self.worst = Some((worst, at));
        }
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.differing += other.differing;
        self.beyond += other.beyond;
        self.both_nan += other.both_nan;
        self.one_nan += other.one_nan;
    }
}

impl Tolerance {
    /// True when a difference that is not zero is allowed.
    fn allows(self, difference: f64, first: f64) -> bool {
        difference <= self.atol + self.rtol * first.abs()
    }

    fn is_zero(self) -> bool {
        self.rtol == 0.0 && self.atol == 0.0
    }
}

fn part_of(dtype: DType) -> DType {
    match dtype {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        other => other,
    }
}

/// True when a difference is greater than another; those of one pair of tensors are of one kind.
fn exceeds(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Integer(a), Scalar::Integer(b)) => a > b,
        (a, b) => a.to_f64() > b.to_f64(),
    }
}

/// Runs an expression on two blocks of the same type, or another on those of different types.
macro_rules! same_type {
    ($one:ident, $two:ident, ($a:ident, $b:ident) => $same:expr, _ => $other:expr) => {
        same_type!(@ $one, $two, $a, $b, $same, $other; F32 F64 I8 I16 I32 I64 U8 U16 U32 U64)
    };
    (@ $one:ident, $two:ident, $a:ident, $b:ident, $same:expr, $other:expr; $($kind:ident)*) => {
        match (&$one, &$two) {
            $((Block::$kind($a), Block::$kind($b)) => $same,)*
            _ => $other,
        }
    };
}
use same_type;
