//! The one state machine behind all readers.
//!
//! All positions are absolute. The *primary* search stands at `pos` and decides about one position after the other. When a
//! complete frame fails there, it is reported, the primary goes on behind it, and its inside is searched for good frames of
//! known messages. A candidate in there that reaches beyond the failed frame cannot be judged yet; nothing waits for it.
//! Its place stays `open`, and it is judged when the primary next completes a frame, or at the end of the input: the
//! earlier start wins.
//!
//! Every decision depends on bytes up to a position that the bytes themselves determine, never on how many more happen to
//! be there. That is why every way of splitting the input gives the same events.

use super::event::{BadChecksum, Counters, Event, Frame, count};
use super::look::{Found, Look, examine};
use crate::wire::{Fields, Framing, HeaderKind, Lookup, MessageInfo, PayloadKind, Profile, read_fields};
use fw_bytes::Span;

/// Bytes of the input that are at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window<'w> {
    pub(super) bytes: &'w [u8],
    /// Absolute position of the first.
    pub(super) base: u64,
}

impl<'w> Window<'w> {
    #[inline]
    pub(super) fn end(self) -> u64 {
        self.base.saturating_add(self.bytes.len() as u64)
    }

    /// The bytes from `from` up to `to`, or to the end of the window.
    fn part(self, from: u64, to: u64) -> &'w [u8] {
        let place = |at: u64| usize::try_from(at.saturating_sub(self.base)).unwrap_or(usize::MAX).min(self.bytes.len());
        self.bytes.get(place(from)..place(to)).unwrap_or_default()
    }
}

/// Whether more bytes may follow the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    May,
    Never,
}

#[derive(Clone, Debug)]
pub(super) struct Machine<L> {
    framing: Framing,
    /// The profile with this framing.
    profile: Option<Profile>,
    /// The same while nothing is pending at `pos`. It may be `None` although nothing is pending.
    idle_profile: Option<Profile>,
    lookup: L,
    /// How many bytes the reader can hold.
    capacity: u64,
    /// Where the primary search stands.
    pos: u64,
    /// Where the bytes begin that belong to no event yet.
    run: u64,
    /// How many of them were counted as false starts already.
    false_bytes: u64,
    /// Where candidates stand that reach beyond the failed frame they begin in.
    open: Option<Span>,
    /// The search inside failed bytes.
    rescan: Option<Rescan>,
    /// Where the last frame ends that the reader cannot hold.
    oversized_end: u64,
    /// Nothing can be decided before the window reaches this position.
    need: u64,
    /// The frame whose length has been compared with its message.
    compared: Option<u64>,
    last_sequence: Option<u8>,
    pub(super) counters: Counters,
}

/// A search for complete good frames that begin in `starts` and end by `end`.
#[derive(Clone, Copy, Debug)]
struct Rescan {
    starts: Span,
    end: u64,
    /// Whether candidates that reach beyond `end` are remembered.
    remember: bool,
}

impl<L: Lookup> Machine<L> {
    pub(super) fn new(framing: Framing, lookup: L, capacity: u64) -> Self {
        Self {
            framing,
            profile: framing.profile(),
            idle_profile: framing.profile().filter(|_| framing.header_len() as u64 <= capacity),
            lookup,
            capacity,
            pos: 0,
            run: 0,
            false_bytes: 0,
            open: None,
            rescan: None,
            oversized_end: 0,
            need: 1,
            compared: None,
            last_sequence: None,
            counters: Counters::default(),
        }
    }

