//! `fw stats`: minimum, maximum, mean, standard deviation and more of tensors.

use super::print;
use crate::args::Stats;
use crate::exit::{Outcome, Usage};
use crate::inputs::{Answer, Answers, Inputs};
use crate::opened::{Opened, look_failure};
use crate::render::{Progress, Table, count, shape};
use crate::selected::{KeyNotes, align, cell, json_of};
use anyhow::Result;
use framewright::look::{FileRecord, LookError, StatsOptions, TensorStats, in_order};
use framewright::query::{Item, Keys, OneObject, Path, Record as _, Value};
use framewright::stats::Histogram;
use serde_json::{Map, Value as Json, json};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) fn run(args: &Stats) -> Result<Outcome> {
    let inputs = Inputs::of(&args.files)?;
    let mut answers = Answers::new("stats", args.common.json, &inputs);
    let (filter, sort) = (args.select.filter(), args.columns.sort.clone());
    let keys = args.columns.keys.clone().unwrap_or_default();
    let sort = sort.iter().flat_map(|sort| sort.paths());
    let notes = Mutex::new(KeyNotes::new(filter.paths().chain(keys.paths()).chain(sort)));
    let (mut rows, progress) = (Vec::new(), Progress::bytes());
    for word in &inputs.words {
        let found = Opened::trusted(word, &args.common.store, "stats", (&args.trust, args.common.json))
            .and_then(|opened| file(args, &opened, &notes, &progress).map_err(|error| opened.retold(error)));
        match found {
            Err(error) => answers.take(word, Err(error))?,
            Ok(found) if args.common.json => {
                let outcome = found.outcome();
                let mut report = found.json(&keys);
                report["ignored_digests"] = args.trust.ignore_digests.into();
                answers.take(word, Ok(Answer { outcome, ..Answer::json(report) }))?;
            }
            Ok(found) => {
                for (place, error) in &found.faults {
                    let error = anyhow::Error::msg(format!("{place}: {error}"));
                    answers.fail(word, &error);
                }
                rows.extend(found.rows);
            }
        }
    }
    progress.clear();
    if !args.common.json {
        sort_rows(args, &mut rows);
        print(&text(args, &rows, inputs.several, &keys))?;
    }
    notes.into_inner().unwrap_or_else(PoisonError::into_inner).tell(args.common.json);
    answers.finish()
}

/// The statistics of a tensor, its keys, and what it is sorted by.
struct Row {
    order: Vec<Option<Value<'static>>>,
    keys: Vec<Option<Value<'static>>>,
    /// Whether its file has messages.
    in_message: bool,
    /// How far its file is read when it is done.
    end: u64,
    stats: TensorStats,
}

/// What was found in a file.
struct Found {
    file: String,
    format: Json,
    rows: Vec<Row>,
    /// Tensors that could not be read: place and reason.
    faults: Vec<(String, LookError)>,
}

impl Found {
    fn outcome(&self) -> Outcome {
        if self.faults.is_empty() { Outcome::Fine } else { Outcome::Invalid }
    }

    fn json(&self, keys: &Keys) -> Json {
        let row = |row: &Row| {
            let mut json = row.stats.to_json();
            if let Some(object) = json.as_object_mut() {
                // The file is said once, above.
                object.remove("file");
            }
            if !keys.paths().is_empty() {
                let named = keys.paths().iter().zip(&row.keys);
                let values: Map<String, Json> =
                    named.map(|(key, value)| (key.to_string(), json_of(value.as_ref()))).collect();
                json["keys"] = Json::Object(values);
            }
            json
        };
        let fault = |(place, error): &(String, LookError)| {
            let message = format!("{place}: {error}");
            json!({ "severity": "error", "code": error.code(), "message": message, "span": error.position().map(|at| [at, at]) })
        };
        json!({
            "file": self.file,
            "format": self.format,
            "tensors": self.rows.iter().map(row).collect::<Vec<_>>(),
            "findings": self.faults.iter().map(fault).collect::<Vec<_>>(),
        })
    }
}

