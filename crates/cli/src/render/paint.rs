//! Colour, where there is any.

use crate::terminal::Terminal;

/// What a piece of text is, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// The head of a table or a section.
    Head,
    /// All is well.
    Good,
    /// An error.
    Bad,
    /// A warning.
    Warn,
}

impl Ink {
    const fn code(self) -> &'static str {
        match self {
            Self::Head => "1",
            Self::Good => "1;32",
            Self::Bad => "1;31",
            Self::Warn => "1;33",
        }
    }

    /// Text of a result; coloured where standard output is.
    pub(crate) fn paint(self, text: &str) -> String {
        self.applied(text, Terminal::current().colour)
    }

    /// Words on standard error; coloured where it is.
    pub(crate) fn paint_error(self, text: &str) -> String {
        self.applied(text, Terminal::current().error_colour)
    }

    fn applied(self, text: &str, is_coloured: bool) -> String {
        match is_coloured && !text.is_empty() {
            true => format!("\x1b[{}m{text}\x1b[0m", self.code()),
            false => text.to_owned(),
        }
    }
}

/// Words on standard error with the severities of findings coloured: `error[hash_mismatch]: …`.
pub(crate) fn findings_error(words: &str) -> String {
    let is_coloured = Terminal::current().error_colour;
    words.split_inclusive('\n').map(|line| colour_finding(line, is_coloured)).collect()
}

fn colour_finding(line: &str, is_coloured: bool) -> String {
    for (word, ink) in [("error", Ink::Bad), ("warning", Ink::Warn), ("note", Ink::Head)] {
        if line.strip_prefix(word).is_some_and(|rest| rest.starts_with('[') || rest.starts_with(':')) {
            return format!("{}{}", ink.applied(word, is_coloured), &line[word.len()..]);
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_have_their_colours() {
        assert_eq!(colour_finding("error[x]: y", true), "\x1b[1;31merror\x1b[0m[x]: y");
        assert_eq!(colour_finding("warning: y", true), "\x1b[1;33mwarning\x1b[0m: y");
        assert_eq!(colour_finding("errors: 3", true), "errors: 3");
        assert_eq!(colour_finding("error[x]: y", false), "error[x]: y");
        assert_eq!(Ink::Bad.applied("", true), "");
    }
}
