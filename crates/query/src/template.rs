//! File names from keys: `out/[mars.param]-[mars.step].tgm`.

use crate::cursor::Cursor;
use crate::{Item, Path, QueryError, Value};
use std::fmt;
use std::path::PathBuf;

/// A file name with keys in brackets. `[[` stands for a literal `[`, and `[mars.step:03]` pads an integer with zeros.
///
/// The literal text up to the last separator before the first key is the target directory, as the user wrote it.
/// Nothing that a key holds can leave that directory: separators in values are percent-encoded (`/` becomes `%2F`, so
/// that different values keep different names), and names that are `.`, `..`, too long or hold control characters
/// are refused.
///
/// ```
/// use fw_query::{Map, Template, Value};
/// use std::path::Path;
///
/// let template = Template::parse("out/[param]-[step:03].tgm")?;
/// let item = |param| Map::Owned(vec![("param".into(), Value::from(param)), ("step".into(), Value::from(6))]);
/// assert_eq!(template.expand(&item("2t")).unwrap(), Path::new("out/2t-006.tgm"));
/// assert_eq!(template.expand(&item("../x")).unwrap(), Path::new("out/..%2Fx-006.tgm"));
/// let error = template.expand(&Map::Owned(Vec::new())).unwrap_err();
/// assert_eq!((error.code(), error.key()), ("missing_key", Some("param")));
/// # Ok::<(), fw_query::QueryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    directory: PathBuf,
    /// Names of directories below the target directory, then the file name.
    components: Vec<Vec<Part>>,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(String),
    Key { path: Path, width: usize },
}

impl Template {
    /// Parses a template. Text without keys is a template too: it names one file.
    ///
    /// # Errors
    /// `unclosed_key`, `bad_width`, `empty_name`, `leaves_directory` (`..` after the first key), `control_character`,
    /// and those of [`Path::parse`].
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let mut cursor = Cursor::new(text)?;
        // Without a key all but the file name is the directory.
        let first_key = first_key(text).unwrap_or(text.len());
        let directory_end = text[..first_key].rfind(std::path::is_separator).map_or(0, |at| at + 1);
        while cursor.at() < directory_end {
            cursor.next();
        }
        let mut components = vec![Vec::new()];
        let mut component_start = cursor.at();
        while let Some(c) = cursor.peek() {
            let at = cursor.at();
            if cursor.eat("[[") {
                literal(&mut components, '[');
            } else if c == '[' {
                let part = key(&mut cursor)?;
                components.last_mut().expect("there is always a component").push(part);
            } else if std::path::is_separator(c) {
                check_literal(&cursor, &components, component_start..at)?;
                cursor.next();
                components.push(Vec::new());
                component_start = cursor.at();
            } else if c.is_control() {
                let message = "control characters cannot be part of a file name";
                return Err(cursor.error("control_character", at..at + c.len_utf8(), message));
            } else {
                cursor.next();
                literal(&mut components, c);
            }
        }
        check_literal(&cursor, &components, component_start..text.len())?;
        // `[[` is an escape in the directory as well.
        Ok(Self { directory: PathBuf::from(text[..directory_end].replace("[[", "[")), components })
    }

    /// True when it has at least one key.
    pub fn has_keys(&self) -> bool {
        self.paths().next().is_some()
    }

    /// The keys that are looked up.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.components.iter().flatten().filter_map(|part| match part {
            Part::Key { path, .. } => Some(path),
            Part::Literal(_) => None,
        })
    }

    /// The directory that no expanded name leaves; empty for the current one.
    pub fn directory(&self) -> &std::path::Path {
        &self.directory
    }

    /// The file name for an item.
    ///
    /// # Errors
    /// See [`TemplateError::code`].
    pub fn expand(&self, item: &(impl Item + ?Sized)) -> Result<PathBuf, TemplateError> {
        self.expand_or(item, None)
    }

    /// As [`Template::expand`], with a text that stands for keys that the item does not have.
    ///
    /// # Errors
    /// See [`TemplateError::code`].
    pub fn expand_or(&self, item: &(impl Item + ?Sized), missing: Option<&str>) -> Result<PathBuf, TemplateError> {
        let mut out = self.directory.clone();
        let mut len = 0;
        for parts in &self.components {
            let mut name = String::new();
            for part in parts {
                match part {
                    Part::Literal(text) => name.push_str(text),
                    Part::Key { path, width } => {
                        let value = item.lookup(path).or_else(|| missing.map(Value::from));
                        name.push_str(&value_name(path, *width, value)?);
                    }
                }
            }
            if name == "." || name == ".." {
                return Err(TemplateError::new(
                    "leaves_directory",
                    None,
                    format!("the name {name:?} is not a file name"),
                ));
            }
            len += name.len() + 1;
            if name.len() > LONGEST_NAME || len > LONGEST_PATH {
                let shown: String = name.chars().take(40).collect();
                let message =
                    format!("the name {shown:?}… is too long: {} bytes, the limit is {LONGEST_NAME}", name.len());
                return Err(TemplateError::new("name_too_long", None, message));
            }
            out.push(name);
        }
        Ok(out)
    }
}

