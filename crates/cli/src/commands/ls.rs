//! `fw ls`: every message and object, one line each.

use super::{print, print_json};
use crate::args::Look;
use crate::exit::Outcome;
use crate::input;
use crate::render::{Table, shape, size};
use anyhow::Result;
use framewright::convert::{self, Format, Row};
use framewright::tensogram::{DataObjectDescriptor, GlobalMetadata, Survey, TensogramFile, Value, survey};
use serde_json::json;

pub(crate) fn run(args: &Look) -> Result<Outcome> {
    if input::format_of(&args.file)? != Format::Tensogram {
        return tensors(args);
    }
    let file = input::tensogram(&args.file)?;
    if args.json {
        print_json(&listing_json(&file)?)?;
    } else {
        print(&listing(&file)?)?;
    }
    Ok(Outcome::Fine)
}

/// Any other file of named tensors.
fn tensors(args: &Look) -> Result<Outcome> {
    let rows = match convert::ls(&args.file) {
        Ok(rows) => rows,
        Err(error) => return input::named(&args.file, error),
    };
    if args.json {
        print_json(&json!({ "tensors": rows }))?;
    } else {
        print(&tensors_listing(&rows))?;
    }
    Ok(Outcome::Fine)
}

fn tensors_listing(rows: &[Row]) -> String {
    let mut table = Table::new(&["name", "dtype", "shape", ">size", ">bytes in the file"]);
    for row in rows {
        let place = row.span.map_or_else(|| "-".to_owned(), |[start, end]| format!("{start}..{end}"));
        table.row([row.name.clone(), row.dtype.clone(), shape(&row.shape), size(row.bytes), place]);
    }
    table.render()
}

/// The stages an object went through, in the words of its descriptor.
pub(crate) fn pipeline(descriptor: &DataObjectDescriptor) -> String {
    let stages = [&descriptor.encoding, &descriptor.filter, &descriptor.compression];
    let named: Vec<&str> = stages.into_iter().filter(|name| *name != "none").map(String::as_str).collect();
    if named.is_empty() { "raw".to_owned() } else { named.join("+") }
}

pub(super) fn listing(file: &TensogramFile) -> Result<String> {
    let mut table = Table::new(&[">message", ">object", "name", "dtype", "shape", "pipeline", ">stored", ">decoded"]);
    let mut remarks = String::new();
    for (index, bytes) in file.iter()?.enumerate() {
        let message = survey(&bytes?);
        if message.objects.is_empty() {
            let cells = [&index.to_string(), "-", "(no objects)", "", "", "", "", ""];
            table.row(cells.map(str::to_owned));
        }
        for (o, object) in message.objects.iter().enumerate() {
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
            remarks.push_str(&format!("message {index}: {finding}\n"));
        }
    }
    eprint!("{remarks}");
    Ok(table.render())
}

fn listing_json(file: &TensogramFile) -> Result<serde_json::Value> {
    let mut messages = Vec::new();
    for (span, bytes) in file.message_layouts()?.into_iter().zip(file.iter()?) {
        let message = survey(&bytes?);
        let objects = message.objects.iter().enumerate().map(|(o, object)| match &object.descriptor {
            Ok(descriptor) => json!({
                "name": name(&message, o),
                "dtype": descriptor.dtype.name(),
                "shape": descriptor.shape,
                "byte_order": descriptor.byte_order.name(),
                "encoding": descriptor.encoding,
                "filter": descriptor.filter,
                "compression": descriptor.compression,
                "offset": span.start + object.frame.start(),
                "stored_bytes": object.parts.region.len(),
                "decoded_bytes": descriptor.decoded_len().ok(),
            }),
            Err(error) => json!({ "error": error.to_string(), "offset": span.start + object.frame.start() }),
        });
        let objects: Vec<_> = objects.collect();
        messages.push(json!({
            "offset": span.start,
            "length": span.len(),
            "objects": objects,
            "findings": message.report.findings(),
        }));
    }
    Ok(json!({ "messages": messages }))
}

/// What an object is called: the first of the keys people use for names, or nothing.
fn name(message: &Survey, index: usize) -> String {
    message.metadata.as_ref().map_or_else(|_| String::new(), |metadata| object_name(metadata, index))
}

/// What an object is called: the first of the keys people use for names, or nothing.
pub(crate) fn object_name(metadata: &GlobalMetadata, index: usize) -> String {
    let keys = ["name", "param", "mars.param", "short_name", "shortName"];
    let value = keys.iter().find_map(|key| metadata.lookup_object(index, key));
    match value {
        Some(Value::Text(text)) => text.clone(),
        Some(other) => crate::render::compact(other),
        None => String::new(),
    }
}
