//! Level 1: can the frames be followed, and do they stand where they should?

use super::{STRUCTURE, from_error, object_path};
use crate::error::TensogramError;
use crate::frame::{FrameRef, Gap, ObjectParts, UnknownFrames, Walk, WalkEvent, object_parts, on_slice};
use crate::wire::{
    FrameContent, FrameFlags, FrameType, KnownFrame, MIN_MESSAGE_LEN, MessageFlags, POSTAMBLE_LEN, PREAMBLE_LEN, Phase,
    Postamble, Preamble,
};
use fw_bytes::{ParseError, Span};
use fw_report::{Finding, Report};

/// A message whose frames were followed as far as they go.
pub(super) struct Structure<'a> {
    pub(super) message: &'a [u8],
    pub(super) preamble: Preamble,
    /// Metadata, index, hash and preceder frames, in order.
    pub(super) others: Vec<FrameRef>,
    /// Data objects whose parts could be told apart.
    pub(super) objects: Vec<ObjectEntry>,
    /// Bytes between frames that belong to none: frames may be lost there.
    pub(super) gaps: Vec<Gap>,
    /// Data object frames found, those that could not be told apart included.
    pub(super) object_count: usize,
    /// Whether the frames could not be followed to the end.
    pub(super) is_cut: bool,
}

pub(super) struct ObjectEntry {
    /// Position among the data object frames, those that could not be told apart included.
    pub(super) index: usize,
    pub(super) frame: FrameRef,
    pub(super) parts: ObjectParts,
}

impl<'a> Structure<'a> {
    /// Follows the frames; `None` when not even the outer shell holds.
    pub(super) fn read(message: &'a [u8], report: &mut Report) -> Option<Self> {
        let (preamble, postamble, length) = match shell(message) {
            Ok(shell) => shell,
            Err(finding) => {
                report.push(*finding);
                return None;
            }
        };
        let message = message.get(..length as usize)?;
        let end = length - POSTAMBLE_LEN;
        let mut walker = Walker {
            message,
            report,
            phase: Phase::Header,
            preceder: None,
            seen: MessageFlags(0),
            gaps: Vec::new(),
            object_count: 0,
            is_cut: false,
        };
        check_preamble(&preamble, walker.report);
        let (others, objects) = walker.follow(end);
        let Walker { seen, gaps, object_count, is_cut, .. } = walker;
        let first_footer =
            others.iter().find(|frame| frame.frame_type().phase() == Some(Phase::Footer)).map_or(end, FrameRef::start);
        check_postamble(&postamble, length, first_footer, report);
        check_flags(preamble.flags, seen, report);
        if seen.0 & (MessageFlags::HEADER_METADATA | MessageFlags::FOOTER_METADATA).0 == 0 {
            report.push(Finding::error("no_metadata_frame", "message has no metadata frame").level(STRUCTURE));
        }
        Some(Self { message, preamble, others, objects, gaps, object_count, is_cut })
    }
}

/// Preamble, postamble and length; the first fault here ends everything.
fn shell(message: &[u8]) -> Result<(Preamble, Postamble, u64), Box<Finding>> {
    let fail = |code: &'static str, error: &ParseError, at: u64, len: u64| {
        let text = error.to_string();
        let text = text.split(" at byte ").next().unwrap_or(&text).to_owned();
        Box::new(Finding::error(code, text).at(at..at + len).level(STRUCTURE))
    };
    let available = message.len() as u64;
    let preamble = Preamble::read(message, 0).map_err(|error| match error.code {
        "truncated" => fail("buffer_too_short", &error, 0, available),
        code => fail(code, &error, 0, PREAMBLE_LEN),
    })?;
    let length = preamble.checked_length(available, 0).map_err(|error| fail(error.code, &error, 16, 8))?;
    let length = length.unwrap_or(available);
    let end = match length.checked_sub(POSTAMBLE_LEN) {
        Some(end) if length >= MIN_MESSAGE_LEN => end,
        _ => {
            let error = ParseError::short("message", MIN_MESSAGE_LEN, length, 0);
            return Err(fail("postamble_invalid", &error, 0, length));
        }
    };
    let tail = message.get(end as usize..).unwrap_or(&[]);
    let postamble = Postamble::read(tail, end).map_err(|error| fail(error.code, &error, end, POSTAMBLE_LEN))?;
    Ok((preamble, postamble, length))
}

