//! Lists of keys, as `--keys mars.step,mars.levelist,shape` holds them, and the keys that a value has.

use crate::cursor::Cursor;
use crate::{Item, Path, QueryError, Segment, Value};

/// A list of keys: columns of a table, fields of a line, what to count by.
///
/// ```
/// use fw_query::Keys;
///
/// let keys = Keys::parse("mars.param, shape[0],\"a,b\"")?;
/// assert_eq!(keys.paths().iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["mars.param", "shape[0]", "\"a,b\""]);
/// # Ok::<(), fw_query::QueryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    paths: Vec<Path>,
}

impl Keys {
    /// Parses keys with commas between them; blanks around a key do not belong to it.
    ///
    /// # Errors
    /// As [`Path::parse`].
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let mut cursor = Cursor::new(text)?;
        let mut paths = Vec::new();
        loop {
            cursor.skip_blanks();
            paths.push(Path::read(&mut cursor)?);
            cursor.skip_blanks();
            if cursor.peek().is_none() {
                return Ok(Self { paths });
            }
            comma(&mut cursor)?;
        }
    }

    /// The keys, in order.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The value of every key; `None` where the item does not have it.
    pub fn values<'i>(&self, item: &'i (impl Item + ?Sized)) -> Vec<Option<Value<'i>>> {
        self.paths.iter().map(|path| item.lookup(path)).collect()
    }
}

impl From<Vec<Path>> for Keys {
    fn from(paths: Vec<Path>) -> Self {
        Self { paths }
    }
}

/// Steps over the comma between two keys.
pub(crate) fn comma(cursor: &mut Cursor<'_>) -> Result<(), QueryError> {
    let at = cursor.at();
    match cursor.next() {
        Some(',') | None => Ok(()),
        Some(found) => Err(cursor
            .error("unexpected_character", at..cursor.at(), format!("expected a comma between keys, found {found:?}"))
            .with_hint("put a key that holds such characters in double quotes")),
    }
}

/// The keys of all values inside `value` that are not maps, such as `mars.param`: what a user can select by.
///
/// ```
/// use fw_query::{Value, leaf_keys};
///
/// let value = Value::map([("mars", Value::map([("param", Value::from("2t")), ("a b", Value::from(0))]))]);
/// let keys: Vec<String> = leaf_keys(&value).iter().map(|path| path.to_string()).collect();
/// assert_eq!(keys, ["mars.param", "mars.\"a b\""]);
/// ```
pub fn leaf_keys(value: &Value<'_>) -> Vec<Path> {
    let mut keys = Vec::new();
    collect(value, &mut Vec::new(), &mut keys);
    keys
}

fn collect(value: &Value<'_>, above: &mut Vec<Segment>, keys: &mut Vec<Path>) {
    // Formats refuse deeper metadata long before.
    const DEEPEST: usize = 256;
    match value {
        Value::Map(map) if above.len() < DEEPEST => {
            for (key, value) in map.iter() {
                above.push(Segment::Key(key.into_owned()));
                collect(&value, above, keys);
                above.pop();
            }
        }
        _ if above.is_empty() => {}
        _ => keys.push(Path::from_segments(above.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_code_and_place() {
        for (text, code, span) in [
            ("", "empty_key", 0..0),
            ("a,,b", "empty_key", 2..2),
            ("a,", "empty_key", 2..2),
            ("a b", "unexpected_character", 2..3),
            ("a=1", "unexpected_character", 1..2),
        ] {
            let error = Keys::parse(text).unwrap_err();
            assert_eq!((error.code(), error.span()), (code, span), "{text}");
        }
    }
}
