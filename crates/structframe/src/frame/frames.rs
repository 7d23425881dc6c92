//! Frames in a whole buffer.

use super::event::{Counters, Event};
use super::machine::{Machine, More, Window};
use crate::wire::{Framing, Lookup};

/// Reads a whole buffer. As an iterator it ends with what is left over; [`next_event`](Self::next_event) leaves that alone.
#[derive(Clone, Debug)]
pub struct Frames<'b, L> {
    machine: Machine<L>,
    bytes: &'b [u8],
}

impl<'b, L: Lookup> Frames<'b, L> {
    /// A reader at the beginning of `bytes`.
    pub fn new(framing: Framing, lookup: L, bytes: &'b [u8]) -> Self {
        Self { machine: Machine::new(framing, lookup, u64::MAX), bytes }
    }

    /// The next event, or `None` when only an incomplete frame, noise or nothing is left.
    #[inline(always)]
    pub fn next_event(&mut self) -> Option<Event<'b>> {
        self.machine.next(Window { bytes: self.bytes, base: 0 }, More::May)
    }

    /// Bytes of the incomplete frame that is left, after [`next_event`](Self::next_event) returned `None`.
    pub fn partial_len(&self) -> u64 {
        (self.bytes.len() as u64).saturating_sub(self.machine.pos())
    }

    /// Bytes passed over that no event has told of yet.
    pub fn pending_noise(&self) -> u64 {
        self.machine.pending_noise()
    }

    /// What was counted.
    pub fn counters(&self) -> Counters {
        self.machine.counters
    }
}

impl<'b, L: Lookup> Iterator for Frames<'b, L> {
    type Item = Event<'b>;

    #[inline(always)]
    fn next(&mut self) -> Option<Event<'b>> {
        self.machine.next(Window { bytes: self.bytes, base: 0 }, More::Never)
    }
}
