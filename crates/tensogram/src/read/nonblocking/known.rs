//! What was learnt of a file so far: where its messages are, and what they say about themselves.

use crate::access::{MessageIndex, ObjectHead};
use crate::describe::GlobalMetadata;
use crate::frame::Directory;
use crate::frame::scan::{ScanDirection, ScanOptions, Scanner};
use crate::read::TensogramFile;
use crate::read::file::KnownMessage;
use fw_bytes::{Limits, Span};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// How it is known which messages there are.
#[derive(Debug)]
pub(super) enum Messages {
    /// By scans of a source that stays what it is.
    Scanned(Box<futures_util::lock::Mutex<Scans>>),
    /// By a local file, which may change.
    Followed(Arc<TensogramFile>),
}

/// Scans that go on where they stopped: from the start, from the end, from both ends.
#[derive(Debug)]
pub(super) struct Scans {
    forward: Scanner,
    backward: Scanner,
    both: Scanner,
    /// Every message, once a scan has met its end.
    pub(super) all: Option<Arc<[Span]>>,
}

impl Scans {
    pub(super) fn new(len: u64, options: ScanOptions) -> Self {
        let scanner = |direction| Scanner::new(len, ScanOptions { direction, ..options });
        Self {
            forward: scanner(ScanDirection::Forward),
            backward: scanner(ScanDirection::Backward),
            both: scanner(ScanDirection::Bidirectional),
            all: None,
        }
    }

    /// The message, if it is known; `Err` when it is known that there are fewer.
    pub(super) fn find(&self, message: MessageIndex) -> Result<Option<Span>, usize> {
        if let Some(all) = &self.all {
            let span = message.position(all.len()).and_then(|position| all.get(position));
            return span.map_or(Err(all.len()), |span| Ok(Some(*span)));
        }
        let span = match message {
            MessageIndex::FromStart(index) => self.forward.front().get(index).or_else(|| self.both.front().get(index)),
            MessageIndex::FromEnd(index) => self.backward.back().get(index).or_else(|| self.both.back().get(index)),
        };
        Ok(span.copied())
    }

    /// The scan that finds it soonest. Near the start a scan from both ends would ask the far end for nothing.
    pub(super) fn scanner(&mut self, message: Option<MessageIndex>) -> &mut Scanner {
        match message {
            Some(MessageIndex::FromStart(index)) if index < NEAR => &mut self.forward,
            Some(MessageIndex::FromEnd(_)) => &mut self.backward,
            _ => &mut self.both,
        }
    }

    /// About how many rounds the scan still takes: two messages each from both ends, one from one end.
    pub(super) fn rounds_left(&mut self, message: Option<MessageIndex>) -> u64 {
        let scanner = self.scanner(message);
        let to_all = scanner.expected() / 2;
        match message {
            None => to_all,
            Some(MessageIndex::FromStart(index)) => to_all.min(index.saturating_sub(scanner.front().len()) as u64),
            Some(MessageIndex::FromEnd(index)) => {
                scanner.expected().min(index.saturating_sub(scanner.back().len()) as u64)
            }
        }
    }

    /// Keeps the list of a scan that met its end.
    pub(super) fn settle(&mut self, message: Option<MessageIndex>) {
        let scanner = self.scanner(message);
        if scanner.is_done() {
            let all = scanner.front().iter().chain(scanner.back().iter().rev()).copied().collect();
            self.all = Some(all);
        }
    }
}

/// What the messages looked at so far say about themselves; payloads are never kept.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    by_span: HashMap<Span, Layout>,
    /// The state of the file in which all of this was learnt.
    version: u64,
}

/// One message.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The limits under which all of it was read: under others the answers may be others.
    limits: Limits,
    pub(super) directory: Option<Arc<Directory>>,
    pub(super) metadata: Option<Arc<GlobalMetadata>>,
    /// Whether the digest of the metadata was compared.
    pub(super) metadata_verified: bool,
    pub(super) heads: BTreeMap<usize, Arc<ObjectHead>>,
}

impl Layouts {
    /// What was learnt of a message under these limits.
    pub(super) fn of(&self, message: KnownMessage, limits: &Limits) -> Layout {
        let known = self.by_span.get(&message.span).filter(|_| message.version == self.version);
        known.filter(|layout| layout.limits == *limits).cloned().unwrap_or_default()
    }

    /// Keeps what was learnt under these limits, unless the file has changed since.
    pub(super) fn learn(&mut self, message: KnownMessage, limits: &Limits, learn: impl FnOnce(&mut Layout)) {
        if message.version < self.version {
            return;
        }
        let is_full = self.by_span.len() >= MOST_LAYOUTS && !self.by_span.contains_key(&message.span);
        if message.version > self.version || is_full {
            // Rather ask again than hold the headers of a file without end.
            self.by_span.clear();
            self.version = message.version;
        }
        let layout = self.by_span.entry(message.span).or_default();
        if layout.limits != *limits {
            *layout = Layout { limits: *limits, ..Layout::default() };
        }
        learn(layout);
    }
}

/// Messages this close to the start are looked for from there only.
const NEAR: usize = 16;
/// Messages whose layout is kept.
const MOST_LAYOUTS: usize = 4096;
