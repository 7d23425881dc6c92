//! Oneofs (SF-3.4, SF-7, SF-9.3).

use super::message::Drafting;
use super::option::{Level, OptionSet, extensions_start, size};
use crate::ast::{Comment, Field, Node, OneofEntry, OneofItem, OptionItem};
use crate::diagnose::{Code, Diagnostic};
use crate::layout::{DraftMember, DraftUnion, Type, WantedTag};
use crate::source::Span;
use std::collections::HashMap;

/// The comment that begins the extension members.
const MARK: &str = "Extension::";

impl Drafting<'_> {
    /// A union; `None` after a fault that leaves its layout unknown.
    pub(super) fn union(
        &mut self,
        oneof: &OneofItem,
        inherited: Option<WantedTag>,
        variable: bool,
        docs: Vec<String>,
    ) -> Option<DraftUnion> {
        let options = oneof.body.items.iter().filter_map(|node| match &node.value {
            OneofEntry::Option(option) => Some(option),
            OneofEntry::Member(_) => None,
        });
        let options = OptionSet::new(Level::Oneof, options, self.diagnostics);
        let members: Vec<(&Node<OneofEntry>, &Field)> = oneof
            .body
            .items
            .iter()
            .filter_map(|node| match &node.value {
                OneofEntry::Member(field) => Some((node, field)),
                OneofEntry::Option(_) => None,
            })
            .collect();
        let mut sound = !oneof.body.damaged;

        let own = options.last("discriminator").map(|option| self.discriminator(option));
        sound &= own != Some(None);
        let own = own.flatten().unwrap_or(WantedTag::Auto);
        let wanted = if own == WantedTag::Auto { inherited.unwrap_or(WantedTag::Auto) } else { own };

        let prefixed = options.is_set("variable", self.diagnostics);
        let prefixed = options.last("variable").filter(|_| prefixed).map(|option| option.name.site.0);
        if let Some(span) = prefixed.filter(|_| !variable) {
            self.diagnostics.push(
                Diagnostic::new(Code::OneofNotVariable, span, "a variable oneof in a message that is not variable")
                    .hint("add `option variable = true;` to the message"),
            );
            sound = false;
        }
        if let Some(span) = prefixed.filter(|_| wanted == WantedTag::None) {
            self.diagnostics.push(
                Diagnostic::new(Code::OneofPrefixWithoutTag, span, "a variable oneof needs a discriminator")
                    .hint("remove `discriminator = none`, or `variable = true` from the oneof"),
            );
            sound = false;
        }

        let start = self.start(oneof, &options, members.len());
        let mut names: HashMap<&str, Span> = HashMap::new();
        let mut drafted = Vec::new();
        for (position, (node, field)) in members.into_iter().enumerate() {
            let name = &field.name;
            if let Some(first) = names.insert(&name.text, name.site.0) {
                let message = format!("member `{}` is declared twice in oneof `{}`", name.text, oneof.name.text);
                self.diagnostics.push(
                    Diagnostic::new(Code::DuplicateMemberName, name.site.0, message).related(first, "first declared"),
                );
            }
            self.number(Code::MemberNumber, "member", field, position, oneof.body.damaged);
            let number = position as u32 + 1;
            let extension = start.is_some_and(|start| number >= start);
            match self.member(field, number, extension, node.docs()) {
                Some(member) => drafted.push(member),
                None => sound = false,
            }
        }
        let mut limit = |name: &str| {
            let option: &OptionItem = options.last(name)?;
            let size = size(option, self.diagnostics);
            sound &= size.is_some();
            size.map(|size| (usize::from(size), option.value.site.0))
        };
        let max_size = limit("max_size");
        let min_size = limit("min_size");
        sound.then(|| DraftUnion {
            name: oneof.name.clone(),
            wanted,
            prefixed,
            max_size,
            min_size,
            extensions_start: start,
            members: drafted,
            docs,
        })
    }

    fn member(&mut self, field: &Field, number: u32, extension: bool, docs: Vec<String>) -> Option<DraftMember> {
        let options = OptionSet::new(Level::Field, &field.options, self.diagnostics);
        if let Some(option) = options.last("default") {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::DefaultMisplaced,
                    option.name.site.0,
                    "a member of a oneof cannot have a default",
                )
                .hint("a new message has no member set"),
            );
        }
        if let Some(option) = options.last("flatten") {
            self.ignored(option.name.site.0, "`flatten` is for single message fields and has no effect here");
        }
        let named = self.symbols.resolve(self.package, self.index, &field.ty, self.diagnostics)?;
        let Type::One(element) = self.shape(field, named, false, &options)? else { return None };
        Some(DraftMember { name: field.name.clone(), type_span: field.ty.site.0, number, element, extension, docs })
    }

    /// Where extension members begin: the option, or else the first marking comment (SF-9.3).
    fn start(&mut self, oneof: &OneofItem, options: &OptionSet<'_>, count: usize) -> Option<u32> {
        if let Some(option) = options.last("extensions_start") {
            let start = extensions_start(option, self.diagnostics)?;
            return self.start_in_range(option.value.site.0, start, count, "member");
        }
        let marked =
            |comments: &[Comment]| comments.iter().find(|comment| comment.text.contains(MARK)).map(|c| c.site.0);
        let mut pending: Option<Span> = None;
        let mut position = 0;
        for node in &oneof.body.items {
            pending = pending.or(marked(&node.comments));
            if matches!(node.value, OneofEntry::Member(_)) {
                position += 1;
                if let Some(span) = pending {
                    return self.start_in_range(span, position, count, "member");
                }
            }
            pending = pending.or(marked(&node.trailing));
        }
        if let Some(span) = pending.or(marked(&oneof.body.tail)) {
            self.diagnostics.push(Diagnostic::new(
                Code::DanglingExtensionComment,
                span,
                "this comment begins the extension members, but no member follows",
            ));
        }
        None
    }
}
