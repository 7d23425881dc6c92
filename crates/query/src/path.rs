//! Keys: `mars.step`, `objects[0].shape`, `"a key with blanks".x`.

use crate::cursor::{Cursor, quote};
use crate::{Map, QueryError, Value};
use std::fmt;
use std::str::FromStr;

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A key of a map.
    Key(String),
    /// A position in an array; negative counts from the end.
    Index(i64),
}

/// A parsed key. Segments are separated by `.`, `[2]` selects an element of an array (`[-1]` the last), and a segment
/// in double quotes may hold any character.
///
/// ```
/// use fw_query::{Path, Segment};
///
/// let path: Path = "objects[0].shape".parse()?;
/// assert_eq!(path.segments().len(), 3);
/// assert_eq!(path.segments()[1], Segment::Index(0));
/// assert_eq!("a..b".parse::<Path>().unwrap_err().span(), 2..2);
/// # Ok::<(), fw_query::QueryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    text: String,
    segments: Vec<Segment>,
}

impl Path {
    /// Parses a key.
    ///
    /// # Errors
    /// `empty_key`, `bad_index`, `unexpected_character`, `unclosed_quote`, `unknown_escape`, `query_too_long`.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let mut cursor = Cursor::new(text)?;
        let path = Self::read(&mut cursor)?;
        match cursor.peek() {
            None => Ok(path),
            Some(found) => {
                let at = cursor.at();
                Err(cursor
                    .error(
                        "unexpected_character",
                        at..at + found.len_utf8(),
                        format!("unexpected {found:?} in the key"),
                    )
                    .with_hint("put a key that holds such characters in double quotes"))
            }
        }
    }

    /// A path of keys only, without parsing.
    pub fn from_keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> Self {
        Self::from_segments(keys.into_iter().map(|key| Segment::Key(key.to_owned())).collect())
    }

    /// A path of these segments.
    pub fn from_segments(segments: Vec<Segment>) -> Self {
        let mut text = String::new();
        for segment in &segments {
            match segment {
                Segment::Key(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    if !key.is_empty() && key.chars().all(is_bare) {
                        text.push_str(key);
                    } else {
                        text.push_str(&quote(key));
                    }
                }
                Segment::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        Self { text, segments }
    }

    /// The key in its canonical spelling: quotes only where they are needed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The steps, first to last.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Descends from `root`, step by step. `None` where a key or element is missing.
    ///
    /// ```
    /// use fw_query::{Path, Value};
    ///
    /// let mars = Value::map([("levels", Value::from(vec![Value::from(500), Value::from(850)]))]);
    /// let path: Path = "levels[-1]".parse()?;
    /// assert_eq!(path.descend(mars), Some(Value::from(850)));
    /// # Ok::<(), fw_query::QueryError>(())
    /// ```
    pub fn descend<'v>(&self, root: Value<'v>) -> Option<Value<'v>> {
        descend(root, &self.segments)
    }

    /// Reads the longest path at the cursor; the caller judges what follows.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Self, QueryError> {
        Self::read_of(cursor, is_bare)
    }

    /// As [`Path::read`], up to a colon that is not in quotes: what follows it says how the key is used.
    pub(crate) fn read_to_colon(cursor: &mut Cursor<'_>) -> Result<Self, QueryError> {
        Self::read_of(cursor, |c| is_bare(c) && c != ':')
    }

    fn read_of(cursor: &mut Cursor<'_>, bare: fn(char) -> bool) -> Result<Self, QueryError> {
        let mut segments = Vec::new();
        loop {
            segments.push(Segment::Key(key(cursor, bare)?));
            while cursor.peek() == Some('[') {
                segments.push(Segment::Index(index(cursor)?));
            }
            if !cursor.eat(".") {
                return Ok(Self::from_segments(segments));
            }
        }
    }
}

/// Descends along `segments`.
pub(crate) fn descend<'v>(root: Value<'v>, segments: &[Segment]) -> Option<Value<'v>> {
    segments.iter().try_fold(root, |value, segment| match (value, segment) {
        (Value::Map(map), Segment::Key(key)) => map.get(key),
        (Value::Array(array), Segment::Index(index)) => {
            let at = if *index < 0 {
                array.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
            } else {
                usize::try_from(*index).ok()?
            };
            array.get(at)
        }
        _ => None,
    })
}

