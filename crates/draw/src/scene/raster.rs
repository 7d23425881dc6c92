//! Shapes to pixels, with smooth edges.

use super::{Anchor, Ink, Pixels, Scene, Shape};
use crate::font;
use crate::plane::{Point, Rect};

/// The pixels of a scene; each pixel of the layout becomes `scale` by `scale`.
pub(crate) fn rasterise(scene: &Scene<'_>, scale: u32) -> (u32, u32, Pixels) {
    let (width, height) = (scene.width * scale, scene.height * scale);
    let paper = scene.background.map_or([0, 0, 0, 0], |colour| [colour.r, colour.g, colour.b, 255]);
    let mut canvas = Canvas {
        width: width as usize,
        height: height as usize,
        pixels: vec![paper; width as usize * height as usize],
        cover: vec![0; width as usize * height as usize],
        scale: f64::from(scale),
    };
    for shape in &scene.shapes {
        match shape {
            Shape::Fill { points, ink } => canvas.fill(points, *ink),
            Shape::Strokes { lines, ink, width } => canvas.strokes(lines, *ink, *width),
            Shape::Image { rect, paint, .. } => canvas.image(*rect, scale, paint),
            Shape::Text { at, text, ink, size, anchor, upright } => {
                let lines = text_strokes(*at, text, *size, *anchor, *upright);
                canvas.strokes(&lines, *ink, TEXT_STROKE * size);
            }
        }
    }
    (width, height, canvas.pixels)
}

/// Width of the strokes of text at size 1.
const TEXT_STROKE: f64 = 1.15;

fn text_strokes(at: Point, text: &str, size: f64, anchor: Anchor, upright: bool) -> Vec<Vec<Point>> {
    let width = font::width(text) * size;
    let shift = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::End => -width,
    };
    // Letters are sharp where their stems lie on the middles of pixels.
    let (x, y) = if upright { (at.x.floor(), (at.y - shift).floor()) } else { ((at.x + shift).floor(), at.y.floor()) };
    let mut lines = font::strokes(text);
    for point in lines.iter_mut().flatten() {
        let (along, across) = (point.x * size, point.y * size);
        *point = if upright { Point { x: x + across, y: y - along } } else { Point { x: x + along, y: y + across } };
        point.x += 0.5;
        point.y += 0.5;
    }
    lines
}

struct Canvas {
    width: usize,
    height: usize,
    pixels: Pixels,
    /// Coverage of the shape being drawn, all zero between shapes: lines that cross are blended once.
    cover: Vec<u8>,
    scale: f64,
}

/// Pixels touched by a shape, ends excluded.
#[derive(Clone, Copy)]
struct Bounds {
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
}

impl Canvas {
    fn strokes(&mut self, lines: &[Vec<Point>], ink: Ink, width: f64) {
        let wide = width * self.scale;
        // Lines below one pixel become fainter instead of thinner.
        let (half, alpha) = (wide.max(1.0) / 2.0, ink.alpha * wide.min(1.0));
        let mut touched: Option<Bounds> = None;
        for line in lines {
            let only = line.first().map(|point| [*point, *point]);
            let pairs = line.windows(2).map(|pair| [pair[0], pair[1]]);
            for [a, b] in pairs.chain(only.filter(|_| line.len() == 1)) {
                if let Some(bounds) = self.segment(self.device(a), self.device(b), half) {
                    touched = Some(touched.map_or(bounds, |all| all.with(bounds)));
                }
            }
        }
        self.blend(touched, Ink { alpha, ..ink });
    }

    fn device(&self, point: Point) -> Point {
        Point { x: point.x * self.scale, y: point.y * self.scale }
    }

