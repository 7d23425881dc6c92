//! Lines as Braille dots and histograms as blocks, or both as plain characters.

use super::heatmap_text::dots;
use super::{Histogram, LinePlot};
use crate::error::Result;
use crate::plane::Point;
use crate::terminal::{Cell, Cells, Frame, Terminal, columns_of, render};
use crate::text::{shortened, visible};

/// Marks of series without colours.
const MARKS: [char; 7] = ['*', '+', 'o', 'x', '#', '@', '%'];

pub(crate) fn lines(plot: &LinePlot<'_>, terminal: &Terminal) -> Result<String> {
    let prepared = plot.prepare()?;
    let (x, y) = plot.rules(&prepared);
    let head = legend(plot, terminal);
    let frame = Frame { title: &plot.title, subtitle: &plot.subtitle, x, y, aspect: None, head, foot: 0 };
    let paint = |width: usize, height: usize| {
        let (across, down) = if terminal.is_plain() { (1, 1) } else { (2, 4) };
        let mut cells = Cells::blank(width, height);
        for (index, trace) in plot.traces(&prepared, width * across).iter().enumerate() {
            let mirror =
                |point: Point| Point { x: if plot.is_mirrored() { 1.0 - point.x } else { point.x }, y: point.y };
            let marks =
                |places: &[f64], y: f64| places.iter().map(move |x| vec![Point { x: *x, y }]).collect::<Vec<_>>();
            let edges = marks(&trace.above, 0.0).into_iter().chain(marks(&trace.below, 1.0));
            for line in trace.lines.iter().cloned().chain(edges) {
                let only = [line[0], line[0]];
                let pairs = line.windows(2).map(|pair| [pair[0], pair[1]]);
                for [a, b] in pairs.chain(Some(only).filter(|_| line.len() == 1)) {
                    for (x, y) in dots(mirror(a), mirror(b), width * across, height * down) {
                        set(&mut cells, terminal, index, (x, y));
                    }
                }
            }
        }
        Ok(cells)
    };
    render(terminal, &frame, paint, |_| Vec::new())
}

fn set(cells: &mut Cells, terminal: &Terminal, series: usize, (x, y): (usize, usize)) {
    if terminal.is_plain() {
        cells.put(x, y, Cell::new(MARKS[series % MARKS.len()], None));
        return;
    }
    // Bits of U+2800 by row and column.
    const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let index = y / 4 * cells.width + x / 2;
    let before = cells.cells.get(index).map_or(' ', |cell| cell.glyph);
    let bits = if before == ' ' { 0 } else { u32::from(before) - 0x2800 };
    let glyph = char::from_u32(0x2800 + (bits | BITS[y % 4][x % 2])).unwrap_or(' ');
    cells.put(x / 2, y / 4, Cell::new(glyph, Some(LinePlot::terminal_colour(series))));
}

/// Names of the series, as many as fit on a line.
fn legend(plot: &LinePlot<'_>, terminal: &Terminal) -> Vec<Vec<Cell>> {
    let columns = usize::from(terminal.columns);
    let mut cells: Vec<Cell> = Vec::new();
    let mut used = 0;
    for (index, name) in plot.legend() {
        let name = shortened(&visible(name), |text| columns_of(text) <= 24);
        let width = columns_of(&name) + 5;
        if used + width > columns {
            break;
        }
        used += width;
        let sample = if terminal.is_plain() { MARKS[index % MARKS.len()] } else { '━' };
        let ink = (!terminal.is_plain()).then(|| LinePlot::terminal_colour(index));
        cells.extend([Cell::new(sample, ink), Cell::new(sample, ink), Cell::BLANK]);
        cells.extend(name.chars().map(|glyph| Cell::new(glyph, None)));
        cells.extend([Cell::BLANK; 2]);
    }
    if cells.is_empty() { Vec::new() } else { vec![cells] }
}

pub(crate) fn histogram(histogram: &Histogram, terminal: &Terminal) -> Result<String> {
    const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (x, y) = histogram.rules();
    let frame =
        Frame { title: &histogram.title, subtitle: &histogram.subtitle, x, y, aspect: None, head: Vec::new(), foot: 0 };
    let paint = |width: usize, height: usize| {
        let bars: Vec<(f64, f64, f64)> = histogram.bars().collect();
        let mut cells = Cells::blank(width, height);
        let ink = (!terminal.is_plain()).then(|| LinePlot::terminal_colour(0));
        for x in 0..width {
            // The highest of the bars that a column covers, so that none is lost.
            let (from, to) = ((x as f64) / width as f64, (x + 1) as f64 / width as f64);
            let middle = (from + to) / 2.0;
            let tall = bars
                .iter()
                .filter(|(left, right, _)| (*left..*right).contains(&middle) || (*left >= from && *right <= to));
            let share = tall.map(|(_, _, height)| *height).fold(0.0, f64::max);
            let steps = if terminal.is_plain() { 1 } else { 8 };
            let mut filled = (share * (height * steps) as f64).round() as usize;
            // A bin with a single value still shows.
            filled = filled.max(usize::from(share > 0.0));
            for y in 0..height {
                let level = filled.saturating_sub(y * steps).min(steps);
                if level > 0 {
                    let glyph = if terminal.is_plain() { '#' } else { EIGHTHS[level - 1] };
                    cells.put(x, height - 1 - y, Cell::new(glyph, ink));
                }
            }
        }
        Ok(cells)
    };
    render(terminal, &frame, paint, |_| Vec::new())
}
