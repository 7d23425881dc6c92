//! Columns that line up.

/// A table under construction: a head and rows of cells.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
    head_shown: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

impl Table {
    /// A table with these columns; a name that begins with `>` is aligned to the right.
    pub(crate) fn new(columns: &[impl AsRef<str>]) -> Self {
        let column = |name: &str| match name.strip_prefix('>') {
            Some(name) => (name.to_owned(), Align::Right),
            None => (name.to_owned(), Align::Left),
        };
        let columns: Vec<_> = columns.iter().map(|name| column(name.as_ref())).collect();
        let widths = columns.iter().map(|(name, _)| name.chars().count()).collect();
        Self { columns, widths, rows: Vec::new(), head_shown: false }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        self.expect(&cells);
        self.rows.push(cells);
    }

    /// Makes room for a row that is to come.
    pub(crate) fn expect(&mut self, cells: &[impl AsRef<str>]) {
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = cell.as_ref().chars().count().max(*width);
        }
    }

    /// Whether there are rows that were not rendered yet.
    pub(crate) const fn has_news(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The text of the rows that were added since the last time, the head before the first; two spaces between columns, which
    /// never become narrower.
    pub(crate) fn render(&mut self) -> String {
        let head: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let head = (!std::mem::replace(&mut self.head_shown, true)).then_some(head);
        let mut text = String::new();
        for row in head.into_iter().chain(std::mem::take(&mut self.rows)) {
            let cells =
                row.iter().zip(&self.widths).zip(&self.columns).map(|((cell, width), (_, align))| match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                });
            let line = cells.collect::<Vec<_>>().join("  ");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["name", ">size"]);
        table.row(["a".to_owned(), "1 B".to_owned()]);
        table.row(["longer".to_owned(), "12.3 KiB".to_owned()]);
        assert_eq!(table.render(), "name        size\na            1 B\nlonger  12.3 KiB\n");
        table.row(["b".to_owned(), "2 B".to_owned()]);
        assert_eq!(table.render(), "b            2 B\n", "later rows stand below the earlier ones");
        assert!(!table.has_news());
    }
}
