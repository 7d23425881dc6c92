//! Columns that line up.

/// A table under construction: a head and rows of cells.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
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
        let columns = columns.iter().map(|name| column(name.as_ref())).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The text, head first, two spaces between columns.
    pub(crate) fn render(&self) -> String {
        let width = |index: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.chars().count());
            cells.chain([self.columns[index].0.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let head: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut text = String::new();
        for row in std::iter::once(&head).chain(&self.rows) {
            let cells = row.iter().zip(&widths).zip(&self.columns).map(|((cell, width), (_, align))| match align {
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
    }
}
