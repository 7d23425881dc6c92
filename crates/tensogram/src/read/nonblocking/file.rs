//! A file of messages behind an awaited source: which messages there are.

use super::known::{Layouts, Messages, Scans};
use crate::access::MessageIndex;
use crate::error::{Fault, Result, TensogramError};
use crate::frame::scan::ScanOptions;
use crate::read::TensogramFile;
use crate::read::file::KnownMessage;
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use fw_bytes::{Span, Step};
use fw_source::Buffers;
use fw_source::nonblocking::{AsyncFile, AsyncReadAt, Kept, fetch, off_runtime};
use fw_source::plan::reads_whole;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A file of messages that is awaited: in a store, or on a disk. Cheap to clone; clones share what was learnt.
///
/// Messages are named by [`MessageIndex`], or by a number counted from zero. Nothing is read that was not asked for: a
/// message is found by hopping from one to the next (from both ends at once when it is far from the start), an object
/// through the index of its message, and a part of an object by the bytes its codec needs. Decoding runs off the runtime.
///
/// A local file is what [`TensogramFile`] says it is, at every call: followed while it grows, scanned again when it was cut
/// short or changed. An object in a store is one version of it, and never changes.
#[derive(Clone)]
pub struct AsyncTensogramFile {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) source: Kept,
    name: String,
    messages: Messages,
    pub(super) layouts: Mutex<Layouts>,
}

impl fmt::Debug for AsyncTensogramFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncTensogramFile").field("name", &self.inner.name).finish_non_exhaustive()
    }
}

impl AsyncTensogramFile {
    /// Opens a local file; nothing is read yet.
    ///
    /// # Errors
    /// `Io` when there is no such regular file; the message names the path.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let file = off_runtime(move || TensogramFile::open(path)).await?;
        Ok(Self::following(Arc::new(file)))
    }

    /// The same messages as `file` has, awaited; both share one handle and what is known of the file.
    pub fn following(file: Arc<TensogramFile>) -> Self {
        let name = file.path().display().to_string();
        let source: Arc<dyn AsyncReadAt> = match file.source() {
            Ok(source) => Arc::new(AsyncFile::new(Arc::clone(source))),
            Err(mapped) => Arc::new(mapped),
        };
        let messages = Messages::Followed(file);
        Self { inner: Arc::new(Inner { source: Kept::new(source), name, messages, layouts: Mutex::default() }) }
    }

    /// Reads from any awaited source; `name` is for error messages.
    ///
    /// # Errors
    /// `Io` when the source cannot be asked for its length.
    pub async fn new(source: Arc<dyn AsyncReadAt>, name: impl Into<String>, options: ScanOptions) -> Result<Self> {
        let len = source.total_len().await?;
        let messages = Messages::Scanned(Box::new(futures_util::lock::Mutex::new(Scans::new(len, options))));
        let inner = Inner { source: Kept::new(source), name: name.into(), messages, layouts: Mutex::default() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Number of messages; scans the whole file.
    ///
    /// # Errors
    /// `Io` or `Remote` when it cannot be read.
    pub async fn message_count(&self) -> Result<usize> {
        Ok(self.all_messages().await?.len())
    }

    /// The local file that is followed, if it is one.
    pub(crate) fn local(&self) -> Option<&Arc<TensogramFile>> {
        match &self.inner.messages {
            Messages::Followed(file) => Some(file),
            Messages::Scanned(_) => None,
        }
    }

    /// Where every message is; scans the whole file, from both ends at once.
    ///
    /// # Errors
    /// `Io` or `Remote` when it cannot be read.
    pub async fn message_layouts(&self) -> Result<Vec<Span>> {
        Ok(self.all_messages().await?.to_vec())
    }

    /// Where one message is, looking no further than needed.
    ///
    /// # Errors
    /// `Framing` when there are fewer; `Io` or `Remote` when the file cannot be read.
    pub async fn message_span(&self, message: impl Into<MessageIndex>) -> Result<Span> {
        Ok(self.known(message.into()).await?.span)
    }

    /// The bytes of every message, in order, each fetched when it is asked for.
    pub fn read_messages(&self) -> impl Stream<Item = Result<Bytes>> + Send + 'static {
        let state = Some((self.clone(), 0usize));
        stream::unfold(state, |state| async move {
            let (file, index) = state?;
            match file.read_message(index).await {
                Ok(bytes) => Some((Ok(bytes), Some((file, index.saturating_add(1))))),
                Err(error) if error.code() == "message_index_out_of_range" => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    pub(super) async fn known(&self, message: MessageIndex) -> Result<KnownMessage> {
        let scans = match &self.inner.messages {
            Messages::Scanned(scans) => scans,
            Messages::Followed(file) => {
                let file = Arc::clone(file);
                return off_runtime(move || file.known(message)).await;
            }
        };
        let mut scans = scans.lock().await;
        loop {
            match scans.find(message) {
                Ok(Some(span)) => return Ok(KnownMessage { span, version: 0 }),
                Ok(None) => self.advance(&mut scans, Some(message)).await?,
                Err(count) => {
                    let text = format!("{message} does not exist: {} has {count}", self.inner.name);
                    return Err(TensogramError::Framing(Fault::misuse("message_index_out_of_range", text)));
                }
            }
        }
    }

    async fn all_messages(&self) -> Result<Arc<[Span]>> {
        let scans = match &self.inner.messages {
            Messages::Scanned(scans) => scans,
            Messages::Followed(file) => {
                let file = Arc::clone(file);
                return off_runtime(move || Ok(file.message_layouts()?.into())).await;
            }
        };
        let mut scans = scans.lock().await;
        loop {
            if let Some(all) = &scans.all {
                return Ok(Arc::clone(all));
            }
            self.advance(&mut scans, None).await?;
        }
    }

    /// One scan goes on until the message is found, or the end is.
    async fn advance(&self, scans: &mut Scans, message: Option<MessageIndex>) -> Result<()> {
        let mut buffers = Buffers::new();
        let mut found = 0;
        loop {
            let scanner = scans.scanner(message);
            if scanner.is_done() {
                break;
            }
            match scanner.step(&buffers) {
                Step::Done(()) => {
                    let now = scanner.front().len().saturating_add(scanner.back().len());
                    if now > found && message.is_some_and(|message| matches!(scans.find(message), Ok(Some(_)))) {
                        break;
                    }
                    found = now;
                }
                Step::Need(spans) => {
                    if buffers.len() > MOST_SCANNED {
                        buffers = Buffers::new();
                    }
                    let (source, rounds) = (&self.inner.source, scans.rounds_left(message));
                    let len = source.total_len().await?;
                    if reads_whole(len, rounds, &source.cost()) {
                        source.keep().await?;
                    }
                    fetch(source, &mut buffers, spans).await?;
                }
            }
        }
        scans.settle(message);
        Ok(())
    }
}

/// Bytes held while scanning.
const MOST_SCANNED: usize = 4 << 20;
