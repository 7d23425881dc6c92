//! Who read whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Counts per writer and reader. The vectors are a writer, and as a reader the comparison with their bytes.
#[derive(Clone, Debug, Default)]
pub struct Table {
    names: Vec<String>,
    peers: BTreeSet<String>,
    cells: BTreeMap<(usize, usize), (usize, usize)>,
}

impl Table {
    /// Adds `good` of `all` cases to the cell of a writer and a reader.
    pub fn add(&mut self, writer: &str, reader: &str, good: usize, all: usize) {
        let place = (self.place(writer), self.place(reader));
        let cell = self.cells.entry(place).or_default();
        *cell = (cell.0 + good, cell.1 + all);
    }

    /// Marks a peer from elsewhere: what peers make of each other, or of themselves, is not asked.
    pub fn peer(&mut self, name: &str) {
        self.peers.insert(name.to_owned());
    }

    /// Pairs of writer and reader that nothing was counted for: holes. The vectors do not read themselves, nor do peers
    /// read peers.
    pub fn holes(&self) -> Vec<String> {
        let all = (0..self.names.len()).flat_map(|writer| (0..self.names.len()).map(move |reader| (writer, reader)));
        all.filter(|&(writer, reader)| self.is_asked(&self.names[writer], &self.names[reader]))
            .filter(|place| !self.cells.contains_key(place))
            .map(|(writer, reader)| format!("{} was not read by {}", self.names[writer], self.names[reader]))
            .collect()
    }

    fn is_asked(&self, writer: &str, reader: &str) -> bool {
        let peers = self.peers.contains(writer) && self.peers.contains(reader);
        !(peers || (writer == "vectors" && reader == "vectors"))
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
                    None if !self.is_asked(name, other) => "-".to_owned(),
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
        table.add("vectors", "theirs", 2, 2);
        table.add("theirs", "vectors", 2, 2);
        table.add("c", "theirs", 2, 2);
        table.peer("theirs");
        assert_eq!(table.holes(), ["theirs was not read by c"]);
    }
}
