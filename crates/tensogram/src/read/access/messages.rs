//! Where the messages of a source are (TG-13).

use super::Access;
use crate::error::Result;
use crate::frame::Lookup;
use crate::frame::scan::{ScanDirection, ScanOptions, Scanner};
use fw_bytes::{Span, Step};
use std::fmt;

/// Every message, in order.
impl Access for Scanner {
    type Output = Vec<Span>;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Self::Output>> {
        Self::poll(self, have)
    }
}

/// Which message is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// The message with this index, counted from zero.
    FromStart(u64),
    /// The message with this index from the end: zero is the last one.
    FromEnd(u64),
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromStart(index) => write!(f, "message {index}"),
            Self::FromEnd(index) => write!(f, "message {index} from the end"),
        }
    }
}

impl From<u64> for Wanted {
    fn from(index: u64) -> Self {
        Self::FromStart(index)
    }
}

impl From<usize> for Wanted {
    fn from(index: usize) -> Self {
        Self::FromStart(index as u64)
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
    wanted: Wanted,
}

impl FindMessage {
    /// Looks in a source of `len` bytes.
    pub fn new(len: u64, wanted: Wanted, options: ScanOptions) -> Self {
        let direction = match wanted {
            Wanted::FromEnd(_) => ScanDirection::Backward,
            Wanted::FromStart(_) => options.direction,
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
        let pick = |list: &[Span], index: u64| usize::try_from(index).ok().and_then(|index| list.get(index)).copied();
        match self.wanted {
            Wanted::FromStart(index) => pick(front, index),
            Wanted::FromEnd(index) => pick(back, index),
        }
    }

    /// The same once both ends have met.
    fn at_last(&self) -> Option<Span> {
        let count = self.count()?;
        let index = match self.wanted {
            Wanted::FromStart(index) => Some(index),
            Wanted::FromEnd(index) => count.checked_sub(index)?.checked_sub(1),
        };
        let (front, back) = self.found();
        let index = usize::try_from(index?).ok()?;
        front.get(index).or_else(|| back.iter().rev().nth(index.checked_sub(front.len())?)).copied()
    }
}

/// The message, or `None` when there are fewer.
impl Access for FindMessage {
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
