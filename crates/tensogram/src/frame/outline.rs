//! Every frame of a message, with the rules of order (TG-4.6, TG-10, TG-12.2).

use super::{FrameRef, Lookup, Order, Placed, UnknownFrames, Walk, WalkEvent, advance, take};
use crate::error::{Fault, Result, TensogramError};
use crate::wire::{FrameContent, MIN_MESSAGE_LEN, POSTAMBLE_LEN, PREAMBLE_LEN, Postamble, Preamble};
use fw_bytes::{Limits, ParseError, Span, Step};

/// A data object and the preceder that stands right before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// The data object frame.
    pub frame: FrameRef,
    /// Its preceder.
    pub preceder: Option<FrameRef>,
}

/// Bytes between frames that belong to none: a frame may have stood there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where they are.
    pub span: Span,
    /// Data objects before them; the numbers of those behind are in doubt.
    pub objects_before: usize,
}

/// The frames of one message, in order, found by walking all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The preamble.
    pub preamble: Preamble,
    /// The postamble.
    pub postamble: Postamble,
    /// Bytes of the whole message.
    pub length: u64,
    /// Metadata, index and hash frames, in order.
    pub others: Vec<FrameRef>,
    /// Data objects, in order.
    pub objects: Vec<ObjectRef>,
    /// The first place where a frame may have been lost.
    pub gap: Option<Gap>,
}

impl Outline {
    /// Walks a message in memory. Bytes behind a message of known length are ignored.
    ///
    /// # Errors
    /// Any framing fault.
    pub fn of(message: &[u8], limits: &Limits) -> Result<Self> {
        let mut builder = OutlineBuilder::new(message.len() as u64, *limits);
        super::on_slice(message, |bytes| builder.poll(bytes))
    }

    /// The last metadata frame, which is the one that counts for a full decode.
    pub fn metadata(&self) -> Option<FrameRef> {
        self.others.iter().rfind(|frame| frame.content() == Some(FrameContent::Metadata)).copied()
    }
}

/// Objects that cannot be told by their numbers.
pub(crate) fn in_doubt(gap: &Gap) -> TensogramError {
    let text = format!(
        "{} bytes between frames are not part of any frame and a frame may be lost: the numbers of objects from {} on are \
         uncertain",
        gap.span.len(),
        gap.objects_before
    );
    TensogramError::Framing(Fault::format("frame_chain_broken", text).at(gap.span.start))
}

/// Refuses a message that is longer than one may be.
pub(crate) fn check_message_len(length: u64, limits: &Limits) -> Result<()> {
    if length <= limits.message_len {
        return Ok(());
    }
    let message = format!("message of {length} bytes is above the limit of {}", limits.message_len);
    Err(TensogramError::Framing(Fault::limit("limit_message_len", message).at(16)))
}

/// The machine behind [`Outline`].
#[derive(Clone, Debug)]
pub struct OutlineBuilder {
    available: u64,
    limits: Limits,
    opened: Option<(Preamble, Postamble, u64, Walk)>,
    order: Order,
    others: Vec<FrameRef>,
    objects: Vec<ObjectRef>,
}

impl OutlineBuilder {
    /// For a message of which `available` bytes exist.
    pub const fn new(available: u64, limits: Limits) -> Self {
        Self { available, limits, opened: None, order: Order::new(), others: Vec::new(), objects: Vec::new() }
    }

    /// Goes on as far as the bytes at hand allow.
    ///
    /// # Errors
    /// Any framing fault.
    pub fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Outline>> {
        let (preamble, postamble, length, mut walk) = match self.opened.take() {
            Some(opened) => opened,
            None => advance!(self.open(have)?),
        };
        loop {
            match walk.poll(have)? {
                Step::Need(spans) => {
                    self.opened = Some((preamble, postamble, length, walk));
                    return Ok(Step::Need(spans));
                }
                Step::Done(WalkEvent::Frame(frame)) => self.place(frame)?,
                Step::Done(WalkEvent::End(_)) => break,
            }
        }
        self.order.finish()?;
        let (others, objects) = (std::mem::take(&mut self.others), std::mem::take(&mut self.objects));
        let gap = walk.gap().map(|span| {
            let objects_before = objects.partition_point(|object| object.frame.start() < span.start);
            Gap { span, objects_before }
        });
        Ok(Step::Done(Outline { preamble, postamble, length, others, objects, gap }))
    }

    fn open(&self, have: &(impl Lookup + ?Sized)) -> Result<Step<(Preamble, Postamble, u64, Walk)>> {
        let head = take!(have, Span::new(0, self.available.min(PREAMBLE_LEN)));
        let preamble = Preamble::read(head, 0)?;
        let length = match preamble.checked_length(self.available, 0)? {
            Some(length) => length,
            // A message of unknown length fills what is there; its end magic must stand at the very end.
            None if self.available < MIN_MESSAGE_LEN => {
                return Err(ParseError::short("message", MIN_MESSAGE_LEN, self.available, 0).into());
            }
            None => self.available,
        };
        check_message_len(length, &self.limits)?;
        let end = length.saturating_sub(POSTAMBLE_LEN);
        let postamble = Postamble::read(take!(have, Span::new(end, length)), end)?;
        postamble.check_mirror(length, end)?;
        Ok(Step::Done((preamble, postamble, length, Walk::bounded(end, UnknownFrames::Refuse))))
    }

    fn place(&mut self, frame: FrameRef) -> Result<()> {
        match self.order.admit(&frame)? {
            Placed::Object(preceder) => {
                if self.objects.len() as u64 >= self.limits.object_count {
                    let message = format!("more than {} objects", self.limits.object_count);
                    return Err(TensogramError::Framing(Fault::limit("limit_object_count", message).at(frame.start())));
                }
                self.objects.push(ObjectRef { frame, preceder });
            }
            Placed::Preceder => {}
            Placed::Metadata | Placed::Index | Placed::Hashes => self.others.push(frame),
        }
        Ok(())
    }
}