pub(super) fn check_preamble(preamble: &Preamble, report: &mut Report) {
    if preamble.reserved != 0 {
        let text = format!("reserved word of the preamble is 0x{:08x}, expected zero", preamble.reserved);
        report.push(Finding::warning("reserved_not_zero", text).at(12..16).level(STRUCTURE));
    }
    if preamble.flags.unknown() != 0 {
        let text = format!("preamble flags have unused bits 0x{:04x}", preamble.flags.unknown());
        report.push(Finding::warning("unknown_flags", text).at(10..12).level(STRUCTURE));
    }
}

pub(super) fn check_postamble(postamble: &Postamble, length: u64, first_footer: u64, report: &mut Report) {
    let end = length - POSTAMBLE_LEN;
    if let Err(error) = postamble.check_mirror(length, end) {
        let text = format!("{} says {}, the message has {length} bytes", error.what, error.found);
        report.push(Finding::error("postamble_invalid", text).at(end + 8..end + 16).level(STRUCTURE));
    }
    let offset = postamble.first_footer_offset;
    if !(PREAMBLE_LEN..=end).contains(&offset) {
        let text = format!("first_footer_offset {offset} is outside {PREAMBLE_LEN}..={end}");
        report.push(Finding::error("footer_offset_out_of_range", text).at(end..end + 8).level(STRUCTURE));
    }
    if offset != first_footer {
        let text =
            format!("first_footer_offset is {offset}, the first footer frame or the postamble is at {first_footer}");
        report.push(Finding::warning("footer_offset_mismatch", text).at(end..end + 8).level(STRUCTURE));
    }
}

/// Bits 0 to 6 promise frames; each that disagrees with the frames found is a finding.
pub(super) fn check_flags(promised: MessageFlags, seen: MessageFlags, report: &mut Report) {
    for (bit, name) in MessageFlags::NAMES.iter().filter(|(bit, _)| *bit != MessageFlags::HASHES_PRESENT) {
        let text = match (promised.contains(*bit), seen.contains(*bit)) {
            (true, false) => format!("flag {name} is set, but there is no such frame"),
            (false, true) => format!("flag {name} is clear, but there is such a frame"),
            _ => continue,
        };
        report.push(Finding::warning("flag_mismatch", text).at(10..12).level(STRUCTURE));
    }
}

/// The flag that announces a frame of this type; no bit for types that none announces.
pub(super) fn announcement_of(frame_type: FrameType) -> MessageFlags {
    frame_type.known().and_then(KnownFrame::announced_by).unwrap_or_default()
}

struct Walker<'a, 'r> {
    message: &'a [u8],
    report: &'r mut Report,
    phase: Phase,
    preceder: Option<FrameRef>,
    seen: MessageFlags,
    gaps: Vec<Gap>,
    object_count: usize,
    is_cut: bool,
}

impl Walker<'_, '_> {
    fn follow(&mut self, end: u64) -> (Vec<FrameRef>, Vec<ObjectEntry>) {
        let (mut others, mut objects) = (Vec::new(), Vec::new());
        let mut walk = Walk::bounded(end, UnknownFrames::StepOver);
        loop {
            let before = walk.position();
            let frame = match on_slice(self.message, |bytes| walk.poll(bytes)) {
                Ok(WalkEvent::Frame(frame)) => frame,
                Ok(WalkEvent::End(_)) => {
                    self.check_gap(before, end);
                    break;
                }
                Err(error) => {
                    self.broken(&error);
                    self.is_cut = true;
                    break;
                }
            };
            self.check_gap(before, frame.start());
            self.check_order(&frame);
            self.check_frame_flags(&frame);
            if frame.content() == Some(FrameContent::Object) {
                if let Some(entry) = self.object(frame, self.object_count) {
                    objects.push(entry);
                }
                self.object_count += 1;
            } else if frame.content().is_some() {
                others.push(frame);
            }
        }
        if let Some(preceder) = self.preceder {
            let text = "preceder without an object behind it";
            self.report.push(Finding::error("dangling_preceder", text).at(preceder.span()).level(STRUCTURE));
        }
        (others, objects)
    }

