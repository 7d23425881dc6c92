//! The bytes between start and payload, and the checksum behind it.

use super::{Framing, MessageInfo};
use fw_bytes::checksum::Fletcher16;

/// What a frame says besides its payload; zero where its framing has no such field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Header {
    /// SEQ.
    pub sequence: u8,
    /// SYS.
    pub system: u8,
    /// COMP.
    pub component: u8,
}

/// All that stands between start bytes and payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) header: Header,
    /// Zero where the framing has no length.
    pub(crate) len: u16,
    /// Effective id.
    pub(crate) id: u16,
}

/// Reads what follows the start bytes; `None` when bytes are missing.
#[inline]
pub(crate) fn read_fields(framing: Framing, bytes: &[u8]) -> Option<Fields> {
    let row = framing.payload.row();
    let mut bytes = bytes.get(..row.fields_len())?.iter().copied();
    let mut next = || bytes.next().unwrap_or_default();
    let mut fields = Fields::default();
    if row.sequence {
        fields.header.sequence = next();
    }
    if row.system {
        fields.header.system = next();
        fields.header.component = next();
    }
    fields.len = match row.len_bytes {
        0 => 0,
        1 => next().into(),
        _ => u16::from_le_bytes([next(), next()]),
    };
    let package = if row.package { next() } else { 0 };
    fields.id = u16::from_be_bytes([package, next()]);
    Some(fields)
}

/// Writes what follows the start bytes, byte by byte through `put`.
pub(crate) fn write_fields(framing: Framing, fields: Fields, mut put: impl FnMut(u8)) {
    let row = framing.payload.row();
    if row.sequence {
        put(fields.header.sequence);
    }
    if row.system {
        put(fields.header.system);
        put(fields.header.component);
    }
    let [low, high] = fields.len.to_le_bytes();
    if row.len_bytes > 0 {
        put(low);
    }
    if row.len_bytes > 1 {
        put(high);
    }
    let [package, message] = fields.id.to_be_bytes();
    if row.package {
        put(package);
    }
    put(message);
}

/// The checksum over what follows the start bytes, with the seeds after the base part (SF-12).
#[inline]
pub(crate) fn checksum(fields: &[u8], payload: &[u8], info: Option<&MessageInfo>) -> [u8; 2] {
    let mut sums = Fletcher16::new();
    sums.update(fields);
    // For an unknown id the seeds are zeros behind the payload.
    let (magic, split) = info.map_or(([0; 2], payload.len()), |info| (info.magic, info.base_size.into()));
    let (base, extensions) = payload.split_at_checked(split).unwrap_or((payload, &[]));
    sums.update(base);
    sums.update(&magic);
    sums.update(extensions);
    sums.value()
}
