//! What generated code implements, so that typed and dynamic code share this runtime.

use crate::frame::{Frame, WriteError, frame_len, seal};
use crate::wire::{Framing, Header, Layout, MessageInfo};
use core::fmt;

/// A message type.
pub trait Message: Sized {
    /// Id, sizes and seeds.
    const INFO: MessageInfo;

    /// Effective id.
    const MSG_ID: u16 = Self::INFO.id;

    /// Bytes of the fixed layout, and the most that the wire layout can have.
    const MAX_SIZE: usize = Self::INFO.max_size as usize;

    /// Seeds of the checksum.
    const MAGIC: [u8; 2] = Self::INFO.magic;

    /// Writes the payload to the beginning of `out` and returns how many bytes it has.
    ///
    /// # Errors
    /// When `out` is too short, or a value does not fit its field.
    fn encode(&self, layout: Layout, out: &mut [u8]) -> Result<usize, MessageError>;

    /// Reads a payload. Missing bytes are defaults where the format says so (SF-6.4, SF-8.4), surplus ones are ignored.
    ///
    /// # Errors
    /// When bytes are missing that must be there.
    fn decode(layout: Layout, payload: &[u8]) -> Result<Self, MessageError>;
}

/// Writes a message as a frame to the beginning of `out` and returns the frame; the payload is encoded in place.
///
/// # Errors
/// As [`Message::encode`] and [`write`](crate::write()).
#[inline]
pub fn write_message<'o, M: Message>(
    framing: Framing,
    header: Header,
    message: &M,
    out: &'o mut [u8],
) -> Result<&'o [u8], MessageError> {
    // Where the longest frame has room, nothing below needs to ask again.
    match out.len().checked_sub(frame_len(framing, M::MAX_SIZE)) {
        Some(_) => write_roomy(framing, header, message, out.split_at_mut(frame_len(framing, M::MAX_SIZE)).0),
        None => write_tight(framing, header, message, out),
    }
}

#[inline(always)]
fn write_roomy<'o, M: Message>(
    framing: Framing,
    header: Header,
    message: &M,
    out: &'o mut [u8],
) -> Result<&'o [u8], MessageError> {
    let have = out.len();
    let room = out.get_mut(framing.header_len()..);
    let room = room.ok_or(MessageError::BufferTooShort { need: framing.overhead(), have })?;
    let len = message.encode(framing.layout(), room)?;
    seal(framing, header, &M::INFO, len, out).map_err(MessageError::Frame)
}

#[cold]
fn write_tight<'o, M: Message>(
    framing: Framing,
    header: Header,
    message: &M,
    out: &'o mut [u8],
) -> Result<&'o [u8], MessageError> {
    write_roomy(framing, header, message, out)
}

/// Reads the message in a frame of this framing.
///
/// # Errors
/// When the frame holds another message, and as [`Message::decode`].
#[inline]
pub fn read_message<M: Message>(framing: Framing, frame: &Frame<'_>) -> Result<M, MessageError> {
    if frame.id != M::MSG_ID {
        return Err(MessageError::OtherMessage { expected: M::MSG_ID, found: frame.id });
    }
    M::decode(framing.layout(), frame.payload)
}

/// Why a message cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageError {
    /// The buffer is too short.
    BufferTooShort {
        /// Bytes needed.
        need: usize,
        /// Bytes there.
        have: usize,
    },
    /// The payload ends within its base part.
    Truncated {
        /// What was being read.
        field: &'static str,
        /// At which byte of the payload.
        at: usize,
        /// Bytes needed.
        need: usize,
        /// Bytes there.
        have: usize,
    },
    /// Text, a blob or an array with more than its bound.
    TooLong {
        /// Which field.
        field: &'static str,
        /// Its length.
        len: usize,
        /// Its bound.
        max: usize,
    },
    /// A union that says not how long it is has a tag of unknown meaning, and more fields follow.
    UnknownTag {
        /// Which union.
        field: &'static str,
        /// Its tag.
        tag: u16,
        /// Behind which byte of the payload.
        at: usize,
    },
    /// The frame holds another message.
    OtherMessage {
        /// The id asked for.
        expected: u16,
        /// The id in the frame.
        found: u16,
    },
    /// The framing cannot carry it.
    Frame(WriteError),
}

impl MessageError {
    /// Stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::BufferTooShort { .. } => "buffer_too_short",
            Self::Truncated { .. } => "truncated",
            Self::TooLong { .. } => "too_long",
            Self::UnknownTag { .. } => "unknown_tag",
            Self::OtherMessage { .. } => "other_message",
            Self::Frame(error) => error.code(),
        }
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::BufferTooShort { need, have } => write!(f, "need {need} bytes, have {have}"),
            Self::Truncated { field, at, need, have } => {
                write!(f, "need {need} bytes for {field}, have {have} at byte {at} (0x{at:x})")
            }
            Self::TooLong { field, len, max } => write!(f, "{field}: {len} exceeds the bound {max}"),
            Self::UnknownTag { field, tag, at } => {
                write!(f, "{field}: unknown tag {tag} before byte {at} (0x{at:x}) hides what follows")
            }
            Self::OtherMessage { expected, found } => write!(f, "expected message {expected}, found {found}"),
            Self::Frame(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MessageError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Frames, Profile};

    /// As a generator would write it.
    #[derive(Debug, PartialEq)]
    struct Ping {
        seq: u16,
        ack: bool,
        mode: u8,
    }

    impl Message for Ping {
        const INFO: MessageInfo = MessageInfo { id: 7, max_size: 4, base_size: 4, min_size: 4, magic: [0x1d, 0x2e] };

        fn encode(&self, _: Layout, out: &mut [u8]) -> Result<usize, MessageError> {
            let have = out.len();
            let out = out.first_chunk_mut::<4>().ok_or(MessageError::BufferTooShort { need: 4, have })?;
            let [low, high] = self.seq.to_le_bytes();
            *out = [low, high, self.ack.into(), self.mode];
            Ok(4)
        }

        fn decode(_: Layout, payload: &[u8]) -> Result<Self, MessageError> {
            let byte = |at: usize| payload.get(at).copied().unwrap_or_default();
            Ok(Self { seq: u16::from_le_bytes([byte(0), byte(1)]), ack: byte(2) != 0, mode: byte(3) })
        }
    }

    #[test]
    fn typed_messages_there_and_back_in_every_profile() {
        let ping = Ping { seq: 0x1234, ack: true, mode: 1 };
        for profile in Profile::ALL {
            let framing = profile.framing();
            let mut buffer = [0; 32];
            let frame = write_message(framing, Header::default(), &ping, &mut buffer).unwrap();
            let Some(Event::Frame(frame)) = Frames::new(framing, [Ping::INFO], frame).next() else { panic!() };
            assert_eq!(read_message::<Ping>(framing, &frame), Ok(Ping { ..ping }));
            let error = write_message(framing, Header::default(), &ping, &mut buffer[..framing.overhead() + 3]);
            assert_eq!(error.unwrap_err().code(), "buffer_too_short");
        }
    }
}
