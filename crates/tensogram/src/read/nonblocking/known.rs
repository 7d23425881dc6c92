//! What was learnt of a file so far: where its messages are, and what they say about themselves.

use crate::describe::GlobalMetadata;
use crate::frame::Directory;
use crate::frame::scan::{ScanDirection, ScanOptions, Scanner};
use crate::read::TensogramFile;
use crate::read::access::{ObjectHead, Wanted};
use crate::read::file::Place;
use fw_bytes::Span;
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
    pub(super) fn find(&self, wanted: Wanted) -> Result<Option<Span>, usize> {
        if let Some(all) = &self.all {
            let place = match wanted {
                Wanted::FromStart(index) => usize::try_from(index).ok(),
                Wanted::FromEnd(index) => {
                    usize::try_from(index).ok().and_then(|i| all.len().checked_sub(i)?.checked_sub(1))
                }
            };
            return place.and_then(|place| all.get(place)).map_or(Err(all.len()), |span| Ok(Some(*span)));
        }
        let pick = |list: &[Span], index: u64| usize::try_from(index).ok().and_then(|index| list.get(index)).copied();
        Ok(match wanted {
            Wanted::FromStart(i) => pick(self.forward.front(), i).or_else(|| pick(self.both.front(), i)),
            Wanted::FromEnd(i) => pick(self.backward.back(), i).or_else(|| pick(self.both.back(), i)),
        })
    }

    /// The scan that finds it soonest. Near the start a scan from both ends would ask the far end for nothing.
    pub(super) fn scanner(&mut self, wanted: Option<Wanted>) -> &mut Scanner {
        match wanted {
            Some(Wanted::FromStart(index)) if index < NEAR => &mut self.forward,
            Some(Wanted::FromEnd(_)) => &mut self.backward,
            _ => &mut self.both,
        }
    }

    /// Keeps the list of a scan that met its end.
    pub(super) fn settle(&mut self, wanted: Option<Wanted>) {
        let scanner = self.scanner(wanted);
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
    pub(super) directory: Option<Arc<Directory>>,
    pub(super) metadata: Option<Arc<GlobalMetadata>>,
    pub(super) heads: BTreeMap<usize, Arc<ObjectHead>>,
}

impl Layouts {
    pub(super) fn of(&self, message: Place) -> Layout {
        let known = self.by_span.get(&message.span).filter(|_| message.version == self.version);
        known.cloned().unwrap_or_default()
    }

    /// Keeps what was learnt, unless the file has changed since.
    pub(super) fn learn(&mut self, message: Place, learn: impl FnOnce(&mut Layout)) {
        if message.version < self.version {
            return;
        }
        let is_full = self.by_span.len() >= MOST_LAYOUTS && !self.by_span.contains_key(&message.span);
        if message.version > self.version || is_full {
            // Rather ask again than hold the headers of a file without end.
            self.by_span.clear();
            self.version = message.version;
        }
        learn(self.by_span.entry(message.span).or_default());
    }
}

/// Messages this close to the start are looked for from there only.
const NEAR: u64 = 16;
/// Messages whose layout is kept.
const MOST_LAYOUTS: usize = 4096;
