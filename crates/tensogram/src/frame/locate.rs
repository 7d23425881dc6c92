//! Random access: where the objects of a message are, by its index when that can be trusted, by walking when not
//! (TG-12.7).

use super::{
    FrameRef, Gap, Lookup, Outline, OutlineBuilder, UnknownFrames, Walk, WalkEvent, advance, check_message_len,
    in_doubt, take,
};
use crate::describe::{GlobalMetadata, Index};
use crate::error::{Fault, Result, TensogramError};
use crate::wire::{
    ALIGNMENT, FRAME_END, FRAME_HEADER_LEN, FrameContent, FrameHeader, FrameType, MIN_MESSAGE_LEN, MessageFlags,
    POSTAMBLE_LEN, PREAMBLE_LEN, Phase, Postamble, Preamble,
};
use fw_bytes::{Limits, ParseError, Span, Step, align_up};

/// Where the objects of a message are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The preamble.
    pub preamble: Preamble,
    /// Bytes of the whole message.
    pub length: u64,
    /// The data object frames, in order.
    pub objects: Vec<Span>,
    /// Whether every frame was followed, rather than the index believed.
    pub walked: bool,
    /// Where a frame may have been lost, unless something says that none was: the numbers of the objects behind it are in
    /// doubt. An index that is believed leaves no doubt.
    pub gap: Option<Gap>,
}

impl Directory {
    /// Where object `index` is.
    ///
    /// # Errors
    /// `Object` when there is none with this number; `Framing` when it cannot be told by its number.
    pub(crate) fn object(&self, index: usize) -> Result<Span> {
        match (&self.gap, self.objects.get(index)) {
            (Some(gap), _) if index >= gap.objects_before => Err(in_doubt(gap).on(format!("object[{index}]"))),
            (_, Some(span)) => Ok(*span),
            (_, None) => {
                let message = format!("object {index} does not exist: the message has {}", self.objects.len());
                Err(TensogramError::Object(Fault::misuse("object_index_out_of_range", message)))
            }
        }
    }
}

/// The machine that finds out.
#[derive(Clone, Debug)]
pub struct Locate {
    available: u64,
    limits: Limits,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Start,
    /// Following header or footer frames in search of the index.
    Seek {
        preamble: Preamble,
        length: u64,
        walk: Box<Walk>,
        wanted: FrameType,
    },
    /// The index frame is known; its body is to be read.
    Read {
        preamble: Preamble,
        length: u64,
        frame: FrameRef,
    },
    Walk(Box<OutlineBuilder>),
    /// A frame may have been lost: the metadata says how many objects there were.
    Count(Box<Outline>),
}

impl Locate {
    /// For a message of which `available` bytes exist.
    pub const fn new(available: u64, limits: Limits) -> Self {
        Self { available, limits, state: State::Start }
    }

    /// The same, without believing any index.
    pub fn by_walking(available: u64, limits: Limits) -> Self {
        let builder = OutlineBuilder::new(available, limits);
        Self { available, limits, state: State::Walk(Box::new(builder)) }
    }

    /// Whether an index is still looked for or read; otherwise frame after frame is followed.
    pub(crate) const fn is_by_index(&self) -> bool {
        matches!(self.state, State::Start | State::Seek { .. } | State::Read { .. })
    }

    /// Goes on as far as the bytes at hand allow.
    ///
    /// # Errors
    /// Framing faults; a faulty index alone is none, the walk takes over.
    pub fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Directory>> {
        loop {
            match &mut self.state {
                State::Start => self.state = advance!(self.start(have)?),
                State::Seek { preamble, length, walk, wanted } => match walk.poll(have) {
                    Ok(Step::Need(mut spans)) => {
                        // The body of the index comes with its end: it is read next.
                        let index = walk.awaited().filter(|frame| frame.frame_type() == *wanted);
                        if let (Some(frame), Some(end)) = (index, spans.first_mut()) {
                            end.start = frame.start();
                        }
                        return Ok(Step::Need(spans));
                    }
                    Ok(Step::Done(WalkEvent::Frame(frame))) if frame.frame_type() == *wanted => {
                        self.state = State::Read { preamble: *preamble, length: *length, frame };
                    }
                    Ok(Step::Done(WalkEvent::Frame(frame))) if frame.frame_type().phase() != Some(Phase::Body) => {}
                    // The index that the flags promise is not there, or cannot be reached.
                    _ => self.fall_back(),
                },
                State::Read { preamble, length, frame } => {
                    let body = frame.body();
                    let bytes = take!(have, body);
                    let directory = Index::spans(bytes, body.start, &self.limits)
                        .ok()
                        .filter(|spans| plausible(spans, preamble, *length, frame, &self.limits).unwrap_or(false))
                        .map(|objects| Directory {
                            preamble: *preamble,
                            length: *length,
                            objects,
                            walked: false,
                            gap: None,
                        });
                    match directory {
                        Some(directory) => return Ok(Step::Done(directory)),
                        None => self.fall_back(),
                    }
                }
                State::Walk(builder) => {
                    let outline = advance!(builder.poll(have)?);
                    if outline.gap.is_none() {
                        return Ok(Step::Done(walked(&outline, None)));
                    }
                    self.state = State::Count(Box::new(outline));
                }
                State::Count(outline) => {
                    let Some(metadata) = outline.metadata() else {
                        return Ok(Step::Done(walked(outline, outline.gap)));
                    };
                    let body = metadata.body();
                    let bytes = take!(have, body);
                    let count =
                        GlobalMetadata::from_cbor(bytes, body.start, &self.limits).map(|metadata| metadata.base.len());
                    let gap = outline.gap.filter(|_| count.ok() != Some(outline.objects.len()));
                    return Ok(Step::Done(walked(outline, gap)));
                }
            }
        }
    }

