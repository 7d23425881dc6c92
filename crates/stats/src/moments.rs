//! Count, mean and squared deviations of a block, and how neighbouring parts combine.

use crate::block::Block;
use crate::lanes::{Wide, count, min_max, sum, sums};
use crate::tree::Merge;
use crate::{BLOCK, Scalar};

/// What one pass over a block finds.
pub(crate) struct Facts {
    pub(crate) part: Part,
    pub(crate) nan: u64,
    pub(crate) pos_inf: u64,
    pub(crate) neg_inf: u64,
    pub(crate) zeros: u64,
    /// The least and the greatest finite value.
    pub(crate) range: Option<(Scalar, Scalar)>,
}

/// Finite values of a run of blocks.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// `deviation` is the sum of squared distances from the mean. The mean is `mean + low`: values far from zero have
    /// means whose rounding errors are large beside their distances.
    Float { count: u64, mean: f64, low: f64, deviation: f64 },
    /// The sum is exact, so the mean is too.
    Integer { count: u64, sum: i128, deviation: f64 },
}

impl Part {
    pub(crate) const fn count(&self) -> u64 {
        match self {
            Self::Float { count, .. } | Self::Integer { count, .. } => *count,
        }
    }

    pub(crate) const fn deviation(&self) -> f64 {
        match self {
            Self::Float { deviation, .. } | Self::Integer { deviation, .. } => *deviation,
        }
    }

    pub(crate) fn mean(&self) -> f64 {
        match self {
            Self::Float { mean, low, .. } => mean + low,
            Self::Integer { count, sum, .. } => {
                let (whole, rest) = quotient(*sum, *count);
                whole as f64 + rest
            }
        }
    }
}

impl Merge for Part {
    fn merge(self, next: Self) -> Self {
        match (self, next) {
            (first, next) if first.count() == 0 => next,
            (first, next) if next.count() == 0 => first,
            (
                Self::Float { count: n1, mean: mean1, low: low1, deviation: dev1 },
                Self::Float { count: n2, mean: mean2, low: low2, deviation: dev2 },
            ) => {
                let count = n1 + n2;
                let (share1, share2) = (n1 as f64 / count as f64, n2 as f64 / count as f64);
                let delta = (mean2 - mean1) + (low2 - low1);
                // The distance of two huge means may exceed the range of a double; their mean does not.
                let (mean, low) = match delta.is_finite() {
                    true => exact_sum(mean1, low1 + delta * share2),
                    false => (mean1 * share1 + mean2 * share2, 0.0),
                };
                Self::Float { count, mean, low, deviation: dev1 + dev2 + delta * delta * share1 * n2 as f64 }
            }
            (
                Self::Integer { count: n1, sum: sum1, deviation: dev1 },
                Self::Integer { count: n2, sum: sum2, deviation: dev2 },
            ) => {
                let ((whole1, rest1), (whole2, rest2)) = (quotient(sum1, n1), quotient(sum2, n2));
                let delta = (whole2 - whole1) as f64 + (rest2 - rest1);
                let count = n1 + n2;
                let between = delta * delta * (n1 as f64 / count as f64) * n2 as f64;
                Self::Integer { count, sum: sum1 + sum2, deviation: dev1 + dev2 + between }
            }
            // One accumulator has one element type, so its parts are of one kind.
            (first, _) => first,
        }
    }
}

/// Quotient and remainder over the divisor, both of the sign of the sum, so that adding them cancels nothing.
fn quotient(sum: i128, count: u64) -> (i128, f64) {
    let divisor = i128::from(count);
    (sum / divisor, (sum % divisor) as f64 / count as f64)
}

/// Everything about one block, with the widest vector unit of the machine.
pub(crate) fn facts(block: &Block<'_>) -> Facts {
    pulp::Arch::new().dispatch(Task(block))
}

struct Task<'b>(&'b Block<'b>);

impl pulp::NullaryFnOnce for Task<'_> {
    type Output = Facts;

    // Inlined, as is all that it calls, so that it is compiled once for every vector unit.
    #[inline(always)]
    fn call(self) -> Facts {
        plain(self.0)
    }
}

#[inline(always)]
fn plain(block: &Block<'_>) -> Facts {
    match block {
        Block::F32(values) => float(values, f32::is_finite),
        Block::F64(values) => float(values, f64::is_finite),
        Block::I8(values) => narrow(values),
        Block::I16(values) => narrow(values),
        Block::I32(values) => narrow(values),
        Block::U8(values) => narrow(values),
        Block::U16(values) => narrow(values),
        Block::U32(values) => narrow(values),
        Block::I64(values) => long(values, |value, low| value.wrapping_sub(low) as u64),
        Block::U64(values) => long(values, |value, low| value - low),
    }
}

