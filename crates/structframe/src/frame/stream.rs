//! Frames in chunks of any size.

use super::event::{Counters, Event};
use super::machine::{Machine, More, Window};
use crate::wire::{Framing, Lookup};

/// Reads chunks of any size, down to one byte.
///
/// Frames that lie in one chunk are borrowed from it; only what spans chunks goes through the caller's buffer. A frame
/// longer than the buffer is passed over as if its start bytes were noise. To find every good frame behind a damaged
/// length, the buffer should have room for two frames of the longest kind.
///
/// ```
/// use fw_structframe::{Event, MessageInfo, Profile, Stream};
///
/// const PING: MessageInfo = MessageInfo { id: 7, max_size: 4, base_size: 4, min_size: 4, magic: [0x1d, 0x2e] };
/// let mut stream = Stream::new(Profile::Standard.framing(), [PING], [0; 64]);
/// let mut good = 0;
/// for byte in [0x90, 0x71, 4, 7, 0x34, 0x12, 1, 1, 0x9e, 0x52] {
///     stream.read(&[byte], |event| good += u32::from(matches!(event, Event::Frame(_))));
/// }
/// assert_eq!(good, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Stream<L, B> {
    machine: Machine<L>,
    buffer: B,
    /// How many bytes of the buffer are in use.
    filled: usize,
    /// While fewer bytes are in use, one more decides nothing.
    until: usize,
    /// Absolute position of the first of them, or of the next chunk.
    base: u64,
}

impl<L: Lookup, B: AsRef<[u8]> + AsMut<[u8]>> Stream<L, B> {
    /// A reader at the beginning of a stream; `buffer` is an array, a slice or a vector.
    pub fn new(framing: Framing, lookup: L, buffer: B) -> Self {
        let capacity = buffer.as_ref().len() as u64;
        Self { machine: Machine::new(framing, lookup, capacity), buffer, filled: 0, until: 0, base: 0 }
    }

