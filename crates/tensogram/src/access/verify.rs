//! Digests of the frames that describe a message, and types of frames that digests do not cover (TG-12.6).

use super::{missing, verify_frame_hash};
use crate::error::{Fault, Result, TensogramError};
use crate::frame::{FrameRef, Lookup, Outline};
use crate::wire::{FrameContent, FrameType, KnownFrame, MessageFlags, Phase};
use fw_bytes::{Span, Step};

/// Compares the digests of all frames that describe a message: metadata, preceders, index and hash list. Frames without a
/// digest pass. Positions count from the start of the message.
///
/// # Errors
/// `HashMismatch`; `Framing`, code `flag_mismatch`, where the type of a metadata frame must be wrong.
///
/// ```
/// use fw_bytes::Limits;
/// use fw_tensogram::{MessageBuilder, access::verify_description, frame::Outline};
///
/// let mut message = MessageBuilder::new().extra("run", "00Z").tensor(&[2], &[1u8, 2])?.encode()?;
/// let outline = Outline::of(&message, &Limits::default())?;
/// assert!(verify_description(&message[..], &outline).is_ok());
/// message[50] ^= 1;
/// assert_eq!(verify_description(&message[..], &outline).unwrap_err().code(), "hash_mismatch");
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
pub fn verify_description(have: &(impl Lookup + ?Sized), outline: &Outline) -> Result<Step<()>> {
    let preceders = outline.objects.iter().filter_map(|object| object.preceder.as_ref());
    let frames = outline.others.iter().chain(preceders);
    let absent = missing(have, frames.clone().map(FrameRef::span));
    if !absent.is_empty() {
        return Ok(Step::Need(absent));
    }
    for phase in [Phase::Header, Phase::Footer] {
        check_types(outline.preamble.flags, phase, &outline.others)?;
    }
    for frame in frames {
        verify_frame_hash(have, frame, None)?;
    }
    Ok(Step::Done(()))
}

/// Refuses a phase in which the type of a metadata frame must be damaged, which digests do not cover: the preamble announces
/// metadata and there is none, or something else that is not there while there is more metadata than announced.
///
/// # Errors
/// `Framing`, code `flag_mismatch`.
pub(crate) fn check_types(flags: MessageFlags, phase: Phase, frames: &[FrameRef]) -> Result<()> {
    let Some((missing, second)) = mistaken(flags, phase, frames) else { return Ok(()) };
    let (text, at) = match second {
        Some(second) => (
            format!("one more frame of {} than announced, and no {missing}, which is", second.frame_type()),
            second.span(),
        ),
        None => (format!("no frame of {missing}, which the preamble announces"), Span::new(10, 12)),
    };
    Err(TensogramError::Framing(Fault::format("flag_mismatch", text).at(at.start)))
}

/// The type that the preamble announces for this phase and that is not there, when a metadata frame is missing or there is one
/// more than announced; with the latter.
pub(crate) fn mistaken(
    flags: MessageFlags,
    phase: Phase,
    frames: &[FrameRef],
) -> Option<(FrameType, Option<FrameRef>)> {
    let of_phase = || frames.iter().filter(|frame| frame.frame_type().phase() == Some(phase));
    let is_announced =
        |known: &&KnownFrame| known.phase() == phase && known.announced_by().is_some_and(|flag| flags.contains(flag));
    let absent =
        |known: &&KnownFrame| is_announced(known) && of_phase().all(|frame| frame.frame_type() != known.frame_type());
    let is_metadata = |known: &&KnownFrame| known.content() == FrameContent::Metadata;
    if let Some(metadata) = KnownFrame::ALL.iter().filter(is_metadata).find(absent) {
        return Some((metadata.frame_type(), None));
    }
    let expected = KnownFrame::ALL.iter().filter(is_metadata).filter(|known| is_announced(known)).count();
    let second = of_phase().filter(|frame| frame.content() == Some(FrameContent::Metadata)).nth(expected)?;
    let other = KnownFrame::ALL.iter().find(absent)?;
    Some((other.frame_type(), Some(*second)))
}
