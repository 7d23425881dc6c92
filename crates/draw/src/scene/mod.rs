//! A picture as a list of shapes, drawn alike as pixels and as SVG.

mod png; // pixels to a PNG file
mod raster; // shapes to pixels
mod sixel; // pixels to terminal graphics
mod svg; // shapes to text

pub(crate) use png::encode as encode_png;
pub(crate) use raster::rasterise;
pub(crate) use sixel::encode as encode_sixel;
pub(crate) use svg::{base64, write as write_svg};

use crate::colour::Rgb;
use crate::plane::{Point, Rect};

/// A picture before it is pixels or text: made by [`Figure::scene`](crate::Figure::scene).
pub struct Scene<'a> {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) background: Option<Rgb>,
    pub(crate) shapes: Vec<Shape<'a>>,
}

/// Colours of an image, row by row: red, green, blue, alpha.
pub(crate) type Pixels = Vec<[u8; 4]>;

/// Paints an image at the number of pixels asked for.
pub(crate) type Painter<'a> = Box<dyn Fn(u32, u32) -> Pixels + 'a>;

/// What a scene is made of, drawn in order.
pub(crate) enum Shape<'a> {
    Fill {
        points: Vec<Point>,
        ink: Ink,
    },
    Strokes {
        lines: Vec<Vec<Point>>,
        ink: Ink,
        width: f64,
    },
    Text {
        at: Point,
        text: String,
        ink: Ink,
        size: f64,
        anchor: Anchor,
        upright: bool,
    },
    /// Replaces what is below, so that missing values are transparent. `columns` and `rows` are what the data has.
    Image {
        rect: Rect,
        columns: u64,
        rows: u64,
        paint: Painter<'a>,
    },
}

/// A colour with its opacity from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ink {
    pub(crate) colour: Rgb,
    pub(crate) alpha: f64,
}

impl Ink {
    pub(crate) fn solid(colour: Rgb) -> Self {
        Self { colour, alpha: 1.0 }
    }
}

/// Which part of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Scene<'_> {
    pub(crate) fn fill(&mut self, points: Vec<Point>, ink: Ink) {
        self.shapes.push(Shape::Fill { points, ink });
    }

    /// Lines that lie on the edges of pixels are moved by half a pixel so that they are sharp.
    pub(crate) fn hairlines(&mut self, lines: &[(f64, f64, f64, f64)], ink: Ink) {
        let lines = lines
            .iter()
            .map(|(x0, y0, x1, y1)| vec![Point { x: x0 + 0.5, y: y0 + 0.5 }, Point { x: x1 + 0.5, y: y1 + 0.5 }]);
        self.shapes.push(Shape::Strokes { lines: lines.collect(), ink, width: 1.0 });
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, text: &str, style: TextStyle) {
        if text.is_empty() {
            return;
        }
        let TextStyle { ink, size, anchor, upright } = style;
        self.shapes.push(Shape::Text { at: Point { x, y }, text: text.to_owned(), ink, size, anchor, upright });
    }
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Scene({} x {}, {} shapes)", self.width, self.height, self.shapes.len())
    }
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextStyle {
    pub(crate) ink: Ink,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) upright: bool,
}
