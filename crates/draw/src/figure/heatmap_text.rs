//! Heat maps as half blocks, or as characters of rising density.

use std::collections::BTreeSet;

use super::heatmap::{HeatMap, Prepared};
use crate::coast::{CoastDetail, coast_in};
use crate::colour::Rgb;
use crate::error::Result;
use crate::geo::Area;
use crate::plane::Point;
use crate::range::{Place, Span};
use crate::resample::cover;
use crate::terminal::{Cell, Cells, Frame, Terminal, plain_text, render};
use crate::text::{rounded, visible};

/// From few to much ink. A blank is a missing value.
const DENSITY: &[u8] = b".:-=+*#%@";
const UNDER: char = '<';
const OVER: char = '>';

pub(crate) fn heatmap(map: &HeatMap<'_>, terminal: &Terminal) -> Result<String> {
    let prepared = map.prepare()?;
    let (x, y) = map.rules(&prepared);
    let frame = Frame {
        title: &map.title,
        subtitle: &map.subtitle,
        x,
        y,
        aspect: map.aspect(&prepared),
        head: Vec::new(),
        foot: 1,
    };
    render(
        terminal,
        &frame,
        |width, height| {
            Ok(if terminal.is_plain() {
                plain(map, &prepared, width, height)
            } else {
                blocks(map, &prepared, width, height)
            })
        },
        |width| vec![bar(map, &prepared, terminal, width)],
    )
}

fn plain(map: &HeatMap<'_>, prepared: &Prepared, width: usize, height: usize) -> Cells {
    let mut cells = Cells::blank(width, height);
    map.each_row(prepared, width, height, |y, row| {
        for (x, value) in row.iter().enumerate() {
            cells.put(x, y, Cell::new(density(&prepared.span, *value), None));
        }
    });
    cells
}

fn density(span: &Span, value: f64) -> char {
    match span.place(value) {
        Place::Missing => ' ',
        Place::Under => UNDER,
        Place::Over => OVER,
        Place::Inside(t) => char::from(DENSITY[((t * DENSITY.len() as f64) as usize).min(DENSITY.len() - 1)]),
    }
}

fn blocks(map: &HeatMap<'_>, prepared: &Prepared, width: usize, height: usize) -> Cells {
    let mut pixels = vec![None; width * height * 2];
    map.each_row(prepared, width, height * 2, |y, row| {
        for (x, value) in row.iter().enumerate() {
            pixels[y * width + x] = map.colour(&prepared.span, *value);
        }
    });
    if let Some(area) = map.coast_of(prepared) {
        for index in coast_pixels(&area, width, height * 2) {
            pixels[index] = Some(pixels[index].map_or(Rgb::hex(0x808080), shaded));
        }
    }
    let mut cells = Cells::blank(width, height);
    for y in 0..height {
        for x in 0..width {
            cells.put(x, y, Cell::pixels(pixels[2 * y * width + x], pixels[(2 * y + 1) * width + x]));
        }
    }
    cells
}

/// Indices of the pixels on a coast, each once. Islands of a pixel or two would be noise and are left out.
fn coast_pixels(area: &Area, width: usize, height: usize) -> BTreeSet<usize> {
    let mut marked = BTreeSet::new();
    for line in coast_in(area, CoastDetail::World) {
        let extent = |pick: fn(&Point) -> f64| {
            let ends = line
                .iter()
                .map(pick)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
            ends.1 - ends.0
        };
        if extent(|point| point.x) * (width as f64) < 2.5 && extent(|point| point.y) * (height as f64) < 2.5 {
            continue;
        }
        for pair in line.windows(2) {
            marked.extend(dots(pair[0], pair[1], width, height).map(|(x, y)| y * width + x));
        }
    }
    marked
}

/// The colour of a pixel with a coastline: darker on light colours, lighter on dark ones.
fn shaded(colour: Rgb) -> Rgb {
    if colour.luma() > 0.4 { colour.mix(Rgb::hex(0x000000), 0.42) } else { colour.mix(Rgb::hex(0xffffff), 0.3) }
}

/// Pixels on the line between two places, given as fractions.
pub(super) fn dots(a: Point, b: Point, width: usize, height: usize) -> impl Iterator<Item = (usize, usize)> {
    let scaled = |point: Point| (point.x * width as f64, point.y * height as f64);
    let ((ax, ay), (bx, by)) = (scaled(a), scaled(b));
    let steps = ((bx - ax).abs().max((by - ay).abs()).ceil() * 2.0).clamp(1.0, 1e5) as u32;
    let at = move |step: u32| {
        let t = f64::from(step) / f64::from(steps);
        let cut = |value: f64, count: usize| (value.max(0.0) as usize).min(count.saturating_sub(1));
        (cut(ax + t * (bx - ax), width), cut(ay + t * (by - ay), height))
    };
    (0..=steps).map(at)
}

/// The colour bar: ends with their values, and the unit.
fn bar(map: &HeatMap<'_>, prepared: &Prepared, terminal: &Terminal, width: usize) -> Vec<Cell> {
    let span = prepared.span;
    let bar = map.bar(prepared);
    let text = |text: &str| -> Vec<Cell> {
        let text = plain_text(&visible(text), terminal);
        text.chars().map(|glyph| Cell::new(glyph, None)).collect()
    };
    let name = bar.rule.name_and_unit();
    let limit = usize::from(terminal.columns);
    let low = text(&format!("{} ", rounded(span.low(), 4)));
    let high = text(&format!(" {}", rounded(span.high(), 4)));
    let unit = if name.is_empty() { Vec::new() } else { text(&format!("  {name}")) };
    let mark = |shown: bool, glyph: char, colour: Rgb| match (shown, terminal.is_plain()) {
        (false, _) => Vec::new(),
        (true, true) => vec![Cell::new(glyph, None)],
        (true, false) => vec![Cell::new('█', Some(colour)); 2],
    };
    let under = mark(bar.under, UNDER, bar.map.under());
    let over = mark(bar.over, OVER, bar.map.over());
    // Where room is short, the unit gives way and the numbers stay whole.
    let ends = low.len() + high.len() + under.len() + over.len();
    let unit = if ends + unit.len() + DENSITY.len() > limit { Vec::new() } else { unit };
    let taken = ends + unit.len();
    let length = width.max(30).min(limit).saturating_sub(taken).clamp(3, 48);
    let ramp = (0..length).map(|index| {
        let t = (index as f64 + 0.5) / length as f64;
        if terminal.is_plain() {
            let (place, _) = cover(index, length, DENSITY.len());
            Cell::new(char::from(DENSITY[place]), None)
        } else {
            Cell::new('█', Some(bar.map.at(t)))
        }
    });
    let mut cells: Vec<Cell> = low.into_iter().chain(under).chain(ramp).chain(over).chain(high).chain(unit).collect();
    cells.truncate(limit);
    cells
}
