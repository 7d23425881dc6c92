//! Changes as people write them: `mars.step=12`, `area:=[1,2]`, a file of them.

use crate::error::{EditError, Result};
use fw_query::{Path, Segment, Where};
use fw_tensogram::Value;
use serde::Deserialize;

/// One key to change.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub(crate) scope: Scope,
    /// The key, below its scope.
    pub(crate) path: Path,
    pub(crate) action: Action,
}

/// What a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Each selected object; the message when it has no objects.
    Selected,
    /// The message: `extra.key`.
    Message,
    /// One object: `objects[1].key`; negative numbers count from the last.
    Object(i64),
    /// Parameters in the descriptor of one object: `objects.1.key`.
    Descriptor(usize),
}

/// What becomes of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// `=`: the text, as the type that the key has.
    Text(String),
    /// `:=`, or a text in quotes: this value.
    Value(Value),
    Delete,
}

/// Changes to what a filter selects.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Change {
    /// Which objects.
    pub filter: Where,
    /// The keys to change, in order.
    pub edits: Vec<Edit>,
}

impl Change {
    /// These edits to everything that the filter selects.
    pub const fn new(filter: Where, edits: Vec<Edit>) -> Self {
        Self { filter, edits }
    }

    /// Changes from a JSON file: an object `{"set": {"key": value}, "delete": ["key"], "where": "clauses"}`, or an array of
    /// such objects. Values keep the types that JSON gives them.
    ///
    /// ```
    /// let text = r#"[{"where": "mars.param=2t", "set": {"mars.step": 12}}, {"delete": ["mars.class"]}]"#;
    /// assert_eq!(fw_edit::Change::parse_file(text)?.len(), 2);
    /// # Ok::<(), fw_edit::EditError>(())
    /// ```
    ///
    /// # Errors
    /// `invalid_edits` for JSON of another form; those of keys and where clauses.
    pub fn parse_file(text: &str) -> Result<Vec<Self>> {
        let written: Written = serde_json::from_str(text).map_err(|error| {
            EditError::refused("invalid_edits", format!("the edits cannot be read: {error}"))
                .with_hint(r#"write {"set": {"mars.step": 12}, "delete": ["mars.class"], "where": "mars.param=2t"}"#)
        })?;
        let list = match written {
            Written::One(one) => vec![one],
            Written::Many(many) => many,
        };
        list.into_iter().map(WrittenChange::parsed).collect()
    }
}

impl Edit {
    /// Reads assignments: `key=value` keeps the type that the key has, `key:=JSON` states it. Several may be joined by commas.
    ///
    /// A value in double quotes is text. A comma is part of a value unless another `key=` follows it.
    ///
    /// ```
    /// assert_eq!(fw_edit::Edit::parse("mars.step=12,mars.area:=[60,-10,40,5]")?.len(), 2);
    /// assert_eq!(fw_edit::Edit::parse("title=Hello, world")?.len(), 1);
    /// # Ok::<(), fw_edit::EditError>(())
    /// ```
    ///
    /// # Errors
    /// `missing_assignment`, `invalid_json`, and those of [`Path::parse`].
    pub fn parse(text: &str) -> Result<Vec<Self>> {
        let mut edits = Vec::new();
        let mut rest = text;
        loop {
            let Some((key, is_json, value)) = split(rest) else {
                let message = format!("{rest:?}: expected key=value or key:=JSON");
                return Err(EditError::refused("missing_assignment", message)
                    .with_hint("write mars.step=12, or mars.area:=[60,-10,40,5] for a value of any JSON type"));
            };
            let (action, after) = if is_json || value.starts_with('"') {
                let (value, after) = json_prefix(key, value)?;
                (Action::Value(value), after)
            } else {
                let end = next_assignment(value).unwrap_or(value.len());
                (Action::Text(value[..end].to_owned()), &value[end..])
            };
            edits.push(Self::new(key, action)?);
            match after.strip_prefix(',') {
                Some(more) => rest = more,
                None => return Ok(edits),
            }
        }
    }

    /// Removes a key; it need not exist.
    ///
    /// # Errors
    /// Those of [`Path::parse`].
    pub fn delete(key: &str) -> Result<Self> {
        Self::new(key, Action::Delete)
    }

    /// Sets a key to a value, whatever its type was.
    ///
    /// # Errors
    /// Those of [`Path::parse`].
    pub fn value(key: &str, value: impl Into<Value>) -> Result<Self> {
        Self::new(key, Action::Value(value.into()))
    }

    /// The key as it is written, with its scope.
    pub fn key(&self) -> String {
        match self.scope {
            Scope::Selected => self.path.to_string(),
            Scope::Message => format!("extra.{}", self.path),
            Scope::Object(number) => format!("objects[{number}].{}", self.path),
            Scope::Descriptor(number) => format!("objects.{number}.{}", self.path),
        }
    }

