//! Do peers with the old and the new schema understand each other? (SF-9.2, SF-9.5)

use crate::layout::{Element, Message, MessageIndex, Schema, Type, Union, UnionWire};
use crate::map::type_text;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// What a change does to peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Weight {
    /// Bytes and their meaning stay.
    Note,
    /// Peers understand each other on profiles with a length; something else deserves a look.
    Caution,
    /// Peers reject or misread each other's frames.
    Break,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// What it does to peers.
    pub weight: Weight,
    /// What changed, and why that matters.
    pub words: String,
}

/// The verdict on one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The bytes did not change.
    Same,
    /// New: older peers never saw it.
    Added,
    /// Both directions work on profiles with a length.
    Compatible,
    /// At least one direction does not work.
    Broken,
}

impl Verdict {
    const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Added => "added",
            Self::Compatible => "compatible",
            Self::Broken => "BROKEN",
        }
    }
}

/// What became of one message that can be framed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageDiff {
    /// `package.Name`, in the new schema if it is there.
    pub name: String,
    /// Effective id, in the old schema if it was there.
    pub id: u16,
    /// Whether peers understand each other.
    pub verdict: Verdict,
    /// Why.
    pub reasons: Vec<Reason>,
}

/// All messages that can be framed in either schema, by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// One entry per message.
    pub messages: Vec<MessageDiff>,
}

impl Diff {
    /// True when some message is broken.
    pub fn is_break(&self) -> bool {
        self.messages.iter().any(|message| message.verdict == Verdict::Broken)
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for message in &self.messages {
            let id = message.id;
            writeln!(f, "{:<10}  {}  id {id} (0x{id:04x})", message.verdict.name(), message.name)?;
            for reason in &message.reasons {
                let mark = match reason.weight {
                    Weight::Note => "note",
                    Weight::Caution => "caution",
                    Weight::Break => "break",
                };
                writeln!(f, "            {mark}: {}", reason.words)?;
            }
        }
        Ok(())
    }
}

/// Compares two schemas message by message. On the wire a message is its effective id, so a renamed message is the same
/// message, and a message with another id is another.
pub fn diff(old: &Schema, new: &Schema) -> Diff {
    let mut compare = Compare { old, new, reasons: Vec::new(), seen: HashSet::new(), same: HashMap::new() };
    let mut messages = Vec::new();
    for (id, before) in old.ids() {
        let entry = match new.by_id(id) {
            Some(after) => compare.messages(id, before, after),
            None => moved_or_gone(old, new, id, before),
        };
        messages.push(entry);
    }
    for (id, after) in new.ids().filter(|(id, _)| old.by_id(*id).is_none()) {
        messages.push(MessageDiff { name: new.qualified(after), id, verdict: Verdict::Added, reasons: Vec::new() });
    }
    messages.sort_by_key(|message| message.id);
    Diff { messages }
}

fn moved_or_gone(old: &Schema, new: &Schema, id: u16, before: &Message) -> MessageDiff {
    let name = old.qualified(before);
    let words = match new.find(&name).and_then(|after| after.id) {
        Some(now) => format!("the effective id changed from {id} to {now}: neither peer knows the other's frames"),
        None => "removed: newer peers do not know its frames".to_owned(),
    };
    MessageDiff { name, id, verdict: Verdict::Broken, reasons: vec![Reason { weight: Weight::Break, words }] }
}

struct Compare<'a> {
    old: &'a Schema,
    new: &'a Schema,
    reasons: Vec<Reason>,
    /// Enums already compared for this message.
    seen: HashSet<(usize, usize)>,
    /// Nested messages already compared: true when their fixed layouts agree.
    same: HashMap<(MessageIndex, MessageIndex), bool>,
}

