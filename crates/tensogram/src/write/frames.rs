//! One frame onto a sink: header, body, digest, end marker, padding.

use crate::error::Result;
use crate::pipeline::Prepared;
use crate::wire::{ALIGNMENT, FRAME_END, FRAME_HEADER_LEN, FrameFlags, FrameHeader, FrameType};
use fw_bytes::checksum::{Xxh3, xxh3_64};
use fw_bytes::interrupt;
use fw_codec::finite;
use std::io::{self, Write};

/// Bytes of a frame whose body has `body_len` bytes, padding excluded.
pub(crate) const fn frame_len(frame_type: FrameType, body_len: u64) -> u64 {
    FRAME_HEADER_LEN + body_len + frame_type.footer().len()
}

/// `len` with the padding that follows a frame. Lengths here are of memory at hand and cannot overflow.
pub(crate) const fn padded(len: u64) -> u64 {
    len.next_multiple_of(ALIGNMENT)
}

/// Writes a metadata, index, hash or preceder frame and its padding; returns the bytes written.
pub(crate) fn write_frame(sink: &mut impl Write, frame_type: FrameType, body: &[u8], hashing: bool) -> io::Result<u64> {
    let length = frame_len(frame_type, body.len() as u64);
    let flags = FrameFlags::HASH_PRESENT.when(hashing);
    sink.write_all(&FrameHeader { frame_type, version: FRAME_VERSION, flags, length }.to_bytes())?;
    sink.write_all(body)?;
    let digest = if hashing { xxh3_64(body) } else { 0 };
    sink.write_all(&digest.to_be_bytes())?;
    sink.write_all(FRAME_END)?;
    pad(sink, length)
}

/// What [`write_object`] wrote.
pub(crate) struct WrittenObject {
    /// Frame length, padding excluded.
    pub(crate) length: u64,
    /// The digest, or zero without hashing.
    pub(crate) digest: u64,
}

/// Writes a data object frame, descriptor behind the payload, and its padding.
///
/// With a second thread the digest of a large object is made over there while this one copies; otherwise piece by piece,
/// while a piece is in the cache: [`COPIED`] or [`SENT`] bytes at a time.
///
/// # Errors
/// `Io` from the sink; `Encoding` for elements that nobody had looked at and that are not finite.
pub(crate) fn write_object(
    sink: &mut impl Write,
    object: &Prepared<'_>,
    hashing: bool,
    threads: usize,
    piece_len: usize,
) -> Result<WrittenObject> {
    let length = object_len(object);
    let flags = FrameFlags::CBOR_AFTER_PAYLOAD | FrameFlags::HASH_PRESENT.when(hashing);
    let header = FrameHeader { frame_type: FrameType::NTENSOR, version: FRAME_VERSION, flags, length };
    sink.write_all(&header.to_bytes())?;
    let digest = match object.digest {
        _ if !hashing => write_body(sink, object, piece_len, None).map(|()| 0),
        Some(digest) => write_body(sink, object, piece_len, None).map(|()| digest),
        None if threads > 1 && length >= HASHED_ASIDE => std::thread::scope(|scope| {
            let aside = scope.spawn(|| digest(object));
            write_body(sink, object, piece_len, None)?;
            // A panic over there is this thread's panic, as if it had done the work itself.
            Ok(aside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        }),
        None => {
            let mut hash = Xxh3::new();
            write_body(sink, object, piece_len, Some(&mut hash)).map(|()| hash.digest())
        }
    }?;
    let cbor_offset = FRAME_HEADER_LEN + (object.payload_len() + object.masks.len()) as u64;
    sink.write_all(&cbor_offset.to_be_bytes())?;
    sink.write_all(&digest.to_be_bytes())?;
    sink.write_all(FRAME_END)?;
    pad(sink, length)?;
    Ok(WrittenObject { length, digest })
}

/// Payload, masks and descriptor; small pieces are still in the cache when they are read again.
fn write_body(
    sink: &mut impl Write,
    object: &Prepared<'_>,
    piece_len: usize,
    mut hash: Option<&mut Xxh3>,
) -> Result<()> {
    let (dtype, order) = (object.descriptor.dtype, object.descriptor.byte_order);
    let mut looked_at = 0u64;
    for (part, unchecked) in parts(object) {
        for piece in part.chunks(piece_len) {
            interrupt::check();
            if unchecked {
                let width = dtype.byte_width().unwrap_or(1) as u64;
                finite::check_finite_from(looked_at / width, piece, dtype, order)?;
                looked_at += piece.len() as u64;
            }
            sink.write_all(piece)?;
            if let Some(hash) = &mut hash {
                hash.update(piece);
            }
        }
    }
    Ok(())
}

/// The digest of the body of an object's frame.
pub(super) fn digest(object: &Prepared<'_>) -> u64 {
    let mut hash = Xxh3::new();
    for (part, _) in parts(object) {
        hash.update(part);
    }
    hash.digest()
}

/// The body of an object's frame, and which of it nobody has looked at.
fn parts<'a>(object: &'a Prepared<'_>) -> impl Iterator<Item = (&'a [u8], bool)> {
    let payload = object.payload.iter().map(|part| (&part[..], object.unchecked));
    payload.chain([(&object.masks[..], false), (&object.cbor, false)])
}

/// Bytes of the frame of an object, padding excluded.
pub(super) fn object_len(object: &Prepared<'_>) -> u64 {
    let body = object.payload_len() + object.masks.len() + object.cbor.len();
    frame_len(FrameType::NTENSOR, body as u64)
}

/// Writes the padding behind a frame of `length` bytes; returns both together.
fn pad(sink: &mut impl Write, length: u64) -> io::Result<u64> {
    let padding = padded(length) - length;
    sink.write_all(&[0; ALIGNMENT as usize][..padding as usize])?;
    Ok(length + padding)
}

const FRAME_VERSION: u16 = 1;
/// Pieces of a message in memory: source and copy are both in the first cache when the digest reads one of them again.
/// Like [`SENT`], a whole number of elements of any type.
pub(crate) const COPIED: usize = 8 << 10;
/// Pieces for a sink that may be a file or a socket, where each is a call to the system.
pub(super) const SENT: usize = 64 << 10;
/// Below this many bytes a second thread costs more than it saves.
const HASHED_ASIDE: u64 = 2 << 20;
