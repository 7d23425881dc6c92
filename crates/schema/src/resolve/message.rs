//! Messages: their options, their fields, and the rules that need no sizes (SF-3.2, SF-4).

use super::Options;
use super::load::Loaded;
use super::option::{Level, OptionSet, extensions_start};
use super::symbol::Symbols;
use crate::ast::{Field, Item, MessageEntry, MessageItem, Node, OneofItem};
use crate::diagnose::{Code, Diagnostic, Faults};
use crate::layout::{Draft, MessageIndex, PackageIndex, Variable, WantedTag};
use crate::source::Span;
use std::collections::HashMap;

/// Drafts of all messages, in the order of their indices.
pub(super) fn draft(
    files: &[Loaded],
    symbols: &mut Symbols,
    options: &Options,
    diagnostics: &mut Faults,
) -> Vec<Draft> {
    let mut drafts: Vec<(MessageIndex, Draft)> = Vec::new();
    let mut ids: HashMap<(PackageIndex, u16), (String, Span)> = HashMap::new();
    for (at, loaded) in files.iter().enumerate() {
        for (item, node) in loaded.file.items.iter().enumerate() {
            let (Item::Message(message), Some(index)) = (&node.value, symbols.message_at.get(&(at, item))) else {
                continue;
            };
            let Some(package) = symbols.of_file[at] else { continue };
            let mut drafting = Drafting { symbols, package, index: *index, message, options, diagnostics };
            let draft = drafting.message(node.body_docs(), &mut ids);
            drafts.push((*index, draft));
        }
    }
    drafts.sort_by_key(|(index, _)| *index);
    drafts.into_iter().map(|(_, draft)| draft).collect()
}

/// One message being drafted.
pub(super) struct Drafting<'a> {
    pub(super) symbols: &'a Symbols,
    pub(super) package: PackageIndex,
    pub(super) index: MessageIndex,
    pub(super) message: &'a MessageItem,
    options: &'a Options,
    pub(super) diagnostics: &'a mut Faults,
}

