//! What stands at one position, as far as the bytes at hand tell.

use crate::wire::{Fields, Framing, HeaderKind, Lookup, MessageInfo, Seeds, checksum, long_checksum, read_fields};

/// What stands at a position.
pub(super) enum Look {
    /// No frame begins within this many bytes.
    Noise(usize),
    /// Two bytes: the first start byte, and not the second.
    FalseStart,
    /// Perhaps a frame; this many bytes will tell more.
    Short(usize),
    /// A header whose frame is not all there.
    Claims(Found),
    /// A header whose frame is all there.
    Whole(Found),
}

/// A header that was read.
pub(super) struct Found {
    pub(super) fields: Fields,
    pub(super) info: Option<MessageInfo>,
    /// Bytes of the whole frame.
    pub(super) total: usize,
}

impl Found {
    #[inline(always)]
    pub(super) fn payload<'w>(&self, framing: Framing, frame: &'w [u8]) -> &'w [u8] {
        let end = self.total.saturating_sub(framing.trailer_len());
        frame.get(framing.header_len()..end).unwrap_or_default()
    }

    /// Compares checksums; the error has the computed one and the one in the frame.
    #[inline(always)]
    pub(super) fn verify(&self, framing: Framing, frame: &[u8]) -> Result<(), ([u8; 2], [u8; 2])> {
        let Some((before, carried)) = frame.split_last_chunk::<2>().filter(|_| framing.has_length()) else {
            return Ok(());
        };
        let covered = before.get(framing.start_len()..).unwrap_or_default();
        let seeds = Seeds::new(framing, self.info.as_ref());
        let long = framing.max_payload_len() > 0xff;
        let computed = if long { long_checksum(covered, seeds) } else { checksum(covered, seeds) };
        // As numbers: compared as arrays they would take a way through memory.
        let good = u16::from_le_bytes(computed) == u16::from_le_bytes(*carried);
        if good { Ok(()) } else { Err((computed, *carried)) }
    }
}

/// Looks at the first position of `bytes`, of which there is at least one.
#[inline]
pub(super) fn examine(framing: Framing, lookup: &impl Lookup, bytes: &[u8]) -> Look {
    let [first, second] = framing.start();
    if framing.header != HeaderKind::None {
        match bytes.iter().position(|byte| *byte == first) {
            Some(0) => {}
            at => return Look::Noise(at.unwrap_or(bytes.len())),
        }
    }
    if framing.header == HeaderKind::Basic {
        match bytes.get(1) {
            None => return Look::Short(2),
            Some(byte) if *byte == second => {}
            Some(byte) if *byte == first => return Look::Noise(1),
            Some(_) => return Look::FalseStart,
        }
    }
    let fields = bytes.get(framing.start_len()..).and_then(|bytes| read_fields(framing, bytes));
    let Some(fields) = fields else { return Look::Short(framing.header_len()) };
    let info = lookup.message_info(fields.id);
    let len = match info {
        _ if framing.has_length() => fields.len,
        Some(info) => info.max_size,
        None => return Look::Noise(1),
    };
    let total = framing.overhead().saturating_add(len.into());
    let found = Found { fields, info, total };
    if bytes.len() < total { Look::Claims(found) } else { Look::Whole(found) }
}
