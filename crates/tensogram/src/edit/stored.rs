//! What stands where in a message: its metadata, and the frames of its objects.

use super::plan::{DigestFrames, MessagePlan};
use crate::access::{ReadMachine, full_metadata, in_source, run};
use crate::describe::GlobalMetadata;
use crate::error::{Result, TensogramError};
use crate::frame::{Based, FrameRef, Lookup, Outline, OutlineBuilder, advance};
use crate::wire::{FrameContent, MessageFlags, Phase};
use fw_bytes::{Limits, Span, Step};
use fw_source::{Buffers, ReadAt};

/// A message in a source: what it says about itself, and where its object frames stand. No payload was read.
///
/// The metadata may be changed; [`StoredMessage::plan`] is the message with that metadata and the same objects.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMessage {
    /// The metadata as a full decode gives it, one base entry per object, with the provenance of its writer.
    pub metadata: GlobalMetadata,
    /// The objects, in order.
    pub objects: Vec<StoredObject>,
    span: Span,
    flags: MessageFlags,
    /// Whether metadata, index and digests stand before the objects, and nothing else but objects.
    header_indexed: bool,
}

/// An object frame where it stands, written out as it is. Positions count from the start of its source.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredObject {
    pub(super) frame: FrameRef,
    pub(super) digest: Option<u64>,
    /// A descriptor that takes the place of the stored one.
    pub(super) changed: Option<super::descriptor::Changed>,
}

impl StoredMessage {
    /// Reads the message that fills `message` of `source`: frame headers, metadata, index and digests.
    ///
    /// # Errors
    /// Framing and metadata faults; limits; `Io` from the source.
    pub fn read(source: &(impl ReadAt + ?Sized), message: Span, limits: &Limits) -> Result<Self> {
        let mut buffers = Buffers::new();
        let (outline, metadata) = run(source, &mut buffers, ReadStored::new(message, *limits))?;
        let objects = outline.objects.iter().map(|object| {
            let frame = object.frame.shifted(message.start);
            Ok(StoredObject { frame, digest: stored_digest(source, &frame)?, changed: None })
        });
        let objects = objects.collect::<Result<Vec<_>>>()?;
        let plain = outline.objects.iter().all(|object| object.preceder.is_none())
            && outline.others.iter().all(|frame| frame.frame_type().phase() == Some(Phase::Header));
        let has = |content| outline.others.iter().filter(|frame| frame.content() == Some(content)).count();
        let header_indexed = plain
            && outline.gap.is_none()
            && outline.preamble.total_length.is_some()
            && has(FrameContent::Metadata) == 1
            && has(FrameContent::Index) == usize::from(!objects.is_empty());
        Ok(Self { metadata, objects, span: message, flags: outline.preamble.flags, header_indexed })
    }

    /// Where it stands in its source.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Whether its metadata, index and digests all stand before its objects, so that a reader finds everything at its start.
    pub const fn is_header_indexed(&self) -> bool {
        self.header_indexed
    }

    /// Whether its frames carry digests.
    pub const fn is_hashed(&self) -> bool {
        self.flags.contains(MessageFlags::HASHES_PRESENT)
    }

    /// Where its digests are gathered, were it written with its index before its objects: a message that has the index after
    /// them, as streams do, gets both before them.
    pub const fn digest_frames(&self) -> DigestFrames {
        let header = self.flags.contains(MessageFlags::HEADER_HASHES);
        let footer = self.flags.contains(MessageFlags::FOOTER_HASHES);
        let streamed = self.flags.contains(MessageFlags::FOOTER_INDEX);
        match (header || streamed && footer, footer && !streamed) {
            (true, true) => DigestFrames::Both,
            (true, false) => DigestFrames::Header,
            (false, true) => DigestFrames::Footer,
            (false, false) => DigestFrames::None,
        }
    }

    /// The message with this metadata and these objects, its index before them.
    ///
    /// # Errors
    /// Metadata that cannot be written: integers out of range, more base entries than objects.
    pub fn plan(&self) -> Result<MessagePlan> {
        let hashed = self.is_hashed();
        MessagePlan::with_digests(&self.metadata, self.objects.clone(), self.digest_frames(), hashed)
    }

    /// Some objects of the message, by their places, as a message of their own: with its keys and its provenance. Places
    /// that it does not have are left out.
    ///
    /// # Errors
    /// As [`StoredMessage::plan`].
    pub fn excerpt(&self, objects: &[usize]) -> Result<MessagePlan> {
        let mut metadata = GlobalMetadata { base: Vec::new(), ..self.metadata.clone() };
        let mut frames = Vec::with_capacity(objects.len());
        for (place, frame) in objects.iter().filter_map(|place| Some((*place, self.objects.get(*place)?))) {
            metadata.base.push(self.metadata.base.get(place).cloned().unwrap_or_default());
            frames.push(frame.clone());
        }
        MessagePlan::new(&metadata, frames)
    }
}

impl StoredObject {
    /// The frame, from header through end marker.
    pub const fn span(&self) -> Span {
        self.frame.span()
    }

    /// The frame with its parts.
    pub const fn frame(&self) -> &FrameRef {
        &self.frame
    }

    /// The digest in the frame, when it carries one.
    pub const fn digest(&self) -> Option<u64> {
        self.digest
    }

    /// The object frame that begins at `at` of `source` and was just written there.
    pub(super) const fn written(frame: FrameRef, digest: Option<u64>) -> Self {
        Self { frame, digest, changed: None }
    }
}

/// Every frame of a message, and its metadata.
struct ReadStored {
    message: Span,
    limits: Limits,
    state: State,
}

enum State {
    Outline(Box<OutlineBuilder>),
    Metadata(Box<Outline>),
}

impl ReadStored {
    fn new(message: Span, limits: Limits) -> Self {
        let state = State::Outline(Box::new(OutlineBuilder::new(message.len(), limits)));
        Self { message, limits, state }
    }

    fn advance(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<(Outline, GlobalMetadata)>> {
        loop {
            match &mut self.state {
                State::Outline(builder) => {
                    let outline = advance!(builder.poll(have)?);
                    self.state = State::Metadata(Box::new(outline));
                }
                State::Metadata(outline) => {
                    let preceders = outline.objects.iter().filter_map(|object| object.preceder.as_ref());
                    let bodies = outline.others.iter().chain(preceders).map(FrameRef::body);
                    let absent: Vec<Span> = bodies.filter(|span| have.lookup(*span).is_none()).collect();
                    if !absent.is_empty() {
                        return Ok(Step::Need(absent));
                    }
                    let metadata = full_metadata(have, outline, &self.limits)?;
                    return Ok(Step::Done((Outline::clone(outline), metadata)));
                }
            }
        }
    }
}

impl ReadMachine for ReadStored {
    type Output = (Outline, GlobalMetadata);

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Self::Output>> {
        let message = self.message;
        in_source(message, self.advance(&Based::new(have, message.start)))
    }
}

fn stored_digest(source: &(impl ReadAt + ?Sized), frame: &FrameRef) -> Result<Option<u64>> {
    if !frame.has_hash() {
        return Ok(None);
    }
    let mut slot = [0; 8];
    source.read_exact_at(frame.hash_slot().start, &mut slot).map_err(TensogramError::from)?;
    Ok(Some(u64::from_be_bytes(slot)))
}