/// Why an item has no file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    code: &'static str,
    key: Option<String>,
    message: String,
}

impl TemplateError {
    fn new(code: &'static str, key: Option<&Path>, message: String) -> Self {
        Self { code, key: key.map(|path| path.as_str().to_owned()), message }
    }

    /// `missing_key`, `empty_value`, `not_a_name` (null, arrays, maps, bytes), `control_character`,
    /// `leaves_directory` or `name_too_long`.
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// The key whose value is at fault.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TemplateError {}

/// The usual limits of file systems, in bytes.
const LONGEST_NAME: usize = 255;
const LONGEST_PATH: usize = 4000;

/// The value of a key as part of a file name.
fn value_name(path: &Path, width: usize, value: Option<Value<'_>>) -> Result<String, TemplateError> {
    let refuse = |code, what: &str| Err(TemplateError::new(code, Some(path), format!("{path}: {what}")));
    let text = match value {
        None => return refuse("missing_key", "the item does not have this key"),
        Some(Value::Integer(number)) => format!("{number:0width$}"),
        Some(value @ (Value::Text(_) | Value::Float(_) | Value::Bool(_))) => value.to_text(),
        Some(_) => return refuse("not_a_name", "the value is not a text or number and cannot be part of a file name"),
    };
    if text.is_empty() {
        return refuse("empty_value", "the value is empty and cannot be part of a file name");
    }
    if text.chars().any(char::is_control) {
        return refuse("control_character", "the value holds control characters and cannot be part of a file name");
    }
    Ok(encode(&text))
}

/// Percent-encodes what would be a separator, and `%` where it would read as such an encoding: two values never get
/// the same name.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let reads_as_encoded =
            || text.as_bytes()[at + 1..].get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let special = match c {
            '/' | '\\' => true,
            '%' => reads_as_encoded(),
            // Drives, streams and characters that Windows refuses.
            ':' | '<' | '>' | '"' | '|' | '?' | '*' => cfg!(windows),
            _ => false,
        };
        if special { out.push_str(&format!("%{:02X}", u32::from(c))) } else { out.push(c) }
    }
    out
}

fn literal(components: &mut [Vec<Part>], c: char) {
    let parts = components.last_mut().expect("there is always a component");
    match parts.last_mut() {
        Some(Part::Literal(text)) => text.push(c),
        _ => parts.push(Part::Literal(c.to_string())),
    }
}

/// Refuses components that no value can mend.
fn check_literal(
    cursor: &Cursor<'_>,
    components: &[Vec<Part>],
    span: std::ops::Range<usize>,
) -> Result<(), QueryError> {
    match components.last().map(Vec::as_slice) {
        None | Some([]) => Err(cursor
            .error("empty_name", span, "a file or directory name is empty")
            .with_hint("a template looks like out/[mars.param]-[mars.step].tgm")),
        Some([Part::Literal(text)]) if text == "." || text == ".." => Err(cursor
            .error("leaves_directory", span, format!("{text:?} is only allowed before the first key"))
            .with_hint("write the target directory first: ../out/[mars.param].tgm")),
        Some(_) => Ok(()),
    }
}

/// Where the first key starts.
fn first_key(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('[') {
        at += found;
        if !text[at..].starts_with("[[") {
            return Some(at);
        }
        at += 2;
    }
    None
}

/// Reads `[key]` or `[key:03]`.
fn key(cursor: &mut Cursor<'_>) -> Result<Part, QueryError> {
    let start = cursor.at();
    cursor.next();
    let path = Path::read_to_colon(cursor)?;
    let width = if cursor.eat(":") { width(cursor)? } else { 0 };
    if cursor.eat("]") {
        return Ok(Part::Key { path, width });
    }
    Err(cursor
        .error("unclosed_key", start..cursor.at(), "missing ] after the key")
        .with_hint("write [mars.param] for a key, and [[ for a literal ["))
}

