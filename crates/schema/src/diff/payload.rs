//! What a reader makes of a payload, field by field.

use super::{Reason, Side, Weight, say};
use crate::layout::{Element, EnumIndex, Extent, Field, Message, MessageIndex, Schema, Type, Union};
use crate::map::type_text;
use std::collections::HashSet;

/// One direction: what `reader` makes of what `sender` writes.
pub(super) struct Direction<'a> {
    pub(super) side: Side,
    pub(super) sender: &'a Schema,
    pub(super) reader: &'a Schema,
    reasons: &'a mut Vec<Reason>,
    /// Already compared.
    pub(super) enums_seen: HashSet<(EnumIndex, EnumIndex)>,
    nested_seen: HashSet<(MessageIndex, MessageIndex, End)>,
}

/// What comes after the bytes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum End {
    /// The payload ends: what is missing takes its default, what is left over is ignored.
    Payload,
    /// Zeros, then the payload ends.
    Zero,
    /// The payload ends, and a part that is not all there is lost.
    Lost,
    /// Something else: lengths must be equal.
    Rigid,
}

/// A plain field or a oneof, in wire order.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Field(&'a Field),
    Union(&'a Union),
}

impl<'a> Item<'a> {
    fn of(message: &'a Message) -> Vec<Self> {
        let unions = message.unions.iter().filter(|union| !union.members.is_empty());
        message.fields.iter().map(Self::Field).chain(unions.map(Self::Union)).collect()
    }

    fn name(self) -> &'a str {
        match self {
            Self::Field(field) => &field.name,
            Self::Union(union) => &union.name,
        }
    }

    /// Bytes in the fixed layout.
    const fn size(self) -> usize {
        match self {
            Self::Field(field) => field.size,
            Self::Union(union) => union.discriminator.len() + union.region,
        }
    }

    const fn kind(self) -> &'static str {
        match self {
            Self::Field(_) => "field",
            Self::Union(_) => "oneof",
        }
    }

    const fn extension(self) -> bool {
        matches!(self, Self::Field(Field { extension: true, .. }))
    }
}

/// Whether an item is the last of its message, on both sides.
#[derive(Clone, Copy)]
pub(super) struct Last {
    pub(super) sent: bool,
    pub(super) read: bool,
}

impl<'a> Direction<'a> {
    pub(super) fn new(side: Side, old: &'a Schema, new: &'a Schema, reasons: &'a mut Vec<Reason>) -> Self {
        let (sender, reader) = side.order(old, new);
        Self { side, sender, reader, reasons, enums_seen: HashSet::new(), nested_seen: HashSet::new() }
    }

    pub(super) fn say(&mut self, weight: Weight, words: String) {
        say(self.reasons, weight, words);
    }

    /// The payload of a frame.
    pub(super) fn messages(&mut self, sent: &Message, read: &Message) {
        let (sent_items, read_items) = (Item::of(sent), Item::of(read));
        for (at, (from, to)) in sent_items.iter().zip(&read_items).enumerate() {
            let last = Last { sent: at + 1 == sent_items.len(), read: at + 1 == read_items.len() };
            let path = self.name_pair("", *from, *to, &sent_items, &read_items);
            match (*from, *to) {
                (Item::Field(from), Item::Field(to)) => {
                    self.top_field(&path, (sent, from), (read, to), last);
                    self.defaults(&path, from, to);
                }
                (Item::Union(from), Item::Union(to)) => self.top_union(&path, (sent, from), (read, to), last),
                _ => self.other_kind(&path, *from, *to),
            }
        }
        for extra in read_items.iter().skip(sent_items.len()) {
            // Only a variable message misses a base field that is not there.
            let missed = read.variable && !extra.extension();
            let what = if extra.extension() { "extension" } else { "base" };
            let (kind, name) = (extra.kind(), extra.name());
            let change = if self.side == Side::OldToNew { "added" } else { "removed" };
            if missed {
                let reader = self.side.reader();
                let words = format!("{what} {kind} `{name}` was {change}: {reader} peers refuse payloads without it");
                self.say(Weight::Break, words);
            } else {
                self.say(Weight::Note, format!("{what} {kind} `{name}` was {change}"));
            }
        }
    }

    /// A plain field of the message itself, which a variable message trims.
    fn top_field(&mut self, path: &str, (sent, from): (&Message, &Field), (read, to): (&Message, &Field), last: Last) {
        let counted = |message: &Message, field: &Field| message.variable && field.ty.prefix_len() > 0;
        match (counted(sent, from), counted(read, to)) {
            (false, false) => {
                let short = if read.variable { End::Lost } else { End::Payload };
                let end = ending(from.size, to.size, last, short);
                self.types(path, from.ty, to.ty, end);
            }
            (true, true) => self.types(path, from.ty, to.ty, End::Rigid),
            (at_width, trimmed) => {
                self.types(path, from.ty, to.ty, End::Rigid);
                // Padding that only one side has moves everything behind it.
                let moved = if trimmed { !last.read } else { !last.sent && !last.read };
                if moved {
                    debug_assert_ne!(at_width, trimmed);
                    self.say(
                        Weight::Break,
                        format!("field `{path}` is trimmed by one peer only, and others follow it"),
                    );
                }
            }
        }
    }

