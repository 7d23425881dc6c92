//! Tokens to syntax tree. A fault is reported and the parser goes on with the next declaration (SF-4.1).

mod declaration; // enums, messages, fields, oneofs
mod file; // what may stand at file level
mod value; // names, numbers, options

use crate::ast::{Body, Comment, File, Node, Site, Spread};
use crate::diagnose::{Code, Diagnostic, Diagnostics, Faults};
use crate::lex::{Kind, Lexed, Token, lex};
use crate::source::{FileId, SourceMap, Span};

/// A parsed file and what was dropped from it.
pub(crate) struct Parsed {
    pub(crate) file: File,
    /// Names of types that were declared but could not be kept; using them is no further fault.
    pub(crate) dropped: Vec<String>,
}

/// Reads one file.
pub(crate) fn parse(id: FileId, text: &str, diagnostics: &mut Faults) -> Parsed {
    let before = diagnostics.len();
    let Lexed { tokens, comments } = lex(id, text, diagnostics);
    let lexical_faults = diagnostics.len() > before;
    let comments = comments
        .into_iter()
        .map(|raw| Pending { text: slice(text, raw.span).to_owned(), span: raw.span, own_line: raw.own_line })
        .collect();
    let mut parser =
        Parser { text, tokens, comments, index: 0, drained: 0, header: Vec::new(), dropped: Vec::new(), diagnostics };
    let mut file = parser.file();
    file.damaged |= lexical_faults;
    Parsed { file, dropped: parser.dropped }
}

/// The syntax tree of a text, for tools that need no names looked up.
///
/// # Errors
/// All syntax faults, when there are any.
pub fn parse_text(name: &str, text: &str) -> Result<File, Diagnostics> {
    let mut diagnostics = Faults::default();
    let parsed = parse(FileId(0), text, &mut diagnostics);
    let diagnostics = Diagnostics::new(SourceMap::single(name, text), diagnostics);
    if diagnostics.is_ok() { Ok(parsed.file) } else { Err(diagnostics) }
}

/// Why a declaration was not returned.
enum Skip {
    /// The rest of it must be skipped.
    Fault,
    /// It was read to its end and reported.
    Done,
}

type Parse<T> = Result<T, Skip>;

