//! Which values get which place between 0 and 1: ends of a range and its scale.

use crate::error::{DrawError, Result};
use crate::summary::{Summary, percentile};
use crate::values::Values;

/// How values are spread over a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithm; values that are not positive lie below the range.
    Log,
    /// Evenly, with zero in the middle: the range is widened to the farther end on both sides.
    Symmetric,
}

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Bound {
    /// The smallest or largest finite value.
    #[default]
    Data,
    /// A given value.
    Value(f64),
    /// A percentile of the finite values, from 0 to 100.
    Percentile(f64),
}

/// The range of values that is shown. Values outside are drawn in the colours for "below" and "above".
///
/// ```
/// use fw_draw::{Place, Range, Scale, Values};
///
/// let values = [-4.0f32, 0.0, 2.0];
/// let span = Range::default().scale(Scale::Symmetric).resolve(Values::from(&values))?;
/// assert_eq!((span.low(), span.high()), (-4.0, 4.0));
/// assert_eq!(span.place(2.0), Place::Inside(0.75));
/// assert_eq!(span.place(9.0), Place::Over);
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Range {
    low: Bound,
    high: Bound,
    scale: Scale,
}

impl Range {
    /// From one given value to another.
    #[must_use]
    pub fn values(low: f64, high: f64) -> Self {
        Self { low: Bound::Value(low), high: Bound::Value(high), scale: Scale::Linear }
    }

    /// From one percentile to another, such as 2 to 98.
    #[must_use]
    pub fn percentiles(low: f64, high: f64) -> Self {
        Self { low: Bound::Percentile(low), high: Bound::Percentile(high), scale: Scale::Linear }
    }

    /// With another lower end.
    #[must_use]
    pub fn low(self, low: Bound) -> Self {
        Self { low, ..self }
    }

    /// With another upper end.
    #[must_use]
    pub fn high(self, high: Bound) -> Self {
        Self { high, ..self }
    }

    /// With another scale.
    #[must_use]
    pub fn scale(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    pub(crate) fn bounds(&self) -> (Bound, Bound) {
        (self.low, self.high)
    }

    pub(crate) fn scale_kind(&self) -> Scale {
        self.scale
    }

    /// The ends in numbers. Values without any finite one give 0 to 1 (1 to 10 for a logarithmic scale).
    ///
    /// # Errors
    /// [`DrawError::EmptyRange`], [`DrawError::Percentile`], and [`DrawError::NotPositive`] for a logarithmic scale.
    pub fn resolve(&self, values: Values<'_>) -> Result<Span> {
        self.resolve_with(values, &Summary::of(values))
    }

    /// As [`resolve`](Self::resolve), where the summary is already known.
    pub(crate) fn resolve_with(&self, values: Values<'_>, summary: &Summary) -> Result<Span> {
        let log = self.scale == Scale::Log;
        let known = summary.finite > 0;
        if log && known && summary.max <= 0.0 && self.high == Bound::Data {
            return Err(DrawError::NotPositive(format!("the largest is {}", summary.max)));
        }
        let (low_data, high_data) = match (known, log) {
            (true, false) => (summary.min, summary.max),
            (true, true) if summary.max > 0.0 => (summary.min_positive, summary.max),
            (false, false) => (0.0, 1.0),
            (_, true) => (1.0, 10.0),
        };
        let end = |bound: Bound, data: f64| match bound {
            Bound::Data => Ok(data),
            Bound::Value(value) if value.is_finite() => Ok(value),
            Bound::Value(value) => Err(DrawError::EmptyRange { low: value, high: value }),
            Bound::Percentile(percent) if !(0.0..=100.0).contains(&percent) => Err(DrawError::Percentile(percent)),
            Bound::Percentile(percent) => {
                let value = percentile(values, percent).unwrap_or(data);
                Ok(if log && value <= 0.0 { data } else { value })
            }
        };
        let (mut low, mut high) = (end(self.low, low_data)?, end(self.high, high_data)?);
        if let (Bound::Value(low), Bound::Value(high)) = (self.low, self.high)
            && low >= high
        {
            return Err(DrawError::EmptyRange { low, high });
        }
        if log && (low <= 0.0 || high <= 0.0) {
            return Err(DrawError::NotPositive(format!("the range is {low} to {high}")));
        }
        if self.scale == Scale::Symmetric {
            high = low.abs().max(high.abs());
            low = -high;
        }
        if low >= high {
            (low, high) = widened(low, high, self.low, self.high, log);
        }
        Ok(Span { low, high, log })
    }
}

/// A range for a constant field, or for a given end that lies on the wrong side of all values.
fn widened(low: f64, high: f64, low_bound: Bound, high_bound: Bound, log: bool) -> (f64, f64) {
    let given = |bound: Bound| matches!(bound, Bound::Value(_));
    let room = |value: f64| if value == 0.0 { 1.0 } else { (value.abs() * 0.1).max(f64::MIN_POSITIVE) };
    let above = |value: f64| if log { (value * 10.0).min(f64::MAX) } else { (value + room(value)).min(f64::MAX) };
    let below =
        |value: f64| if log { (value / 10.0).max(f64::MIN_POSITIVE) } else { (value - room(value)).max(f64::MIN) };
    match (given(low_bound), given(high_bound)) {
        (true, false) => (low, above(low)),
        (false, true) => (below(high), high),
        _ => (below(low), above(low)),
    }
}

/// A range in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    low: f64,
    high: f64,
    log: bool,
}

