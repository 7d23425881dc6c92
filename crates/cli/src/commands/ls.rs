//! `fw ls`: every object of every message, one line each; or counts, or messages.

use super::{ls_stream, print, print_report};
use crate::args::{Ls, Threads};
use crate::exit::{Outcome, aside};
use crate::inputs::{Answer, Answers, Inputs};
use crate::opened::{Opened, look_failure};
use crate::render::{Progress, Table, shape, size};
use crate::selected::{KeyNotes, align, cell, json_of};
use anyhow::Result;
use framewright::convert::Format;
use framewright::look::{FileRecord, LookError, in_order};
use framewright::query::{Counter, Item, Keys, OneObject, Value as Key, Where, WholeRecord};
use framewright::report::{Finding, Severity};
use framewright::tensogram::{DataObjectDescriptor, GlobalMetadata, Value};
use serde_json::{Value as Json, json};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

pub(crate) fn run(args: &Ls) -> Result<Outcome> {
    let filter = args.select.filter();
    let plain = filter.is_empty() && args.columns.keys.is_none() && args.columns.sort.is_none() && !args.count;
    if plain && !args.messages && matches!(&args.files[..], [only] if only.as_os_str() == "-") {
        return ls_stream::run(args);
    }
    let inputs = Inputs::of(&args.files)?;
    let mut listing = Listing::new(args, filter, inputs.several);
    let mut answers = Answers::new("ls", args.json, &inputs);
    let progress = Progress::of("ls");
    for word in &inputs.words {
        let answer = Opened::open(word, &args.store, "ls")
            .and_then(|opened| listing.file(&opened, &progress).map_err(|error| opened.retold(error)));
        match answer {
            Ok(Some(report)) => {
                answers.take(word, Ok(Answer { outcome: listing.last, ..Answer::json(report) }))?;
            }
            Ok(None) => {}
            Err(error) => answers.take(word, Err(error))?,
        }
    }
    progress.clear();
    if !args.json {
        print(&listing.text())?;
    }
    listing.notes.tell(args.json);
    Ok(answers.finish()?.or(listing.outcome))
}

/// `fw ls` of one file that was opened elsewhere, standard input for example.
pub(super) fn one(args: &Ls, opened: &Opened) -> Result<Outcome> {
    let mut listing = Listing::new(args, args.select.filter(), false);
    match listing.file(opened, &Progress::of("ls"))? {
        Some(report) => print_report("ls", listing.outcome == Outcome::Fine, report)?,
        None => print(&listing.text())?,
    }
    listing.notes.tell(args.json);
    Ok(listing.outcome)
}

/// What is listed, while files are read one after the other.
struct Listing<'a> {
    args: &'a Ls,
    filter: Where,
    /// Whether rows say which file they are from.
    several: bool,
    /// The formats so far, which decide about the columns.
    messages: bool,
    shards: bool,
    rows: Vec<Row>,
    counter: Counter,
    total: u64,
    notes: KeyNotes,
    /// Whether everything could be listed, of the last file and of all: what could not is a fault, as it is in a stream.
    last: Outcome,
    outcome: Outcome,
}

/// A line, with what it is sorted by.
struct Row {
    order: Vec<Option<Key<'static>>>,
    cells: Vec<String>,
    json: Json,
}

/// What was found in a file, in order.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    messages: Vec<Json>,
    findings: Vec<Finding>,
    /// Objects that cannot be described.
    notes: Vec<String>,
}

impl Found {
    fn append(&mut self, mut other: Self) {
        self.rows.append(&mut other.rows);
        self.messages.append(&mut other.messages);
        self.findings.append(&mut other.findings);
        self.notes.append(&mut other.notes);
    }

    /// Takes note of what is wrong with a message.
    fn faults(&mut self, record: &FileRecord) -> Outcome {
        let Some(survey) = record.survey() else { return Outcome::Fine };
        self.findings.extend(survey.report.findings().iter().cloned());
        let is_damaged = survey.objects.iter().any(|object| object.descriptor.is_err());
        if is_damaged { Outcome::Invalid } else { Outcome::Fine }
    }
}

