//! What a message says about itself (TG-12.4, TG-12.7).

use super::{
    ReadMachine, check_types, full_metadata, in_source, merged, metadata_of, missing, verify_description,
    verify_frame_hash,
};
use crate::describe::GlobalMetadata;
use crate::error::{Fault, Result, TensogramError};
use crate::frame::{
    Based, Directory, FIRST_READ, FrameRef, Locate, Lookup, Outline, OutlineBuilder, UnknownFrames, Walk, WalkEvent,
    advance, take,
};
use crate::options::DecodeOptions;
use crate::wire::{FrameContent, MessageFlags, POSTAMBLE_LEN, PREAMBLE_LEN, Phase, Postamble, Preamble};
use fw_bytes::{Limits, Span, Step};

/// The metadata as a full decode gives it: the last metadata frame, with one base entry per object.
///
/// Where index and flags can be trusted, only the header or the footer is read; of a streamed message that is the footer,
/// into which its writer has merged the preceders. Otherwise every frame is visited.
#[derive(Clone, Debug)]
pub struct ReadMetadata {
    message: Span,
    limits: Limits,
    verify: bool,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Locate(Box<Locate>),
    /// Following the frames of the header or of the footer; those so far.
    Seek {
        directory: Directory,
        walk: Box<Walk>,
        phase: Phase,
        frames: Vec<FrameRef>,
    },
    Body {
        objects: usize,
        frame: FrameRef,
    },
    Outline(Box<OutlineBuilder>),
    Merge(Box<Outline>),
}

impl ReadMetadata {
    /// For the message that fills `message`.
    pub fn new(message: Span, limits: Limits) -> Self {
        let state = State::Locate(Box::new(Locate::new(message.len(), limits)));
        Self { message, limits, verify: false, state }
    }

    /// The same with the limits of options; with [`DecodeOptions::verify_hash`] the digests of the metadata frames read are
    /// compared before they are parsed.
    pub fn with_options(message: Span, options: &DecodeOptions) -> Self {
        Self { verify: options.verify_hash, ..Self::new(message, options.limits) }
    }

    fn advance(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<GlobalMetadata>> {
        loop {
            match &mut self.state {
                State::Locate(locate) => {
                    let directory = advance!(locate.poll(have)?);
                    self.state = advance!(self.seek(have, directory)?);
                }
                State::Seek { directory, walk, phase, frames } => match walk.poll(have) {
                    Ok(Step::Need(spans)) => return Ok(Step::Need(spans)),
                    Ok(Step::Done(WalkEvent::Frame(frame))) if frame.frame_type().phase() == Some(*phase) => {
                        frames.push(frame);
                    }
                    // Behind the header, or behind the last frame.
                    _ => match frames.iter().rfind(|frame| is_metadata(frame)).copied() {
                        Some(frame) => {
                            if self.verify {
                                check_types(directory.preamble.flags, *phase, frames)?;
                            }
                            self.state = State::Body { objects: directory.objects.len(), frame };
                        }
                        None => self.visit_all(),
                    },
                },
                State::Body { objects, frame } => {
                    advance!(verified(have, frame, self.verify)?);
                    let metadata = metadata_of(have, frame, &self.limits)?;
                    return merged(Some(metadata), vec![Default::default(); *objects]).map(Step::Done);
                }
                State::Outline(builder) => {
                    let outline = advance!(builder.poll(have)?);
                    self.state = State::Merge(Box::new(outline));
                }
                State::Merge(outline) => {
                    let preceders = outline.objects.iter().filter_map(|object| object.preceder.as_ref());
                    let absent = missing(have, outline.others.iter().chain(preceders).map(FrameRef::body));
                    if !absent.is_empty() {
                        return Ok(Step::Need(absent));
                    }
                    if self.verify {
                        advance!(verify_description(have, outline)?);
                    }
                    return full_metadata(have, outline, &self.limits).map(Step::Done);
                }
            }
        }
    }

    /// Which end of the message to look at.
    fn seek(&self, have: &(impl Lookup + ?Sized), directory: Directory) -> Result<Step<State>> {
        let flags = directory.preamble.flags;
        let end = directory.length.saturating_sub(POSTAMBLE_LEN);
        let walk = Walk::bounded(end, UnknownFrames::Refuse);
        if directory.walked {
            return Ok(Step::Done(self.outline()));
        }
        if flags.contains(MessageFlags::FOOTER_METADATA) {
            let postamble = Postamble::read(take!(have, Span::new(end, directory.length)), end)?;
            if !(PREAMBLE_LEN..end).contains(&postamble.first_footer_offset) {
                return Ok(Step::Done(self.outline()));
            }
            let walk = Box::new(walk.starting_at(postamble.first_footer_offset));
            return Ok(Step::Done(State::Seek { directory, walk, phase: Phase::Footer, frames: Vec::new() }));
        }
        if flags.contains(MessageFlags::PRECEDER_METADATA) {
            return Ok(Step::Done(self.outline()));
        }
        Ok(Step::Done(State::Seek { directory, walk: Box::new(walk), phase: Phase::Header, frames: Vec::new() }))
    }

    fn visit_all(&mut self) {
        self.state = self.outline();
    }

    fn outline(&self) -> State {
        State::Outline(Box::new(OutlineBuilder::new(self.message.len(), self.limits)))
    }
}

impl ReadMachine for ReadMetadata {
    type Output = GlobalMetadata;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<GlobalMetadata>> {
        let message = self.message;
        in_source(message, self.advance(&Based::new(have, message.start)))
    }
}

/// The first metadata frame and nothing else, as it stands; also for the beginning of a message whose end is missing.
#[derive(Clone, Debug)]
pub struct ReadFirstMetadata {
    message: Span,
    limits: Limits,
    verify: bool,
    walk: Option<Walk>,
    found: Option<FrameRef>,
}

impl ReadFirstMetadata {
    /// For the message that fills `message`.
    pub const fn new(message: Span, limits: Limits) -> Self {
        Self { message, limits, verify: false, walk: None, found: None }
    }

