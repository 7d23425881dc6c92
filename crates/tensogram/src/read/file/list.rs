//! Which messages a file holds: found once, and again where the file changed.

use super::scan::scan_from;
use crate::access::ObjectHead;
use crate::error::Result;
use crate::frame::Directory;
use crate::frame::scan::ScanOptions;
use fw_bytes::Span;
use fw_source::FileSource;
use std::sync::Arc;
use std::time::SystemTime;

/// The messages known so far, and in which state of the file they were found.
#[derive(Debug, Default)]
pub(super) struct List {
    spans: Vec<Span>,
    seen: Option<Seen>,
    /// The most bytes the file ever had.
    longest: u64,
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
        Self { spans, seen: Some(Seen { len, modified: None }), longest: len, recent: Recent::default() }
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
            Some(seen) if seen.len < now.len => {
                let behind = self.spans.last().map_or(0, |span| span.end);
                scan_from(source, behind, now.len, &ScanOptions::default(), &mut self.spans)?;
            }
            _ => {
                self.recent = Recent::default();
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
}
