//! Files of messages in object stores (feature `remote`).

use super::access::{ObjectHead, Wanted};
use super::nonblocking::AsyncTensogramFile;
use super::{DecodeOptions, DecodedObject};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::{Result, TensogramError};
use crate::frame::scan::ScanOptions;
use crate::validate::Survey;
use bytes::Bytes;
use futures_util::future::try_join_all;
use fw_bytes::Span;
use fw_source::nonblocking::wait_for;
use fw_source::remote::{StoreOptions, StoreSource, Traffic};
use fw_tensor::{Selection, TensorBuf};
use std::future::Future;
use std::sync::Arc;

/// Opens a file of messages in a store and waits for it: `http(s)`, `s3`, `gs`, `az`, `file` or `memory`.
///
/// # Errors
/// `Remote`: a URL that cannot be understood, no such object, missing credentials, a server that fails.
pub fn open_source(url: &str, options: &StoreOptions) -> Result<RemoteFile> {
    let (url, options) = (url.to_owned(), options.clone());
    wait_for(async move { RemoteFile::open(&url, &options).await })
}

/// How a file in a store is scanned: little is read ahead, and neighbours of the same length are guessed.
pub(crate) fn scan_options() -> ScanOptions {
    ScanOptions { read_ahead: 8 << 10, guesses: 16, ..ScanOptions::default() }
}

impl AsyncTensogramFile {
    /// Opens a file of messages in a store, with one request.
    ///
    /// # Errors
    /// As [`open_source`].
    pub async fn open_url(url: &str, options: &StoreOptions) -> Result<Self> {
        Ok(RemoteFile::open(url, options).await?.file)
    }

    /// What a listing shows of one message: metadata and descriptors, without any payload.
    ///
    /// # Errors
    /// When the file cannot be read. Faults of the message are inside the survey.
    pub async fn survey(&self, message: impl Into<Wanted>) -> Result<Survey> {
        let wanted = message.into();
        let start = self.find(wanted).await?.start;
        let directory = match self.directory(wanted).await {
            Err(error @ (TensogramError::Remote(_) | TensogramError::Io(_))) => return Err(error),
            Err(error) => return Ok(Survey::of_parts(None, Err(error), Vec::new())),
            Ok(directory) => directory,
        };
        let heads = (0..directory.objects.len()).map(|object| async move {
            let head = self.object_head(wanted, object).await.map(|head| ObjectHead::clone(&head));
            match head {
                Err(error @ (TensogramError::Remote(_) | TensogramError::Io(_))) => Err(error),
                told => Ok(told),
            }
        });
        let heads = try_join_all(heads).await?;
        let metadata = match self.metadata(wanted).await {
            Err(error @ (TensogramError::Remote(_) | TensogramError::Io(_))) => return Err(error),
            told => told.map(|metadata| GlobalMetadata::clone(&metadata)),
        };
        let heads = heads.into_iter().map(|head| head.map(|head| head.rebased(start))).collect();
        Ok(Survey::of_parts(Some(directory.preamble), metadata, heads))
    }
}

/// A file of messages in a store, for code that waits. Works on any thread, those of other runtimes included; see
/// [`AsyncTensogramFile`] for what each call costs. Cheap to clone.
///
/// ```
/// use fw_source::remote::{StoreOptions, StoreWriter};
/// use fw_tensogram::{DecodeOptions, MessageBuilder, access::Wanted, open_source};
/// use std::io::Write;
///
/// let store = StoreOptions::new();
/// let mut writer = StoreWriter::create("memory:///fields.tgm", &store)?;
/// writer.write_all(&MessageBuilder::new().tensor(&[3], &[1u8, 2, 3])?.encode()?)?;
/// writer.finish()?;
///
/// let file = open_source("memory:///fields.tgm", &store)?;
/// let (_, values) = file.decode_object(Wanted::FromEnd(0), 0, &DecodeOptions::default())?;
/// assert_eq!(values, [1, 2, 3]);
/// assert_eq!(file.source().traffic().requests, 1, "a small file comes with the request that opens it");
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RemoteFile {
    file: AsyncTensogramFile,
    source: StoreSource,
}

impl RemoteFile {
    /// Opens a file of messages in a store, with one request.
    ///
    /// # Errors
    /// As [`open_source`].
    pub async fn open(url: &str, options: &StoreOptions) -> Result<Self> {
        let source = StoreSource::open(url, options).await.map_err(super::nonblocking::told)?;
        Self::with_source(source).await
    }

    /// Takes an object that is open.
    ///
    /// # Errors
    /// None, as long as the source knows its length.
    pub async fn with_source(source: StoreSource) -> Result<Self> {
        let file = AsyncTensogramFile::new(Arc::new(source.clone()), source.url(), scan_options()).await?;
        Ok(Self { file, source })
    }

