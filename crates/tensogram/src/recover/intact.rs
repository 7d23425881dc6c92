//! Messages that need no help: every frame in its place, every digest right, everything readable.

use super::frames::{Trust, trust};
use super::{RecoverOptions, Unverified};
use crate::access::{ReadHead, check_types, full_metadata, in_source};
use crate::error::{Result, TensogramError};
use crate::frame::{Based, Directory, FrameRef, Outline, OutlineBuilder};
use crate::pipeline;
use crate::validate::{ValidateMode, ValidateOptions, validate_span};
use crate::wire::{ALIGNMENT, FRAME_VERSION, FrameFlags, POSTAMBLE_LEN, PREAMBLE_LEN, Phase};
use fw_bytes::{Span, Step};
use fw_source::{Buffers, ReadAt, drive};

/// The number of objects of the message at `span`, when it is intact.
pub(super) fn check(source: &(impl ReadAt + ?Sized), span: Span, options: &RecoverOptions) -> Result<Option<usize>> {
    match examine(source, span, options) {
        Ok(count) => Ok(count),
        Err(error) if error.is_io() => Err(error),
        Err(_) => Ok(None),
    }
}

fn examine(source: &(impl ReadAt + ?Sized), span: Span, options: &RecoverOptions) -> Result<Option<usize>> {
    let mut buffers = Buffers::new();
    let mut builder = OutlineBuilder::new(span.len(), options.limits);
    let outline = drive::<_, TensogramError>(source, &mut buffers, |have| {
        in_source(span, builder.poll(&Based::new(have, span.start)))
    })?;
    // Digests cover neither the types of frames nor what the preamble announces.
    for phase in [Phase::Header, Phase::Footer] {
        check_types(outline.preamble.flags, phase, &outline.others)?;
    }
    let frames = outline.others.iter().chain(outline.objects.iter().map(|object| &object.frame));
    let frames = frames.chain(outline.objects.iter().filter_map(|object| object.preceder.as_ref()));
    for frame in frames {
        match trust(source, &frame.shifted(span.start))? {
            Trust::Verified => {}
            Trust::Unverifiable if options.unverified == Unverified::Keep => {}
            Trust::Unverifiable | Trust::Damaged => return Ok(None),
        }
    }
    if !footer_is_where_it_says(&outline) || !is_gapless(&outline) {
        return Ok(None);
    }
    drive::<_, TensogramError>(source, &mut buffers, |have| {
        let based = Based::new(have, span.start);
        let preceders = outline.objects.iter().filter_map(|object| object.preceder.as_ref());
        let bodies = outline.others.iter().chain(preceders).map(FrameRef::body);
        let absent: Vec<Span> =
            bodies.filter_map(|body| body.shifted(span.start)).filter(|body| have.get(*body).is_none()).collect();
        if absent.is_empty() {
            full_metadata(&based, &outline, &options.limits).map(Step::Done)
        } else {
            Ok(Step::Need(absent))
        }
    })?;
    let directory = directory(&outline);
    for index in 0..outline.objects.len() {
        let machine = ReadHead::with_directory(span, &directory, index, options.limits)?;
        let head = crate::access::run(source, &mut Buffers::new(), machine)?;
        pipeline::check_head(&head.descriptor, head.payload().len())?;
    }
    // Intact is what validation calls valid, its index and hash lists included.
    let decoding = ValidateOptions { limits: options.limits, ..ValidateOptions::mode(ValidateMode::Decode) };
    Ok(validate_span(source, span, &decoding)?.is_ok().then_some(outline.objects.len()))
}

/// Digests do not cover the postamble.
fn footer_is_where_it_says(outline: &Outline) -> bool {
    let end = outline.length.saturating_sub(POSTAMBLE_LEN);
    let first = outline.others.iter().find(|frame| frame.frame_type().phase() == Some(Phase::Footer));
    outline.postamble.first_footer_offset == first.map_or(end, FrameRef::start)
}

/// Every frame right behind the one before: bytes that the walk passed over may have been a frame. Digests do not cover
/// frame headers either; those that no writer makes are damaged.
fn is_gapless(outline: &Outline) -> bool {
    let objects = outline.objects.iter().flat_map(|object| object.preceder.into_iter().chain([object.frame]));
    let mut frames: Vec<FrameRef> = outline.others.iter().copied().chain(objects).collect();
    frames.sort_by_key(FrameRef::start);
    let mut end = PREAMBLE_LEN;
    for frame in &frames {
        let known = FrameFlags::CBOR_AFTER_PAYLOAD | FrameFlags::HASH_PRESENT;
        let clean = frame.header().version == FRAME_VERSION && frame.header().flags.0 & !known.0 == 0;
        if !clean || frame.start().saturating_sub(end) >= ALIGNMENT {
            return false;
        }
        end = frame.end();
    }
    outline.length.saturating_sub(POSTAMBLE_LEN).saturating_sub(end) < ALIGNMENT
}

fn directory(outline: &Outline) -> Directory {
    let objects = outline.objects.iter().map(|object| object.frame.span()).collect();
    Directory { preamble: outline.preamble, length: outline.length, objects, walked: true, gap: None }
}
