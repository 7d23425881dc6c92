//! Exact reads from a file: only the bytes that matter (TG-12.7, TG-14).

use super::{Backing, KnownMessage, TensogramFile, raw};
use crate::access::{
    CheckEnding, DecodedMessage, DecodedObject, DecodedRanges, MessageDescription, MessageIndex, ObjectHead,
    ReadDirectory, ReadFirstMetadata, ReadFrame, ReadHead, ReadMachine, ReadMetadata, ReadRanges, ReadSlice,
};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::{Result, TensogramError, too_large};
use crate::frame::{Directory, Lookup, on_slice};
use crate::message::{Message, Origin};
use crate::options::DecodeOptions;
use crate::pipeline;
use crate::wire::PREAMBLE_LEN;
use bytes::Bytes;
use fw_bytes::{Limits, Span};
use fw_source::{Buffers, ReadAt, drive};
use fw_tensor::{Element, Selection, TensorBuf};
use std::sync::Arc;
use zerocopy::IntoBytes;

impl TensogramFile {
    /// The bytes of one message: of a mapped file without a copy, and alive as long as they are held.
    ///
    /// # Errors
    /// As [`TensogramFile::message_span`]; `Io` when the file cannot be read.
    pub fn read_message(&self, message: impl Into<MessageIndex>) -> Result<Bytes> {
        self.bytes_at(self.message_span(message)?)
    }

    /// One message, which owns or shares its bytes: those of a mapped file are not copied.
    ///
    /// # Errors
    /// As [`TensogramFile::read_message`]; framing faults.
    pub fn message(&self, message: impl Into<MessageIndex>) -> Result<Message> {
        self.message_with(message, &DecodeOptions::default())
    }

    /// [`TensogramFile::message`] with options, which hold for everything that is read of the message.
    ///
    /// # Errors
    /// As [`TensogramFile::message`], and limits.
    pub fn message_with(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<Message> {
        let index = message.into();
        let span = self.message_span(index)?;
        let origin = Origin::new(index, span.start);
        self.check_len(origin, span, options)?;
        Message::of_file(self.bytes_at(span)?, options, origin)
    }

    /// The bytes of every message known now, in order.
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn read_messages(&self) -> Result<impl Iterator<Item = Result<Bytes>> + '_> {
        Ok((0..self.message_count()?).map(|index| self.read_message(index)))
    }

