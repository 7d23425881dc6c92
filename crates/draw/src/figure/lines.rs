//! Line plots: several series over one axis.

use super::chrome::{Chrome, Layout};
use super::trace::{Trace, trace};
use super::{Figure, plot_text};
use crate::axis::{Axis, Rule};
use crate::colour::Rgb;
use crate::error::{DrawError, Result};
use crate::plane::Point;
use crate::range::{Bound, Range, Scale, Span};
use crate::scene::{Ink, Scene, Shape};
use crate::size::{Size, Theme};
use crate::summary::Summary;
use crate::terminal::Terminal;
use crate::values::Values;

/// A named sequence of values; NaN is a gap.
#[derive(Debug, Clone)]
pub struct Series<'a> {
    name: String,
    x: Option<Values<'a>>,
    y: Values<'a>,
}

impl<'a> Series<'a> {
    /// Values over their indices, or over the coordinates of the x axis.
    #[must_use]
    pub fn new(name: impl Into<String>, y: impl Into<Values<'a>>) -> Self {
        Self { name: name.into(), x: None, y: y.into() }
    }

    /// Values over places of their own.
    ///
    /// # Errors
    /// [`DrawError::SeriesLength`] when there are not as many of both.
    pub fn over(name: impl Into<String>, x: impl Into<Values<'a>>, y: impl Into<Values<'a>>) -> Result<Self> {
        let (name, x, y) = (name.into(), x.into(), y.into());
        if x.len() != y.len() {
            return Err(DrawError::SeriesLength { name, x: x.len(), y: y.len() });
        }
        Ok(Self { name, x: Some(x), y })
    }
}

/// Several series over one axis, with gaps where values are missing and small arrows where they are infinite.
///
/// ```
/// use fw_draw::{Axis, Figure, LinePlot, Series, Size};
///
/// let forecast = [281.2f32, 282.9, f32::NAN, 284.0, 283.1];
/// let plot = LinePlot::new()
///     .title("Temperature at 52°N 13°E")
///     .x_axis(Axis::new("step").unit("h").coordinates(0.0, 24.0))
///     .y_axis(Axis::new("2t").unit("K"))
///     .series(Series::new("forecast", &forecast));
/// assert!(plot.svg(&Size::new(600, 300))?.contains("step (h)"));
/// # Ok::<(), fw_draw::DrawError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct LinePlot<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    series: Vec<Series<'a>>,
    x: Axis,
    y: Axis,
    range: Range,
}

impl<'a> LinePlot<'a> {
    /// An empty plot.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    titled!();

    /// With one more series.
    #[must_use]
    pub fn series(mut self, series: Series<'a>) -> Self {
        self.series.push(series);
        self
    }

    setters! {
        /// With a name, unit and coordinates for the horizontal axis.
        x_axis: x: Axis;
        /// With a name and unit for the vertical axis.
        y_axis: y: Axis;
        /// With another range of values; percentiles are those of the first series.
        range: range: Range;
    }

    pub(crate) fn prepare(&self) -> Result<Prepared> {
        let mut up = Summary::default();
        let mut across = Summary::default();
        let mut longest = 0;
        for series in &self.series {
            series.y.for_each(0..series.y.len(), |value| up.add(value));
            match series.x {
                Some(x) => x.for_each(0..x.len(), |value| across.add(value)),
                None => longest = longest.max(series.y.len()),
            }
        }
        // Coordinates of the axis stretch the indices; a series with places of its own is drawn on the same scale.
        let step = match self.x.ends {
            Some((first, last)) if longest > 1 => {
                Some((first, (last / 2.0 - first / 2.0) / (longest - 1) as f64 * 2.0))
            }
            _ => None,
        };
        if longest > 0 {
            let (first, step) = step.unwrap_or((0.0, 1.0));
            across.add(first);
            across.add(first + step * (longest - 1) as f64);
        }
        let empty = Values::from(&[0.0f64; 0]);
        let across_span = Range::default().resolve_with(empty, &across)?;
        let first = self.series.first().map_or(empty, |series| series.y);
        let span = self.range.resolve_with(first, &up)?;
        Ok(Prepared {
            across: across_span,
            up: self.with_margin(span),
            step,
            whole: across.finite > 0 && step.is_none() && longest > 0,
        })
    }

