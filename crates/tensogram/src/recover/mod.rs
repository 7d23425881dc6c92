//! What can be saved from a damaged file: every intact message as it is, and from damaged ones every intact object.
//!
//! A message is intact when its frames follow one another, every digest matches and everything that describes it can be
//! read; it is copied byte for byte. From anything else single frames are saved: found by their markers, taken only when
//! their digest matches, and put into a new message with what is left of the metadata. Nothing is made up: what is lost is
//! reported with its bytes, and a message that lost something says so under `recovered` in its `_extra_`.

mod draft; // what is known of a damaged message
mod find; // markers in bytes that cannot be followed
mod frames; // one frame, and whether it can be trusted
mod intact; // messages that need no help
#[cfg(feature = "serde")]
mod json; // what was saved, as JSON
mod near; // short reads next to earlier ones
mod rebuild; // a new message from what is left
mod salvage; // frames out of damaged bytes

use crate::error::{Fault, Result, TensogramError};
use crate::read::file::{scan_source, sort_out};
use fw_bytes::{Limits, Span};
use fw_report::{Finding, Report};
use fw_source::{AtomicFile, FileSource, ReadAt};
use near::Near;
use salvage::Salvage;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What to do with frames that carry no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Unverified {
    /// Leave them out, and report them.
    #[default]
    Drop,
    /// Keep them: nothing says that they are damaged, and nothing that they are not.
    Keep,
}

/// How to recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RecoverOptions {
    /// What to do with frames that carry no digest.
    pub unverified: Unverified,
    /// Caps on what the input may ask for.
    pub limits: Limits,
}

/// What became of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveredMessage {
    /// Which message of the source it was, counting every one of which something was found.
    pub number: usize,
    /// Where it stood.
    pub source: Span,
    /// Where it stands in the output.
    pub output: Span,
    /// Whether it was copied as it is, or rebuilt from its frames.
    pub state: MessageState,
    /// Objects in the output.
    pub object_count: usize,
    /// Objects it had, where something that was saved tells.
    pub expected_count: Option<usize>,
}

/// How a message came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageState {
    /// Byte for byte.
    Intact,
    /// From its frames, none of them lost.
    Rebuilt,
    /// From its frames, not all of them there.
    Partial,
}

/// What was saved, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// The messages of the output, in order.
    pub messages: Vec<RecoveredMessage>,
    /// What was lost, as errors, and what was mended without loss, as warnings; with the bytes of the input, and as path the
    /// message they belong to by its [number](RecoveredMessage::number).
    pub report: Report,
}

impl Recovery {
    /// True when nothing was lost.
    pub fn is_complete(&self) -> bool {
        self.report.is_ok()
    }

    /// Objects in the output.
    pub fn object_count(&self) -> usize {
        self.messages.iter().map(|message| message.object_count).sum()
    }
}

/// Recovers a file into a new one, which appears whole or not at all.
///
/// # Errors
/// `Io` when a file cannot be read or written; `Framing`, code `nothing_recovered`, when nothing could be saved, and then
/// nothing is written.
pub fn recover_file(input: impl AsRef<Path>, output: impl AsRef<Path>, options: &RecoverOptions) -> Result<Recovery> {
    recover_to_file(&FileSource::open(input)?, output, options)
}

/// [`recover_file`] for any source.
///
/// # Errors
/// As [`recover_file`].
pub fn recover_to_file(
    source: &(impl ReadAt + ?Sized),
    output: impl AsRef<Path>,
    options: &RecoverOptions,
) -> Result<Recovery> {
    let mut file = AtomicFile::create(output)?;
    let mut sink = BufWriter::with_capacity(1 << 20, &mut file);
    let recovery = recover_source(source, &mut sink, options)?;
    sink.flush()?;
    drop(sink);
    if recovery.messages.is_empty() {
        let text = format!("nothing could be recovered from {} bytes", source.len()?);
        return Err(TensogramError::Framing(Fault::format("nothing_recovered", text)));
    }
    file.commit()?;
    Ok(recovery)
}

