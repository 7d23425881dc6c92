//! Objects as they arrive, from any stream of bytes, before their message ends (TG-12.2).
//!
//! At most one frame is held in memory. The result does not depend on how the stream was cut into pieces.

use crate::access::{
    check_types, frame_bytes, merged, metadata_of, object_path, preceder_entry, verify_frame_hash, verify_object,
};
use crate::describe::{DataObjectDescriptor, GlobalMetadata, HashList, Index, MetadataMap};
use crate::error::{Fault, Result, TensogramError};
use crate::frame::{
    FrameRef, Gap, Lookup, Order, Placed, UnknownFrames, Walk, WalkEvent, check_message_len, in_doubt, object_parts,
};
use crate::message::ObjectView;
use crate::options::DecodeOptions;
use crate::wire::{
    ALIGNMENT, FrameContent, FrameFlags, MAGIC, POSTAMBLE_LEN, PREAMBLE_LEN, Phase, Postamble, Preamble,
};
use fw_bytes::{Span, Step, align_up};
use std::io::Read;

/// Something a stream brought.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// A message begins.
    Message {
        /// Its preamble.
        preamble: Preamble,
        /// Where, from the start of the stream.
        offset: u64,
    },
    /// A metadata frame, as it stands.
    Metadata(GlobalMetadata),
    /// An object, decoded.
    Object {
        /// Position among the objects of the message.
        index: usize,
        /// What it is.
        descriptor: Box<DataObjectDescriptor>,
        /// Metadata its preceder brought; empty without one.
        preceder: MetadataMap,
        /// The decoded bytes.
        data: Vec<u8>,
    },
    /// An object, described but not decoded: what a decoder made by [`StreamDecoder::without_payloads`] brings.
    Listed {
        /// Position among the objects of the message.
        index: usize,
        /// What it is.
        descriptor: Box<DataObjectDescriptor>,
        /// Metadata its preceder brought; empty without one.
        preceder: MetadataMap,
        /// Bytes of payload and masks.
        stored_len: u64,
    },
    /// The message is complete.
    End {
        /// The metadata as a full decode gives it.
        metadata: GlobalMetadata,
        /// The message, from the start of the stream.
        span: Span,
    },
    /// Bytes that belong to no message were passed over.
    Skipped(Span),
}

/// A decoder that is fed: [`StreamDecoder::push`] bytes, take [`StreamDecoder::poll`] events.
#[derive(Debug)]
pub struct StreamDecoder {
    options: DecodeOptions,
    payloads: Payloads,
    /// Bytes not yet done with.
    buffer: Vec<u8>,
    /// Position of the first of them in the stream.
    position: u64,
    ended: bool,
    state: State,
}

/// Whether payloads are kept until they can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payloads {
    Decode,
    Skip,
}

#[derive(Debug)]
enum State {
    /// Between messages.
    Outside,
    Inside(Box<Open>),
}

#[derive(Debug)]
struct Open {
    start: u64,
    preamble: Preamble,
    walk: Walk,
    order: Order,
    metadata: Option<GlobalMetadata>,
    /// What the preceder of the next object brought.
    preceder: MetadataMap,
    /// The same for each object so far; as many as there are objects.
    preceders: Vec<MetadataMap>,
    /// The beginning of an object whose payload is let pass, when its descriptor comes first.
    kept: Option<Kept>,
    /// Metadata, index and hash frames so far, where digests are compared.
    described: Vec<FrameRef>,
    /// The first place where a frame may have been lost.
    gap: Option<Gap>,
}

#[derive(Debug)]
struct Kept {
    /// Where it begins in the message.
    at: u64,
    bytes: Vec<u8>,
}

impl StreamDecoder {
    /// A decoder at the start of a stream.
    pub const fn new(options: DecodeOptions) -> Self {
        let payloads = Payloads::Decode;
        Self { options, payloads, buffer: Vec::new(), position: 0, ended: false, state: State::Outside }
    }

    /// A decoder that describes objects and lets their payloads pass: little memory, however large they are. Digests of
    /// objects are not compared.
    pub const fn without_payloads(options: DecodeOptions) -> Self {
        let payloads = Payloads::Skip;
        Self { options, payloads, buffer: Vec::new(), position: 0, ended: false, state: State::Outside }
    }

    /// Feeds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Says that no further byte will come.
    pub const fn end_of_input(&mut self) {
        self.ended = true;
    }

    /// The next event, or `None` when more bytes are needed (or, after [`StreamDecoder::end_of_input`], when all events
    /// were taken).
    ///
    /// # Errors
    /// Faults of the message at hand; the decoder then looks for the next message and can be polled again.
    pub fn poll(&mut self) -> Result<Option<StreamEvent>> {
        let result = match &mut self.state {
            State::Outside => self.outside(),
            State::Inside(_) => self.inside(),
        };
        if result.is_err() {
            // Look for the next message behind the one that failed.
            self.state = State::Outside;
            self.release(self.position + 1);
        }
        result
    }

