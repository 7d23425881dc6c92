//! One frame in bytes that cannot be followed, and whether it can be trusted.

use crate::error::{Result, TensogramError};
use crate::frame::FrameRef;
use crate::wire::{FRAME_END, FRAME_HEADER_LEN, FrameHeader};
use fw_bytes::Span;
use fw_bytes::checksum::{Xxh3, xxh3_64};
use fw_source::ReadAt;
use std::io::Write;

/// What a frame's digest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It matches.
    Verified,
    /// There is none.
    Unverifiable,
    /// It does not match: something in the frame is damaged.
    Damaged,
}

/// The frame that begins at `at` and ends at or before `end`, when its header, its length and its end marker say so.
pub(super) fn frame_at(source: &(impl ReadAt + ?Sized), at: u64, end: u64) -> Result<Option<FrameRef>> {
    if end.saturating_sub(at) < FRAME_HEADER_LEN {
        return Ok(None);
    }
    let mut bytes = [0; FRAME_HEADER_LEN as usize];
    source.read_exact_at(at, &mut bytes)?;
    let Ok(header) = FrameHeader::read(&bytes, at) else { return Ok(None) };
    let is_frame = header.frame_type.known().is_some() && header.length >= header.frame_type.min_len();
    if !is_frame || at.checked_add(header.length).is_none_or(|frame_end| frame_end > end) {
        return Ok(None);
    }
    let frame = FrameRef::of(at, header);
    let mut marker = [0; FRAME_END.len()];
    source.read_exact_at(frame.end_marker().start, &mut marker)?;
    Ok((marker == *FRAME_END).then_some(frame))
}

/// Compares the digest of a frame with its body.
pub(super) fn trust(source: &(impl ReadAt + ?Sized), frame: &FrameRef) -> Result<Trust> {
    if !frame.has_hash() {
        return Ok(Trust::Unverifiable);
    }
    let body = frame.body();
    let mut short = [0; SHORT as usize];
    if let Some(short) = short.get_mut(..body.len().min(SHORT + 1) as usize) {
        source.read_exact_at(body.start, short)?;
        let matches = xxh3_64(short) == stored_digest(source, frame)?;
        return Ok(if matches { Trust::Verified } else { Trust::Damaged });
    }
    let mut hash = Xxh3::new();
    each_piece(source, body, |piece| {
        hash.update(piece);
        Ok(())
    })?;
    Ok(if hash.digest() == stored_digest(source, frame)? { Trust::Verified } else { Trust::Damaged })
}

/// The digest that stands in a frame.
pub(super) fn stored_digest(source: &(impl ReadAt + ?Sized), frame: &FrameRef) -> Result<u64> {
    let mut slot = [0; 8];
    source.read_exact_at(frame.hash_slot().start, &mut slot)?;
    Ok(u64::from_be_bytes(slot))
}

/// Bytes that are known to exist.
pub(super) fn bytes(source: &(impl ReadAt + ?Sized), span: Span) -> Result<Vec<u8>> {
    let len = usize::try_from(span.len()).map_err(|_| crate::error::too_large())?;
    let mut bytes = fw_codec::alloc::zeroed(len)?;
    source.read_exact_at(span.start, &mut bytes)?;
    Ok(bytes)
}

/// Copies bytes, piece by piece.
pub(super) fn copy(source: &(impl ReadAt + ?Sized), span: Span, sink: &mut impl Write) -> Result<()> {
    each_piece(source, span, |piece| sink.write_all(piece).map_err(TensogramError::from))
}

fn each_piece(source: &(impl ReadAt + ?Sized), span: Span, mut work: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut piece = vec![0; span.len().min(PIECE) as usize];
    let mut position = span.start;
    while position < span.end {
        let len = (span.end - position).min(PIECE) as usize;
        let Some(piece) = piece.get_mut(..len) else { break };
        source.read_exact_at(position, piece)?;
        work(piece)?;
        position += len as u64;
    }
    Ok(())
}

const PIECE: u64 = 256 << 10;
/// Bodies up to this are hashed in one go.
const SHORT: u64 = 1024;
