//! Messages whose writer has not come to their end.

use crate::error::{Result, TensogramError};
use crate::frame::{Based, UnknownFrames, Walk, WalkEvent};
use crate::wire::{ALIGNMENT, POSTAMBLE_LEN, PREAMBLE_LEN, Preamble};
use fw_bytes::{Span, Step};
use fw_source::{Buffers, ReadAt, drive};

/// Whether a message begins at `at` of which a source of `len` bytes does not have the end: a length that reaches further,
/// or, where it says none, frames that do.
pub(super) fn is_unfinished(source: &(impl ReadAt + ?Sized), at: u64, len: u64) -> Result<bool> {
    let room = len.saturating_sub(at);
    if room < PREAMBLE_LEN {
        return Ok(false);
    }
    let mut bytes = [0; PREAMBLE_LEN as usize];
    source.read_exact_at(at, &mut bytes)?;
    let Ok(preamble) = Preamble::read(&bytes, at) else { return Ok(false) };
    if let Some(length) = preamble.total_length {
        return Ok(length > room);
    }
    let mut walk = Walk::open_ended(room, UnknownFrames::Refuse);
    loop {
        let step = drive::<_, TensogramError>(source, &mut Buffers::new(), |have| {
            let shift = |span: Span| span.shifted(at).unwrap_or(span);
            Ok(match walk.poll(&Based::new(have, at))? {
                Step::Need(spans) => Step::Need(spans.into_iter().map(shift).collect()),
                Step::Done(event) => Step::Done(event),
            })
        });
        match step {
            Ok(WalkEvent::Frame(_)) => {}
            Ok(WalkEvent::End(_)) => return Ok(false),
            Err(error) if error.is_io() => return Err(error),
            Err(error) => {
                let little = room.saturating_sub(walk.position()) < POSTAMBLE_LEN + ALIGNMENT;
                return Ok(little || error.code() == "frame_exceeds_message");
            }
        }
    }
}