    /// Ends that come from the data leave some air.
    fn with_margin(&self, span: Span) -> Span {
        let airy = |bound: Bound| bound == Bound::Data;
        let (low, high) = (span.low(), span.high());
        let (low_bound, high_bound) = self.range.bounds();
        if span.is_log() {
            let room = (high.log10() - low.log10()) * 0.04;
            let low = if airy(low_bound) { 10f64.powf(low.log10() - room) } else { low };
            let high = if airy(high_bound) { 10f64.powf(high.log10() + room) } else { high };
            return if low > 0.0 && high.is_finite() { Span::new(low, high, true) } else { span };
        }
        if self.range.scale_kind() == Scale::Symmetric {
            return span;
        }
        let room = (high / 2.0 - low / 2.0) * 0.08;
        let low = if airy(low_bound) { low - room } else { low };
        let high = if airy(high_bound) { high + room } else { high };
        if low.is_finite() && high.is_finite() && low < high { Span::new(low, high, false) } else { span }
    }

    /// The traces of all series on a plot of `columns` pixels.
    pub(crate) fn traces(&self, prepared: &Prepared, columns: usize) -> Vec<Trace> {
        let each = |series: &Series<'a>| match (series.x, prepared.step) {
            (None, Some((first, step))) => {
                let place = move |index: usize| first + step * index as f64;
                trace(Some(Values::by_index(series.y.len(), &place)), series.y, &prepared.across, &prepared.up, columns)
            }
            (x, _) => trace(x, series.y, &prepared.across, &prepared.up, columns),
        };
        self.series.iter().map(each).collect()
    }

    pub(crate) fn rules(&self, prepared: &Prepared) -> (Rule, Rule) {
        let mut x = self.x.numbers(&prepared.across, prepared.whole);
        if self.is_mirrored() {
            std::mem::swap(&mut x.start, &mut x.end);
        }
        (x, self.y.numbers(&prepared.up, false))
    }

    /// Names of the series with their numbers; none for a single series without a name.
    pub(crate) fn legend(&self) -> impl Iterator<Item = (usize, &str)> {
        let shown = self.series.len() > 1 || self.series.iter().any(|series| !series.name.is_empty());
        self.series.iter().map(|series| series.name.as_str()).enumerate().filter(move |_| shown)
    }
}

/// What is computed once per drawing.
pub(crate) struct Prepared {
    across: Span,
    up: Span,
    /// The coordinate of the first index and the distance to the next.
    step: Option<(f64, f64)>,
    whole: bool,
}

impl Figure for LinePlot<'_> {
    fn scene(&self, size: &Size) -> Result<Scene<'_>> {
        size.check()?;
        let prepared = self.prepare()?;
        let (x, y) = self.rules(&prepared);
        let chrome = Chrome {
            title: &self.title,
            subtitle: &self.subtitle,
            x,
            y,
            bar: None,
            legend: self.legend().map(|(index, name)| (size.theme.series(index), name.to_owned())).collect(),
            aspect: None,
        };
        let layout = Layout::new(size, &chrome);
        let plot = layout.plot;
        let mut scene = layout.scene();
        layout.draw_grid(&mut scene, true);
        let mirrored = self.is_mirrored();
        for (index, trace) in self.traces(&prepared, plot.width as usize * 2).into_iter().enumerate() {
            let ink = Ink::solid(size.theme.series(index));
            let at = |point: &Point| plot.at(if mirrored { 1.0 - point.x } else { point.x }, point.y);
            let (dots, lines): (Vec<_>, Vec<_>) = trace.lines.iter().partition(|line| line.len() == 1);
            let place = |lines: Vec<&Vec<Point>>| lines.iter().map(|line| line.iter().map(at).collect()).collect();
            scene.shapes.push(Shape::Strokes { lines: place(lines), ink, width: 1.6 });
            scene.shapes.push(Shape::Strokes { lines: place(dots), ink, width: 4.0 });
            for (marks, y, reach) in [(&trace.above, 0.0, 8.0), (&trace.below, 1.0, -8.0)] {
                for x in marks {
                    let tip = at(&Point { x: *x, y });
                    let corner = |dx: f64| Point { x: tip.x + dx, y: tip.y + reach };
                    scene.fill(vec![tip, corner(-4.0), corner(4.0)], ink);
                }
            }
        }
        layout.draw(&mut scene);
        Ok(scene)
    }

    fn text(&self, terminal: &Terminal) -> Result<String> {
        plot_text::lines(self, terminal)
    }

    fn title_text(&self) -> &str {
        &self.title
    }
}

impl LinePlot<'_> {
    /// Colours of the series on a terminal, whose background is not known.
    pub(crate) fn terminal_colour(index: usize) -> Rgb {
        Theme::Light.series(index).mix(Rgb::hex(0xffffff), 0.15)
    }

    pub(crate) fn is_mirrored(&self) -> bool {
        self.x.ends.is_some_and(|(first, last)| first > last)
    }
}
