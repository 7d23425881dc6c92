//! Selected messages and objects into files, named by their keys where that is wanted.

use crate::error::{EditError, Result};
use crate::messages::Messages;
use crate::meter::Meter;
use crate::name::Names;
use crate::output::Output;
use crate::target::{Existing, Input, check_format, check_output};
use crate::tensors::{Picked, Writing, opened, write_to};
use fw_convert::{Format, Loss, StoredUse};
use fw_look::{Catalog, FileRecord};
use fw_query::{Item, OneObject, Record, Where, WholeRecord};
use fw_source::{FileSource, ReadAt, Watch};
use fw_tensogram::MessagePlan;
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What is copied.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Which messages or objects.
    pub filter: Where,
    /// Whether they are messages or objects. Of formats without messages it is always tensors.
    pub unit: Unit,
    /// What to do with files that exist.
    pub existing: Existing,
    /// What to do with the digests that files keep of tensors; objects of messages have digests of their own.
    pub stored: StoredUse,
    /// Is told how much is written.
    pub watch: Watch,
}

impl CopyOptions {
    /// Everything that a filter selects.
    #[must_use]
    pub fn new(filter: Where) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Chooses between messages and objects.
    #[must_use]
    pub const fn with_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Chooses what to do with files that exist.
    #[must_use]
    pub const fn with_existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Chooses what to do with the digests that files keep of tensors.
    #[must_use]
    pub const fn with_stored(mut self, stored: StoredUse) -> Self {
        self.stored = stored;
        self
    }

    /// Watches progress.
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }
}

/// What is copied as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Whole messages in which an object is selected, as they are.
    #[default]
    Messages,
    /// The selected objects; a message that loses others gets new metadata and index around them.
    Objects,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CopyReport {
    /// The files written, in the order of what they hold.
    pub files: Vec<WrittenFile>,
    /// Messages that were read.
    pub messages: usize,
    /// Messages that are in the files, whole or in part.
    pub copied_messages: usize,
    /// Objects that are in the files.
    pub copied_objects: usize,
    /// Those of them that the filter selects; the others are in the same messages.
    pub selected_objects: usize,
    /// What the format could not keep.
    pub losses: Vec<Loss>,
    /// Tensors whose digests were carried along without a look, because that was asked for.
    pub ignored_digests: usize,
    /// Whether a file was signed, and the result is not: it has other tensors.
    pub signature_dropped: bool,
}

/// One file of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WrittenFile {
    /// Where it is.
    pub path: PathBuf,
    /// Messages that were put there.
    pub messages: usize,
    /// Objects that were put there.
    pub objects: usize,
    /// Bytes of the file.
    pub bytes: u64,
}

impl WrittenFile {
    pub(crate) const fn new(path: PathBuf, messages: usize, objects: usize, bytes: u64) -> Self {
        Self { path, messages, objects, bytes }
    }
}

/// What goes into one file.
struct Job {
    path: PathBuf,
    parts: Vec<Part>,
}

/// A message, or the objects of it that are wanted.
struct Part {
    message: usize,
    objects: Vec<usize>,
    /// Objects of the message.
    of: u64,
    /// Objects that are selected.
    selected: usize,
    whole: bool,
}

impl Job {
    /// About how many bytes it takes: objects of one message count as equal parts of it.
    fn len(&self, file: &Messages) -> u64 {
        let part = |part: &Part| match file.catalog.spans().get(part.message) {
            Some(span) if part.whole => span.len(),
            Some(span) => span.len() / part.of.max(1) * part.objects.len() as u64,
            None => 0,
        };
        self.parts.iter().map(part).fold(0, u64::saturating_add)
    }
}

