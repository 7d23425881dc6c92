//! Exact reads from an awaited file: only the bytes that matter, requests side by side (TG-12.7).

use super::file::AsyncTensogramFile;
use super::known::{Layout, Layouts};
use crate::access::{
    CheckEnding, DecodedMessage, DecodedObject, DecodedRanges, MessageDescription, MessageIndex, ObjectFrame,
    ObjectHead, ReadDirectory, ReadFirstMetadata, ReadFrame, ReadHead, ReadHeads, ReadMachine, ReadMetadata,
    ReadRanges, ReadSlice,
};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::{Result, TensogramError};
use crate::frame::Directory;
use crate::message::{self, Message, Origin};
use crate::options::DecodeOptions;
use crate::read::file::{KnownMessage, beginning};
use bytes::Bytes;
use futures_util::future::join_all;
use fw_bytes::{Limits, Span, Step};
use fw_source::Buffers;
use fw_source::nonblocking::{AsyncReadAt, drive_async, fetch, off_runtime};
use fw_tensor::{Element, Selection, TensorBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

impl AsyncTensogramFile {
    /// The bytes of one message: of a mapped file without a copy.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::message_span`].
    pub async fn read_message(&self, message: impl Into<MessageIndex>) -> Result<Bytes> {
        let span = self.message_span(message).await?;
        self.fetched(span).await
    }

    /// One message, which owns its bytes, or shares those of a map.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::read_message`]; framing faults.
    pub async fn message(&self, message: impl Into<MessageIndex>) -> Result<Message> {
        self.message_with(message, &DecodeOptions::default()).await
    }

    /// [`AsyncTensogramFile::message`] with options, which hold for everything that is read of the message.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::message`], and limits.
    pub async fn message_with(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<Message> {
        let index = message.into();
        let span = self.message_span(index).await?;
        let origin = Origin::new(index, span.start);
        self.check_len(origin, span, options).await?;
        Message::of_file(self.fetched(span).await?, options, origin)
    }

    /// Decodes one message, all of it.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::read_message`] and [`decode`](crate::decode); bytes and paths count from the start of the
    /// file.
    pub async fn decode_message(
        &self,
        message: impl Into<MessageIndex>,
        options: &DecodeOptions,
    ) -> Result<DecodedMessage> {
        let (index, options) = (message.into(), options.clone());
        let span = self.message_span(index).await?;
        let origin = Origin::new(index, span.start);
        self.check_len(origin, span, &options).await?;
        let bytes = self.fetched(span).await?;
        off_runtime(move || message::decode(&bytes, &options).map_err(|error| origin.locate(error))).await
    }

    /// The metadata of one message as a full decode gives it: one base entry per object, preceders merged. It is kept for
    /// the next time.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::message_span`]; framing and metadata faults of what is read.
    pub async fn metadata(&self, message: impl Into<MessageIndex>) -> Result<GlobalMetadata> {
        self.metadata_with(message, &DecodeOptions::default()).await
    }

    /// [`AsyncTensogramFile::metadata`] with options.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::metadata`], and limits.
    pub async fn metadata_with(
        &self,
        message: impl Into<MessageIndex>,
        options: &DecodeOptions,
    ) -> Result<GlobalMetadata> {
        let index = message.into();
        self.metadata_at(index, self.known(index).await?, options).await
    }

    /// The first metadata frame of one message as it stands; see [`decode_metadata`](crate::decode_metadata).
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::metadata`].
    pub async fn decode_metadata(&self, message: impl Into<MessageIndex>) -> Result<GlobalMetadata> {
        self.decode_metadata_with(message, &DecodeOptions::default()).await
    }

    /// [`AsyncTensogramFile::decode_metadata`] with options.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::metadata`], and limits.
    pub async fn decode_metadata_with(
        &self,
        message: impl Into<MessageIndex>,
        options: &DecodeOptions,
    ) -> Result<GlobalMetadata> {
        let index = message.into();
        let span = self.message_span(index).await?;
        self.run(index, ReadFirstMetadata::with_options(span, options)).await
    }

    /// Metadata and descriptors of one message, without its payloads; fetched side by side.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::metadata`], and those of every descriptor.
    pub async fn decode_descriptors(&self, message: impl Into<MessageIndex>) -> Result<MessageDescription> {
        self.decode_descriptors_with(message, &DecodeOptions::default()).await
    }

    /// [`AsyncTensogramFile::decode_descriptors`] with options; with [`DecodeOptions::verify_hash`] every object is
    /// fetched, and its digest compared.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::decode_descriptors`], digests and limits.
    pub async fn decode_descriptors_with(
        &self,
        message: impl Into<MessageIndex>,
        options: &DecodeOptions,
    ) -> Result<MessageDescription> {
        let index = message.into();
        let known = self.known(index).await?;
        let count = self.directory_at(index, known, &options.limits).await?.objects.len();
        self.run(index, CheckEnding::new(known.span)).await?;
        let metadata = self.metadata_at(index, known, options).await?;
        let descriptors = if options.verify_hash {
            let heads = (0..count).map(|object| self.object_head_with(index, object, options));
            in_order(heads).await?.into_iter().map(|head: ObjectHead| head.descriptor).collect()
        } else {
            let heads = self.heads_at(index, known, &options.limits).await?.into_iter();
            heads.map(|head| Ok(head?.descriptor.clone())).collect::<Result<_>>()?
        };
        Ok(MessageDescription { metadata, descriptors })
    }

    /// Number of objects of one message.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::metadata`].
    pub async fn object_count(&self, message: impl Into<MessageIndex>) -> Result<usize> {
        self.object_count_with(message, &DecodeOptions::default()).await
    }

    /// [`AsyncTensogramFile::object_count`] with options.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::metadata`], and limits.
    pub async fn object_count_with(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<usize> {
        let index = message.into();
        Ok(self.directory_at(index, self.known(index).await?, &options.limits).await?.objects.len())
    }

    /// What one object is and where its parts stand in the file; kept for the next time. Its payload is not read.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::metadata`]; `Object` when there is none with this index.
    pub async fn object_head(&self, message: impl Into<MessageIndex>, object: usize) -> Result<ObjectHead> {
        self.object_head_with(message, object, &DecodeOptions::default()).await
    }

    /// [`AsyncTensogramFile::object_head`] with options; with [`DecodeOptions::verify_hash`] the whole object is fetched,
    /// and its digest compared first.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`], digests and limits.
    pub async fn object_head_with(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<ObjectHead> {
        let index = message.into();
        if options.verify_hash {
            let options = options.clone();
            return self.on_frame(index, object, options, |frame, have, options| frame.open(have, options)).await;
        }
        Ok(ObjectHead::clone(&*self.head_at(index, self.known(index).await?, object, &options.limits).await?))
    }

    /// Decodes one object; only its frame is fetched, and the index of its message unless that is known.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`]; digest and codec faults.
    pub async fn decode_object(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<DecodedObject> {
        let (index, options) = (message.into(), options.clone());
        self.on_frame(index, object, options, |frame, have, options| frame.decode(have, options)).await
    }

    /// Decodes one object into memory the caller gives; its length must be [`DataObjectDescriptor::decoded_len`].
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::decode_object`], and when `out` has another length.
    pub async fn decode_object_into(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<DataObjectDescriptor> {
        let (index, options, len) = (message.into(), options.clone(), out.len());
        // Work off the runtime cannot borrow the caller's memory.
        let decoded = self.on_frame(index, object, options, move |frame, have, options| {
            let mut bytes = fw_codec::alloc::zeroed(len)?;
            let descriptor = frame.decode_into(have, options, &mut bytes)?;
            Ok(DecodedObject { descriptor, bytes })
        });
        let decoded = decoded.await?;
        out.copy_from_slice(&decoded.bytes);
        Ok(decoded.descriptor)
    }

    /// Decodes one object into values of its element type.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::decode_object`], and when `T` is another type.
    pub async fn to_vec<T: Element>(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<Vec<T>> {
        let (index, options) = (message.into(), options.clone());
        self.on_frame(index, object, options, |frame, have, options| frame.to_vec(have, options)).await
    }

    /// The same object of many messages, with the requests of all of them side by side.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::decode_object`], for the first message that fails.
    pub async fn decode_object_batch(
        &self,
        messages: &[MessageIndex],
        object: usize,
        options: &DecodeOptions,
    ) -> Result<Vec<DecodedObject>> {
        in_order(messages.iter().map(|message| self.decode_object(*message, object, options))).await
    }

    /// Decodes runs of elements of one object, `(first, count)` over the flattened tensor; one buffer per run. Only the
    /// bytes that hold them are fetched, or the blocks of the codec that do. Digests are not verified.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`]; a run past the end; codecs that cannot be cut.
    pub async fn decode_range(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<DecodedRanges> {
        let index = message.into();
        let head = self.head_at(index, self.known(index).await?, object, &options.limits).await?;
        let machine =
            ReadRanges::new(ObjectHead::clone(&head), ranges, options).map_err(|error| named(index, error))?;
        let spans = machine.needs().to_vec();
        let parts = self.run_off(index, machine, spans).await?;
        Ok(DecodedRanges { descriptor: head.descriptor.clone(), parts })
    }

    /// The same runs of elements of one object of many messages, with the requests of all of them side by side.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::decode_range`], for the first message that fails.
    pub async fn decode_range_batch(
        &self,
        messages: &[MessageIndex],
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Vec<DecodedRanges>> {
        in_order(messages.iter().map(|message| self.decode_range(*message, object, ranges, options))).await
    }

    /// Decodes an N-dimensional part of one object; only the bytes its codec needs are fetched. Digests are not verified.
    ///
    /// # Errors
    /// As [`AsyncTensogramFile::object_head`]; a selection that does not fit; codec faults.
    pub async fn slice(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        selection: impl Into<Selection>,
        options: &DecodeOptions,
    ) -> Result<TensorBuf> {
        let (index, selection) = (message.into(), selection.into());
        let head = self.head_at(index, self.known(index).await?, object, &options.limits).await?;
        let machine =
            ReadSlice::new(ObjectHead::clone(&head), selection, options).map_err(|error| named(index, error))?;
        let spans = machine.needs().to_vec();
        self.run_off(index, machine, spans).await
    }

    /// Runs a machine on a message and keeps what it fetched of the directory and of the heads of the objects, which reads
    /// of the objects would fetch again.
    pub(crate) async fn learning<M: ReadMachine>(
        &self,
        index: MessageIndex,
        limits: &Limits,
        machine: impl FnOnce(Span) -> M,
    ) -> Result<M::Output> {
        let known = self.known(index).await?;
        let mut buffers = Buffers::new();
        let output = self.run_in(&mut buffers, index, machine(known.span)).await?;
        if self.layout(known, limits).directory.is_some() {
            return Ok(output);
        }
        // Faults are left to the reads that meet them.
        if let Ok(directory) = self.run_in(&mut buffers, index, ReadDirectory::new(known.span, *limits)).await {
            let head = |object| ReadHead::with_directory(known.span, &directory, object, *limits);
            let heads = ReadHeads::new((0..directory.objects.len()).map(head));
            let heads = self.run_in(&mut buffers, index, heads).await?;
            self.lock().learn(known, limits, |layout| {
                layout.heads.extend(heads.into_iter().flatten().map(|head| (head.index, Arc::new(head))));
                layout.directory = Some(Arc::new(directory));
            });
        }
        Ok(output)
    }

    /// Refuses a message that is longer than the limits allow, before it is fetched.
    async fn check_len(&self, origin: Origin, span: Span, options: &DecodeOptions) -> Result<()> {
        if span.len() <= options.limits.message_len {
            return Ok(());
        }
        origin.check_len(&self.fetched(beginning(span)).await?, span.len(), options)
    }

    async fn fetched(&self, span: Span) -> Result<Bytes> {
        Ok(self.inner.source.read(span).await?)
    }

    async fn directory_at(&self, index: MessageIndex, known: KnownMessage, limits: &Limits) -> Result<Arc<Directory>> {
        if let Some(directory) = self.layout(known, limits).directory {
            return Ok(directory);
        }
        let directory = Arc::new(self.run(index, ReadDirectory::new(known.span, *limits)).await?);
        self.lock().learn(known, limits, |layout| layout.directory = Some(Arc::clone(&directory)));
        Ok(directory)
    }

    async fn metadata_at(
        &self,
        index: MessageIndex,
        known: KnownMessage,
        options: &DecodeOptions,
    ) -> Result<GlobalMetadata> {
        let Layout { metadata, metadata_verified, .. } = self.layout(known, &options.limits);
        if let Some(metadata) = metadata.filter(|_| metadata_verified || !options.verify_hash) {
            return Ok(GlobalMetadata::clone(&metadata));
        }
        let metadata = self.run(index, ReadMetadata::with_options(known.span, options)).await?;
        self.lock().learn(known, &options.limits, |layout| {
            layout.metadata = Some(Arc::new(metadata.clone()));
            layout.metadata_verified = options.verify_hash;
        });
        Ok(metadata)
    }

    async fn head_at(
        &self,
        index: MessageIndex,
        known: KnownMessage,
        object: usize,
        limits: &Limits,
    ) -> Result<Arc<ObjectHead>> {
        if let Some(head) = self.layout(known, limits).heads.get(&object) {
            return Ok(Arc::clone(head));
        }
        let directory = self.directory_at(index, known, limits).await?;
        let machine = ReadHead::with_directory(known.span, &directory, object, *limits);
        let head = Arc::new(self.run(index, machine.map_err(|error| named(index, error))?).await?);
        self.lock().learn(known, limits, |layout| drop(layout.heads.insert(object, Arc::clone(&head))));
        Ok(head)
    }

    /// The heads of all objects of one message, by one plan. Errors of the message are inside, those of the source are not.
    async fn heads_at(
        &self,
        index: MessageIndex,
        known: KnownMessage,
        limits: &Limits,
    ) -> Result<Vec<Result<Arc<ObjectHead>>>> {
        let directory = self.directory_at(index, known, limits).await?;
        let learnt = self.layout(known, limits).heads;
        let (mut heads, mut unknown) = (Vec::with_capacity(directory.objects.len()), Vec::new());
        for object in 0..directory.objects.len() {
            let head = learnt.get(&object).map(|head| Ok(Arc::clone(head)));
            if head.is_none() {
                unknown.push(ReadHead::with_directory(known.span, &directory, object, *limits));
            }
            heads.push(head);
        }
        let read = self.run(index, ReadHeads::new(unknown)).await?.into_iter();
        let mut read = read.map(|head| head.map(Arc::new).map_err(|error| named(index, error)));
        let heads: Vec<_> = heads.into_iter().filter_map(|head| head.or_else(|| read.next())).collect();
        self.lock().learn(known, limits, |layout| {
            let learnt = heads.iter().flatten().map(|head| (head.index, Arc::clone(head)));
            layout.heads.extend(learnt);
        });
        Ok(heads)
    }

    /// Fetches the frame of an object, and works on it off the runtime.
    async fn on_frame<T: Send + 'static>(
        &self,
        index: MessageIndex,
        object: usize,
        options: DecodeOptions,
        work: impl FnOnce(&ObjectFrame, &Buffers, &DecodeOptions) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let known = self.known(index).await?;
        let machine = match self.layout(known, &options.limits).directory {
            Some(directory) => ReadFrame::with_directory(known.span, &directory, object, options.limits)
                .map_err(|error| named(index, error))?,
            None => ReadFrame::new(known.span, object, options.limits),
        };
        let mut buffers = Buffers::new();
        let frame = self.run_in(&mut buffers, index, machine).await?;
        off_runtime(move || work(&frame, &buffers, &options).map_err(|error| named(index, error))).await
    }

    async fn run<M: ReadMachine>(&self, index: MessageIndex, machine: M) -> Result<M::Output> {
        self.run_in(&mut Buffers::new(), index, machine).await
    }

    async fn run_in<M: ReadMachine>(
        &self,
        buffers: &mut Buffers,
        index: MessageIndex,
        mut machine: M,
    ) -> Result<M::Output> {
        let run = drive_async::<_, TensogramError>(&self.inner.source, buffers, |have| machine.poll(have));
        run.await.map_err(|error| named(index, error))
    }

    /// Fetches what a part needs, and decodes it off the runtime; a codec may then ask for more.
    async fn run_off<M>(&self, index: MessageIndex, mut machine: M, mut spans: Vec<Span>) -> Result<M::Output>
    where
        M: ReadMachine + Send + 'static,
        M::Output: Send + 'static,
    {
        let mut buffers = Buffers::new();
        loop {
            fetch(&self.inner.source, &mut buffers, spans).await?;
            let step;
            (machine, buffers, step) = off_runtime(move || {
                let step = machine.poll(&buffers).map_err(|error| named(index, error))?;
                Ok::<_, TensogramError>((machine, buffers, step))
            })
            .await?;
            match step {
                Step::Done(value) => return Ok(value),
                Step::Need(more) => spans = more,
            }
        }
    }

    fn layout(&self, message: KnownMessage, limits: &Limits) -> Layout {
        self.lock().of(message, limits)
    }

    fn lock(&self) -> MutexGuard<'_, Layouts> {
        // A panic elsewhere leaves at worst something not learnt.
        self.inner.layouts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error of a read: faults of the message name it.
fn named(index: MessageIndex, error: TensogramError) -> TensogramError {
    error.on(index.path())
}

/// All results, or the first error in the order of the requests, however they finish.
async fn in_order<T>(reads: impl Iterator<Item = impl Future<Output = Result<T>>>) -> Result<Vec<T>> {
    join_all(reads).await.into_iter().collect()
}
