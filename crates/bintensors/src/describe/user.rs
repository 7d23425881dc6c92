//! The user's own text map, borrowed from the header.

use super::table::UserSpan;
use crate::wire::Scan;
use std::collections::BTreeMap;

/// Keys and values the writer of the file left for its readers. Present and empty differs from absent (BT-3.2).
#[derive(Clone, Copy, Debug)]
pub struct UserMetadata<'a> {
    entries: &'a [u8],
    count: usize,
    ascending: bool,
}

impl<'a> UserMetadata<'a> {
    pub(crate) fn new(header: &'a [u8], span: UserSpan) -> Self {
        let entries = header.get(span.start as usize..span.end as usize).unwrap_or(&[]);
        Self { entries, count: span.count as usize, ascending: span.ascending }
    }

    /// The value of `key`; of the last entry when a lenient profile let a key through twice (BT-8.6).
    pub fn get(&self, key: &str) -> Option<&'a str> {
        let mut found = None;
        for (entry, value) in self.iter() {
            if entry == key {
                found = Some(value);
            } else if self.ascending && entry > key {
                break;
            }
        }
        found
    }

    /// Keys and values in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let mut scan = Scan::new(self.entries);
        // The header check read these entries before, so none of the reads fails.
        (0..self.count).map_while(move |_| Some((scan.text().ok()?, scan.text().ok()?)))
    }

    /// Entries in the file.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// True when there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// An owned, sorted map; the last of equal keys wins.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    /// True when keys are sorted, as the canonical writer leaves them; then no key is there twice.
    pub(crate) const fn is_ascending(&self) -> bool {
        self.ascending
    }

    /// A key that occurs more than once.
    pub(crate) fn duplicate_key(&self) -> Option<&'a str> {
        if self.ascending {
            return None;
        }
        let mut keys: Vec<&str> = self.iter().map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first().copied())
    }
}
