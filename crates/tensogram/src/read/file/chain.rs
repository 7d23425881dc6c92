//! From message to message, as long as all is well: one small read each, or one large read for many small ones.
//!
//! Nearly every file is nothing but intact messages. Then it does not matter from which end they are found, and they are
//! found here, without the bookkeeping of a [`Scanner`](crate::frame::scan::Scanner). Whatever else there is stops the
//! chain, and the scanner decides.

use crate::error::Result;
use crate::frame::scan::ScanOptions;
use crate::wire::{END_MAGIC, MIN_MESSAGE_LEN, POSTAMBLE_LEN, PREAMBLE_LEN, Postamble, Preamble};
use fw_bytes::Span;
use fw_source::ReadAt;

/// Adds the messages that follow one another from `low` on; returns where the last one ends.
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
) -> Result<u64> {
    let mut window = Window { source, len, start: 0, bytes: Vec::new() };
    let mut low = low;
    // How much to read beyond what is looked at.
    let mut ahead = 0;
    while len.saturating_sub(low) >= MIN_MESSAGE_LEN {
        let head = window.get(low, PREAMBLE_LEN, ahead)?;
        let Some(length) = Preamble::read(head, low).ok().and_then(|preamble| preamble.total_length) else { break };
        let Some(end) = low.checked_add(length).filter(|end| length >= MIN_MESSAGE_LEN && *end <= len) else { break };
        // The next preamble comes along, and small neighbours whole.
        ahead = if length < SMALL_MESSAGE { options.read_ahead.max(PREAMBLE_LEN) } else { PREAMBLE_LEN };
        let at = end.saturating_sub(POSTAMBLE_LEN);
        let Ok(postamble) = Postamble::read(window.get(at, POSTAMBLE_LEN, ahead)?, at) else { break };
        if postamble.total_length.is_some_and(|mirror| mirror != length) {
            break;
        }
        found.push(Span::new(low, end));
        low = end;
    }
    Ok(low)
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

/// The range read last.
struct Window<'s, S: ?Sized> {
    source: &'s S,
    len: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl<S: ReadAt + ?Sized> Window<'_, S> {
    /// `size` bytes from `at` on, which are there; a read brings `ahead` more where there are as many.
    fn get(&mut self, at: u64, size: u64, ahead: u64) -> Result<&[u8]> {
        let span = Span::new(at, at.saturating_add(size));
        if span.slice_of(&self.bytes, self.start).is_none() {
            let end = span.end.saturating_add(ahead).min(self.len);
            // Nothing is kept should the read fail.
            self.start = u64::MAX;
            self.bytes.resize((end - at) as usize, 0);
            self.source.read_exact_at(at, &mut self.bytes)?;
            self.start = at;
        }
        Ok(span.slice_of(&self.bytes, self.start).unwrap_or_default())
    }
}

/// Messages below this are read many at a time.
const SMALL_MESSAGE: u64 = 8 << 10;