    fn outside(&mut self) -> Result<Option<StreamEvent>> {
        let found = memchr::memmem::find(&self.buffer, MAGIC);
        let skip = match found {
            Some(skip) => skip,
            None if self.ended => self.buffer.len(),
            // The last bytes may be the beginning of a magic.
            None => self.buffer.len().saturating_sub(MAGIC.len() - 1),
        };
        if skip > 0 && (found.is_some() || self.ended || skip >= SKIP_BLOCK) {
            let span = Span::new(self.position, self.position + skip as u64);
            self.release(span.end);
            return Ok(Some(StreamEvent::Skipped(span)));
        }
        if found.is_none() {
            return Ok(None);
        }
        let Some(head) = self.buffer.get(..PREAMBLE_LEN as usize) else {
            return if self.ended { Err(self.cut("preamble")) } else { Ok(None) };
        };
        let preamble = Preamble::read(head, self.position)?;
        let limit = self.options.limits.message_len;
        let length = preamble.checked_length(u64::MAX, self.position)?;
        if let Some(length) = length {
            check_message_len(length, &self.options.limits).map_err(|error| error.shifted(self.position))?;
        }
        let walk = match length {
            Some(length) => Walk::bounded(length - POSTAMBLE_LEN, UnknownFrames::Refuse),
            None => Walk::open_ended(limit, UnknownFrames::Refuse),
        };
        let start = self.position;
        let open = Open {
            start,
            preamble,
            walk,
            order: Order::new(),
            metadata: None,
            preceder: MetadataMap::new(),
            preceders: Vec::new(),
            kept: None,
            described: Vec::new(),
            gap: None,
        };
        self.state = State::Inside(Box::new(open));
        Ok(Some(StreamEvent::Message { preamble, offset: start }))
    }

