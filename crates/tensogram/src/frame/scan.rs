//! Messages in a file full of anything: intact ones are hopped over, junk is searched once, damage is stepped around
//! (TG-13).
//!
//! The forward walker needs a preamble and, a message length later, the end magic; the backward walker the mirrored
//! length in a postamble. Both take turns from the two ends until they meet. A message of unknown length is followed
//! frame by frame; only when that chain is broken does its end magic decide.

use super::{Based, Lookup, UnknownFrames, Walk, WalkEvent, advance};
use crate::error::Result;
use crate::wire::{END_MAGIC, MAGIC, MIN_MESSAGE_LEN, POSTAMBLE_LEN, PREAMBLE_LEN, Postamble, Preamble};
use fw_bytes::{Span, Step};
use fw_source::plan::Cost;
use memchr::memmem;

/// From which ends to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ScanDirection {
    /// From the start only.
    Forward,
    /// From the end, as long as postambles tell where their message begins; what is left then, from the start.
    Backward,
    /// From both ends in turn: on a remote file the last messages cost as little as the first.
    #[default]
    Bidirectional,
}

/// How to scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// From which ends to look.
    pub direction: ScanDirection,
    /// The longest message a backward hop believes in; a damaged mirror length then costs no far jump.
    pub max_backward_len: u64,
    /// Bytes read beyond what is needed while messages are small, so that many of them cost one read.
    pub read_ahead: u64,
    /// How many messages to guess ahead when two neighbours had the same length: their places are asked for together.
    /// Worth it where a request costs far more than its bytes; a wrong guess costs a few bytes each.
    pub guesses: u32,
    /// Bytes before the end of a message that are read together with its end magic. Worth it under the same condition: the
    /// descriptor of its last object mostly stands there.
    pub read_back: u64,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            direction: ScanDirection::default(),
            max_backward_len: 4 << 30,
            read_ahead: 64 << 10,
            guesses: 0,
            read_back: 0,
        }
    }
}

impl ScanOptions {
    /// For sources whose requests take long, such as stores: little is read ahead, neighbours of the same length are guessed
    /// (as many as one round takes, with both ends), and the descriptor at the end of a message comes with its end.
    pub const fn far() -> Self {
        Self {
            direction: ScanDirection::Bidirectional,
            max_backward_len: 4 << 30,
            read_ahead: 8 << 10,
            guesses: 12,
            read_back: 2 << 10,
        }
    }

    /// For a source with this cost: as [`ScanOptions::far`] where several requests travel at a time, else the default.
    pub fn of(cost: &Cost) -> Self {
        if cost.in_flight > 1 { Self::far() } else { Self::default() }
    }
}

/// Every message in `bytes`, in order.
///
/// Damaged regions are skipped; nothing is an error.
///
/// ```
/// assert!(fw_tensogram::scan(b"no message in here").is_empty());
/// ```
pub fn scan(bytes: &[u8]) -> Vec<Span> {
    scan_with(bytes, &ScanOptions::default())
}

/// [`scan`] with options.
pub fn scan_with(bytes: &[u8], options: &ScanOptions) -> Vec<Span> {
    let mut scanner = Scanner::new(bytes.len() as u64, *options);
    // On a slice every byte asked for is there, and a scan has no errors of its own.
    super::on_slice(bytes, |bytes| scanner.poll(bytes)).unwrap_or_default()
}

/// The machine behind [`scan`].
#[derive(Clone, Debug)]
pub struct Scanner {
    low: u64,
    high: u64,
    options: ScanOptions,
    front: Vec<Span>,
    back: Vec<Span>,
    state: State,
    /// The end magic nearest behind some position, so that many false starts share one search.
    nearest_end: Option<NearestEnd>,
    /// Frames that chains of unknown length may still follow in all; keeps hostile files linear.
    frame_budget: u64,
    /// The length that a postamble right before this `high` mirrors, if there is one.
    mirror: Option<(u64, Option<u64>)>,
    /// Length of the last message seen: small neighbours are read together.
    last_len: u64,
    /// Length that the last two messages from the front had in common.
    steady_len: Option<u64>,
}

