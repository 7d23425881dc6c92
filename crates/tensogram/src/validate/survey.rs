//! What can be told about a message without decoding it, damaged or not: the view behind listings.

use super::structure::{Frames, MOST_AHEAD, ObjectEntry, ReadStructure, Structure};
use super::{STRUCTURE, ValidateOptions, from_error, metadata, numbers};
use crate::access::{
    ReadFirstMetadata, ReadMachine, head_and_tail, in_source, merged, metadata_of, missing, preceder_entry, run,
};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::Result;
use crate::frame::{Based, Directory, FrameRef, Locate, Lookup, ObjectParts, on_slice};
use crate::options::DecodeOptions;
use crate::wire::{ALIGNMENT, FRAME_HEADER_LEN, FrameContent, POSTAMBLE_LEN, PREAMBLE_LEN, Preamble};
use fw_bytes::{Limits, Span, Step};
use fw_report::Report;
use fw_source::{Buffers, ReadAt};
use std::fmt;

/// A message as far as it can be followed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Survey {
    /// The preamble, unless not even that can be read.
    pub preamble: Option<Preamble>,
    /// The metadata of a full decode, or why there is none.
    pub metadata: Result<GlobalMetadata>,
    /// The data objects, in order.
    pub objects: Vec<SurveyedObject>,
    /// What is wrong with the structure; unknown frames are listed here and stepped over.
    pub report: Report,
}

/// One data object of a [`Survey`].
#[derive(Debug)]
#[non_exhaustive]
pub struct SurveyedObject {
    /// Position among the data objects of the message, those left out because they cannot be told apart included; its base
    /// entry is the one with this index.
    pub index: usize,
    /// Its frame.
    pub frame: FrameRef,
    /// Where descriptor and payload region stand in the message.
    pub parts: ObjectParts,
    /// Its descriptor, or why it cannot be read.
    pub descriptor: Result<DataObjectDescriptor>,
}

/// Follows a message as far as it goes, and reads metadata and descriptors.
pub fn survey(message: &[u8]) -> Survey {
    survey_with(message, &DecodeOptions::default())
}

/// [`survey`] with options, of which the limits matter: what is above one is a finding, or the error in place of what was
/// refused.
pub fn survey_with(message: &[u8], decode: &DecodeOptions) -> Survey {
    let span = Span::new(0, message.len() as u64);
    let mut machine = ReadSurvey::new(span, decode.limits);
    on_slice(message, |bytes| machine.poll(bytes)).unwrap_or_else(|error| {
        // Every byte that a survey asks for lies inside the message.
        let report = Report::from_iter([from_error(error.code(), &error, STRUCTURE)]);
        Survey { preamble: None, metadata: Err(error), objects: Vec::new(), report }
    })
}

/// [`survey`] of a message that fills a span of a source. Frame headers, metadata and descriptors are read; where the frames
/// cannot be followed, also the bytes up to the next frame.
///
/// # Errors
/// `Io` when the source cannot be read.
pub fn survey_source(source: &(impl ReadAt + ?Sized), message: Span) -> Result<Survey> {
    survey_source_with(source, message, &DecodeOptions::default())
}

/// [`survey_source`] with options, of which the limits matter.
///
/// # Errors
/// `Io` when the source cannot be read.
pub fn survey_source_with(source: &(impl ReadAt + ?Sized), message: Span, options: &DecodeOptions) -> Result<Survey> {
    run(source, &mut Buffers::new(), ReadSurvey::new(message, options.limits))
}

/// The machine behind every survey: the answer does not depend on where the bytes come from. Positions in it count from the
/// start of the message.
///
/// ```
/// use fw_bytes::{Limits, Span};
/// use fw_source::Buffers;
/// use fw_tensogram::{MessageBuilder, ReadSurvey, access::run};
///
/// let file = MessageBuilder::new().tensor(&[3], &[1u8, 2, 3])?.encode()?;
/// let message = Span::new(0, file.len() as u64);
/// let survey = run(&file[..], &mut Buffers::new(), ReadSurvey::new(message, Limits::default()))?;
/// assert_eq!(survey.objects.len(), 1);
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
pub struct ReadSurvey {
    message: Span,
    limits: Limits,
    state: State,
}