impl Compare<'_> {
    fn say(&mut self, weight: Weight, words: impl Into<String>) {
        self.reasons.push(Reason { weight, words: words.into() });
    }

    fn messages(&mut self, id: u16, old: &Message, new: &Message) -> MessageDiff {
        self.seen.clear();
        let name = self.new.qualified(new);
        if self.old.qualified(old) != name {
            self.say(Weight::Note, format!("was `{}`", self.old.qualified(old)));
        }
        self.seeds(old, new);
        self.fields(old, new);
        self.unions(old, new);
        self.sizes(old, new);
        let reasons = std::mem::take(&mut self.reasons);
        let worst = reasons.iter().map(|reason| reason.weight).max();
        let verdict = match worst {
            Some(Weight::Break) => Verdict::Broken,
            _ if old.sizes == new.sizes && !reasons.iter().any(|reason| reason.weight == Weight::Caution) => {
                Verdict::Same
            }
            _ => Verdict::Compatible,
        };
        MessageDiff { name, id, verdict, reasons }
    }

    fn seeds(&mut self, old: &Message, new: &Message) {
        if old.magic != new.magic {
            let [a, b] = old.magic;
            let [c, d] = new.magic;
            self.say(
                Weight::Break,
                format!("magic changed from {a:02x} {b:02x} to {c:02x} {d:02x}: checksums do not verify"),
            );
        }
        if old.variable != new.variable {
            let now = if new.variable { "is now" } else { "is no longer" };
            self.say(Weight::Break, format!("the message {now} variable: its wire layout is another"));
        }
    }

    fn sizes(&mut self, old: &Message, new: &Message) {
        if old.sizes.base != new.sizes.base {
            let (before, after) = (old.sizes.base, new.sizes.base);
            self.say(
                Weight::Break,
                format!("the base changed from {before} to {after} bytes: checksums are split elsewhere"),
            );
        }
        if old.sizes.max != new.sizes.max {
            let (before, after) = (old.sizes.max, new.sizes.max);
            self.say(
                Weight::Caution,
                format!(
                    "{before} bytes became {after}: profiles without a length (Sensor, IPC) cannot mix old and new"
                ),
            );
            if before <= 255 && after > 255 {
                self.say(Weight::Caution, "a full payload no longer fits the Standard profile (255 bytes)");
            }
        }
    }

    fn fields(&mut self, old: &Message, new: &Message) {
        let common = old.fields.len().min(new.fields.len());
        for (before, after) in old.fields.iter().zip(&new.fields) {
            if before.extension != after.extension {
                let (from, to) = if before.extension { ("an extension", "base") } else { ("base", "an extension") };
                self.say(Weight::Break, format!("field `{}` was {from} and is now {to}", after.name));
            }
            if self.types(before.ty, after.ty) {
                if before.name != after.name {
                    self.say(Weight::Note, format!("field `{}` is now called `{}`", before.name, after.name));
                }
                if before.default != after.default {
                    self.say(Weight::Note, format!("the default of field `{}` changed", after.name));
                }
            } else {
                let was = type_text(self.old, before.ty);
                let now = type_text(self.new, after.ty);
                let words = if was == now {
                    format!("field `{}`: the layout of `{now}` changed", after.name)
                } else {
                    format!("field `{}` was `{} {was}` and is now `{now}`", after.name, before.name)
                };
                self.say(Weight::Break, words);
            }
        }
        for gone in old.fields.iter().skip(common) {
            let what = if gone.extension { "extension field" } else { "base field" };
            self.say(Weight::Break, format!("{what} `{}` was removed", gone.name));
        }
        for added in new.fields.iter().skip(common) {
            if added.extension {
                self.say(Weight::Note, format!("extension field `{}` was added", added.name));
            } else {
                self.say(Weight::Break, format!("base field `{}` was added", added.name));
            }
        }
    }

    fn unions(&mut self, old: &Message, new: &Message) {
        if old.unions.len() != new.unions.len() {
            let words = format!("{} oneofs became {}", old.unions.len(), new.unions.len());
            self.say(Weight::Break, words);
        }
        for (before, after) in old.unions.iter().zip(&new.unions) {
            self.union(before, after);
        }
    }

    fn union(&mut self, old: &Union, new: &Union) {
        let name = &new.name;
        if old.name != new.name {
            self.say(Weight::Note, format!("oneof `{}` is now called `{name}`", old.name));
        }
        if old.discriminator != new.discriminator {
            let (before, after) = (old.discriminator.name(), new.discriminator.name());
            self.say(Weight::Break, format!("oneof `{name}`: the discriminator was {before} and is now {after}"));
        }
        if old.wire != new.wire {
            self.say(Weight::Break, format!("oneof `{name}` is written in another way"));
        }
        if old.wire == UnionWire::Trimmed && old.min_size != new.min_size {
            let words = format!("oneof `{name}`: `min_size` was {} and is now {}", old.min_size, new.min_size);
            self.say(Weight::Break, words);
        }
        // The regions of the base must agree; the whole may grow through extension members only.
        if old.wire == UnionWire::Full && old.region != new.region && new.extensions_start.is_none() {
            let words = format!("oneof `{name}`: its region was {} bytes and is now {}", old.region, new.region);
            self.say(Weight::Break, words);
        }
        let common = old.members.len().min(new.members.len());
        for (before, after) in old.members.iter().zip(&new.members) {
            if before.extension != after.extension {
                let (from, to) = if before.extension { ("an extension", "base") } else { ("base", "an extension") };
                self.say(Weight::Break, format!("member `{}` was {from} and is now {to}", after.name));
            }
            if before.tag != after.tag {
                self.say(Weight::Break, format!("the tag of member `{}` changed", after.name));
            }
            if !self.types(Type::One(before.element), Type::One(after.element)) {
                let was = type_text(self.old, Type::One(before.element));
                let now = type_text(self.new, Type::One(after.element));
                self.say(Weight::Break, format!("member `{}` was `{was}` and is now another `{now}`", after.name));
            } else if before.name != after.name {
                self.say(Weight::Note, format!("member `{}` is now called `{}`", before.name, after.name));
            }
        }
        for gone in old.members.iter().skip(common) {
            self.say(Weight::Break, format!("member `{}` was removed", gone.name));
        }
        for added in new.members.iter().skip(common) {
            if added.extension {
                let words = format!("extension member `{}` was added: older peers see an unknown tag", added.name);
                self.say(Weight::Caution, words);
            } else {
                self.say(Weight::Break, format!("base member `{}` was added", added.name));
            }
        }
    }

    /// True when two types have the same bytes.
    fn types(&mut self, old: Type, new: Type) -> bool {
        if old.extent() != new.extent() || old.is_array() != new.is_array() {
            return false;
        }
        match (old.element(), new.element()) {
            (Element::Message(old), Element::Message(new)) => self.nested(old, new),
            (Element::Enum(old), Element::Enum(new)) => {
                self.enums(old.get(), new.get());
                true
            }
            (old, new) => old == new,
        }
    }

    /// True when two nested messages have the same fixed layout: extensions count, for they are followed by more.
    fn nested(&mut self, old: MessageIndex, new: MessageIndex) -> bool {
        if let Some(same) = self.same.get(&(old, new)) {
            return *same;
        }
        let (before, after) = (&self.old[old], &self.new[new]);
        let fields = before.fields.len() == after.fields.len()
            && before.fields.iter().zip(&after.fields).all(|(before, after)| self.types(before.ty, after.ty));
        let unions = before.unions.len() == after.unions.len()
            && before.unions.iter().zip(&after.unions).all(|(before, after)| {
                before.discriminator == after.discriminator
                    && before.region == after.region
                    && before.members.len() == after.members.len()
                    && before.members.iter().zip(&after.members).all(|(before, after)| {
                        before.tag == after.tag && self.types(Type::One(before.element), Type::One(after.element))
                    })
            });
        let same = fields && unions && before.fixed_tail == after.fixed_tail;
        self.same.insert((old, new), same);
        same
    }

    /// Enum values never change bytes, but they can change their meaning.
    fn enums(&mut self, old: usize, new: usize) {
        if !self.seen.insert((old, new)) {
            return;
        }
        let (before, after) = (&self.old.enums()[old], &self.new.enums()[new]);
        for value in &before.values {
            let same_name = after.values.iter().find(|candidate| candidate.name == value.name);
            let same_number = after.name_of(value.number);
            let words = match (same_name, same_number) {
                (Some(moved), _) if moved.number != value.number => {
                    format!("enum `{}`: `{}` was {} and is now {}", after.name, value.name, value.number, moved.number)
                }
                (None, Some(other)) => {
                    format!("enum `{}`: {} was `{}` and is now `{other}`", after.name, value.number, value.name)
                }
                (None, None) => format!("enum `{}`: `{}` ({}) was removed", after.name, value.name, value.number),
                _ => continue,
            };
            self.say(Weight::Caution, words);
        }
    }
}
