//! Names, numbers, options.

use super::{Parse, Parser, Skip};
use crate::ast::{Ident, OptionItem, Site, Value, ValueKind};
use crate::lex::Kind;

impl Parser<'_> {
    /// `a.b.c`, also with a leading dot, which resolves to nothing (SF-2.11).
    pub(super) fn dotted(&mut self, what: &str) -> Parse<Ident> {
        let first = self.peek();
        let mut text = String::new();
        if self.eat('.') {
            text.push('.');
        }
        let mut part = self.ident(what)?;
        text.push_str(&part.text);
        while self.eat('.') {
            part = self.ident("a name after `.`")?;
            text.push('.');
            text.push_str(&part.text);
        }
        Ok(Ident { text, site: Site(first.span.to(part.site.0)) })
    }

    /// `name = value`, where the name may be `(dotted.name)` or `(dotted.name).name`.
    pub(super) fn option(&mut self) -> Parse<OptionItem> {
        let first = self.peek();
        let name = if self.eat('(') {
            let inner = self.dotted("an option name")?;
            let close = self.expect(')', "after the option name")?;
            let mut text = format!("({})", inner.text);
            let mut end = close.span;
            if self.eat('.') {
                let rest = self.dotted("a name after `.`")?;
                text = format!("{text}.{}", rest.text);
                end = rest.site.0;
            }
            Ident { text, site: Site(first.span.to(end)) }
        } else {
            self.dotted("an option name")?
        };
        self.expect('=', "after the option name")?;
        Ok(OptionItem { name, value: self.value()? })
    }

    /// `option name = value;`
    pub(super) fn option_statement(&mut self) -> Parse<OptionItem> {
        self.advance();
        let option = self.option()?;
        self.semicolon("the option")?;
        Ok(option)
    }

    /// `[name = value, …]`, or nothing.
    pub(super) fn bracketed_options(&mut self) -> Parse<Vec<OptionItem>> {
        let mut options = Vec::new();
        if !self.eat('[') {
            return Ok(options);
        }
        loop {
            options.push(self.option()?);
            if self.eat(']') {
                return Ok(options);
            }
            if !self.eat(',') {
                return Err(self.unexpected("`,` or `]` after the option"));
            }
        }
    }

    pub(super) fn string(&mut self) -> Parse<Value> {
        if self.peek().kind != Kind::Str {
            return Err(self.unexpected("a quoted string"));
        }
        self.value()
    }

    /// An integer, with or without sign.
    pub(super) fn integer(&mut self) -> Parse<Value> {
        let ahead = usize::from(self.at('-'));
        if self.peek_at(ahead).kind != Kind::Int {
            return Err(self.unexpected("an integer"));
        }
        self.value()
    }

    pub(super) fn value(&mut self) -> Parse<Value> {
        let first = self.peek();
        let negative = self.eat('-');
        let token = self.peek();
        let kind = match token.kind {
            Kind::Str if !negative => ValueKind::Str,
            Kind::Int => ValueKind::Int,
            Kind::Float => ValueKind::Float,
            Kind::Name if !negative || matches!(self.word(token), "inf" | "nan") => ValueKind::Name,
            _ => return Err(self.unexpected("a value: a string, a number or a name")),
        };
        self.advance();
        let text = self.word(token).to_owned();
        if kind == ValueKind::Int && !is_integer(&text) {
            return Err(Skip::Fault); // reported as a malformed number
        }
        Ok(Value { kind, negative, text, site: Site(first.span.to(token.span)) })
    }
}

fn is_integer(text: &str) -> bool {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
        None => text.bytes().all(|digit| digit.is_ascii_digit()),
    }
}
