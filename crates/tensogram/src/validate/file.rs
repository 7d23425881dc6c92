//! A whole file or buffer: every message found, and the bytes that belong to none.

use super::{MessageReport, ValidateMode, ValidateOptions, validate_message, validate_span};
use crate::error::Result;
use crate::read::file::{scan_source, sort_out};
use crate::wire::MAGIC;
use fw_bytes::Span;
use fw_report::{Finding, Report};
use fw_source::{FileSource, ReadAt};
use std::path::Path;

/// What validation found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReport {
    /// Each message with its place; spans of its findings count from the start of the file.
    pub messages: Vec<(Span, MessageReport)>,
    /// Findings about the file itself: bytes that belong to no message, or not a single byte (a warning: a file of no messages
    /// is one).
    pub report: Report,
    /// Among those bytes, what begins like a message and cannot be read as one, and why.
    pub unreadable: Vec<(Span, MessageReport)>,
}

impl FileReport {
    /// True when nothing is wrong anywhere.
    pub fn is_ok(&self) -> bool {
        self.report.is_ok() && self.messages.iter().all(|(_, message)| message.is_ok())
    }

    /// The verdict in words: `INVALID`, or `valid` and, unless every object was decoded, what that rests on. Digests that match
    /// say that bytes are as they were written, and nothing about whether they decode.
    pub fn verdict(&self) -> &'static str {
        let every = |holds: &dyn Fn(&MessageReport) -> bool| self.messages.iter().all(|(_, message)| holds(message));
        match self.is_ok() {
            false => "INVALID",
            true if every(&|message| message.decoded) => "valid",
            true if every(&|message| message.hash_verified || message.object_count == 0) => {
                "valid (digests match, not decoded)"
            }
            true => "valid (not decoded)",
        }
    }

    /// Says how many messages there must be: any other number is an error, code `message_count_mismatch`. A file that was cut
    /// between two messages has no other fault.
    pub fn expect_messages(&mut self, expected: usize) {
        let found = self.messages.len();
        if found != expected {
            let text = format!("expected {expected} messages, found {found}");
            self.report.push(Finding::error("message_count_mismatch", text).level("structure"));
        }
    }

    /// Every finding: about the file, about what cannot be read as a message, about each message.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let inner = self.unreadable.iter().chain(&self.messages).flat_map(|(_, message)| message.report.findings());
        self.report.findings().iter().chain(inner)
    }
}

/// Validates every message of a file; one message is held in memory at a time.
///
/// # Errors
/// `Io` when the file cannot be read. What the bytes say never fails: it becomes findings.
pub fn validate_file(path: impl AsRef<Path>, options: &ValidateOptions) -> Result<FileReport> {
    validate_source(&FileSource::open(path)?, options)
}

/// [`validate_file`] for any source.
///
/// # Errors
/// `Io` when the source cannot be read.
pub fn validate_source(source: &(impl ReadAt + ?Sized), options: &ValidateOptions) -> Result<FileReport> {
    // Most messages are one read; of a long one, and of whatever stands between messages, the parts that matter are read.
    let whole = match options.mode {
        ValidateMode::Quick | ValidateMode::Metadata => LOOK_WHOLE,
        _ => READ_WHOLE,
    };
    let one = |span: Span| match span.len() <= whole {
        true => Ok(validate_message(&bytes_of(source, span)?, options)),
        false => validate_span(source, span, options),
    };
    validate_with(source, &one, options)
}

/// Validates every message of a buffer, as [`validate_file`] does for a file. Nothing is copied, and nothing fails: whatever
/// is wrong becomes a finding.
///
/// ```
/// use fw_tensogram::{MessageBuilder, ValidateOptions, validate_buffer};
///
/// let message = MessageBuilder::new().tensor(&[3], &[1.0f32, 2.0, 3.0])?.encode()?;
/// let buffer = [&message[..], &message, b"tail"].concat();
/// let report = validate_buffer(&buffer, &ValidateOptions::default());
/// assert_eq!(report.messages.len(), 2);
/// assert!(!report.is_ok());
/// assert_eq!(report.report.findings()[0].code, "trailing_bytes");
/// # Ok::<(), fw_tensogram::TensogramError>(())
/// ```
pub fn validate_buffer(buffer: &[u8], options: &ValidateOptions) -> FileReport {
    let one = |span: Span| Ok(validate_message(span.slice_of(buffer, 0).unwrap_or_default(), options));
    // Bytes in memory can always be read: there is no error to report. One would be a finding all the same.
    validate_with(buffer, &one, options).unwrap_or_else(|error| {
        let mut file = FileReport::default();
        file.report.push(super::from_error(error.code(), &error, "file"));
        file
    })
}