    fn broken(&mut self, error: &TensogramError) {
        let code = error.code();
        // Codes of the walk are the codes of validation; they are named at the frame, not at the field.
        self.report.push(from_error(code, error, STRUCTURE));
    }

    /// Bytes between frames should be zero, and fewer than eight.
    fn check_gap(&mut self, start: u64, end: u64) {
        let gap = Span::new(start, end);
        let Some(bytes) = gap.slice_of(self.message, 0) else { return };
        if bytes.iter().any(|byte| *byte != 0) {
            let text = format!("{} bytes between frames are not all zero", gap.len());
            self.report.push(Finding::warning("non_zero_padding", text).at(gap).level(STRUCTURE));
            if gap.len() >= 8 {
                let text = format!("{} bytes between frames belong to no frame: one may be damaged", gap.len());
                self.report.push(Finding::error("frame_chain_broken", text).at(gap).level(STRUCTURE));
                self.gaps.push(Gap { span: gap, objects_before: self.object_count });
            }
        }
    }

    fn check_order(&mut self, frame: &FrameRef) {
        let frame_type = frame.frame_type();
        let Some(known) = frame_type.known() else {
            let text = format!("frame {frame_type} is not part of version 3; stepped over by its length");
            self.report.push(Finding::error("invalid_frame_header", text).at(frame.span()).level(STRUCTURE));
            return;
        };
        let phase = known.phase();
        if phase < self.phase {
            let text = format!("frame of {frame_type} stands behind the {:?} phase", self.phase);
            self.report.push(Finding::error("frame_order_violation", text).at(frame.span()).level(STRUCTURE));
        } else {
            self.phase = phase;
        }
        if let Some(preceder) = self.preceder.take()
            && known.content() != FrameContent::Object
        {
            let text = format!("preceder at byte {} is followed by {frame_type}", preceder.start());
            let finding = Finding::error("preceder_not_followed_by_object", text).at(frame.span());
            self.report.push(finding.level(STRUCTURE));
        }
        if known.content() == FrameContent::Preceder {
            self.preceder = Some(*frame);
        }
        let flag = announcement_of(frame_type);
        if known.content() != FrameContent::Preceder && flag.0 != 0 && self.seen.contains(flag) {
            let text = format!("a second frame of {frame_type}; readers disagree which one counts");
            self.report.push(Finding::warning("repeated_frame", text).at(frame.span()).level(STRUCTURE));
        }
        self.seen = self.seen | flag;
    }

    fn check_frame_flags(&mut self, frame: &FrameRef) {
        let flags = frame.header().flags;
        let meaningless = flags.unknown()
            | FrameFlags::CBOR_AFTER_PAYLOAD.when(frame.content() != Some(FrameContent::Object)).0 & flags.0;
        if meaningless != 0 {
            let text = format!("frame flags have unused bits 0x{meaningless:04x}");
            let at = frame.start() + 6;
            self.report.push(Finding::warning("unknown_flags", text).at(at..at + 2).level(STRUCTURE));
        }
    }

    fn object(&mut self, frame: FrameRef, index: usize) -> Option<ObjectEntry> {
        match on_slice(self.message, |bytes| object_parts(&frame, bytes)) {
            Ok(parts) => Some(ObjectEntry { index, frame, parts }),
            Err(error) => {
                let code = match error.code() {
                    "cbor_offset_invalid" => "cbor_offset_invalid",
                    _ => "cbor_before_boundary_unknown",
                };
                let finding = from_error(code, &error, STRUCTURE).at(frame.span()).on(object_path(index));
                self.report.push(finding.object(index as u64));
                None
            }
        }
    }
}