struct Pending {
    text: String,
    span: Span,
    own_line: bool,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    comments: Vec<Pending>,
    index: usize,
    /// Comments before this one have found their place.
    drained: usize,
    /// Comments between the words in front of a brace just parsed; the declaration takes them.
    header: Vec<Comment>,
    dropped: Vec<String>,
    diagnostics: &'a mut Faults,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.index + ahead).min(last)]
    }

    fn previous(&self) -> Span {
        match self.index.checked_sub(1).and_then(|index| self.tokens.get(index)) {
            Some(token) => token.span,
            None => Span { end: self.peek().span.start, start: self.peek().span.start, ..self.peek().span },
        }
    }

    fn word(&self, token: Token) -> &'a str {
        slice(self.text, token.span)
    }

    fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != Kind::End {
            self.index += 1;
        }
        token
    }

    fn at(&self, punct: char) -> bool {
        self.peek().kind == Kind::Punct(punct)
    }

    fn at_word(&self, word: &str) -> bool {
        self.peek().kind == Kind::Name && self.word(self.peek()) == word
    }

    fn eat(&mut self, punct: char) -> bool {
        let found = self.at(punct);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punct: char, context: &str) -> Parse<Token> {
        if self.at(punct) { Ok(self.advance()) } else { Err(self.unexpected(&format!("`{punct}` {context}"))) }
    }

    /// Reports the current token as not fitting.
    fn unexpected(&mut self, expected: &str) -> Skip {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.word(token)),
        };
        let message = format!("expected {expected}, found {found}");
        self.diagnostics.push(Diagnostic::new(Code::UnexpectedToken, token.span, message));
        Skip::Fault
    }

    /// The `;` behind a declaration. When the next token can begin another one, a missing `;` is reported and assumed.
    fn semicolon(&mut self, context: &str) -> Parse<()> {
        if self.eat(';') {
            return Ok(());
        }
        let next = self.peek();
        if !matches!(next.kind, Kind::Name | Kind::End | Kind::Punct('}')) {
            return Err(self.unexpected(&format!("`;` after {context}")));
        }
        // A string that does not end has swallowed it, and has been reported.
        let swallowed = slice(self.text, self.previous());
        if swallowed.starts_with(['"', '\''])
            && (swallowed.len() < 2 || swallowed.get(..1) != swallowed.get(swallowed.len() - 1..))
        {
            return Ok(());
        }
        self.diagnostics.push(
            Diagnostic::new(Code::MissingSemicolon, self.previous().after(), format!("`;` is missing after {context}"))
                .hint("add `;`"),
        );
        Ok(())
    }

    /// Skips to the end of a faulty declaration: past its `;` or `}`, or to the beginning of what is clearly the next.
    fn recover(&mut self) {
        const STARTS: [&str; 6] = ["message", "enum", "oneof", "option", "import", "package"];
        let begin = self.index;
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => return,
                Kind::Punct('}') if depth == 0 => return,
                Kind::Punct('}') => {
                    depth -= 1;
                    self.advance();
                    if depth == 0 {
                        return;
                    }
                    continue;
                }
                Kind::Punct('{') => depth += 1,
                Kind::Punct(';') if depth == 0 => {
                    self.advance();
                    return;
                }
                Kind::Name if depth == 0 && self.index > begin && STARTS.contains(&self.word(token)) => {
                    let gap = self.gap(self.previous().end, token.span.start);
                    if gap.contains('\n') {
                        return;
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// `{ … }` with declarations read by `entry`.
    fn body<T>(&mut self, context: &str, entry: fn(&mut Self) -> Parse<T>) -> Parse<Body<T>> {
        let open = self.peek();
        let header = self.drain_before(self.index, false);
        self.expect('{', context)?;
        let mut body = Body::default();
        loop {
            match self.peek().kind {
                Kind::Punct('}') => {
                    body.tail = self.drain_before(self.index, true);
                    self.advance();
                    break;
                }
                Kind::End => {
                    body.tail = self.drain_before(self.index, true);
                    body.damaged = true;
                    self.diagnostics.push(
                        Diagnostic::new(Code::UnclosedBrace, self.peek().span, "the file ends inside a `{`")
                            .related(open.span, "opened")
                            .hint("add `}`"),
                    );
                    break;
                }
                Kind::Punct(';') => {
                    self.advance();
                }
                _ => self.entry(&mut body, entry),
            }
        }
        self.header = header;
        Ok(body)
    }

    /// One declaration with the comments around it, or a reported fault.
    fn entry<T>(&mut self, body: &mut Body<T>, entry: fn(&mut Self) -> Parse<T>) {
        let first = self.index;
        let blank_before = self.blank_before(self.peek().span.start, first);
        let mut comments = self.drain_before(first, true);
        match entry(self) {
            Ok(value) => {
                let last = self.index.saturating_sub(1).max(first);
                comments.append(&mut self.header);
                comments.extend(self.drain_before(last, false));
                let span = self.tokens[first].span.to(self.tokens[last].span);
                let spread = Spread { blank_before, one_line: !slice(self.text, span).contains('\n') };
                let trailing = self.drain_trailing();
                body.items.push(Node { comments, value, trailing, site: Site(span), spread });
            }
            Err(skip) => {
                self.header.clear();
                body.damaged = true;
                if matches!(skip, Skip::Fault) {
                    self.recover();
                }
            }
        }
    }

    fn gap(&self, from: u32, to: u32) -> &'a str {
        self.text.get(from as usize..(to.max(from)) as usize).unwrap_or("")
    }

    /// True when an empty line stands right before `start`, which lies before or at token `index`.
    fn blank_before(&self, start: u32, index: usize) -> bool {
        let token_end = index.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |token| token.span.end);
        // Comments are in order of position.
        let earlier = self.comments.partition_point(|comment| comment.span.start < start);
        let comment_end = earlier.checked_sub(1).and_then(|at| self.comments.get(at)).map_or(0, |c| c.span.end);
        self.gap(token_end.max(comment_end), start).matches('\n').count() > 1
    }

    /// The comments in front of a token that have no place yet.
    fn drain_before(&mut self, index: usize, keep_blank: bool) -> Vec<Comment> {
        let until = self.tokens.get(index + 1).map_or(self.comments.len(), |next| next.first_comment);
        let mut out = Vec::new();
        while self.drained < until {
            out.push(self.comment(self.drained, keep_blank.then_some(index)));
            self.drained += 1;
        }
        out
    }

    /// The comments behind the last token, on its line, when nothing else follows on that line.
    fn drain_trailing(&mut self) -> Vec<Comment> {
        let until = self.tokens.get(self.index + 1).map_or(self.comments.len(), |next| next.first_comment);
        let count = self.comments.iter().take(until).skip(self.drained).take_while(|comment| !comment.own_line).count();
        let Some(last) = (self.drained + count).checked_sub(1).filter(|_| count > 0) else { return Vec::new() };
        let next_start = match self.comments.get(last + 1).filter(|_| last + 1 < until) {
            Some(comment) => comment.span.start,
            None => self.peek().span.start,
        };
        let ends_line = self.gap(self.comments[last].span.end, next_start).contains('\n');
        if !ends_line && self.peek().kind != Kind::End && !self.at('}') {
            return Vec::new();
        }
        let out = (self.drained..=last).map(|at| self.comment(at, None)).collect();
        self.drained = last + 1;
        out
    }

    fn comment(&self, at: usize, token: Option<usize>) -> Comment {
        let pending = &self.comments[at];
        let blank_before = token.is_some_and(|index| self.blank_before(pending.span.start, index));
        let spread = Spread { blank_before, one_line: !pending.text.contains('\n') };
        Comment { text: pending.text.clone(), site: Site(pending.span), spread }
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or("")
}
