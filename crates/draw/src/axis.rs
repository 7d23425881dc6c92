//! Axes: what they are called, and where their ticks are.

use crate::range::Span;
use crate::text::with_unit;
use crate::ticks::Ticks;

/// The name, unit and coordinates of an axis.
///
/// ```
/// use fw_draw::Axis;
///
/// let levels = Axis::new("pressure").unit("hPa").coordinates(1000.0, 100.0);
/// assert_ne!(levels, Axis::default());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) ends: Option<(f64, f64)>,
}

impl Axis {
    /// An axis with a name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// With a unit.
    #[must_use]
    pub fn unit(self, unit: impl Into<String>) -> Self {
        Self { unit: unit.into(), ..self }
    }

    /// With the coordinates of the first and last points, evenly spaced. Without them points are numbered from 0.
    /// Coordinates that are not finite, or equal, are ignored.
    #[must_use]
    pub fn coordinates(self, first: f64, last: f64) -> Self {
        let ends = (first.is_finite() && last.is_finite() && first != last).then_some((first, last));
        Self { ends, ..self }
    }

    /// The rule of an axis of cells: half a cell before the first and after the last point.
    pub(crate) fn cells(&self, count: usize) -> Rule {
        let kind = if self.ends.is_none() { Kind::Index } else { Kind::Number };
        let (first, last) = self.ends.unwrap_or((0.0, count.saturating_sub(1) as f64));
        let half = if count > 1 { (last / 2.0 - first / 2.0) / (count - 1) as f64 } else { 0.5 };
        // Coordinates at the end of what a double holds have no room for half a cell.
        let end = |value: f64, other: f64| if value.is_finite() { value } else { other };
        Rule {
            start: end(first - half, first),
            end: end(last + half, last),
            kind,
            name: self.name.clone(),
            unit: self.unit.clone(),
        }
    }

    /// The rule of an axis of numbers.
    pub(crate) fn numbers(&self, span: &Span, whole: bool) -> Rule {
        let kind = match (span.is_log(), whole) {
            (true, _) => Kind::Log,
            (false, true) => Kind::Index,
            (false, false) => Kind::Number,
        };
        Rule { start: span.low(), end: span.high(), kind, name: self.name.clone(), unit: self.unit.clone() }
    }
}

/// An axis of a picture, from its start (left or bottom) to its end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) unit: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Log,
    /// Whole numbers only.
    Index,
    Latitude,
    Longitude,
}

/// Ticks as fractions from the start, and the name of the axis with all that belongs to it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Marks {
    pub(crate) marks: Vec<(f64, String)>,
    pub(crate) name: String,
}

impl Rule {
    pub(crate) fn geographic(start: f64, end: f64, kind: Kind) -> Self {
        Self { start, end, kind, name: String::new(), unit: String::new() }
    }

    pub(crate) fn name_and_unit(&self) -> String {
        with_unit(&self.name, &self.unit)
    }

    /// At most `most` ticks.
    pub(crate) fn marks(&self, most: usize) -> Marks {
        let (low, high) = (self.start.min(self.end), self.start.max(self.end));
        let ticks = match self.kind {
            Kind::Number => Ticks::linear(low, high, most),
            Kind::Log => Ticks::log(low, high, most),
            Kind::Index => Ticks::linear(low, high, most.min((high - low).ceil().max(1.0) as usize)),
            Kind::Latitude => Ticks::latitude(low, high, most),
            Kind::Longitude => Ticks::longitude(low, high, most),
        };
        let span = Span::new(low, high, self.kind == Kind::Log);
        let fraction =
            |value: f64| if self.start <= self.end { span.fraction(value) } else { 1.0 - span.fraction(value) };
        let unit = [ticks.exponent_text(), self.unit.clone()].into_iter().filter(|part| !part.is_empty());
        let name = with_unit(&self.name, &unit.collect::<Vec<_>>().join(" "));
        let fine = |label: &str| self.kind != Kind::Index || !label.contains('.');
        let marks = ticks.ticks.into_iter().filter(|tick| fine(&tick.label));
        Marks { marks: marks.map(|tick| (fraction(tick.value), tick.label)).collect(), name }
    }

    /// As many ticks as there is room for, by their labels' extents.
    pub(crate) fn marks_that_fit(&self, room: f64, most: usize, gap: f64, extent: impl Fn(&str) -> f64) -> Marks {
        for count in (1..=most).rev() {
            let marks = self.marks(count);
            let fits = |pair: &[(f64, String)]| {
                let distance = (pair[1].0 - pair[0].0).abs() * room;
                (extent(&pair[0].1) + extent(&pair[1].1)) / 2.0 + gap <= distance
            };
            if marks.marks.windows(2).all(fits) {
                return marks;
            }
        }
        Marks { marks: Vec::new(), name: self.marks(1).name }
    }
}
