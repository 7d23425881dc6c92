//! A new message from what is left of an old one.

use super::draft::{Draft, DraftObject};
use super::frames::copy;
use super::{LEVEL, MessageState, RecoveredMessage};
use crate::describe::{GlobalMetadata, MetadataMap, RESERVED, Value};
use crate::error::Result;
use crate::frame::FrameRef;
use crate::wire::{FRAME_VERSION, FrameFlags, FrameHeader};
use crate::write::{Envelope, Framed, HashFrames, padded, tensor_information};
use fw_bytes::Span;
use fw_report::{Finding, Report};
use fw_source::ReadAt;
use std::io::Write;

/// Writes the message of a draft, the source's message `number`, at position `at` of the sink, and says what it lacks. `None`
/// when there is nothing to write.
pub(super) fn write(
    source: &(impl ReadAt + ?Sized),
    sink: &mut impl Write,
    draft: &Draft,
    number: usize,
    at: u64,
    report: &mut Report,
) -> Result<Option<RecoveredMessage>> {
    let Some(extent) = draft.extent else { return Ok(None) };
    let losses = losses(draft);
    let complete = losses.is_empty();
    report.extend(losses.into_iter().chain(remarks(draft, complete)).map(|finding| {
        let object = finding.object_index.map_or_else(String::new, |object| format!(".object[{object}]"));
        finding.on(format!("message[{number}]{object}"))
    }));
    // A message that keeps none of its objects would look like one that never had any.
    if draft.is_empty() || draft.objects.is_empty() && !complete {
        return Ok(None);
    }
    let metadata = metadata(draft, complete).to_cbor();
    let hashed = draft.objects.iter().all(|object| object.digest.is_some());
    let framed = |object: &DraftObject| Framed { len: object.frame.span().len(), digest: object.digest };
    let objects: Vec<Framed> = draft.objects.iter().map(framed).collect();
    let envelope = Envelope::around(&metadata, &objects, hashed, HashFrames { header: true, footer: false })?;
    sink.write_all(&envelope.head)?;
    for object in &draft.objects {
        // The digest does not cover the header; what only it says is written anew.
        sink.write_all(&clean_header(&object.frame).to_bytes())?;
        copy(source, Span::new(object.frame.body().start, object.frame.end()), sink)?;
        let len = object.frame.span().len();
        let padding = padded(len) - len;
        sink.write_all(&[0; 8][..padding as usize])?;
    }
    sink.write_all(&envelope.tail)?;
    let state = if complete { MessageState::Rebuilt } else { MessageState::Partial };
    Ok(Some(RecoveredMessage {
        number,
        source: extent,
        output: Span::new(at, at + envelope.total),
        state,
        object_count: draft.objects.len(),
        expected_count: draft.expected_count(),
    }))
}

fn clean_header(frame: &FrameRef) -> FrameHeader {
    let known = FrameFlags::CBOR_AFTER_PAYLOAD | FrameFlags::HASH_PRESENT;
    FrameHeader { version: FRAME_VERSION, flags: FrameFlags(frame.header().flags.0 & known.0), ..*frame.header() }
}

/// What is left of the metadata, with an entry for each object that was saved.
fn metadata(draft: &Draft, complete: bool) -> GlobalMetadata {
    let mut metadata = draft.metadata.clone().unwrap_or_default();
    metadata.base = draft.objects.iter().map(|object| entry(draft, object)).collect();
    if !complete {
        let mut note = vec![
            ("by", Value::from(concat!("framewright ", env!("CARGO_PKG_VERSION")))),
            ("metadata", Value::from(if draft.metadata.is_some() { "kept" } else { "lost" })),
            ("objects", Value::from(draft.objects.len() as u64)),
        ];
        if let Some(expected) = draft.expected_count() {
            note.push(("objects_lost", Value::from(expected.saturating_sub(draft.objects.len()) as u64)));
        }
        metadata.extra.insert(NOTE.to_owned(), note.into_iter().collect());
    }
    metadata
}

fn entry(draft: &Draft, object: &DraftObject) -> MetadataMap {
    let original = draft.metadata.as_ref().zip(draft.number_of(object));
    let mut entry = original.and_then(|(metadata, number)| metadata.base.get(number)).cloned().unwrap_or_default();
    if !draft.from_footer {
        entry.extend(object.preceder.clone());
    }
    // What the descriptor says of itself.
    entry.entry(RESERVED.to_owned()).or_insert_with(|| tensor_information(&object.descriptor));
    entry
}

/// What the new message lacks.
fn losses(draft: &Draft) -> Vec<Finding> {
    let mut losses = Vec::new();
    let mut say = |finding: Finding| losses.push(finding.level(LEVEL));
    let extent = draft.extent.unwrap_or_default();
    if draft.metadata.is_none() {
        let text = "the metadata of the message is lost and was replaced by empty metadata";
        say(Finding::error("metadata_lost", text).at(extent));
    }
    if draft.metadata.is_some() && draft.streamed && !draft.from_footer {
        let text = "the metadata after the objects is lost; the metadata before them, which is less complete, was used instead";
        say(Finding::error("footer_metadata_lost", text).at(extent));
    }
    for frame in &draft.unverified {
        let text = format!("{} carries no digest and was left out", frame.frame_type());
        say(Finding::error("unverified_frame", text).at(frame.span()));
    }
    let kept: Vec<Option<usize>> = draft.objects.iter().map(|object| draft.number_of(object)).collect();
    match draft.expected_count() {
        Some(expected) if draft.objects.len() < expected => {
            let unknown = kept.iter().any(Option::is_none);
            for number in (0..expected).filter(|number| !unknown && !kept.contains(&Some(*number))) {
                let span = draft.index.as_ref().and_then(|index| index.get(number)).copied();
                let finding = Finding::error("object_lost", format!("object {number} is lost"));
                say(finding.at(span.unwrap_or(extent)).object(number as u64));
            }
            if unknown {
                let text = format!("{} of {expected} objects are lost", expected - draft.objects.len());
                say(Finding::error("object_lost", text).at(extent));
            }
        }
        Some(_) => {}
        None => {
            for hole in &draft.holes {
                let text = format!("{} bytes of the message could not be used; objects may be lost", hole.len());
                say(Finding::error("unreadable_bytes", text).at(*hole));
            }
        }
    }
    if draft.metadata.is_some() && !draft.is_empty() {
        let nameless = kept.iter().filter(|number| number.is_none()).count();
        let any = draft.metadata.as_ref().is_some_and(|metadata| !metadata.base.is_empty());
        if nameless > 0 && any {
            let text = format!("the base entries of {nameless} objects could not be identified and were left out");
            say(Finding::error("base_entry_lost", text).at(extent));
        }
    }
    losses
}

/// What was wrong and is right again, or is part of a loss told above.
fn remarks(draft: &Draft, complete: bool) -> Vec<Finding> {
    let extent = draft.extent.unwrap_or_default();
    let mut remarks = Vec::new();
    if let Some(span) = draft.damaged_preamble {
        remarks.push(Finding::warning("preamble_lost", "the preamble was damaged").at(span).level(LEVEL));
    }
    if draft.expected_count().is_some() {
        for hole in &draft.holes {
            let text = format!("{} bytes of the message could not be used", hole.len());
            remarks.push(Finding::warning("unreadable_bytes", text).at(*hole).level(LEVEL));
        }
    }
    if complete {
        let text = "the message was damaged outside of its objects and metadata, and was rebuilt";
        remarks.push(Finding::warning("message_rebuilt", text).at(extent).level(LEVEL));
    }
    remarks
}

const NOTE: &str = "recovered";
