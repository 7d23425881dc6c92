//! Text to tokens, with comments kept beside them (SF-2.2).

use crate::diagnose::{Code, Diagnostic, Faults};
use crate::source::{FileId, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword; keywords are names that the parser knows.
    Name,
    /// Decimal or `0x` hexadecimal digits.
    Int,
    /// A number with a point or an exponent.
    Float,
    /// A quoted string, quotes included.
    Str,
    /// One punctuation character.
    Punct(char),
    /// End of the file.
    End,
}

/// One token and the comments between it and the token before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Index of the first comment after the previous token; comments up to the next token's number belong to this one.
    pub(crate) first_comment: usize,
}

/// A comment as written, markers included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawComment {
    pub(crate) span: Span,
    /// A line break stands between the token (or comment) before and this comment.
    pub(crate) own_line: bool,
}

/// All tokens of a file; the last one is [`Kind::End`].
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<RawComment>,
}

/// Cuts `text` into tokens. Faulty characters are reported and skipped.
pub(crate) fn lex(file: FileId, text: &str, diagnostics: &mut Faults) -> Lexed {
    let mut lexer = Lexer { file, text, at: 0, diagnostics };
    let mut out = Lexed { tokens: Vec::new(), comments: Vec::new() };
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    let mut first_comment = 0;
    let mut line_break = true;
    loop {
        line_break |= lexer.skip_space();
        if let Some(span) = lexer.comment() {
            out.comments.push(RawComment { span, own_line: line_break });
            // A line comment reaches to its line break, which the next `skip_space` meets.
            line_break = false;
            continue;
        }
        let Some(token) = lexer.token() else { break };
        line_break = false;
        if let Some((kind, span)) = token {
            out.tokens.push(Token { kind, span, first_comment });
            first_comment = out.comments.len();
        }
    }
    let end = lexer.span_from(text.len());
    out.tokens.push(Token { kind: Kind::End, span: end, first_comment });
    out
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    diagnostics: &'a mut Faults,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn span_from(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    /// Skips white space; true when a line break was among it.
    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        let skipped = rest.len() - trimmed.len();
        let line_break = rest.as_bytes().iter().take(skipped).any(|byte| *byte == b'\n');
        self.at += skipped;
        line_break
    }

    fn comment(&mut self) -> Option<Span> {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("//") {
            let line = rest.split('\n').next().unwrap_or(rest).trim_end();
            self.at += line.len();
            return Some(self.span_from(start));
        }
        if !rest.starts_with("/*") {
            return None;
        }
        match rest.get(2..).and_then(|body| body.find("*/")) {
            Some(len) => self.at += len + 4,
            None => {
                self.at = self.text.len();
                let opened = Span { file: self.file, start: start as u32, end: start as u32 + 2 };
                self.diagnostics.push(
                    Diagnostic::new(Code::UnterminatedComment, opened, "unterminated comment")
                        .hint("close it with `*/`"),
                );
            }
        }
        Some(self.span_from(start))
    }

    /// The next token; `None` at the end, `Some(None)` for a reported fault.
    fn token(&mut self) -> Option<Option<(Kind, Span)>> {
        let start = self.at;
        let rest = self.rest();
        let first = rest.chars().next()?;
        let kind = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                self.at += length_of(rest, is_name);
                Kind::Name
            }
            '0'..='9' => self.number(),
            '.' if rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit) => self.number(),
            '"' | '\'' => self.string(first),
            '{' | '}' | '[' | ']' | '(' | ')' | '<' | '>' | ';' | ',' | '=' | '.' | '-' | '+' | ':' | '/' => {
                self.at += 1;
                Kind::Punct(first)
            }
            other => {
                self.at += other.len_utf8();
                let message = format!("character {other:?} has no meaning here");
                self.diagnostics.push(Diagnostic::new(Code::UnexpectedCharacter, self.span_from(start), message));
                return Some(None);
            }
        };
        Some(Some((kind, self.span_from(start))))
    }

    fn number(&mut self) -> Kind {
        let start = self.at;
        let rest = self.rest();
        let (len, kind) = if rest.starts_with("0x") || rest.starts_with("0X") {
            (2 + length_of(rest.get(2..).unwrap_or(""), |c| c.is_ascii_hexdigit()), Kind::Int)
        } else {
            decimal(rest)
        };
        self.at += len;
        // `12abc`, `0x` and `0xZZ` are one faulty word, not a number and a name.
        let tail = length_of(self.rest(), is_name);
        if tail > 0 || (len == 2 && rest_is_hex_marker(self.text, start)) {
            self.at += tail;
            let span = self.span_from(start);
            let word = self.text.get(start..self.at).unwrap_or("");
            self.diagnostics.push(
                Diagnostic::new(Code::MalformedNumber, span, format!("`{word}` is not a number"))
                    .hint("numbers are decimal, `0x` hexadecimal, or decimal with a point or exponent"),
            );
        }
        kind
    }

    /// A backslash keeps the next character from ending the string; neither is removed (SF-2.3).
    fn string(&mut self, quote: char) -> Kind {
        let start = self.at;
        self.at += 1;
        let mut escaped = false;
        for c in self.text.get(self.at..).unwrap_or("").chars() {
            if c == '\n' {
                break;
            }
            self.at += c.len_utf8();
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                return Kind::Str;
            }
        }
        let span = self.span_from(start);
        self.diagnostics.push(
            Diagnostic::new(Code::UnterminatedString, span, "this string does not end on its line")
                .hint(format!("close it with `{quote}`")),
        );
        Kind::Str
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn length_of(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.chars().take_while(|c| accept(*c)).map(char::len_utf8).sum()
}