#[derive(Clone, Debug)]
enum State {
    /// Is there a message at `low`?
    Hop,
    /// Follow the frames of a message of unknown length at `low`.
    Chain(Box<Walk>),
    /// The chain is broken: find the next end magic from here.
    FindEnd(u64),
    /// The end magic before `end` may end the message at `low`: is there another one inside?
    CheckInside { from: u64, end: u64 },
    /// No message at `low`: find the next magic from here.
    FindMagic(u64),
    /// Is there a message that ends at `high`?
    HopBack,
}

#[derive(Clone, Copy, Debug)]
struct NearestEnd {
    from: u64,
    /// Position of the end magic, or `None` when there is none up to `high`.
    found: Option<u64>,
}

impl Scanner {
    /// For a source of `len` bytes.
    pub const fn new(len: u64, options: ScanOptions) -> Self {
        let state = match options.direction {
            ScanDirection::Backward => State::HopBack,
            _ => State::Hop,
        };
        Self {
            low: 0,
            high: len,
            options,
            front: Vec::new(),
            back: Vec::new(),
            state,
            nearest_end: None,
            frame_budget: len / 16,
            mirror: None,
            last_len: 0,
            steady_len: None,
        }
    }

    /// The same, beginning at `low`, for sources whose earlier part is known.
    #[must_use]
    pub const fn starting_at(mut self, low: u64) -> Self {
        self.low = low;
        self
    }

    /// Goes on as far as the bytes at hand allow, to the end.
    ///
    /// From both ends at once it asks for what either end needs, so that a driver may fetch the two side by side.
    ///
    /// # Errors
    /// None of its own.
    pub fn poll(&mut self, have: &(impl Lookup + ?Sized)) -> Result<Step<Vec<Span>>> {
        while !self.is_done() {
            advance!(self.step(have));
        }
        Ok(Step::Done(self.take()))
    }

    /// Goes one step further: at most one message is found.
    pub fn step(&mut self, have: &(impl Lookup + ?Sized)) -> Step<()> {
        if self.is_done() {
            return Step::Done(());
        }
        let from_back = matches!(self.state, State::HopBack);
        match self.turn(have) {
            Step::Need(mut spans) if self.options.direction == ScanDirection::Bidirectional => {
                // The other end's turn comes next: its bytes may travel at the same time.
                let other = if from_back { self.front_need(have) } else { self.back_need(have) };
                spans.extend(other);
                Step::Need(spans)
            }
            step => step,
        }
    }

    /// How many messages are expected between the two ends, going by the length of the last one seen; none seen, none
    /// expected.
    pub(crate) fn expected(&self) -> u64 {
        self.high.saturating_sub(self.low).checked_div(self.last_len).unwrap_or(0)
    }

    /// True when no message can be left between the two ends.
    pub const fn is_done(&self) -> bool {
        self.high.saturating_sub(self.low) < MIN_MESSAGE_LEN
    }

    /// Messages found from the start so far, in order.
    pub fn front(&self) -> &[Span] {
        &self.front
    }

    /// Messages found from the end so far, the last one first.
    pub fn back(&self) -> &[Span] {
        &self.back
    }

    /// Takes the messages found so far out, in order.
    pub fn take(&mut self) -> Vec<Span> {
        let mut found = std::mem::take(&mut self.front);
        found.extend(self.back.drain(..).rev());
        found
    }

    fn turn(&mut self, have: &(impl Lookup + ?Sized)) -> Step<()> {
        match &mut self.state {
            State::Hop => self.hop(have),
            State::Chain(walk) => {
                match walk.poll(&Based::new(have, self.low)) {
                    Ok(Step::Need(spans)) => {
                        let shift = |span: Span| span.shifted(self.low).unwrap_or(span);
                        return Step::Need(spans.into_iter().map(shift).collect());
                    }
                    Ok(Step::Done(WalkEvent::Frame(_))) if self.frame_budget > 0 => {
                        self.frame_budget = self.frame_budget.saturating_sub(1);
                    }
                    Ok(Step::Done(WalkEvent::End(at))) => self.found_front(at.saturating_add(POSTAMBLE_LEN)),
                    _ => self.state = State::FindEnd(self.low.saturating_add(PREAMBLE_LEN)),
                }
                Step::Done(())
            }
            State::FindEnd(from) => {
                let from = *from;
                self.find_end(have, from)
            }
            State::CheckInside { from, end } => {
                let (from, end) = (*from, *end);
                self.check_inside(have, from, end)
            }
            State::FindMagic(from) => {
                let from = *from;
                self.find_magic(have, from)
            }
            State::HopBack => self.hop_back(have),
        }
    }

