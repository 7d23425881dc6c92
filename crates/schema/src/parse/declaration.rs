//! Enums, messages, fields and oneofs.

use super::{Parse, Parser, Skip};
use crate::ast::{EnumEntry, EnumItem, EnumValue, Field, Label, MessageEntry, MessageItem, OneofEntry, OneofItem};
use crate::diagnose::{Code, Diagnostic};
use crate::lex::Kind;

impl Parser<'_> {
    /// `enum Name { … }`
    pub(super) fn enumeration(&mut self) -> Parse<EnumItem> {
        self.advance();
        let name = self.ident("an enum name")?;
        if self.at(':') {
            let span = self.peek().span;
            self.diagnostics.push(
                Diagnostic::new(Code::EnumBaseType, span, "an enum has no base type")
                    .hint("remove it: an enum is always one byte"),
            );
            self.advance();
            self.dotted("a type")?;
        }
        let body = self.named_body(&name.text, "after the enum name", Self::enum_entry)?;
        Ok(EnumItem { name, body })
    }

    /// `message Name { … }`
    pub(super) fn message(&mut self) -> Parse<MessageItem> {
        self.advance();
        let name = self.ident("a message name")?;
        let body = self.named_body(&name.text, "after the message name", Self::message_entry)?;
        Ok(MessageItem { name, body })
    }

    fn named_body<T>(
        &mut self,
        name: &str,
        context: &str,
        entry: fn(&mut Self) -> Parse<T>,
    ) -> Parse<crate::ast::Body<T>> {
        let body = self.body(context, entry);
        if body.is_err() {
            self.dropped.push(name.to_owned());
        }
        body
    }

    fn enum_entry(&mut self) -> Parse<EnumEntry> {
        let assigned = self.peek_at(1).kind == Kind::Punct('=');
        match self.word(self.peek()) {
            "option" if !assigned => return self.option_statement().map(EnumEntry::Option),
            "reserved" if !assigned => return self.ignored().map(EnumEntry::Ignored),
            _ => {}
        }
        let name = self.ident("an enum value")?;
        self.expect('=', "after the enum value")?;
        let number = self.integer()?;
        let options = self.bracketed_options()?;
        self.semicolon("the enum value")?;
        Ok(EnumEntry::Value(EnumValue { name, number, options }))
    }

    fn message_entry(&mut self) -> Parse<MessageEntry> {
        let token = self.peek();
        match self.word(token) {
            "option" => self.option_statement().map(MessageEntry::Option),
            "enum" => self.enumeration().map(MessageEntry::Enum),
            "oneof" => self.oneof().map(MessageEntry::Oneof),
            "reserved" | "extensions" => self.ignored().map(MessageEntry::Ignored),
            "message" => Err(self.nested_message()),
            "extend" => Err(self.unsupported("`extend`", "declare the field in its message")),
            "map" if self.peek_at(1).kind == Kind::Punct('<') => {
                Err(self.unsupported("`map`", "use an array of messages with a key and a value field"))
            }
            "group" => Err(self.unsupported("`group`", "declare a message and use it as the field's type")),
            _ => self.field().map(MessageEntry::Field),
        }
    }

    fn nested_message(&mut self) -> Skip {
        let span = self.peek().span;
        if self.peek_at(1).kind == Kind::Name {
            let name = self.word(self.peek_at(1)).to_owned();
            self.dropped.push(name);
        }
        self.diagnostics.push(
            Diagnostic::new(Code::NestedMessage, span, "a message cannot be declared inside a message")
                .hint("move it to file level, or close the message before it with `}`"),
        );
        self.recover();
        Skip::Done
    }

    fn label(&mut self) -> Option<Label> {
        let label = match self.word(self.peek()) {
            "repeated" => Label::Repeated,
            "optional" => Label::Optional,
            "required" => Label::Required,
            _ => return None,
        };
        self.advance();
        Some(label)
    }

    fn field(&mut self) -> Parse<Field> {
        let label = self.label();
        if self.at_word("group") {
            return Err(self.unsupported("`group`", "declare a message and use it as the field's type"));
        }
        let ty = self.dotted("a field type")?;
        let name = self.ident("a field name")?;
        self.expect('=', "and a number after the field name")?;
        let number = self.integer()?;
        let options = self.bracketed_options()?;
        self.semicolon("the field")?;
        Ok(Field { label, ty, name, number, options })
    }

    fn oneof(&mut self) -> Parse<OneofItem> {
        self.advance();
        let name = self.ident("a oneof name")?;
        let body = self.body("after the oneof name", Self::oneof_entry)?;
        Ok(OneofItem { name, body })
    }

    fn oneof_entry(&mut self) -> Parse<OneofEntry> {
        let token = self.peek();
        match self.word(token) {
            "option" => return self.option_statement().map(OneofEntry::Option),
            "map" if self.peek_at(1).kind == Kind::Punct('<') => {
                return Err(self.unsupported("`map`", "use an array of messages with a key and a value field"));
            }
            "group" => return Err(self.unsupported("`group`", "declare a message and use it as the member's type")),
            _ => {}
        }
        if let Some(label) = self.label() {
            let word = label.keyword();
            self.diagnostics.push(
                Diagnostic::new(Code::RepeatedMember, token.span, format!("`{word}` is not allowed in a oneof"))
                    .hint("put the array into a message and make that the member's type"),
            );
        }
        let mut field = self.field()?;
        field.label = None;
        Ok(OneofEntry::Member(field))
    }
}
