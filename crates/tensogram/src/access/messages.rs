//! Where the messages of a source are (TG-13).

use super::ReadMachine;
use crate::error::Result;
use crate::frame::Lookup;
use crate::frame::scan::{ScanDirection, ScanOptions, Scanner};
use fw_bytes::{Span, Step};
use std::fmt;

/// Every message, in order.
impl ReadMachine for Scanner {
    type Output = Vec<Span>;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Self::Output>> {
        Self::poll(self, have)
    }
}

/// Which message of a file is meant: a number counts from the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageIndex {
    /// The message with this index, counted from zero.
    FromStart(usize),
    /// The message with this index from the end: zero is the last one.
    FromEnd(usize),
}

impl MessageIndex {
    /// The position in a list of `count` messages, when that has one.
    pub fn position(self, count: usize) -> Option<usize> {
        match self {
            Self::FromStart(index) => Some(index).filter(|index| *index < count),
            Self::FromEnd(index) => count.checked_sub(index)?.checked_sub(1),
        }
    }

    /// The first part of an error path: `message[3]`, or `message[-1]` for the last one.
    pub(crate) fn path(self) -> String {
        match self {
            Self::FromStart(index) => format!("message[{index}]"),
            Self::FromEnd(index) => format!("message[-{}]", index.saturating_add(1)),
        }
    }
}

impl fmt::Display for MessageIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromStart(index) => write!(f, "message {index}"),
            Self::FromEnd(index) => write!(f, "message {index} from the end"),
        }
    }
}

impl From<usize> for MessageIndex {
    fn from(index: usize) -> Self {
        Self::FromStart(index)
    }
}

/// Finds one message and looks no further: the first and the last cost two reads, message `k` costs about `k` from
/// the end it is counted from.
///
/// Unless the options ask for a single direction, a message counted from the start is looked for from both ends, so that
/// at most half of the messages are hopped over one after the other.
#[derive(Clone, Debug)]
pub struct FindMessage {
    scanner: Scanner,
    wanted: MessageIndex,
}

impl FindMessage {
    /// Looks in a source of `len` bytes.
    pub fn new(len: u64, wanted: MessageIndex, options: ScanOptions) -> Self {
        let direction = match wanted {
            MessageIndex::FromEnd(_) => ScanDirection::Backward,
            MessageIndex::FromStart(_) => options.direction,
        };
        Self { scanner: Scanner::new(len, ScanOptions { direction, ..options }), wanted }
    }

    /// What was found on the way: messages from the start, in order, and from the end, the last one first.
    pub fn found(&self) -> (&[Span], &[Span]) {
        (self.scanner.front(), self.scanner.back())
    }

    /// How many messages there are; known only when the whole source was looked at.
    pub fn count(&self) -> Option<u64> {
        let (front, back) = self.found();
        self.scanner.is_done().then_some((front.len() as u64).saturating_add(back.len() as u64))
    }

    fn at(&self) -> Option<Span> {
        let (front, back) = self.found();
        match self.wanted {
            MessageIndex::FromStart(index) => front.get(index).copied(),
            MessageIndex::FromEnd(index) => back.get(index).copied(),
        }
    }

    /// The same once both ends have met.
    fn at_last(&self) -> Option<Span> {
        let (front, back) = self.found();
        let index = self.wanted.position(front.len().saturating_add(back.len()))?;
        front.get(index).or_else(|| back.iter().rev().nth(index.checked_sub(front.len())?)).copied()
    }
}

/// The message, or `None` when there are fewer.
impl ReadMachine for FindMessage {
    type Output = Option<Span>;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Option<Span>>> {
        loop {
            if let Some(found) = self.at() {
                return Ok(Step::Done(Some(found)));
            }
            if self.scanner.is_done() {
                return Ok(Step::Done(self.at_last()));
            }
            if let Step::Need(spans) = self.scanner.step(have) {
                return Ok(Step::Need(spans));
            }
        }
    }
}
