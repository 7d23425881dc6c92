//! A file of messages behind an awaited source.

use super::known::{Layout, Layouts, Messages, Scans};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::{Fault, Result, TensogramError};
use crate::frame::Directory;
use crate::frame::scan::ScanOptions;
use crate::read::access::{
    Access, ObjectHead, ReadDirectory, ReadFrame, ReadHead, ReadMetadata, ReadRanges, ReadSlice, Wanted,
};
use crate::read::file::Place;
use crate::read::{DecodeOptions, DecodedObject, TensogramFile, decode};
use bytes::Bytes;
use futures_util::future::try_join_all;
use futures_util::stream::{self, Stream};
use fw_bytes::{Span, Step};
use fw_source::Buffers;
use fw_source::nonblocking::{AsyncFile, AsyncReadAt, drive_async, fetch, off_runtime};
use fw_tensor::{Selection, TensorBuf};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file of messages that is awaited: in a store, or on a disk. Cheap to clone; clones share what was learnt.
///
/// Messages are named by [`Wanted`], or by a number counted from zero. Nothing is read that was not asked for: a message
/// is found by hopping from one to the next (from both ends at once when it is far from the start), an object through the
/// index of its message, and a part of an object by the bytes its codec needs. Decoding runs off the runtime.
///
/// A local file is what [`TensogramFile`] says it is, at every call: followed while it grows, scanned again when it was cut
/// short or changed. An object in a store is one version of it, and never changes.
#[derive(Clone)]
pub struct AsyncTensogramFile {
    inner: Arc<Inner>,
}