/// The selected tensors of a file, read by several threads.
fn file(args: &Stats, opened: &Opened, notes: &Mutex<KeyNotes>, progress: &Progress) -> Result<Found> {
    let catalog = &opened.catalog;
    if let Some(message) = args.message
        && message >= catalog.record_count()
    {
        let held = count(catalog.record_count(), "message");
        let text = format!("{}: message {message} does not exist: the file has {held}", catalog.name());
        return Err(Usage(text).into());
    }
    let mut options = StatsOptions::new();
    options.bins = args.histogram.then_some(args.bins);
    options.range = args.range;
    let filter = args.select.filter();
    let records: Box<dyn Iterator<Item = _> + Send> = match args.message {
        Some(message) => Box::new(std::iter::once_with(move || catalog.record(message))),
        None => Box::new(catalog.records_where(&filter)),
    };
    let jobs = records.flat_map(|record| {
        let objects = match &record {
            Err(_) => vec![0],
            Ok(record) => {
                notes.lock().unwrap_or_else(PoisonError::into_inner).see(record);
                record.selected(&filter)
            }
        };
        let record = record.map(Arc::new).map_err(Arc::new);
        objects.into_iter().map(move |object| (record.clone(), object))
    });
    let work = |(record, object): (Result<Arc<FileRecord>, Arc<LookError>>, usize)| match record {
        Err(error) => Err(Broken::Read(error)),
        Ok(record) => match catalog.statistics(&record, object, &options) {
            Ok(stats) => {
                let item = OneObject(&*record, object);
                let owned = |path: &Path| item.lookup(path).map(Value::into_owned);
                let order = args.columns.sort.as_ref().map(|sort| sort.row(&item)).unwrap_or_default();
                let keys = args.columns.keys.iter().flat_map(Keys::paths).map(owned).collect();
                let span = record.span();
                let share = span.len() as f64 * (object + 1) as f64 / record.object_count().max(1) as f64;
                Ok(Row { order, keys, in_message: record.survey().is_some(), end: span.start + share as u64, stats })
            }
            Err(error) => Err(Broken::Tensor(place(&record, object), error)),
        },
    };
    let mut found = Found {
        file: catalog.name().to_owned(),
        format: json!(catalog.format()),
        rows: Vec::new(),
        faults: Vec::new(),
    };
    let threads = args.threads.count()?;
    let mut fatal = None;
    in_order(jobs, threads, work, |result| {
        match result {
            Ok(row) => {
                progress.show(row.end, catalog.file_len(), catalog.name());
                found.rows.push(row);
            }
            Err(Broken::Tensor(_, error)) if error.is_misuse() => {
                fatal = Some(Arc::new(error));
                return ControlFlow::Break(());
            }
            Err(Broken::Tensor(place, error)) => found.faults.push((place, error)),
            Err(Broken::Read(error)) => {
                fatal = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    if let Some(error) = fatal {
        return Err(match Arc::try_unwrap(error) {
            Ok(error) => look_failure(error),
            Err(error) => anyhow::Error::msg(error.to_string()),
        });
    }
    if args.common.json {
        sort_rows(args, &mut found.rows);
    }
    Ok(found)
}

enum Broken {
    Read(Arc<LookError>),
    Tensor(String, LookError),
}

fn place(record: &FileRecord, object: usize) -> String {
    match record.survey() {
        Some(_) => format!("message {}, object {object}", record.index()),
        None => format!("tensor {}", record.name(object)),
    }
}

fn sort_rows(args: &Stats, rows: &mut [Row]) {
    if let Some(sort) = &args.columns.sort {
        rows.sort_by(|a, b| sort.compare(&a.order, &b.order));
    }
}

fn text(args: &Stats, rows: &[Row], several: bool, keys: &Keys) -> String {
    let mut columns: Vec<String> = Vec::new();
    if several {
        columns.push("file".to_owned());
    }
    match keys.paths() {
        [] => columns.extend(["name", "shape"].map(str::to_owned)),
        paths => columns.extend(paths.iter().map(ToString::to_string)),
    }
    let messages = rows.iter().any(|row| row.in_message && (row.stats.message > 0 || row.stats.object > 0));
    if messages && keys.paths().is_empty() {
        columns.insert(usize::from(several), ">message".to_owned());
        columns.insert(usize::from(several) + 1, ">object".to_owned());
    }
    columns.extend([">min", ">max", ">mean", ">std", ">nan", ">inf"].map(str::to_owned));
    // What matters for weights, and widens a table of fields for nothing.
    let is_weights = rows.iter().all(|row| !row.in_message);
    if is_weights {
        columns.extend([">zeros", ">norm"].map(str::to_owned));
    }
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let stats = &row.stats;
        let mut cells = Vec::new();
        if several {
            cells.push(stats.file.clone());
        }
        if keys.paths().is_empty() {
            if messages {
                let message = if row.in_message { stats.message.to_string() } else { "-".to_owned() };
                cells.extend([message, stats.object.to_string()]);
            }
            cells.extend([stats.name.clone(), shape(&stats.shape)]);
        }
        cells.extend(row.keys.iter().map(|value| cell(value.as_ref())));
        let summary = &stats.summary;
        let scalar = |value: Option<framewright::stats::Scalar>| match value {
            Some(framewright::stats::Scalar::Integer(value)) => value.to_string(),
            Some(framewright::stats::Scalar::Float(value)) => number(value),
            None => "-".to_owned(),
        };
        let float = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        cells.extend([scalar(summary.min), scalar(summary.max), float(summary.mean), float(summary.std)]);
        cells.extend([summary.nan.to_string(), summary.pos_inf.saturating_add(summary.neg_inf).to_string()]);
        if is_weights {
            cells.extend([summary.zeros.to_string(), float(summary.norm)]);
        }
        lines.push(cells);
    }
    if !keys.paths().is_empty() {
        align(&mut columns, lines.iter().map(Vec::as_slice));
    }
    let mut table = Table::new(&columns);
    for cells in lines {
        table.row(cells);
    }
    let mut text = table.render();
    if args.histogram {
        for row in rows {
            if let Some(histogram) = &row.stats.histogram {
                text.push_str(&bars(&row.stats, histogram));
            }
        }
    }
    text
}

/// Six significant digits, in plain characters that other programs read.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    framewright::query::Value::from(rounded).to_text()
}

/// A histogram as lines of bars.
fn bars(stats: &TensorStats, histogram: &Histogram) -> String {
    const WIDTH: u64 = 40;
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let mut table = Table::new(&[">from", ">to", ">count", "share"]);
    for (edges, bin) in histogram.edges().windows(2).zip(&histogram.counts) {
        let len = u128::from(*bin) * u128::from(WIDTH) / u128::from(most);
        let bar = if *bin > 0 && len == 0 { ".".to_owned() } else { "#".repeat(len as usize) };
        table.row([number(edges[0]), number(edges[1]), bin.to_string(), bar]);
    }
    let outside = histogram.below.saturating_add(histogram.above);
    let beside =
        if outside > 0 { format!(", {} outside the range", count(outside as usize, "value")) } else { String::new() };
    let name = framewright::report::visible(&stats.name).to_string();
    format!("\n{name}: {}{beside}\n{}", count(stats.summary.finite as usize, "finite value"), table.render())
}