    /// What a hop from the front would ask for.
    fn front_need(&self, have: &(impl Lookup + ?Sized)) -> Option<Span> {
        let head = Span::new(self.low, self.low.saturating_add(PREAMBLE_LEN));
        let Some(bytes) = have.lookup(head) else { return Some(self.ahead(head)) };
        let length = Preamble::read(bytes, self.low).ok()?.total_length?;
        let end = self.low.checked_add(length).filter(|end| *end <= self.high)?;
        let tail = Span::new(end.saturating_sub(8), end);
        have.lookup(tail).is_none().then(|| self.ahead(self.with_back(tail)))
    }

    /// What a hop from the back would ask for.
    fn back_need(&self, have: &(impl Lookup + ?Sized)) -> Option<Span> {
        let tail = Span::new(self.high.saturating_sub(POSTAMBLE_LEN), self.high);
        let Some(bytes) = have.lookup(tail) else { return Some(self.behind(tail)) };
        let length = Postamble::read(bytes, tail.start).ok()?.total_length?;
        let start = self.high.checked_sub(length).filter(|start| *start >= self.low)?;
        let head = Span::new(start, start.saturating_add(PREAMBLE_LEN));
        have.lookup(head).is_none().then(|| self.behind(head))
    }

    /// The places where the next messages end, should they be as long as the last ones.
    fn guessed(&self, have: &(impl Lookup + ?Sized)) -> Vec<Span> {
        let Some(length) = self.steady_len.filter(|length| *length >= SMALL_MESSAGE) else { return Vec::new() };
        let mut places = Vec::new();
        let mut end = self.low.saturating_add(length);
        for _ in 0..self.options.guesses {
            end = end.saturating_add(length);
            let place = Span::new(end.saturating_sub(8), end.saturating_add(PREAMBLE_LEN).min(self.high));
            if end > self.high {
                break;
            }
            if have.lookup(place).is_none() {
                places.push(place);
            }
        }
        places
    }

    fn hop(&mut self, have: &(impl Lookup + ?Sized)) -> Step<()> {
        let head = Span::new(self.low, self.low.saturating_add(PREAMBLE_LEN));
        let Some(bytes) = have.lookup(head) else { return Step::need(self.ahead(head)) };
        let Ok(preamble) = Preamble::read(bytes, self.low) else { return self.skip() };
        let Some(length) = preamble.total_length else {
            let room = self.high.saturating_sub(self.low);
            // A streamed message that fills all there is, as in stores most do: its postamble says so, and no frame needs
            // to be followed.
            match self.mirror_at_end(have) {
                Step::Need(spans) => return Step::Need(spans),
                Step::Done(mirror) if mirror == Some(room) => {
                    self.found_front(room);
                    return Step::Done(());
                }
                Step::Done(_) => {}
            }
            self.state = if self.frame_budget == 0 {
                State::FindEnd(head.end)
            } else {
                State::Chain(Box::new(Walk::open_ended(room, UnknownFrames::StepOver)))
            };
            return Step::Done(());
        };
        let Some(end) = self.low.checked_add(length).filter(|end| length >= MIN_MESSAGE_LEN && *end <= self.high)
        else {
            return self.skip();
        };
        let tail = Span::new(end.saturating_sub(8), end);
        // One read brings this end magic and the next preamble.
        self.last_len = length;
        let Some(bytes) = have.lookup(tail) else {
            let mut spans = vec![self.ahead(self.with_back(tail))];
            spans.extend(self.guessed(have));
            return Step::Need(spans);
        };
        if bytes != END_MAGIC {
            return self.skip();
        }
        self.found_front(length);
        Step::Done(())
    }

    /// The length that a postamble at the end mirrors.
    fn mirror_at_end(&mut self, have: &(impl Lookup + ?Sized)) -> Step<Option<u64>> {
        if let Some((_, mirror)) = self.mirror.filter(|(high, _)| *high == self.high) {
            return Step::Done(mirror);
        }
        let tail = Span::new(self.high.saturating_sub(POSTAMBLE_LEN), self.high);
        let Some(bytes) = have.lookup(tail) else { return Step::need(self.behind(tail)) };
        let mirror = Postamble::read(bytes, tail.start).ok().and_then(|postamble| postamble.total_length);
        self.mirror = Some((self.high, mirror));
        Step::Done(mirror)
    }