    fn new(key: &str, action: Action) -> Result<Self> {
        let whole = Path::parse(key)?;
        let (scope, rest) = match whole.segments() {
            [Segment::Key(first), rest @ ..] if !rest.is_empty() && matches!(first.as_str(), "extra" | "_extra_") => {
                (Scope::Message, rest)
            }
            [Segment::Key(first), Segment::Index(number), rest @ ..] if first == "objects" && !rest.is_empty() => {
                (Scope::Object(*number), rest)
            }
            [Segment::Key(first), Segment::Key(number), rest @ ..] if first == "objects" && !rest.is_empty() => {
                match number.parse() {
                    Ok(number) => (Scope::Descriptor(number), rest),
                    Err(_) => (Scope::Selected, whole.segments()),
                }
            }
            all => (Scope::Selected, all),
        };
        Ok(Self { scope, path: Path::from_segments(rest.to_vec()), action })
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Many(Vec<WrittenChange>),
    One(WrittenChange),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenChange {
    #[serde(default)]
    set: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    delete: Vec<String>,
    #[serde(default, rename = "where")]
    filter: Option<Clauses>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Clauses {
    Line(String),
    List(Vec<String>),
}

impl WrittenChange {
    fn parsed(self) -> Result<Change> {
        let filter = match &self.filter {
            None => Where::default(),
            Some(Clauses::Line(line)) => Where::parse_line(line)?,
            Some(Clauses::List(list)) => Where::parse_all(list.iter().map(String::as_str))?,
        };
        let mut edits = Vec::new();
        for (key, value) in &self.set {
            edits.push(Edit::new(key, Action::Value(value_of(key, &value.to_string())?))?);
        }
        for key in &self.delete {
            edits.push(Edit::delete(key)?);
        }
        Ok(Change { filter, edits })
    }
}

/// Key, whether the value is JSON, and everything after the operator.
fn split(text: &str) -> Option<(&str, bool, &str)> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '=' if !quoted => {
                let (key, value) = (&text[..at], &text[at + 1..]);
                return Some(match key.strip_suffix(':') {
                    Some(key) => (key, true, value),
                    None => (key, false, value),
                });
            }
            _ => {}
        }
    }
    None
}

/// Where the comma before another assignment stands.
fn next_assignment(value: &str) -> Option<usize> {
    value
        .match_indices(',')
        .map(|(at, _)| at)
        .find(|at| split(&value[at + 1..]).is_some_and(|(key, ..)| !key.contains(',') && Path::parse(key).is_ok()))
}

/// The JSON value at the start of a text, and what follows it.
fn json_prefix<'t>(key: &str, text: &'t str) -> Result<(Value, &'t str)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    let end = match stream.next() {
        Some(Ok(_)) => stream.byte_offset(),
        Some(Err(error)) => return Err(not_json(key, text, &error.to_string())),
        None => return Err(not_json(key, text, "the value is missing")),
    };
    let (value, after) = text.split_at(end);
    if !after.is_empty() && !after.starts_with(',') {
        return Err(not_json(key, text, &format!("unexpected text {after:?} after the value")));
    }
    Ok((value_of(key, value)?, after))
}

/// The value of a JSON text; integers beyond 64 bits are not rounded but refused.
fn value_of(key: &str, text: &str) -> Result<Value> {
    let trimmed = text.trim();
    let digits = trimmed.strip_prefix('-').unwrap_or(trimmed);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match trimmed.parse::<i128>() {
            Ok(number) => Ok(Value::Integer(number)),
            Err(_) => Err(EditError::refused("integer_out_of_range", format!("{key}: {trimmed} is out of range"))),
        };
    }
    serde_json::from_str(text).map_err(|error| not_json(key, text, &error.to_string()))
}

fn not_json(key: &str, text: &str, why: &str) -> EditError {
    EditError::refused("invalid_json", format!("{key}: {text:?} is not JSON: {why}"))
        .with_hint(format!("write {key}=TEXT for text, or {key}:='\"TEXT\"'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Edit {
        let mut edits = Edit::parse(text).unwrap();
        assert_eq!(edits.len(), 1, "{text}");
        edits.remove(0)
    }

    #[test]
    fn assignments_are_read() {
        let text = |text: &str| Action::Text(text.to_owned());
        for (written, key, action) in [
            ("mars.step=12", "mars.step", text("12")),
            ("a=", "a", text("")),
            ("a=b=c", "a", text("b=c")),
            ("a=x, y", "a", text("x, y")),
            ("a=\"12\"", "a", Action::Value(Value::from("12"))),
            ("a:=12", "a", Action::Value(Value::from(12))),
            ("a:=12.0", "a", Action::Value(Value::from(12.0))),
            ("a:=null", "a", Action::Value(Value::Null)),
            ("a:=18446744073709551615", "a", Action::Value(Value::Integer(u64::MAX.into()))),
            ("\"k=v\".x=1", "\"k=v\".x", text("1")),
            ("extra.run=1", "extra.run", text("1")),
            ("_extra_.run=1", "extra.run", text("1")),
            ("extra=1", "extra", text("1")),
            ("objects[1].mars.param=x", "objects[1].mars.param", text("x")),
            ("objects.1.note=x", "objects.1.note", text("x")),
            ("objects.k=x", "objects.k", text("x")),
        ] {
            let edit = one(written);
            assert_eq!((edit.key().as_str(), edit.action), (key, action), "{written}");
        }
        let keys = |text: &str| Edit::parse(text).unwrap().iter().map(Edit::key).collect::<Vec<_>>();
        assert_eq!(keys("a=1,b=2,c:=[1,2],d=\"x,y=1\",e=z"), ["a", "b", "c", "d", "e"]);
        assert_eq!(keys("a=1,2,b=3"), ["a", "b"]);
    }

    #[test]
    fn faults_have_codes() {
        for (text, code) in [
            ("mars.step", "missing_assignment"),
            ("", "missing_assignment"),
            ("a=1,b:=", "invalid_json"),
            ("a:=text", "invalid_json"),
            ("a:=1 2", "invalid_json"),
            ("a:=99999999999999999999999999999999999999999", "integer_out_of_range"),
            ("=1", "empty_key"),
            ("a..b=1", "empty_key"),
            ("a=\"x", "invalid_json"),
        ] {
            assert_eq!(Edit::parse(text).unwrap_err().code(), code, "{text}");
        }
        for text in ["[1]", "{\"sett\": {}}", "{", "{\"set\": {\"a..b\": 1}}", "{\"where\": \"x\"}"] {
            assert!(Change::parse_file(text).is_err(), "{text}");
        }
    }
}