    fn start(&self, have: &(impl Lookup + ?Sized)) -> Result<Step<State>> {
        let head = Span::new(0, self.available.min(PREAMBLE_LEN));
        let Some(bytes) = have.lookup(head) else {
            return Ok(Step::need(Span::new(0, self.available.min(FIRST_READ))));
        };
        let preamble = Preamble::read(bytes, 0)?;
        let length = preamble.checked_length(self.available, 0)?.unwrap_or(self.available);
        if length < MIN_MESSAGE_LEN {
            return Err(ParseError::short("message", MIN_MESSAGE_LEN, length, 0).into());
        }
        check_message_len(length, &self.limits)?;
        let end = length.saturating_sub(POSTAMBLE_LEN);
        let walk = Walk::bounded(end, UnknownFrames::Refuse);
        if preamble.flags.contains(MessageFlags::HEADER_INDEX) {
            return Ok(Step::Done(State::Seek {
                preamble,
                length,
                walk: Box::new(walk),
                wanted: FrameType::HEADER_INDEX,
            }));
        }
        if preamble.flags.contains(MessageFlags::FOOTER_INDEX) {
            let postamble = Postamble::read(take!(have, Span::new(end, length)), end)?;
            if (PREAMBLE_LEN..end).contains(&postamble.first_footer_offset) {
                let walk = walk.starting_at(postamble.first_footer_offset);
                return Ok(Step::Done(State::Seek {
                    preamble,
                    length,
                    walk: Box::new(walk),
                    wanted: FrameType::FOOTER_INDEX,
                }));
            }
        }
        Ok(Step::Done(State::Walk(Box::new(OutlineBuilder::new(self.available, self.limits)))))
    }

    fn fall_back(&mut self) {
        *self = Self::by_walking(self.available, self.limits);
    }
}

/// What a walk found.
fn walked(outline: &Outline, gap: Option<Gap>) -> Directory {
    let objects = outline.objects.iter().map(|object| object.frame.span()).collect();
    Directory { preamble: outline.preamble, length: outline.length, objects, walked: true, gap }
}

/// The data object frame that fills `span` exactly, or `None` when something else stands there: the index lied.
///
/// `span` comes from a [`Directory`] of the message.
pub fn object_frame(have: &(impl Lookup + ?Sized), span: Span) -> Step<Option<FrameRef>> {
    let head = Span::new(span.start, span.start.saturating_add(FRAME_HEADER_LEN).min(span.end));
    let Some(bytes) = have.lookup(head) else { return Step::need(head) };
    let header = match FrameHeader::read(bytes, span.start) {
        Ok(header) if header.frame_type.content() == Some(FrameContent::Object) && header.length == span.len() => {
            header
        }
        _ => return Step::Done(None),
    };
    if header.length < header.frame_type.min_len() {
        return Step::Done(None);
    }
    let frame = FrameRef::new(span.start, header);
    let Some(marker) = have.lookup(frame.end_marker()) else { return Step::need(frame.end_marker()) };
    Step::Done((marker == FRAME_END).then_some(frame))
}

/// Whether the spans of an index could be true: inside the message, in order, and without room for objects it hides.
fn plausible(spans: &[Span], preamble: &Preamble, length: u64, at: &FrameRef, limits: &Limits) -> Option<bool> {
    let end = length.checked_sub(POSTAMBLE_LEN)?;
    if spans.len() as u64 > limits.object_count {
        return None;
    }
    let in_header = at.frame_type() == FrameType::HEADER_INDEX;
    let preceders = preamble.flags.contains(MessageFlags::PRECEDER_METADATA);
    // The first place where an object may begin, and whether it must begin exactly there.
    let mut expected = if in_header { at.next_start()? } else { PREAMBLE_LEN };
    let mut exact = in_header && !preamble.flags.contains(MessageFlags::HEADER_HASHES) && !preceders;
    for span in spans {
        let fits = span.len() >= FrameType::NTENSOR.min_len() && span.end <= end;
        if !fits || span.start < expected || (exact && span.start != expected) {
            return None;
        }
        expected = span.start.checked_add(align_up(span.len(), ALIGNMENT)?)?;
        exact = !preceders;
    }
    let footers = MessageFlags::FOOTER_METADATA | MessageFlags::FOOTER_INDEX | MessageFlags::FOOTER_HASHES;
    let has_footer = preamble.flags.0 & footers.0 != 0;
    Some(if has_footer { expected <= end } else { !exact || expected == end })
}

/// What to read of a message first: most headers fit.
pub(crate) const FIRST_READ: u64 = 4096;
