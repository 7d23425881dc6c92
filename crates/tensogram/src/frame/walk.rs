//! Frame after frame, tolerant of padding, strict about lengths (TG-4.5).
//!
//! After a frame the next one is looked for at the next multiple of eight, then right behind the frame, then byte by
//! byte. So everything the reference reads is read, and so are the frames of producers that do not pad.

use super::{FrameRef, Lookup, take};
use crate::error::{Fault, Result, TensogramError};
use crate::wire::{
    ALIGNMENT, END_MAGIC, FRAME_END, FRAME_HEADER_LEN, FRAME_MAGIC, FrameHeader, FrameType, POSTAMBLE_LEN, PREAMBLE_LEN,
};
use fw_bytes::{Detail, ParseError, Span, Step, align_up};

/// What to do with frame types that version 3 does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownFrames {
    /// An error, as every decoder must.
    Refuse,
    /// Reported like any other frame, stepped over by its length; for tools that look rather than decode.
    StepOver,
}

/// The next thing a walk comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEvent {
    /// A frame, complete and inside the message.
    Frame(FrameRef),
    /// No further frame; the postamble begins here.
    End(u64),
}

/// Follows the frames of one message.
#[derive(Clone, Debug)]
pub struct Walk {
    /// One past the last frame, or past the preamble.
    position: u64,
    seek: Seek,
    end: End,
    unknown: UnknownFrames,
    /// A header already read, whose end marker is still to be checked.
    pending: Option<FrameRef>,
    /// Whether something other than zeros was passed over since the last frame.
    passed: bool,
    /// The first bytes passed over that may have been a frame.
    gap: Option<Span>,
}

/// Where the next frame is looked for. Each place remembers the first one, behind which a search begins.
#[derive(Clone, Copy, Debug)]
enum Seek {
    /// After the padding of the last frame, which is counted from its start.
    Padded(u64),
    /// At the next multiple of eight of the message, where that is another place.
    Aligned(u64),
    /// Right after the last frame.
    Exact(u64),
    From(u64),
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// Frames end here.
    At(u64),
    /// Frames end where a postamble is found, at the latest here.
    Open(u64),
}

impl Walk {
    /// Walks a message whose frames end at `end`.
    pub const fn bounded(end: u64, unknown: UnknownFrames) -> Self {
        Self::new(End::At(end), unknown)
    }

    /// Walks a message of unknown length; its postamble must end at or before `limit`.
    pub const fn open_ended(limit: u64, unknown: UnknownFrames) -> Self {
        Self::new(End::Open(limit), unknown)
    }

    const fn new(end: End, unknown: UnknownFrames) -> Self {
        let (position, seek) = (PREAMBLE_LEN, Seek::Padded(PREAMBLE_LEN));
        Self { position, seek, end, unknown, pending: None, passed: false, gap: None }
    }

    /// The same walk beginning at `position` instead of behind the preamble.
    #[must_use]
    pub const fn starting_at(mut self, position: u64) -> Self {
        self.position = position;
        self.seek = Seek::From(position);
        self
    }

    /// One past the last frame reported, or past the preamble.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// The first bytes between frames that are more than padding: a frame may have stood there.
    pub const fn gap(&self) -> Option<Span> {
        self.gap
    }

    /// The frame whose header was read and whose end is still awaited.
    pub const fn awaited(&self) -> Option<&FrameRef> {
        self.pending.as_ref()
    }

    /// Moves to the next frame.
    ///
    /// # Errors
    /// A frame that cannot be followed: header cut short, unknown type, length below the minimum or past the end, no
    /// end marker; and for open-ended walks, bytes that are neither a frame nor a postamble.
    pub fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<WalkEvent>> {
        if let Some(frame) = self.pending {
            return self.complete(have, frame);
        }
        loop {
            let candidate = match self.seek {
                Seek::Padded(position) | Seek::From(position) => position,
                Seek::Aligned(_) => self.aligned(),
                Seek::Exact(_) => self.position,
            };
            let limit = self.limit();
            let room = limit.saturating_sub(candidate);
            let look = match self.end {
                End::At(_) if room < 2 => 0,
                End::At(_) => room.min(FRAME_HEADER_LEN),
                End::Open(_) if room < POSTAMBLE_LEN => 0,
                End::Open(_) => POSTAMBLE_LEN,
            };
            if look > 0 {
                let bytes = take!(have, Span::new(candidate, candidate.saturating_add(look)));
                if bytes.starts_with(FRAME_MAGIC) {
                    let frame = self.accept(FrameHeader::read(bytes, candidate)?, candidate)?;
                    self.pending = Some(frame);
                    return self.complete(have, frame);
                }
                if matches!(self.end, End::Open(_)) && bytes.ends_with(END_MAGIC) {
                    return Ok(Step::Done(WalkEvent::End(candidate)));
                }
            }
            match self.seek {
                Seek::Padded(first) if first != self.aligned() => self.seek = Seek::Aligned(first),
                Seek::Padded(first) | Seek::Aligned(first) if candidate != self.position => {
                    self.seek = Seek::Exact(first);
                }
                // Without a known end, a search could run into the next message.
                _ if matches!(self.end, End::Open(_)) => return self.lost(),
                // No frame at the near places; the reference goes on after the first one.
                Seek::Padded(first) | Seek::Aligned(first) | Seek::Exact(first) => {
                    self.seek = Seek::From(first.saturating_add(1));
                }
                Seek::From(_) if look == 0 => {
                    self.note_gap(limit);
                    return Ok(Step::Done(WalkEvent::End(limit)));
                }
                Seek::From(position) => {
                    // Blocks grow with the search: a long one takes few requests, a short one few bytes.
                    let searched = position.saturating_sub(self.position);
                    let block = searched.clamp(SEARCH_BLOCK, LARGEST_BLOCK);
                    let block = Span::new(position, limit.min(position.saturating_add(block)));
                    let bytes = take!(have, block);
                    let next = bytes.get(1..).and_then(|rest| memchr::memmem::find(rest, FRAME_MAGIC));
                    let passed = next.and_then(|skip| bytes.get(..=skip)).unwrap_or(bytes);
                    self.passed |= passed.iter().any(|byte| *byte != 0);
                    self.seek = Seek::From(match next {
                        Some(skip) => position.saturating_add(skip as u64).saturating_add(1),
                        None if block.end == limit => limit,
                        // A marker may straddle the block's end.
                        None => block.end.saturating_sub(1),
                    });
                }
            }
        }
    }

