//! The statistics of a tensor.

use crate::block::{Block, each_block, width};
use crate::feed::Feed;
use crate::moments::{Facts, Part, facts};
use crate::tree::Tree;
use crate::{BLOCK, Scalar, StatsError};
use fw_tensor::{DType, Element, TensorView};
use zerocopy::IntoBytes;

/// Statistics of the values that were fed. The names of the fields are those of the JSON form.
///
/// Minimum, maximum, mean, standard deviation and norm are of the finite values, and `None` without any. Complex
/// numbers count by their modulus. Where squares exceed the range of a double (values beyond 1e154) standard deviation
/// and norm are infinite.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Number of elements.
    pub count: u64,
    /// Elements that are neither NaN nor infinite.
    pub finite: u64,
    /// Elements that are NaN.
    pub nan: u64,
    /// Elements that are plus infinity.
    pub pos_inf: u64,
    /// Elements that are minus infinity.
    pub neg_inf: u64,
    /// Elements that are zero.
    pub zeros: u64,
    /// The least value.
    pub min: Option<Scalar>,
    /// Position of its first occurrence, in row-major order.
    pub min_at: Option<u64>,
    /// The greatest value.
    pub max: Option<Scalar>,
    /// Position of its first occurrence, in row-major order.
    pub max_at: Option<u64>,
    /// The exact sum of integers; `None` for floats.
    pub sum: Option<i128>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation of the population (divided by the count, not by one less).
    pub std: Option<f64>,
    /// Square root of the sum of squares.
    pub norm: Option<f64>,
}

/// The statistics of a tensor that is in memory.
///
/// # Errors
/// When its elements are smaller than a byte.
///
/// ```
/// use fw_stats::{Scalar, summarize};
/// use fw_tensor::TensorView;
///
/// let summary = summarize(&TensorView::from_values(&[2, 2], &[3i64, -4, 0, 1]).unwrap())?;
/// assert_eq!((summary.min, summary.min_at, summary.sum), (Some(Scalar::Integer(-4)), Some(1), Some(0)));
/// assert_eq!((summary.zeros, summary.norm), (1, Some(26f64.sqrt())));
/// # Ok::<(), fw_stats::StatsError>(())
/// ```
pub fn summarize(view: &TensorView<'_>) -> Result<Summary, StatsError> {
    let mut stats = Stats::new(view.dtype())?;
    stats.update(view.data());
    stats.finish()
}

/// Collects statistics chunk by chunk. It holds one unfinished block and a few sums.
#[derive(Clone, Debug)]
pub struct Stats {
    dtype: DType,
    feed: Feed,
    totals: Totals,
}

/// What complete blocks gave.
#[derive(Clone, Debug)]
struct Totals {
    start: u64,
    count: u64,
    tree: Tree<Part>,
    nan: u64,
    pos_inf: u64,
    neg_inf: u64,
    zeros: u64,
    min: Option<Extreme>,
    max: Option<Extreme>,
}

#[derive(Clone, Copy, Debug)]
struct Extreme {
    value: Scalar,
    at: u64,
}

impl Stats {
    /// Of elements of this type.
    ///
    /// # Errors
    /// When the elements are smaller than a byte ([`unpack_bits`](crate::unpack_bits) widens bit masks).
    pub fn new(dtype: DType) -> Result<Self, StatsError> {
        Self::starting_at(dtype, 0)
    }

    /// Of the part of a tensor that starts at an element, for [`Stats::merge`].
    ///
    /// # Errors
    /// When the elements are smaller than a byte, or `start` is not a multiple of [`BLOCK`].
    pub fn starting_at(dtype: DType, start: u64) -> Result<Self, StatsError> {
        let width = width(dtype)?;
        if !start.is_multiple_of(BLOCK as u64) {
            return Err(StatsError::NotAtBlock { start });
        }
        Ok(Self { dtype, feed: Feed::new(width), totals: Totals::new(start) })
    }

    /// Takes the next bytes of the tensor, in the machine's byte order. They may end inside an element.
    pub fn update(&mut self, bytes: &[u8]) {
        let (dtype, totals) = (self.dtype, &mut self.totals);
        self.feed.push(bytes, |block| totals.add(dtype, block));
    }

    /// Takes the next values of the tensor.
    ///
    /// # Errors
    /// When the element type differs.
    pub fn update_values<T: Element>(&mut self, values: &[T]) -> Result<(), StatsError> {
        if T::DTYPE != self.dtype {
            return Err(StatsError::WrongType { expected: self.dtype, found: T::DTYPE });
        }
        self.update(values.as_bytes());
        Ok(())
    }

