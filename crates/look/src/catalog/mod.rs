//! The records of a file, whatever its format and wherever it is.

mod filter; // messages that a filter cannot select
mod record; // one message, or all tensors of a file without messages
mod value; // metadata as values of queries

pub use record::{FileRecord, ObjectInfo};

use crate::error::Result;
use filter::Quick;
use fw_bintensors::ReadOptions;
use fw_bytes::Span;
use fw_bytes::parallel::in_order;
use fw_convert::{Format, TensorFile, detect};
use fw_query::Where;
use fw_source::{FileSource, ReadAt};
#[cfg(feature = "remote")]
use fw_tensogram::RemoteFile;
use fw_tensogram::{DecodeOptions, MessageIndex, Survey, TensogramError, TensogramFile};
use record::Tensors;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

/// An open file of tensors: its messages as [records](FileRecord), read when they are asked for, and the data of their objects.
///
/// A file of a format without messages is one record that holds all tensors. Opening a Tensogram file finds its messages;
/// payloads are not read until [`Catalog::stream`] or [`Catalog::part`] asks for them. A catalog may be shared between threads.
///
/// ```
/// use fw_look::Catalog;
/// use fw_query::Where;
/// use fw_tensogram::MessageBuilder;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("fields.tgm");
/// let field = |param: &str, step: i64| {
///     let mars = fw_tensogram::value!({ "param": param, "step": step });
///     MessageBuilder::new().tensor(&[2], &[1.0f32, 2.0])?.base("mars", mars).encode()
/// };
/// std::fs::write(&path, [field("2t", 0)?, field("10u", 6)?, field("2t", 12)?].concat())?;
///
/// let catalog = Catalog::open(&path)?;
/// let filter = Where::parse_all(["mars.param=2t", "mars.step>=6"])?;
/// let mut found = Vec::new();
/// for record in catalog.records() {
///     let record = record?;
///     found.extend(record.selected(&filter).into_iter().map(|object| (record.index(), object)));
/// }
/// assert_eq!(found, [(2, 0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Catalog {
    name: Arc<str>,
    format: Format,
    len: u64,
    /// Where the messages are.
    spans: Vec<Span>,
    pub(crate) backing: Backing,
}

/// What the records are read from.
pub(crate) enum Backing {
    Messages(Box<TensogramFile>),
    #[cfg(feature = "remote")]
    Remote(Box<RemoteFile>),
    Tensors {
        file: Box<dyn TensorFile>,
        found: Arc<Tensors>,
    },
}