    /// `span` and what is likely to be needed next: the preamble behind it, and small neighbours whole.
    fn ahead(&self, span: Span) -> Span {
        let more = if self.last_len < SMALL_MESSAGE { self.options.read_ahead.max(PREAMBLE_LEN) } else { PREAMBLE_LEN };
        Span::new(span.start, span.end.saturating_add(more).min(self.high))
    }

    /// The end of the message at `low`, with the bytes before it that are likely to be needed.
    fn with_back(&self, tail: Span) -> Span {
        let start = tail.start.saturating_sub(self.options.read_back).max(self.low);
        Span::new(start, tail.end)
    }

    fn found_front(&mut self, length: u64) {
        let end = self.low.saturating_add(length);
        self.steady_len = self.front.last().filter(|last| last.len() == length).map(|_| length);
        self.front.push(Span::new(self.low, end));
        self.low = end;
        self.state = match self.options.direction {
            ScanDirection::Forward => State::Hop,
            ScanDirection::Backward | ScanDirection::Bidirectional => State::HopBack,
        };
    }

    fn skip(&mut self) -> Step<()> {
        self.state = State::FindMagic(self.low.saturating_add(1));
        Step::Done(())
    }

    fn find_magic(&mut self, have: &(impl Lookup + ?Sized), from: u64) -> Step<()> {
        let block = self.block(from, self.high);
        let Some(bytes) = have.lookup(block) else { return Step::need(block) };
        match memmem::find(bytes, MAGIC) {
            Some(skip) => {
                self.low = from.saturating_add(skip as u64);
                self.state = State::Hop;
            }
            None if block.end == self.high => self.low = self.high,
            // A magic may straddle the block's end.
            None => self.state = State::FindMagic(block.end.saturating_sub(7)),
        }
        Step::Done(())
    }

    fn find_end(&mut self, have: &(impl Lookup + ?Sized), from: u64) -> Step<()> {
        let origin = self.low.saturating_add(PREAMBLE_LEN);
        let known = self.nearest_end.filter(|near| {
            near.from <= origin && near.found.is_none_or(|at| origin <= at && at.saturating_add(8) <= self.high)
        });
        if let Some(near) = known {
            return self.end_decided(have, near.found);
        }
        let block = self.block(from, self.high);
        let Some(bytes) = have.lookup(block) else { return Step::need(block) };
        let found = memmem::find(bytes, END_MAGIC).map(|skip| from.saturating_add(skip as u64));
        if found.is_none() && block.end < self.high {
            self.state = State::FindEnd(block.end.saturating_sub(7));
            return Step::Done(());
        }
        self.nearest_end = Some(NearestEnd { from: origin, found });
        self.end_decided(have, found)
    }

    /// Whether the end magic at `end_magic` ends the message at `low`: its postamble must not name another length, and
    /// no other message may begin in between, for then the end is that one's.
    fn end_decided(&mut self, have: &(impl Lookup + ?Sized), end_magic: Option<u64>) -> Step<()> {
        let Some(end) = end_magic.map(|at| at.saturating_add(8)) else { return self.skip() };
        let length = end.saturating_sub(self.low);
        if length < MIN_MESSAGE_LEN {
            return self.skip();
        }
        let tail = Span::new(end.saturating_sub(POSTAMBLE_LEN), end);
        let Some(bytes) = have.lookup(tail) else { return Step::need(tail) };
        let mirror = Postamble::read(bytes, tail.start).ok().and_then(|postamble| postamble.total_length);
        if mirror.is_some_and(|mirror| mirror != length) {
            return self.skip();
        }
        self.state = State::CheckInside { from: self.low.saturating_add(PREAMBLE_LEN), end };
        Step::Done(())
    }