/// Recovers bytes in memory.
///
/// # Errors
/// Only when memory fails: what the bytes say never does.
///
/// ```
/// use fw_tensogram::*;
///
/// let message = MessageBuilder::new().tensor(&[3], &[1u8, 2, 3])?.tensor(&[2], &[4u8, 5])?.encode()?;
/// let mut damaged = message.clone();
/// damaged[0] ^= 1;
/// assert!(scan(&damaged).is_empty());
/// let (saved, recovery) = recover(&damaged, &RecoverOptions::default())?;
/// assert!(recovery.is_complete(), "only the preamble was damaged");
/// assert_eq!(MessageView::open(&saved)?.object(1)?.bytes(), Some(&[4u8, 5][..]));
/// # Ok::<(), TensogramError>(())
/// ```
pub fn recover(bytes: &[u8], options: &RecoverOptions) -> Result<(Vec<u8>, Recovery)> {
    let mut out = Vec::new();
    let recovery = recover_source(bytes, &mut out, options)?;
    Ok((out, recovery))
}

/// Recovers any source into any sink. At most one piece of metadata is held in memory, and no payload.
///
/// # Errors
/// `Io` when the source cannot be read or the sink not written.
pub fn recover_source(
    source: &(impl ReadAt + ?Sized),
    sink: &mut impl Write,
    options: &RecoverOptions,
) -> Result<Recovery> {
    let len = source.len()?;
    let mut recovery = Recovery::default();
    let mut written = 0u64;
    // How many messages of the source were found so far.
    let mut number = 0;
    let near = Near::new(source, len);
    let mut salvage = Salvage::new(&near, len, *options);
    let mut spans = scan_source(source, &Default::default())?;
    let parts = parts(source, len, &spans, options)?;
    let nested = sort_out(source, Span::new(0, len), &mut spans)?;
    let intact: Vec<u64> = parts.iter().filter(|part| part.intact.is_some()).map(|part| part.span.start).collect();
    for part in &parts {
        // A frame that was saved may reach into what follows: what looked like a message there was part of its payload.
        let span = Span::new(part.span.start.max(salvage.position()), part.span.end);
        if span.is_empty() {
            continue;
        }
        if let Some(object_count) = part.intact.filter(|_| span == part.span) {
            frames::copy(source, span, sink)?;
            let output = Span::new(written, written.saturating_add(span.len()));
            written = output.end;
            if nested.contains(&span) {
                let text = "was inside the payload of an unfinished message and is now a separate message";
                recovery.report.push(Finding::warning("nested_message", text).at(span).level(LEVEL));
            }
            let expected_count = Some(object_count);
            let state = MessageState::Intact;
            let message = RecoveredMessage { number, source: span, output, state, object_count, expected_count };
            recovery.messages.push(message);
            number += 1;
            continue;
        }
        for draft in salvage.run(span, number, &intact, &mut recovery.report)? {
            if let Some(message) = rebuild::write(source, sink, &draft, number, written, &mut recovery.report)? {
                written = message.output.end;
                recovery.messages.push(message);
            }
            number += 1;
        }
    }
    if len == 0 {
        recovery.report.push(Finding::error("no_message", "the input is empty").level(LEVEL));
    }
    Ok(recovery)
}

/// A stretch of the source: an intact message with its number of objects, or anything else.
struct Part {
    span: Span,
    intact: Option<usize>,
}

/// The source in parts: intact messages, and what lies between them in one piece each.
fn parts(source: &(impl ReadAt + ?Sized), len: u64, messages: &[Span], options: &RecoverOptions) -> Result<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    let mut position = 0;
    for span in messages.iter().copied() {
        let Some(object_count) = intact::check(source, span, options)? else { continue };
        if position < span.start {
            parts.push(Part { span: Span::new(position, span.start), intact: None });
        }
        parts.push(Part { span, intact: Some(object_count) });
        position = span.end;
    }
    if position < len {
        parts.push(Part { span: Span::new(position, len), intact: None });
    }
    Ok(parts)
}

const LEVEL: &str = "recover";
