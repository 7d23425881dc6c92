//! Histograms: how many values lie in each bin.

use super::chrome::{Chrome, Layout};
use super::{Figure, plot_text};
use crate::axis::{Axis, Rule};
use crate::error::{DrawError, Result};
use crate::plane::Point;
use crate::range::{Range, Span};
use crate::scene::{Ink, Scene};
use crate::size::Size;
use crate::terminal::Terminal;
use crate::ticks::Ticks;
use crate::values::Values;

/// Counts of values in bins.
///
/// ```
/// use fw_draw::{Axis, Figure, Histogram, Size, Terminal};
///
/// let values: Vec<f64> = (0..1000).map(|index| (f64::from(index) * 0.7).sin()).collect();
/// let histogram = Histogram::of(&values, 20).title("sine").x_axis(Axis::new("value"));
/// assert_eq!(histogram.counts().iter().sum::<u64>(), 1000);
/// assert!(histogram.text(&Terminal::new(60, 16))?.contains("sine"));
/// assert!(histogram.png(&Size::default())?.len() > 1000);
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    edges: Vec<f64>,
    counts: Vec<u64>,
    x: Axis,
}

impl Histogram {
    /// The largest number of bins.
    pub const MAX_BINS: usize = 4096;

    /// Bins with round edges, at most `bins` of them, over all finite values.
    #[must_use]
    pub fn of<'a>(values: impl Into<Values<'a>>, bins: usize) -> Self {
        let values = values.into();
        // A linear range of the data itself is never wrong.
        let span = Range::default().resolve(values).unwrap_or(Span::new(0.0, 1.0, false));
        let bins = bins.clamp(2, Self::MAX_BINS);
        let edges = round_edges(&span, bins).unwrap_or_else(|| even_edges(&span, bins));
        Self::count(values, edges)
    }

    /// `bins` equal bins over a range; on a logarithmic scale their logarithms are equal. Values outside are not counted.
    ///
    /// # Errors
    /// Those of [`Range::resolve`].
    pub fn of_range<'a>(values: impl Into<Values<'a>>, range: Range, bins: usize) -> Result<Self> {
        let values = values.into();
        let span = range.resolve(values)?;
        Ok(Self::count(values, even_edges(&span, bins.clamp(1, Self::MAX_BINS))))
    }

    /// Counts that are already known, with one more edge than counts.
    ///
    /// # Errors
    /// [`DrawError::Bins`] unless edges are finite, rise, and are one more than the counts.
    pub fn from_counts(edges: Vec<f64>, counts: Vec<u64>) -> Result<Self> {
        let rising = edges.windows(2).all(|pair| pair[0] < pair[1]) && edges.iter().all(|edge| edge.is_finite());
        if counts.is_empty() || counts.len() > Self::MAX_BINS || edges.len() != counts.len() + 1 || !rising {
            return Err(DrawError::Bins { counts: counts.len(), edges: edges.len() });
        }
        Ok(Self { title: String::new(), subtitle: String::new(), edges, counts, x: Axis::default() })
    }

    titled!();

    setters! {
        /// With a name and unit of the values.
        x_axis: x: Axis;
    }

    /// Edges of the bins, one more than there are counts.
    #[must_use]
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// The number of values in each bin; the last bin includes its upper edge.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn count(values: Values<'_>, edges: Vec<f64>) -> Self {
        let mut counts = vec![0; edges.len() - 1];
        let last = edges[edges.len() - 1];
        values.for_each(0..values.len(), |value| {
            if value >= edges[0] && value <= last {
                let bin = edges.partition_point(|edge| *edge <= value).saturating_sub(1);
                counts[bin.min(edges.len() - 2)] += 1;
            }
        });
        Self { title: String::new(), subtitle: String::new(), edges, counts, x: Axis::default() }
    }

    /// The rule of the values and the rule of the counts.
    pub(crate) fn rules(&self) -> (Rule, Rule) {
        let across = Span::new(self.edges[0], self.edges[self.edges.len() - 1], self.is_log());
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let up = Span::new(0.0, most * 1.04, false);
        (self.x.numbers(&across, false), Axis::new("count").numbers(&up, true))
    }

    /// Bars as fractions: left, right, height.
    pub(crate) fn bars(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let (x, y) = self.rules();
        let across = Span::new(x.start, x.end, self.is_log());
        self.edges
            .windows(2)
            .zip(&self.counts)
            .map(move |(edges, count)| (across.fraction(edges[0]), across.fraction(edges[1]), *count as f64 / y.end))
    }

    /// Whether bins grow by a factor instead of a difference.
    fn is_log(&self) -> bool {
        let [first, second, .., before, last] = self.edges[..] else { return false };
        first > 0.0
            && (last - before) > 1.5 * (second - first)
            && ((last / before) / (second / first) - 1.0).abs() < 1e-6
    }
}

