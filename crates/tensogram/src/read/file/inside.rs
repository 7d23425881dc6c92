//! Messages in the payload of one that was never finished (TG-13.6).
//!
//! A writer that dies leaves the beginning of a message. When its payload holds a whole message, a scan finds that one,
//! for nothing marks it as a part of another; yet it is no message of the file. Bytes alone cannot always tell it from one
//! that somebody wrote behind the remains. It is taken for a part of the payload only when the frame that broke off is
//! long enough to hold it, and either begins with it, or goes on behind it with something that is no message, to the end
//! of the file. What is written behind remains is there to the end of the file, or to the next remains.

use crate::error::Result;
use crate::frame::FrameRef;
use crate::wire::{FRAME_HEADER_LEN, FrameContent, FrameHeader, MAGIC, PREAMBLE_LEN, Preamble};
use fw_bytes::Span;
use fw_source::ReadAt;

/// Takes those out of `found` that are part of an unfinished message, and returns them. `found` are the messages of
/// `region`, in order; a message ends where the region begins, or the source begins there.
///
/// # Errors
/// `Io` when the source cannot be read.
pub(crate) fn sort_out(source: &(impl ReadAt + ?Sized), region: Span, found: &mut Vec<Span>) -> Result<Vec<Span>> {
    let follows = |one: &Span, next: &Span| one.end == next.start;
    if found.first().is_none_or(|first| first.start == region.start) && found.is_sorted_by(follows) {
        return Ok(Vec::new());
    }
    let mut inside = Vec::new();
    let mut own = Vec::with_capacity(found.len());
    // Where the bytes that belong to no message begin.
    let mut gap = region.start;
    let mut budget = MOST_FRAMES;
    let last = found.last().map_or(0, |span| span.end);
    for run in found.chunk_by(follows) {
        let (Some(first), Some(end)) = (run.first(), run.last().map(|span| span.end)) else { continue };
        let torn = match gap < first.start {
            true => broken_frame(source, gap, first.start, &mut budget)?,
            false => None,
        };
        let held = match torn {
            // A payload that begins with a message, as those of archives do.
            Some(frame) if first.start == frame.start.saturating_add(FRAME_HEADER_LEN) => {
                run.partition_point(|span| span.end <= frame.end)
            }
            Some(frame) if end == last && end <= frame.end && !ends_or_begins(source, end, region.end)? => run.len(),
            _ => 0,
        };
        let (held, listed) = run.split_at(held);
        inside.extend_from_slice(held);
        own.extend_from_slice(listed);
        if !listed.is_empty() {
            gap = end;
        }
    }
    *found = own;
    Ok(inside)
}

/// The object frame that holds `at`, of a message that begins at `start`.
fn broken_frame(source: &(impl ReadAt + ?Sized), start: u64, at: u64, budget: &mut u64) -> Result<Option<Span>> {
    let Some(mut position) = start.checked_add(PREAMBLE_LEN).filter(|end| *end <= at) else { return Ok(None) };
    let mut preamble = [0; PREAMBLE_LEN as usize];
    source.read_exact_at(start, &mut preamble)?;
    if Preamble::read(&preamble, start).is_err() {
        return Ok(None);
    }
    let mut header = [0; FRAME_HEADER_LEN as usize];
    while position.checked_add(FRAME_HEADER_LEN).is_some_and(|end| end <= at) && *budget > 0 {
        *budget -= 1;
        source.read_exact_at(position, &mut header)?;
        let Ok(header) = FrameHeader::read(&header, position) else { return Ok(None) };
        if header.frame_type.known().is_none() || header.length < header.frame_type.min_len() {
            return Ok(None);
        }
        let Some(end) = position.checked_add(header.length) else { return Ok(None) };
        if end > at {
            let holds = header.frame_type.content() == Some(FrameContent::Object);
            return Ok(holds.then_some(Span::new(position, end)));
        }
        let Some(next) = FrameRef::of(position, header).next_start() else { return Ok(None) };
        position = next;
    }
    Ok(None)
}

/// Whether the source ends at `at`, or a message begins there, however little of it.
fn ends_or_begins(source: &(impl ReadAt + ?Sized), at: u64, len: u64) -> Result<bool> {
    let mut bytes = [0; PREAMBLE_LEN as usize];
    let there = len.saturating_sub(at).min(PREAMBLE_LEN) as usize;
    let Some(bytes) = bytes.get_mut(..there) else { return Ok(false) };
    source.read_exact_at(at, bytes)?;
    Ok(match there as u64 {
        PREAMBLE_LEN => Preamble::read(bytes, at).is_ok(),
        _ => bytes.iter().zip(MAGIC).all(|(byte, magic)| byte == magic),
    })
}

/// Frames that are followed in all: hostile files are listed as they are found.
const MOST_FRAMES: u64 = 1 << 20;
