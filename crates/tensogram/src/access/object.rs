//! One object of a message: what it is, and the frame that holds it (TG-8.1, TG-12.7).

use super::{AtHand, DecodedObject, ReadMachine, ambiguous, in_source, missing, verify_object};
use crate::describe::{DataObjectDescriptor, MaskDescriptor, MaskKind};
use crate::error::{Fault, Result, TensogramError};
use crate::frame::{
    Based, Directory, FrameRef, Locate, Lookup, ObjectParts, advance, object_frame, object_parts, take,
};
use crate::options::DecodeOptions;
use crate::pipeline;
use crate::wire::FRAME_HEADER_LEN;
use fw_bytes::{Limits, Span, Step};
use fw_tensor::Element;

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
    /// Reads the descriptor of object `index`, whose frame is known; positions are those of the frame.
    pub(crate) fn read(
        have: &(impl Lookup + ?Sized),
        frame: FrameRef,
        index: usize,
        limits: &Limits,
    ) -> Result<Step<Self>> {
        let parts = advance!(object_parts(&frame, have)?);
        let cbor = take!(have, parts.descriptor);
        let descriptor = DataObjectDescriptor::from_cbor(cbor, parts.descriptor.start, limits)?;
        check_masks(&descriptor, &parts)?;
        Ok(Step::Done(Self { index, frame, parts, descriptor }))
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

    /// Whether the payload is the elements themselves, all of them, with no masks to put back.
    pub(crate) fn is_plain(&self) -> bool {
        pipeline::is_plain(&self.descriptor, self.payload().len())
    }

    /// Adds the place of the object to an error.
    pub(crate) fn located(&self, error: TensogramError) -> TensogramError {
        error.on(object_path(self.index))
    }

    pub(crate) fn mask(&self, mask: &MaskDescriptor) -> Span {
        let start = self.parts.region.start.saturating_add(mask.offset);
        Span::new(start, start.saturating_add(mask.length).min(self.parts.region.end))
    }
}

/// The part of an error path that names an object.
pub(crate) fn object_path(index: usize) -> String {
    format!("object[{index}]")
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
        ObjectHead::read(have, frame, index, &limits).map_err(|error| error.on(object_path(index)))
    }
}

impl ReadMachine for ReadHead {
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
    /// Decodes the object; this is where the work is, and nothing is fetched.
    ///
    /// # Errors
    /// Digest, framing, metadata and codec faults of the frame, in this order.
    pub fn decode(&self, have: &(impl Lookup + ?Sized), options: &DecodeOptions) -> Result<DecodedObject> {
        let head = self.open(have, options)?;
        let decoded = pipeline::decode_to_vec(&AtHand::new(&head, have), options);
        let bytes = decoded.map_err(|error| head.located(error))?;
        Ok(DecodedObject { descriptor: head.descriptor, bytes })
    }

    /// Decodes the object into memory the caller gives; its length must be [`DataObjectDescriptor::decoded_len`].
    ///
    /// # Errors
    /// As [`ObjectFrame::decode`], and when `out` has another length.
    pub fn decode_into(
        &self,
        have: &(impl Lookup + ?Sized),
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<DataObjectDescriptor> {
        let head = self.open(have, options)?;
        let decoded = pipeline::decode_into(&AtHand::new(&head, have), options, out);
        decoded.map_err(|error| head.located(error))?;
        Ok(head.descriptor)
    }

    /// Decodes the object into values of its element type.
    ///
    /// # Errors
    /// As [`ObjectFrame::decode`], and when `T` is another type.
    pub fn to_vec<T: Element>(&self, have: &(impl Lookup + ?Sized), options: &DecodeOptions) -> Result<Vec<T>> {
        let head = self.open(have, options)?;
        pipeline::decode_values(&AtHand::new(&head, have), options).map_err(|error| head.located(error))
    }

    /// What the object is, after its digest was compared when the options ask for that: damage in hashed bytes is a
    /// mismatch, whatever it would parse to.
    pub(crate) fn open(&self, have: &(impl Lookup + ?Sized), options: &DecodeOptions) -> Result<ObjectHead> {
        if options.verify_hash {
            verify_object(have, &self.frame, self.index)?;
        }
        let located = |error: TensogramError| error.on(object_path(self.index));
        match ObjectHead::read(have, self.frame, self.index, &options.limits).map_err(located)? {
            Step::Done(head) => Ok(head),
            Step::Need(spans) => {
                let span = spans.first().copied().unwrap_or_default();
                let text = format!("bytes {span} of the frame are missing");
                Err(located(TensogramError::Framing(Fault::format("truncated", text).at(span.start))))
            }
        }
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

impl ReadMachine for ReadFrame {
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

    /// Fetches what `parts` names of the frame's span, and checks that the frame is there.
    fn poll(&mut self, have: &(impl Lookup + ?Sized), parts: impl Fn(Span) -> FrameParts) -> Result<Step<FrameRef>> {
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
                    let absent = missing(have, parts(*span).into_iter().flatten());
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
pub(crate) type FrameParts = [Option<Span>; 2];

/// The frame header, and the end of the frame, where most descriptors fit; small frames whole.
pub(crate) fn head_and_tail(span: Span) -> FrameParts {
    if span.len() <= SMALL_FRAME {
        return [Some(span), None];
    }
    let head = Span::new(span.start, span.start.saturating_add(FRAME_HEADER_LEN));
    [Some(head), Some(Span::new(span.end.saturating_sub(TAIL_LOOK), span.end))]
}

/// Refuses masks that reach past the payload region.
pub(crate) fn check_masks(descriptor: &DataObjectDescriptor, parts: &ObjectParts) -> Result<()> {
    let region_len = parts.region.len();
    for (kind, mask) in descriptor.masks.iter().flat_map(|masks| masks.iter()) {
        let end = mask.offset.checked_add(mask.length);
        if end.is_none_or(|end| end > region_len) {
            let (offset, length) = (mask.offset, mask.length);
            let message =
                format!("mask of {length} bytes at {offset} reaches past the payload region of {region_len} bytes");
            let fault = Fault::format("mask_out_of_range", message).at(parts.descriptor.start);
            return Err(TensogramError::Framing(fault.on(format!("descriptor.masks.{}", kind.key()))));
        }
    }
    Ok(())
}

/// What is read of the end of a large frame: most descriptors fit.
pub(crate) const TAIL_LOOK: u64 = 1024;
/// Frames up to this are read whole.
pub(crate) const SMALL_FRAME: u64 = 4096;