/// Reads the `03` of `[key:03]`.
fn width(cursor: &mut Cursor<'_>) -> Result<usize, QueryError> {
    let start = cursor.at();
    while cursor.peek().is_some_and(|c| c != ']') {
        cursor.next();
    }
    let written = &cursor.text()[start..cursor.at()];
    let digits = written.strip_prefix('0').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    match digits.and_then(|digits| digits.parse::<usize>().ok()).filter(|width| *width <= 64) {
        Some(width) => Ok(width),
        None => Err(cursor
            .error(
                "bad_width",
                start..cursor.at(),
                format!("expected a width such as 03 after the colon, found {written:?}"),
            )
            .with_hint("put a key that holds a colon in double quotes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Map;
    use proptest::prelude::*;

    fn item<'a>(value: impl Into<Value<'a>>) -> Map<'a> {
        Map::Owned(vec![("k".into(), value.into())])
    }

    fn expand(template: &str, value: Value<'_>) -> Result<String, &'static str> {
        let template = Template::parse(template).map_err(|error| error.code())?;
        template.expand(&item(value)).map(|path| path.to_str().unwrap().to_owned()).map_err(|error| error.code())
    }

    #[test]
    fn names_are_expanded() {
        for (template, value, expected) in [
            ("[k].tgm", Value::from("2t"), "2t.tgm"),
            ("a/b/[k]/x[k].tgm", Value::from(7), "a/b/7/x7.tgm"),
            ("/abs/../[k]", Value::from(true), "/abs/../true"),
            ("[k:04]", Value::from(-7), "-007"),
            ("[k:04]", Value::from("x"), "x"),
            ("[k]", Value::from(0.5), "0.5"),
            ("[[[k]]]", Value::from(1), "[1]]"),
            ("d[[0]/[k]", Value::from(1), "d[0]/1"),
            ("plain.tgm", Value::from(1), "plain.tgm"),
            ("[\"k\"]", Value::from(1), "1"),
            ("...[k]", Value::from("."), "...."),
            ("[k]", Value::from("50%"), "50%"),
            ("[k]", Value::from("%2F"), "%252F"),
            ("[k]", Value::from("a\\b/c"), "a%5Cb%2Fc"),
        ] {
            assert_eq!(expand(template, value).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn what_cannot_be_a_name_is_refused() {
        for (template, value, code) in [
            ("[k]", Value::from(".."), "leaves_directory"),
            ("[k]/x", Value::from(".."), "leaves_directory"),
            (".[k]", Value::from("."), "leaves_directory"),
            ("[k]/../x", Value::from("a"), "leaves_directory"),
            ("[k]/", Value::from("a"), "empty_name"),
            ("[k]//x", Value::from("a"), "empty_name"),
            ("", Value::from("a"), "empty_name"),
            ("dir/", Value::from("a"), "empty_name"),
            ("[k].tgm", Value::from(""), "empty_value"),
            ("[k]", Value::Null, "not_a_name"),
            ("[k]", Value::from(vec![Value::from(1)]), "not_a_name"),
            ("[k]", Value::from("a\nb"), "control_character"),
            ("[k]", Value::from("a\u{9b}b"), "control_character"),
            ("[k]\n", Value::from("a"), "control_character"),
            ("[k]", Value::from("a".repeat(256)), "name_too_long"),
            ("[j]", Value::from("a"), "missing_key"),
            ("[k", Value::from("a"), "unclosed_key"),
            ("[k:3x]", Value::from("a"), "bad_width"),
            ("[]", Value::from("a"), "empty_key"),
            ("[k[0]", Value::from("a"), "unclosed_key"),
        ] {
            assert_eq!(expand(template, value), Err(code), "{template}");
        }
    }

    #[test]
    fn a_text_stands_for_missing_keys_when_asked() {
        let template = Template::parse("[j]-[k]").unwrap();
        assert_eq!(template.expand_or(&item(1), Some("unknown")).unwrap(), std::path::Path::new("unknown-1"));
    }

    proptest! {
        #[test]
        fn no_value_leaves_the_directory(value in ".{0,20}|[./\\\\%2F]{0,8}") {
            let template = Template::parse("out/[k]").unwrap();
            if let Ok(path) = template.expand(&item(value.as_str())) {
                prop_assert_eq!(path.components().count(), 2);
                prop_assert!(path.components().all(|c| matches!(c, std::path::Component::Normal(_))));
            }
        }

        #[test]
        fn different_values_have_different_names(a in "[a/\\\\%25Ff]{0,6}", b in "[a/\\\\%25Ff]{0,6}") {
            prop_assert_eq!(a == b, encode(&a) == encode(&b));
        }
    }
}
