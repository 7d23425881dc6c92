//! Known failures: rows that may deviate for now, each with its reason.
//!
//! One line per row, the row's id, white space, the reason; `#` starts a comment line.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The list.
#[derive(Debug, Default)]
pub struct KnownFailures {
    reasons: BTreeMap<String, String>,
}

impl KnownFailures {
    /// Reads the file.
    ///
    /// # Errors
    /// The file cannot be read, a line has no reason, or an id stands there twice.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Parses the text of the file.
    ///
    /// # Errors
    /// A line has no reason, or an id stands there twice.
    pub fn parse(text: &str) -> Result<Self> {
        let mut reasons = BTreeMap::new();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let Some((id, reason)) = line.split_once(char::is_whitespace) else {
                bail!("`{line}` has no reason");
            };
            if reasons.insert(id.to_owned(), reason.trim().to_owned()).is_some() {
                bail!("`{id}` stands there twice");
            }
        }
        Ok(Self { reasons })
    }

    /// Why this row may deviate.
    pub fn reason(&self, id: &str) -> Option<&str> {
        self.reasons.get(id).map(String::as_str)
    }

    /// Every listed id.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.reasons.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_and_its_reason() {
        let known = KnownFailures::parse("# head\n\ntensogram/a  needs the b codec\n").unwrap();
        assert_eq!(known.reason("tensogram/a"), Some("needs the b codec"));
        assert_eq!(known.reason("tensogram/b"), None);
    }

    #[test]
    fn a_line_without_reason_or_a_second_one_is_refused() {
        assert!(KnownFailures::parse("tensogram/a\n").is_err());
        assert!(KnownFailures::parse("a b\na c\n").is_err());
    }
}