/// Edges at multiples of a round number.
fn round_edges(span: &Span, bins: usize) -> Option<Vec<f64>> {
    let inner = Ticks::linear(span.low(), span.high(), bins.saturating_sub(1));
    let (first, second) = (inner.ticks.first()?.value, inner.ticks.get(1)?.value);
    let step = second - first;
    let mut edges: Vec<f64> = inner.ticks.iter().map(|tick| tick.value).collect();
    if edges[0] > span.low() {
        edges.insert(0, first - step);
    }
    let last = edges[edges.len() - 1];
    if last < span.high() {
        edges.push(last + step);
    }
    edges.iter().all(|edge| edge.is_finite()).then_some(edges)
}

fn even_edges(span: &Span, bins: usize) -> Vec<f64> {
    let at = |index: usize| {
        let t = index as f64 / bins as f64;
        match (index, span.is_log()) {
            (0, _) => span.low(),
            (index, _) if index == bins => span.high(),
            (_, true) => 10f64.powf(span.low().log10() * (1.0 - t) + span.high().log10() * t),
            (_, false) => span.low() * (1.0 - t) + span.high() * t,
        }
    };
    let mut edges: Vec<f64> = (0..=bins).map(at).collect();
    // A range of a few neighbouring doubles has fewer edges than asked for.
    edges.dedup();
    edges
}

impl Figure for Histogram {
    fn scene(&self, size: &Size) -> Result<Scene<'_>> {
        size.check()?;
        let (x, y) = self.rules();
        let chrome =
            Chrome { title: &self.title, subtitle: &self.subtitle, x, y, bar: None, legend: Vec::new(), aspect: None };
        let layout = Layout::new(size, &chrome);
        let plot = layout.plot;
        let mut scene = layout.scene();
        layout.draw_grid(&mut scene, false);
        let ink = Ink::solid(size.theme.series(0));
        let gap = if f64::from(plot.width) / self.counts.len() as f64 > 5.0 { 1.0 } else { 0.0 };
        for (left, right, height) in self.bars() {
            let (from, to) = (plot.at(left, 1.0 - height), plot.at(right, 1.0));
            if height > 0.0 {
                // Bars on whole pixels are sharp; a bin with a single value still shows.
                let (x0, x1) = (from.x.round(), (to.x.round() - gap).max(from.x.round() + 1.0));
                let (y0, y1) = (from.y.round().min(to.y - 1.0), to.y);
                scene.fill([(x0, y0), (x1, y0), (x1, y1), (x0, y1)].map(|(x, y)| Point { x, y }).to_vec(), ink);
            }
        }
        layout.draw(&mut scene);
        Ok(scene)
    }

    fn text(&self, terminal: &Terminal) -> Result<String> {
        plot_text::histogram(self, terminal)
    }

    fn title_text(&self) -> &str {
        &self.title
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn every_finite_value_is_counted_once() {
        let values: Vec<f64> =
            (0..=1000).map(|index| f64::from(index) / 7.0 - 50.0).chain([f64::NAN, f64::INFINITY]).collect();
        for bins in [1, 2, 3, 10, 57, 100_000] {
            let histogram = Histogram::of(&values, bins);
            assert!(histogram.counts.len() <= bins.clamp(2, Histogram::MAX_BINS) + 1, "{bins}");
            assert_eq!(histogram.counts.iter().sum::<u64>(), 1001, "{bins}");
            assert_eq!(histogram.edges.len(), histogram.counts.len() + 1);
        }
        let log = Histogram::of_range(&values, Range::default().scale(Scale::Log), 10).unwrap();
        assert!(log.is_log());
        assert!(!Histogram::of(&values, 10).is_log());
    }

    #[test]
    fn odd_values() {
        for values in [vec![], vec![f64::NAN], vec![3.0], vec![f64::MAX, f64::MIN], vec![1.0, 1.0 + f64::EPSILON]] {
            let histogram = Histogram::of(&values, 10);
            let finite = values.iter().filter(|value| value.is_finite()).count() as u64;
            assert_eq!(histogram.counts.iter().sum::<u64>(), finite, "{values:?}");
        }
        assert!(Histogram::from_counts(vec![0.0, 1.0], vec![1, 2]).is_err());
        assert!(Histogram::from_counts(vec![0.0, 0.0], vec![1]).is_err());
        assert!(Histogram::from_counts(vec![], vec![]).is_err());
    }
}
