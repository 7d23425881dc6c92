//! Level 1: can the frames be followed, and do they stand where they should?

use super::{STRUCTURE, from_error, object_path};
use crate::access::{SMALL_FRAME, TAIL_LOOK, mistaken};
use crate::frame::{
    FrameRef, Gap, Lookup, ObjectParts, UnknownFrames, Walk, WalkEvent, check_message_len, object_parts, take,
};
use crate::wire::{
    FRAME_VERSION, FrameContent, FrameFlags, FrameType, KnownFrame, MIN_MESSAGE_LEN, MessageFlags, POSTAMBLE_LEN,
    PREAMBLE_LEN, Phase, Postamble, Preamble,
};
use fw_bytes::{Limits, ParseError, Span, Step};
use fw_report::{Finding, Report};

/// A message whose frames were followed as far as they go, and its bytes: a slice, or what was fetched of them.
pub(super) struct Structure<'a, L: ?Sized = [u8]> {
    pub(super) message: &'a L,
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
    pub(super) fn read(message: &'a [u8], limits: &Limits, report: &mut Report) -> Option<Self> {
        let mut reading = ReadStructure::new(message.len() as u64, *limits);
        let step = reading.poll(message);
        report.extend(std::mem::take(&mut reading.report));
        match step {
            Step::Done(frames) => frames.map(|frames| frames.of(message.get(..reading.length()).unwrap_or(message))),
            Step::Need(spans) => {
                // The shell was checked and every frame lies inside it: nothing else is ever asked for.
                let end = spans.iter().map(|span| span.end).max().unwrap_or_default();
                let text = format!("need bytes up to {end}, the message has {}", message.len());
                report.push(Finding::error("truncated", text).level(STRUCTURE));
                None
            }
        }
    }
}

/// The frames of a message apart from its bytes.
pub(super) struct Frames {
    preamble: Preamble,
    followed: Walker,
}

impl Frames {
    /// The same with the bytes at hand.
    pub(super) fn of<L: ?Sized>(self, message: &L) -> Structure<'_, L> {
        let Self { preamble, followed: Walker { others, objects, gaps, object_count, is_cut, .. } } = self;
        Structure { message, preamble, others, objects, gaps, object_count, is_cut }
    }

    /// Metadata, index, hash and preceder frames, in order.
    pub(super) fn others(&self) -> &[FrameRef] {
        &self.followed.others
    }

    /// Data objects whose parts could be told apart.
    pub(super) fn objects(&self) -> &[ObjectEntry] {
        &self.followed.objects
    }
}

/// The machine behind [`Structure`]: it says which bytes it needs. What is wrong is in its report.
pub(super) struct ReadStructure {
    available: u64,
    limits: Limits,
    pub(super) report: Report,
    shell: Option<Shell>,
    walker: Option<Walker>,
}

/// What encloses the frames.
#[derive(Clone, Copy)]
struct Shell {
    preamble: Preamble,
    postamble: Postamble,
    length: u64,
}

impl ReadStructure {
    /// For a message of which `available` bytes exist.
    pub(super) const fn new(available: u64, limits: Limits) -> Self {
        Self { available, limits, report: Report::new(), shell: None, walker: None }
    }

    /// Goes on as far as the bytes at hand allow; `None` when not even the outer shell holds.
    pub(super) fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Step<Option<Frames>> {
        let shell = match self.shell {
            Some(shell) => shell,
            None => match shell(have, self.available, &self.limits) {
                Ok(Step::Done(shell)) => {
                    check_preamble(&shell.preamble, &mut self.report);
                    self.walker = Some(Walker::new(shell.length - POSTAMBLE_LEN, self.limits.object_count));
                    *self.shell.insert(shell)
                }
                Ok(Step::Need(spans)) => return Step::Need(spans),
                Err(finding) => {
                    self.report.push(*finding);
                    return Step::Done(None);
                }
            },
        };
        if let Some(walker) = &mut self.walker
            && let Step::Need(spans) = walker.follow(have, &mut self.report)
        {
            return Step::Need(spans);
        }
        let Some(followed) = self.walker.take() else { return Step::Done(None) };
        let Shell { preamble, postamble, length } = shell;
        let mut others = followed.others.iter();
        let first_footer = others.find(|frame| frame.frame_type().phase() == Some(Phase::Footer));
        let first_footer = first_footer.map_or(followed.end, FrameRef::start);
        check_postamble(&postamble, length, first_footer, &mut self.report);
        check_flags(preamble.flags, followed.seen, &mut self.report);
        check_doubled(preamble.flags, &followed.others, &mut self.report);
        if followed.seen.0 & (MessageFlags::HEADER_METADATA | MessageFlags::FOOTER_METADATA).0 == 0 {
            self.report.push(Finding::error("no_metadata_frame", "message has no metadata frame").level(STRUCTURE));
        }
        Step::Done(Some(Frames { preamble, followed }))
    }

