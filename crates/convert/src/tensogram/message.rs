//! One message of a file: its frames, its metadata, its descriptors.

use fw_bytes::{Limits, Span, Step};
use fw_source::{Buffers, ReadAt, drive};
use fw_tensogram::access::verify_description;
use fw_tensogram::frame::{Based, FrameRef, Lookup, Outline, OutlineBuilder, object_parts};
use fw_tensogram::{DataObjectDescriptor, Fault, GlobalMetadata, TensogramError};

/// One message of the file, read range by range; positions count from its first byte. What was fetched before is not read
/// again.
pub(super) struct Message<'a> {
    pub(super) source: &'a dyn ReadAt,
    pub(super) span: Span,
}

impl Message<'_> {
    pub(super) fn in_file(&self, span: Span) -> Span {
        span.shifted(self.span.start).unwrap_or(span)
    }

    pub(super) fn outline(&self, buffers: &mut Buffers) -> Result<Outline, TensogramError> {
        let mut builder = OutlineBuilder::new(self.span.len(), Limits::default());
        self.drive(buffers, |have| builder.poll(have))
    }

    /// The last metadata frame, with the keys of each object's preceder on top; what carries a digest is verified.
    pub(super) fn metadata(&self, outline: &Outline, buffers: &mut Buffers) -> Result<GlobalMetadata, TensogramError> {
        self.drive(buffers, |have| verify_description(have, outline))?;
        let mut metadata = match outline.metadata() {
            Some(frame) => self.metadata_frame(&frame, buffers)?,
            None => GlobalMetadata::default(),
        };
        let (entries, objects) = (metadata.base.len(), outline.objects.len());
        if entries > objects {
            // Which object was lost cannot be told, and so not what the others are called.
            let text = format!("{entries} base entries for {objects} objects; run fw recover to save what is intact");
            return Err(TensogramError::Metadata(Fault::format("base_count_exceeds_objects", text)));
        }
        metadata.base.resize_with(objects, Default::default);
        for (entry, object) in metadata.base.iter_mut().zip(&outline.objects) {
            if let Some(preceder) = &object.preceder {
                entry.extend(self.metadata_frame(preceder, buffers)?.base.into_iter().flatten());
            }
        }
        Ok(metadata)
    }

    fn metadata_frame(&self, frame: &FrameRef, buffers: &mut Buffers) -> Result<GlobalMetadata, TensogramError> {
        let body = frame.body();
        self.parsed(body, buffers, |cbor| GlobalMetadata::from_cbor(cbor, body.start, &Limits::default()))
    }

    /// What an object is, and where its payload and masks stand.
    pub(super) fn object(
        &self,
        frame: &FrameRef,
        buffers: &mut Buffers,
    ) -> Result<(DataObjectDescriptor, Span), TensogramError> {
        // Most descriptors come with the end of their frame.
        let end = Span::new(frame.end().saturating_sub(MOST_DESCRIPTORS).max(frame.start()), frame.end());
        self.drive(buffers, |have| match have.lookup(frame.cbor_offset_slot()) {
            Some(_) => Ok(Step::Done(())),
            None => Ok(Step::need(end)),
        })?;
        let parts = self.drive(buffers, |have| object_parts(frame, have))?;
        let parse = |cbor: &[u8]| DataObjectDescriptor::from_cbor(cbor, parts.descriptor.start, &Limits::default());
        let descriptor = self.parsed(parts.descriptor, buffers, parse)?;
        buffers.release_before(self.in_file(frame.span()).end);
        Ok((descriptor, parts.region))
    }

    /// What the bytes of a span say; metadata and descriptors are no longer than the limit.
    fn parsed<T>(
        &self,
        span: Span,
        buffers: &mut Buffers,
        parse: impl Fn(&[u8]) -> Result<T, TensogramError>,
    ) -> Result<T, TensogramError> {
        let limit = Limits::default().metadata_len;
        if span.len() > limit {
            let message = format!("metadata of {} bytes is above the limit of {limit}", span.len());
            return Err(TensogramError::Metadata(Fault::limit("limit_metadata_len", message).at(span.start)));
        }
        if span.is_empty() {
            return parse(&[]);
        }
        self.drive(buffers, |have| have.lookup(span).map_or(Ok(Step::need(span)), |cbor| parse(cbor).map(Step::Done)))
    }

    /// Runs a decoder whose positions count from the first byte of the message.
    fn drive<T>(
        &self,
        buffers: &mut Buffers,
        mut decoder: impl FnMut(&Based<'_, Buffers>) -> Result<Step<T>, TensogramError>,
    ) -> Result<T, TensogramError> {
        drive(self.source, buffers, |have| {
            Ok(match decoder(&Based::new(have, self.span.start))? {
                Step::Done(value) => Step::Done(value),
                Step::Need(spans) => Step::Need(spans.into_iter().map(|span| self.in_file(span)).collect()),
            })
        })
    }
}

/// Bytes at the end of a frame that are read for its descriptor.
const MOST_DESCRIPTORS: u64 = 1024;
