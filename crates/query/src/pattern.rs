//! A pattern for names: `*` any text, `?` one character, `[..]` one of these.

use crate::glob::{self, Token};
use std::fmt;

/// A pattern for whole names. A name without `*`, `?` and `[` is a pattern for itself, and every pattern also matches its own text, so that
/// `layers[0].w` finds a tensor of that name.
///
/// ```
/// use fw_query::Pattern;
///
/// let pattern = Pattern::parse("model.layers.*.mlp.*");
/// assert!(pattern.matches("model.layers.12.mlp.up.weight") && !pattern.matches("model.norm"));
/// assert_eq!(pattern.captures("model.layers.12.mlp.up.weight"), Some(vec!["12", "up.weight"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    tokens: Vec<Token>,
}

impl Pattern {
    /// Reads a pattern. A `[` that no `]` ends is a character like any other.
    pub fn parse(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let (token, len) = match letter {
                '*' => (Token::AnyText, 1),
                '?' => (Token::AnyChar, 1),
                '[' => glob::class(rest).unwrap_or((Token::Char('['), 1)),
                letter => (Token::Char(letter), letter.len_utf8()),
            };
            tokens.push(token);
            rest = rest.get(len..).unwrap_or_default();
        }
        Self { text: text.to_owned(), tokens }
    }

    /// True when it matches all of `name`.
    pub fn matches(&self, name: &str) -> bool {
        self.text == name || glob::matches(&self.tokens, name)
    }

    /// What each `*` stands for, the first ones as short as can be; `None` when the pattern does not match.
    pub fn captures<'n>(&self, name: &'n str) -> Option<Vec<&'n str>> {
        match glob::captures(&self.tokens, name) {
            None if self.text == name => Some(vec!["*"; self.star_count()]),
            found => found,
        }
    }

    /// How many `*` it has.
    pub fn star_count(&self) -> usize {
        self.tokens.iter().filter(|token| **token == Token::AnyText).count()
    }

    /// True when it is a name: it matches nothing but its own text.
    pub fn is_literal(&self) -> bool {
        self.tokens.iter().all(|token| matches!(token, Token::Char(_)))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_capture() {
        for (pattern, name, expected) in [
            ("a.*", "a.b", Some(vec!["b"])),
            ("a.*", "a.", Some(vec![""])),
            ("*.*", "a.b.c", Some(vec!["a", "b.c"])),
            ("*", "", Some(vec![""])),
            ("**", "ab", Some(vec!["", "ab"])),
            ("*.w", "x.w.w", Some(vec!["x.w"])),
            ("?.*.[ab]", "é.1.b", Some(vec!["1"])),
            ("w", "w", Some(vec![])),
            ("w", "v", None),
            ("*a", "b", None),
            ("x[0].*", "x0.w", Some(vec!["w"])),
            ("x[0", "x[0", Some(vec![])),
        ] {
            assert_eq!(Pattern::parse(pattern).captures(name), expected, "{pattern} {name}");
        }
        let odd = Pattern::parse("x[0].w");
        assert!(odd.matches("x[0].w") && odd.matches("x0.w") && !odd.is_literal());
        assert!(Pattern::parse("a.b").is_literal());
    }

    proptest! {
        /// What is captured, put back in place of the stars, is the name.
        #[test]
        fn captures_are_what_the_stars_stand_for(pattern in "[ab*?]{0,8}", name in "[abc]{0,10}") {
            let parsed = Pattern::parse(&pattern);
            let found = parsed.captures(&name);
            prop_assert_eq!(found.is_some(), parsed.matches(&name));
            let Some(found) = found else { return Ok(()) };
            prop_assert_eq!(found.len(), parsed.star_count());
            let mut found = found.into_iter();
            let mut parts = pattern.split('*');
            let mut rebuilt = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                rebuilt.push_str(found.next().unwrap_or_default());
                rebuilt.push_str(part);
            }
            prop_assert_eq!(rebuilt.len(), name.len());
            prop_assert!(rebuilt.chars().zip(name.chars()).all(|(a, b)| a == b || a == '?'));
        }
    }
}
