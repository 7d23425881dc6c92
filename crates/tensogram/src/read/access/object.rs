//! One object of a message: what it is, and the frame that holds it (TG-8.1, TG-12.7).

use super::{Access, in_source, missing};
use crate::describe::{DataObjectDescriptor, MaskDescriptor, MaskKind};
use crate::error::{Fault, Place, Result, TensogramError};
use crate::frame::{
    Based, Directory, FrameRef, Locate, Lookup, ObjectParts, advance, object_frame, object_parts, take,
};
use crate::message::{ObjectView, ambiguous, check_masks, frame_bytes, verify_frame_hash};
use crate::read::{DecodeOptions, DecodedObject};
use crate::wire::FRAME_HEADER_LEN;
use fw_bytes::{Limits, Span, Step};

/// What an object is and where its parts stand; positions count from the start of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectHead {
    /// Position among the objects of the message.
    pub index: usize,
    /// The frame.
    pub frame: FrameRef,
    /// Descriptor, and payload region.
    pub parts: ObjectParts,
    /// What it is.
    pub descriptor: DataObjectDescriptor,
}

impl ObjectHead {
    /// The same, with positions counted from `base` instead of the start of the source.
    #[cfg(feature = "remote")]
    pub(crate) fn rebased(self, base: u64) -> Self {
        let shift = |span: Span| Span::new(span.start.saturating_sub(base), span.end.saturating_sub(base));
        let parts = ObjectParts { descriptor: shift(self.parts.descriptor), region: shift(self.parts.region) };
        Self { frame: self.frame.rebased(base), parts, ..self }
    }

    /// The encoded payload, masks excluded.
    pub fn payload(&self) -> Span {
        let region = self.parts.region;
        match self.descriptor.masks.as_ref().and_then(|masks| masks.first_offset()) {
            // Every mask lies inside the region: that was checked when the head was read.
            Some(offset) => Span::new(region.start, region.start.saturating_add(offset).min(region.end)),
            None => region,
        }
    }

    /// The mask blobs, in the order they are applied.
    pub fn masks(&self) -> impl Iterator<Item = (MaskKind, Span)> {
        self.descriptor.masks.iter().flat_map(|masks| masks.iter()).map(|(kind, mask)| (kind, self.mask(mask)))
    }

    pub(super) fn mask(&self, mask: &MaskDescriptor) -> Span {
        let start = self.parts.region.start.saturating_add(mask.offset);
        Span::new(start, start.saturating_add(mask.length).min(self.parts.region.end))
    }
}

/// Reads the head of one object: frame header, descriptor offset and descriptor, and no payload.
#[derive(Clone, Debug)]
pub struct ReadHead {
    find: FindFrame,
    found: Option<FrameRef>,
}

impl ReadHead {
    /// For object `index` of the message that fills `message`.
    pub const fn new(message: Span, index: usize, limits: Limits) -> Self {
        Self { find: FindFrame::new(message, index, limits), found: None }
    }

    /// The same for a message whose directory is known.
    ///
    /// # Errors
    /// `Object` when there is none with this index.
    pub fn with_directory(message: Span, directory: &Directory, index: usize, limits: Limits) -> Result<Self> {
        Ok(Self { find: FindFrame::with_directory(message, directory, index, limits)?, found: None })
    }

    fn advance(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<ObjectHead>> {
        let (index, limits) = (self.find.index, self.find.limits);
        let frame = match self.found {
            Some(frame) => frame,
            None => *self.found.insert(advance!(self.find.poll(have, head_and_tail)?)),
        };
        let located = |error: TensogramError| error.on(format!("object[{index}]"));
        let parts = advance!(object_parts(&frame, have).map_err(located)?);
        let cbor = take!(have, parts.descriptor);
        let read = || {
            let descriptor = DataObjectDescriptor::from_cbor(cbor, parts.descriptor.start, &limits)?;
            check_masks(&descriptor, &parts)?;
            Ok(descriptor)
        };
        let descriptor = read().map_err(located)?;
        Ok(Step::Done(ObjectHead { index, frame, parts, descriptor }))
    }
}

impl Access for ReadHead {
    type Output = ObjectHead;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<ObjectHead>> {
        let message = self.find.message;
        let head = advance!(in_source(message, self.advance(&Based::new(have, message.start)))?);
        let shift = |span: Span| span.shifted(message.start).unwrap_or(span);
        let parts = ObjectParts { descriptor: shift(head.parts.descriptor), region: shift(head.parts.region) };
        Ok(Step::Done(ObjectHead { frame: head.frame.shifted(message.start), parts, ..head }))
    }
}

/// A frame whose bytes are all at hand; positions count from the start of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectFrame {
    /// Position among the objects of the message.
    pub index: usize,
    /// The frame.
    pub frame: FrameRef,
}