enum State {
    /// The index says where to look; what it says is not believed, only fetched.
    Ahead(Box<Locate>),
    Follow(Box<ReadStructure>),
    /// All frames are known; metadata and descriptors are to be read.
    Describe(Box<Described>),
    /// Not even the outer shell holds.
    Broken(Box<ReadFirstMetadata>, Report),
}

struct Described {
    frames: Frames,
    report: Report,
}

impl ReadSurvey {
    /// For the message that fills `message`.
    pub fn new(message: Span, limits: Limits) -> Self {
        Self { message, limits, state: State::Ahead(Box::new(Locate::new(message.len(), limits))) }
    }

    fn advance(&mut self, have: &(impl Lookup + ?Sized)) -> Step<Survey> {
        let len = self.message.len();
        loop {
            self.state = match &mut self.state {
                State::Ahead(locate) => {
                    let follow = || State::Follow(Box::new(ReadStructure::new(len, self.limits)));
                    if len == 0 || have.lookup(Span::new(0, len)).is_some() {
                        follow()
                    } else {
                        match locate.poll(have) {
                            Ok(Step::Need(spans)) if locate.is_by_index() => return Step::Need(spans),
                            Ok(Step::Done(directory)) => {
                                self.state = follow();
                                let absent = missing(have, ahead(&directory));
                                if !absent.is_empty() {
                                    return Step::Need(absent);
                                }
                                continue;
                            }
                            // Without an index, or with one that cannot be true, frame after frame.
                            Ok(Step::Need(_)) | Err(_) => follow(),
                        }
                    }
                }
                State::Follow(structure) => match structure.poll(have) {
                    Step::Need(spans) => return Step::Need(spans),
                    Step::Done(Some(frames)) => {
                        let report = std::mem::take(&mut structure.report);
                        State::Describe(Box::new(Described { frames, report }))
                    }
                    Step::Done(None) => {
                        let report = std::mem::take(&mut structure.report);
                        let first = ReadFirstMetadata::new(Span::new(0, len), self.limits);
                        State::Broken(Box::new(first), report)
                    }
                },
                State::Describe(described) => {
                    let others = described.frames.others().iter().filter(|frame| is_read(frame)).map(FrameRef::body);
                    let descriptors = described.frames.objects().iter().map(|object| object.parts.descriptor);
                    let absent = missing(have, others.chain(descriptors).filter(|span| !span.is_empty()));
                    if !absent.is_empty() {
                        return Step::Need(absent);
                    }
                    let empty = State::Follow(Box::new(ReadStructure::new(len, self.limits)));
                    let State::Describe(described) = std::mem::replace(&mut self.state, empty) else { continue };
                    return Step::Done(described.survey(have, self.limits));
                }
                State::Broken(first, report) => {
                    let metadata = match first.poll(have) {
                        Ok(Step::Need(spans)) => return Step::Need(spans),
                        Ok(Step::Done(metadata)) => Ok(metadata),
                        Err(error) => Err(error),
                    };
                    let head = have.lookup(Span::new(0, len.min(PREAMBLE_LEN)));
                    let preamble = head.and_then(|head| Preamble::read(head, 0).ok());
                    let report = std::mem::take(report);
                    return Step::Done(Survey { preamble, metadata, objects: Vec::new(), report });
                }
            };
        }
    }
}

impl fmt::Debug for ReadSurvey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadSurvey").field("message", &self.message).finish_non_exhaustive()
    }
}

impl ReadMachine for ReadSurvey {
    type Output = Survey;

    fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Survey>> {
        let message = self.message;
        in_source(message, Ok(self.advance(&Based::new(have, message.start))))
    }
}