    /// Reads a chunk and tells what it completed.
    #[inline]
    pub fn read(&mut self, chunk: &[u8], tell: impl FnMut(Event<'_>)) {
        // Most bytes that come one by one only bring the end of their frame nearer.
        if matches!(*chunk, [byte] if self.take(byte)) {
            return;
        }
        // Assigned here, where the compiler sees it, so that a loop over bytes keeps it in a register: read back from memory
        // it would make every byte wait for the one before.
        self.filled = self.read_more(chunk, tell);
    }

    /// Takes a byte that completes nothing; false when it must be looked at.
    #[inline(always)]
    fn take(&mut self, byte: u8) -> bool {
        let at = self.filled;
        if at >= self.until {
            // Only what stands at the beginning of the buffer is a frame's beginning.
            let held = self.buffer.as_ref().get(..at).filter(|_| self.base == self.machine.pos());
            let Some(wait) = held.and_then(|held| self.machine.bytes_to_await(held, byte)) else { return false };
            self.until = wait.saturating_sub(1);
        }
        let Some(slot) = self.buffer.as_mut().get_mut(at) else { return false };
        *slot = byte;
        self.filled = at.saturating_add(1);
        true
    }

    /// Reads a chunk whatever it takes; returns how many bytes of the buffer are in use then.
    #[inline(never)]
    fn read_more(&mut self, chunk: &[u8], mut tell: impl FnMut(Event<'_>)) -> usize {
        self.read_chunk(chunk, &mut tell);
        let wait = self.machine.need().saturating_sub(self.base).saturating_sub(1);
        self.until = usize::try_from(wait).unwrap_or(usize::MAX);
        self.filled
    }

    #[inline(always)]
    fn read_chunk(&mut self, chunk: &[u8], tell: &mut impl FnMut(Event<'_>)) {
        let mut rest = chunk;
        while self.filled > 0 {
            let end = self.base.saturating_add(self.filled as u64);
            let missing = usize::try_from(self.machine.need().saturating_sub(end)).unwrap_or(usize::MAX);
            let taken = self.append(&mut rest, missing);
            if taken < missing {
                if rest.is_empty() {
                    return;
                }
                // The machine asks for no more than the buffer holds; should it ever, the reader goes on all the same.
                debug_assert!(false, "{missing} bytes do not fit into the buffer");
                let at = self.base.saturating_add(self.filled as u64);
                self.machine.reset(at);
            }
            let window = Window { bytes: self.buffer.as_ref().get(..self.filled).unwrap_or_default(), base: self.base };
            while let Some(event) = self.machine.next(window, More::May) {
                tell(event);
            }
            // As soon as nothing before this chunk is needed, the chunk itself is read.
            let unneeded = window.end().saturating_sub(self.machine.retain_from());
            let used = chunk.len() - rest.len();
            if let Some(keep) = usize::try_from(unneeded).ok().and_then(|kept| used.checked_sub(kept)) {
                (self.filled, self.base) = (0, self.machine.retain_from());
                rest = chunk.get(keep..).unwrap_or_default();
            }
        }
        if rest.is_empty() {
            return;
        }
        let window = Window { bytes: rest, base: self.base };
        while let Some(event) = self.machine.next(window, More::May) {
            tell(event);
        }
        let keep = self.machine.retain_from();
        let done = usize::try_from(keep.saturating_sub(self.base)).unwrap_or(usize::MAX).min(rest.len());
        self.base = keep;
        let mut tail = rest.get(done..).unwrap_or_default();
        let len = tail.len();
        self.append(&mut tail, len);
        debug_assert!(tail.is_empty(), "the machine keeps no more than the buffer holds");
    }

    /// Ends the stream: tells what is left over, also good frames inside an incomplete one. The reader can be used for
    /// another stream afterwards; positions go on counting.
    pub fn finish(&mut self, mut tell: impl FnMut(Event<'_>)) {
        let window = Window { bytes: self.buffer.as_ref().get(..self.filled).unwrap_or_default(), base: self.base };
        while let Some(event) = self.machine.next(window, More::Never) {
            tell(event);
        }
        self.reset();
    }

    /// Forgets an incomplete frame and the last sequence number.
    pub fn reset(&mut self) {
        self.base = self.base.saturating_add(self.filled as u64);
        (self.filled, self.until) = (0, 0);
        self.machine.reset(self.base);
    }

    /// Sets all counters to zero.
    pub fn reset_counters(&mut self) {
        self.machine.counters = Counters::default();
    }

    /// What was counted.
    pub fn counters(&self) -> Counters {
        self.machine.counters
    }

    /// Bytes of the incomplete frame that is waited for.
    pub fn partial_len(&self) -> u64 {
        self.base.saturating_add(self.filled as u64).saturating_sub(self.machine.pos())
    }

    /// Bytes passed over that no event has told of yet.
    pub fn pending_noise(&self) -> u64 {
        self.machine.pending_noise()
    }

    /// Moves up to `want` bytes from the chunk to the buffer.
    fn append(&mut self, chunk: &mut &[u8], want: usize) -> usize {
        let capacity = self.buffer.as_ref().len();
        let want = want.min(chunk.len());
        if self.filled.saturating_add(want) > capacity {
            let drop = self.machine.retain_from().saturating_sub(self.base);
            let drop = usize::try_from(drop).unwrap_or(usize::MAX).min(self.filled);
            self.buffer.as_mut().copy_within(drop..self.filled, 0);
            self.filled -= drop;
            self.base = self.base.saturating_add(drop as u64);
        }
        let want = want.min(capacity.saturating_sub(self.filled));
        let (taken, rest) = chunk.split_at_checked(want).unwrap_or((chunk, &[]));
        if let Some(room) = self.buffer.as_mut().get_mut(self.filled..).and_then(|room| room.get_mut(..taken.len())) {
            room.copy_from_slice(taken);
            self.filled += taken.len();
        }
        *chunk = rest;
        taken.len()
    }
}
