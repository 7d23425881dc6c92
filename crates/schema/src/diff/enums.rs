//! Enum values never change bytes, but they can change their meaning.

use super::Weight;
use super::payload::Direction;
use crate::layout::{Enum, EnumIndex};

impl Direction<'_> {
    /// What the reader calls the numbers that the sender has names for.
    pub(super) fn enums(&mut self, sent: EnumIndex, read: EnumIndex) {
        if !self.enums_seen.insert((sent, read)) {
            return;
        }
        let (sent, read) = (&self.sender[sent], &self.reader[read]);
        let (old, new) = self.side.order(sent, read);
        let has = |of: &Enum, name: &str| of.values.iter().any(|value| value.name == name);
        let mut found = Vec::new();
        for value in &sent.values {
            let (name, number) = (value.name.as_str(), value.number);
            if read.values.iter().any(|other| other.name == name && other.number == number) {
                continue;
            }
            // An alias that the reader lacks: the number still has a name that both know.
            let known = sent.values.iter().filter(|other| other.number == number);
            if known.clone().any(|other| read.name_of(number) == Some(&other.name)) {
                continue;
            }
            let moved = read.values.iter().find(|other| other.name == name);
            let (weight, words) = match (moved, read.name_of(number)) {
                (Some(moved), _) => {
                    let (before, after) = self.side.order(number, moved.number);
                    (Weight::Break, format!("`{name}` was {before} and is now {after}"))
                }
                (None, Some(other)) if has(sent, other) || sent.name != read.name => {
                    let (before, after) = self.side.order(name, other);
                    (Weight::Break, format!("{number} was `{before}` and is now `{after}`"))
                }
                (None, Some(other)) => {
                    let (before, after) = self.side.order(name, other);
                    (Weight::Note, format!("`{before}` ({number}) is now called `{after}`"))
                }
                (None, None) if self.side.reader() == "new" => {
                    (Weight::Caution, format!("`{name}` ({number}) was removed: newer peers see a bare number"))
                }
                (None, None) => (Weight::Note, format!("`{name}` ({number}) was added")),
            };
            found.push((weight, words));
        }
        let title = if old.name == new.name {
            format!("enum `{}`", new.name)
        } else {
            format!("enum `{}`, now `{}`", old.name, new.name)
        };
        for (weight, words) in found {
            self.say(weight, format!("{title}: {words}"));
        }
    }
}