    fn inside(&mut self) -> Result<Option<StreamEvent>> {
        loop {
            let State::Inside(open) = &mut self.state else { return Ok(None) };
            let start = open.start;
            let kept = open.kept.take();
            let have = Rest { bytes: &self.buffer, base: self.position - start, kept: kept.as_ref() };
            let limit = self.options.limits.message_len;
            let event = match open.walk.poll(&have).map_err(|error| open.blame(error, limit).shifted(start))? {
                Step::Need(_) if self.ended => return Err(self.cut("frame")),
                Step::Need(_) => {
                    open.kept = kept;
                    self.pass_over_payload();
                    return Ok(None);
                }
                Step::Done(WalkEvent::End(at)) => {
                    let event = self.finish(at).map_err(|error| error.shifted(start))?;
                    return if event.is_none() && self.ended { Err(self.cut("postamble")) } else { Ok(event) };
                }
                Step::Done(WalkEvent::Frame(frame)) => {
                    open.note_gap();
                    let event = match self.payloads {
                        Payloads::Decode => open.frame(&frame, &have, &self.options),
                        Payloads::Skip => open.list(&frame, &have, &self.options),
                    };
                    let event = event.map_err(|error| error.shifted(start))?;
                    self.release(start + frame.end());
                    event
                }
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    /// Lets go of the payload of an object that is only listed: of all that cannot be its descriptor.
    fn pass_over_payload(&mut self) {
        let State::Inside(open) = &mut self.state else { return };
        let listed =
            |frame: &&FrameRef| self.payloads == Payloads::Skip && frame.content() == Some(FrameContent::Object);
        let Some(frame) = open.walk.awaited().filter(listed) else { return };
        let descriptor_last = frame.header().flags.contains(FrameFlags::CBOR_AFTER_PAYLOAD);
        let tail = if descriptor_last { DESCRIPTOR_ROOM } else { frame.end().saturating_sub(frame.body().end) };
        if !descriptor_last && open.kept.is_none() {
            let at = frame.start();
            let room = Span::new(at, at.saturating_add(DESCRIPTOR_ROOM));
            let Some(bytes) = room.slice_of(&self.buffer, self.position - open.start) else { return };
            open.kept = Some(Kept { at, bytes: bytes.to_vec() });
        }
        let position = open.start.saturating_add(frame.end().saturating_sub(tail));
        self.release(position);
    }

    /// The postamble begins at `at` of the message.
    fn finish(&mut self, at: u64) -> Result<Option<StreamEvent>> {
        let State::Inside(open) = &mut self.state else { return Ok(None) };
        let have = Rest { bytes: &self.buffer, base: self.position - open.start, kept: None };
        let Some(bytes) = have.lookup(Span::new(at, at + POSTAMBLE_LEN)) else { return Ok(None) };
        let postamble = Postamble::read(bytes, at)?;
        let length = at + POSTAMBLE_LEN;
        postamble.check_mirror(open.preamble.total_length.unwrap_or(length), at)?;
        open.order.finish()?;
        if self.options.verify_hash {
            for phase in [Phase::Header, Phase::Footer] {
                check_types(open.preamble.flags, phase, &open.described)?;
            }
        }
        open.note_gap();
        if let (Some(gap), Some(metadata)) = (&open.gap, &open.metadata)
            && metadata.base.len() < open.preceders.len()
        {
            // As in a full decode: an entry might be taken for another's.
            return Err(in_doubt(gap));
        }
        let metadata = merged(open.metadata.take(), std::mem::take(&mut open.preceders))?;
        let span = Span::new(open.start, open.start + length);
        self.state = State::Outside;
        self.release(span.end);
        Ok(Some(StreamEvent::End { metadata, span }))
    }

    /// Lets go of everything before `position` of the stream.
    fn release(&mut self, position: u64) {
        let done = (position.saturating_sub(self.position) as usize).min(self.buffer.len());
        self.buffer.drain(..done);
        self.position += done as u64;
    }

    fn cut(&self, what: &str) -> TensogramError {
        let end = self.position + self.buffer.len() as u64;
        TensogramError::Framing(Fault::format("truncated", format!("the stream ends inside a {what}")).at(end))
    }
}

impl Open {
    /// A message that does not say its length is walked up to the limit: what fails for want of room there is above it.
    fn blame(&self, error: TensogramError, limit: u64) -> TensogramError {
        let end = self.walk.position();
        let postamble = align_up(end, ALIGNMENT).unwrap_or(u64::MAX);
        let no_room = error.code() == "frame_exceeds_message" || limit.saturating_sub(postamble) < POSTAMBLE_LEN;
        if self.preamble.total_length.is_none() && no_room {
            let message = format!("message of more than {end} bytes is above the limit of {limit}");
            return TensogramError::Framing(Fault::limit("limit_message_len", message).at(end));
        }
        error
    }

    /// Notes the first place where the walk passed over more than padding, and how many objects came before.
    fn note_gap(&mut self) {
        if self.gap.is_none() {
            self.gap = self.walk.gap().map(|span| Gap { span, objects_before: self.preceders.len() });
        }
    }

    fn frame(&mut self, frame: &FrameRef, have: &Rest<'_>, options: &DecodeOptions) -> Result<Option<StreamEvent>> {
        let placed = self.order.admit(frame)?;
        if options.verify_hash && frame.content() != Some(FrameContent::Object) {
            self.described.push(*frame);
        }
        // The whole frame is at hand; counted from the first byte at hand, it reads like a frame of a message.
        let (local, bytes) = (frame.rebased(have.base), have.bytes);
        self.read(placed, &local, bytes, options).map_err(|error| error.shifted(have.base))
    }

    /// The same for a decoder that only lists: of an object, its descriptor.
    fn list(&mut self, frame: &FrameRef, have: &Rest<'_>, options: &DecodeOptions) -> Result<Option<StreamEvent>> {
        if frame.content() != Some(FrameContent::Object) {
            return self.frame(frame, have, options);
        }
        self.order.admit(frame)?;
        let index = self.preceders.len();
        let located = |error: TensogramError| error.on(object_path(index));
        self.check_count(frame, options)?;
        let parts = match object_parts(frame, have).map_err(located)? {
            Step::Done(parts) => parts,
            Step::Need(_) => return Err(located(too_far(frame))),
        };
        let cbor = have.lookup(parts.descriptor).ok_or_else(|| located(too_far(frame)))?;
        let descriptor =
            DataObjectDescriptor::from_cbor(cbor, parts.descriptor.start, &options.limits).map_err(located)?;
        let preceder = std::mem::take(&mut self.preceder);
        self.preceders.push(preceder.clone());
        let stored_len = parts.region.len();
        Ok(Some(StreamEvent::Listed { index, descriptor: Box::new(descriptor), preceder, stored_len }))
    }

    fn check_count(&self, frame: &FrameRef, options: &DecodeOptions) -> Result<()> {
        if (self.preceders.len() as u64) < options.limits.object_count {
            return Ok(());
        }
        let message = format!("more than {} objects", options.limits.object_count);
        Err(TensogramError::Framing(Fault::limit("limit_object_count", message).at(frame.start())))
    }

    fn read(
        &mut self,
        placed: Placed,
        frame: &FrameRef,
        bytes: &[u8],
        options: &DecodeOptions,
    ) -> Result<Option<StreamEvent>> {
        let limits = &options.limits;
        let body = frame.body();
        if options.verify_hash && !matches!(placed, Placed::Object(_)) {
            verify_frame_hash(bytes, frame, None)?;
        }
        match placed {
            Placed::Object(_) => self.object(frame, bytes, options).map(Some),
            Placed::Preceder => {
                self.preceder = preceder_entry(bytes, frame, limits)?;
                Ok(None)
            }
            Placed::Metadata => {
                let metadata = metadata_of(bytes, frame, limits)?;
                self.metadata = Some(metadata.clone());
                Ok(Some(StreamEvent::Metadata(metadata)))
            }
            Placed::Index => Index::from_cbor(frame_bytes(bytes, body)?, body.start, limits).map(|_| None),
            Placed::Hashes => HashList::from_cbor(frame_bytes(bytes, body)?, body.start, limits).map(|_| None),
        }
    }

    fn object(&mut self, frame: &FrameRef, bytes: &[u8], options: &DecodeOptions) -> Result<StreamEvent> {
        let index = self.preceders.len();
        let located = |error: TensogramError| error.on(object_path(index));
        self.check_count(frame, options)?;
        if options.verify_hash {
            verify_object(bytes, frame, index)?;
        }
        let object = ObjectView::read(bytes, *frame, index, &options.limits).map_err(located)?;
        let verified = DecodeOptions { verify_hash: false, ..options.clone() };
        let data = object.decode(&verified).map_err(located)?;
        let preceder = std::mem::take(&mut self.preceder);
        self.preceders.push(preceder.clone());
        Ok(StreamEvent::Object { index, descriptor: Box::new(object.into_descriptor()), preceder, data })
    }
}

/// Reads events from anything that can be read: a pipe, a socket, a file.
///
/// ```
/// use fw_tensogram::*;
///
/// let message = MessageBuilder::new().tensor(&[2], &[1u8, 2])?.encode()?;
/// let events = StreamReader::new(&message[..], DecodeOptions::default()).collect::<Result<Vec<_>>>()?;
/// assert!(matches!(&events[2], StreamEvent::Object { data, .. } if data == &[1, 2]));
/// # Ok::<(), TensogramError>(())
/// ```
#[derive(Debug)]
pub struct StreamReader<R> {
    reader: R,
    decoder: StreamDecoder,
    piece: Vec<u8>,
}

impl<R: Read> StreamReader<R> {
    /// Reads from `reader`.
    pub fn new(reader: R, options: DecodeOptions) -> Self {
        Self { reader, decoder: StreamDecoder::new(options), piece: vec![0; PIECE] }
    }
}

impl<R: Read> StreamReader<R> {
    /// Reads from `reader` what objects there are, and lets their payloads pass; see
    /// [`StreamDecoder::without_payloads`].
    pub fn without_payloads(reader: R, options: DecodeOptions) -> Self {
        Self { reader, decoder: StreamDecoder::without_payloads(options), piece: vec![0; PIECE] }
    }
}

impl<R: Read> Iterator for StreamReader<R> {
    type Item = Result<StreamEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.decoder.poll() {
                Ok(Some(event)) => return Some(Ok(event)),
                Err(error) => return Some(Err(error)),
                Ok(None) if self.decoder.ended => return None,
                Ok(None) => {}
            }
            match self.reader.read(&mut self.piece) {
                Ok(0) => self.decoder.end_of_input(),
                Ok(read) => self.decoder.push(self.piece.get(..read).unwrap_or(&[])),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.decoder.end_of_input();
                    return Some(Err(error.into()));
                }
            }
        }
    }
}

/// The bytes at hand, which begin somewhere inside a message.
struct Rest<'b> {
    bytes: &'b [u8],
    base: u64,
    kept: Option<&'b Kept>,
}

impl Lookup for Rest<'_> {
    fn lookup(&self, span: Span) -> Option<&[u8]> {
        let kept = || self.kept.and_then(|kept| span.slice_of(&kept.bytes, kept.at));
        span.slice_of(self.bytes, self.base).or_else(kept)
    }
}

fn too_far(frame: &FrameRef) -> TensogramError {
    let message = format!("descriptor of more than {DESCRIPTOR_ROOM} bytes, or far from its place");
    TensogramError::Metadata(Fault::limit("limit_metadata_len", message).at(frame.start()))
}

/// Bytes kept of a frame whose payload is let pass, at the end where its descriptor is.
const DESCRIPTOR_ROOM: u64 = 4 << 20;
/// Junk is reported in pieces of at least this size while more may come.
const SKIP_BLOCK: usize = 64 << 10;
const PIECE: usize = 64 << 10;
