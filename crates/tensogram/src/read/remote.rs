//! Files of messages in object stores (feature `remote`).

use super::nonblocking::AsyncTensogramFile;
use super::waiting;
use crate::access::{DecodedMessage, DecodedObject, DecodedRanges, MessageDescription, MessageIndex, ObjectHead};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::Result;
use crate::frame::scan::ScanOptions;
use crate::message::Message;
use crate::options::DecodeOptions;
use bytes::Bytes;
use fw_bytes::Span;
use fw_source::nonblocking::wait_for;
use fw_source::remote::{StoreOptions, StoreSource, Traffic};
use fw_tensor::{Element, TensorBuf};
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

impl AsyncTensogramFile {
    /// Opens a file of messages in a store, with one request.
    ///
    /// # Errors
    /// As [`open_source`].
    pub async fn open_url(url: &str, options: &StoreOptions) -> Result<Self> {
        Ok(RemoteFile::open(url, options).await?.file)
    }
}

/// A file of messages in a store, for code that waits. Works on any thread, those of other runtimes included; see
/// [`AsyncTensogramFile`] for what each call costs. Cheap to clone.
///
/// ```
/// use fw_source::remote::{StoreOptions, StoreWriter};
/// use fw_tensogram::{DecodeOptions, MessageBuilder, MessageIndex, open_source};
/// use std::io::Write;
///
/// let store = StoreOptions::new();
/// let mut writer = StoreWriter::create("memory:///fields.tgm", &store)?;
/// writer.write_all(&MessageBuilder::new().tensor(&[3], &[1u8, 2, 3])?.encode()?)?;
/// writer.finish()?;
///
/// let file = open_source("memory:///fields.tgm", &store)?;
/// let object = file.decode_object(MessageIndex::FromEnd(0), 0, &DecodeOptions::default())?;
/// assert_eq!(object.bytes, [1, 2, 3]);
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
        let source = StoreSource::open(url, options).await?;
        Self::with_source(source).await
    }

    /// Takes an object that is open.
    ///
    /// # Errors
    /// None, as long as the source knows its length.
    pub async fn with_source(source: StoreSource) -> Result<Self> {
        let file = AsyncTensogramFile::new(Arc::new(source.clone()), source.url(), ScanOptions::far()).await?;
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

    /// The bytes of every message, in order, each fetched when it is asked for.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read_messages(&self) -> Result<impl Iterator<Item = Result<Bytes>> + '_> {
        Ok((0..self.message_count()?).map(|index| self.read_message(index)))
    }

    /// Reads and decodes one object into memory that the caller provides; see [`AsyncTensogramFile::decode_object_into`].
    ///
    /// # Errors
    /// As there.
    pub fn decode_object_into(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<DataObjectDescriptor> {
        let (message, options, len) = (message.into(), options.clone(), out.len());
        // The future cannot borrow the caller's memory.
        let decoded = self.wait(|file| async move {
            let mut bytes = fw_codec::alloc::zeroed(len)?;
            let descriptor = file.decode_object_into(message, object, &options, &mut bytes).await?;
            Ok(DecodedObject { descriptor, bytes })
        })?;
        out.copy_from_slice(&decoded.bytes);
        Ok(decoded.descriptor)
    }

    pub(crate) fn wait<T, F>(&self, work: impl FnOnce(AsyncTensogramFile) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        wait_for(work(self.file.clone()))
    }
}

waiting! {
    /// Counts the messages; see [`AsyncTensogramFile::message_count`].
    fn message_count() -> usize;
    /// Returns where every message is; see [`AsyncTensogramFile::message_layouts`].
    fn message_layouts() -> Vec<Span>;
    /// Returns where one message is; see [`AsyncTensogramFile::message_span`].
    fn message_span(message: index) -> Span;
    /// Fetches the bytes of one message; see [`AsyncTensogramFile::read_message`].
    fn read_message(message: index) -> Bytes;
    /// Fetches one message, which owns its bytes; see [`AsyncTensogramFile::message`].
    fn message(message: index) -> Message;
    /// Fetches one message, with options; see [`AsyncTensogramFile::message_with`].
    fn message_with(message: index, options: options) -> Message;
    /// Decodes all objects of one message; see [`AsyncTensogramFile::decode_message`].
    fn decode_message(message: index, options: options) -> DecodedMessage;
    /// Reads the metadata of one message; see [`AsyncTensogramFile::metadata`].
    fn metadata(message: index) -> GlobalMetadata;
    /// Reads the metadata of one message, with options; see [`AsyncTensogramFile::metadata_with`].
    fn metadata_with(message: index, options: options) -> GlobalMetadata;
    /// Reads the first metadata frame of one message; see [`AsyncTensogramFile::decode_metadata`].
    fn decode_metadata(message: index) -> GlobalMetadata;
    /// Reads the first metadata frame of one message, with options; see [`AsyncTensogramFile::decode_metadata_with`].
    fn decode_metadata_with(message: index, options: options) -> GlobalMetadata;
    /// Reads the metadata and all descriptors of one message; see [`AsyncTensogramFile::decode_descriptors`].
    fn decode_descriptors(message: index) -> MessageDescription;
    /// Reads the metadata and all descriptors of one message, with options; see [`AsyncTensogramFile::decode_descriptors_with`].
    fn decode_descriptors_with(message: index, options: options) -> MessageDescription;
    /// Counts the objects of one message; see [`AsyncTensogramFile::object_count`].
    fn object_count(message: index) -> usize;
    /// Counts the objects of one message, with options; see [`AsyncTensogramFile::object_count_with`].
    fn object_count_with(message: index, options: options) -> usize;
    /// Reads the descriptor of one object and where its parts are; see [`AsyncTensogramFile::object_head`].
    fn object_head(message: index, object: object) -> ObjectHead;
    /// Reads the descriptor of one object and where its parts are, with options; see [`AsyncTensogramFile::object_head_with`].
    fn object_head_with(message: index, object: object, options: options) -> ObjectHead;
    /// Reads and decodes one object; see [`AsyncTensogramFile::decode_object`].
    fn decode_object(message: index, object: object, options: options) -> DecodedObject;
    /// Reads and decodes one object into values of its element type; see [`AsyncTensogramFile::to_vec`].
    fn to_vec<T: Element>(message: index, object: object, options: options) -> Vec<T>;
    /// Reads and decodes the same object of many messages; see [`AsyncTensogramFile::decode_object_batch`].
    fn decode_object_batch(messages: indices, object: object, options: options) -> Vec<DecodedObject>;
    /// Reads runs of elements of one object; see [`AsyncTensogramFile::decode_range`].
    fn decode_range(message: index, object: object, ranges: ranges, options: options) -> DecodedRanges;
    /// Reads the same runs of elements of many messages; see [`AsyncTensogramFile::decode_range_batch`].
    fn decode_range_batch(
        messages: indices, object: object, ranges: ranges, options: options
    ) -> Vec<DecodedRanges>;
    /// Reads an N-dimensional part of one object; see [`AsyncTensogramFile::slice`].
    fn slice(message: index, object: object, selection: selection, options: options) -> TensorBuf;
}
