//! A message as a tree of named byte ranges: every byte belongs to exactly one leaf.
//!
//! Works on damaged messages too: what can be followed is named, the rest is one leaf that says why.

mod frames; // frames without their payloads
mod cbor; // items, keys and values
mod object; // payload, masks, descriptor

pub use frames::{MessagePart, PartKind, message_parts};

use crate::frame::{FrameRef, UnknownFrames, Walk, WalkEvent, on_slice};
use crate::wire::{FRAME_HEADER_LEN, FrameContent, MIN_MESSAGE_LEN, POSTAMBLE_LEN, PREAMBLE_LEN, Postamble, Preamble};
use fw_bytes::Span;
use fw_report::Tree;

/// Names every byte of a message.
///
/// ```
/// let message = fw_tensogram::MessageBuilder::new().extra("n", 7).encode().unwrap();
/// let tree = fw_tensogram::inspect(&message);
/// let mut position = 0;
/// for (_, leaf) in tree.leaves() {
///     assert_eq!(leaf.span.start, position);
///     position = leaf.span.end;
/// }
/// assert_eq!(position, message.len() as u64);
/// ```
pub fn inspect(message: &[u8]) -> Tree {
    let available = message.len() as u64;
    let mut tree = Tree::new("message", 0..available);
    let preamble = match Preamble::read(message, 0) {
        Ok(preamble) => preamble,
        Err(error) => return tree.with(Tree::new("unreadable", 0..available).value(error.to_string())),
    };
    tree.push(preamble_tree(&preamble));
    let length = match preamble.checked_length(available, 0) {
        Ok(length) => length.unwrap_or(available).max(PREAMBLE_LEN),
        // A cut message: follow the frames that are there.
        Err(_) => available,
    };
    let tail = length.checked_sub(POSTAMBLE_LEN).filter(|_| length >= MIN_MESSAGE_LEN);
    let postamble = tail.and_then(|at| Postamble::read(message.get(at as usize..)?, at).ok());
    let end = if postamble.is_some() { length - POSTAMBLE_LEN } else { length };
    frames(message, end, &mut tree);
    if let Some(postamble) = postamble {
        tree.push(postamble_tree(&postamble, end));
    }
    if length < available {
        tree.push(Tree::new("after the message", length..available));
    }
    tree
}

fn frames(message: &[u8], end: u64, tree: &mut Tree) {
    let mut walk = Walk::bounded(end, UnknownFrames::StepOver);
    let mut object_index = 0;
    loop {
        let position = walk.position();
        match on_slice(message, |bytes| walk.poll(bytes)) {
            Ok(WalkEvent::Frame(frame)) => {
                padding(message, Span::new(position, frame.start()), tree);
                tree.push(frame_tree(message, &frame, &mut object_index));
            }
            Ok(WalkEvent::End(_)) => return padding(message, Span::new(position, end), tree),
            Err(error) => {
                return tree.push(Tree::new("unreadable", position..end).value(error.to_string()));
            }
        }
    }
}

fn padding(message: &[u8], span: Span, tree: &mut Tree) {
    if span.is_empty() {
        return;
    }
    let zero = span.slice_of(message, 0).is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0));
    let label = if zero { "alignment padding" } else { "bytes that are not part of any frame" };
    tree.push(Tree::new(label, span).value(format!("({})", span.len())));
}

fn preamble_tree(preamble: &Preamble) -> Tree {
    let length = match preamble.total_length {
        Some(length) => length.to_string(),
        None => "0 (unknown: streaming)".to_owned(),
    };
    Tree::new("preamble", 0..PREAMBLE_LEN)
        .with(Tree::new("magic", 0..8).value("\"TENSOGRM\""))
        .with(Tree::new("version", 8..10).value("3"))
        .with(Tree::new("flags", 10..12).value(preamble.flags.to_string()))
        .with(Tree::new("reserved", 12..16).value(match preamble.reserved {
            0 => String::new(),
            other => format!("0x{other:08x}"),
        }))
        .with(Tree::new("total_length", 16..24).value(length))
}

fn postamble_tree(postamble: &Postamble, at: u64) -> Tree {
    let footer = match postamble.first_footer_offset {
        offset if offset == at => format!("{offset} (= the postamble itself: no footer frames)"),
        offset => offset.to_string(),
    };
    let length = postamble.total_length.map_or_else(|| "0 (unknown)".to_owned(), |length| length.to_string());
    Tree::new("postamble", at..at + POSTAMBLE_LEN)
        .with(Tree::new("first_footer_offset", at..at + 8).value(footer))
        .with(Tree::new("total_length", at + 8..at + 16).value(length))
        .with(Tree::new("end magic", at + 16..at + 24).value("\"39277777\""))
}

fn frame_tree(message: &[u8], frame: &FrameRef, object_index: &mut usize) -> Tree {
    let (start, header) = (frame.start(), frame.header());
    let frame_type = frame.frame_type();
    let label = format!("frame at {start}: {frame_type}, {} bytes", header.length);
    let mut tree = Tree::new(label, frame.span())
        .with(Tree::new("\"FR\"", start..start + 2))
        .with(Tree::new("type", start + 2..start + 4).value(frame_type.0.to_string()))
        .with(Tree::new("frame version", start + 4..start + 6).value(header.version.to_string()))
        .with(Tree::new("flags", start + 6..start + 8).value(header.flags.to_string()))
        .with(Tree::new("frame length", start + 8..start + FRAME_HEADER_LEN).value(header.length.to_string()));
    match frame.content() {
        Some(FrameContent::Object) => {
            object::push_body(message, frame, *object_index, &mut tree);
            *object_index += 1;
        }
        Some(FrameContent::Metadata | FrameContent::Index | FrameContent::Hashes | FrameContent::Preceder) => {
            cbor::push_items(message, frame.body(), &mut tree);
        }
        None => tree.push(Tree::new("body of a frame of unknown type", frame.body())),
    }
    let hash = match frame.has_hash() {
        true => Tree::new("xxh3-64", frame.hash_slot()).value(format!("of bytes [{})", frame.body())),
        false => Tree::new("hash slot unused", frame.hash_slot()).value("(HASH_PRESENT clear)"),
    };
    tree.with(hash).with(Tree::new("\"ENDF\"", frame.end_marker()))
}
