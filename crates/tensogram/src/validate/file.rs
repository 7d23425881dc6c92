//! A whole file: every message found, and the bytes that belong to none.

use super::{MessageReport, ValidateOptions, validate_message};
use crate::error::Result;
use crate::read::file::{scan_source, sort_out};
use crate::wire::MAGIC;
use fw_bytes::Span;
use fw_report::{Finding, Report};
use fw_source::{FileSource, ReadAt};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::path::Path;

/// What validation found in a file.
#[derive(Clone, Debug, Default)]
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

    /// Every finding: about the file, about what cannot be read as a message, about each message.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let inner = self.unreadable.iter().chain(&self.messages).flat_map(|(_, message)| message.report.findings());
        self.report.findings().iter().chain(inner)
    }
}

impl Serialize for FileReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Entry<'a>(&'a Span, &'a MessageReport);
        impl Serialize for Entry<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("offset", &self.0.start)?;
                map.serialize_entry("length", &self.0.len())?;
                map.serialize_entry("ok", &self.1.is_ok())?;
                map.serialize_entry("object_count", &self.1.object_count)?;
                map.serialize_entry("hash_verified", &self.1.hash_verified)?;
                map.serialize_entry("findings", self.1.report.findings())?;
                map.end()
            }
        }
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("ok", &self.is_ok())?;
        for (key, list) in [("messages", &self.messages), ("unreadable", &self.unreadable)] {
            let entries: Vec<_> = list.iter().map(|(span, report)| Entry(span, report)).collect();
            map.serialize_entry(key, &entries)?;
        }
        map.serialize_entry("file_findings", self.report.findings())?;
        map.end()
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
    let len = source.len()?;
    let mut file = FileReport::default();
    let mut position = 0;
    let mut spans = scan_source(source, &Default::default())?;
    for nested in sort_out(source, Span::new(0, len), &mut spans)? {
        let text = format!(
            "a whole message of {} bytes in the payload of one that cannot be read is none of the file's; recovering saves it",
            nested.len()
        );
        file.report.push(Finding::warning("nested_message", text).at(nested).level("file"));
    }
    for (index, span) in spans.into_iter().enumerate() {
        let gap = Span::new(position, span.start);
        file.gap(gap);
        file.explain(source, gap, options)?;
        position = span.end;
        let message = validate_message(&bytes_of(source, span)?, options);
        file.messages.push((span, placed(message, &format!("message[{index}]"), span.start)));
    }
    file.explain(source, Span::new(position, len), options)?;
    if len == 0 {
        // What a writer leaves that has not written yet, and the reference takes for a file of no messages.
        file.report.push(Finding::warning("empty_file", "the file is empty: it holds no message").level("file"));
    } else if file.messages.is_empty() {
        let text = format!("no message in {len} bytes");
        file.report.push(Finding::error("no_message", text).at(0..len).level("file"));
    } else if position < len {
        let text = format!("{} bytes behind the last message belong to none", len - position);
        file.report.push(Finding::error("trailing_bytes", text).at(position..len).level("file"));
    }
    Ok(file)
}

impl FileReport {
    fn gap(&mut self, gap: Span) {
        if !gap.is_empty() {
            let text = format!("{} bytes between messages belong to none", gap.len());
            self.report.push(Finding::error("gap_between_messages", text).at(gap).level("file"));
        }
    }
}

impl FileReport {
    /// Bytes outside messages that begin like one: says why they are none.
    fn explain(&mut self, source: &(impl ReadAt + ?Sized), gap: Span, options: &ValidateOptions) -> Result<()> {
        let mut magic = [0; MAGIC.len()];
        if gap.len() < magic.len() as u64 {
            return Ok(());
        }
        source.read_exact_at(gap.start, &mut magic)?;
        if magic != *MAGIC {
            return Ok(());
        }
        let report = validate_message(&bytes_of(source, gap)?, options);
        self.unreadable.push((gap, placed(report, &format!("bytes[{gap}]"), gap.start)));
        Ok(())
    }
}

/// Bytes that are there; more than memory holds are an error.
fn bytes_of(source: &(impl ReadAt + ?Sized), span: Span) -> Result<Vec<u8>> {
    let mut bytes = fw_codec::alloc::zeroed(usize::try_from(span.len()).map_err(|_| crate::message::too_large())?)?;
    source.read_exact_at(span.start, &mut bytes)?;
    Ok(bytes)
}

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
