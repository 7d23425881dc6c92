//! Who read whom.

use std::collections::BTreeMap;
use std::fmt;

/// Counts per writer and reader. The vectors are a writer, and as a reader the comparison with their bytes.
#[derive(Clone, Debug, Default)]
pub struct Table {
    names: Vec<String>,
    cells: BTreeMap<(usize, usize), (usize, usize)>,
}

impl Table {
    /// Adds `good` of `all` cases to the cell of a writer and a reader.
    pub fn add(&mut self, writer: &str, reader: &str, good: usize, all: usize) {
        let place = (self.place(writer), self.place(reader));
        let cell = self.cells.entry(place).or_default();
        *cell = (cell.0 + good, cell.1 + all);
    }

    /// Pairs of writer and reader that nothing was counted for: holes. The vectors do not read themselves.
    pub fn holes(&self) -> Vec<String> {
        let all = (0..self.names.len()).flat_map(|writer| (0..self.names.len()).map(move |reader| (writer, reader)));
        all.filter(|&(writer, reader)| self.names[writer] != "vectors" || self.names[reader] != "vectors")
            .filter(|place| !self.cells.contains_key(place))
            .map(|(writer, reader)| format!("{} was not read by {}", self.names[writer], self.names[reader]))
            .collect()
    }

    fn place(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.names.iter().map(String::len).max().unwrap_or(0).max(11);
        write!(f, "{:width$}", "writer\\reader")?;
        self.names.iter().try_for_each(|name| write!(f, "  {name:>width$}"))?;
        for (writer, name) in self.names.iter().enumerate() {
            write!(f, "\n{name:width$}")?;
            for (reader, other) in self.names.iter().enumerate() {
                let cell = match self.cells.get(&(writer, reader)) {
                    Some((good, all)) => format!("{good}/{all}"),
                    None if name == "vectors" && other == "vectors" => "-".to_owned(),
                    None => "HOLE".to_owned(),
                };
                write!(f, "  {cell:>width$}")?;
            }
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_seen() {
        let mut table = Table::default();
        table.add("vectors", "c", 2, 2);
        table.add("c", "vectors", 1, 2);
        assert_eq!(table.holes(), ["c was not read by c"]);
        table.add("c", "c", 2, 2);
        assert!(table.holes().is_empty());
        assert!(table.to_string().contains("1/2"));
    }
}
