//! From message to message, as long as all is well: one small read each, or one large read for many small ones.
//!
//! Nearly every file is nothing but intact messages. Then it does not matter from which end they are found, and they are
//! found here, without the bookkeeping of a [`Scanner`](crate::frame::scan::Scanner). Whatever else there is stops the
//! chain, and the scanner decides.

use crate::error::Result;
use crate::frame::FIRST_READ;
use crate::frame::scan::ScanOptions;
use crate::wire::{END_MAGIC, MIN_MESSAGE_LEN, POSTAMBLE_LEN, PREAMBLE_LEN, Postamble, Preamble};
use fw_bytes::Span;
use fw_source::ReadAt;

/// How far the chain goes.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// One past the last message of the chain.
    pub(super) reached: u64,
    /// What was read first: the beginning of the first message, as much as whoever reads from it wants to begin with.
    pub(super) beginning: Vec<u8>,
}

/// Adds the messages that follow one another from `low` on.
///
/// A message counts when preamble and postamble do not contradict each other; so a scan from the end finds the same.
///
/// # Errors
/// `Io` when the source cannot be read.
pub(super) fn follow(
    source: &(impl ReadAt + ?Sized),
    low: u64,
    len: u64,
    options: &ScanOptions,
    found: &mut Vec<Span>,
) -> Result<Followed> {
    let room = len.saturating_sub(low);
    if room < MIN_MESSAGE_LEN {
        return Ok(Followed { reached: low, beginning: Vec::new() });
    }
    let mut window = Window { source, len, start: low, bytes: Vec::new(), beginning: None, reads: 0 };
    let mut next = length_in(window.get(Span::new(low, low.saturating_add(PREAMBLE_LEN)), FIRST_READ - PREAMBLE_LEN)?);
    // Messages mostly are of one size; should these be others, that cost a megabyte at most.
    found.reserve(next.map_or(0, |length| room.div_ceil(length).min(MOST_RESERVED)) as usize);
    let mut low = low;
    while let Some(length) = next {
        let Some(end) = low.checked_add(length).filter(|end| length >= MIN_MESSAGE_LEN && *end <= len) else { break };
        let at = end.saturating_sub(POSTAMBLE_LEN);
        // The next preamble comes along, and small neighbours whole.
        let both = Span::new(at, end.saturating_add(PREAMBLE_LEN).min(len));
        let ahead = if length < SMALL_MESSAGE { options.read_ahead.saturating_mul(window.eagerness()) } else { 0 };
        let bytes = window.get(both, ahead)?;
        let Ok(postamble) = Postamble::read(bytes, at) else { break };
        if postamble.total_length.is_some_and(|mirror| mirror != length) {
            break;
        }
        found.push(Span::new(low, end));
        low = end;
        next = bytes.get(POSTAMBLE_LEN as usize..).and_then(length_in);
    }
    Ok(Followed { reached: low, beginning: window.beginning.unwrap_or(window.bytes) })
}

/// The length that a preamble claims; none when these bytes do not begin with one.
fn length_in(bytes: &[u8]) -> Option<u64> {
    Preamble::read(bytes, 0).ok()?.total_length
}

/// Whether the source ends as a message does.
///
/// # Errors
/// `Io` when the source cannot be read.
pub(super) fn ends_in_magic(source: &(impl ReadAt + ?Sized), len: u64) -> Result<bool> {
    let mut magic = [0; END_MAGIC.len()];
    let Some(start) = len.checked_sub(magic.len() as u64) else { return Ok(false) };
    source.read_exact_at(start, &mut magic)?;
    Ok(&magic == END_MAGIC)
}

/// The range read last, and the one read first.
struct Window<'s, S: ?Sized> {
    source: &'s S,
    len: u64,
    start: u64,
    bytes: Vec<u8>,
    /// Put aside when the next was read.
    beginning: Option<Vec<u8>>,
    reads: u32,
}

impl<S: ReadAt + ?Sized> Window<'_, S> {
    /// How many times as far ahead the next read reaches: large reads pay off once there are many.
    const fn eagerness(&self) -> u64 {
        if self.reads < 4 { 1 } else { 4 }
    }

    /// The bytes of `span`, which are there; a read brings `ahead` more where there are as many.
    fn get(&mut self, span: Span, ahead: u64) -> Result<&[u8]> {
        if span.slice_of(&self.bytes, self.start).is_none() {
            let end = span.end.saturating_add(ahead).min(self.len);
            if self.beginning.is_none() && !self.bytes.is_empty() {
                self.beginning = Some(std::mem::take(&mut self.bytes));
            }
            // Nothing is kept should the read fail.
            self.start = u64::MAX;
            self.reads = self.reads.saturating_add(1);
            self.bytes.resize((end - span.start) as usize, 0);
            self.source.read_exact_at(span.start, &mut self.bytes)?;
            self.start = span.start;
        }
        Ok(span.slice_of(&self.bytes, self.start).unwrap_or_default())
    }
}

/// Messages below this are read many at a time.
const SMALL_MESSAGE: u64 = 8 << 10;
/// Messages that room is made for before they are found.
const MOST_RESERVED: u64 = 1 << 16;
