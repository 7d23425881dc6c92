//! Places on a picture, and lines cut at its edges.

/// A place in pixels at scale 1, from the top left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// A rectangle in whole pixels at scale 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Rect {
    /// The place of fractions from the left and from the top.
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        Point { x: f64::from(self.x) + x * f64::from(self.width), y: f64::from(self.y) + y * f64::from(self.height) }
    }
}

/// The parts of a line inside the unit square.
pub(crate) fn clip(line: impl Iterator<Item = Point>, out: &mut Vec<Vec<Point>>) {
    let mut part: Vec<Point> = Vec::new();
    let mut last: Option<Point> = None;
    for point in line {
        if let Some(from) = last {
            match clip_segment(from, point) {
                Some((a, b)) => {
                    if part.last() != Some(&a) {
                        flush(&mut part, out);
                        part.push(a);
                    }
                    part.push(b);
                }
                None => flush(&mut part, out),
            }
        }
        last = Some(point);
    }
    flush(&mut part, out);
}

fn flush(part: &mut Vec<Point>, out: &mut Vec<Vec<Point>>) {
    if part.len() > 1 {
        out.push(std::mem::take(part));
    }
    part.clear();
}

/// Liang and Barsky.
fn clip_segment(a: Point, b: Point) -> Option<(Point, Point)> {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for (p, q) in [(-dx, a.x), (dx, 1.0 - a.x), (-dy, a.y), (dy, 1.0 - a.y)] {
        if p == 0.0 {
            if q < 0.0 {
                return None;
            }
        } else if p < 0.0 {
            from = from.max(q / p);
        } else {
            to = to.min(q / p);
        }
    }
    if from > to {
        return None;
    }
    let at = |t: f64| match t {
        0.0 => a,
        1.0 => b,
        _ => Point { x: a.x + t * dx, y: a.y + t * dy },
    };
    Some((at(from), at(to)))
}
