//! Which messages a file holds: found once, and again where the file changed.

use super::inside::sort_out;
use super::scan::scan_from;
use super::unfinished::is_unfinished;
use crate::access::{MessageIndex, ObjectHead};
use crate::error::Result;
use crate::frame::Directory;
use crate::frame::scan::ScanOptions;
use crate::wire::{END_MAGIC, MAGIC};
use fw_bytes::{Limits, Span};
use fw_source::{FileSource, ReadAt};
use std::sync::Arc;
use std::time::SystemTime;

/// The messages known so far, and in which state of the file they were found.
#[derive(Debug, Default)]
pub(super) struct List {
    spans: Vec<Span>,
    /// Whole messages inside one that was never finished: part of its payload, and none of the file's.
    inside: Vec<Span>,
    seen: Option<Seen>,
    /// Goes up whenever the file is found changed: what was learnt before may no longer hold.
    version: u64,
    /// The most bytes the file ever had.
    longest: u64,
    /// Messages that stay what they are however the file grows.
    settled: usize,
    recent: Recent,
}

// What is kept per message, even when the list has just doubled its room.
const _: () = assert!(2 * size_of::<Span>() <= 32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    len: u64,
    modified: Option<SystemTime>,
}

/// Where a message is, in one state of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownMessage {
    pub(crate) span: Span,
    /// Counts the states of the file.
    pub(crate) version: u64,
}

/// What was last read of one message: the next read is likely to want the same.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The first bytes of the file, which the scan has read; they serve once.
    pub(super) beginning: Option<Vec<u8>>,
    /// Which message, and the limits under which it was read: under others the answer may be another.
    of: Option<(Span, Limits)>,
    pub(super) directory: Option<Arc<Directory>>,
    pub(super) head: Option<Arc<ObjectHead>>,
}

impl List {
    /// A list that never changes.
    #[cfg(feature = "mmap")]
    pub(super) fn fixed(spans: Vec<Span>, inside: Vec<Span>, len: u64) -> Self {
        let seen = Some(Seen { len, modified: None });
        Self { spans, inside, seen, longest: len, ..Self::default() }
    }

    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Bytes of the file when it was last looked at.
    pub(super) fn seen_len(&self) -> Option<u64> {
        self.seen.map(|seen| seen.len)
    }

    /// Whole messages that stand inside one that was never finished.
    pub(super) fn inside(&self) -> &[Span] {
        &self.inside
    }

    /// Where a message is.
    pub(super) fn find(&self, message: MessageIndex) -> Option<KnownMessage> {
        let span = *self.spans.get(message.position(self.spans.len())?)?;
        Some(KnownMessage { span, version: self.version })
    }

    /// What was last read of a message under these limits, to be used and added to; nothing when the file has changed
    /// since the message was found.
    pub(super) fn recent(&mut self, message: KnownMessage, limits: &Limits) -> Option<&mut Recent> {
        if self.version != message.version {
            return None;
        }
        let of = Some((message.span, *limits));
        if self.recent.of != of {
            self.recent = Recent { of, beginning: self.recent.beginning.take(), ..Recent::default() };
        }
        Some(&mut self.recent)
    }

    /// The first bytes of the file, once.
    pub(super) const fn take_beginning(&mut self) -> Option<Vec<u8>> {
        self.recent.beginning.take()
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        *self = Self { version: self.version.saturating_add(1), ..Self::default() };
    }

    /// Bytes the file had at most, and has now, when it became shorter.
    pub(super) fn shrunk(&self) -> Option<(u64, u64)> {
        self.seen.filter(|seen| seen.len < self.longest).map(|seen| (self.longest, seen.len))
    }

    /// Looks at what changed since the last time: nothing, bytes that were added, or everything.
    pub(super) fn refresh(&mut self, source: &FileSource) -> Result<()> {
        let metadata = source.file().metadata()?;
        let now = Seen { len: metadata.len(), modified: metadata.modified().ok() };
        match self.seen {
            Some(seen) if seen == now => return Ok(()),
            Some(seen) if seen.len < now.len && self.last_is_there(source)? => {
                self.change();
                self.settle(source, seen.len)?;
                self.spans.truncate(self.settled);
                let behind = self.spans.last().map_or(0, |span| span.end);
                let mut found = Vec::new();
                scan_from(source, behind, now.len, &ScanOptions::default(), &mut found)?;
                self.inside.retain(|span| span.end <= behind);
                self.inside.extend(sort_out(source, Span::new(behind, now.len), &mut found)?);
                self.spans.append(&mut found);
            }
            _ => {
                self.change();
                self.settled = 0;
                let mut spans = Vec::new();
                let beginning = scan_from(source, 0, now.len, &ScanOptions::default(), &mut spans)?;
                self.inside = sort_out(source, Span::new(0, now.len), &mut spans)?;
                spans.shrink_to_fit();
                self.spans = spans;
                self.recent.beginning = Some(beginning).filter(|bytes| !bytes.is_empty());
            }
        }
        self.longest = self.longest.max(now.len);
        self.seen = Some(now);
        Ok(())
    }

    /// Notes that the file is not what it was.
    fn change(&mut self) {
        self.version = self.version.saturating_add(1);
        self.recent = Recent::default();
    }

    /// Whether the last message still begins and ends where it did: else the file was not added to, but written anew.
    fn last_is_there(&self, source: &FileSource) -> Result<bool> {
        let Some(last) = self.spans.last() else { return Ok(true) };
        let (mut first, mut end) = ([0; MAGIC.len()], [0; END_MAGIC.len()]);
        source.read_exact_at(last.start, &mut first)?;
        source.read_exact_at(last.end.saturating_sub(END_MAGIC.len() as u64), &mut end)?;
        Ok(first == *MAGIC && end == *END_MAGIC)
    }

    /// Finds the messages that stay what they are, now that the file has more than `len` bytes: those before a message that
    /// was being written. What was found behind the beginning of one may have been part of its payload.
    fn settle(&mut self, source: &FileSource, len: u64) -> Result<()> {
        let settled = self.spans.get(..self.settled).unwrap_or_default();
        let mut behind = settled.last().map_or(0, |span| span.end);
        for span in self.spans.get(self.settled..).unwrap_or_default() {
            if behind < span.start && is_unfinished(source, behind, len)? {
                break;
            }
            behind = span.end;
            self.settled += 1;
        }
        Ok(())
    }
}