/// Messages that are looked at by one thread at a time.
const TOGETHER: usize = 256;

impl<'a> Listing<'a> {
    fn new(args: &'a Ls, filter: Where, several: bool) -> Self {
        let keys = args.columns.keys.clone().unwrap_or_default();
        let sort = args.columns.sort.iter().flat_map(|sort| sort.paths());
        let notes = KeyNotes::new(filter.paths().chain(keys.paths()).chain(sort));
        Self {
            args,
            filter,
            several,
            messages: false,
            shards: false,
            rows: Vec::new(),
            counter: Counter::new(keys),
            total: 0,
            notes,
            last: Outcome::Fine,
            outcome: Outcome::Fine,
        }
    }

    /// Takes the rows of a file; its report when JSON is asked for.
    fn file(&mut self, opened: &Opened, progress: &Progress) -> Result<Option<Json>> {
        let catalog = &opened.catalog;
        self.messages |= catalog.format() == Format::Tensogram;
        self.shards |= catalog.format() == Format::ShardIndex;
        let start = self.rows.len();
        self.last = Outcome::Fine;
        let Found { rows, messages, mut findings, notes } = self.found(opened, progress)?;
        self.rows.extend(rows);
        for note in notes {
            aside(format_args!("{note}"));
        }
        findings.extend(opened.beside());
        if findings.iter().any(|one| one.severity == Severity::Error || one.code == "bytes_outside_messages") {
            self.last = Outcome::Invalid;
        }
        self.outcome = self.outcome.or(self.last);
        if !self.args.json {
            for finding in &findings {
                aside(format_args!("{finding}\n"));
            }
            for array in catalog.tensor_file().map(|file| file.unreadable()).unwrap_or_default() {
                aside(format_args!("fw: note, array {:?}: {}\n", array.name, array.what));
            }
            return Ok(None);
        }
        let unreadable = catalog.tensor_file().map(|file| file.unreadable()).unwrap_or_default();
        let mut report = json!({
            "file": catalog.name(), "format": catalog.format(), "unreadable": unreadable, "findings": findings,
        });
        if self.args.count {
            let fresh = Counter::new(self.keys());
            let counter = std::mem::replace(&mut self.counter, fresh);
            report["count"] = std::mem::take(&mut self.total).into();
            if self.args.columns.keys.is_some() {
                report["groups"] = self.groups(counter);
            }
            return Ok(Some(report));
        }
        let mut rows = self.rows.split_off(start);
        self.sort(&mut rows);
        let key = if self.args.messages { "messages" } else { "tensors" };
        report[key] = rows.into_iter().map(|row| row.json).collect();
        if catalog.format() == Format::Tensogram && !self.args.messages {
            report["messages"] = messages.into();
        }
        Ok(Some(report))
    }

