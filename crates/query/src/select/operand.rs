//! What a value is held against: alternatives (`2t`, `10*`, `"a/b"`, `0..12`) and bounds (`<= 12`).

use crate::glob::{self, Token};
use crate::{Number, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

/// One alternative of `key=a/b/c`.
#[derive(Clone, Debug)]
pub(super) struct Alternative {
    /// As it was written. Unquoted, it always matches the value with exactly this text, whatever else it means.
    pub(super) written: String,
    pub(super) quoted: bool,
    pub(super) kind: Kind,
}

/// What an alternative means.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Exact(String),
    Number(Number),
    Pattern(Vec<Token>),
    /// Both ends belong to it.
    Range {
        low: Option<Bound>,
        high: Option<Bound>,
    },
}

/// The operand of an order comparison, or an end of a range.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Number(Number),
    Text(String),
}

impl Bound {
    pub(super) fn parse(text: String, quoted: bool) -> Self {
        match Number::parse(&text).filter(|_| !quoted) {
            Some(number) => Self::Number(number),
            None => Self::Text(text),
        }
    }

    /// How `value` compares with the bound; `None` where the two are of different kinds.
    pub(super) fn order_of(&self, value: &Value<'_>) -> Option<Ordering> {
        match (self, value) {
            // Some tools store every value as text, so text that reads as a number is ordered as one.
            (Self::Number(bound), Value::Text(text)) => Number::parse(text)?.partial_cmp(bound),
            (Self::Number(bound), value) => value.number()?.partial_cmp(bound),
            (Self::Text(bound), Value::Text(text)) => Some(text.as_ref().cmp(bound)),
            (Self::Text(_), _) => None,
        }
    }
}

impl Alternative {
    pub(super) fn matches(&self, value: &Value<'_>) -> bool {
        match (&self.kind, value) {
            (Kind::Range { low, high }, value) => {
                let above = low.as_ref().is_none_or(|low| low.order_of(value).is_some_and(Ordering::is_ge));
                let below = high.as_ref().is_none_or(|high| high.order_of(value).is_some_and(Ordering::is_le));
                (above && below) || self.is_written_as(value)
            }
            (Kind::Number(number), Value::Integer(_) | Value::Float(_)) => value.number() == Some(*number),
            // The text of an integer is always a number; other text needs no rendering to differ from it.
            (Kind::Exact(_), Value::Integer(_)) if !self.quoted => false,
            (Kind::Number(_), value) => self.is_written_as(value),
            (Kind::Exact(exact), value) => text_of(value) == *exact || self.is_written_as(value),
            (Kind::Pattern(pattern), value) => glob::matches(pattern, &text_of(value)) || self.is_written_as(value),
        }
    }

    /// Arrays and maps are held against what was written even with quotes inside (`["a","b"]`), with blanks or without.
    fn is_written_as(&self, value: &Value<'_>) -> bool {
        match value {
            Value::Array(_) | Value::Map(_) => {
                let text = value.to_text();
                text == self.written || text == self.written.split_whitespace().collect::<String>()
            }
            value => !self.quoted && text_of(value) == self.written,
        }
    }
}

fn text_of<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_text()),
    }
}
