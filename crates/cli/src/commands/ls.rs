//! `fw ls`: every message and object, one line each.

use super::surveyed::{beside, in_file};
use super::{print, print_report};
use crate::args::Ls;
use crate::exit::{Outcome, aside};
use crate::input::Input;
use crate::render::{Table, shape, size};
use anyhow::Result;
use framewright::convert::{self, Format, Row};
use framewright::primitives::Span;
use framewright::tensogram::{DataObjectDescriptor, GlobalMetadata, Survey, TensogramFile, Value};
use serde_json::json;

pub(crate) fn run(args: &Ls, input: &Input) -> Result<Outcome> {
    if input.looked_format()? != Format::Tensogram {
        return tensors(args, input);
    }
    let file = input.tensogram()?;
    let (len, spans) = (std::fs::metadata(input.path())?.len(), file.message_layouts()?);
    if args.json {
        print_report("ls", true, listing_json(input.name(), len, &spans, surveys(&file)?)?)?;
    } else {
        print(&listing(len, &spans, surveys(&file)?)?)?;
    }
    Ok(Outcome::Fine)
}

/// Any other file of named tensors.
fn tensors(args: &Ls, input: &Input) -> Result<Outcome> {
    let file = input.tensors()?;
    let rows = match convert::rows(&*file) {
        Ok(rows) => rows,
        Err(error) => return input.named(error),
    };
    if args.json {
        let report = json!({
            "file": input.name(), "format": file.format(), "tensors": rows, "unreadable": file.unreadable(), "findings": [],
        });
        print_report("ls", true, report)?;
    } else {
        print(&tensors_listing(&rows))?;
        for array in file.unreadable() {
            aside(format_args!("fw: note, array {:?}: {}\n", array.name, array.what));
        }
    }
    Ok(Outcome::Fine)
}

pub(crate) fn tensors_listing(rows: &[Row]) -> String {
    let mut table = Table::new(&["name", "dtype", "shape", ">size", ">bytes in the file"]);
    for row in rows {
        let place = row.span.map_or_else(|| "-".to_owned(), |[start, end]| format!("{start}..{end}"));
        let dtype = match row.block_type {
            Some(blocks) => format!("{} ({blocks})", row.dtype),
            None => row.dtype.clone(),
        };
        table.row([row.name.clone(), dtype, shape(&row.shape), size(row.bytes), place]);
    }
    table.render()
}

/// The stages an object went through, in the words of its descriptor.
pub(crate) fn pipeline(descriptor: &DataObjectDescriptor) -> String {
    if descriptor.is_raw() { "raw".to_owned() } else { descriptor.stages().collect::<Vec<_>>().join("+") }
}

/// Every message, looked at when it is asked for.
pub(super) fn surveys(file: &TensogramFile) -> Result<impl Iterator<Item = Result<Survey>>> {
    Ok((0..file.message_count()?).map(|index| Ok(file.survey(index)?)))
}

/// The columns of a listing.
pub(super) const COLUMNS: [&str; 8] =
    [">message", ">object", "name", "dtype", "shape", "pipeline", ">stored", ">decoded"];

/// A line for every object of the messages at `spans` of a file; what is wrong goes to standard error.
pub(crate) fn listing(file_len: u64, spans: &[Span], surveys: impl Iterator<Item = Result<Survey>>) -> Result<String> {
    let mut table = Table::new(&COLUMNS);
    let mut remarks = String::new();
    for (index, (span, message)) in spans.iter().zip(surveys).enumerate() {
        let message = in_file(message?, index, *span);
        if message.objects.is_empty() {
            let cells = [&index.to_string(), "-", "(no objects)", "", "", "", "", ""];
            table.row(cells.map(str::to_owned));
        }
        for object in &message.objects {
            let o = object.index;
            let stored = size(object.parts.region.len());
            match &object.descriptor {
                Ok(descriptor) => table.row([
                    index.to_string(),
                    o.to_string(),
                    name(&message, o),
                    descriptor.dtype.to_string(),
                    shape(&descriptor.shape),
                    pipeline(descriptor),
                    stored,
                    descriptor.decoded_len().map_or_else(|_| "?".to_owned(), size),
                ]),
                Err(error) => {
                    table.row([
                        index.to_string(),
                        o.to_string(),
                        "?".into(),
                        "?".into(),
                        "?".into(),
                        "?".into(),
                        stored,
                        "?".into(),
                    ]);
                    remarks.push_str(&format!("message {index}, object {o}: {error}\n"));
                }
            }
        }
        for finding in message.report.findings() {
            remarks.push_str(&format!("{finding}\n"));
        }
    }
    if let Some(finding) = beside(file_len, spans) {
        remarks.push_str(&format!("{finding}\n"));
    }
    aside(format_args!("{remarks}"));
    Ok(table.render())
}

/// The same for programs.
pub(crate) fn listing_json(
    path: &str,
    file_len: u64,
    spans: &[Span],
    surveys: impl Iterator<Item = Result<Survey>>,
) -> Result<serde_json::Value> {
    let (mut messages, mut tensors, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (span, message)) in spans.iter().zip(surveys).enumerate() {
        let message = in_file(message?, index, *span);
        for object in &message.objects {
            let o = object.index;
            let at = |span: Span, base: u64| [base + span.start, base + span.end];
            let region = at(object.parts.region, span.start);
            let mut row = match &object.descriptor {
                Ok(descriptor) => {
                    let raw = descriptor.is_raw() && descriptor.masks.is_none();
                    json!({
                        "name": name(&message, o),
                        "dtype": descriptor.dtype.name(),
                        "shape": descriptor.shape,
                        "bytes": descriptor.decoded_len().ok(),
                        "span": raw.then_some(region),
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
            row["message"] = index.into();
            row["object"] = o.into();
            row["offset"] = (span.start + object.frame.start()).into();
            row["stored_bytes"] = object.parts.region.len().into();
            tensors.push(row);
        }
        messages.push(json!({ "offset": span.start, "length": span.len(), "object_count": message.objects.len() }));
        findings.extend(message.report);
    }
    findings.extend(beside(file_len, spans));
    Ok(json!({
        "file": path, "format": "tensogram", "tensors": tensors, "unreadable": [], "findings": findings,
        "messages": messages,
    }))
}

/// What an object is called: the first of the keys people use for names, or nothing.
fn name(message: &Survey, index: usize) -> String {
    message.metadata.as_ref().map_or_else(|_| String::new(), |metadata| object_name(metadata, index))
}

/// What an object is called: the first of the keys people use for names, or nothing.
pub(crate) fn object_name(metadata: &GlobalMetadata, index: usize) -> String {
    let keys = ["name", "param", "mars.param", "short_name", "shortName"];
    let value = keys.iter().find_map(|key| metadata.get_at(index, key).value());
    match value {
        Some(Value::Text(text)) => text.clone(),
        Some(other) => crate::render::compact(other),
        None => String::new(),
    }
}
