//! Do peers with the old and the new schema understand each other? (SF-9.2, SF-9.5)
//!
//! The answer comes from the two layouts: for each direction, what a reader with one schema makes of the bytes that a sender
//! with the other writes. Values are compared by name. A field whose name only one side has is new, gone or renamed; a name
//! that both sides have must mean the same bytes.

mod checksum; // does the frame verify
mod enums; // do numbers keep their names
mod payload; // what the reader reads, field by field
mod union; // the same for oneofs

use crate::layout::{Message, Schema};
use payload::Direction;
use serde::Serialize;
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
///
/// ```
/// let compile = |text| fw_schema::check_text("demo.sf", text).into_result().unwrap();
/// let old = compile("package p; message Fix { option msgid = 1; float lat = 1; float lon = 2; }");
/// let new = compile("package p; message Fix { option msgid = 1; float lon = 1; float lat = 2; }");
/// assert!(fw_schema::diff(&old, &new).is_break());
/// ```
pub fn diff(old: &Schema, new: &Schema) -> Diff {
    let mut messages = Vec::new();
    for (id, before) in old.ids() {
        let entry = match new.by_id(id) {
            Some(after) => compare(old, new, id, before, after),
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
        Some(now) => {
            format!("the effective id changed from {id} to {now}: neither peer recognises the frames of the other")
        }
        None => "removed: newer peers do not recognise its frames".to_owned(),
    };
    MessageDiff { name, id, verdict: Verdict::Broken, reasons: vec![Reason { weight: Weight::Break, words }] }
}

fn compare(old: &Schema, new: &Schema, id: u16, before: &Message, after: &Message) -> MessageDiff {
    let mut reasons = Vec::new();
    let name = new.qualified(after);
    if old.qualified(before) != name {
        say(&mut reasons, Weight::Note, format!("was `{}`", old.qualified(before)));
    }
    if before.variable != after.variable {
        let now = if after.variable { "is now" } else { "is no longer" };
        say(&mut reasons, Weight::Caution, format!("the message {now} variable"));
    }
    checksum::compare(before, after, &mut reasons);
    for side in [Side::OldToNew, Side::NewToOld] {
        let (sent, read) = side.order(before, after);
        Direction::new(side, old, new, &mut reasons).messages(sent, read);
    }
    sizes(before, after, &mut reasons);
    let worst = reasons.iter().map(|reason| reason.weight).max();
    let verdict = match worst {
        Some(Weight::Break) => Verdict::Broken,
        None | Some(Weight::Note) if before.sizes == after.sizes => Verdict::Same,
        _ => Verdict::Compatible,
    };
    MessageDiff { name, id, verdict, reasons }
}

/// Framings without a length take the size from the schema.
fn sizes(old: &Message, new: &Message, reasons: &mut Vec<Reason>) {
    let (before, after) = (old.sizes.max, new.sizes.max);
    if before == after {
        return;
    }
    let words =
        format!("{before} bytes became {after}: profiles without a length (Sensor, IPC) cannot mix old and new");
    say(reasons, Weight::Caution, words);
    if before <= 255 && after > 255 {
        say(reasons, Weight::Caution, "a full payload no longer fits the Standard profile (255 bytes)".to_owned());
    }
}

/// Who sends and who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    OldToNew,
    NewToOld,
}

impl Side {
    /// What the sender has and what the reader has, in the order old, new.
    fn order<T>(self, sender: T, reader: T) -> (T, T) {
        match self {
            Self::OldToNew => (sender, reader),
            Self::NewToOld => (reader, sender),
        }
    }

    const fn reader(self) -> &'static str {
        match self {
            Self::OldToNew => "new",
            Self::NewToOld => "old",
        }
    }
}

/// Adds a reason; what both directions say is said once.
fn say(reasons: &mut Vec<Reason>, weight: Weight, words: String) {
    let reason = Reason { weight, words };
    if !reasons.contains(&reason) {
        reasons.push(reason);
    }
}