/// Validates the message at a span.
type Validate<'a> = &'a dyn Fn(Span) -> Result<MessageReport>;

fn validate_with(
    source: &(impl ReadAt + ?Sized),
    validate: Validate<'_>,
    options: &ValidateOptions,
) -> Result<FileReport> {
    let len = source.len()?;
    let mut file = FileReport::default();
    let mut position = 0;
    let mut spans = scan_source(source, &Default::default())?;
    for nested in sort_out(source, Span::new(0, len), &mut spans)? {
        let text = format!(
            "a complete message of {} bytes is inside the payload of an unreadable one and does not count; recovery saves it",
            nested.len()
        );
        file.report.push(Finding::warning("nested_message", text).at(nested).level("file"));
    }
    for (index, span) in spans.into_iter().enumerate() {
        let gap = Span::new(position, span.start);
        file.gap(gap);
        file.explain(source, validate, gap)?;
        position = span.end;
        options.watch.tell(span.start, len);
        let message = validate(span)?;
        file.messages.push((span, placed(message, &format!("message[{index}]"), span.start)));
        options.watch.tell(span.end, len);
    }
    file.explain(source, validate, Span::new(position, len))?;
    if len == 0 {
        // What a writer leaves that has not written yet, and the reference takes for a file of no messages.
        file.report.push(Finding::warning("empty_file", "the file is empty: it holds no message").level("file"));
    } else if file.messages.is_empty() {
        let text = format!("no message in {len} bytes");
        file.report.push(Finding::error("no_message", text).at(0..len).level("file"));
    } else if position < len {
        // What begins like a message there is the rest of one.
        let cut = file.unreadable.last().is_some_and(|(span, _)| span.end == len);
        let why = if cut { ": the file is probably truncated" } else { "" };
        let text = format!("{} bytes after the last message are not part of any message{why}", len - position);
        file.report.push(Finding::error("trailing_bytes", text).at(position..len).level("file"));
    }
    Ok(file)
}

impl FileReport {
    fn gap(&mut self, gap: Span) {
        if !gap.is_empty() {
            let text = format!("{} bytes between messages are not part of any message", gap.len());
            self.report.push(Finding::error("gap_between_messages", text).at(gap).level("file"));
        }
    }
}

impl FileReport {
    /// Bytes outside messages that begin like one: says why they are none.
    fn explain(&mut self, source: &(impl ReadAt + ?Sized), validate: Validate<'_>, gap: Span) -> Result<()> {
        let magic = Span::new(gap.start, gap.start.saturating_add(MAGIC.len() as u64));
        if !gap.contains(magic) || bytes_of(source, magic)? != *MAGIC {
            return Ok(());
        }
        let report = validate(gap)?;
        self.unreadable.push((gap, placed(report, &format!("bytes[{gap}]"), gap.start)));
        Ok(())
    }
}

/// Bytes that are there; more than memory holds are an error.
fn bytes_of(source: &(impl ReadAt + ?Sized), span: Span) -> Result<Vec<u8>> {
    let mut bytes = fw_codec::alloc::zeroed(usize::try_from(span.len()).map_err(|_| crate::error::too_large())?)?;
    source.read_exact_at(span.start, &mut bytes)?;
    Ok(bytes)
}

/// Messages up to this are read in one go where no payload is looked at.
const LOOK_WHOLE: u64 = 16 << 10;
/// The same where payloads are.
const READ_WHOLE: u64 = 8 << 20;

/// Counts bytes and paths from the file.
fn placed(message: MessageReport, outer: &str, base: u64) -> MessageReport {
    let mut report = Report::new();
    report.extend(message.report.into_iter().map(|mut finding| {
        finding.span = finding.span.and_then(|span| span.shifted(base));
        let inner = std::mem::take(&mut finding.path);
        finding.path = if inner.is_empty() { outer.to_owned() } else { format!("{outer}.{inner}") };
        finding
    }));
    MessageReport { report, ..message }
}
