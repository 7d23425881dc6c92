//! Shapes to SVG.

use std::fmt::Write;

use super::{Anchor, Ink, Scene, Shape, encode_png};
use crate::font;
use crate::plane::Point;
use crate::text::xml;

/// Text height of a font whose capitals are as high as ours, as a multiple of theirs.
const FONT_SIZE: f64 = font::CAP_HEIGHT / 0.72;

/// The largest number of pixels of an embedded image, per side and pixel of the layout.
const IMAGE_SCALE: u32 = 2;

/// A scene as an SVG document. The image of a field is embedded at the resolution of the data, or of the drawing times
/// two where the data is finer.
pub(crate) fn write(scene: &Scene<'_>, title: &str) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">"
    );
    if !title.is_empty() {
        let _ = writeln!(out, "<title>{}</title>", xml(title));
    }
    if let Some(colour) = scene.background {
        let _ = writeln!(out, "{}", background(scene, colour));
    }
    for shape in &scene.shapes {
        let _ = write_shape(&mut out, shape);
    }
    out.push_str("</svg>\n");
    out
}

/// Paper around the images and not below them: missing values stay transparent.
fn background(scene: &Scene<'_>, colour: crate::Rgb) -> String {
    let mut path = format!("M0 0H{}V{}H0Z", scene.width, scene.height);
    for shape in &scene.shapes {
        if let Shape::Image { rect, .. } = shape {
            let _ = write!(path, "M{} {}v{}h{}v-{}Z", rect.x, rect.y, rect.height, rect.width, rect.height);
        }
    }
    format!("<path d=\"{path}\" fill=\"{colour}\"/>")
}

fn write_shape(out: &mut String, shape: &Shape<'_>) -> std::fmt::Result {
    match shape {
        Shape::Fill { points, ink } => {
            let path = path_data(std::slice::from_ref(points));
            writeln!(out, "<path d=\"{path}Z\" fill=\"{}\"{}/>", ink.colour, opacity("fill", *ink))
        }
        Shape::Strokes { lines, ink, width } => writeln!(
            out,
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\"{} stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
            path_data(lines),
            ink.colour,
            opacity("stroke", *ink),
            decimal(*width)
        ),
        Shape::Text { at, text, ink, size, anchor, upright } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (decimal(at.x), decimal(at.y));
            let turn = if *upright { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{}{turn}>{}</text>",
                decimal(FONT_SIZE * size),
                ink.colour,
                opacity("fill", *ink),
                xml(text)
            )
        }
        Shape::Image { rect, columns, rows, paint } => {
            let side = |data: u64, layout: u32| data.clamp(1, u64::from(layout * IMAGE_SCALE)) as u32;
            let (width, height) = (side(*columns, rect.width), side(*rows, rect.height));
            let file = encode_png(width, height, &paint(width, height));
            writeln!(
                out,
                "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
                 style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
                rect.x,
                rect.y,
                rect.width,
                rect.height,
                base64(&file)
            )
        }
    }
}

fn opacity(kind: &str, ink: Ink) -> String {
    if ink.alpha < 1.0 { format!(" {kind}-opacity=\"{}\"", decimal(ink.alpha)) } else { String::new() }
}

fn path_data(lines: &[Vec<Point>]) -> String {
    let mut path = String::new();
    for line in lines {
        for (index, point) in line.iter().enumerate() {
            let letter = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{} {}", decimal(point.x), decimal(point.y));
        }
        // A line of one point is a dot: its round ends show only with a length.
        if line.len() == 1 {
            path.push_str("h0");
        }
    }
    path
}

/// A number with at most two decimals.
fn decimal(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Bytes as base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let value = group.iter().fold(0u32, |value, byte| value << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS[(value >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_known_texts() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn short_decimals() {
        assert_eq!(decimal(1.0), "1");
        assert_eq!(decimal(-0.001), "0");
        assert_eq!(decimal(12.346), "12.35");
    }
}
