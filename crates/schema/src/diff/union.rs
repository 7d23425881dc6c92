//! What a reader makes of a oneof.

use super::payload::{Direction, End, Last, ending};
use super::{Side, Weight};
use crate::layout::{Discriminator, Member, Message, Type, Union, UnionWire};

/// How a member gets from one peer to the other.
#[derive(Clone, Copy)]
struct Passage {
    /// What comes after the bytes of a member that both know.
    end: End,
    /// An unknown tag hides what follows it.
    blind: bool,
}

impl Direction<'_> {
    /// A oneof of the message itself.
    pub(super) fn top_union(
        &mut self,
        path: &str,
        (sent, from): (&Message, &Union),
        (_, to): (&Message, &Union),
        last: Last,
    ) {
        if !self.same_tag(path, from, to) {
            return;
        }
        if from.discriminator == Discriminator::None {
            return self.untagged(path, from, to);
        }
        let blind = to.wire == UnionWire::Trimmed && !last.read;
        match (from.wire, to.wire) {
            (UnionWire::Full, UnionWire::Full) => {
                let end = ending(from.region, to.region, last, End::Payload);
                self.nested_union(path, from, to, end);
            }
            (UnionWire::Prefixed, UnionWire::Prefixed) => {
                self.members(path, from, to, Passage { end: End::Payload, blind: false });
            }
            (UnionWire::Full | UnionWire::Trimmed, UnionWire::Trimmed) => {
                self.lengths(path, from, to, last, sent.variable);
                self.members(path, from, to, Passage { end: End::Zero, blind });
            }
            (UnionWire::Trimmed, UnionWire::Full) => {
                if !last.sent && !last.read {
                    self.trimmed_by_one(path);
                }
                self.members(path, from, to, Passage { end: End::Zero, blind });
            }
            (UnionWire::Prefixed, _) | (_, UnionWire::Prefixed) => {
                self.say(Weight::Break, format!("oneof `{path}` has a length in front on one side only"));
            }
        }
    }

    /// A oneof in the fixed layout; `end` is what stands behind it.
    pub(super) fn nested_union(&mut self, path: &str, from: &Union, to: &Union, end: End) {
        if !self.same_tag(path, from, to) {
            return;
        }
        if from.discriminator == Discriminator::None {
            return self.untagged(path, from, to);
        }
        if end == End::Rigid && from.region != to.region {
            let (old, new) = self.side.order(from.region, to.region);
            self.say(Weight::Break, format!("oneof `{path}`: its region was {old} bytes and is now {new}"));
            return;
        }
        if end == End::Lost && to.region > from.region {
            let reader = self.side.reader();
            self.say(Weight::Break, format!("{reader} peers lose `{path}`: its region is shorter than they expect"));
        }
        self.members(path, from, to, Passage { end: End::Zero, blind: false });
    }

    fn same_tag(&mut self, path: &str, from: &Union, to: &Union) -> bool {
        let same = from.discriminator == to.discriminator;
        if !same {
            let (old, new) = self.side.order(from.discriminator.name(), to.discriminator.name());
            self.say(Weight::Break, format!("oneof `{path}`: the discriminator was {old} and is now {new}"));
        }
        same
    }

    /// Without a tag the application knows the member: those that both have must be the same, and so must the region.
    fn untagged(&mut self, path: &str, from: &Union, to: &Union) {
        if from.region != to.region || (from.wire == UnionWire::Prefixed) != (to.wire == UnionWire::Prefixed) {
            let (old, new) = self.side.order(from.region, to.region);
            self.say(Weight::Break, format!("oneof `{path}`: its region was {old} bytes and is now {new}"));
        }
        for member in &from.members {
            if let Some(other) = to.member(&member.name) {
                let path = format!("{path}.{}", member.name);
                self.types(&path, Type::One(member.element), Type::One(other.element), End::Zero);
            }
        }
    }

    /// Bytes that the sender writes for each member, and bytes that a reader of trimmed oneofs takes.
    fn lengths(&mut self, path: &str, from: &Union, to: &Union, last: Last, trimmed: bool) {
        let written = |size: usize| if trimmed { size.max(from.min_size) } else { from.region };
        let unset = (written(0), to.min_size, "nothing".to_owned());
        let known = from.members.iter().filter_map(|member| {
            let other = to.member_by_tag(member.tag?)?;
            Some((written(member.size), other.size.max(to.min_size), format!("`{}`", other.name)))
        });
        let mut short = Vec::new();
        let mut long = false;
        for (has, needs, what) in known.chain([unset]) {
            if has < needs {
                short.push((has, needs, what));
            }
            long |= has > needs && !last.read;
        }
        let reader = self.side.reader();
        for (has, needs, what) in short {
            let words = format!("oneof `{path}`: {reader} peers expect {needs} bytes for {what}, and {has} are sent");
            self.say(Weight::Break, words);
        }
        if long {
            self.trimmed_by_one(path);
        }
    }

    fn trimmed_by_one(&mut self, path: &str) {
        self.say(Weight::Break, format!("oneof `{path}` has another length at each peer, and others follow it"));
    }

    /// Each member that may be sent, and what the reader takes it for.
    fn members(&mut self, path: &str, from: &Union, to: &Union, passage: Passage) {
        for member in &from.members {
            let known = member.tag.and_then(|tag| to.member_by_tag(tag));
            match known {
                Some(other) => self.member(path, from, to, member, other, passage.end),
                None if to.member(&member.name).is_some() => {
                    self.say(Weight::Break, format!("oneof `{path}`: the tag of member `{}` changed", member.name));
                }
                None if passage.blind => {
                    let words = format!(
                        "oneof `{path}`: {} peers do not know member `{}`, and its tag hides what follows",
                        self.side.reader(),
                        member.name
                    );
                    self.say(Weight::Break, words);
                }
                None => {
                    let (change, older) =
                        if self.side == Side::NewToOld { ("added", "older") } else { ("removed", "newer") };
                    let what = if member.extension { "extension member" } else { "base member" };
                    let name = &member.name;
                    let words =
                        format!("oneof `{path}`: {what} `{name}` was {change}: {older} peers see an unknown tag");
                    self.say(Weight::Caution, words);
                }
            }
        }
    }

    fn member(&mut self, path: &str, from: &Union, to: &Union, member: &Member, other: &Member, end: End) {
        let (old, new) = self.side.order(&member.name, &other.name);
        let here = format!("{path}.{new}");
        if member.name != other.name {
            if to.member(&member.name).is_some() || from.member(&other.name).is_some() {
                let tag = member.tag.unwrap_or_default();
                self.say(Weight::Break, format!("oneof `{path}`: tag {tag} was `{old}` and is now `{new}`"));
                return;
            }
            self.say(Weight::Note, format!("member `{path}.{old}` is now called `{new}`"));
        }
        let (sent, read) = (Type::One(member.element), Type::One(other.element));
        self.types(&here, sent, read, end);
    }
}