    /// A message inside a message: the fixed layout. `end` is what stands behind it.
    fn nested(&mut self, path: &str, sent: MessageIndex, read: MessageIndex, end: End) {
        if !self.nested_seen.insert((sent, read, end)) {
            return;
        }
        let (sent, read) = (&self.sender[sent], &self.reader[read]);
        if end == End::Rigid && sent.sizes.max != read.sizes.max {
            let (old, new) = self.side.order(sent, read);
            let words = format!(
                "field `{path}`: `{}` was {} bytes and is now {}, and others follow it",
                new.name, old.sizes.max, new.sizes.max
            );
            self.say(Weight::Break, words);
            return;
        }
        let (sent_items, read_items) = (Item::of(sent), Item::of(read));
        for (at, (from, to)) in sent_items.iter().zip(&read_items).enumerate() {
            let last = Last { sent: at + 1 == sent_items.len(), read: at + 1 == read_items.len() };
            let path = self.name_pair(path, *from, *to, &sent_items, &read_items);
            let end = ending(from.size(), to.size(), last, end);
            match (*from, *to) {
                (Item::Field(from), Item::Field(to)) => self.types(&path, from.ty, to.ty, end),
                (Item::Union(from), Item::Union(to)) => self.nested_union(&path, from, to, end),
                _ => self.other_kind(&path, *from, *to),
            }
        }
        if end == End::Rigid && sent_items.len() != read_items.len() {
            self.say(Weight::Break, format!("field `{path}`: `{}` has other fields", read.name));
        }
        for extra in read_items.iter().skip(sent_items.len()) {
            let name = joined(path, extra.name());
            match (end, extra) {
                (End::Lost, _) => {
                    let reader = self.side.reader();
                    self.say(Weight::Break, format!("{reader} peers lose `{path}` where `{name}` is missing"));
                }
                (End::Zero, Item::Field(field)) if self.has_default(field) => {
                    let words = format!("{} peers read 0 for `{name}`, not its default", self.side.reader());
                    self.say(Weight::Caution, words);
                }
                _ => {}
            }
        }
    }

    /// True when a missing field is not zero.
    fn has_default(&self, field: &Field) -> bool {
        match field.ty {
            Type::One(Element::Message(inner)) => {
                self.reader.default_image(&self.reader[inner]).iter().any(|byte| *byte != 0)
            }
            _ => field.default.is_some(),
        }
    }

    /// Compares the names of two items at one place and gives the path to show. A name that survives elsewhere is a
    /// fault; two names that nobody else has are one field under a new name.
    fn name_pair(&mut self, path: &str, from: Item<'_>, to: Item<'_>, sent: &[Item<'_>], read: &[Item<'_>]) -> String {
        let (old, new) = self.side.order(from.name(), to.name());
        if old != new {
            let place = |items: &[Item<'_>], name: &str| items.iter().position(|item| item.name() == name);
            let (old_items, new_items) = self.side.order(sent, read);
            let kind = to.kind();
            for name in [old, new] {
                if let (Some(before), Some(after)) = (place(old_items, name), place(new_items, name)) {
                    let (before, after) = (before + 1, after + 1);
                    let words =
                        format!("{kind} `{}` was number {before} and is now number {after}", joined(path, name));
                    self.say(Weight::Break, words);
                }
            }
            let survives = |name: &str| place(old_items, name).is_some() && place(new_items, name).is_some();
            if !survives(old) && !survives(new) {
                self.say(Weight::Note, format!("{kind} `{}` is now called `{new}`", joined(path, old)));
            }
        }
        joined(path, new)
    }

    fn other_kind(&mut self, path: &str, from: Item<'_>, to: Item<'_>) {
        let (old, new) = self.side.order(from.kind(), to.kind());
        self.say(Weight::Break, format!("`{path}` was a {old} and is now a {new}"));
    }

    fn defaults(&mut self, path: &str, from: &Field, to: &Field) {
        if from.default != to.default {
            self.say(Weight::Note, format!("the default of field `{path}` changed"));
        }
    }

    /// Values of one type read as another.
    pub(super) fn types(&mut self, path: &str, sent: Type, read: Type, end: End) {
        let same = match (sent.element(), read.element()) {
            _ if sent.extent() != read.extent() || sent.is_array() != read.is_array() => false,
            (Element::Message(from), Element::Message(to)) => {
                // The default image of an array is zeros; several elements follow each other.
                let end = match (read, end) {
                    (Type::Array { extent, .. }, _) if extent.limit() > 1 => End::Rigid,
                    (Type::Array { extent: Extent::Fixed(_) | Extent::Bounded(_), .. }, End::Payload) => End::Zero,
                    _ => end,
                };
                self.nested(path, from, to, end);
                true
            }
            (Element::Enum(from), Element::Enum(to)) => {
                self.enums(from, to);
                true
            }
            (from, to) => from == to,
        };
        if !same {
            let (sent, read) = (type_text(self.sender, sent), type_text(self.reader, read));
            let (old, new) = self.side.order(sent, read);
            self.say(Weight::Break, format!("`{path}` was `{old}` and is now `{new}`"));
        }
    }
}

/// What stands behind an item of these sizes, given what stands behind its message.
pub(super) const fn ending(sent: usize, read: usize, last: Last, end: End) -> End {
    let lengths_may_differ = (read > sent && last.sent) || (sent > read && last.read);
    if lengths_may_differ { end } else { End::Rigid }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