    /// Looks at every message that may be selected: those of a local file on all processors, others one after the other.
    fn found(&mut self, opened: &Opened, progress: &Progress) -> Result<Found> {
        let catalog = &opened.catalog;
        let show = |end: u64| progress.show(end, catalog.file_len(), catalog.name());
        let (filter, count) = (self.filter.clone(), catalog.record_count());
        let mut found = Found::default();
        if self.args.count || !catalog.is_local() {
            for record in catalog.records_where(&filter) {
                let record = record.map_err(look_failure)?;
                show(record.span().end);
                self.see(&record, &mut found);
            }
            return Ok(found);
        }
        let notes = Mutex::new(std::mem::replace(&mut self.notes, KeyNotes::new([])));
        let work = |start: usize| -> std::result::Result<_, LookError> {
            let mut part = Found::default();
            let (mut last, mut end) = (Outcome::Fine, 0);
            let range = start..start.saturating_add(TOGETHER);
            for record in catalog.records_in(range, &filter) {
                let record = record?;
                notes.lock().unwrap_or_else(PoisonError::into_inner).see(&record);
                last = last.or(self.rows_of(&record, &mut part));
                end = record.span().end;
            }
            Ok((part, last, end))
        };
        let mut failed = None;
        let mut outcome = Outcome::Fine;
        in_order((0..count).step_by(TOGETHER), Threads::default().count()?, work, |part| match part {
            Ok((part, last, end)) => {
                found.append(part);
                outcome = outcome.or(last);
                show(end);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        });
        self.notes = notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.last = self.last.or(outcome);
        self.total = self.total.saturating_add(found.rows.len() as u64);
        failed.map_or(Ok(found), |error| Err(look_failure(error)))
    }

    /// Counts what is selected of a message, or takes its rows.
    fn see(&mut self, record: &FileRecord, found: &mut Found) {
        self.notes.see(record);
        if !self.args.count {
            let rows = found.rows.len();
            self.last = self.last.or(self.rows_of(record, found));
            self.total = self.total.saturating_add((found.rows.len() - rows) as u64);
            return;
        }
        self.last = self.last.or(found.faults(record));
        let mut add = |item: &dyn Item| {
            self.total = self.total.saturating_add(1);
            if self.args.columns.keys.is_some() {
                self.counter.add(item);
            }
        };
        if self.args.messages {
            if record.matches(&self.filter) {
                add(&WholeRecord(record));
            }
        } else {
            record.selected(&self.filter).into_iter().for_each(|object| add(&OneObject(record, object)));
        }
    }

    /// Takes the rows of a message.
    fn rows_of(&self, record: &FileRecord, found: &mut Found) -> Outcome {
        let outcome = found.faults(record);
        let before = found.rows.len();
        if self.args.messages {
            if record.matches(&self.filter) {
                found.rows.push(self.row(&WholeRecord(record), self.message_row(record)));
            }
        } else {
            for object in record.selected(&self.filter) {
                let row = self.object_row(record, object, &mut found.notes);
                found.rows.push(self.row(&OneObject(record, object), row));
            }
        }
        let mut matches = found.rows.len() > before;
        if !matches && !self.args.messages && record.survey().is_some() && record.objects().is_empty() {
            // A message without objects is worth a line of its own.
            matches = self.filter.matches(&WholeRecord(record));
            if matches && self.args.columns.keys.is_none() && !self.args.json {
                found.rows.push(self.row(&WholeRecord(record), self.empty_row(record)));
            }
        }
        if let Some(survey) = record.survey().filter(|_| matches && self.args.json) {
            let (span, objects) = (record.span(), survey.objects.len());
            found.messages.push(json!({ "offset": span.start, "length": span.len(), "object_count": objects }));
        }
        outcome
    }

    /// A row with what it is sorted by, and with the keys that were asked for.
    fn row(&self, item: &impl Item, (cells, mut json): (Vec<String>, Json)) -> Row {
        let order = self.args.columns.sort.as_ref().map(|sort| sort.row(item)).unwrap_or_default();
        let cells = match &self.args.columns.keys {
            None => cells,
            Some(keys) => {
                let values = keys.values(item);
                if self.args.json {
                    let named = keys.paths().iter().zip(&values);
                    json["keys"] = named.map(|(key, value)| (key.to_string(), json_of(value.as_ref()))).collect();
                }
                values.iter().map(|value| cell(value.as_ref())).collect()
            }
        };
        Row { order, cells, json }
    }

    fn object_row(&self, record: &FileRecord, object: usize, notes: &mut Vec<String>) -> (Vec<String>, Json) {
        match self.args.json {
            true => (Vec::new(), object_json(record, object)),
            false => (self.with_file(record, object_cells(record, object, self.several, notes)), Json::Null),
        }
    }

    fn message_row(&self, record: &FileRecord) -> (Vec<String>, Json) {
        let (span, objects) = (record.span(), record.objects());
        let names: Vec<String> = objects.iter().map(|object| record.name(*object).into_owned()).collect();
        if self.args.json {
            let json = json!({
                "message": record.index(), "offset": span.start, "length": span.len(),
                "object_count": objects.len(), "names": names,
            });
            return (Vec::new(), json);
        }
        let cells = vec![
            record.index().to_string(),
            objects.len().to_string(),
            few(&names),
            span.start.to_string(),
            size(span.len()),
        ];
        (self.with_file(record, cells), Json::Null)
    }

    fn empty_row(&self, record: &FileRecord) -> (Vec<String>, Json) {
        let index = record.index().to_string();
        let cells = [&index, "-", "(no objects)", "", "", "", "", ""].map(str::to_owned).to_vec();
        (self.with_file(record, cells), Json::Null)
    }

    fn with_file(&self, record: &FileRecord, mut cells: Vec<String>) -> Vec<String> {
        if self.several && self.args.columns.keys.is_none() {
            cells.insert(0, record.file().to_owned());
        }
        cells
    }

    fn keys(&self) -> Keys {
        self.args.columns.keys.clone().unwrap_or_default()
    }

    fn sort(&self, rows: &mut [Row]) {
        if let Some(sort) = &self.args.columns.sort {
            rows.sort_by(|a, b| sort.compare(&a.order, &b.order));
        }
    }

    /// Everything that was taken, as text.
    fn text(&mut self) -> String {
        if self.args.count {
            return self.counts();
        }
        let mut rows = std::mem::take(&mut self.rows);
        self.sort(&mut rows);
        let keys = self.args.columns.keys.as_ref();
        let columns: Vec<String> = match keys {
            Some(keys) => keys.paths().iter().map(ToString::to_string).collect(),
            None if self.args.messages => {
                [">message", ">objects", "names", ">offset", ">size"].map(str::to_owned).to_vec()
            }
            None if self.messages || self.several => COLUMNS.map(str::to_owned).to_vec(),
            None if self.shards => SHARD_COLUMNS.map(str::to_owned).to_vec(),
            None => TENSOR_COLUMNS.map(str::to_owned).to_vec(),
        };
        let file = (self.several && keys.is_none()).then(|| "file".to_owned());
        let mut columns: Vec<String> = file.into_iter().chain(columns).collect();
        if keys.is_some() {
            align(&mut columns, rows.iter().map(|row| &row.cells[..]));
        }
        let mut table = Table::new(&columns);
        for row in rows {
            table.row(row.cells);
        }
        table.render()
    }

    /// How many were selected, for each combination of values.
    fn counts(&mut self) -> String {
        if self.args.columns.keys.is_none() {
            return format!("{}\n", self.total);
        }
        let keys = self.keys();
        let columns = keys.paths().iter().map(ToString::to_string).chain([">count".to_owned()]);
        let mut table = Table::new(&columns.collect::<Vec<_>>());
        let counter = std::mem::replace(&mut self.counter, Counter::new(keys));
        for group in counter.into_groups() {
            let values = group.values.iter().map(|value| cell(value.as_ref()));
            table.row(values.chain([group.count.to_string()]));
        }
        table.render()
    }

    fn groups(&self, counter: Counter) -> Json {
        let keys = self.keys();
        let groups = counter.into_groups().into_iter().map(|group| {
            let named = keys.paths().iter().zip(&group.values);
            let values: serde_json::Map<String, Json> =
                named.map(|(key, value)| (key.to_string(), json_of(value.as_ref()))).collect();
            json!({ "keys": values, "count": group.count })
        });
        groups.collect()
    }
}

/// The stages an object went through, in the words of its descriptor.
pub(crate) fn pipeline(descriptor: &DataObjectDescriptor) -> String {
    if descriptor.is_raw() { "raw".to_owned() } else { descriptor.stages().collect::<Vec<_>>().join("+") }
}

/// The columns of a listing of messages.
pub(super) const COLUMNS: [&str; 8] =
    [">message", ">object", "name", "dtype", "shape", "pipeline", ">stored", ">decoded"];

/// The columns of a listing of a file without messages.
const TENSOR_COLUMNS: [&str; 5] = ["name", "dtype", "shape", ">size", ">bytes in the file"];

/// The same of a checkpoint in several files, by which file a tensor is in.
const SHARD_COLUMNS: [&str; 5] = ["name", "dtype", "shape", ">size", "shard"];

/// A line about an object; among files of several formats all lines have the columns of messages.
fn object_cells(record: &FileRecord, object: usize, mixed: bool, notes: &mut Vec<String>) -> Vec<String> {
    let name = record.name(object).into_owned();
    if let Some(entry) = record.entries().get(object) {
        let place = entry.span.map_or_else(|| "-".to_owned(), |span| format!("{}..{}", span.start, span.end));
        let dtype = match entry.block_type {
            Some(blocks) => format!("{} ({blocks})", entry.dtype),
            None => entry.dtype.to_string(),
        };
        let bytes = entry.byte_len().map_or_else(|_| "?".to_owned(), size);
        if mixed {
            let stored = entry.span.map_or_else(|| "-".to_owned(), |span| size(span.len()));
            return vec![
                "-".to_owned(),
                object.to_string(),
                name,
                dtype,
                shape(&entry.shape),
                "-".to_owned(),
                stored,
                bytes,
            ];
        }
        let place = entry.shard.as_ref().map_or(place, |shard| shard.to_string());
        return vec![name, dtype, shape(&entry.shape), bytes, place];
    }
    let (index, place) = (record.index().to_string(), object.to_string());
    let Some(found) = record.surveyed(object) else { return vec![index, place] };
    let stored = size(found.parts.region.len());
    match &found.descriptor {
        Ok(descriptor) => vec![
            index,
            place,
            name,
            descriptor.dtype.to_string(),
            shape(&descriptor.shape),
            pipeline(descriptor),
            stored,
            descriptor.decoded_len().map_or_else(|_| "?".to_owned(), size),
        ],
        Err(error) => {
            notes.push(format!("message {index}, object {place}: {error}\n"));
            let unknown = || "?".to_owned();
            vec![index, place, unknown(), unknown(), unknown(), unknown(), stored, unknown()]
        }
    }
}

fn object_json(record: &FileRecord, object: usize) -> Json {
    if let Some(entry) = record.entries().get(object) {
        let mut row = json!({
            "name": entry.name,
            "dtype": entry.dtype.name(),
            "shape": entry.shape,
            "bytes": entry.byte_len().ok(),
            "span": entry.span.map(|span| [span.start, span.end]),
        });
        if let Some(blocks) = entry.block_type {
            row["block_type"] = blocks.into();
        }
        if let Some(shard) = &entry.shard {
            row["shard"] = (**shard).into();
        }
        return row;
    }
    let start = record.span().start;
    let Some(found) = record.surveyed(object) else { return Json::Null };
    let region = found.parts.region;
    let mut row = match &found.descriptor {
        Ok(descriptor) => {
            let raw = descriptor.is_raw() && descriptor.masks.is_none();
            json!({
                "name": record.name(object),
                "dtype": descriptor.dtype.name(),
                "shape": descriptor.shape,
                "bytes": descriptor.decoded_len().ok(),
                "span": raw.then_some([start + region.start, start + region.end]),
                "byte_order": descriptor.byte_order.name(),
                "encoding": descriptor.encoding,
                "filter": descriptor.filter,
                "compression": descriptor.compression,
            })
        }
        Err(error) => json!({
            "name": null, "dtype": null, "shape": null, "bytes": null, "span": null,
            "error": { "code": error.code(), "message": error.to_string(), "position": error.offset() },
        }),
    };
    row["message"] = record.index().into();
    row["object"] = object.into();
    row["offset"] = (start + found.frame.start()).into();
    row["stored_bytes"] = region.len().into();
    row
}

/// The first names of many.
fn few(names: &[String]) -> String {
    match names {
        [] => "-".to_owned(),
        [a, b, c, rest @ ..] if rest.len() > 1 => format!("{a}, {b}, {c} and {} more", rest.len()),
        all => all.join(", "),
    }
}

/// What an object of a stream is called: the first of the keys people use for names, or its place.
pub(crate) fn object_name(metadata: &GlobalMetadata, index: usize) -> String {
    let keys = ["name", "param", "mars.param", "short_name", "shortName"];
    let value = keys.iter().find_map(|key| metadata.get_at(index, key).value());
    match value {
        Some(Value::Text(text)) if !text.is_empty() => text.clone(),
        Some(Value::Integer(number)) => number.to_string(),
        _ => format!("object_{index}"),
    }
}