impl Drafting<'_> {
    fn message(&mut self, docs: Vec<String>, ids: &mut HashMap<(PackageIndex, u16), (String, Span)>) -> Draft {
        let body = &self.message.body;
        let entries = body.items.iter();
        let options = entries.clone().filter_map(|node| match &node.value {
            MessageEntry::Option(option) => Some(option),
            _ => None,
        });
        let options = OptionSet::new(Level::Message, options, self.diagnostics);
        let mut sound = !body.damaged;

        let msgid = self.msgid(&options, &mut sound);
        if let Some((id, span)) = msgid {
            let name = &self.message.name.text;
            if let Some((other, at)) = ids.get(&(self.package, id)) {
                self.diagnostics.push(
                    Diagnostic::new(Code::DuplicateMessageId, span, format!("message id {id} is taken"))
                        .related(*at, format!("message `{other}` has it"))
                        .hint("give each message of a package its own id"),
                );
            } else {
                ids.insert((self.package, id), (name.clone(), span));
            }
        }

        let variable = options.is_set("variable", self.diagnostics) || self.options.variable == Variable::All;
        let envelope = ["is_envelope", "envelope"].into_iter().find(|name| options.is_set(name, self.diagnostics));
        let envelope = envelope.and_then(|name| options.last(name)).map(|option| option.name.site.0);
        let wanted = options.last("discriminator").map(|option| self.discriminator(option));
        let magic = options.last("magic_bytes").and_then(|option| match magic_bytes(option.value.string()) {
            Some(magic) => Some(magic),
            None => {
                let message = format!("`magic_bytes` is {}", option.value.written());
                self.diagnostics.push(
                    Diagnostic::new(Code::MagicBytes, option.value.site.0, message)
                        .hint("give two integers from 1 to 255 in a string, such as \"0xA3, 0x7F\""),
                );
                None
            }
        });

        self.names();
        let fields: Vec<(&Node<MessageEntry>, &Field)> = entries
            .clone()
            .filter_map(|node| match &node.value {
                MessageEntry::Field(field) => Some((node, field)),
                _ => None,
            })
            .collect();
        let oneofs: Vec<(&Node<MessageEntry>, &OneofItem)> = entries
            .filter_map(|node| match &node.value {
                MessageEntry::Oneof(oneof) => Some((node, oneof)),
                _ => None,
            })
            .collect();

        let start = options.last("extensions_start").and_then(|option| {
            let start = extensions_start(option, self.diagnostics)?;
            self.extension_start(option.value.site.0, start, fields.len(), !oneofs.is_empty())
        });
        let mut drafted = Vec::new();
        for (position, (node, field)) in fields.into_iter().enumerate() {
            self.number(Code::FieldNumber, "field", field, position, body.damaged);
            match self.field(field, position as u32 + 1, start, node.docs()) {
                Some(field) => drafted.push(field),
                None => sound = false,
            }
        }
        let only_one = oneofs.len() == 1;
        let mut unions = Vec::new();
        for (node, oneof) in oneofs {
            // The message's word counts for its only union, unless that has a word of its own.
            let inherited = wanted.flatten().filter(|_| only_one);
            match self.union(oneof, inherited, variable, node.body_docs()) {
                Some(union) => unions.push(union),
                None => sound = false,
            }
        }
        Draft {
            name: self.message.name.clone(),
            package: self.package,
            msgid: msgid.map(|(id, _)| id),
            variable,
            envelope,
            extensions_start: start,
            magic,
            fields: drafted,
            unions,
            enums: self.symbols.nested_enums(self.index),
            docs,
            sound,
        }
    }

    fn msgid(&mut self, options: &OptionSet<'_>, sound: &mut bool) -> Option<(u16, Span)> {
        let mut given = options.all("msgid");
        let first = given.next()?;
        for again in given {
            self.diagnostics.push(
                Diagnostic::new(Code::RepeatedMessageId, again.name.site.0, "`msgid` is given twice")
                    .related(first.name.site.0, "the first is"),
            );
        }
        let limit: u16 = match self.symbols.packages[self.package.get()].id {
            Some(_) => 255,
            None => u16::MAX,
        };
        let span = first.value.site.0;
        let id = first.value.integer();
        if let Some(id) = id.and_then(|id| u16::try_from(id).ok()).filter(|id| *id <= limit) {
            return Some((id, span));
        }
        *sound = false;
        let written = first.value.written();
        self.diagnostics.push(if id.is_none() {
            Diagnostic::new(Code::OptionNotInteger, span, format!("`msgid` is {written}; it must be an integer"))
        } else {
            let message = format!("message id {written} is not from 0 to {limit}");
            let found = Diagnostic::new(Code::MessageIdRange, span, message);
            if limit == 255 { found.hint("the package id takes the high byte, one byte is left") } else { found }
        });
        None
    }

    /// Fields and oneofs share their names (SF-4.2).
    fn names(&mut self) {
        let mut known: HashMap<&str, Span> = HashMap::new();
        for node in &self.message.body.items {
            let name = match &node.value {
                MessageEntry::Field(field) => &field.name,
                MessageEntry::Oneof(oneof) => &oneof.name,
                _ => continue,
            };
            if let Some(first) = known.insert(&name.text, name.site.0) {
                let message = format!("`{}` is declared twice in message `{}`", name.text, self.message.name.text);
                self.diagnostics.push(
                    Diagnostic::new(Code::DuplicateFieldName, name.site.0, message).related(first, "first declared"),
                );
            }
        }
    }

    /// Numbers run from 1 in declaration order (SF-4.4).
    pub(super) fn number(&mut self, code: Code, what: &str, field: &Field, position: usize, damaged: bool) {
        let expected = position as i128 + 1;
        // After a fault in the same braces the position is not known.
        if damaged || field.number.integer() == Some(expected) {
            return;
        }
        let message =
            format!("{what} `{}` has number {}, expected {expected}", field.name.text, field.number.written());
        self.diagnostics.push(
            Diagnostic::new(code, field.number.site.0, message)
                .hint("numbers run 1, 2, 3, … in declaration order; members of a oneof are counted on their own"),
        );
    }

    fn extension_start(&mut self, span: Span, start: i128, count: usize, oneofs: bool) -> Option<u32> {
        if oneofs {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::ExtensionWithOneof,
                    span,
                    "extension fields are not allowed in a message with a oneof",
                )
                .hint("unions come last on the wire; add extension members to the oneof instead"),
            );
            return None;
        }
        self.start_in_range(span, start, count, "field")
    }

    /// An extension start names an existing number above 1 (SF-4.9).
    pub(super) fn start_in_range(&mut self, span: Span, start: i128, count: usize, what: &str) -> Option<u32> {
        let found = usize::try_from(start).ok().filter(|start| (2..=count).contains(start));
        if found.is_none() && !self.message.body.damaged {
            let message = if start < 2 {
                format!("extensions cannot start at {start}: at least one {what} belongs to the base")
            } else {
                format!("extensions start at {start}, but there is no {what} with that number")
            };
            self.diagnostics.push(Diagnostic::new(Code::ExtensionStart, span, message));
        }
        found.map(|start| start as u32)
    }

    /// A discriminator word; `None` after a reported fault.
    pub(super) fn discriminator(&mut self, option: &crate::ast::OptionItem) -> Option<WantedTag> {
        let value = &option.value;
        let word = value.string().or_else(|| value.name()).unwrap_or("").to_ascii_lowercase();
        match word.as_str() {
            "auto" => Some(WantedTag::Auto),
            "msgid" => Some(WantedTag::MsgId),
            "field_order" => Some(WantedTag::FieldOrder),
            "none" | "false" | "off" | "disabled" => Some(WantedTag::None),
            _ => {
                let message = format!("no discriminator kind `{}`", value.written());
                self.diagnostics.push(
                    Diagnostic::new(Code::DiscriminatorUnknown, value.site.0, message)
                        .hint("use `auto`, `msgid`, `field_order` or `none`"),
                );
                None
            }
        }
    }
}

/// Two comma-separated integers from 1 to 255, decimal or with `0x`, `0o`, `0b` (SF-11.3).
fn magic_bytes(text: Option<&str>) -> Option<[u8; 2]> {
    let (first, second) = text?.split_once(',')?;
    let byte = |text: &str| {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        let number = if let Some(digits) = lower.strip_prefix("0x") {
            u8::from_str_radix(digits, 16)
        } else if let Some(digits) = lower.strip_prefix("0o") {
            u8::from_str_radix(digits, 8)
        } else if let Some(digits) = lower.strip_prefix("0b") {
            u8::from_str_radix(digits, 2)
        } else {
            lower.parse()
        };
        number.ok().filter(|byte| *byte > 0)
    };
    Some([byte(first)?, byte(second)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SF-11.3
    #[test]
    fn magic_byte_strings() {
        assert_eq!(magic_bytes(Some("0xA3, 0x7F")), Some([0xa3, 0x7f]));
        assert_eq!(magic_bytes(Some("1,255")), Some([1, 255]));
        assert_eq!(magic_bytes(Some(" 0b11 , 0o17 ")), Some([3, 15]));
        for wrong in ["5", "0, 5", "256, 5", "1,2,3", "a,b", ""] {
            assert_eq!(magic_bytes(Some(wrong)), None, "{wrong}");
        }
    }
}
