//! Columns that line up, and fit the terminal.

use super::Ink;
use crate::terminal::Terminal;
use framewright::report::visible;
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A table under construction: a head and rows of cells.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
    head_shown: bool,
    limit: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

impl Table {
    /// A table with these columns; a name that begins with `>` is aligned to the right. It takes no more columns than the
    /// terminal has: text is shortened in its middle, numbers (which are aligned to the right) never are.
    pub(crate) fn new(columns: &[impl AsRef<str>]) -> Self {
        Self::within(Terminal::current().width, columns)
    }

    fn within(limit: Option<usize>, columns: &[impl AsRef<str>]) -> Self {
        let column = |name: &str| match name.strip_prefix('>') {
            Some(name) => (name.to_owned(), Align::Right),
            None => (name.to_owned(), Align::Left),
        };
        let columns: Vec<_> = columns.iter().map(|name| column(name.as_ref())).collect();
        let widths = columns.iter().map(|(name, _)| name.width()).collect();
        Self { columns, widths, rows: Vec::new(), head_shown: false, limit }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // Names come from files: what would move the cursor or colour the terminal is spelled out.
        let shown = |cell: String| match visible(&cell) {
            Cow::Borrowed(_) => cell,
            Cow::Owned(spelled) => spelled,
        };
        let cells: Vec<String> = cells.into_iter().map(shown).collect();
        self.expect(&cells);
        self.rows.push(cells);
    }

    /// Makes room for a row that is to come.
    pub(crate) fn expect(&mut self, cells: &[impl AsRef<str>]) {
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = columns(cell.as_ref()).max(*width);
        }
    }

    /// The text of the rows that were added since the last time, the head before the first; two spaces between columns.
    pub(crate) fn render(&mut self) -> String {
        let widths = self.fitted();
        let mut text = String::new();
        if !std::mem::replace(&mut self.head_shown, true) {
            let head: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
            let mut line = String::new();
            self.line(&mut line, &head, &widths);
            text.push_str(&Ink::Head.paint(&line));
            text.push('\n');
        }
        for row in std::mem::take(&mut self.rows) {
            self.line(&mut text, &row, &widths);
            text.push('\n');
        }
        text
    }

    /// Adds the text of one row.
    fn line(&self, text: &mut String, cells: &[String], widths: &[usize]) {
        let start = text.len();
        for (place, ((cell, width), (_, align))) in cells.iter().zip(widths).zip(&self.columns).enumerate() {
            if place > 0 {
                text.push_str("  ");
            }
            let (cell, taken) = match columns(cell) {
                taken if taken <= *width => (Cow::Borrowed(cell.as_str()), taken),
                _ => {
                    let short = middle(cell, *width);
                    let taken = short.width();
                    (Cow::Owned(short), taken)
                }
            };
            let pad = width.saturating_sub(taken);
            match align {
                Align::Left => {
                    text.push_str(&cell);
                    blanks(text, pad);
                }
                Align::Right => {
                    blanks(text, pad);
                    text.push_str(&cell);
                }
            }
        }
        let end = text.trim_end().len().max(start);
        text.truncate(end);
    }

    /// The widths of the columns, of which the widest columns of text give way until the line fits.
    fn fitted(&self) -> Vec<usize> {
        let mut widths = self.widths.clone();
        let gaps = 2 * widths.len().saturating_sub(1);
        let Some(room) = self.limit.map(|limit| limit.saturating_sub(gaps)) else { return widths };
        let is_text = |place: usize| self.columns[place].1 == Align::Left;
        while widths.iter().sum::<usize>() > room {
            let widest = (0..widths.len()).filter(|place| is_text(*place)).max_by_key(|place| widths[*place]);
            let Some(widest) = widest.filter(|place| widths[*place] > NARROWEST) else { break };
            widths[widest] -= 1;
        }
        widths
    }
}

/// Adds `count` blanks.
fn blanks(text: &mut String, count: usize) {
    const BLANKS: &str = "                                ";
    let mut left = count;
    while left > 0 {
        let some = left.min(BLANKS.len());
        text.push_str(&BLANKS[..some]);
        left -= some;
    }
}

/// How many columns of a terminal a text takes.
fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// `text` in at most `width` columns; the middle of a longer one is left out, as both ends of names tell them apart.
pub(crate) fn middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let head: String = taken(text.chars(), room.div_ceil(2));
    let tail: String = taken(text.chars().rev(), room - head.width());
    format!("{head}…{}", tail.chars().rev().collect::<String>())
}

/// As many of the characters as fit into `width` columns.
fn taken(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut left = width;
    chars
        .take_while(|char| {
            let width = char.width().unwrap_or(0);
            let fits = width <= left;
            left = left.saturating_sub(width);
            fits
        })
        .collect()
}

/// No column of text becomes narrower than this; a terminal that has less breaks lines.
const NARROWEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::within(None, &["name", ">size"]);
        table.row(["a".to_owned(), "1 B".to_owned()]);
        table.row(["longer".to_owned(), "12.3 KiB".to_owned()]);
        assert_eq!(table.render(), "name        size\na            1 B\nlonger  12.3 KiB\n");
        table.row(["b".to_owned(), "2 B".to_owned()]);
        assert_eq!(table.render(), "b            2 B\n", "later rows stand below the earlier ones");
    }

    #[test]
    fn text_gives_way_and_numbers_do_not() {
        let mut table = Table::within(Some(30), &["name", "codec", ">size"]);
        table.row(["model.layers.11.attention.weight".to_owned(), "zstd".to_owned(), "1234567 B".to_owned()]);
        assert_eq!(table.render(), "name          codec       size\nmodel.…eight  zstd   1234567 B\n");
    }

    #[test]
    fn the_middle_goes() {
        assert_eq!(middle("abcdefghij", 10), "abcdefghij");
        assert_eq!(middle("abcdefghij", 7), "abc…hij");
        assert_eq!(middle("abcdefghij", 6), "abc…ij");
        assert_eq!(middle("温度温度温度", 7), "温…温度", "wide characters are not cut in halves");
        assert_eq!((middle("ab", 1), middle("ab", 0)), ("…".to_owned(), "…".to_owned()));
    }

    #[test]
    fn a_terminal_without_room_is_no_reason_to_panic() {
        for limit in 0..20 {
            let mut table = Table::within(Some(limit), &["name", ">size"]);
            table.row(["a rather long name".to_owned(), "1 B".to_owned()]);
            assert!(table.render().contains("1 B"));
        }
    }
}