    /// The same with the limits of options; with [`DecodeOptions::verify_hash`] the digest of the frame is compared before it
    /// is parsed.
    pub const fn with_options(message: Span, options: &DecodeOptions) -> Self {
        Self { verify: options.verify_hash, ..Self::new(message, options.limits) }
    }

    fn advance(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<GlobalMetadata>> {
        let available = self.message.len();
        let walk = match &mut self.walk {
            Some(walk) => walk,
            none => {
                let head = Span::new(0, available.min(PREAMBLE_LEN));
                let Some(bytes) = have.lookup(head) else {
                    // The metadata comes first in what every known writer makes.
                    return Ok(Step::need(Span::new(0, available.min(FIRST_READ))));
                };
                Preamble::read(bytes, 0)?;
                none.insert(Walk::bounded(available, UnknownFrames::Refuse))
            }
        };
        let frame = loop {
            if let Some(frame) = self.found {
                break frame;
            }
            match advance!(walk.poll(have)?) {
                WalkEvent::Frame(frame) if is_metadata(&frame) => self.found = Some(frame),
                WalkEvent::Frame(_) => {}
                WalkEvent::End(_) => {
                    let text = "message has no metadata frame";
                    return Err(TensogramError::Metadata(Fault::format("no_metadata_frame", text)));
                }
            }
        };
        advance!(verified(have, &frame, self.verify)?);
        metadata_of(have, &frame, &self.limits).map(Step::Done)
    }
}

impl ReadMachine for ReadFirstMetadata {
    type Output = GlobalMetadata;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<GlobalMetadata>> {
        let message = self.message;
        in_source(message, self.advance(&Based::new(have, message.start)))
    }
}

/// Makes sure that the body of a frame is at hand and, when asked to, that it is what its digest says.
fn verified(have: &(impl Lookup + ?Sized), frame: &FrameRef, verify: bool) -> Result<Step<()>> {
    if verify {
        take!(have, frame.span());
        verify_frame_hash(have, frame, None)?;
    } else {
        take!(have, frame.body());
    }
    Ok(Step::Done(()))
}

const fn is_metadata(frame: &FrameRef) -> bool {
    matches!(frame.content(), Some(FrameContent::Metadata))
}