/// Where a value lies in a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// NaN.
    Missing,
    /// Below the range, or negative infinity, or not positive on a logarithmic scale.
    Under,
    /// Inside, from 0 to 1.
    Inside(f64),
    /// Above the range, or positive infinity.
    Over,
}

impl Span {
    /// A span with ends that are known to be finite, ordered, and positive for a logarithmic one.
    pub(crate) fn new(low: f64, high: f64, log: bool) -> Self {
        Self { low, high, log }
    }

    /// Lower end.
    #[must_use]
    pub fn low(&self) -> f64 {
        self.low
    }

    /// Upper end.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Whether values are spread by their logarithm.
    #[must_use]
    pub fn is_log(&self) -> bool {
        self.log
    }

    /// The place of a value.
    #[must_use]
    pub fn place(&self, value: f64) -> Place {
        let t = self.fraction(value);
        // Means of equal values may differ from them in the last bit; that is not "outside".
        if t.is_nan() {
            Place::Missing
        } else if t < -SLACK {
            Place::Under
        } else if t > 1.0 + SLACK {
            Place::Over
        } else {
            Place::Inside(t.clamp(0.0, 1.0))
        }
    }

    /// The place of a value as a fraction of the range, below 0 or above 1 outside it.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        if self.log {
            if value <= 0.0 {
                return f64::NEG_INFINITY;
            }
            let low = self.low.log10();
            return (value.log10() - low) / (self.high.log10() - low);
        }
        let width = self.high - self.low;
        if width.is_finite() {
            (value - self.low) / width
        } else {
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        }
    }
}

/// Tolerance at both ends, as a fraction of the range.
const SLACK: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(range: Range, values: &[f64]) -> Result<(f64, f64)> {
        range.resolve(Values::from(values)).map(|span| (span.low, span.high))
    }

    #[test]
    fn ends_come_from_data_values_or_percentiles() {
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(resolve(Range::default(), &values), Ok((0.0, 100.0)));
        assert_eq!(resolve(Range::percentiles(2.0, 98.0), &values), Ok((2.0, 98.0)));
        assert_eq!(resolve(Range::values(-1.0, 3.0), &values), Ok((-1.0, 3.0)));
        assert_eq!(resolve(Range::default().scale(Scale::Log), &values), Ok((1.0, 100.0)));
        assert_eq!(resolve(Range::default().low(Bound::Value(200.0)), &values), Ok((200.0, 220.0)));
        assert_eq!(resolve(Range::default(), &[f64::NAN]), Ok((0.0, 1.0)));
        assert_eq!(resolve(Range::default(), &[5.0, 5.0]), Ok((4.5, 5.5)));
        assert_eq!(resolve(Range::default(), &[0.0]), Ok((-1.0, 1.0)));
        assert_eq!(resolve(Range::default().scale(Scale::Symmetric), &[0.0]), Ok((-1.0, 1.0)));
    }

    #[test]
    fn wrong_ranges_are_named() {
        assert!(matches!(resolve(Range::values(3.0, 3.0), &[1.0]), Err(DrawError::EmptyRange { .. })));
        assert!(matches!(resolve(Range::values(f64::NAN, 3.0), &[1.0]), Err(DrawError::EmptyRange { .. })));
        assert!(matches!(resolve(Range::percentiles(-1.0, 3.0), &[1.0]), Err(DrawError::Percentile(_))));
        assert!(matches!(resolve(Range::default().scale(Scale::Log), &[-1.0]), Err(DrawError::NotPositive(_))));
        assert!(matches!(resolve(Range::values(0.0, 1.0).scale(Scale::Log), &[1.0]), Err(DrawError::NotPositive(_))));
    }

    #[test]
    fn places_of_odd_values() {
        let span = Span::new(f64::MIN, f64::MAX, false);
        assert_eq!(span.place(0.0), Place::Inside(0.5));
        assert_eq!(span.place(f64::INFINITY), Place::Over);
        assert_eq!(span.place(f64::NEG_INFINITY), Place::Under);
        assert_eq!(span.place(f64::NAN), Place::Missing);
        let log = Span::new(1.0, 100.0, true);
        assert_eq!(log.place(10.0), Place::Inside(0.5));
        assert_eq!(log.place(0.0), Place::Under);
        assert_eq!(log.place(-2.0), Place::Under);
        let tiny = Span::new(0.0, 5e-324, false);
        assert_eq!(tiny.place(5e-324), Place::Inside(1.0));
    }
}