/// Descends from a map without wrapping it first.
pub(crate) fn descend_map<'v>(map: &Map<'v>, segments: &[Segment]) -> Option<Value<'v>> {
    match segments.split_first()? {
        (Segment::Key(key), rest) => descend(map.get(key)?, rest),
        (Segment::Index(_), _) => None,
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl FromStr for Path {
    type Err = QueryError;
    fn from_str(text: &str) -> Result<Self, QueryError> {
        Self::parse(text)
    }
}

/// Characters of a key that need no quotes. `/`, `:` and `-` are common in keys; operators, separators and blanks are
/// not part of one.
fn is_bare(c: char) -> bool {
    !(c.is_whitespace() || c.is_control() || matches!(c, '.' | '[' | ']' | '"' | '=' | '!' | '<' | '>' | ',' | '~'))
}

fn key(cursor: &mut Cursor<'_>, bare: fn(char) -> bool) -> Result<String, QueryError> {
    if cursor.peek() == Some('"') {
        return cursor.quoted();
    }
    let start = cursor.at();
    while cursor.peek().is_some_and(bare) {
        cursor.next();
    }
    if cursor.at() > start {
        return Ok(cursor.text()[start..cursor.at()].to_owned());
    }
    let message = match cursor.peek() {
        None => "expected a key, found the end of the text".to_owned(),
        Some(found) => format!("expected a key, found {found:?}"),
    };
    Err(cursor.error("empty_key", start..start, message).with_hint("a key looks like mars.param or objects[0].shape"))
}

fn index(cursor: &mut Cursor<'_>) -> Result<i64, QueryError> {
    let start = cursor.at();
    let inside = cursor.rest()[1..].split_once(']').map(|(inside, _)| inside);
    let number = inside
        .filter(|text| text.strip_prefix('-').unwrap_or(text).bytes().all(|b| b.is_ascii_digit()))
        .and_then(|text| text.parse::<i64>().ok().map(|number| (number, text.len())));
    if let Some((number, len)) = number {
        (0..len + 2).for_each(|_| {
            cursor.next();
        });
        return Ok(number);
    }
    let end = inside.map_or(cursor.text().len(), |inside| start + inside.len() + 2);
    Err(cursor
        .error("bad_index", start..end, "an index must be a whole number in brackets")
        .with_hint("write a[0] for the first element and a[-1] for the last"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_reads_back() {
        for (text, canonical) in [
            ("mars.param", "mars.param"),
            ("\"mars\".param", "mars.param"),
            ("\"a.b\"[2][-1].c", "\"a.b\"[2][-1].c"),
            ("bt.hash/x:y-z", "bt.hash/x:y-z"),
            ("\"\"", "\"\""),
            ("\"q\\\"\\u{1b}\"", "\"q\\\"\\u{1b}\""),
        ] {
            let path = Path::parse(text).unwrap();
            assert_eq!(path.as_str(), canonical);
            assert_eq!(Path::parse(canonical).unwrap(), path);
        }
    }

    #[test]
    fn faults_have_code_and_place() {
        for (text, code, span) in [
            ("", "empty_key", 0..0),
            (".a", "empty_key", 0..0),
            ("a.", "empty_key", 2..2),
            ("a[x]", "bad_index", 1..4),
            ("a[", "bad_index", 1..2),
            ("a[]", "bad_index", 1..3),
            ("a[+1]", "bad_index", 1..5),
            ("a[99999999999999999999]", "bad_index", 1..23),
            ("a b", "unexpected_character", 1..2),
            ("a]", "unexpected_character", 1..2),
            ("a[0]b", "unexpected_character", 4..5),
            ("\"a", "unclosed_quote", 0..2),
            ("\"a\\q\"", "unknown_escape", 2..4),
            ("\"\\u{110000}\"", "unknown_escape", 1..3),
        ] {
            let error = Path::parse(text).unwrap_err();
            assert_eq!((error.code(), error.span()), (code, span), "{text}");
        }
        assert_eq!(Path::parse(&"a".repeat(70_000)).unwrap_err().code(), "query_too_long");
    }

    #[test]
    fn only_arrays_take_indexes_and_only_maps_take_keys() {
        let value = || Value::map([("a", Value::from(vec![Value::from(1), Value::from(2)])), ("0", Value::from(5))]);
        let at = |text: &str| Path::parse(text).unwrap().descend(value());
        assert_eq!(at("a[0]"), Some(Value::from(1)));
        assert_eq!(at("a[-2]"), Some(Value::from(1)));
        assert_eq!(at("a[-3]"), None);
        assert_eq!(at("a[2]"), None);
        assert_eq!(at("a.0"), None);
        assert_eq!(at("0"), Some(Value::from(5)));
        assert_eq!(at("0.x"), None);
    }
}
