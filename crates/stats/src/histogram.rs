//! How values are distributed over bins of equal width.

use crate::block::{Block, width};
use crate::feed::Feed;
use crate::sizes::MOST_BINS;
use crate::{StatsError, Summary};
use fw_tensor::{DType, Element};
use zerocopy::IntoBytes;

/// Counts values in bins of equal width: `edges()[i] <= value < edges()[i + 1]`, the last bin with its upper edge. The
/// public fields are those of the JSON form.
///
/// ```
/// use fw_stats::Histogram;
/// use fw_tensor::DType;
///
/// let mut histogram = Histogram::new(DType::Float64, 0.0, 4.0, 4)?;
/// histogram.update_values(&[0.0, 0.5, 1.0, 4.0, 7.0, f64::NAN])?;
/// let histogram = histogram.finish()?;
/// assert_eq!(histogram.counts, [2, 1, 0, 1]);
/// assert_eq!((histogram.below, histogram.above, histogram.nan), (0, 1, 1));
/// # Ok::<(), fw_stats::StatsError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Histogram {
    /// Lower edge of the first bin.
    pub low: f64,
    /// Upper edge of the last bin.
    pub high: f64,
    /// Values per bin.
    pub counts: Vec<u64>,
    /// Values below `low`, minus infinity included.
    pub below: u64,
    /// Values above `high`, plus infinity included.
    pub above: u64,
    /// Values that are NaN.
    pub nan: u64,
    dtype: DType,
    feed: Feed,
    edges: Vec<f64>,
}

impl Histogram {
    /// Of elements of this type, over a given range.
    ///
    /// # Errors
    /// When the elements are smaller than a byte, the range is empty or not finite, or the number of bins is not
    /// between 1 and 2^20.
    pub fn new(dtype: DType, low: f64, high: f64, bins: usize) -> Result<Self, StatsError> {
        let feed = Feed::new(width(dtype)?);
        if !(low.is_finite() && high.is_finite() && low < high && (1..=MOST_BINS).contains(&bins)) {
            return Err(StatsError::BadHistogram);
        }
        let step = (high - low) / bins as f64;
        let edge = |index: usize| match index as f64 {
            _ if index == bins => high,
            index if step.is_finite() => (low + index * step).clamp(low, high),
            // The distance of the ends exceeds the range of a double; shares of them do not.
            index => low * (1.0 - index / bins as f64) + high * (index / bins as f64),
        };
        let mut edges: Vec<f64> = (0..=bins).map(edge).collect();
        // Rounding must not turn narrow bins around.
        for index in 1..edges.len() {
            edges[index] = edges[index].max(edges[index - 1]);
        }
        Ok(Self { low, high, counts: vec![0; bins], below: 0, above: 0, nan: 0, dtype, feed, edges })
    }

    /// Over the range that a first pass found. A tensor of one value gets a range around it, one without finite
    /// values gets 0 to 1.
    ///
    /// # Errors
    /// As [`Histogram::new`].
    pub fn over(dtype: DType, summary: &Summary, bins: usize) -> Result<Self, StatsError> {
        let (low, high) = match (summary.min, summary.max) {
            (Some(min), Some(max)) => (min.to_f64(), max.to_f64()),
            _ => (0.0, 1.0),
        };
        if low < high {
            return Self::new(dtype, low, high, bins);
        }
        // Near the limits of the type half a unit is nothing, or too much.
        let down = (low - 0.5).min(low.next_down()).max(f64::MIN);
        let up = (high + 0.5).max(high.next_up()).min(f64::MAX);
        Self::new(dtype, down, up, bins)
    }

    /// Takes the next bytes of the tensor, in the machine's byte order. They may end inside an element.
    pub fn update(&mut self, bytes: &[u8]) {
        let mut feed = std::mem::replace(&mut self.feed, Feed::new(1));
        feed.push(bytes, |block| self.add(block));
        self.feed = feed;
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

    /// Adds the counts of another part of the tensor, in any order.
    ///
    /// # Errors
    /// When the bins differ, or the other part ends inside an element.
    pub fn merge(&mut self, other: Self) -> Result<(), StatsError> {
        if self.edges != other.edges {
            return Err(StatsError::Mismatch("bins"));
        }
        let other = other.finish()?;
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += other);
        self.below += other.below;
        self.above += other.above;
        self.nan += other.nan;
        Ok(())
    }

    /// Counts the last values that were fed; the counts are complete after this.
    ///
    /// # Errors
    /// When the bytes end inside an element.
    pub fn finish(mut self) -> Result<Self, StatsError> {
        let feed = std::mem::replace(&mut self.feed, Feed::new(width(self.dtype)?));
        let (rest, over) = feed.rest();
        if over > 0 {
            return Err(StatsError::PartialElement { dtype: self.dtype, bytes: over });
        }
        self.add(rest);
        Ok(self)
    }

    /// The edges of the bins, one more than there are bins.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    fn add(&mut self, bytes: &[u8]) {
        let Ok(block) = Block::load(self.dtype, bytes) else { return };
        let last = self.counts.len() - 1;
        // Halves, since the distance of the ends may exceed the range of a double.
        let (half_low, scale) = (self.low * 0.5, self.counts.len() as f64 / (self.high * 0.5 - self.low * 0.5));
        for value in block.to_f64().iter().copied() {
            // A comparison with NaN fails, so it lands in the second branch too.
            if value >= self.low && value <= self.high {
                // A guess that rounding may put beside the right bin; the edges decide.
                let mut bin = (((value * 0.5 - half_low) * scale) as usize).min(last);
                while bin > 0 && value < self.edges[bin] {
                    bin -= 1;
                }
                while bin < last && value >= self.edges[bin + 1] {
                    bin += 1;
                }
                self.counts[bin] += 1;
            } else if value.is_nan() {
                self.nan += 1;
            } else if value < self.low {
                self.below += 1;
            } else {
                self.above += 1;
            }
        }
    }
}