impl Catalog {
    /// Opens a file by what it is, or by its name where its bytes do not tell.
    ///
    /// # Errors
    /// When it cannot be read, is of no known format, or is wrong. Faults of single Tensogram messages are part of their records.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open_as(path, detect(path)?, &path.display().to_string())
    }

    /// Opens a file whose format is known and which the user calls `name`.
    ///
    /// # Errors
    /// As [`Catalog::open`].
    pub fn open_as(path: impl AsRef<Path>, format: Format, name: &str) -> Result<Self> {
        match format {
            Format::Tensogram => Self::of_messages(TensogramFile::open(path)?, name),
            _ => {
                let len = if path.as_ref().is_dir() { 0 } else { FileSource::open(&path)?.len()? };
                Ok(Self::of_tensors(format.open(path, &ReadOptions::default())?, len, name))
            }
        }
    }

    /// Takes a Tensogram file that is open, mapped or not.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_messages(file: TensogramFile, name: &str) -> Result<Self> {
        let (spans, len) = (file.message_layouts()?, std::fs::metadata(file.path())?.len());
        Ok(Self {
            name: name.into(),
            format: Format::Tensogram,
            len,
            spans,
            backing: Backing::Messages(Box::new(file)),
        })
    }

    /// Takes a file of `len` bytes of another format that is open.
    pub fn of_tensors(file: Box<dyn TensorFile>, len: u64, name: &str) -> Self {
        let extra = Tensors::extra(file.metadata(), |key| file.json_keys().contains(key));
        let found = Arc::new(Tensors { format: file.format(), entries: file.entries().to_vec(), extra });
        let (spans, format) = (vec![Span::new(0, len)], file.format());
        Self { name: name.into(), format, len, spans, backing: Backing::Tensors { file, found } }
    }

    /// Takes a Tensogram file in a store. Its messages are found with the requests that listing them takes.
    ///
    /// # Errors
    /// When the store fails.
    #[cfg(feature = "remote")]
    pub fn of_remote(file: RemoteFile) -> Result<Self> {
        let (name, len) = (file.source().url().into(), file.source().object_len());
        let spans = file.message_layouts()?;
        Ok(Self { name, format: Format::Tensogram, len, spans, backing: Backing::Remote(Box::new(file)) })
    }

    /// What the user calls the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its format.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Bytes of the file.
    pub const fn file_len(&self) -> u64 {
        self.len
    }

    /// Where the messages are; a file of a format without messages is one.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Number of records.
    pub fn record_count(&self) -> usize {
        self.spans.len()
    }

    /// The file as a format without messages opened it; `None` for Tensogram.
    pub fn tensor_file(&self) -> Option<&dyn TensorFile> {
        match &self.backing {
            Backing::Tensors { file, .. } => Some(&**file),
            _ => None,
        }
    }

    /// The local Tensogram file; `None` for other formats and for files in stores.
    pub fn tensogram_file(&self) -> Option<&TensogramFile> {
        match &self.backing {
            Backing::Messages(file) => Some(file),
            _ => None,
        }
    }

    /// One record. Payloads are not read.
    ///
    /// # Errors
    /// When there is no such message, or the file cannot be read. Faults of the message are part of the record.
    pub fn record(&self, index: usize) -> Result<FileRecord> {
        let mut records = self.some(index..index.saturating_add(1), None)?;
        Ok(records.pop().expect("one record was asked for"))
    }

    /// All records, in file order. Of a file in a store many are read at a time, with their requests side by side.
    pub fn records(&self) -> Records<'_> {
        Records { catalog: self, ready: Vec::new().into_iter(), next: 0, end: self.record_count(), quick: None }
    }

    /// The records that a filter may select, in file order; the caller still has to ask [`FileRecord::selected`]. Messages of a
    /// local file that a look at their keys rules out are left out and not read any further, so their faults are not found
    /// either. The first message is always among the records, for hints about keys.
    pub fn records_where<'c>(&'c self, filter: &'c Where) -> Records<'c> {
        let quick = Some(Quick::of(filter)).filter(|quick| !quick.is_empty());
        Records { quick, ..self.records() }
    }

    /// The same of the messages of a range only, so that several threads can share the work.
    pub fn records_in<'c>(&'c self, range: Range<usize>, filter: &'c Where) -> Records<'c> {
        Records { next: range.start, end: range.end.min(self.record_count()), ..self.records_where(filter) }
    }

    /// Whether records are read from a local file, by any number of threads at once.
    pub const fn is_local(&self) -> bool {
        matches!(self.backing, Backing::Messages(_))
    }

    /// The records of a range of messages.
    fn some(&self, range: Range<usize>, quick: Option<&Quick<'_>>) -> Result<Vec<FileRecord>> {
        let named = || Arc::clone(&self.name);
        match &self.backing {
            Backing::Tensors { found, .. } if range.start == 0 => {
                Ok(vec![FileRecord::tensors(Span::new(0, self.len), named(), Arc::clone(found))])
            }
            Backing::Tensors { .. } => {
                let text = format!("{}: no message {}: {} files have no messages", self.name, range.start, self.format);
                Err(crate::LookError::misuse("message_index_out_of_range", text))
            }
            Backing::Messages(file) => {
                let options = DecodeOptions::default();
                let Some(quick) = quick.filter(|_| range.start > 0) else {
                    return Ok(self.messages(range.clone(), file.surveys_with(&indices(range), &options)?));
                };
                let found = |range: Range<usize>| -> Result<Vec<FileRecord>> {
                    let surveys =
                        file.surveys_where(&indices(range.clone()), &options, |glance| quick.may_match(glance))?;
                    let surveyed = range.zip(surveys).filter_map(|(index, survey)| Some(self.message(index, survey?)));
                    Ok(surveyed.collect())
                };
                if range.len() <= GLANCES {
                    return found(range);
                }
                let parts = range.clone().step_by(GLANCES).map(|start| start..range.end.min(start + GLANCES));
                let mut all = Ok(Vec::new());
                in_order(parts, 0, found, |part| match (part, &mut all) {
                    (Ok(part), Ok(all)) => {
                        all.extend(part);
                        ControlFlow::Continue(())
                    }
                    (Err(error), _) => {
                        all = Err(error);
                        ControlFlow::Break(())
                    }
                    (Ok(_), Err(_)) => ControlFlow::Break(()),
                });
                all
            }
            #[cfg(feature = "remote")]
            Backing::Remote(file) => Ok(self.messages(range.clone(), file.surveys(&indices(range))?)),
        }
    }

    fn messages(&self, range: Range<usize>, surveys: Vec<Survey>) -> Vec<FileRecord> {
        range.zip(surveys).map(|(index, survey)| self.message(index, survey)).collect()
    }

    fn message(&self, index: usize, survey: Survey) -> FileRecord {
        let span = self.spans.get(index).copied().unwrap_or_default();
        FileRecord::message(index, span, Arc::clone(&self.name), in_file(survey, index, span))
    }

    /// How many records are read at a time from `start` on: enough to share a read, and few to hold in memory.
    const fn batch(&self, start: usize, filtered: bool) -> usize {
        match &self.backing {
            #[cfg(feature = "remote")]
            Backing::Remote(_) => 4096,
            Backing::Messages(_) if start == 0 => 1,
            Backing::Messages(_) if filtered => 4 * GLANCES,
            Backing::Messages(_) => 16,
            Backing::Tensors { .. } => 1,
        }
    }
}