impl Described {
    fn survey(self, have: &(impl Lookup + ?Sized), limits: Limits) -> Survey {
        let options = ValidateOptions { limits, ..ValidateOptions::default() };
        let Self { frames, mut report } = self;
        let mut structure = frames.of(have);
        report.extend(numbers::settle(&mut structure, &options));
        let surveyed = |object: &ObjectEntry| SurveyedObject {
            index: object.index,
            frame: object.frame,
            parts: object.parts,
            descriptor: metadata::descriptor_of(&structure, object, &options),
        };
        let objects = structure.objects.iter().map(surveyed).collect();
        let metadata = assembled(&structure, &options);
        Survey { preamble: Some(structure.preamble), metadata, objects, report }
    }
}

/// The frames whose bodies a survey reads.
fn is_read(frame: &FrameRef) -> bool {
    match frame.content() {
        Some(FrameContent::Metadata | FrameContent::Preceder | FrameContent::Index) => true,
        Some(FrameContent::Hashes | FrameContent::Object) | None => false,
    }
}

/// What the walk will ask for, if the index is right: everything before the first object and after the last one, and of
/// each object its header, its descriptor and what stands between it and the next.
fn ahead(directory: &Directory) -> Vec<Span> {
    let mut spans = Vec::with_capacity(directory.objects.len().saturating_mul(2).saturating_add(2));
    let end = directory.objects.last().map_or(PREAMBLE_LEN, |last| last.end);
    let first = directory.objects.first().map_or(directory.length, |first| first.start);
    let (header, footer) = (Span::new(0, first), Span::new(end, directory.length));
    let tail = Span::new(directory.length.saturating_sub(POSTAMBLE_LEN), directory.length);
    spans.push(if header.len() <= MOST_AHEAD { header } else { Span::new(0, PREAMBLE_LEN) });
    for object in &directory.objects {
        // The padding of this frame and the header of the next one come with it.
        let parts = head_and_tail(*object).into_iter().flatten();
        let after = |span: Span| if span.end == object.end { span.end.saturating_add(BETWEEN) } else { span.end };
        spans.extend(parts.map(|span| Span::new(span.start, after(span).min(directory.length))));
    }
    spans.push(if footer.len() <= MOST_AHEAD { footer } else { tail });
    spans
}

/// Padding after a frame, and the header of the next one.
const BETWEEN: u64 = ALIGNMENT + FRAME_HEADER_LEN;

/// The last metadata frame with the preceders merged in.
fn assembled<L: Lookup + ?Sized>(structure: &Structure<'_, L>, options: &ValidateOptions) -> Result<GlobalMetadata> {
    let frames = structure.others.iter();
    let is_metadata = |frame: &&FrameRef| frame.content() == Some(FrameContent::Metadata);
    let last = frames.clone().rfind(is_metadata);
    let mut last = last.map(|frame| metadata_of(structure.message, frame, &options.limits)).transpose()?;
    if let Some(metadata) = &mut last {
        // Objects may be missing; their entries are still worth showing.
        let objects = structure.objects.last().map_or(0, |object| object.index + 1);
        let count = metadata.base.len().max(objects);
        metadata.base.resize_with(count, Default::default);
    }
    let count = last.as_ref().map_or(0, |metadata| metadata.base.len());
    let mut preceders = vec![Default::default(); count];
    for preceder in frames.filter(|frame| frame.content() == Some(FrameContent::Preceder)) {
        // The object it was written for may be among those left out.
        let behind = structure.objects.iter().find(|object| object.frame.start() > preceder.start());
        let all_there = structure.objects.last().is_none_or(|object| object.index + 1 == structure.objects.len());
        let object = behind.filter(|object| all_there || Some(object.frame.start()) == preceder.next_start());
        if let Some(slot) = object.and_then(|object| preceders.get_mut(object.index)) {
            *slot = preceder_entry(structure.message, preceder, &options.limits)?;
        }
    }
    merged(last, preceders)
}
