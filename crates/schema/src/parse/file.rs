//! What may stand at file level.

use super::{Parse, Parser, Skip};
use crate::ast::{Body, File, Ident, Ignored, Import, Item, Site};
use crate::diagnose::{Code, Diagnostic};
use crate::lex::Kind;

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = Body::default();
        loop {
            match self.peek().kind {
                Kind::End => {
                    file.tail = self.drain_before(self.index, true);
                    return file;
                }
                Kind::Punct(';') => {
                    self.advance();
                }
                Kind::Punct('}') => {
                    self.unexpected("a declaration");
                    file.damaged = true;
                    self.advance();
                }
                _ => self.entry(&mut file, Self::item),
            }
        }
    }

    fn item(&mut self) -> Parse<Item> {
        let token = self.peek();
        if token.kind != Kind::Name {
            return Err(self.unexpected("a declaration"));
        }
        match self.word(token) {
            "syntax" | "edition" => {
                self.advance();
                let keyword = self.word(token).to_owned();
                self.expect('=', "after the keyword")?;
                let value = self.string()?;
                self.semicolon("this line")?;
                Ok(Item::Syntax { keyword, value })
            }
            "import" => {
                self.advance();
                let modifier = (self.at_word("weak") || self.at_word("public")).then(|| self.advance());
                let path = self.string()?;
                self.semicolon("the import")?;
                Ok(Item::Import(Import { modifier: modifier.map(|token| self.word(token).to_owned()), path }))
            }
            "package" => {
                self.advance();
                let name = self.dotted("a package name")?;
                self.semicolon("the package name")?;
                Ok(Item::Package(name))
            }
            "option" => self.option_statement().map(Item::Option),
            "enum" => self.enumeration().map(Item::Enum),
            "message" => self.message().map(Item::Message),
            "service" => self.ignored().map(Item::Ignored),
            "extend" => Err(self.unsupported("`extend`", "declare the field in its message")),
            other => {
                let other = other.to_owned();
                let found = Diagnostic::new(
                    Code::UnexpectedToken,
                    token.span,
                    format!("expected a declaration, found `{other}`"),
                )
                .hint("a file holds `import`, `package`, `option`, `enum` and `message` declarations");
                self.diagnostics.push(found);
                Err(Skip::Fault)
            }
        }
    }

    /// A construct that is read and has no meaning here.
    pub(super) fn ignored(&mut self) -> Parse<Ignored> {
        let keyword = self.peek();
        let first = self.index;
        self.recover();
        let words: Vec<_> = self.tokens[first..self.index].iter().map(|token| self.word(*token)).collect();
        if !matches!(self.tokens[self.index - 1].kind, Kind::Punct(';' | '}')) {
            return Err(self.unexpected("`;`"));
        }
        let name = self.word(keyword).to_owned();
        self.diagnostics.push(
            Diagnostic::new(Code::IgnoredConstruct, keyword.span, format!("`{name}` has no effect"))
                .hint("struct-frame has no such construct; remove it"),
        );
        Ok(Ignored { keyword: name, text: words.join(" ") })
    }

    /// A construct that must be refused; it is skipped as a whole.
    pub(super) fn unsupported(&mut self, what: &str, hint: &str) -> Skip {
        let span = self.peek().span;
        let message = format!("{what} is not part of the schema language");
        self.diagnostics.push(Diagnostic::new(Code::UnsupportedConstruct, span, message).hint(hint));
        self.recover();
        Skip::Done
    }

    pub(super) fn ident(&mut self, what: &str) -> Parse<Ident> {
        if self.peek().kind != Kind::Name {
            return Err(self.unexpected(what));
        }
        let token = self.advance();
        Ok(Ident { text: self.word(token).to_owned(), site: Site(token.span) })
    }
}
