//! What is wrong in a query, where, and what to write instead.

use std::fmt;
use std::ops::Range;

/// A fault in text that a user wrote: a where clause, a key, a sort order, a template.
///
/// ```
/// let error = fw_query::Where::parse("step==12").unwrap_err();
/// assert_eq!(error.code(), "unknown_operator");
/// assert_eq!(error.to_string(), "unknown operator \"==\"");
/// assert_eq!(
///     error.render(),
///     "unknown operator \"==\"\n  step==12\n      ^^\nhint: write = for equality, and quote a value that starts with ="
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    code: &'static str,
    message: String,
    text: String,
    span: Range<usize>,
    hint: Option<String>,
}

impl QueryError {
    pub(crate) fn new(code: &'static str, text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), text: text.to_owned(), span, hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Stable snake_case code.
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the text that are wrong; empty at the place where something is missing.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What to write instead.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The message, the text with a marker under the fault, and the hint. Control characters are shown as `�`.
    pub fn render(&self) -> String {
        let shown =
            |part: &str| -> String { part.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect() };
        let before = self.text.get(..self.span.start).unwrap_or_default().chars().count();
        let marked = self.text.get(self.span.clone()).unwrap_or_default().chars().count().max(1);
        let mut out = format!("{self}\n  {}\n  {}{}", shown(&self.text), " ".repeat(before), "^".repeat(marked));
        if let Some(hint) = &self.hint {
            out.push_str("\nhint: ");
            out.push_str(hint);
        }
        out
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for QueryError {}