#[inline(always)]
fn float<T: Wide>(values: &[T], is_finite: impl Fn(T) -> bool) -> Facts {
    let total = sum(values, T::wide);
    // NaN and infinities survive in a sum, so a finite one needs no look at the single values.
    if total.is_finite() {
        return finite(values, total);
    }
    let kept: Vec<T> = values.iter().copied().filter(|value| is_finite(*value)).collect();
    Facts {
        nan: count(values, |value| value.wide().is_nan()),
        pos_inf: count(values, |value| value.wide() == f64::INFINITY),
        neg_inf: count(values, |value| value.wide() == f64::NEG_INFINITY),
        ..finite(&kept, sum(&kept, T::wide))
    }
}

#[inline(always)]
fn finite<T: Wide>(values: &[T], total: f64) -> Facts {
    let range = min_max(values);
    let count_f64 = values.len() as f64;
    let mean = match range {
        None => 0.0,
        Some(_) if total.is_finite() => total / count_f64,
        // The sum of values near the limit overflows; that of their 4096th parts does not.
        Some((low, high)) => {
            let scaled = sum(values, |value| value.wide() / BLOCK as f64) * (BLOCK as f64 / count_f64);
            scaled.clamp(low.wide(), high.wide())
        }
    };
    let (low, deviation) = deviation(values, mean);
    let (mean, low) = exact_sum(mean, low);
    Facts {
        part: Part::Float { count: values.len() as u64, mean, low, deviation },
        nan: 0,
        pos_inf: 0,
        neg_inf: 0,
        zeros: count(values, |value| value.wide() == 0.0),
        range: range.map(|(low, high)| (Scalar::Float(low.wide()), Scalar::Float(high.wide()))),
    }
}

/// What rounding took from the mean, and the sum of squared distances from the mended mean.
#[inline(always)]
fn deviation<T: Wide>(values: &[T], mean: f64) -> (f64, f64) {
    let [left, squares] = sums(values, |value| {
        let distance = value.wide() - mean;
        [distance, distance * distance]
    });
    let low = left / values.len().max(1) as f64;
    let mended = squares - left * low;
    // Beyond the range of a double there is nothing to mend.
    if left.is_finite() && mended.is_finite() { (low, mended.max(0.0)) } else { (0.0, squares) }
}

/// A sum and its rounding error.
fn exact_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// Integers of at most 32 bits: their sums over a block fit in 64.
#[inline(always)]
fn narrow<T: Wide + Into<i64> + Default>(values: &[T]) -> Facts {
    let total: i64 = values.iter().map(|value| (*value).into()).sum();
    let mean = if values.is_empty() { 0.0 } else { total as f64 / values.len() as f64 };
    let (_, deviation) = deviation(values, mean);
    let range: Option<(i64, i64)> = min_max(values).map(|(low, high)| (low.into(), high.into()));
    integers(values.len(), total.into(), deviation, count(values, |value| value == T::default()), range)
}

/// Integers of 64 bits: deviations are formed from distances to the least value, which doubles hold well even where
/// the values themselves are too long for them.
#[inline(always)]
fn long<T: Copy + Ord + Default + Into<i128>>(values: &[T], distance: impl Fn(T, T) -> u64) -> Facts {
    let range = min_max(values);
    let total: i128 = values.iter().map(|value| (*value).into()).sum();
    let deviation = range.map_or(0.0, |(low, _)| {
        let above = total - Into::<i128>::into(low) * values.len() as i128;
        let (whole, rest) = quotient(above, values.len() as u64);
        let mean = whole as f64 + rest;
        sum(values, |value| (distance(value, low) as f64 - mean) * (distance(value, low) as f64 - mean))
    });
    integers(values.len(), total, deviation, count(values, |value| value == T::default()), range)
}

fn integers<S: Into<i128>>(len: usize, sum: i128, deviation: f64, zeros: u64, range: Option<(S, S)>) -> Facts {
    Facts {
        part: Part::Integer { count: len as u64, sum, deviation },
        nan: 0,
        pos_inf: 0,
        neg_inf: 0,
        zeros,
        range: range.map(|(low, high)| (Scalar::Integer(low.into()), Scalar::Integer(high.into()))),
    }
}