    /// Bytes of the message, once its shell is known.
    fn length(&self) -> usize {
        self.shell.map_or(0, |shell| shell.length as usize)
    }
}

/// Preamble, postamble and length; the first fault here ends everything.
fn shell(have: &(impl Lookup + ?Sized), available: u64, limits: &Limits) -> Result<Step<Shell>, Box<Finding>> {
    let fail = |code: &'static str, error: &ParseError, at: u64, len: u64| {
        let text = error.to_string();
        let text = text.split(" at byte ").next().unwrap_or(&text).to_owned();
        Box::new(Finding::error(code, text).at(at..at + len).level(STRUCTURE))
    };
    let head = Span::new(0, available.min(PREAMBLE_LEN));
    let Some(head) = at_hand(have, head) else { return Ok(Step::need(head)) };
    let preamble = Preamble::read(head, 0).map_err(|error| match error.code {
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
    if let Err(error) = check_message_len(length, limits) {
        return Err(Box::new(from_error(error.code(), &error, STRUCTURE)));
    }
    let tail = take!(have, Span::new(end, length));
    let postamble = Postamble::read(tail, end).map_err(|error| fail(error.code, &error, end, POSTAMBLE_LEN))?;
    Ok(Step::Done(Shell { preamble, postamble, length }))
}

/// The bytes of a span, which may be empty.
fn at_hand(have: &(impl Lookup + ?Sized), span: Span) -> Option<&[u8]> {
    if span.is_empty() { Some(&[]) } else { have.lookup(span) }
}

fn check_preamble(preamble: &Preamble, report: &mut Report) {
    if preamble.reserved != 0 {
        let text = format!("reserved word of the preamble is 0x{:08x}, expected zero", preamble.reserved);
        report.push(Finding::warning("reserved_not_zero", text).at(12..16).level(STRUCTURE));
    }
    if preamble.flags.unknown() != 0 {
        let text = format!("preamble flags have unused bits 0x{:04x}", preamble.flags.unknown());
        report.push(Finding::warning("unknown_flags", text).at(10..12).level(STRUCTURE));
    }
}

fn check_postamble(postamble: &Postamble, length: u64, first_footer: u64, report: &mut Report) {
    let end = length - POSTAMBLE_LEN;
    if let Err(error) = postamble.check_mirror(length, end) {
        let text = format!("{} is {}, the message has {length} bytes", error.what, error.found);
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
fn check_flags(promised: MessageFlags, seen: MessageFlags, report: &mut Report) {
    for (bit, name) in MessageFlags::NAMES.iter().filter(|(bit, _)| *bit != MessageFlags::HASHES_PRESENT) {
        let text = match (promised.contains(*bit), seen.contains(*bit)) {
            (true, false) => format!("flag {name} is set, but there is no such frame"),
            (false, true) => format!("flag {name} is clear, but there is such a frame"),
            _ => continue,
        };
        report.push(Finding::warning("flag_mismatch", text).at(10..12).level(STRUCTURE));
    }
}

/// A metadata frame more than announced while another frame is missing that the preamble announces: the type of one of them
/// is damaged, which digests do not cover.
fn check_doubled(promised: MessageFlags, frames: &[FrameRef], report: &mut Report) {
    for phase in [Phase::Header, Phase::Footer] {
        if let Some((missing, Some(second))) = mistaken(promised, phase, frames) {
            let text = format!(
                "one more frame of {} than announced, and no {missing}, which is: one of the types is wrong",
                second.frame_type()
            );
            report.push(Finding::error("repeated_frame", text).at(second.span()).level(STRUCTURE));
        }
    }
}

/// The flag that announces a frame of this type; no bit for types that none announces.
fn announcement_of(frame_type: FrameType) -> MessageFlags {
    frame_type.known().and_then(KnownFrame::announced_by).unwrap_or_default()
}

/// Follows the frames and checks how they stand.
struct Walker {
    /// Where the frames end.
    end: u64,
    most_objects: u64,
    walk: Walk,
    /// What the walk came to, and where it was before: bytes of it are still awaited.
    next: Option<(u64, WalkEvent)>,
    phase: Phase,
    preceder: Option<FrameRef>,
    seen: MessageFlags,
    others: Vec<FrameRef>,
    objects: Vec<ObjectEntry>,
    gaps: Vec<Gap>,
    object_count: usize,
    is_cut: bool,
}

impl Walker {
    const fn new(end: u64, most_objects: u64) -> Self {
        Self {
            end,
            most_objects,
            walk: Walk::bounded(end, UnknownFrames::StepOver),
            next: None,
            phase: Phase::Header,
            preceder: None,
            seen: MessageFlags(0),
            others: Vec::new(),
            objects: Vec::new(),
            gaps: Vec::new(),
            object_count: 0,
            is_cut: false,
        }
    }

    /// Goes on as far as the bytes at hand allow.
    fn follow(&mut self, have: &(impl Lookup + ?Sized), report: &mut Report) -> Step<()> {
        loop {
            let position = self.walk.position();
            let (before, event) = match self.next {
                Some(next) => next,
                None => match self.walk.poll(have) {
                    Ok(Step::Done(event)) => *self.next.insert((position, event)),
                    Ok(Step::Need(spans)) => return Step::Need(self.ahead(spans)),
                    Err(error) => {
                        report.push(from_error(error.code(), &error, STRUCTURE));
                        self.is_cut = true;
                        break;
                    }
                },
            };
            let frame = match event {
                WalkEvent::Frame(frame) => Some(frame),
                WalkEvent::End(_) => None,
            };
            let gap = Span::new(before, frame.as_ref().map_or(self.end, FrameRef::start));
            let Some(padding) = at_hand(have, gap) else { return Step::need(gap) };
            let parts = match frame.filter(|frame| frame.content() == Some(FrameContent::Object)) {
                Some(frame) => match object_parts(&frame, have) {
                    Ok(Step::Need(spans)) => return Step::Need(spans),
                    Ok(Step::Done(parts)) => Some(Ok(parts)),
                    Err(error) => Some(Err(error)),
                },
                None => None,
            };
            self.next = None;
            self.check_gap(gap, padding, report);
            let Some(frame) = frame else { break };
            self.check_order(&frame, report);
            self.check_frame_header(&frame, report);
            match parts {
                Some(_) if self.object_count as u64 >= self.most_objects => {
                    let text = format!("more than {} objects", self.most_objects);
                    report.push(Finding::error("limit_object_count", text).at(frame.span()).level(STRUCTURE));
                    self.is_cut = true;
                    break;
                }
                Some(parts) => self.object(frame, parts, report),
                None if frame.content().is_some() => self.others.push(frame),
                None => {}
            }
        }
        if let Some(preceder) = self.preceder.take() {
            let text = "preceder without an object after it";
            report.push(Finding::error("dangling_preceder", text).at(preceder.span()).level(STRUCTURE));
        }
        Step::Done(())
    }

    /// What to fetch for the walk: with the end of a frame comes what is read of it next.
    fn ahead(&self, mut spans: Vec<Span>) -> Vec<Span> {
        if let (Some(frame), Some(end)) = (self.walk.awaited(), spans.first_mut()) {
            let look = match frame.content() {
                // A small object comes whole; of a large one the end, where most descriptors fit.
                Some(FrameContent::Object) if frame.span().len() > SMALL_FRAME => TAIL_LOOK,
                Some(FrameContent::Object) => SMALL_FRAME,
                Some(FrameContent::Metadata | FrameContent::Preceder | FrameContent::Index) => MOST_AHEAD,
                Some(FrameContent::Hashes) | None => 0,
            };
            end.start = end.start.saturating_sub(look).max(frame.start());
        }
        spans
    }

    /// Bytes between frames should be zero, and fewer than eight.
    fn check_gap(&mut self, gap: Span, bytes: &[u8], report: &mut Report) {
        if bytes.iter().any(|byte| *byte != 0) {
            let text = format!("{} bytes between frames are not all zero", gap.len());
            report.push(Finding::warning("non_zero_padding", text).at(gap).level(STRUCTURE));
            if gap.len() >= 8 {
                let text =
                    format!("{} bytes between frames are not part of any frame: a frame may be damaged", gap.len());
                report.push(Finding::error("frame_chain_broken", text).at(gap).level(STRUCTURE));
                self.gaps.push(Gap { span: gap, objects_before: self.object_count });
            }
        }
    }

    fn check_order(&mut self, frame: &FrameRef, report: &mut Report) {
        let frame_type = frame.frame_type();
        let Some(known) = frame_type.known() else {
            let text = format!("frame {frame_type} is not part of version 3 and was skipped");
            report.push(Finding::error("invalid_frame_header", text).at(frame.span()).level(STRUCTURE));
            return;
        };
        let phase = known.phase();
        if phase < self.phase {
            let text = format!("frame of {frame_type} after the {:?} phase", self.phase);
            report.push(Finding::error("frame_order_violation", text).at(frame.span()).level(STRUCTURE));
        } else {
            self.phase = phase;
        }
        if let Some(preceder) = self.preceder.take()
            && known.content() != FrameContent::Object
        {
            let text = format!("preceder at byte {} is followed by {frame_type}", preceder.start());
            let finding = Finding::error("preceder_not_followed_by_object", text).at(frame.span());
            report.push(finding.level(STRUCTURE));
        }
        if known.content() == FrameContent::Preceder {
            self.preceder = Some(*frame);
        }
        let flag = announcement_of(frame_type);
        if known.content() != FrameContent::Preceder && flag.0 != 0 && self.seen.contains(flag) {
            let text = format!("a second frame of {frame_type}; readers disagree about which one to use");
            report.push(Finding::warning("repeated_frame", text).at(frame.span()).level(STRUCTURE));
        }
        self.seen = self.seen | flag;
    }

    fn check_frame_header(&self, frame: &FrameRef, report: &mut Report) {
        let version = frame.header().version;
        if version != FRAME_VERSION {
            let text = format!("frame version is {version}, expected {FRAME_VERSION}");
            let at = frame.start() + 4;
            report.push(Finding::warning("frame_version", text).at(at..at + 2).level(STRUCTURE));
        }
        let flags = frame.header().flags;
        let meaningless = flags.unknown()
            | FrameFlags::CBOR_AFTER_PAYLOAD.when(frame.content() != Some(FrameContent::Object)).0 & flags.0;
        if meaningless != 0 {
            let text = format!("frame flags have unused bits 0x{meaningless:04x}");
            let at = frame.start() + 6;
            report.push(Finding::warning("unknown_flags", text).at(at..at + 2).level(STRUCTURE));
        }
    }

    fn object(&mut self, frame: FrameRef, parts: crate::Result<ObjectParts>, report: &mut Report) {
        let index = self.object_count;
        self.object_count += 1;
        match parts {
            Ok(parts) => self.objects.push(ObjectEntry { index, frame, parts }),
            Err(error) => {
                let code = match error.code() {
                    "cbor_offset_invalid" => "cbor_offset_invalid",
                    _ => "cbor_before_boundary_unknown",
                };
                let finding = from_error(code, &error, STRUCTURE).at(frame.span()).on(object_path(index));
                report.push(finding.object(index as u64));
            }
        }
    }
}

/// What is read of a frame together with its end, at most.
pub(super) const MOST_AHEAD: u64 = 1 << 20;