    /// The same, awaited.
    pub const fn awaited(&self) -> &AsyncTensogramFile {
        &self.file
    }

    /// The object underneath.
    pub const fn source(&self) -> &StoreSource {
        &self.source
    }

    /// What opening and reading cost so far.
    pub fn traffic(&self) -> Traffic {
        self.source.traffic()
    }

    /// [`AsyncTensogramFile::message_count`].
    ///
    /// # Errors
    /// As there.
    pub fn message_count(&self) -> Result<usize> {
        self.wait(|file| async move { file.message_count().await })
    }

    /// [`AsyncTensogramFile::message_layouts`].
    ///
    /// # Errors
    /// As there.
    pub fn message_layouts(&self) -> Result<Arc<[Span]>> {
        self.wait(|file| async move { file.message_layouts().await })
    }

    /// [`AsyncTensogramFile::find`].
    ///
    /// # Errors
    /// As there.
    pub fn find(&self, message: impl Into<Wanted>) -> Result<Span> {
        let message = message.into();
        self.wait(move |file| async move { file.find(message).await })
    }

    /// [`AsyncTensogramFile::read_message`].
    ///
    /// # Errors
    /// As there.
    pub fn read_message(&self, message: impl Into<Wanted>) -> Result<Bytes> {
        let message = message.into();
        self.wait(move |file| async move { file.read_message(message).await })
    }

    /// [`AsyncTensogramFile::decode_message`].
    ///
    /// # Errors
    /// As there.
    pub fn decode_message(
        &self,
        message: impl Into<Wanted>,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        let (message, options) = (message.into(), options.clone());
        self.wait(move |file| async move { file.decode_message(message, &options).await })
    }

    /// [`AsyncTensogramFile::metadata`].
    ///
    /// # Errors
    /// As there.
    pub fn metadata(&self, message: impl Into<Wanted>) -> Result<Arc<GlobalMetadata>> {
        let message = message.into();
        self.wait(move |file| async move { file.metadata(message).await })
    }

    /// [`AsyncTensogramFile::object_head`].
    ///
    /// # Errors
    /// As there.
    pub fn object_head(&self, message: impl Into<Wanted>, object: usize) -> Result<Arc<ObjectHead>> {
        let message = message.into();
        self.wait(move |file| async move { file.object_head(message, object).await })
    }

    /// [`AsyncTensogramFile::decode_object`].
    ///
    /// # Errors
    /// As there.
    pub fn decode_object(
        &self,
        message: impl Into<Wanted>,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<DecodedObject> {
        let (message, options) = (message.into(), options.clone());
        self.wait(move |file| async move { file.decode_object(message, object, &options).await })
    }

    /// [`AsyncTensogramFile::decode_range`].
    ///
    /// # Errors
    /// As there.
    pub fn decode_range(
        &self,
        message: impl Into<Wanted>,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
        let (message, ranges, options) = (message.into(), ranges.to_vec(), options.clone());
        self.wait(move |file| async move { file.decode_range(message, object, &ranges, &options).await })
    }

    /// [`AsyncTensogramFile::decode_range_batch`].
    ///
    /// # Errors
    /// As there.
    pub fn decode_range_batch(
        &self,
        messages: &[Wanted],
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Vec<Vec<Vec<u8>>>> {
        let (messages, ranges, options) = (messages.to_vec(), ranges.to_vec(), options.clone());
        self.wait(move |file| async move { file.decode_range_batch(&messages, object, &ranges, &options).await })
    }

    /// [`AsyncTensogramFile::slice`].
    ///
    /// # Errors
    /// As there.
    pub fn slice(
        &self,
        message: impl Into<Wanted>,
        object: usize,
        selection: &Selection,
        options: &DecodeOptions,
    ) -> Result<TensorBuf> {
        let (message, selection, options) = (message.into(), selection.clone(), options.clone());
        self.wait(move |file| async move { file.slice(message, object, &selection, &options).await })
    }

    /// What a listing shows of the messages given, side by side.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::survey`].
    pub fn surveys(&self, messages: &[usize]) -> Result<Vec<Survey>> {
        let messages = messages.to_vec();
        self.wait(move |file| async move {
            let mut surveys = Vec::with_capacity(messages.len());
            // A bounded number at a time: each holds the headers of a message.
            for some in messages.chunks(64) {
                surveys.extend(try_join_all(some.iter().map(|message| file.survey(*message))).await?);
            }
            Ok(surveys)
        })
    }

    fn wait<T, F>(&self, work: impl FnOnce(AsyncTensogramFile) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        wait_for(work(self.file.clone()))
    }
}