    /// Adds the part of the tensor that follows.
    ///
    /// # Errors
    /// When the element types differ, or `next` does not start where this part ends, at a whole block.
    pub fn merge(&mut self, next: Self) -> Result<(), StatsError> {
        if self.dtype != next.dtype {
            return Err(StatsError::WrongType { expected: self.dtype, found: next.dtype });
        }
        let (rest, over) = self.feed.rest();
        let end = self.totals.start + self.totals.count + (rest.len() / width(self.dtype)?) as u64;
        if end != next.totals.start || over > 0 || !self.feed.is_empty() {
            return Err(StatsError::NotAdjacent { expected: end, found: next.totals.start });
        }
        self.totals.append(next.totals);
        self.feed = next.feed;
        Ok(())
    }

    /// The statistics of everything that was fed.
    ///
    /// # Errors
    /// When the bytes end inside an element.
    pub fn finish(mut self) -> Result<Summary, StatsError> {
        let (rest, over) = self.feed.rest();
        if over > 0 {
            return Err(StatsError::PartialElement { dtype: self.dtype, bytes: over });
        }
        if !rest.is_empty() {
            self.totals.add(self.dtype, rest);
        }
        Ok(self.totals.finish())
    }
}

impl Totals {
    const fn new(start: u64) -> Self {
        Self { start, count: 0, tree: Tree::new(), nan: 0, pos_inf: 0, neg_inf: 0, zeros: 0, min: None, max: None }
    }

    fn add(&mut self, dtype: DType, bytes: &[u8]) {
        let Ok(block) = Block::load(dtype, bytes) else { return };
        let at = self.start + self.count;
        let Facts { part, nan, pos_inf, neg_inf, zeros, range } = facts(&block);
        if let Some((low, high)) = range {
            // A position is searched only where a block improves on all before it, which is rare.
            if self.min.is_none_or(|min| less(low, min.value)) {
                self.min = find(&block, low, at);
            }
            if self.max.is_none_or(|max| less(max.value, high)) {
                self.max = find(&block, high, at);
            }
        }
        self.nan += nan;
        self.pos_inf += pos_inf;
        self.neg_inf += neg_inf;
        self.zeros += zeros;
        self.tree.push(at / BLOCK as u64, part);
        self.count += each_block!(&block, values => values.len()) as u64;
    }

    fn append(&mut self, next: Self) {
        self.count += next.count;
        self.nan += next.nan;
        self.pos_inf += next.pos_inf;
        self.neg_inf += next.neg_inf;
        self.zeros += next.zeros;
        self.tree.append(next.tree);
        if let Some(min) = next.min.filter(|next| self.min.is_none_or(|own| less(next.value, own.value))) {
            self.min = Some(min);
        }
        if let Some(max) = next.max.filter(|next| self.max.is_none_or(|own| less(own.value, next.value))) {
            self.max = Some(max);
        }
    }

    fn finish(self) -> Summary {
        let part = self.tree.finish().filter(|part| part.count() > 0);
        let of_part = |value: fn(&Part) -> f64| part.as_ref().map(value);
        Summary {
            count: self.count,
            finite: part.as_ref().map_or(0, Part::count),
            nan: self.nan,
            pos_inf: self.pos_inf,
            neg_inf: self.neg_inf,
            zeros: self.zeros,
            min: self.min.map(|min| min.value),
            min_at: self.min.map(|min| min.at),
            max: self.max.map(|max| max.value),
            max_at: self.max.map(|max| max.at),
            sum: part.as_ref().and_then(|part| match part {
                Part::Integer { sum, .. } => Some(*sum),
                Part::Float { .. } => None,
            }),
            mean: of_part(Part::mean),
            std: of_part(|part| (part.deviation() / part.count() as f64).sqrt()),
            norm: of_part(|part| (part.deviation() + part.count() as f64 * part.mean() * part.mean()).sqrt()),
        }
    }
}

/// Values of one tensor are of one kind.
fn less(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Integer(a), Scalar::Integer(b)) => a < b,
        (a, b) => a.to_f64() < b.to_f64(),
    }
}

/// The first element equal to `value`: zeros of both signs are equal, so the value is taken from there.
fn find(block: &Block<'_>, value: Scalar, start: u64) -> Option<Extreme> {
    let scalar = |index: usize| match block {
        Block::F32(values) => Scalar::Float(values[index].into()),
        Block::F64(values) => Scalar::Float(values[index]),
        Block::I8(values) => Scalar::Integer(values[index].into()),
        Block::I16(values) => Scalar::Integer(values[index].into()),
        Block::I32(values) => Scalar::Integer(values[index].into()),
        Block::I64(values) => Scalar::Integer(values[index].into()),
        Block::U8(values) => Scalar::Integer(values[index].into()),
        Block::U16(values) => Scalar::Integer(values[index].into()),
        Block::U32(values) => Scalar::Integer(values[index].into()),
        Block::U64(values) => Scalar::Integer(values[index].into()),
    };
    let len = each_block!(block, values => values.len());
    (0..len)
        .find(|index| scalar(*index) == value)
        .map(|index| Extreme { value: scalar(index), at: start + index as u64 })
}