    /// As [`step`](Self::step), with what nearly always happens made short: a good frame behind a good one.
    ///
    /// Calls count here, so the way without one is part of the caller, for the usual profiles of small and of large frames.
    #[inline(always)]
    pub(super) fn next<'w>(&mut self, window: Window<'w>, more: More) -> Option<Event<'w>> {
        let event = match self.idle_profile {
            Some(Profile::Standard) => self.good_frame(const { Profile::Standard.framing() }, window),
            Some(Profile::Bulk) => self.good_frame(const { Profile::Bulk.framing() }, window),
            _ => None,
        };
        if event.is_some() {
            return event;
        }
        // Every byte belongs to an event already.
        if self.idle_profile.is_some() && self.pos == window.end() {
            self.need = self.pos.saturating_add(1);
            return None;
        }
        let (event, pos) = self.careful(window.bytes, window.base, more);
        // Assigned here, where the compiler sees it, so that a loop over frames keeps it in a register: read back from memory
        // it would make every frame wait for the one before.
        self.pos = pos;
        event
    }

    /// The frame at `pos`, if it is good, usual and all there, and nothing else is going on.
    #[inline(always)]
    fn good_frame<'w>(&mut self, framing: Framing, window: Window<'w>) -> Option<Event<'w>> {
        let at = self.pos;
        let bytes = window.bytes.get(usize::try_from(at.wrapping_sub(window.base)).ok()?..)?;
        // Once, so that nothing below asks again.
        if bytes.len() < framing.overhead() {
            return None;
        }
        let (start, behind) = bytes.split_first_chunk::<2>()?;
        if *start != framing.start() {
            return None;
        }
        let fields = read_fields(framing, behind)?;
        let info = self.lookup.message_info(fields.id)?;
        let total = framing.overhead().saturating_add(fields.len.into());
        if fields.len < info.min_size || fields.len > info.max_size || total as u64 > self.capacity {
            return None;
        }
        let frame = bytes.get(..total)?;
        let found = Found { fields, info: Some(info), total };
        found.verify(framing, frame).ok()?;
        // Within the window, whose end is a position too.
        let end = at.wrapping_add(total as u64);
        (self.pos, self.run) = (end, end);
        Some(self.delivered(framing, at, &found, found.payload(framing, frame), false))
    }

    /// How many bytes to wait for from `pos` on when `byte` follows `held` there, if that is all there is to decide; `None`
    /// when it must be looked at.
    #[inline(always)]
    pub(super) fn bytes_to_await(&mut self, held: &[u8], byte: u8) -> Option<usize> {
        if self.idle_profile != Some(Profile::Standard) {
            return None;
        }
        let [first, second] = const { Profile::Standard.framing().start() };
        let wait = match *held {
            [] if byte == first => 2,
            [_] if byte == second => const { Profile::Standard.framing().header_len() },
            [_, _, len] => {
                let info = self.lookup.message_info(byte.into())?;
                let total = const { Profile::Standard.framing().overhead() } + usize::from(len);
                let usual = (info.min_size..=info.max_size).contains(&len.into());
                (usual && total as u64 <= self.capacity).then_some(total)?
            }
            _ => return None,
        };
        self.need = self.pos.saturating_add(wait as u64);
        Some(wait)
    }

    /// The next event whatever it takes, and `pos`; remembers whether anything is left to be careful about. The window comes
    /// in two parts: as one it would be put into memory even where this is not called.
    #[inline(never)]
    fn careful<'w>(&mut self, bytes: &'w [u8], base: u64, more: More) -> (Option<Event<'w>>, u64) {
        let event = self.quick_or_step(Window { bytes, base }, more);
        self.idle_profile = self.profile.filter(|_| self.is_quiet());
        (event, self.pos)
    }

    /// True when nothing is pending at `pos`: the bytes before all belong to events.
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        let undisturbed = self.rescan.is_none() && self.open.is_none() && self.oversized_end <= self.pos;
        undisturbed && self.run == self.pos && self.framing.header_len() as u64 <= self.capacity
    }

    #[inline(always)]
    fn quick_or_step<'w>(&mut self, window: Window<'w>, more: More) -> Option<Event<'w>> {
        const STANDARD: Framing = Profile::Standard.framing();
        const BULK: Framing = Profile::Bulk.framing();
        const NETWORK: Framing = Profile::Network.framing();
        // With a framing that the compiler knows, most of the work disappears.
        let quick = match (self.framing.header, self.framing.payload) {
            (HeaderKind::Basic, PayloadKind::Default) => self.quick(STANDARD, window),
            (HeaderKind::Basic, PayloadKind::Extended) => self.quick(BULK, window),
            (HeaderKind::Basic, PayloadKind::ExtendedMultiSystemStream) => self.quick(NETWORK, window),
            _ => self.quick(self.framing, window),
        };
        match quick {
            Quick::Event(event) => Some(event),
            Quick::Wait if more == More::May => None,
            _ => self.step(window, more),
        }
    }

    /// The frame at `pos`, or how far it reaches, if nothing else is going on.
    #[inline(always)]
    fn quick<'w>(&mut self, framing: Framing, window: Window<'w>) -> Quick<'w> {
        let at = self.pos;
        let place = at.checked_sub(window.base).and_then(|place| usize::try_from(place).ok());
        let bytes = place.filter(|_| self.is_quiet()).and_then(|place| window.bytes.get(place..));
        let Some(bytes) = bytes else { return Quick::Unsure };
        let [first, second] = framing.start();
        let begins = match (framing.header, bytes) {
            (_, []) => return self.wait_for(1),
            (HeaderKind::None, _) => true,
            (HeaderKind::Tiny, [a, ..]) => *a == first,
            (HeaderKind::Basic, [a]) if *a == first => return self.wait_for(2),
            (HeaderKind::Basic, [a, b, ..]) => *a == first && *b == second,
            _ => false,
        };
        if !begins {
            return Quick::Unsure;
        }
        let fields = bytes.get(framing.start_len()..).and_then(|bytes| read_fields(framing, bytes));
        let Some(fields) = fields else { return self.wait_for(framing.header_len()) };
        let Some(info) = self.lookup.message_info(fields.id) else { return Quick::Unsure };
        let len = if framing.has_length() { fields.len } else { info.max_size };
        let total = framing.overhead().saturating_add(len.into());
        if total as u64 > self.capacity {
            return Quick::Unsure;
        }
        let found = Found { fields, info: Some(info), total };
        let unusual = framing.has_length() && !(info.min_size..=info.max_size).contains(&len);
        if unusual {
            self.compare_length(&found);
        }
        let Some(frame) = bytes.get(..total) else { return self.wait_for(total) };
        if found.verify(framing, frame).is_err() {
            return Quick::Unsure;
        }
        let end = at.saturating_add(total as u64);
        (self.pos, self.run) = (end, end);
        Quick::Event(self.delivered(framing, at, &found, found.payload(framing, frame), false))
    }

    #[inline(always)]
    fn wait_for<'w>(&mut self, len: usize) -> Quick<'w> {
        self.need = self.pos.saturating_add(len as u64);
        Quick::Wait
    }

    /// The next event, or `None` when that takes more bytes than the window has ([`need`](Self::need)).
    pub(super) fn step<'w>(&mut self, window: Window<'w>, more: More) -> Option<Event<'w>> {
        loop {
            if let Some(rescan) = &mut self.rescan {
                match search(self.framing, &self.lookup, self.capacity, rescan, &mut self.open, window) {
                    Some((at, found)) => return Some(self.recover(window, at, &found)),
                    None => self.rescan = None,
                }
            }
            let bytes = window.part(self.pos, u64::MAX);
            let look = match bytes {
                [] => Look::Short(1),
                _ if self.capacity < self.framing.header_len() as u64 => Look::Noise(bytes.len()),
                _ => examine(self.framing, &self.lookup, bytes),
            };
            match look {
                Look::Noise(len) => self.pos = self.pos.saturating_add(len as u64),
                Look::FalseStart => self.false_start(2),
                // A frame that the reader could never hold.
                Look::Claims(found) | Look::Whole(found) if found.total as u64 > self.capacity => {
                    self.oversized_end = self.oversized_end.max(self.pos.saturating_add(found.total as u64));
                    self.false_start(1);
                }
                // Inside such a frame zeros in its payload must not pass for a frame of an unknown message.
                Look::Claims(found) | Look::Whole(found) if found.info.is_none() && self.pos < self.oversized_end => {
                    self.false_start(1);
                }
                Look::Short(total) => {
                    self.forget_far_candidates(total);
                    self.need = self.pos.saturating_add(total as u64);
                    match self.wait(window, more) {
                        None if self.rescan.is_some() => {}
                        event => return event,
                    }
                }
                Look::Claims(found) => {
                    self.compare_length(&found);
                    self.forget_far_candidates(found.total);
                    self.need = self.pos.saturating_add(found.total as u64);
                    match self.wait(window, more) {
                        None if self.rescan.is_some() => {}
                        event => return event,
                    }
                }
                Look::Whole(found) => {
                    self.compare_length(&found);
                    self.forget_far_candidates(found.total);
                    if let Some(event) = self.whole(window, &found) {
                        return Some(event);
                    }
                }
            }
        }
    }

    /// Forgets what has not become an event yet, and the last sequence number; goes on at `at`.
    pub(super) fn reset(&mut self, at: u64) {
        self.oversized_end = at;
        (self.pos, self.run, self.false_bytes, self.need) = (at, at, 0, at.saturating_add(1));
        (self.open, self.rescan, self.compared, self.last_sequence) = (None, None, None, None);
        self.idle_profile = self.profile.filter(|_| self.is_quiet());
    }

    /// The first byte that is still needed.
    #[inline]
    pub(super) fn retain_from(&self) -> u64 {
        self.open.map_or(self.pos, |open| open.start.min(self.pos))
    }

    /// Nothing can be decided before the window reaches this position.
    #[inline]
    pub(super) fn need(&self) -> u64 {
        self.need
    }

    #[inline]
    pub(super) fn pos(&self) -> u64 {
        self.pos
    }

    /// Bytes before the primary search that belong to no event yet.
    pub(super) fn pending_noise(&self) -> u64 {
        self.pos.saturating_sub(self.run)
    }

    /// Decides about a complete frame; `None` when something else must be looked at first.
    fn whole<'w>(&mut self, window: Window<'w>, found: &Found) -> Option<Event<'w>> {
        let end = self.pos.saturating_add(found.total as u64);
        match found.verify(self.framing, window.part(self.pos, end)) {
            Ok(()) => {
                if let Some(open) = self.open.take() {
                    self.rescan = Some(Rescan { starts: open, end, remember: false });
                    return None;
                }
                if let Some(event) = self.skipped() {
                    return Some(event);
                }
                let at = self.pos;
                (self.pos, self.run) = (end, end);
                Some(self.deliver(window, at, found, false))
            }
            Err((expected, carried)) => {
                if let Some(event) = self.skipped() {
                    return Some(event);
                }
                let span = Span::new(self.pos, end);
                count(&mut self.counters.crc_failures, 1);
                count(&mut self.counters.sync_recoveries, 1);
                count(&mut self.counters.failed_bytes, span.len());
                self.fail(span, true);
                let Fields { header, len, id } = found.fields;
                Some(Event::BadChecksum(BadChecksum { id, header, len, span, expected, found: carried }))
            }
        }
    }

    /// More bytes are needed: at the end of the input, what is left over.
    fn wait<'w>(&mut self, window: Window<'w>, more: More) -> Option<Event<'w>> {
        if more == More::May {
            return None;
        }
        if let Some(event) = self.skipped() {
            return Some(event);
        }
        let rest = Span::new(self.pos, window.end());
        if !rest.is_empty() {
            count(&mut self.counters.failed_bytes, rest.len());
            self.fail(rest, false);
            return Some(Event::Truncated(rest));
        }
        if let Some(open) = self.open.take() {
            self.rescan = Some(Rescan { starts: open, end: window.end(), remember: false });
        }
        None
    }

    /// Goes on behind failed bytes, after a search inside them.
    fn fail(&mut self, span: Span, remember: bool) {
        let from = self.open.take().map_or(span.start.saturating_add(1), |open| open.start);
        // Without a checksum nothing found inside failed bytes could be trusted.
        if self.framing.has_length() {
            self.rescan = Some(Rescan { starts: Span::new(from, span.end), end: span.end, remember });
        }
        (self.pos, self.run) = (span.end, span.end);
    }

    fn false_start(&mut self, len: u64) {
        count(&mut self.counters.sync_recoveries, 1);
        count(&mut self.counters.failed_bytes, len);
        self.false_bytes = self.false_bytes.saturating_add(len);
        self.pos = self.pos.saturating_add(len);
    }

    /// The bytes since the last event, if any.
    fn skipped<'w>(&mut self) -> Option<Event<'w>> {
        let span = Span::new(self.run, self.pos);
        if span.is_empty() {
            return None;
        }
        count(&mut self.counters.noise_bytes, span.len().saturating_sub(self.false_bytes));
        (self.run, self.false_bytes) = (self.pos, 0);
        Some(Event::Skipped(span))
    }

    fn recover<'w>(&mut self, window: Window<'w>, at: u64, found: &Found) -> Event<'w> {
        let end = at.saturating_add(found.total as u64);
        self.pos = self.pos.max(end);
        if end > self.run {
            (self.run, self.false_bytes) = (end, 0);
        }
        count(&mut self.counters.recovered, 1);
        self.deliver(window, at, found, true)
    }

    fn deliver<'w>(&mut self, window: Window<'w>, at: u64, found: &Found, recovered: bool) -> Event<'w> {
        let span = Span::new(at, at.saturating_add(found.total as u64));
        let payload = found.payload(self.framing, window.part(span.start, span.end));
        self.delivered(self.framing, at, found, payload, recovered)
    }

    #[inline(always)]
    fn delivered<'w>(
        &mut self,
        framing: Framing,
        at: u64,
        found: &Found,
        payload: &'w [u8],
        recovered: bool,
    ) -> Event<'w> {
        let span = Span::new(at, at.saturating_add(found.total as u64));
        let Fields { header, id, .. } = found.fields;
        count(&mut self.counters.frames, 1);
        count(&mut self.counters.unknown_ids, found.info.is_none().into());
        if framing.has_sequence() {
            let gap = self.last_sequence.is_some_and(|last| header.sequence != last.wrapping_add(1));
            count(&mut self.counters.seq_gaps, gap.into());
            self.last_sequence = Some(header.sequence);
        }
        Event::Frame(Frame { id, header, payload, info: found.info, span, recovered })
    }

    /// SF-14.2: once per frame.
    fn compare_length(&mut self, found: &Found) {
        if !self.framing.has_length() || self.compared == Some(self.pos) {
            return;
        }
        self.compared = Some(self.pos);
        let fits = |info: MessageInfo| (info.min_size..=info.max_size).contains(&found.fields.len);
        count(&mut self.counters.len_errors, (!found.info.is_none_or(fits)).into());
    }

    /// Keeps no more than the reader can hold together with the frame at `pos`.
    fn forget_far_candidates(&mut self, total: usize) {
        let total = total.max(self.framing.header_len()) as u64;
        let first = self.pos.saturating_add(total).saturating_sub(self.capacity);
        if let Some(open) = &mut self.open {
            open.start = open.start.max(first);
            if open.start >= open.end {
                self.open = None;
            }
        }
    }
}

