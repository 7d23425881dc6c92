//! Patterns: `*` any text, `?` one character, `[a-c]` one of these, `[!a-c]` or `[^a-c]` none of these.

/// One unit of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Char(char),
    AnyChar,
    AnyText,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::AnyChar => true,
            Self::AnyText => false,
            Self::Class { negated, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated,
        }
    }
}

/// True when the whole of `text` matches. Takes at most the product of the lengths, and no memory.
pub(crate) fn matches(pattern: &[Token], text: &str) -> bool {
    walk(pattern, text, |_, _| {})
}

/// What each `*` stands for when the whole of `text` matches; the first ones take as little as they can.
pub(crate) fn captures<'t>(pattern: &[Token], text: &'t str) -> Option<Vec<&'t str>> {
    let mut taken: Vec<&str> = Vec::new();
    walk(pattern, text, |star, part| {
        taken.truncate(star);
        taken.push(part);
    })
    .then_some(taken)
}

/// Matches, and tells of every `*` by its number what it takes, again when it has to take more.
fn walk<'t>(pattern: &[Token], text: &'t str, mut takes: impl FnMut(usize, &'t str)) -> bool {
    let mut rest = text.chars();
    let mut at = 0;
    // Where to go on after a mismatch: the last `*`, the text that it begins with, and the text from where it may take one
    // character more.
    let mut retry: Option<Star<'_>> = None;
    let mut stars = 0;
    loop {
        let mut ahead = rest.clone();
        let next = ahead.next();
        match (pattern.get(at), next) {
            (Some(Token::AnyText), _) => {
                at += 1;
                takes(stars, "");
                retry = Some(Star { number: stars, after: at, begin: rest.as_str(), from: rest.clone() });
                stars += 1;
            }
            (Some(token), Some(c)) if token.takes(c) => {
                at += 1;
                rest = ahead;
            }
            (None, None) => return true,
            _ => {
                let Some(star) = &mut retry else { return false };
                if star.from.next().is_none() {
                    return false;
                }
                let len = star.begin.len().saturating_sub(star.from.as_str().len());
                takes(star.number, star.begin.get(..len).unwrap_or_default());
                at = star.after;
                rest = star.from.clone();
            }
        }
    }
}

/// The last `*` that was met.
struct Star<'t> {
    number: usize,
    /// What follows it in the pattern.
    after: usize,
    begin: &'t str,
    from: std::str::Chars<'t>,
}

/// Reads the class whose `[` was the first character of `text`: the token and its length, or `None` when no `]` ends
/// it. A `]` right after the opening belongs to the class, as in a shell.
pub(crate) fn class(text: &str) -> Option<(Token, usize)> {
    let mut chars = text.char_indices().skip(1).peekable();
    let negated = chars.next_if(|(_, c)| matches!(c, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    loop {
        let (at, low) = chars.next()?;
        if low == ']' && !ranges.is_empty() {
            return Some((Token::Class { negated, ranges }, at + 1));
        }
        let mut high = low;
        let mut ahead = chars.clone();
        if ahead.next().is_some_and(|(_, c)| c == '-')
            && let Some((_, end)) = ahead.next().filter(|(_, c)| *c != ']')
        {
            high = end;
            chars = ahead;
        }
        ranges.push((low, high));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(pattern: &str) -> Vec<Token> {
        let mut out = Vec::new();
        let mut rest = pattern;
        while let Some(c) = rest.chars().next() {
            let (token, len) = match c {
                '*' => (Token::AnyText, 1),
                '?' => (Token::AnyChar, 1),
                '[' => class(rest).unwrap(),
                c => (Token::Char(c), c.len_utf8()),
            };
            out.push(token);
            rest = &rest[len..];
        }
        out
    }

    /// The definition, without cleverness.
    fn naive(pattern: &[Token], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((Token::AnyText, rest)), _) => (0..=text.len()).any(|skip| naive(rest, &text[skip..])),
            (Some((token, rest)), Some((c, tail))) => token.takes(*c) && naive(rest, tail),
            _ => false,
        }
    }

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, text, expected) in [
            ("2?", "2t", true),
            ("2?", "2", false),
            ("*", "", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcdef", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a]", "b", true),
            ("[]]", "]", true),
            ("[a-]", "-", true),
            ("?", "ü", true),
        ] {
            assert_eq!(matches(&tokens(pattern), text), expected, "{pattern} {text}");
        }
        assert!(class("[abc").is_none() && class("[").is_none() && class("[]").is_none() && class("[!]").is_none());
    }

    #[test]
    fn many_stars_end_soon() {
        let pattern = tokens(&format!("{}b", "a*".repeat(200)));
        assert!(!matches(&pattern, &"a".repeat(20_000)));
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab*?]{0,8}", text in "[abc]{0,10}") {
            let pattern = tokens(&pattern);
            prop_assert_eq!(matches(&pattern, &text), naive(&pattern, &text.chars().collect::<Vec<_>>()));
        }
    }
}
