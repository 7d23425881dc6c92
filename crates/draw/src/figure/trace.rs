//! A series as lines: gaps where values are missing, and no more points than pixels can show.

use crate::plane::{Point, clip};
use crate::range::Span;
use crate::values::Values;

/// A series in fractions of the plot from the left and from the top.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Trace {
    /// Lines; one of a single point is a value between two gaps.
    pub(crate) lines: Vec<Vec<Point>>,
    /// Where values are infinitely far away, as fractions from the left: at the top, and at the bottom.
    pub(crate) above: Vec<f64>,
    pub(crate) below: Vec<f64>,
}

/// The trace of a series on a plot of `columns` pixels.
pub(crate) fn trace(x: Option<Values<'_>>, y: Values<'_>, across: &Span, up: &Span, columns: usize) -> Trace {
    let mut out = Trace::default();
    let mut run = Run { columns: columns.max(1) as f64, ..Run::default() };
    for index in 0..y.len() {
        let value = y.at(index);
        let place = x.map_or(index as f64, |x| x.at(index));
        let left = across.fraction(place);
        let top = 1.0 - up.fraction(value);
        if left.is_finite() && top.is_finite() {
            run.push(Point { x: left, y: top });
            continue;
        }
        run.finish(&mut out.lines);
        // Infinities, and what is not positive on a logarithmic scale.
        if (0.0..=1.0).contains(&left) && top.is_infinite() {
            let marks = if top < 0.0 { &mut out.above } else { &mut out.below };
            // One mark per pixel is enough.
            if marks.last().is_none_or(|last| (left - last).abs() * run.columns >= 1.0) {
                marks.push(left);
            }
        }
    }
    run.finish(&mut out.lines);
    out
}

/// Points up to the next gap. Of the points in one column of pixels the first, lowest, highest and last are kept.
#[derive(Default)]
struct Run {
    columns: f64,
    points: Vec<Point>,
    bucket: Option<Bucket>,
}

#[derive(Clone, Copy)]
struct Bucket {
    column: f64,
    first: Point,
    lowest: (u64, Point),
    highest: (u64, Point),
    last: Point,
    count: u64,
}

impl Run {
    fn push(&mut self, point: Point) {
        let column = (point.x * self.columns).floor();
        if let Some(bucket) = &mut self.bucket
            && bucket.column == column
        {
            if point.y > bucket.lowest.1.y {
                bucket.lowest = (bucket.count, point);
            }
            if point.y < bucket.highest.1.y {
                bucket.highest = (bucket.count, point);
            }
            bucket.last = point;
            bucket.count += 1;
            return;
        }
        self.flush();
        let start = (0, point);
        self.bucket = Some(Bucket { column, first: point, lowest: start, highest: start, last: point, count: 1 });
    }

    fn flush(&mut self) {
        let Some(bucket) = self.bucket.take() else { return };
        let (one, two) = if bucket.lowest.0 <= bucket.highest.0 {
            (bucket.lowest.1, bucket.highest.1)
        } else {
            (bucket.highest.1, bucket.lowest.1)
        };
        for point in [bucket.first, one, two, bucket.last] {
            if self.points.last() != Some(&point) {
                self.points.push(point);
            }
        }
    }

    fn finish(&mut self, lines: &mut Vec<Vec<Point>>) {
        self.flush();
        let points = std::mem::take(&mut self.points);
        let inside = |point: &Point| (0.0..=1.0).contains(&point.x) && (0.0..=1.0).contains(&point.y);
        if let [only] = points[..] {
            lines.extend(Some(vec![only]).filter(|_| inside(&only)));
        } else {
            clip(points.into_iter(), lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(low: f64, high: f64) -> Span {
        Span::new(low, high, false)
    }

    #[test]
    fn gaps_points_and_infinities() {
        let y = [0.0, 1.0, f64::NAN, 1.0, f64::NAN, 0.0, f64::INFINITY, f64::NEG_INFINITY, 0.5, 0.5];
        let trace = trace(None, Values::from(&y), &span(0.0, 9.0), &span(0.0, 1.0), 900);
        assert_eq!(trace.lines.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1, 2]);
        assert_eq!((trace.above, trace.below), (vec![6.0 / 9.0], vec![7.0 / 9.0]));
    }

    #[test]
    fn values_that_have_no_logarithm_are_marked() {
        let up = Span::new(1.0, 10.0, true);
        let trace = trace(None, Values::from(&[1.0, 10.0, 0.0, -3.0]), &span(0.0, 3.0), &up, 300);
        assert_eq!((trace.lines.len(), trace.below), (1, vec![2.0 / 3.0, 1.0]));
    }

    #[test]
    fn a_million_points_keep_their_extremes() {
        let mut y = vec![0.5f32; 1_000_000];
        y[123_456] = 1.0;
        y[654_321] = 0.0;
        let trace = trace(None, Values::from(&y), &span(0.0, 999_999.0), &span(0.0, 1.0), 500);
        let points: Vec<Point> = trace.lines.concat();
        assert!(points.len() <= 4 * 501, "{}", points.len());
        assert!(points.iter().any(|point| point.y == 0.0) && points.iter().any(|point| point.y == 1.0));
    }

    #[test]
    fn values_outside_are_cut_at_the_frame() {
        let trace = trace(None, Values::from(&[-1.0f64, 3.0]), &span(0.0, 1.0), &span(0.0, 1.0), 10);
        assert_eq!(trace.lines, [vec![Point { x: 0.25, y: 1.0 }, Point { x: 0.5, y: 0.0 }]]);
    }
}
