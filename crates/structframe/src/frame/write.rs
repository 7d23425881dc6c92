//! Frames into the caller's buffer.

use crate::wire::{Fields, Framing, Header, Layout, MessageInfo, Seeds, fresh_checksum, write_head};
use core::fmt;

/// Writes a frame to the beginning of `out` and returns it. `payload` has the layout of the framing
/// ([`Framing::layout`]).
///
/// # Errors
/// When the framing cannot carry the id or the payload (SF-13.3), when a framing without a length gets another number of
/// bytes than `MAX_SIZE`, or when `out` is too short. Nothing is written then.
#[inline]
pub fn write<'o>(
    framing: Framing,
    header: Header,
    info: &MessageInfo,
    payload: &[u8],
    out: &'o mut [u8],
) -> Result<&'o [u8], WriteError> {
    check(framing, info, payload.len())?;
    let (need, have) = (frame_len(framing, payload.len()), out.len());
    let body = out.get_mut(framing.header_len()..).and_then(|rest| rest.get_mut(..payload.len()));
    let body = body.filter(|_| need <= have).ok_or(WriteError::BufferTooShort { need, have })?;
    body.copy_from_slice(payload);
    seal(framing, header, info, payload.len(), out)
}

/// Writes a frame around a payload that stands at its place in `out` already.
#[inline(always)]
pub(crate) fn seal<'o>(
    framing: Framing,
    header: Header,
    info: &MessageInfo,
    payload_len: usize,
    out: &'o mut [u8],
) -> Result<&'o [u8], WriteError> {
    let len = check(framing, info, payload_len)?;
    let (need, have) = (frame_len(framing, payload_len), out.len());
    let frame = out.get_mut(..need).ok_or(WriteError::BufferTooShort { need, have })?;
    write_head(framing, Fields { header, len, id: info.id }, frame);
    // Not a chain of conditions: this is also shipped into crates of older editions.
    let trailer = if framing.has_length() { frame.split_last_chunk_mut::<2>() } else { None };
    if let Some((before, trailer)) = trailer {
        let covered = before.get(framing.start_len()..).unwrap_or_default();
        let [a, b] = fresh_checksum(covered, Seeds::new(framing, Some(info)));
        (trailer[0], trailer[1]) = (a, b);
    }
    Ok(frame)
}

/// Bytes of a frame around a payload of this length.
#[inline]
pub const fn frame_len(framing: Framing, payload_len: usize) -> usize {
    framing.overhead().saturating_add(payload_len)
}

/// Why a frame cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The framing carries ids up to 255 only.
    IdTooLarge {
        /// The effective id.
        id: u16,
    },
    /// The length field has no room for this payload.
    PayloadTooLong {
        /// Its bytes.
        len: usize,
        /// What the framing carries.
        max: usize,
    },
    /// Readers of a framing without a length expect exactly `MAX_SIZE` bytes.
    PayloadNotWhole {
        /// The bytes given.
        len: usize,
        /// `MAX_SIZE`.
        expected: usize,
    },
    /// The buffer is too short for the frame.
    BufferTooShort {
        /// Bytes of the frame.
        need: usize,
        /// Bytes of the buffer.
        have: usize,
    },
}

impl WriteError {
    /// Stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::IdTooLarge { .. } => "id_too_large",
            Self::PayloadTooLong { .. } => "payload_too_long",
            Self::PayloadNotWhole { .. } => "payload_not_whole",
            Self::BufferTooShort { .. } => "buffer_too_short",
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::IdTooLarge { id } => {
                write!(f, "id {id} does not fit into a framing without package id (at most 255)")
            }
            Self::PayloadTooLong { len, max } => write!(f, "payload of {len} bytes, the framing carries at most {max}"),
            Self::PayloadNotWhole { len, expected } => {
                write!(f, "payload of {len} bytes, a framing without length needs exactly {expected}")
            }
            Self::BufferTooShort { need, have } => write!(f, "need {need} bytes for the frame, have {have}"),
        }
    }
}

impl core::error::Error for WriteError {}

#[inline(always)]
fn check(framing: Framing, info: &MessageInfo, len: usize) -> Result<u16, WriteError> {
    if info.id > 0xff && !framing.has_package() {
        return Err(WriteError::IdTooLarge { id: info.id });
    }
    if framing.layout() == Layout::Fixed && len != usize::from(info.max_size) {
        return Err(WriteError::PayloadNotWhole { len, expected: info.max_size.into() });
    }
    let max = framing.max_payload_len();
    let short = u16::try_from(len).ok().filter(|_| len <= max);
    short.ok_or(WriteError::PayloadTooLong { len, max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Profile;

    const PING: MessageInfo = MessageInfo { id: 7, max_size: 4, base_size: 4, min_size: 4, magic: [0x1d, 0x2e] };
    const REPORT: MessageInfo = MessageInfo { id: 14, max_size: 8, base_size: 3, min_size: 3, magic: [7, 11] };

    #[test]
    fn sf_13_five_profiles() {
        let header = Header { sequence: 5, system: 1, component: 2 };
        let expected: [&[u8]; 5] = [
            &[0x90, 0x71, 4, 7, 0x34, 0x12, 1, 1, 0x9e, 0x52],
            &[0x70, 7, 0x34, 0x12, 1, 1],
            &[7, 0x34, 0x12, 1, 1],
            &[0x90, 0x74, 4, 0, 0, 7, 0x34, 0x12, 1, 1, 0x9e, 0x5a],
            &[0x90, 0x78, 5, 1, 2, 4, 0, 0, 7, 0x34, 0x12, 1, 1, 0xa6, 0xbd],
        ];
        for (profile, expected) in Profile::ALL.into_iter().zip(expected) {
            let mut buffer = [0xee; 32];
            let frame = write(profile.framing(), header, &PING, &[0x34, 0x12, 1, 1], &mut buffer).unwrap();
            assert_eq!(frame, expected, "{profile:?}");
        }
    }

    #[test]
    fn sf_12_2_seeds_stand_before_extensions() {
        let mut buffer = [0; 32];
        let standard = Profile::Standard.framing();
        let payload = [2, 1, 3, 0x0d, 0x0c, 0x0b, 0x0a, 9];
        let frame = write(standard, Header::default(), &REPORT, &payload, &mut buffer).unwrap();
        assert_eq!(frame[12..], [0x65, 0x51]);
        let frame = write(standard, Header::default(), &REPORT, &payload[..3], &mut buffer).unwrap();
        assert_eq!(frame[7..], [0x29, 0x99]);
    }

    #[test]
    fn sf_13_3_refusals() {
        let mut buffer = [0; 300];
        let mut refuse = |profile: Profile, info: &MessageInfo, payload: &[u8], room: usize| {
            write(profile.framing(), Header::default(), info, payload, &mut buffer[..room]).unwrap_err().code()
        };
        let far = MessageInfo { id: 0x107, ..PING };
        assert_eq!(refuse(Profile::Standard, &far, &[0; 4], 300), "id_too_large");
        assert_eq!(refuse(Profile::Sensor, &far, &[0; 4], 300), "id_too_large");
        assert_eq!(refuse(Profile::Sensor, &PING, &[0; 3], 300), "payload_not_whole");
        assert_eq!(refuse(Profile::Standard, &PING, &[0; 256], 300), "payload_too_long");
        assert_eq!(refuse(Profile::Bulk, &far, &[0; 4], 11), "buffer_too_short");
    }
}