struct Inner {
    source: Arc<dyn AsyncReadAt>,
    name: String,
    messages: Messages,
    layouts: Mutex<Layouts>,
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
        Ok(Self::following(TensogramFile::open_async(path).await?))
    }

    /// The same messages as `file` has, awaited; both share one handle and what is known of the file.
    pub fn following(file: Arc<TensogramFile>) -> Self {
        let name = file.path().display().to_string();
        let source: Arc<dyn AsyncReadAt> = match file.source() {
            Ok(source) => Arc::new(AsyncFile::new(Arc::clone(source))),
            Err(mapped) => Arc::new(mapped),
        };
        let messages = Messages::Followed(file);
        Self { inner: Arc::new(Inner { source, name, messages, layouts: Mutex::default() }) }
    }

    /// Reads from any awaited source; `name` is for error messages.
    ///
    /// # Errors
    /// `Io` when the source cannot be asked for its length.
    pub async fn new(source: Arc<dyn AsyncReadAt>, name: impl Into<String>, options: ScanOptions) -> Result<Self> {
        let len = source.total_len().await.map_err(told)?;
        let messages = Messages::Scanned(Box::new(futures_util::lock::Mutex::new(Scans::new(len, options))));
        let inner = Inner { source, name: name.into(), messages, layouts: Mutex::default() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Where every message is; scans the whole file, from both ends at once.
    ///
    /// # Errors
    /// `Io` or `Remote` when it cannot be read.
    pub async fn message_layouts(&self) -> Result<Arc<[Span]>> {
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

    /// Number of messages; scans the whole file.
    ///
    /// # Errors
    /// `Io` or `Remote` when it cannot be read.
    pub async fn message_count(&self) -> Result<usize> {
        Ok(self.message_layouts().await?.len())
    }

    /// Where one message is, looking no further than needed.
    ///
    /// # Errors
    /// `Framing` when there are fewer; `Io` or `Remote` when the file cannot be read.
    pub async fn find(&self, message: impl Into<Wanted>) -> Result<Span> {
        Ok(self.place(message).await?.span)
    }

    async fn place(&self, message: impl Into<Wanted>) -> Result<Place> {
        let wanted = message.into();
        let scans = match &self.inner.messages {
            Messages::Scanned(scans) => scans,
            Messages::Followed(file) => {
                let file = Arc::clone(file);
                return off_runtime(move || file.place(wanted)).await;
            }
        };
        let mut scans = scans.lock().await;
        loop {
            match scans.find(wanted) {
                Ok(Some(span)) => return Ok(Place { span, version: 0 }),
                Ok(None) => self.advance(&mut scans, Some(wanted)).await?,
                Err(count) => {
                    let text = format!("no {wanted}, {} has {count}", self.inner.name);
                    return Err(TensogramError::Framing(Fault::misuse("message_index_out_of_range", text)));
                }
            }
        }
    }

    /// The bytes of one message.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::find`].
    pub async fn read_message(&self, message: impl Into<Wanted>) -> Result<Bytes> {
        let span = self.find(message).await?;
        self.inner.source.read(span).await.map_err(told)
    }

    /// Decodes one message.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::read_message`] and [`decode`]; bytes count from the start of the file.
    pub async fn decode_message(
        &self,
        message: impl Into<Wanted>,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        let span = self.find(message).await?;
        let bytes = self.inner.source.read(span).await.map_err(told)?;
        let options = options.clone();
        off_runtime(move || decode(&bytes, &options).map_err(|error| error.shifted(span.start))).await
    }

    /// The metadata of one message, as a full decode gives it; kept for the next time.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::find`]; framing and metadata faults.
    pub async fn metadata(&self, message: impl Into<Wanted>) -> Result<Arc<GlobalMetadata>> {
        let place = self.place(message).await?;
        if let Some(known) = self.layout(place).metadata {
            return Ok(known);
        }
        let metadata = Arc::new(self.run(ReadMetadata::new(place.span, Default::default())).await?);
        self.lock().learn(place, |layout| layout.metadata = Some(Arc::clone(&metadata)));
        Ok(metadata)
    }

    /// Where the objects of one message are; kept for the next time. Positions count from the start of the message.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::find`]; framing faults.
    pub async fn directory(&self, message: impl Into<Wanted>) -> Result<Arc<Directory>> {
        let place = self.place(message).await?;
        self.directory_at(place).await
    }

    /// What one object is and where its parts are; kept for the next time.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::find`]; `Object` when there are fewer; framing and metadata faults.
    pub async fn object_head(&self, message: impl Into<Wanted>, object: usize) -> Result<Arc<ObjectHead>> {
        let place = self.place(message).await?;
        self.head_at(place, object).await
    }

    /// The descriptors of all objects of one message, without their payloads.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`].
    pub async fn descriptors(&self, message: impl Into<Wanted>) -> Result<Vec<DataObjectDescriptor>> {
        let heads = self.object_heads(message).await?;
        Ok(heads.iter().map(|head| head.descriptor.clone()).collect())
    }

    /// The heads of all objects of one message, fetched side by side.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`].
    pub async fn object_heads(&self, message: impl Into<Wanted>) -> Result<Vec<Arc<ObjectHead>>> {
        let place = self.place(message).await?;
        let count = self.directory_at(place).await?.objects.len();
        try_join_all((0..count).map(|object| self.head_at(place, object))).await
    }

    /// Decodes one object; only its frame is fetched, and the index of its message unless that is known.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`]; digest and codec faults.
    pub async fn decode_object(
        &self,
        message: impl Into<Wanted>,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<DecodedObject> {
        let place = self.place(message).await?;
        let mut buffers = Buffers::new();
        let access = match self.layout(place).directory {
            Some(known) => ReadFrame::with_directory(place.span, &known, object, options.limits)?,
            None => ReadFrame::new(place.span, object, options.limits),
        };
        let frame = self.run_in(&mut buffers, access).await?;
        let options = options.clone();
        off_runtime(move || frame.decode(&buffers, &options)).await
    }

    /// Decodes runs of elements of one object, `(first, count)` over the flattened tensor; one buffer per run. Only the
    /// bytes that hold them are fetched, or the blocks of the codec that do.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`]; a run past the end; codecs that cannot be cut.
    pub async fn decode_range(
        &self,
        message: impl Into<Wanted>,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
        let head = self.object_head(message, object).await?;
        let access = ReadRanges::new(ObjectHead::clone(&head), ranges, options)?;
        let spans = access.needs().to_vec();
        let parts = self.run_off(access, spans).await?;
        Ok((head.descriptor.clone(), parts))
    }

    /// Decodes an N-dimensional part of one object; only the bytes its codec needs are fetched.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`]; a selection that does not fit; codec faults.
    pub async fn slice(
        &self,
        message: impl Into<Wanted>,
        object: usize,
        selection: &Selection,
        options: &DecodeOptions,
    ) -> Result<TensorBuf> {
        let head = self.object_head(message, object).await?;
        let access = ReadSlice::new(ObjectHead::clone(&head), selection.clone(), options)?;
        let spans = access.needs().to_vec();
        self.run_off(access, spans).await
    }

    /// The same runs of elements of one object of many messages, with the requests of all of them side by side.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::decode_range`], for the first message that fails.
    pub async fn decode_range_batch(
        &self,
        messages: &[Wanted],
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Vec<Vec<Vec<u8>>>> {
        let reads = messages.iter().map(|message| async move {
            Ok::<_, TensogramError>(self.decode_range(*message, object, ranges, options).await?.1)
        });
        try_join_all(reads).await
    }

    /// The bytes of every message, in order, each fetched when it is asked for.
    pub fn messages(&self) -> impl Stream<Item = Result<Bytes>> + Send + 'static {
        let state = Some((self.clone(), 0u64));
        stream::unfold(state, |state| async move {
            let (file, index) = state?;
            match file.read_message(Wanted::FromStart(index)).await {
                Ok(bytes) => Some((Ok(bytes), Some((file, index.saturating_add(1))))),
                Err(error) if error.code() == "message_index_out_of_range" => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn directory_at(&self, place: Place) -> Result<Arc<Directory>> {
        if let Some(known) = self.layout(place).directory {
            return Ok(known);
        }
        let directory = Arc::new(self.run(ReadDirectory::new(place.span, Default::default())).await?);
        self.lock().learn(place, |layout| layout.directory = Some(Arc::clone(&directory)));
        Ok(directory)
    }

    async fn head_at(&self, place: Place, object: usize) -> Result<Arc<ObjectHead>> {
        let layout = self.layout(place);
        if let Some(known) = layout.heads.get(&object) {
            return Ok(Arc::clone(known));
        }
        let directory = self.directory_at(place).await?;
        let access = ReadHead::with_directory(place.span, &directory, object, Default::default())?;
        let head = Arc::new(self.run(access).await?);
        self.lock().learn(place, |layout| drop(layout.heads.insert(object, Arc::clone(&head))));
        Ok(head)
    }

    /// One scan goes on until the message is found, or the end is.
    async fn advance(&self, scans: &mut Scans, wanted: Option<Wanted>) -> Result<()> {
        let mut buffers = Buffers::new();
        let mut found = 0;
        loop {
            let scanner = scans.scanner(wanted);
            if scanner.is_done() {
                break;
            }
            match scanner.step(&buffers) {
                Step::Done(()) => {
                    let now = scanner.front().len().saturating_add(scanner.back().len());
                    if now > found && wanted.is_some_and(|wanted| matches!(scans.find(wanted), Ok(Some(_)))) {
                        break;
                    }
                    found = now;
                }
                Step::Need(spans) => {
                    if buffers.len() > MOST_SCANNED {
                        buffers = Buffers::new();
                    }
                    let missing: Vec<Span> = spans.into_iter().filter(|span| buffers.get(*span).is_none()).collect();
                    fetch(&*self.inner.source, &mut buffers, &missing).await.map_err(told)?;
                }
            }
        }
        scans.settle(wanted);
        Ok(())
    }

    async fn run<A: Access>(&self, access: A) -> Result<A::Output> {
        self.run_in(&mut Buffers::new(), access).await
    }

    async fn run_in<A: Access>(&self, buffers: &mut Buffers, mut access: A) -> Result<A::Output> {
        let run = drive_async::<_, TensogramError>(&*self.inner.source, buffers, |have| access.poll(have));
        run.await.map_err(|error| match error {
            TensogramError::Io(error) => told(error),
            other => other,
        })
    }

    /// Fetches what a part needs, and decodes it off the runtime; a codec may then ask for more.
    async fn run_off<A>(&self, mut access: A, mut spans: Vec<Span>) -> Result<A::Output>
    where
        A: Access + Send + 'static,
        A::Output: Send + 'static,
    {
        let mut buffers = Buffers::new();
        loop {
            fetch(&*self.inner.source, &mut buffers, &spans).await.map_err(told)?;
            let step;
            (access, buffers, step) = off_runtime(move || {
                let step = access.poll(&buffers)?;
                Ok::<_, TensogramError>((access, buffers, step))
            })
            .await?;
            match step {
                Step::Done(value) => return Ok(value),
                Step::Need(more) => spans = more,
            }
        }
    }

    fn layout(&self, message: Place) -> Layout {
        self.lock().of(message)
    }

    fn lock(&self) -> MutexGuard<'_, Layouts> {
        // A panic elsewhere leaves at worst something not learnt.
        self.inner.layouts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error of the source; one of a store keeps its code.
pub(crate) fn told(error: std::io::Error) -> TensogramError {
    #[cfg(feature = "remote")]
    if let Some(remote) = fw_source::remote::RemoteError::of(&error) {
        let fault = Fault::new(crate::error::ErrorKind::Io, remote.code(), remote.to_string());
        return TensogramError::Remote(fault);
    }
    TensogramError::Io(error)
}

/// Bytes held while scanning.
const MOST_SCANNED: usize = 4 << 20;
