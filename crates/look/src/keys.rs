//! Keys that a user asked for and no record has: did you mean.

use crate::catalog::FileRecord;
use fw_query::{Item, OBJECT_FIELDS, OneObject, Path, Segment, WholeRecord, closest};
use std::collections::BTreeSet;

/// Watches which of some keys occur in the records that pass by.
///
/// An absent key is legal: it is up to the caller whether an [unknown](KeyCheck::unknown) one is a warning.
#[derive(Clone, Debug)]
pub struct KeyCheck {
    unseen: Vec<Path>,
    known: BTreeSet<String>,
    /// Records whose keys were noted.
    noted: usize,
}

/// A key that no record had.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownKey {
    /// The key.
    pub key: String,
    /// The known key that is closest to it, where one is close.
    pub near: Option<String>,
}

impl KeyCheck {
    /// For these keys.
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let mut unseen: Vec<Path> = Vec::new();
        for path in paths {
            if !is_field(path) && !unseen.contains(path) {
                unseen.push(path.clone());
            }
        }
        Self { unseen, known: BTreeSet::new(), noted: 0 }
    }

    /// Takes note of a record. Cheap once every key was seen.
    pub fn see(&mut self, record: &FileRecord) {
        if self.unseen.is_empty() {
            return;
        }
        let objects = record.objects();
        let has = |path: &Path| {
            WholeRecord(record).lookup(path).is_some()
                || objects.iter().any(|object| OneObject(record, *object).lookup(path).is_some())
        };
        self.unseen.retain(|path| !has(path));
        // The keys of a file are much the same in every message: the first ones suffice for suggestions.
        if !self.unseen.is_empty() && self.noted < NOTED {
            self.noted += 1;
            self.known.extend(record.keys());
        }
    }

    /// The keys that no record had; none before there were any records.
    pub fn unknown(&self) -> Vec<UnknownKey> {
        if self.noted == 0 {
            return Vec::new();
        }
        let candidates = || self.known.iter().map(String::as_str).chain(FIELDS.iter().copied());
        let near = |path: &Path| closest(path.as_str(), candidates()).or_else(|| self.last_segment(path));
        let unknown = self.unseen.iter();
        unknown.map(|path| UnknownKey { key: path.to_string(), near: near(path).map(str::to_owned) }).collect()
    }

    /// The known key that ends as `path` does, such as `mars.param` for `param`, when there is just one.
    fn last_segment(&self, path: &Path) -> Option<&str> {
        let end = format!(".{}", path.as_str());
        let mut ending = self.known.iter().filter(|known| known.ends_with(&end));
        ending.next().filter(|_| ending.next().is_none()).map(String::as_str)
    }
}

/// Fields are not keys of the metadata: they are known, even where one is missing.
fn is_field(path: &Path) -> bool {
    match path.segments() {
        [Segment::Key(first), ..] if first == "objects" || first == "msg" => true,
        [Segment::Key(first), ..] => OBJECT_FIELDS.contains(&first.as_str()) || FIELDS.contains(&first.as_str()),
        _ => false,
    }
}

/// What can be asked for besides metadata.
const FIELDS: &[&str] = &[
    "name",
    "shape",
    "dtype",
    "encoding",
    "filter",
    "compression",
    "nbytes",
    "stored_bytes",
    "ndim",
    "byte_order",
    "file",
    "format",
    "version",
    "msg.index",
    "msg.offset",
    "msg.length",
];

/// So many records are asked for all their keys.
const NOTED: usize = 256;