/// Copies what is selected into files named by `names`; items with the same name share a file, in order. A file without keys in
/// its name is written even when nothing is selected.
///
/// # Errors
/// Files that cannot be read, names that cannot be formed, outputs that may not be written. All names are formed and checked
/// before the first file is written; each file is written whole or not at all.
pub fn copy(input: &Input<'_>, names: &Names, options: &CopyOptions) -> Result<CopyReport> {
    if input.format != Format::Tensogram {
        return copy_tensors(input, names, options);
    }
    let file = Messages::open(input)?;
    let mut report = CopyReport { messages: file.catalog.record_count(), ..CopyReport::default() };
    let mut jobs = Jobs::default();
    let mut number = 0;
    for record in file.records_where(&options.filter) {
        let record = record?;
        for part in parts(&record, options, names.has_keys()) {
            let path = match (options.unit, &part.objects[..]) {
                (Unit::Objects, [only]) => names.expand(&OneObject(&record, *only), number),
                _ => names.expand(&WholeRecord(&record), number),
            };
            jobs.add(path.map_err(|error| error.at(file.place(record.index())))?, part);
            number += 1;
        }
    }
    let jobs = jobs.complete(names)?;
    check_all(input, names, options.existing, &jobs)?;
    let meter = Meter::new(&options.watch, jobs.iter().map(|job| job.len(&file)).fold(0, u64::saturating_add));
    for job in &jobs {
        names.make_directory(&job.path)?;
        let mut output = Output::file(&job.path, &meter)?;
        if options.existing == Existing::Append && job.path.exists() {
            let old = FileSource::open(&job.path)?;
            let span = fw_bytes::Span::new(0, old.len()?);
            output.copy(&old, span)?;
        }
        put(&file, job, &mut output)?;
        report.note(job, output.finish()?);
    }
    Ok(report)
}

/// Copies what is selected to a stream.
///
/// # Errors
/// As [`copy`]; formats other than Tensogram are written to files only.
pub fn copy_to_stream(input: &Input<'_>, sink: &mut dyn Write, options: &CopyOptions) -> Result<CopyReport> {
    crate::target::only_tensogram(input, "copying to standard output")?;
    let file = Messages::open(input)?;
    let mut report = CopyReport { messages: file.catalog.record_count(), ..CopyReport::default() };
    let mut job = Job { path: PathBuf::from("-"), parts: Vec::new() };
    for record in file.records_where(&options.filter) {
        job.parts.extend(parts(&record?, options, false));
    }
    let meter = Meter::new(&options.watch, job.len(&file));
    let mut output = Output::stream(sink, &meter);
    put(&file, &job, &mut output)?;
    report.note(&job, output.finish()?);
    Ok(report)
}

/// What of a message is wanted: in one part, or a part per object where each has a name of its own.
fn parts(record: &FileRecord, options: &CopyOptions, apart: bool) -> Vec<Part> {
    let (message, count) = (record.index(), record.object_count());
    let of = count as u64;
    if options.unit == Unit::Messages || count == 0 {
        if !record.matches(&options.filter) {
            return Vec::new();
        }
        let selected = if options.filter.is_empty() { count } else { record.selected(&options.filter).len() };
        return vec![Part { message, of, selected, objects: (0..count).collect(), whole: true }];
    }
    let objects = record.selected(&options.filter);
    let whole = objects.len() == count;
    match objects.len() {
        0 => Vec::new(),
        1 => vec![Part { message, of, selected: 1, objects, whole }],
        _ if apart => {
            objects.iter().map(|only| Part { message, of, selected: 1, objects: vec![*only], whole: false }).collect()
        }
        selected => vec![Part { message, of, selected, objects, whole }],
    }
}

/// Writes the parts of a job, in order.
fn put(file: &Messages, job: &Job, output: &mut Output<'_>) -> Result<()> {
    // Neighbours that are copied whole are copied together.
    let mut run: Option<fw_bytes::Span> = None;
    for part in &job.parts {
        let span = file.catalog.spans().get(part.message).copied().unwrap_or_default();
        match &mut run {
            Some(run) if part.whole && run.end == span.start => run.end = span.end,
            _ => {
                if let Some(done) = run.take() {
                    output.copy(&file.source, done)?;
                }
                if part.whole {
                    run = Some(span);
                } else {
                    let plan = excerpt(file, part.message, &part.objects)?;
                    output.message(&plan, |_| Ok(Rc::clone(&file.source)))?;
                }
            }
        }
    }
    if let Some(done) = run {
        output.copy(&file.source, done)?;
    }
    Ok(())
}

/// Some objects of a message as a message of their own, with its keys and its provenance.
pub(crate) fn excerpt(file: &Messages, message: usize, objects: &[usize]) -> Result<MessagePlan> {
    Ok(file.stored(&file.catalog.record(message)?)?.excerpt(objects)?)
}

