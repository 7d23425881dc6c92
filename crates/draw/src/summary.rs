//! Extremes, counts and exact percentiles of values, without copying them.

use crate::text::number;
use crate::values::Values;

/// What a range or a histogram needs to know about values.
///
/// ```
/// use fw_draw::{Summary, Values};
///
/// let values = [3.0f32, f32::NAN, -1.0, f32::INFINITY];
/// let summary = Summary::of(Values::from(&values));
/// assert_eq!((summary.min, summary.max), (-1.0, 3.0));
/// assert_eq!((summary.finite, summary.missing, summary.infinite), (2, 1, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Smallest finite value; `+inf` when there is none.
    pub min: f64,
    /// Largest finite value; `-inf` when there is none.
    pub max: f64,
    /// Smallest positive finite value; `+inf` when there is none.
    pub min_positive: f64,
    /// Number of finite values.
    pub finite: u64,
    /// Number of NaN values.
    pub missing: u64,
    /// Number of infinite values.
    pub infinite: u64,
}

impl Summary {
    /// One pass over the values.
    #[must_use]
    pub fn of(values: Values<'_>) -> Self {
        let mut summary = Self::default();
        values.for_each(0..values.len(), |value| summary.add(value));
        summary
    }

    /// A line of text about the values: extremes and how many are missing or infinite.
    ///
    /// ```
    /// use fw_draw::{Summary, Values};
    ///
    /// let summary = Summary::of(Values::from(&[1.5f32, f32::NAN, 2.0]));
    /// assert_eq!(summary.to_line(), "1.5 to 2 · 2 values · 1 missing");
    /// ```
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut parts = Vec::new();
        if self.finite > 0 {
            parts.push(format!("{} to {}", number(self.min), number(self.max)));
        }
        parts.push(format!("{} values", self.finite));
        if self.missing > 0 {
            parts.push(format!("{} missing", self.missing));
        }
        if self.infinite > 0 {
            parts.push(format!("{} infinite", self.infinite));
        }
        parts.join(" · ")
    }

    /// Takes one more value into account.
    pub(crate) fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.finite += 1;
            self.min = self.min.min(value);
            self.max = self.max.max(value);
            if value > 0.0 {
                self.min_positive = self.min_positive.min(value);
            }
        } else if value.is_nan() {
            self.missing += 1;
        } else {
            self.infinite += 1;
        }
    }
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            min_positive: f64::INFINITY,
            finite: 0,
            missing: 0,
            infinite: 0,
        }
    }
}

/// The finite value at a percentile (nearest rank), exact; `None` when no value is finite.
///
/// Four passes of a radix selection over the ordered bit patterns, each with a table of 65 536 counts: the memory needed
/// does not depend on the number of values.
pub(crate) fn percentile(values: Values<'_>, percent: f64) -> Option<f64> {
    let finite = {
        let mut count = 0u64;
        values.for_each(0..values.len(), |value| count += u64::from(value.is_finite()));
        count
    };
    if finite == 0 {
        return None;
    }
    let mut rank = ((percent / 100.0 * (finite - 1) as f64).round() as u64).min(finite - 1);
    let mut prefix = 0u64;
    let mut counts = vec![0u64; 1 << 16];
    for shift in [48u32, 32, 16, 0] {
        counts.fill(0);
        let above = shift + 16;
        values.for_each(0..values.len(), |value| {
            let key = ordered(value);
            if value.is_finite() && (above == 64 || key >> above == prefix) {
                counts[(key >> shift & 0xffff) as usize] += 1;
            }
        });
        let mut digit = 0u64;
        for (index, count) in counts.iter().enumerate() {
            if rank < *count {
                digit = index as u64;
                break;
            }
            rank -= count;
        }
        prefix = prefix << 16 | digit;
    }
    Some(unordered(prefix))
}

/// Bits of a number, arranged so that the order of the integers is the order of the numbers.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn unordered(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_values() {
        let mut state = 7u64;
        let values: Vec<f64> = (0..997)
            .map(|index| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if index % 50 == 3 { f64::NAN } else { (state >> 40) as f64 / 1000.0 - 8000.0 }
            })
            .collect();
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        for percent in [0.0, 1.0, 2.5, 50.0, 98.0, 100.0] {
            let rank = (percent / 100.0 * (sorted.len() - 1) as f64).round() as usize;
            assert_eq!(percentile(Values::from(&values), percent), Some(sorted[rank]), "{percent}");
        }
        assert_eq!(percentile(Values::from(&[f64::NAN, f64::INFINITY]), 50.0), None);
        assert_eq!(percentile(Values::from(&[-0.0f64, -5e-324]), 0.0), Some(-5e-324));
    }
}
