//! Arrays and maps: borrowed from a format through two small traits, or owned.

use super::Value;
use std::borrow::Cow;
use std::fmt;

/// An array of a format's own model.
pub trait List: Sync {
    /// Number of elements.
    fn len(&self) -> usize;

    /// The element at `index`, if there is one.
    fn get(&self, index: usize) -> Option<Value<'_>>;

    /// True without elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A map of a format's own model.
pub trait Mapping: Sync {
    /// Number of entries.
    fn len(&self) -> usize;

    /// The entry at `index`, in the order they are shown.
    fn entry(&self, index: usize) -> Option<(Cow<'_, str>, Value<'_>)>;

    /// The value of `key`.
    fn get(&self, key: &str) -> Option<Value<'_>> {
        (0..self.len()).find_map(|index| self.entry(index).filter(|(name, _)| name == key)).map(|(_, value)| value)
    }

    /// True without entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An array of values.
#[derive(Clone)]
#[non_exhaustive]
pub enum Array<'a> {
    /// Of a format's own model.
    Borrowed(&'a dyn List),
    /// A shape, or other counts.
    Counts(Cow<'a, [u64]>),
    /// Made for the occasion.
    Owned(Vec<Value<'a>>),
}

impl<'a> Array<'a> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Borrowed(list) => list.len(),
            Self::Counts(counts) => counts.len(),
            Self::Owned(values) => values.len(),
        }
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index`.
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Borrowed(list) => list.get(index),
            Self::Counts(counts) => counts.get(index).map(|count| Value::from(*count)),
            Self::Owned(values) => values.get(index).cloned(),
        }
    }

    /// The elements, first to last.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        (0..self.len()).map_while(|index| self.get(index))
    }

    pub(crate) fn into_owned(self) -> Array<'static> {
        match self {
            Self::Counts(counts) => Array::Counts(Cow::Owned(counts.into_owned())),
            other => Array::Owned(other.iter().map(Value::into_owned).collect()),
        }
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A map of values.
#[derive(Clone)]
#[non_exhaustive]
pub enum Map<'a> {
    /// Of a format's own model.
    Borrowed(&'a dyn Mapping),
    /// Made for the occasion.
    Owned(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Map<'a> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            Self::Borrowed(mapping) => mapping.len(),
            Self::Owned(entries) => entries.len(),
        }
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        match self {
            Self::Borrowed(mapping) => mapping.get(key),
            Self::Owned(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone()),
        }
    }

    /// The entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'a, str>, Value<'a>)> + '_ {
        (0..self.len()).map_while(|index| match self {
            Self::Borrowed(mapping) => mapping.entry(index),
            Self::Owned(entries) => entries.get(index).cloned(),
        })
    }

    pub(crate) fn into_owned(self) -> Map<'static> {
        let entries = self.iter().map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()));
        Map::Owned(entries.collect())
    }
}

impl fmt::Debug for Map<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