    /// Looks for another message between the preamble at `low` and `end`; only then is the end this message's own.
    fn check_inside(&mut self, have: &(impl Lookup + ?Sized), from: u64, end: u64) -> Step<()> {
        let block = self.block(from, end);
        let Some(bytes) = have.lookup(block) else { return Step::need(block) };
        match memmem::find(bytes, MAGIC) {
            Some(skip) => {
                // A preamble of version 3 in there: this message was cut short, and the other one follows.
                let at = from.saturating_add(skip as u64);
                let head = Span::new(at, at.saturating_add(PREAMBLE_LEN).min(end));
                let Some(bytes) = have.lookup(head) else { return Step::need(head) };
                if Preamble::read(bytes, at).is_ok() {
                    self.low = at;
                    self.state = State::Hop;
                } else {
                    self.state = State::CheckInside { from: at.saturating_add(1), end };
                }
            }
            None if block.end == end => self.found_front(end.saturating_sub(self.low)),
            None => self.state = State::CheckInside { from: block.end.saturating_sub(7), end },
        }
        Step::Done(())
    }

    /// The bytes to search from `from` on: up to the next multiple of the block size and a little more, so that searches
    /// that begin in the same block ask for bytes that end at the same place.
    fn block(&self, from: u64, limit: u64) -> Span {
        let end =
            (from / SEARCH_BLOCK).saturating_add(1).saturating_mul(SEARCH_BLOCK).saturating_add(MAGIC.len() as u64);
        Span::new(from, end.min(limit))
    }

    fn hop_back(&mut self, have: &(impl Lookup + ?Sized)) -> Step<()> {
        let tail = Span::new(self.high.saturating_sub(POSTAMBLE_LEN), self.high);
        let Some(bytes) = have.lookup(tail) else { return Step::need(self.behind(tail)) };
        let length = Postamble::read(bytes, tail.start).ok().and_then(|postamble| postamble.total_length);
        let room = self.high.saturating_sub(self.low).min(self.options.max_backward_len);
        let Some(length) = length.filter(|length| (MIN_MESSAGE_LEN..=room).contains(length)) else {
            return self.forward_only();
        };
        let start = self.high.saturating_sub(length);
        let head = Span::new(start, start.saturating_add(PREAMBLE_LEN));
        self.last_len = length;
        let Some(bytes) = have.lookup(head) else { return Step::need(self.behind(head)) };
        // Another length in front: a hop from there would not come here, and no reader takes such a message.
        if !Preamble::read(bytes, start).is_ok_and(|preamble| preamble.total_length.is_none_or(|said| said == length)) {
            return self.forward_only();
        }
        self.back.push(Span::new(start, self.high));
        self.high = start;
        self.state = match self.options.direction {
            ScanDirection::Backward => State::HopBack,
            _ => State::Hop,
        };
        Step::Done(())
    }

    /// `span` and what is likely to be needed next before it: the postamble there, and small neighbours whole.
    fn behind(&self, span: Span) -> Span {
        let more =
            if self.last_len < SMALL_MESSAGE { self.options.read_ahead.max(POSTAMBLE_LEN) } else { POSTAMBLE_LEN };
        Span::new(span.start.saturating_sub(more).max(self.low), span.end)
    }

    fn forward_only(&mut self) -> Step<()> {
        self.options.direction = ScanDirection::Forward;
        self.state = State::Hop;
        Step::Done(())
    }
}

/// Junk is searched in blocks of this size.
const SEARCH_BLOCK: u64 = 1 << 20;
/// Messages below this are read many at a time.
const SMALL_MESSAGE: u64 = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_preambles_cost_linear_time() {
        let bare = Preamble { flags: Default::default(), reserved: 0, total_length: None }.to_bytes();
        let bytes = bare.repeat(100_000);
        let started = std::time::Instant::now();
        assert!(scan(&bytes).is_empty());
        assert!(started.elapsed().as_secs() < 5);
    }

    #[test]
    fn absurd_lengths_are_skipped() {
        for total_length in [1, 47, 1 << 40, u64::MAX] {
            let mut bytes = Preamble { flags: Default::default(), reserved: 0, total_length: Some(total_length) }
                .to_bytes()
                .to_vec();
            bytes.resize(200, 0);
            assert!(scan(&bytes).is_empty());
            let end = Postamble { first_footer_offset: 0, total_length: Some(total_length) }.to_bytes();
            bytes.extend_from_slice(&end);
            assert!(scan(&bytes).is_empty());
        }
    }
}