    fn aligned(&self) -> u64 {
        align_up(self.position, ALIGNMENT).unwrap_or(u64::MAX)
    }

    /// Notes what was passed over up to `end`, when it is more than padding.
    fn note_gap(&mut self, end: u64) {
        let gap = Span::new(self.position, end);
        if std::mem::take(&mut self.passed) && gap.len() >= ALIGNMENT && self.gap.is_none() {
            self.gap = Some(gap);
        }
    }

    fn lost(&self) -> Result<Step<WalkEvent>> {
        let at = self.position;
        let message = format!("neither a frame nor a postamble follows byte {at}");
        Err(TensogramError::Framing(Fault::format("postamble_invalid", message).at(at)))
    }

    fn limit(&self) -> u64 {
        match self.end {
            End::At(end) | End::Open(end) => end,
        }
    }

    fn accept(&self, header: FrameHeader, at: u64) -> Result<FrameRef> {
        let fail = |code, what, expected, found, at| Err(ParseError::value(code, what, expected, found, at).into());
        let FrameHeader { frame_type, length, .. } = header;
        if frame_type.known().is_none() && self.unknown == UnknownFrames::Refuse {
            return Err(unknown_type(frame_type, at));
        }
        let at_length = at.saturating_add(8);
        let found = Detail::Number(length);
        if length < frame_type.min_len() {
            let expected = Detail::AtLeast(frame_type.min_len());
            return fail("frame_too_small", "frame length", expected, found, at_length);
        }
        let Some(end) = at.checked_add(length) else {
            let expected = Detail::Text("a length that fits in 64 bits");
            return fail("frame_length_overflow", "frame length", expected, found, at_length);
        };
        if end > self.limit() {
            let expected = Detail::AtMost(self.limit().saturating_sub(at));
            return fail("frame_exceeds_message", "frame length", expected, found, at_length);
        }
        Ok(FrameRef::new(at, header))
    }

    fn complete(&mut self, have: &(impl Lookup + ?Sized), frame: FrameRef) -> Result<Step<WalkEvent>> {
        let marker = frame.end_marker();
        let Some(found) = have.lookup(marker) else {
            // One request brings the end marker and what follows it: the next header, or the postamble.
            let ahead = frame.next_start().unwrap_or(u64::MAX).saturating_add(POSTAMBLE_LEN);
            return Ok(Step::need(Span::new(marker.start, ahead.min(self.limit()))));
        };
        if found != FRAME_END {
            let (expected, found) = (Detail::raw(FRAME_END), Detail::raw(found));
            return Err(
                ParseError::value("missing_end_marker", "frame end marker", expected, found, marker.start).into()
            );
        }
        self.note_gap(frame.start());
        self.pending = None;
        self.position = frame.end();
        self.seek = Seek::Padded(frame.next_start().unwrap_or(u64::MAX));
        Ok(Step::Done(WalkEvent::Frame(frame)))
    }
}

/// A frame at `at` of a type that version 3 does not have.
pub(super) fn unknown_type(frame_type: FrameType, at: u64) -> TensogramError {
    let (expected, found) = (Detail::Text(frame_type.expected_instead()), Detail::Number(frame_type.0.into()));
    ParseError::value("invalid_frame_header", "frame type", expected, found, at.saturating_add(2)).into()
}

/// Bytes between frames are searched in blocks of at least this size.
const SEARCH_BLOCK: u64 = 64 << 10;
/// And of at most this size.
const LARGEST_BLOCK: u64 = 8 << 20;
