//! Characters with colours, and their escape sequences.

use std::fmt::Write;

use super::TerminalColour;
use crate::colour::{Rgb, nearest_indexed};

/// One character; `None` is the terminal's own colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) glyph: char,
    pub(crate) ink: Option<Rgb>,
    pub(crate) paper: Option<Rgb>,
}

impl Cell {
    pub(crate) const BLANK: Self = Self { glyph: ' ', ink: None, paper: None };

    pub(crate) fn new(glyph: char, ink: Option<Rgb>) -> Self {
        Self { glyph, ink, paper: None }
    }

    /// Two pixels, one above the other.
    pub(crate) fn pixels(top: Option<Rgb>, bottom: Option<Rgb>) -> Self {
        match (top, bottom) {
            (None, None) => Self::BLANK,
            (Some(_), _) => Self { glyph: '▀', ink: top, paper: bottom },
            (None, Some(_)) => Self { glyph: '▄', ink: bottom, paper: None },
        }
    }
}

/// Rows of cells.
pub(crate) struct Cells {
    pub(crate) width: usize,
    pub(crate) cells: Vec<Cell>,
}

impl Cells {
    pub(crate) fn blank(width: usize, height: usize) -> Self {
        Self { width, cells: vec![Cell::BLANK; width * height] }
    }

    pub(crate) fn row(&self, y: usize) -> &[Cell] {
        &self.cells[y * self.width..(y + 1) * self.width]
    }

    pub(crate) fn put(&mut self, x: usize, y: usize, cell: Cell) {
        if x < self.width
            && let Some(target) = self.cells.get_mut(y * self.width + x)
        {
            *target = cell;
        }
    }
}

/// Appends cells with the fewest escape sequences, and returns to the terminal's own colours.
pub(crate) fn write_cells(out: &mut String, cells: &[Cell], colour: TerminalColour) {
    // Blanks at the end of a line are not worth their bytes.
    let end = cells.iter().rposition(|cell| *cell != Cell::BLANK).map_or(0, |last| last + 1);
    let (mut ink, mut paper) = (None, None);
    for cell in &cells[..end] {
        let (next_ink, next_paper) = if colour == TerminalColour::None { (None, None) } else { (cell.ink, cell.paper) };
        // A blank has no ink of its own: keeping the current one saves a sequence.
        let next_ink = if cell.glyph == ' ' { ink } else { next_ink };
        if next_ink != ink {
            write_colour(out, 38, next_ink, colour);
            ink = next_ink;
        }
        if next_paper != paper {
            write_colour(out, 48, next_paper, colour);
            paper = next_paper;
        }
        out.push(cell.glyph);
    }
    if ink.is_some() || paper.is_some() {
        out.push_str("\x1b[0m");
    }
}

/// `target` is 38 for ink and 48 for paper; 39 and 49 are the terminal's own.
fn write_colour(out: &mut String, target: u8, value: Option<Rgb>, colour: TerminalColour) {
    // Writing to a string does not fail.
    let _ = match value {
        None => write!(out, "\x1b[{}m", target + 1),
        Some(rgb) if colour == TerminalColour::Indexed => write!(out, "\x1b[{target};5;{}m", nearest_indexed(rgb)),
        Some(rgb) => write!(out, "\x1b[{target};2;{};{};{}m", rgb.r, rgb.g, rgb.b),
    };
}

/// Columns that text takes on a terminal: East Asian characters and emoji take two.
pub(crate) fn columns_of(text: &str) -> usize {
    text.chars().map(|character| 1 + usize::from(is_wide(character))).sum()
}

fn is_wide(character: char) -> bool {
    matches!(character, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}')
        || matches!(character, '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}')
        || matches!(character, '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_appear_only_where_colours_change() {
        let red = Some(Rgb::hex(0xff0000));
        let cells = [Cell::pixels(red, None), Cell::pixels(red, None), Cell::pixels(None, red), Cell::BLANK];
        let mut out = String::new();
        write_cells(&mut out, &cells, TerminalColour::True);
        assert_eq!(out, "\x1b[38;2;255;0;0m▀▀▄\x1b[0m");
        out.clear();
        write_cells(&mut out, &cells, TerminalColour::Indexed);
        assert_eq!(out, "\x1b[38;5;196m▀▀▄\x1b[0m");
    }

    #[test]
    fn wide_characters() {
        assert_eq!(columns_of("ab"), 2);
        assert_eq!(columns_of("気温"), 4);
    }
}
