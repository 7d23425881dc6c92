//! Which messages a file holds: found once, and again where the file changed.

use super::scan::scan_from;
use super::unfinished::is_unfinished;
use crate::access::ObjectHead;
use crate::error::Result;
use crate::frame::Directory;
use crate::frame::scan::ScanOptions;
use crate::wire::{END_MAGIC, MAGIC};
use fw_bytes::Span;
use fw_source::{FileSource, ReadAt};
use std::sync::Arc;
use std::time::SystemTime;

/// The messages known so far, and in which state of the file they were found.
#[derive(Debug, Default)]
pub(super) struct List {
    spans: Vec<Span>,
    seen: Option<Seen>,
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

/// What was last read of one message: the next read is likely to want the same.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The first bytes of the file, which the scan has read; they serve once.
    pub(super) beginning: Option<Vec<u8>>,
    pub(super) directory: Option<(Span, Arc<Directory>)>,
    pub(super) head: Option<(Span, Arc<ObjectHead>)>,
}

impl List {
    /// A list that never changes.
    #[cfg(feature = "mmap")]
    pub(super) fn fixed(spans: Vec<Span>, len: u64) -> Self {
        let seen = Some(Seen { len, modified: None });
        Self { spans, seen, longest: len, ..Self::default() }
    }

    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    pub(super) const fn recent(&mut self) -> &mut Recent {
        &mut self.recent
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
                self.recent = Recent::default();
                self.settle(source, seen.len)?;
                self.spans.truncate(self.settled);
                let behind = self.spans.last().map_or(0, |span| span.end);
                scan_from(source, behind, now.len, &ScanOptions::default(), &mut self.spans)?;
            }
            _ => {
                self.recent = Recent::default();
                self.settled = 0;
                let mut spans = Vec::new();
                let beginning = scan_from(source, 0, now.len, &ScanOptions::default(), &mut spans)?;
                spans.shrink_to_fit();
                self.spans = spans;
                self.recent.beginning = Some(beginning).filter(|bytes| !bytes.is_empty());
            }
        }
        self.longest = self.longest.max(now.len);
        self.seen = Some(now);
        Ok(())
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