/// Files to write, in the order in which their names came up.
#[derive(Default)]
struct Jobs {
    list: Vec<Job>,
    places: HashMap<PathBuf, usize>,
}

impl Jobs {
    fn add(&mut self, path: PathBuf, part: Part) {
        let place = *self.places.entry(path).or_insert_with_key(|path| {
            self.list.push(Job { path: path.clone(), parts: Vec::new() });
            self.list.len() - 1
        });
        if let Some(job) = self.list.get_mut(place) {
            job.parts.push(part);
        }
    }

    /// All of them; a name without keys is a file even when nothing goes into it.
    fn complete(mut self, names: &Names) -> Result<Vec<Job>> {
        if self.list.is_empty() && !names.has_keys() {
            self.list.push(Job { path: names.expand(&Nothing, 0)?, parts: Vec::new() });
        }
        Ok(self.list)
    }
}

/// An item without keys.
struct Nothing;

impl Item for Nothing {
    fn lookup(&self, _: &fw_query::Path) -> Option<fw_query::Value<'_>> {
        None
    }
}

/// Checks every output before the first is written.
fn check_all(input: &Input<'_>, names: &Names, existing: Existing, jobs: &[Job]) -> Result<()> {
    for job in jobs {
        check_named(input, names, existing, &job.path)?;
    }
    Ok(())
}

/// Checks an output whose directory may still have to be made.
pub(crate) fn check_named(input: &Input<'_>, names: &Names, existing: Existing, path: &Path) -> Result<()> {
    match check_output(&[input.path], path, existing) {
        Err(error) if error.code() == "no_directory" && names.makes_directories() => {}
        Err(error) if error.code() == "no_directory" => {
            return Err(error.with_hint("use --parents to create directories"));
        }
        checked => checked?,
    }
    check_format(input.format, path)
}

impl CopyReport {
    fn note(&mut self, job: &Job, bytes: u64) {
        let objects = job.parts.iter().map(|part| part.objects.len()).sum();
        let messages = job.parts.len();
        self.files.push(WrittenFile { path: job.path.clone(), messages, objects, bytes });
        self.copied_messages += messages;
        self.copied_objects += objects;
        self.selected_objects += job.parts.iter().map(|part| part.selected).sum::<usize>();
    }
}

/// Tensors of a format without messages: a file per name.
fn copy_tensors(input: &Input<'_>, names: &Names, options: &CopyOptions) -> Result<CopyReport> {
    if options.existing == Existing::Append {
        let message = format!("{}: {} files cannot be appended to", input.name, input.format);
        return Err(EditError::refused("not_appendable", message).with_hint("use fw merge to join files"));
    }
    drop(opened(input, options.stored)?);
    let catalog = Catalog::open_as(input.path, input.format, input.name)?;
    let record = catalog.record(0)?;
    let mut jobs = Jobs::default();
    for (number, object) in record.selected(&options.filter).into_iter().enumerate() {
        let path = names.expand(&OneObject(&record, object), number);
        let part = Part { message: 0, objects: vec![object], of: 1, selected: 1, whole: false };
        jobs.add(path.map_err(|error| error.at(input.name))?, part);
    }
    let jobs = jobs.complete(names)?;
    check_all(input, names, options.existing, &jobs)?;
    let mut report = CopyReport { messages: 1, copied_messages: 1, ..CopyReport::default() };
    let meter = Meter::new(&options.watch, catalog.file_len());
    for job in jobs {
        names.make_directory(&job.path)?;
        let objects: Vec<usize> = job.parts.iter().flat_map(|part| part.objects.iter().copied()).collect();
        let picked = Picked::open(input, Some(&objects), options.stored)?;
        let done = write_to((&picked, picked.is_signed()), input, &job.path, &meter, Writing::of(options.stored))?;
        report.copied_objects += objects.len();
        report.selected_objects += objects.len();
        report.files.push(WrittenFile { path: job.path, messages: 1, objects: objects.len(), bytes: done.bytes });
        report.losses.extend(done.losses);
        report.ignored_digests += done.ignored;
        report.signature_dropped |= done.signature_dropped;
    }
    Ok(report)
}
