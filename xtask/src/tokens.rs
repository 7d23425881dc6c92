//! Rust source as a list of names and signs, as far as paths need it: comments, texts, characters and lifetimes are left out.

use std::collections::BTreeSet;

/// A word or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// An identifier, a keyword or a number.
    Name(String),
    /// `::`.
    Path,
    /// Any other character.
    Sign(char),
}

impl Token {
    /// The word, if it is one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Path | Self::Sign(_) => None,
        }
    }
}

/// Cuts source text into tokens.
pub(crate) fn read(text: &str) -> Vec<Token> {
    let mut rest = text;
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        rest = if rest.starts_with("//") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if rest.starts_with("/*") {
            after_comment(rest)
        } else if let Some(end) = raw_text(rest) {
            &rest[end..]
        } else if first == '"' {
            after_quote(rest, '"')
        } else if first == '\'' {
            after_character(rest)
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..end].to_owned()));
            &rest[end..]
        } else if let Some(behind) = rest.strip_prefix("::") {
            tokens.push(Token::Path);
            behind
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            &rest[first.len_utf8()..]
        };
    }
    tokens
}

/// The tokens without items under `#[cfg(test)]`.
pub(crate) fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(behind) = after_test_attribute(tokens, at) {
            at = end_of_item(tokens, behind);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// The modules in files of their own that stand under `#[cfg(test)]`.
pub(crate) fn test_modules(tokens: &[Token]) -> BTreeSet<String> {
    let module = |at: usize| match tokens.get(at..at + 3)? {
        [module, Token::Name(name), Token::Sign(';')] if module.name() == Some("mod") => Some(name.clone()),
        _ => None,
    };
    (0..tokens.len()).filter_map(|at| after_test_attribute(tokens, at)).filter_map(module).collect()
}

/// The paths below the crate's root of everything that `crate::`, `super::` and `self::` lead to, in a file of module `module`.
pub(crate) fn local_paths(tokens: &[Token], module: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    // Modules written out in the file: the depth of their braces, and their names.
    let mut inline: Vec<(usize, String)> = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    while at < tokens.len() {
        match &tokens[at] {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => {
                depth = depth.saturating_sub(1);
                inline.retain(|(of, _)| *of <= depth);
            }
            Token::Name(word) if word == "mod" && tokens.get(at + 2) == Some(&Token::Sign('{')) => {
                let name = tokens[at + 1].name().unwrap_or("").to_owned();
                inline.push((depth + 1, name));
            }
            Token::Name(word)
                if ["crate", "super", "self"].contains(&word.as_str())
                    && tokens.get(at + 1) == Some(&Token::Path)
                    && at.checked_sub(1).and_then(|before| tokens.get(before)) != Some(&Token::Path) =>
            {
                let mut base: Vec<String> =
                    module.iter().cloned().chain(inline.iter().map(|(_, name)| name.clone())).collect();
                let mut start = at;
                loop {
                    match tokens[start].name() {
                        Some("crate") => base.clear(),
                        Some("super") => drop(base.pop()),
                        Some("self") => {}
                        _ => break,
                    }
                    if tokens.get(start + 1) != Some(&Token::Path) {
                        break;
                    }
                    start += 2;
                }
                found.extend(paths(tokens, start).into_iter().map(|path| [base.clone(), path].concat()));
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The paths of the tree that begins at `at`: `a::{b, c::d as e}` gives `a::b` and `a::e`. The last part is the name that the
/// path gets; `self` is left out.
pub(crate) fn paths(tokens: &[Token], at: usize) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    tree(tokens, at, &[], &mut found);
    found
}

/// Reads one tree and returns the place after it.
fn tree(tokens: &[Token], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(Token::Name(name)) => {
                if name != "self" {
                    path.push(name.clone());
                }
                at += 1;
            }
            Some(Token::Sign('*')) => {
                path.push("*".to_owned());
                at += 1;
            }
            Some(Token::Sign('{')) => {
                at += 1;
                while let Some(token) = tokens.get(at) {
                    match token {
                        Token::Sign('}') => return at + 1,
                        Token::Sign(',') => at += 1,
                        Token::Name(_) | Token::Path | Token::Sign(_) => {
                            at = tree(tokens, at, &path, found).max(at + 1);
                        }
                    }
                }
                return at;
            }
            _ => break,
        }
        match tokens.get(at) {
            Some(Token::Path) => at += 1,
            Some(Token::Name(word)) if word == "as" => {
                if let (Some(last), Some(name)) = (path.last_mut(), tokens.get(at + 1).and_then(Token::name)) {
                    name.clone_into(last);
                }
                at += 2;
                break;
            }
            _ => break,
        }
    }
    found.push(path);
    at
}

/// The place after `#[cfg(test)]` or `#[cfg(all(test, …))]`, if one of them begins at `at`.
fn after_test_attribute(tokens: &[Token], at: usize) -> Option<usize> {
    let name = |at: usize| tokens.get(at).and_then(Token::name);
    let sign = |at: usize, sign: char| tokens.get(at) == Some(&Token::Sign(sign));
    let is_cfg = sign(at, '#') && sign(at + 1, '[') && name(at + 2) == Some("cfg") && sign(at + 3, '(');
    let only = name(at + 4) == Some("test") && sign(at + 5, ')');
    let among_others = name(at + 4) == Some("all") && sign(at + 5, '(') && name(at + 6) == Some("test");
    let end = (at..tokens.len()).find(|end| sign(*end, ']'))?;
    (is_cfg && (only || among_others)).then_some(end + 1)
}

/// The place after the item that begins at `at`: behind its `;`, or behind its braces.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0_usize;
    let is_use = |at: usize| tokens.get(at).and_then(Token::name) == Some("use");
    // The braces of a `use` do not end it.
    let braces_end = !(is_use(at) || is_use(at + 1) || is_use(at + 4));
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            Token::Sign('{' | '(' | '[') => depth += 1,
            Token::Sign(close @ ('}' | ')' | ']')) => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *close == '}' && braces_end {
                    return at;
                }
            }
            Token::Sign(';') if depth == 0 => return at,
            Token::Name(_) | Token::Path | Token::Sign(_) => {}
        }
    }
    at
}