impl ObjectFrame {
    /// The object, borrowed from the bytes at hand.
    ///
    /// # Errors
    /// `truncated` when they are not at hand after all; faults of the frame, which count from its first byte.
    pub fn view<'h>(&self, have: &'h (impl Lookup + ?Sized), limits: &Limits) -> Result<ObjectView<'h>> {
        let bytes = frame_bytes(have, self.frame.span())?;
        ObjectView::read(bytes, self.frame.rebased(self.frame.start()), self.index, limits)
            .map_err(|error| error.on(format!("object[{}]", self.index)))
    }

    /// Decodes the object; this is where the work is, and nothing is fetched.
    ///
    /// # Errors
    /// Digest, framing, metadata and codec faults of the frame.
    pub fn decode(&self, have: &(impl Lookup + ?Sized), options: &DecodeOptions) -> Result<DecodedObject> {
        let start = self.frame.start();
        if options.verify_hash {
            // Before anything is parsed: damage in hashed bytes is a mismatch, whatever it would parse to.
            if !self.frame.has_hash() {
                return Err(TensogramError::MissingHash { object_index: self.index, place: Place::at(start) });
            }
            verify_frame_hash(have, &self.frame, Some(self.index))?;
        }
        let options = DecodeOptions { verify_hash: false, ..options.clone() };
        let object = self.view(have, &options.limits).map_err(|error| error.shifted(start))?;
        let bytes =
            object.decode(&options).map_err(|error| error.shifted(start).on(format!("object[{}]", self.index)))?;
        Ok((object.into_descriptor(), bytes))
    }
}

/// Reads the whole frame of one object, in one request once its place is known.
#[derive(Clone, Debug)]
pub struct ReadFrame {
    find: FindFrame,
}

impl ReadFrame {
    /// For object `index` of the message that fills `message`.
    pub const fn new(message: Span, index: usize, limits: Limits) -> Self {
        Self { find: FindFrame::new(message, index, limits) }
    }

    /// The same for a message whose directory is known.
    ///
    /// # Errors
    /// `Object` when there is none with this index.
    pub fn with_directory(message: Span, directory: &Directory, index: usize, limits: Limits) -> Result<Self> {
        Ok(Self { find: FindFrame::with_directory(message, directory, index, limits)? })
    }
}

impl Access for ReadFrame {
    type Output = ObjectFrame;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<ObjectFrame>> {
        let message = self.find.message;
        let step = self.find.poll(&Based::new(have, message.start), |span| [Some(span), None]);
        let frame = advance!(in_source(message, step)?).shifted(message.start);
        // An index that lied about a frame may have had too little of the true one fetched.
        take!(have, frame.span());
        Ok(Step::Done(ObjectFrame { index: self.find.index, frame }))
    }
}

/// Finds the frame of one object, through the index or by walking; positions count from the start of the message.
#[derive(Clone, Debug)]
struct FindFrame {
    message: Span,
    index: usize,
    limits: Limits,
    state: Find,
}

#[derive(Clone, Debug)]
enum Find {
    Locate { locate: Locate, lied: Option<Lied> },
    Check { span: Span, walked: bool, count: usize },
}

/// An index that has an object where none is.
#[derive(Clone, Copy, Debug)]
struct Lied {
    span: Span,
    count: usize,
}

impl FindFrame {
    const fn new(message: Span, index: usize, limits: Limits) -> Self {
        Self { message, index, limits, state: Find::Locate { locate: Locate::new(message.len(), limits), lied: None } }
    }

    fn with_directory(message: Span, directory: &Directory, index: usize, limits: Limits) -> Result<Self> {
        let (span, count) = (directory.object(index)?, directory.objects.len());
        Ok(Self { message, index, limits, state: Find::Check { span, walked: directory.walked, count } })
    }

    /// Fetches what `wanted` names of the frame's span, and checks that the frame is there.
    fn poll(&mut self, have: &(impl Lookup + ?Sized), wanted: impl Fn(Span) -> Wanted) -> Result<Step<FrameRef>> {
        loop {
            match &mut self.state {
                Find::Locate { locate, lied } => {
                    let mut directory = advance!(locate.poll(have)?);
                    let count = directory.objects.len();
                    match *lied {
                        Some(lied) if lied.count != count => {
                            return Err(ambiguous(self.index, lied.span, lied.count, count));
                        }
                        // As many as the index lists: none was lost.
                        Some(_) => directory.gap = None,
                        None => {}
                    }
                    let span = directory.object(self.index)?;
                    self.state = Find::Check { span, walked: directory.walked, count };
                }
                Find::Check { span, walked, count } => {
                    let absent = missing(have, wanted(*span).into_iter().flatten());
                    if !absent.is_empty() {
                        return Ok(Step::Need(absent));
                    }
                    match advance!(object_frame(have, *span)) {
                        Some(frame) => return Ok(Step::Done(frame)),
                        // The index lied: believe the frames.
                        None if !*walked => {
                            let lied = Some(Lied { span: *span, count: *count });
                            let locate = Locate::by_walking(self.message.len(), self.limits);
                            self.state = Find::Locate { locate, lied };
                        }
                        None => {
                            let text = format!("no data object frame at {span}");
                            let fault = Fault::format("missing_end_marker", text).at(span.start);
                            return Err(TensogramError::Framing(fault.on(format!("object[{}]", self.index))));
                        }
                    }
                }
            }
        }
    }
}

/// Up to two parts of a frame.
type Wanted = [Option<Span>; 2];

/// The frame header, and the end of the frame, where most descriptors fit; small frames whole.
fn head_and_tail(span: Span) -> Wanted {
    if span.len() <= SMALL_FRAME {
        return [Some(span), None];
    }
    let head = Span::new(span.start, span.start.saturating_add(FRAME_HEADER_LEN));
    [Some(head), Some(Span::new(span.end.saturating_sub(TAIL_LOOK), span.end))]
}

const TAIL_LOOK: u64 = 1024;
const SMALL_FRAME: u64 = 4096;
