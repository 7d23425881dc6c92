//! What commands that select by keys share: cells, JSON, and notes about keys that nothing has.

use crate::exit::aside;
use framewright::look::{FileRecord, KeyCheck};
use framewright::query::{Path, Value};
use serde_json::Value as Json;

/// A value in a table; a dash where the key is missing.
pub(crate) fn cell(value: Option<&Value<'_>>) -> String {
    value.map_or_else(|| "-".to_owned(), Value::to_text)
}

/// Aligns the columns that hold nothing but numbers to the right.
pub(crate) fn align<'r>(columns: &mut [String], rows: impl Iterator<Item = &'r [String]> + Clone) {
    for (index, column) in columns.iter_mut().enumerate() {
        let cells = || rows.clone().filter_map(|row| row.get(index)).filter(|cell| *cell != "-");
        if cells().next().is_some() && cells().all(|cell| cell.parse::<f64>().is_ok()) && !column.starts_with('>') {
            column.insert(0, '>');
        }
    }
}

/// A value for programs, with its type; null where the key is missing.
pub(crate) fn json_of(value: Option<&Value<'_>>) -> Json {
    value.map_or(Json::Null, |value| serde_json::from_str(&value.to_json()).unwrap_or(Json::Null))
}

/// Notes about keys that were asked for and nothing has.
pub(crate) struct KeyNotes(KeyCheck);

impl KeyNotes {
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        Self(KeyCheck::new(paths))
    }

    /// Takes note of a record.
    pub(crate) fn see(&mut self, record: &FileRecord) {
        self.0.see(record);
    }

    /// Tells about unknown keys, unless a program reads the output: there the value is null.
    pub(crate) fn tell(&self, json: bool) {
        for unknown in self.0.unknown().iter().filter(|_| !json) {
            let hint = unknown.near.as_ref().map_or_else(String::new, |near| format!("; did you mean {near}?"));
            aside(format_args!("fw: note: no object has the key {}{hint}\n", unknown.key));
        }
    }
}