/// Messages that one thread glances at before the next take their turn: fewer cost less than the threads do.
const GLANCES: usize = 256;

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalog").field("name", &self.name).field("format", &self.format).finish_non_exhaustive()
    }
}

/// The records of a [`Catalog`], in file order.
pub struct Records<'c> {
    catalog: &'c Catalog,
    ready: std::vec::IntoIter<FileRecord>,
    next: usize,
    end: usize,
    quick: Option<Quick<'c>>,
}

impl std::fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("catalog", &self.catalog).field("next", &self.next).finish_non_exhaustive()
    }
}

impl Iterator for Records<'_> {
    type Item = Result<FileRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.ready.next() {
                return Some(Ok(record));
            }
            let start = self.next;
            if start >= self.end {
                return None;
            }
            self.next = start.saturating_add(self.catalog.batch(start, self.quick.is_some())).min(self.end);
            match self.catalog.some(start..self.next, self.quick.as_ref()) {
                Ok(records) => self.ready = records.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The survey of the message with this number at `span`, with the positions of its faults counted from the beginning of the
/// file. Frames keep their places in the message.
fn in_file(mut survey: Survey, number: usize, span: Span) -> Survey {
    if survey.report.findings().is_empty()
        && survey.metadata.is_ok()
        && survey.objects.iter().all(|object| object.descriptor.is_ok())
    {
        return survey;
    }
    let outer = format!("message[{number}]");
    let placed = |error: TensogramError| error.shifted(span.start).on(&outer);
    survey.metadata = survey.metadata.map_err(placed);
    let objects = std::mem::take(&mut survey.objects).into_iter().map(|mut object| {
        object.descriptor = object.descriptor.map_err(placed);
        object
    });
    survey.objects = objects.collect();
    let mut report = fw_report::Report::new();
    report.extend(survey.report.into_iter().map(|mut finding| {
        finding.span = finding.span.and_then(|inner| inner.shifted(span.start));
        finding.path = if finding.path.is_empty() { outer.clone() } else { format!("{outer}.{}", finding.path) };
        finding
    }));
    survey.report = report;
    survey
}

fn indices(range: Range<usize>) -> Vec<MessageIndex> {
    range.map(MessageIndex::from).collect()
}
