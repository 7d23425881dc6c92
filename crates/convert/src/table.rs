//! What each target keeps: the table of the documentation.

use crate::Format;
use crate::contract::{Storage, Writable};
use crate::loss::Item;
use crate::model::Entry;
use fw_tensor::DType;

/// What becomes of one type or feature in each target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossRow {
    /// The element type or feature.
    pub what: &'static str,
    outcomes: Vec<(Format, &'static str)>,
}

impl LossRow {
    /// The word for a target; `None` for a format that is not written.
    pub fn of(&self, format: Format) -> Option<&'static str> {
        self.outcomes.iter().find(|(target, _)| *target == format).map(|(_, word)| *word)
    }
}

/// What becomes of these is the same in every target.
const EVERYWHERE: [(&str, &str); 8] = [
    ("big-endian data", "as little endian"),
    ("column-major data", "as rows"),
    ("infinities and plain NaN", "kept"),
    ("compressed or packed elements", "as decoded"),
    ("bounds of messages", "in the names"),
    ("text, object, date and structured arrays", "refused"),
    ("zip entries that are not arrays", "lost"),
    ("index metadata of a checkpoint", "lost"),
];

/// The table of the documentation. `kept`: as it is. `carried`: as bytes with metadata that our readers undo.
/// `refused`: an error, unless raw bits or leaving out is asked for. `lost`: not written, and listed.
///
/// ```
/// use fw_convert::{Format, loss_table};
///
/// let table = loss_table();
/// let bfloat16 = table.iter().find(|row| row.what == "bfloat16").unwrap();
/// assert_eq!((bfloat16.of(Format::SafeTensors), bfloat16.of(Format::Npz)), (Some("kept"), Some("refused")));
/// ```
pub fn loss_table() -> Vec<LossRow> {
    let targets: Vec<(Format, &dyn Writable)> =
        Format::ALL.iter().filter_map(|format| Some((*format, format.contract().writable().ok()?))).collect();
    let row = |what, outcome: &dyn Fn(&dyn Writable) -> &'static str| LossRow {
        what,
        outcomes: targets.iter().map(|(format, writable)| (*format, outcome(*writable))).collect(),
    };
    let types = DType::ALL.iter().map(|dtype| row(dtype.name(), &|writable| type_outcome(*dtype, writable)));
    let items = Item::ALL.iter().map(|item| row(item.title(), &|writable| writable.outcome(*item)));
    let others = EVERYWHERE.iter().map(|(what, word)| row(what, &|_| word));
    types.chain(items).chain(others).collect()
}

/// What becomes of a tensor of a type that fills whole bytes.
fn type_outcome(dtype: DType, writable: &dyn Writable) -> &'static str {
    match writable.storage(&Entry::new("example".to_owned(), dtype, vec![8], None)) {
        Ok(Storage::Native) => "kept",
        Ok(Storage::Carried(_)) => "carried",
        Ok(Storage::Missing) | Err(_) => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_shows_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conversions.md");
        let text = std::fs::read_to_string(path).unwrap();
        let targets = || Format::ALL.iter().copied().filter(|format| format.is_writable());
        let titles: Vec<String> = targets().map(|format| format!("to {format}")).collect();
        let mut lines = vec![format!("| what | {} |", titles.join(" | "))];
        lines.push(format!("|---|{}", "---|".repeat(titles.len())));
        for row in loss_table() {
            let words: Vec<&str> = targets().map(|format| row.of(format).unwrap()).collect();
            lines.push(format!("| {} | {} |", row.what, words.join(" | ")));
        }
        let shown: Vec<&str> = text.lines().skip_while(|line| *line != lines[0]).take(lines.len()).collect();
        assert_eq!(shown, lines, "docs/conversions.md shows another table; it should be:\n{}", lines.join("\n"));
    }
}
