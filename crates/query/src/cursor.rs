//! Reading query text character by character, with positions.

use crate::QueryError;
use std::ops::Range;

/// Query text longer than this is refused, so that text from a network client costs little.
pub(crate) const LONGEST_TEXT: usize = 64 * 1024;

/// A position in query text.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self, QueryError> {
        if text.len() > LONGEST_TEXT {
            // Only the beginning: an error must not carry megabytes along.
            let shown: String = text.chars().take(40).collect();
            let message = format!("query of {} bytes is too long; the limit is {LONGEST_TEXT} bytes", text.len());
            return Err(QueryError::new("query_too_long", &shown, shown.len()..shown.len(), message));
        }
        Ok(Self { text, at: 0 })
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Steps over `token` if it comes next.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(crate) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.next();
        }
    }

    /// Reads a quoted text whose opening quote comes next.
    pub(crate) fn quoted(&mut self) -> Result<String, QueryError> {
        let start = self.at;
        self.next();
        let mut out = String::new();
        loop {
            let at = self.at;
            match self.next() {
                Some('"') => return Ok(out),
                Some('\\') => out.push(self.escape(at)?),
                Some(c) => out.push(c),
                None => {
                    return Err(self
                        .error("unclosed_quote", start..self.text.len(), "missing closing quote")
                        .with_hint("end the quoted text with \""));
                }
            }
        }
    }

    pub(crate) fn error(&self, code: &'static str, span: Range<usize>, message: impl Into<String>) -> QueryError {
        QueryError::new(code, self.text, span, message)
    }

    fn escape(&mut self, start: usize) -> Result<char, QueryError> {
        match self.next() {
            Some(c @ ('"' | '\\')) => return Ok(c),
            Some('n') => return Ok('\n'),
            Some('t') => return Ok('\t'),
            Some('r') => return Ok('\r'),
            Some('u') => {
                let digits = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(hex, _)| hex);
                // Six digits at most, so a sign or a long run never reaches the number parser.
                let code = digits
                    .filter(|hex| (1..=6).contains(&hex.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit()))
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).map(|c| (c, hex.len())));
                if let Some((c, len)) = code {
                    self.at += len + 2;
                    return Ok(c);
                }
            }
            _ => {}
        }
        Err(self
            .error("unknown_escape", start..self.at, "unknown escape in quoted text")
            .with_hint("the escapes are \\\" \\\\ \\n \\t \\r and \\u{1f600}"))
    }
}

/// Quotes text so that [`Cursor::quoted`] reads it back.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
