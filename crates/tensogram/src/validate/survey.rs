//! What can be told about a message without decoding it, damaged or not: the view behind listings.

use super::structure::{Structure, announcement_of, check_flags, check_postamble, check_preamble};
use super::{ValidateOptions, metadata, numbers};
use crate::access::{ReadHead, full_metadata, merged, metadata_of, preceder_entry, run};
use crate::describe::{DataObjectDescriptor, GlobalMetadata};
use crate::error::Result;
use crate::frame::{Directory, FrameRef, ObjectParts, Outline, OutlineBuilder};
use crate::options::DecodeOptions;
use crate::wire::{FrameContent, FrameFlags, MessageFlags, POSTAMBLE_LEN, PREAMBLE_LEN, Phase, Preamble};
use fw_bytes::{Limits, Span, Step};
use fw_report::Report;
use fw_source::{Buffers, ReadAt, drive};
use std::io;

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

#[cfg(feature = "async")]
impl Survey {
    /// What was read of a message part by part. An object whose head cannot be read has no place to show.
    pub(crate) fn of_parts(
        preamble: Option<Preamble>,
        metadata: Result<GlobalMetadata>,
        heads: Vec<Result<crate::access::ObjectHead>>,
    ) -> Self {
        use fw_report::{Finding, Severity};
        let mut report = Report::new();
        let mut objects = Vec::new();
        for head in heads {
            match head {
                Ok(head) => objects.push(SurveyedObject {
                    index: head.index,
                    frame: head.frame,
                    parts: head.parts,
                    descriptor: Ok(head.descriptor),
                }),
                Err(error) => report.push(Finding::new(Severity::Error, error.code(), error.to_string())),
            }
        }
        Self { preamble, metadata, objects, report }
    }
}

/// Follows a message as far as it goes, and reads metadata and descriptors.
pub fn survey(message: &[u8]) -> Survey {
    survey_with(message, &DecodeOptions::default())
}

/// [`survey`] with options, of which the limits matter.
pub fn survey_with(message: &[u8], decode: &DecodeOptions) -> Survey {
    let options = ValidateOptions { limits: decode.limits, ..ValidateOptions::default() };
    let mut report = Report::new();
    let Some(mut structure) = Structure::read(message, &mut report) else {
        let metadata = crate::read::decode_metadata_with(message, decode);
        return Survey { preamble: Preamble::read(message, 0).ok(), metadata, objects: Vec::new(), report };
    };
    report.extend(numbers::settle(&mut structure, &options));
    let objects = structure
        .objects
        .iter()
        .map(|object| SurveyedObject {
            index: object.index,
            frame: object.frame,
            parts: object.parts,
            descriptor: metadata::descriptor_of(&structure, object, &options),
        })
        .collect();
    let metadata = assembled(&structure, &options);
    Survey { preamble: Some(structure.preamble), metadata, objects, report }
}

/// [`survey`] of a message that fills a span of a source. Of a message without faults only frame headers, metadata and
/// descriptors are read; one with faults is read whole, to say more.
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
    let within = Within { source, message };
    match faultless(&within, options.limits) {
        Ok(Some(survey)) => Ok(survey),
        Err(error @ crate::TensogramError::Io(_)) => Err(error),
        _ => {
            let len = usize::try_from(message.len()).map_err(|_| crate::error::too_large())?;
            let mut bytes = fw_codec::alloc::zeroed(len)?;
            source.read_exact_at(message.start, &mut bytes)?;
            Ok(survey_with(&bytes, options))
        }
    }
}

/// The survey of a message in which nothing needs a closer look than its frames.
fn faultless<S: ReadAt + ?Sized>(source: &Within<'_, S>, limits: Limits) -> Result<Option<Survey>> {
    let len = source.message.len();
    let (whole, mut buffers) = (Span::new(0, len), Buffers::new());
    let mut builder = OutlineBuilder::new(len, limits);
    let outline = drive::<_, crate::TensogramError>(source, &mut buffers, |have| builder.poll(have))?;
    let mut report = Report::new();
    check_preamble(&outline.preamble, &mut report);
    let Some(seen) = frames_in_place(&outline, &buffers) else { return Ok(None) };
    let end = outline.length.saturating_sub(POSTAMBLE_LEN);
    let footer = outline.others.iter().find(|frame| frame.frame_type().phase() == Some(Phase::Footer));
    check_postamble(&outline.postamble, outline.length, footer.map_or(end, FrameRef::start), &mut report);
    check_flags(outline.preamble.flags, seen, &mut report);
    let preceders = outline.objects.iter().filter_map(|object| object.preceder.as_ref());
    let bodies: Vec<Span> = outline.others.iter().chain(preceders).map(FrameRef::body).collect();
    let metadata = drive::<_, crate::TensogramError>(source, &mut buffers, |have| {
        let absent: Vec<Span> = bodies.iter().copied().filter(|body| have.get(*body).is_none()).collect();
        if absent.is_empty() { full_metadata(have, &outline, &limits).map(Step::Done) } else { Ok(Step::Need(absent)) }
    })?;
    let spans = outline.objects.iter().map(|object| object.frame.span()).collect();
    let (preamble, length) = (outline.preamble, outline.length);
    let directory = Directory { preamble, length, objects: spans, walked: true, gap: None };
    let object = |index| {
        let head = ReadHead::with_directory(whole, &directory, index, limits)?;
        let head = run(source, &mut Buffers::new(), head)?;
        Ok(SurveyedObject { index, frame: head.frame, parts: head.parts, descriptor: Ok(head.descriptor) })
    };
    let objects = (0..outline.objects.len()).map(object).collect::<Result<_>>()?;
    Ok(Some(Survey { preamble: Some(outline.preamble), metadata: Ok(metadata), objects, report }))
}

/// The flags that the frames of a message call for, when each stands right behind the last and has nothing odd about it.
fn frames_in_place(outline: &Outline, have: &Buffers) -> Option<MessageFlags> {
    let objects = outline.objects.iter().flat_map(|object| object.preceder.into_iter().chain([object.frame]));
    let mut frames: Vec<FrameRef> = outline.others.iter().copied().chain(objects).collect();
    frames.sort_by_key(FrameRef::start);
    let mut seen = MessageFlags(0);
    let mut end = PREAMBLE_LEN;
    let padding =
        |gap: Span| gap.is_empty() || gap.len() < 8 && have.get(gap).is_some_and(|gap| gap.iter().all(|b| *b == 0));
    for frame in &frames {
        let (frame_type, flags) = (frame.frame_type(), frame.header().flags);
        let announced = announcement_of(frame_type);
        let repeated = frame_type.phase() != Some(Phase::Body) && seen.contains(announced);
        let odd = frame.content() != Some(FrameContent::Object) && flags.contains(FrameFlags::CBOR_AFTER_PAYLOAD);
        if repeated || odd || flags.unknown() != 0 || !padding(Span::new(end, frame.start())) {
            return None;
        }
        seen = seen | announced;
        end = frame.end();
    }
    padding(Span::new(end, outline.length.saturating_sub(POSTAMBLE_LEN))).then_some(seen)
}

/// A message as a source of its own: positions count from its first byte.
struct Within<'s, S: ?Sized> {
    source: &'s S,
    message: Span,
}

impl<S: ReadAt + ?Sized> ReadAt for Within<'_, S> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.message.len())
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.source.read_exact_at(self.message.start.saturating_add(offset), buffer)
    }
}

/// The last metadata frame with the preceders merged in.
fn assembled(structure: &Structure<'_>, options: &ValidateOptions) -> Result<GlobalMetadata> {
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
