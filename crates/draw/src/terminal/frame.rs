//! Titles and axes around a block of cells.

use super::Terminal;
use super::cells::{Cell, Cells, columns_of, write_cells};
use crate::axis::Rule;
use crate::error::Result;
use crate::text::{shortened, visible};

/// What is around the cells.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    pub(crate) subtitle: &'a str,
    pub(crate) x: Rule,
    pub(crate) y: Rule,
    /// Width over height in pixels of half a character, where proportions have to be kept.
    pub(crate) aspect: Option<f64>,
    /// Lines above the data: a legend.
    pub(crate) head: Vec<Vec<Cell>>,
    /// How many lines are added below: a colour bar.
    pub(crate) foot: usize,
}

/// The figure as text: `paint` is called with the width and height of the data, `foot` with the width of the figure.
pub(crate) fn render(
    terminal: &Terminal,
    frame: &Frame<'_>,
    paint: impl FnOnce(usize, usize) -> Result<Cells>,
    foot: impl FnOnce(usize) -> Vec<Vec<Cell>>,
) -> Result<String> {
    terminal.check()?;
    let (columns, rows) = (usize::from(terminal.columns), usize::from(terminal.rows));
    let plain = |text: &str| plain_text(text, terminal);
    let mut out = String::new();
    // Titles give way first where there are few rows: the data needs at least three.
    let mut room = rows - 2;
    let mut take = |wanted: bool| {
        let given = wanted && room > 3;
        room -= usize::from(given);
        given
    };
    let y_name = plain(&frame.y.marks(2).name);
    let x_name = plain(&frame.x.marks(2).name);
    let feet: usize = (0..frame.foot).map(|_| usize::from(take(true))).sum();
    let title = take(!frame.title.is_empty());
    let shows_x_name = take(!x_name.is_empty());
    let heads: usize = frame.head.iter().map(|_| usize::from(take(true))).sum();
    let shows_y_name = take(!y_name.is_empty());
    let subtitle = take(!frame.subtitle.is_empty());
    let (mut width, mut height) = (0, room);
    let mut labels = Vec::new();
    let mut gutter = 0;
    for _ in 0..2 {
        let marks = frame.y.marks_that_fit(height as f64, (height / 2).clamp(1, 9), 1.0, |_| 1.0);
        labels = marks.marks.into_iter().map(|(fraction, label)| (fraction, plain(&label))).collect();
        gutter = labels.iter().map(|(_, label)| columns_of(label)).max().unwrap_or(0).min(columns / 3);
        width = columns - gutter - 2;
        height = room;
        if let Some(aspect) = frame.aspect {
            let fit = (2.0 * height as f64 * aspect).min(width as f64).max(2.0);
            width = fit as usize;
            height = ((fit / aspect / 2.0).round() as usize).clamp(1, room);
        }
    }
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let fit = |text: &str| shortened(text, |text| columns_of(text) <= columns);
    if title {
        line(&fit(&plain(&visible(frame.title))));
    }
    if subtitle {
        line(&fit(&plain(&visible(frame.subtitle))));
    }
    let write = |cells: &[Cell]| {
        let mut text = String::new();
        write_cells(&mut text, cells, terminal.colour);
        text
    };
    for head in frame.head.iter().take(heads) {
        line(&write(head));
    }
    if shows_y_name {
        line(&fit(&visible(&y_name)));
    }
    let cells = paint(width, height)?;
    let (tick, bar, corner, dash, cross) =
        if terminal.is_plain() { ('|', '|', '+', '-', '+') } else { ('┤', '│', '└', '─', '┬') };
    let place = |fraction: f64, count: usize| ((fraction * count as f64) as usize).min(count.saturating_sub(1));
    for y in 0..height {
        let label = labels.iter().find(|(fraction, _)| place(1.0 - fraction, height) == y);
        let text = label.map_or(String::new(), |(_, label)| shortened(label, |text| columns_of(text) <= gutter));
        let pad = " ".repeat(gutter - columns_of(&text));
        let mark = if label.is_some() { tick } else { bar };
        line(&format!("{pad}{text} {mark}{}", write(cells.row(y))));
    }
    let across = frame.x.marks_that_fit(width as f64, (width / 4).clamp(1, 12), 2.0, |label| columns_of(label) as f64);
    let mut rule: Vec<char> = std::iter::repeat_n(dash, width).collect();
    let mut row = vec![' '; columns];
    for (fraction, label) in &across.marks {
        let label: Vec<char> = plain(label).chars().collect();
        let at = place(*fraction, width);
        rule[at] = cross;
        let start = (gutter + 2 + at).saturating_sub(label.len() / 2).min(columns - label.len().min(columns));
        // A label that would touch its neighbour is left out.
        let before = start.saturating_sub(1);
        if row[before..(start + label.len()).min(columns)].iter().all(|cell| *cell == ' ') {
            for (offset, character) in label.into_iter().enumerate().take(columns - start) {
                row[start + offset] = character;
            }
        }
    }
    line(&format!("{}{corner}{}", " ".repeat(gutter + 1), rule.into_iter().collect::<String>()));
    line(&row.into_iter().collect::<String>());
    if shows_x_name {
        let name = fit(&visible(&x_name));
        let left = (gutter + 2 + width / 2).saturating_sub(columns_of(&name) / 2).min(columns - columns_of(&name));
        line(&format!("{}{name}", " ".repeat(left)));
    }
    for cells in foot(gutter + 2 + width).iter().take(feet) {
        line(&write(cells));
    }
    Ok(out)
}

/// Without colours, the characters that this crate adds are ASCII as well.
pub(crate) fn plain_text(text: &str, terminal: &Terminal) -> String {
    if terminal.is_plain() { text.replace('−', "-") } else { text.to_owned() }
}
