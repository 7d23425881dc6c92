//! Exact reads from a file: only the bytes that matter (TG-12.7, TG-14).

#[cfg(feature = "mmap")]
use super::Backing;
use super::{Place, TensogramFile, raw};
use crate::access::{
    Access, ObjectHead, ReadDirectory, ReadFirstMetadata, ReadFrame, ReadHead, ReadMetadata, ReadRanges, ReadSlice,
};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::{Fault, Result, TensogramError};
use crate::frame::{Directory, Lookup, on_slice};
use crate::message::too_large;
use crate::read::{DecodeOptions, DecodedObject, decode};
use fw_bytes::{Limits, Span};
use fw_source::{Buffers, ReadAt, drive};
use fw_tensor::{Selection, TensorBuf};
use std::sync::Arc;

impl TensogramFile {
    /// The bytes of one message.
    ///
    /// # Errors
    /// As [`TensogramFile::message_span`]; `Io` when the file cannot be read.
    pub fn read_message(&self, index: usize) -> Result<Vec<u8>> {
        let span = self.message_span(index)?;
        // The scan proved that the file has these bytes.
        let mut bytes = fw_codec::alloc::zeroed(usize::try_from(span.len()).map_err(|_| too_large())?)?;
        self.backing.read_exact_at(span.start, &mut bytes)?;
        Ok(bytes)
    }

    /// The bytes of one message, shared: of a mapped file without a copy, and alive as long as they are held.
    ///
    /// # Errors
    /// As [`TensogramFile::read_message`].
    #[cfg(feature = "mmap")]
    pub fn message_bytes(&self, index: usize) -> Result<bytes::Bytes> {
        match &self.backing {
            Backing::File(_) => self.read_message(index).map(bytes::Bytes::from),
            Backing::Map(map) => {
                let span = self.message_span(index)?;
                // The span was found in the map, so both ends fit the address space.
                Ok(map.bytes().slice(span.start as usize..span.end as usize))
            }
        }
    }