fn rest_is_hex_marker(text: &str, start: usize) -> bool {
    text.get(start..start + 2).is_some_and(|marker| marker.eq_ignore_ascii_case("0x"))
}

/// Length and kind of a decimal number at the beginning of `text`.
fn decimal(text: &str) -> (usize, Kind) {
    let digits = |from: usize| length_of(text.get(from..).unwrap_or(""), |c| c.is_ascii_digit());
    let byte = |at: usize| text.as_bytes().get(at).copied().unwrap_or(0);
    let mut len = digits(0);
    let mut kind = Kind::Int;
    if byte(len) == b'.' {
        kind = Kind::Float;
        len += 1;
        len += digits(len);
    }
    if matches!(byte(len), b'e' | b'E') {
        let sign = usize::from(matches!(byte(len + 1), b'+' | b'-'));
        let exponent = digits(len + 1 + sign);
        if exponent > 0 {
            kind = Kind::Float;
            len += 1 + sign + exponent;
        }
    }
    (len, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> (Vec<(Kind, &str)>, Vec<Code>) {
        let mut diagnostics = Faults::default();
        let lexed = lex(FileId(0), text, &mut diagnostics);
        let words = lexed.tokens.iter().map(|t| (t.kind, &text[t.span.start as usize..t.span.end as usize]));
        (words.collect(), diagnostics.into_list().into_iter().map(|d| d.code).collect())
    }

    #[test]
    fn numbers_names_strings() {
        let (tokens, faults) = kinds("a1 = -0x1F; .5 5. 1e-3 2e 'x\\'y' \"\u{e9}\"");
        assert_eq!(faults, [Code::MalformedNumber]);
        let words: Vec<_> = tokens.iter().map(|(_, word)| *word).collect();
        assert_eq!(words, ["a1", "=", "-", "0x1F", ";", ".5", "5.", "1e-3", "2e", "'x\\'y'", "\"\u{e9}\"", ""]);
        assert_eq!(tokens[3].0, Kind::Int);
        assert_eq!(tokens[6].0, Kind::Float);
    }

    #[test]
    fn comments_know_their_line() {
        let mut diagnostics = Faults::default();
        let lexed = lex(FileId(0), "// head\na; // tail\n/* own */ b /* in */ ;", &mut diagnostics);
        assert!(diagnostics.is_empty());
        assert_eq!(lexed.comments.iter().map(|c| c.own_line).collect::<Vec<_>>(), [true, false, true, false]);
        assert_eq!(lexed.tokens.iter().map(|t| t.first_comment).collect::<Vec<_>>(), [0, 1, 1, 3, 4]);
    }

    #[test]
    fn faults_are_reported_and_skipped() {
        assert_eq!(kinds("a @ b").1, [Code::UnexpectedCharacter]);
        assert_eq!(kinds("'abc\nb").1, [Code::UnterminatedString]);
        assert_eq!(kinds("/* abc").1, [Code::UnterminatedComment]);
        assert_eq!(kinds("0x 0xg 12ab").1, [Code::MalformedNumber; 3]);
    }
}
