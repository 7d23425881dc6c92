//! The frames of a message in a source: where they stand, what they are, and the digests they carry. No payload is read.

use crate::error::Result;
use crate::frame::{FrameRef, UnknownFrames, Walk, WalkEvent};
use crate::wire::{FrameFlags, FrameType, MIN_MESSAGE_LEN, POSTAMBLE_LEN, PREAMBLE_LEN, Postamble};
use fw_bytes::Span;
use fw_source::{Buffers, ReadAt, drive};
use std::io;

/// A part of a message, as a walk over its frames finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessagePart {
    /// Where it stands in the source.
    pub span: Span,
    /// What it is.
    pub kind: PartKind,
}

/// What a part of a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartKind {
    /// The first 24 bytes.
    Preamble,
    /// A frame.
    Frame {
        /// Its type.
        frame_type: FrameType,
        /// Its version.
        version: u16,
        /// Its flags.
        flags: FrameFlags,
        /// The digest it carries.
        digest: Option<u64>,
    },
    /// Bytes between frames.
    Padding,
    /// Bytes that cannot be followed, and why.
    Unreadable(String),
    /// The last 24 bytes.
    Postamble,
}

impl PartKind {
    /// What it is, in a word.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Preamble => "preamble",
            Self::Frame { .. } => "frame",
            Self::Padding => "padding",
            Self::Unreadable(_) => "unreadable",
            Self::Postamble => "postamble",
        }
    }
}

/// Lists the parts of the message that fills `message` of `source`, in order. A damaged message is listed as far as it can be
/// followed.
///
/// ```
/// use fw_tensogram::{MessageBuilder, PartKind, message_parts};
///
/// let message = MessageBuilder::new().tensor(&[3], &[1u8, 2, 3])?.encode()?;
/// let parts = message_parts(&message[..], (0..message.len() as u64).into())?;
/// assert_eq!(parts[0].kind, PartKind::Preamble);
/// assert_eq!(parts.last().map(|part| part.span.end), Some(message.len() as u64));
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
///
/// # Errors
/// `Io` when the source cannot be read.
pub fn message_parts(source: &(impl ReadAt + ?Sized), message: Span) -> Result<Vec<MessagePart>> {
    let within = Within { source, message };
    let len = message.len();
    let mut parts = Vec::new();
    let mut put = |span: Span, kind| {
        if let Some(span) = span.shifted(message.start).filter(|span| !span.is_empty()) {
            parts.push(MessagePart { span, kind });
        }
    };
    if len < MIN_MESSAGE_LEN {
        put(Span::new(0, len), PartKind::Unreadable(format!("{len} bytes, a message has at least {MIN_MESSAGE_LEN}")));
        return Ok(parts);
    }
    let mut tail = [0; POSTAMBLE_LEN as usize];
    within.read_exact_at(len - POSTAMBLE_LEN, &mut tail)?;
    let end = match Postamble::read(&tail, len - POSTAMBLE_LEN) {
        Ok(_) => len - POSTAMBLE_LEN,
        Err(_) => len,
    };
    put(Span::new(0, PREAMBLE_LEN), PartKind::Preamble);
    let (mut walk, mut buffers) = (Walk::bounded(end, UnknownFrames::StepOver), Buffers::new());
    loop {
        let position = walk.position();
        match drive(&within, &mut buffers, |have| walk.poll(have)) {
            Ok(WalkEvent::Frame(frame)) => {
                put(Span::new(position, frame.start()), PartKind::Padding);
                let digest = digest(&within, &frame)?;
                let header = frame.header();
                let (frame_type, version, flags) = (frame.frame_type(), header.version, header.flags);
                put(frame.span(), PartKind::Frame { frame_type, version, flags, digest });
                buffers.release_before(frame.end());
            }
            Ok(WalkEvent::End(_)) => {
                put(Span::new(position, end), PartKind::Padding);
                break;
            }
            Err(error) if error.is_io() => return Err(error),
            Err(error) => {
                put(Span::new(position, end), PartKind::Unreadable(error.shifted(message.start).to_string()));
                break;
            }
        }
    }
    put(Span::new(end, len), PartKind::Postamble);
    Ok(parts)
}

fn digest(source: &impl ReadAt, frame: &FrameRef) -> Result<Option<u64>> {
    if !frame.has_hash() {
        return Ok(None);
    }
    let mut slot = [0; 8];
    source.read_exact_at(frame.hash_slot().start, &mut slot)?;
    Ok(Some(u64::from_be_bytes(slot)))
}

/// A message as a source of its own: positions count from its first byte.
struct Within<'s, S: ?Sized> {
    source: &'s S,
    message: Span,
}

impl<S: ReadAt + ?Sized> ReadAt for Within<'_, S> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.message.len())
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.source.read_exact_at(self.message.start.saturating_add(offset), buffer)
    }
}