    /// Adds a line with round ends to the coverage.
    fn segment(&mut self, a: Point, b: Point, half: f64) -> Option<Bounds> {
        let reach = half + 0.5;
        let bounds =
            self.bounds(a.x.min(b.x) - reach, a.x.max(b.x) + reach, a.y.min(b.y) - reach, a.y.max(b.y) + reach)?;
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length = dx * dx + dy * dy;
        for y in bounds.top..bounds.bottom {
            let cy = y as f64 + 0.5;
            // Only the part of the row that the line can reach is looked at: long lines stay cheap.
            let (from, to) = if dy.abs() > 1e-9 {
                let at = |y: f64| a.x + ((y - a.y) / dy).clamp(0.0, 1.0) * dx;
                let (one, two) = (at(cy - reach), at(cy + reach));
                (one.min(two) - reach, one.max(two) + reach)
            } else {
                (a.x.min(b.x) - reach, a.x.max(b.x) + reach)
            };
            let left = (from.floor().max(0.0) as usize).clamp(bounds.left, bounds.right);
            let right = (to.ceil().max(0.0) as usize).clamp(bounds.left, bounds.right);
            for x in left..right {
                let cx = x as f64 + 0.5;
                let t = if length > 0.0 { (((cx - a.x) * dx + (cy - a.y) * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
                let (ex, ey) = (cx - a.x - t * dx, cy - a.y - t * dy);
                let cover = (reach - (ex * ex + ey * ey).sqrt()).clamp(0.0, 1.0);
                let cell = &mut self.cover[y * self.width + x];
                *cell = (*cell).max((cover * 255.0).round() as u8);
            }
        }
        Some(bounds)
    }

    /// Fills a polygon (even-odd), with sixteen samples per pixel.
    fn fill(&mut self, points: &[Point], ink: Ink) {
        let points: Vec<Point> = points.iter().map(|point| self.device(*point)).collect();
        let fold =
            |pick: fn(&Point) -> f64, start: f64, join: fn(f64, f64) -> f64| points.iter().map(pick).fold(start, join);
        let (left, right) = (fold(|p| p.x, f64::INFINITY, f64::min), fold(|p| p.x, f64::NEG_INFINITY, f64::max));
        let (top, bottom) = (fold(|p| p.y, f64::INFINITY, f64::min), fold(|p| p.y, f64::NEG_INFINITY, f64::max));
        let Some(bounds) = self.bounds(left, right, top, bottom) else { return };
        for y in bounds.top..bounds.bottom {
            for sample in 0..4 {
                let level = y as f64 + (f64::from(sample) + 0.5) / 4.0;
                let mut crossings: Vec<f64> = (0..points.len())
                    .filter_map(|index| {
                        let (a, b) = (points[index], points[(index + 1) % points.len()]);
                        ((a.y <= level) != (b.y <= level)).then(|| a.x + (level - a.y) / (b.y - a.y) * (b.x - a.x))
                    })
                    .collect();
                crossings.sort_by(f64::total_cmp);
                for pair in crossings.chunks_exact(2) {
                    // Samples at eighths of a pixel, as whole numbers.
                    let from = ((pair[0] * 4.0 - 0.5).ceil().max(0.0)) as usize;
                    let to = ((pair[1] * 4.0 - 0.5).ceil().max(0.0) as usize).min(self.width * 4);
                    for place in from..to {
                        let cell = &mut self.cover[y * self.width + place / 4];
                        *cell = cell.saturating_add(16);
                    }
                }
            }
        }
        self.blend(Some(bounds), ink);
    }

    fn image(&mut self, rect: Rect, scale: u32, paint: &dyn Fn(u32, u32) -> Pixels) {
        let (columns, rows) = (rect.width * scale, rect.height * scale);
        let image = paint(columns, rows);
        for (y, row) in image.chunks_exact(columns.max(1) as usize).enumerate() {
            let start = ((rect.y * scale) as usize + y) * self.width + (rect.x * scale) as usize;
            if let Some(target) = self.pixels.get_mut(start..start + row.len()) {
                target.copy_from_slice(row);
            }
        }
    }

    /// Puts ink where there is coverage, and clears the coverage.
    fn blend(&mut self, touched: Option<Bounds>, ink: Ink) {
        let Some(bounds) = touched else { return };
        let colour = [ink.colour.r, ink.colour.g, ink.colour.b];
        for y in bounds.top..bounds.bottom {
            for index in y * self.width + bounds.left..y * self.width + bounds.right {
                let cover = std::mem::take(&mut self.cover[index]);
                if cover > 0 {
                    self.pixels[index] = over(self.pixels[index], colour, f64::from(cover) / 255.0 * ink.alpha);
                }
            }
        }
    }

    fn bounds(&self, left: f64, right: f64, top: f64, bottom: f64) -> Option<Bounds> {
        let cut = |value: f64, most: usize| (value.max(0.0) as usize).min(most);
        let bounds = Bounds {
            left: cut(left.floor(), self.width),
            right: cut(right.ceil(), self.width),
            top: cut(top.floor(), self.height),
            bottom: cut(bottom.ceil(), self.height),
        };
        (bounds.left < bounds.right && bounds.top < bounds.bottom).then_some(bounds)
    }
}

impl Bounds {
    fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            right: self.right.max(other.right),
            top: self.top.min(other.top),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// Colour over a pixel that may be transparent.
fn over(below: [u8; 4], colour: [u8; 3], alpha: f64) -> [u8; 4] {
    let under = f64::from(below[3]) / 255.0 * (1.0 - alpha);
    let total = alpha + under;
    if total <= 0.0 {
        return [0; 4];
    }
    let channel =
        |index: usize| ((f64::from(colour[index]) * alpha + f64::from(below[index]) * under) / total).round() as u8;
    [channel(0), channel(1), channel(2), (total * 255.0).round() as u8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rgb;

    fn scene(shape: Shape<'_>) -> Scene<'_> {
        Scene { width: 6, height: 5, background: Some(Rgb::hex(0xffffff)), shapes: vec![shape] }
    }

    #[test]
    fn hairlines_are_sharp() {
        let line = vec![Point { x: 1.5, y: 2.5 }, Point { x: 4.5, y: 2.5 }];
        let ink = Ink::solid(Rgb::hex(0));
        let (width, _, pixels) = rasterise(&scene(Shape::Strokes { lines: vec![line], ink, width: 1.0 }), 1);
        let dark: Vec<usize> = (0..pixels.len()).filter(|index| pixels[*index] == [0, 0, 0, 255]).collect();
        assert_eq!(dark, [13, 14, 15, 16]);
        assert!(pixels.iter().enumerate().all(|(index, pixel)| dark.contains(&index) || *pixel == [255; 4]), "{width}");
    }

    #[test]
    fn polygons_fill_whole_pixels() {
        let points = [(1.0, 1.0), (4.0, 1.0), (4.0, 3.0), (1.0, 3.0)].map(|(x, y)| Point { x, y }).to_vec();
        let (_, _, pixels) = rasterise(&scene(Shape::Fill { points, ink: Ink::solid(Rgb::hex(0)) }), 2);
        assert_eq!(pixels.iter().filter(|pixel| **pixel == [0, 0, 0, 255]).count(), 24);
    }

    #[test]
    fn shapes_outside_are_cut() {
        for far in [-1e9, 1e9, f64::NAN] {
            let line = vec![Point { x: far, y: 2.5 }, Point { x: 4.5, y: far }];
            rasterise(&scene(Shape::Strokes { lines: vec![line], ink: Ink::solid(Rgb::hex(0)), width: 1.0 }), 1);
            let points = vec![Point { x: far, y: 0.0 }, Point { x: 2.0, y: 3.0 }, Point { x: 0.0, y: far }];
            rasterise(&scene(Shape::Fill { points, ink: Ink::solid(Rgb::hex(0)) }), 1);
        }
    }

    #[test]
    fn ink_over_nothing_keeps_its_colour() {
        assert_eq!(over([0; 4], [10, 20, 30], 0.5), [10, 20, 30, 128]);
        assert_eq!(over([255; 4], [0, 0, 0], 1.0), [0, 0, 0, 255]);
    }
}