/// What follows a block comment; they nest.
fn after_comment(text: &str) -> &str {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return &text[at..];
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    ""
}

/// The length of a raw text (`r"…"`, `br#"…"#`) that `text` begins with.
fn raw_text(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("br").or_else(|| text.strip_prefix("cr")).or_else(|| text.strip_prefix('r'))?;
    let hashes = rest.chars().take_while(|c| *c == '#').count();
    let inside = rest[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - inside.len();
    Some(inside.find(&close).map_or(text.len(), |end| start + end + close.len()))
}

/// What follows the text or character that `text` begins with.
fn after_quote(text: &str, quote: char) -> &str {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == '\\' {
            characters.next();
        } else if c == quote {
            return &text[at + 1..];
        }
    }
    ""
}

/// What follows a character, or the quote of a lifetime.
fn after_character(text: &str) -> &str {
    let mut inside = text.chars().skip(1);
    match (inside.next(), inside.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => after_quote(text, '\''),
        _ => &text[1..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> Vec<String> {
        paths(&read(text), 0).into_iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn trees_are_unfolded() {
        assert_eq!(joined("a::b;"), ["a::b"]);
        assert_eq!(joined("a::{self, b, c::{d, e as f}, g::*};"), ["a", "a::b", "a::c::d", "a::c::f", "a::g::*"]);
        assert_eq!(joined("a::b::<T>()"), ["a::b"]);
    }

    #[test]
    fn characters_and_lifetimes_do_not_hide_what_follows() {
        let names: Vec<String> = read("'a' b '\\'' c &'d e '\"' f b\"g\" h 'i: loop")
            .iter()
            .filter_map(Token::name)
            .map(str::to_owned)
            .collect();
        assert_eq!(names, ["b", "c", "d", "e", "f", "b", "h", "i", "loop"]);
    }

    #[test]
    fn items_under_test_are_left_out() {
        let text = "#[cfg(test)] use a::{b, c}; d #[cfg(test)] mod e { { f } } g #[cfg(test)] mod h; i";
        let names: Vec<String> = without_tests(&read(text)).iter().filter_map(Token::name).map(str::to_owned).collect();
        assert_eq!(names, ["d", "g", "i"]);
        assert_eq!(test_modules(&read(text)), BTreeSet::from(["h".to_owned()]));
    }
}
