//! Descriptor and payload inside a data object frame (TG-8.1).

use super::{FrameRef, Lookup, take};
use crate::describe::cbor;
use crate::error::Result;
use crate::wire::{FRAME_HEADER_LEN, FrameFlags};
use fw_bytes::{Detail, ParseError, Span, Step};

/// Where the two parts of a data object stand in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectParts {
    /// The descriptor, as CBOR.
    pub descriptor: Span,
    /// The encoded payload and the masks behind it.
    pub region: Span,
}

/// Splits a data object frame.
///
/// # Errors
/// A descriptor offset outside the body, or (descriptor first) a descriptor that is not well-formed.
pub fn object_parts(frame: &FrameRef, have: &(impl Lookup + ?Sized)) -> Result<Step<ObjectParts>> {
    let slot = frame.cbor_offset_slot();
    let bytes = take!(have, slot);
    let offset = fw_bytes::Cursor::at(bytes, slot.start).u64_be("cbor_offset")?;
    let body = frame.body();
    let position = match frame.start().checked_add(offset) {
        Some(position) if body.start <= position && position <= body.end => position,
        _ => {
            let (low, high) = (FRAME_HEADER_LEN, body.end.saturating_sub(frame.start()));
            // Both bounds matter; the one that was missed is the one to name.
            let expected = if offset < low { Detail::AtLeast(low) } else { Detail::AtMost(high) };
            let found = Detail::Number(offset);
            return Err(ParseError::value("cbor_offset_invalid", "cbor_offset", expected, found, slot.start).into());
        }
    };
    if frame.header().flags.contains(FrameFlags::CBOR_AFTER_PAYLOAD) {
        let descriptor = Span::new(position, body.end);
        return Ok(Step::Done(ObjectParts { descriptor, region: Span::new(body.start, position) }));
    }
    // The descriptor comes first and only its own encoding tells where it ends: look at growing prefixes.
    let rest = Span::new(position, body.end);
    let mut window = FIRST_LOOK.min(rest.len());
    loop {
        let span = Span::new(position, position.saturating_add(window));
        match cbor::item_len(take!(have, span), position)? {
            Some(len) => {
                let split = position.saturating_add(len);
                let (descriptor, region) = (Span::new(position, split), Span::new(split, body.end));
                return Ok(Step::Done(ObjectParts { descriptor, region }));
            }
            None if window == rest.len() => return Err(cbor::truncated(rest.end)),
            None => window = window.saturating_mul(4).min(rest.len()),
        }
    }
}

const FIRST_LOOK: u64 = 4096;
