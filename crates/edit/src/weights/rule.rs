//! Rules that give tensors new names.

use crate::error::{EditError, Result};
use fw_query::Pattern;
use std::fmt;

/// A pattern for old names, and what becomes of them.
///
/// In the new name every `*` stands for what the `*` at its place in the pattern matched, and `{1}`, `{2}`, … for that of the first, the
/// second, … `*`, in any order.
///
/// ```
/// use fw_edit::RenameRule;
///
/// let rule = RenameRule::new("model.layers.*.mlp.*", "blk.*.ffn.*")?;
/// assert_eq!(rule.apply("model.layers.12.mlp.up.weight").as_deref(), Some("blk.12.ffn.up.weight"));
/// assert_eq!(rule.apply("model.norm.weight"), None);
/// let swapped = RenameRule::new("*/*", "{2}.{1}")?;
/// assert_eq!(swapped.apply("encoder/w").as_deref(), Some("w.encoder"));
/// # Ok::<(), fw_edit::EditError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameRule {
    from: Pattern,
    to: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// What this `*` of the pattern matched.
    Star(usize),
}

impl RenameRule {
    /// A rule from its two texts.
    ///
    /// # Errors
    /// `invalid_rename` when the new name asks for more than the pattern matches, or is empty.
    pub fn new(from: &str, to: &str) -> Result<Self> {
        let from = Pattern::parse(from);
        let wrong = |why: String| {
            EditError::refused("invalid_rename", format!("{from} -> {to}: {why}"))
                .with_hint("write --from 'model.layers.*.w' --to 'blk.*.weight'")
        };
        if to.is_empty() {
            return Err(wrong("the new name is empty".to_owned()));
        }
        let (mut parts, mut text, mut stars, mut rest) = (Vec::new(), String::new(), 0usize, to);
        while let Some(letter) = rest.chars().next() {
            let (star, len) = match (letter, numbered(rest)) {
                ('*', _) => {
                    stars += 1;
                    (Some(stars), 1)
                }
                ('{', Some((number, len))) => (Some(number), len),
                _ => (None, letter.len_utf8()),
            };
            match star {
                Some(number) if number == 0 || number > from.star_count() => {
                    let count = from.star_count();
                    return Err(wrong(format!("the new name has the place {number}, and the pattern has {count} *")));
                }
                Some(number) => {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                    parts.push(Part::Star(number - 1));
                }
                None => text.push(letter),
            }
            rest = rest.get(len..).unwrap_or_default();
        }
        parts.push(Part::Text(text));
        Ok(Self { from, to: to.to_owned(), parts })
    }

    /// A rule written `OLD=NEW`.
    ///
    /// # Errors
    /// `invalid_rename`.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((from, to)) if !from.is_empty() => Self::new(from, to),
            _ => Err(EditError::refused("invalid_rename", format!("{text:?}: expected OLD=NEW"))
                .with_hint("use --from and --to for names with =")),
        }
    }

    /// The new name of a tensor, when the rule is for it.
    pub fn apply(&self, name: &str) -> Option<String> {
        let found = self.from.captures(name)?;
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Star(number) => found.get(*number).copied().unwrap_or_default().to_owned(),
        };
        Some(self.parts.iter().map(part).collect())
    }
}

impl fmt::Display for RenameRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

/// The number in braces that a text begins with, and how long that is.
fn numbered(text: &str) -> Option<(usize, usize)> {
    let (digits, _) = text.strip_prefix('{')?.split_once('}')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| is_number)?, digits.len() + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_what_stars_match() {
        for (from, to, name, expected) in [
            ("a", "b", "a", Some("b")),
            ("a", "b", "ab", None),
            ("model.*", "*", "model.w", Some("w")),
            ("*", "m.*", "w", Some("m.w")),
            ("*.gamma", "*.weight", "ln.1.gamma", Some("ln.1.weight")),
            ("h.*.*", "{2}.{1}.{2}", "h.3.w", Some("w.3.w")),
            ("h.?.*", "x.*", "h.3.w", Some("x.w")),
            ("*.w", "const", "a.w", Some("const")),
            ("*", "{x}*{}", "w", Some("{x}w{}")),
        ] {
            assert_eq!(RenameRule::new(from, to).unwrap().apply(name).as_deref(), expected, "{from} -> {to}: {name}");
        }
        assert_eq!(RenameRule::parse("a=b=c").unwrap().apply("a").as_deref(), Some("b=c"));
        for (from, to) in [("a", "*"), ("*", "**"), ("*", "{2}"), ("*", "{0}"), ("a", "")] {
            assert_eq!(RenameRule::new(from, to).unwrap_err().code(), "invalid_rename", "{from} -> {to}");
        }
        for text in ["", "a", "=b"] {
            assert_eq!(RenameRule::parse(text).unwrap_err().code(), "invalid_rename", "{text}");
        }
    }
}