    /// The bytes of every message known now, in order.
    ///
    /// # Errors
    /// `Io` when the file cannot be read.
    pub fn iter(&self) -> Result<impl Iterator<Item = Result<Vec<u8>>> + '_> {
        Ok((0..self.message_count()?).map(|index| self.read_message(index)))
    }

    /// Decodes one message, all of it.
    ///
    /// # Errors
    /// As [`TensogramFile::read_message`] and [`decode`]; bytes and paths count from the start of the file.
    pub fn decode_message(
        &self,
        index: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        let span = self.message_span(index)?;
        let decoded = match self.mapped().and_then(|map| span.slice_of(map, 0)) {
            Some(bytes) => decode(bytes, options),
            None => decode(&self.read_message(index)?, options),
        };
        decoded.map_err(|error| error.shifted(span.start).on(format!("message[{index}]")))
    }

    /// The metadata of one message as a full decode gives it: one base entry per object, preceders merged.
    ///
    /// # Errors
    /// As [`TensogramFile::message_span`]; framing and metadata faults of what is read.
    pub fn metadata(&self, index: usize) -> Result<GlobalMetadata> {
        let span = self.message_span(index)?;
        self.run(index, ReadMetadata::new(span, Limits::default()))
    }

    /// The first metadata frame of one message as it stands; see [`decode_metadata`](crate::decode_metadata).
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`].
    pub fn decode_metadata(&self, index: usize) -> Result<GlobalMetadata> {
        let span = self.message_span(index)?;
        self.run(index, ReadFirstMetadata::new(span, Limits::default()))
    }

    /// Metadata and descriptors of one message; payloads are not read.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`], and of every descriptor.
    pub fn decode_descriptors(&self, index: usize) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> {
        let place = self.place(index)?;
        let (metadata, directory) = (self.metadata(index)?, self.directory(index, place, &Limits::default())?);
        let descriptor = |object| {
            let head = ReadHead::with_directory(place.span, &directory, object, Limits::default())?;
            Ok(self.run(index, head)?.descriptor)
        };
        Ok((metadata, (0..directory.objects.len()).map(descriptor).collect::<Result<_>>()?))
    }

    /// What can be told about one message without decoding it, damaged or not; of one without faults no payload is read.
    ///
    /// # Errors
    /// As [`TensogramFile::message_span`]; faults of the message are part of the answer.
    pub fn survey(&self, index: usize) -> Result<crate::Survey> {
        let span = self.message_span(index)?;
        match self.mapped().and_then(|map| span.slice_of(map, 0)) {
            Some(bytes) => Ok(crate::survey(bytes)),
            None => crate::survey_source(&self.backing, span),
        }
    }

    /// Number of objects of one message.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`].
    pub fn object_count(&self, index: usize) -> Result<usize> {
        let place = self.place(index)?;
        Ok(self.directory(index, place, &Limits::default())?.objects.len())
    }

    /// What one object is and where its parts stand in the file; its payload is not read.
    ///
    /// # Errors
    /// As [`TensogramFile::metadata`]; `Object` when there is none with this index.
    pub fn object_head(&self, index: usize, object: usize) -> Result<ObjectHead> {
        let place = self.place(index)?;
        Ok(ObjectHead::clone(&*self.head(index, place, object, &Limits::default())?))
    }

    /// Reads and decodes one object, and nothing else of its message than the index.
    ///
    /// # Errors
    /// As [`TensogramFile::object_head`]; digest and codec faults of this object.
    pub fn decode_object(&self, index: usize, object: usize, options: &DecodeOptions) -> Result<DecodedObject> {
        let place = self.place(index)?;
        let head = self.head(index, place, object, &options.limits)?;
        if !options.verify_hash && raw::is_direct(&head) {
            let len = usize::try_from(head.payload().len()).map_err(|_| too_large())?;
            let mut out = fw_codec::alloc::zeroed(len)?;
            self.read_direct(&head, options, &mut out)?;
            return Ok((head.descriptor.clone(), out));
        }
        let directory = self.directory(index, place, &options.limits)?;
        let frame = ReadFrame::with_directory(place.span, &directory, object, options.limits)?;
        self.run_then(index, frame, |frame, have| frame.decode(have, options))
    }

    /// Reads and decodes one object into memory the caller gives; its length must be
    /// [`DataObjectDescriptor::decoded_len`]. Elements that stand in the file as they are go straight there.
    ///
    /// # Errors
    /// As [`TensogramFile::decode_object`], and when `out` has another length.
    pub fn decode_object_into(
        &self,
        index: usize,
        object: usize,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<DataObjectDescriptor> {
        let place = self.place(index)?;
        let head = self.head(index, place, object, &options.limits)?;
        let expected = head.descriptor.decoded_len()?;
        if out.len() as u64 != expected {
            let message = format!("buffer of {} bytes for an object of {expected}", out.len());
            let fault = Fault::misuse("buffer_length_mismatch", message);
            return Err(TensogramError::Encoding(fault.on(format!("message[{index}].object[{object}]"))));
        }
        if !options.verify_hash && raw::is_direct(&head) {
            self.read_direct(&head, options, out)?;
            return Ok(head.descriptor.clone());
        }
        let directory = self.directory(index, place, &options.limits)?;
        let frame = ReadFrame::with_directory(place.span, &directory, object, options.limits)?;
        self.run_then(index, frame, |frame, have| {
            let start = frame.frame.start();
            let view = frame.view(have, &options.limits).map_err(|error| error.shifted(start))?;
            view.decode_into(options, out).map_err(|error| error.shifted(start).on(format!("object[{object}]")))?;
            Ok(view.into_descriptor())
        })
    }

    /// Reads runs of elements of one object, `(first, count)` over the flattened tensor; one buffer per run.
    ///
    /// # Errors
    /// As [`TensogramFile::object_head`]; a run that reaches past the end, codecs that cannot be cut.
    pub fn decode_range(
        &self,
        index: usize,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
        let place = self.place(index)?;
        let head = self.head(index, place, object, &options.limits)?;
        let machine = ReadRanges::new(ObjectHead::clone(&*head), ranges, options)
            .map_err(|error| error.on(format!("message[{index}]")))?;
        Ok((head.descriptor.clone(), self.run(index, machine)?))
    }

    /// Reads an N-dimensional part of one object: exactly its elements where they stand as they are, the blocks that
    /// cover them where the codec has blocks, the whole payload otherwise.
    ///
    /// # Errors
    /// As [`TensogramFile::object_head`]; a selection that does not fit the shape; codec faults.
    pub fn slice(
        &self,
        index: usize,
        object: usize,
        selection: &Selection,
        options: &DecodeOptions,
    ) -> Result<TensorBuf> {
        let place = self.place(index)?;
        let head = self.head(index, place, object, &options.limits)?;
        let located = |error: TensogramError| error.on(format!("message[{index}].object[{object}]"));
        if raw::is_direct(&head) {
            return raw::slice(&self.backing, &head, selection, options).map_err(located);
        }
        let machine = ReadSlice::new(ObjectHead::clone(&*head), selection.clone(), options)
            .map_err(|error| error.on(format!("message[{index}]")))?;
        self.run(index, machine)
    }

    /// Where the objects of a message are; remembered for the next read of the same message.
    fn directory(&self, index: usize, place: Place, limits: &Limits) -> Result<Arc<Directory>> {
        let known = self.lock().recent(place.version).and_then(|recent| recent.directory.clone());
        if let Some((_, directory)) = known.filter(|(at, _)| *at == place.span) {
            return Ok(directory);
        }
        let directory = Arc::new(self.run(index, ReadDirectory::new(place.span, *limits))?);
        if let Some(recent) = self.lock().recent(place.version) {
            recent.directory = Some((place.span, Arc::clone(&directory)));
        }
        Ok(directory)
    }

    /// What an object is; remembered for the next read of the same object.
    fn head(&self, index: usize, place: Place, object: usize, limits: &Limits) -> Result<Arc<ObjectHead>> {
        let known = self.lock().recent(place.version).and_then(|recent| recent.head.clone());
        if let Some((_, head)) = known.filter(|(at, head)| *at == place.span && head.index == object) {
            return Ok(head);
        }
        let directory = self.directory(index, place, limits)?;
        let machine = ReadHead::with_directory(place.span, &directory, object, *limits)
            .map_err(|error| error.on(format!("message[{index}]")))?;
        let head = Arc::new(self.run(index, machine)?);
        if let Some(recent) = self.lock().recent(place.version) {
            recent.head = Some((place.span, Arc::clone(&head)));
        }
        Ok(head)
    }

    fn read_direct(&self, head: &ObjectHead, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
        self.backing.read_exact_at(head.payload().start, out)?;
        raw::to_order(head, options, out)
    }

    fn run<A: Access>(&self, index: usize, access: A) -> Result<A::Output> {
        self.run_then(index, access, |output, _| Ok(output))
    }

    /// Runs a machine on the file or the map, and `then` while its bytes are still at hand.
    fn run_then<A: Access, T>(
        &self,
        index: usize,
        mut access: A,
        then: impl FnOnce(A::Output, &dyn Lookup) -> Result<T>,
    ) -> Result<T> {
        let located = |error: TensogramError| error.on(format!("message[{index}]"));
        match self.mapped() {
            Some(map) => on_slice(map, |have| access.poll(have)).and_then(|output| then(output, &Whole(map))),
            None => {
                let mut buffers = Buffers::new();
                if index == 0
                    && let Some(beginning) = self.lock().take_beginning()
                {
                    buffers.insert(0, beginning);
                }
                let output = drive::<_, TensogramError>(&self.backing, &mut buffers, |have| access.poll(have));
                output.and_then(|output| then(output, &buffers))
            }
        }
        .map_err(located)
    }
}

/// A slice as something that can be looked up in behind a pointer.
struct Whole<'a>(&'a [u8]);

impl Lookup for Whole<'_> {
    fn lookup(&self, span: Span) -> Option<&[u8]> {
        self.0.lookup(span)
    }
}