/// What a quick look found.
enum Quick<'w> {
    Event(Event<'w>),
    /// Nothing can be decided yet.
    Wait,
    /// Something unusual.
    Unsure,
}

/// The next good frame inside failed bytes. Only messages that are known count: with an unknown id, six bytes such as
/// `90 71 00 00 00 00` would pass.
fn search(
    framing: Framing,
    lookup: &impl Lookup,
    capacity: u64,
    rescan: &mut Rescan,
    open: &mut Option<Span>,
    window: Window<'_>,
) -> Option<(u64, Found)> {
    let Rescan { end, remember, .. } = *rescan;
    while !rescan.starts.is_empty() {
        let at = rescan.starts.start;
        let mut advance = 1;
        let mut unresolved = false;
        match examine(framing, lookup, window.part(at, end)) {
            Look::Noise(len) => advance = len as u64,
            Look::FalseStart => {}
            Look::Short(total) => unresolved = total as u64 <= capacity,
            Look::Claims(found) => unresolved = found.info.is_some() && found.total as u64 <= capacity,
            Look::Whole(found) => {
                let next = at.saturating_add(found.total as u64);
                let good = found.info.is_some() && found.verify(framing, window.part(at, next)).is_ok();
                if good && found.total as u64 <= capacity {
                    rescan.starts = Span::new(next, rescan.starts.end);
                    // What began before it and reaches beyond would overlap it.
                    *open = None;
                    return Some((at, found));
                }
            }
        }
        if unresolved && remember {
            open.get_or_insert(Span::new(at, rescan.starts.end));
        }
        rescan.starts = Span::new(at.saturating_add(advance), rescan.starts.end);
    }
    None
}