    /// Decodes one message, all of it.
    ///
    /// # Errors
    /// As [`TensogramFile::read_message`] and [`decode`](crate::decode); bytes and paths count from the start of the file.
    pub fn decode_message(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<DecodedMessage> {
        let index = message.into();
        let span = self.message_span(index)?;
        let origin = Origin::new(index, span.start);
        self.check_len(origin, span, options)?;
        let bytes = self.bytes_at(span)?;
        crate::message::decode(&bytes, options).map_err(|error| origin.locate(error))
    }

    /// The metadata of one message as a full decode gives it: one base entry per object, preceders merged.
    ///
    /// # Errors
    /// As [`TensogramFile::message_span`]; framing and metadata faults of what is read.
    pub fn metadata(&self, message: impl Into<MessageIndex>) -> Result<GlobalMetadata> {
        self.metadata_with(message, &DecodeOptions::default())
    }

    /// [`TensogramFile::metadata`] with options.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`], digests and limits.
    pub fn metadata_with(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<GlobalMetadata> {
        let index = message.into();
        self.run(index, ReadMetadata::with_options(self.message_span(index)?, options))
    }

    /// The first metadata frame of one message as it stands; see [`decode_metadata`](crate::decode_metadata).
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`].
    pub fn decode_metadata(&self, message: impl Into<MessageIndex>) -> Result<GlobalMetadata> {
        self.decode_metadata_with(message, &DecodeOptions::default())
    }

    /// [`TensogramFile::decode_metadata`] with options.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`], and limits.
    pub fn decode_metadata_with(
        &self,
        message: impl Into<MessageIndex>,
        options: &DecodeOptions,
    ) -> Result<GlobalMetadata> {
        let index = message.into();
        self.run(index, ReadFirstMetadata::with_options(self.message_span(index)?, options))
    }

    /// Metadata and descriptors of one message; payloads are not read.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`], and those of every descriptor.
    pub fn decode_descriptors(&self, message: impl Into<MessageIndex>) -> Result<MessageDescription> {
        self.decode_descriptors_with(message, &DecodeOptions::default())
    }

    /// [`TensogramFile::decode_descriptors`] with options; with [`DecodeOptions::verify_hash`] every object is read, and
    /// its digest compared.
    ///
    /// # Errors
    /// As [`TensogramFile::decode_descriptors`], digests and limits.
    pub fn decode_descriptors_with(
        &self,
        message: impl Into<MessageIndex>,
        options: &DecodeOptions,
    ) -> Result<MessageDescription> {
        let index = message.into();
        let known = self.known(index)?;
        let directory = self.directory(index, known, &options.limits)?;
        self.run(index, CheckEnding::new(known.span))?;
        let metadata = self.run(index, ReadMetadata::with_options(known.span, options))?;
        let head = |object| Ok(self.read_head(index, known, &directory, object, options)?.descriptor);
        let descriptors = (0..directory.objects.len()).map(head).collect::<Result<_>>()?;
        Ok(MessageDescription { metadata, descriptors })
    }

    /// Number of objects of one message.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`].
    pub fn object_count(&self, message: impl Into<MessageIndex>) -> Result<usize> {
        self.object_count_with(message, &DecodeOptions::default())
    }

    /// [`TensogramFile::object_count`] with options.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`], and limits.
    pub fn object_count_with(&self, message: impl Into<MessageIndex>, options: &DecodeOptions) -> Result<usize> {
        let index = message.into();
        Ok(self.directory(index, self.known(index)?, &options.limits)?.objects.len())
    }

    /// What one object is and where its parts stand in the file; its payload is not read.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`]; `Object` when there is none with this index.
    pub fn object_head(&self, message: impl Into<MessageIndex>, object: usize) -> Result<ObjectHead> {
        self.object_head_with(message, object, &DecodeOptions::default())
    }

    /// [`TensogramFile::object_head`] with options; with [`DecodeOptions::verify_hash`] the whole object is read, and its
    /// digest compared first.
    ///
    /// # Errors
    /// As [`TensogramFile::object_head`], digests and limits.
    pub fn object_head_with(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<ObjectHead> {
        let index = message.into();
        let known = self.known(index)?;
        if options.verify_hash {
            let directory = self.directory(index, known, &options.limits)?;
            return self.read_head(index, known, &directory, object, options);
        }
        Ok(ObjectHead::clone(&*self.head(index, known, object, &options.limits)?))
    }

    /// Reads and decodes one object, and nothing else of its message than the index.
    ///
    /// # Errors
    /// As [`TensogramFile::object_head`]; digest and codec faults of this object.
    pub fn decode_object(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<DecodedObject> {
        let index = message.into();
        let known = self.known(index)?;
        if let Some(head) = self.plain_head(index, known, object, options)? {
            let len = usize::try_from(head.payload().len()).map_err(|_| too_large())?;
            let mut bytes = fw_codec::alloc::zeroed(len)?;
            self.read_plain(&head, options, &mut bytes)?;
            return Ok(DecodedObject { descriptor: head.descriptor.clone(), bytes });
        }
        let machine = self.frame(index, known, object, options)?;
        self.run_then(index, machine, |frame, have| frame.decode(have, options))
    }

    /// Reads and decodes one object into memory the caller gives; its length must be
    /// [`DataObjectDescriptor::decoded_len`]. Elements that stand in the file as they are go straight there.
    ///
    /// # Errors
    /// As [`TensogramFile::decode_object`], and when `out` has another length.
    pub fn decode_object_into(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<DataObjectDescriptor> {
        let index = message.into();
        let known = self.known(index)?;
        if let Some(head) = self.plain_head(index, known, object, options)? {
            pipeline::check_room(&head.descriptor, out.len()).map_err(|error| located(index, &head, error))?;
            self.read_plain(&head, options, out)?;
            return Ok(head.descriptor.clone());
        }
        let machine = self.frame(index, known, object, options)?;
        self.run_then(index, machine, |frame, have| frame.decode_into(have, options, out))
    }

    /// Reads and decodes one object into values of its element type.
    ///
    /// # Errors
    /// As [`TensogramFile::decode_object`], and when `T` is another type.
    pub fn to_vec<T: Element>(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<Vec<T>> {
        let index = message.into();
        let known = self.known(index)?;
        let options = &DecodeOptions { native_byte_order: true, ..options.clone() };
        if let Some(head) = self.plain_head(index, known, object, options)? {
            let mut values =
                pipeline::values_for::<T>(&head.descriptor).map_err(|error| located(index, &head, error))?;
            self.read_plain(&head, options, values.as_mut_bytes())?;
            return Ok(values);
        }
        let machine = self.frame(index, known, object, options)?;
        self.run_then(index, machine, |frame, have| frame.to_vec(have, options))
    }

    /// The same object of many messages, in the order given.
    ///
    /// # Errors
    /// As [`TensogramFile::decode_object`], for the first message that fails.
    pub fn decode_object_batch(
        &self,
        messages: &[MessageIndex],
        object: usize,
        options: &DecodeOptions,
    ) -> Result<Vec<DecodedObject>> {
        messages.iter().map(|message| self.decode_object(*message, object, options)).collect()
    }

    /// Reads runs of elements of one object, `(first, count)` over the flattened tensor; one buffer per run. Digests are
    /// not verified: that would read everything.
    ///
    /// # Errors
    /// As [`TensogramFile::object_head`]; a run that reaches past the end, codecs that cannot be cut.
    pub fn decode_range(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<DecodedRanges> {
        let index = message.into();
        let head = self.head(index, self.known(index)?, object, &options.limits)?;
        let machine = ReadRanges::new(ObjectHead::clone(&*head), ranges, options);
        let parts = self.run(index, machine.map_err(|error| error.on(index.path()))?)?;
        Ok(DecodedRanges { descriptor: head.descriptor.clone(), parts })
    }

    /// The same runs of elements of one object of many messages, in the order given.
    ///
    /// # Errors
    /// As [`TensogramFile::decode_range`], for the first message that fails.
    pub fn decode_range_batch(
        &self,
        messages: &[MessageIndex],
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Vec<DecodedRanges>> {
        messages.iter().map(|message| self.decode_range(*message, object, ranges, options)).collect()
    }

    /// Reads an N-dimensional part of one object: exactly its elements where they stand as they are, the blocks that
    /// cover them where the codec has blocks, the whole payload otherwise. Digests are not verified.
    ///
    /// # Errors
    /// As [`TensogramFile::object_head`]; a selection that does not fit the shape; codec faults.
    pub fn slice(
        &self,
        message: impl Into<MessageIndex>,
        object: usize,
        selection: impl Into<Selection>,
        options: &DecodeOptions,
    ) -> Result<TensorBuf> {
        let (index, selection) = (message.into(), selection.into());
        let head = self.head(index, self.known(index)?, object, &options.limits)?;
        if head.is_plain() {
            let limited = pipeline::limited_pipeline(&head.descriptor, head.payload().len(), &options.limits);
            let part = limited.and_then(|_| raw::slice(&self.backing, &head, &selection, options));
            return part.map_err(|error| located(index, &head, error));
        }
        let machine = ReadSlice::new(ObjectHead::clone(&*head), selection, options);
        self.run(index, machine.map_err(|error| error.on(index.path()))?)
    }

    /// Refuses a message that is longer than the limits allow, before it is read.
    fn check_len(&self, origin: Origin, span: Span, options: &DecodeOptions) -> Result<()> {
        if span.len() <= options.limits.message_len {
            return Ok(());
        }
        origin.check_len(&self.bytes_at(beginning(span))?, span.len(), options)
    }

    fn bytes_at(&self, span: Span) -> Result<Bytes> {
        match &self.backing {
            Backing::File(source) => {
                // The scan proved that the file has these bytes.
                let mut bytes = fw_codec::alloc::zeroed(usize::try_from(span.len()).map_err(|_| too_large())?)?;
                source.read_exact_at(span.start, &mut bytes)?;
                Ok(bytes.into())
            }
            // The span was found in the map, so both ends fit the address space.
            #[cfg(feature = "mmap")]
            Backing::Map(map) => Ok(map.bytes().slice(span.start as usize..span.end as usize)),
        }
    }

    /// The head of an object that can be read straight to where it is wanted: its payload is its elements, it is within
    /// the limits, and no digest is to be compared, which would take the whole frame.
    fn plain_head(
        &self,
        index: MessageIndex,
        known: KnownMessage,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<Option<Arc<ObjectHead>>> {
        if options.verify_hash {
            return Ok(None);
        }
        let head = self.head(index, known, object, &options.limits)?;
        if !head.is_plain() {
            return Ok(None);
        }
        pipeline::limited_pipeline(&head.descriptor, head.payload().len(), &options.limits)
            .map_err(|error| located(index, &head, error))?;
        Ok(Some(head))
    }

    fn read_plain(&self, head: &ObjectHead, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
        self.backing.read_exact_at(head.payload().start, out)?;
        raw::to_order(head, options, out)
    }

    /// Where the objects of a message are; remembered for the next read of the same message under the same limits.
    fn directory(&self, index: MessageIndex, known: KnownMessage, limits: &Limits) -> Result<Arc<Directory>> {
        if let Some(directory) = self.lock().recent(known, limits).and_then(|recent| recent.directory.clone()) {
            return Ok(directory);
        }
        let directory = Arc::new(self.run(index, ReadDirectory::new(known.span, *limits))?);
        if let Some(recent) = self.lock().recent(known, limits) {
            recent.directory = Some(Arc::clone(&directory));
        }
        Ok(directory)
    }

    /// What an object is; remembered for the next read of the same object under the same limits.
    fn head(
        &self,
        index: MessageIndex,
        known: KnownMessage,
        object: usize,
        limits: &Limits,
    ) -> Result<Arc<ObjectHead>> {
        let recent = self.lock().recent(known, limits).and_then(|recent| recent.head.clone());
        if let Some(head) = recent.filter(|head| head.index == object) {
            return Ok(head);
        }
        let directory = self.directory(index, known, limits)?;
        let machine = ReadHead::with_directory(known.span, &directory, object, *limits);
        let head = Arc::new(self.run(index, machine.map_err(|error| error.on(index.path()))?)?);
        if let Some(recent) = self.lock().recent(known, limits) {
            recent.head = Some(Arc::clone(&head));
        }
        Ok(head)
    }

    /// What an object is, read anew, after its digest was compared when the options ask for that.
    fn read_head(
        &self,
        index: MessageIndex,
        known: KnownMessage,
        directory: &Directory,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<ObjectHead> {
        if options.verify_hash {
            let machine = self.frame(index, known, object, options)?;
            return self.run_then(index, machine, |frame, have| frame.open(have, options));
        }
        let machine = ReadHead::with_directory(known.span, directory, object, options.limits);
        self.run(index, machine.map_err(|error| error.on(index.path()))?)
    }

    fn frame(
        &self,
        index: MessageIndex,
        known: KnownMessage,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<ReadFrame> {
        let directory = self.directory(index, known, &options.limits)?;
        ReadFrame::with_directory(known.span, &directory, object, options.limits)
            .map_err(|error| error.on(index.path()))
    }

    fn run<M: ReadMachine>(&self, index: MessageIndex, machine: M) -> Result<M::Output> {
        self.run_then(index, machine, |output, _| Ok(output))
    }

    /// Runs a machine on the file or the map, and `then` while its bytes are still at hand.
    fn run_then<M: ReadMachine, T>(
        &self,
        index: MessageIndex,
        mut machine: M,
        then: impl FnOnce(M::Output, &dyn Lookup) -> Result<T>,
    ) -> Result<T> {
        let done = match self.mapped() {
            Some(map) => on_slice(map, |have| machine.poll(have)).and_then(|output| then(output, &Whole(map))),
            None => {
                let mut buffers = Buffers::new();
                if index == MessageIndex::FromStart(0)
                    && let Some(beginning) = self.lock().take_beginning()
                {
                    buffers.insert(0, beginning);
                }
                let output = drive::<_, TensogramError>(&self.backing, &mut buffers, |have| machine.poll(have));
                output.and_then(|output| then(output, &buffers))
            }
        };
        done.map_err(|error| error.on(index.path()))
    }
}

/// The preamble of a message.
pub(crate) fn beginning(message: Span) -> Span {
    Span::new(message.start, message.start.saturating_add(PREAMBLE_LEN).min(message.end))
}

/// An error of an object, in its file.
fn located(index: MessageIndex, head: &ObjectHead, error: TensogramError) -> TensogramError {
    head.located(error).on(index.path())
}

/// A slice as something that can be looked up in behind a pointer.
struct Whole<'a>(&'a [u8]);

impl Lookup for Whole<'_> {
    fn lookup(&self, span: Span) -> Option<&[u8]> {
        self.0.lookup(span)
    }
}
