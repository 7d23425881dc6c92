//! `fw dump`: metadata and descriptors, or the annotated bytes.

use crate::args::Dump;
use crate::exit::{Outcome, Usage, aside};
use crate::input::Input;
use crate::inputs::{Answer, Answers, Body, Inputs};
use crate::opened::{Opened, look_failure};
use crate::render::{Progress, Table, byte_map, byte_map_by, shape, size};
use crate::selected::{KeyNotes, json_of};
use anyhow::Result;
use framewright::convert::Format;
use framewright::look::FileRecord;
use framewright::primitives::Span;
use framewright::query::{Item, OneObject, Value, Where};
use framewright::report::{Tree, visible};
use framewright::source::{FileSource, ReadAt};
use framewright::tensogram::{self, MessagePart, PartKind, inspect, message_parts};
use framewright::tensor::{AxisSlice, Selection};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

pub(crate) fn run(args: &Dump) -> Result<Outcome> {
    let inputs = Inputs::of(&args.files)?;
    let filter = args.select.filter();
    let mut notes = KeyNotes::new(filter.paths().chain(args.keys.iter().flat_map(|keys| keys.paths())));
    let mut answers = Answers::new("dump", args.common.json, &inputs);
    let progress = Progress::of("dump");
    for word in &inputs.words {
        let answer = if args.hex || args.frames {
            let input = Input::of(word, &args.common.store, "dump");
            let shown = if args.hex { hex } else { frames };
            input.and_then(|input| shown(args, &input, &progress).map_err(|error| input.retold(error)))
        } else {
            described(args, &filter, word, (&mut notes, &progress))
        };
        let answer = answer.map(|answer| match answer.body {
            // Which file it is, where several follow each other.
            Body::Text(text) if inputs.several => {
                let name = framewright::report::visible(&word.display().to_string()).to_string();
                Answer { body: Body::Text(format!("== {name}\n{text}")), ..answer }
            }
            _ => answer,
        });
        answers.take(word, answer)?;
    }
    notes.tell(args.common.json);
    answers.finish()
}

/// Metadata and descriptors, or byte ranges.
fn described(
    args: &Dump,
    filter: &Where,
    word: &Path,
    (notes, progress): (&mut KeyNotes, &Progress),
) -> Result<Answer> {
    let by_object = args.keys.is_some() || args.data || !filter.is_empty();
    if !by_object && args.message.is_none() && !is_url(word) {
        // A file that is wrong is shown as far as it can be read.
        let input = Input::of(word, &args.common.store, "dump")?;
        return match input.looked_format() {
            Ok(Format::Tensogram) => {
                let opened = Opened::of(input)?;
                file(args, filter, &opened, notes, progress).map_err(|error| opened.retold(error))
            }
            found => found.and_then(|format| ranges_of(args, &input, format)).map_err(|error| input.retold(error)),
        };
    }
    let opened = Opened::open(word, &args.common.store, "dump")?;
    file(args, filter, &opened, notes, progress).map_err(|error| opened.retold(error))
}

/// Whether a file is in a store.
fn is_url(word: &Path) -> bool {
    #[cfg(feature = "remote")]
    return crate::remote::url(word).is_some();
    #[cfg(not(feature = "remote"))]
    {
        let _ = word;
        false
    }
}

/// Every byte named.
fn hex(args: &Dump, input: &Input, progress: &Progress) -> Result<Answer> {
    if !args.select.filter().is_empty() {
        return Err(
            Usage("--hex shows all bytes; choose a message with --message instead of --where".to_owned()).into()
        );
    }
    let format = input.looked_format()?;
    if format != Format::Tensogram {
        if args.message.is_some() {
            return Err(Usage(format!("{}: {format} files have no messages", input.name())).into());
        }
        return ranges_of(args, input, format);
    }
    let file = input.tensogram()?;
    let spans = file.message_layouts()?;
    let (mut text, mut all) = (String::new(), Vec::new());
    for index in wanted(args, input.name(), spans.len())? {
        let (span, bytes) = (spans[index], file.read_message(index)?);
        progress.show(span.end, end(&spans), input.name());
        let tree = inspect(&bytes);
        if args.common.json {
            all.push(json!({ "message": index, "offset": span.start, "tree": tree }));
        } else {
            let _ = write!(text, "== message {index}, bytes {span}\n{}", byte_map(&tree, &bytes, span.start));
        }
    }
    Ok(match args.common.json {
        true => Answer::json(json!({ "file": input.name(), "format": format, "messages": all })),
        false => Answer::text(text),
    })
}

/// Where the last message ends.
fn end(spans: &[Span]) -> u64 {
    spans.last().map_or(0, |span| span.end)
}

/// The frames of each message.
fn frames(args: &Dump, input: &Input, progress: &Progress) -> Result<Answer> {
    let format = input.looked_format()?;
    if format != Format::Tensogram {
        return Err(Usage(format!("{}: {format} files have no frames", input.name())).into());
    }
    let file = input.tensogram()?;
    let spans = file.message_layouts()?;
    let source = FileSource::open(input.path())?;
    let (mut text, mut all) = (String::new(), Vec::new());
    for index in wanted(args, input.name(), spans.len())? {
        let span = spans[index];
        let parts = message_parts(&source, span)?;
        progress.show(span.end, end(&spans), input.name());
        if args.common.json {
            let parts: Vec<_> = parts.iter().map(part_json).collect();
            all.push(json!({ "message": index, "offset": span.start, "length": span.len(), "frames": parts }));
            continue;
        }
        let _ = writeln!(text, "message {index}, bytes {span} ({})", size(span.len()));
        let mut table = Table::new(&[">offset", ">length", ">type", "what", "digest"]);
        for part in &parts {
            let (code, what, digest) = match &part.kind {
                PartKind::Frame { frame_type, digest, .. } => {
                    let digest = digest.map_or_else(|| "-".to_owned(), |digest| format!("{digest:016x}"));
                    (frame_type.0.to_string(), frame_type.name().to_owned(), digest)
                }
                other => (String::new(), part_name(other), String::new()),
            };
            table.row([part.span.start.to_string(), part.span.len().to_string(), code, what, digest]);
        }
        text.push_str(&table.render());
    }
    Ok(match args.common.json {
        true => Answer::json(json!({ "file": input.name(), "format": format, "messages": all })),
        false => Answer::text(text),
    })
}

fn part_json(part: &MessagePart) -> serde_json::Value {
    let mut row = json!({ "offset": part.span.start, "length": part.span.len() });
    match &part.kind {
        PartKind::Frame { frame_type, version, flags, digest } => {
            row["what"] = "frame".into();
            row["type"] = frame_type.0.into();
            row["type_name"] = frame_type.name().into();
            row["version"] = (*version).into();
            row["flags"] = flags.0.into();
            row["digest"] = digest.map(|digest| format!("{digest:016x}")).into();
        }
        PartKind::Unreadable(why) => {
            row["what"] = "unreadable".into();
            row["why"] = why.as_str().into();
        }
        other => row["what"] = other.name().into(),
    }
    row
}

fn part_name(kind: &PartKind) -> String {
    match kind {
        PartKind::Unreadable(why) => format!("unreadable: {why}"),
        other => other.name().to_owned(),
    }
}

/// The byte ranges of a file without messages, with the bytes themselves for --hex.
fn ranges_of(args: &Dump, input: &Input, format: Format) -> Result<Answer> {
    let tree = match format.dump(input.path()) {
        Ok(tree) => tree,
        Err(error) => return input.named(error),
    };
    if args.common.json || !args.hex {
        return Ok(ranges_answer(args, input.name(), format, &tree));
    }
    let source = FileSource::open(input.path())?;
    // Only the bytes that are shown are read.
    let read = |span: Span| {
        let mut bytes = vec![0; span.len() as usize];
        source.read_exact_at(span.start, &mut bytes).ok().map(|()| bytes)
    };
    Ok(Answer::text(byte_map_by(&tree, &read, 0)))
}

fn ranges_answer(args: &Dump, name: &str, format: Format, tree: &Tree) -> Answer {
    match args.common.json {
        true => Answer::json(json!({ "file": name, "format": format, "tree": tree })),
        false => Answer::text(ranges(tree)),
    }
}

/// The messages that are meant.
fn wanted(args: &Dump, name: &str, count: usize) -> Result<std::ops::Range<usize>> {
    match args.message {
        Some(index) if index >= count => {
            let held = crate::render::count(count, "message");
            Err(Usage(format!("{name}: message {index} does not exist: the file has {held}")).into())
        }
        Some(index) => Ok(index..index + 1),
        None => Ok(0..count),
    }
}

/// Metadata and descriptors.
fn file(args: &Dump, filter: &Where, opened: &Opened, notes: &mut KeyNotes, progress: &Progress) -> Result<Answer> {
    let (catalog, name) = (&opened.catalog, opened.catalog.name());
    let messages = catalog.format() == Format::Tensogram;
    if !messages && args.message.is_some() {
        return Err(Usage(format!("{name}: {} files have no messages", catalog.format())).into());
    }
    let by_object = args.keys.is_some() || args.data || !filter.is_empty();
    if !messages && !by_object {
        return Ok(ranges_answer(args, name, catalog.format(), &opened.ranges()?));
    }
    let range = if messages { wanted(args, name, catalog.record_count())? } else { 0..1 };
    let records: Box<dyn Iterator<Item = _>> = match args.message {
        // All messages of a file in a store come together.
        None => Box::new(catalog.records_where(filter)),
        Some(_) => Box::new(range.map(|index| catalog.record(index))),
    };
    let (mut text, mut all) = (String::new(), Vec::new());
    for record in records {
        let record = record.map_err(look_failure)?;
        progress.show(record.span().end, catalog.file_len(), name);
        notes.see(&record);
        let objects = record.selected(filter);
        if !record.matches(filter) {
            continue;
        }
        let shown = Shown { args, opened, record: &record, objects: &objects };
        match args.common.json {
            true => all.push(shown.json()?),
            false => text.push_str(&shown.text()?),
        }
    }
    if args.common.json {
        return Ok(Answer::json(json!({ "file": name, "format": catalog.format(), "messages": all })));
    }
    if args.message.is_none()
        && let Some(finding) = opened.beside()
    {
        aside(format_args!("{finding}\n"));
    }
    Ok(Answer::text(text))
}

/// Range and meaning, indented by depth.
fn ranges(tree: &Tree) -> String {
    fn add(node: &Tree, depth: usize, width: usize, text: &mut String) {
        let (start, end) = (node.span.start, node.span.end);
        let value = if node.value.is_empty() { String::new() } else { format!(" {}", visible(&node.value)) };
        let _ = writeln!(text, "{start:0width$}..{end:0width$}  {}{}{value}", "  ".repeat(depth), visible(&node.label));
        node.children.iter().for_each(|child| add(child, depth + 1, width, text));
    }
    let mut text = String::new();
    add(tree, 0, tree.span.end.to_string().len().max(4), &mut text);
    text
}

/// What is shown of a message.
struct Shown<'a> {
    args: &'a Dump,
    opened: &'a Opened,
    record: &'a FileRecord,
    objects: &'a [usize],
}

impl Shown<'_> {
    fn text(&self) -> Result<String> {
        let (record, span) = (self.record, self.record.span());
        let mut text = String::new();
        if let Some(message) = record.survey() {
            let _ = writeln!(text, "message {}, bytes {span} ({})", record.index(), size(span.len()));
            if self.args.keys.is_none() {
                if let Some(preamble) = &message.preamble {
                    let _ = writeln!(text, "  flags: {}", preamble.flags);
                }
                match &message.metadata {
                    Ok(metadata) => {
                        self.section(&mut text, "metadata", &metadata.extra);
                        self.section(&mut text, "provenance", &metadata.reserved);
                    }
                    Err(error) => drop(writeln!(text, "  metadata cannot be read: {error}")),
                }
            }
        } else {
            let _ = writeln!(text, "{}, {}", record.format(), record.file());
        }
        for object in self.objects {
            self.object(&mut text, *object)?;
        }
        if let Some(message) = record.survey() {
            for finding in message.report.findings() {
                let _ = writeln!(text, "  {finding}");
            }
        }
        Ok(text)
    }

    fn section(&self, text: &mut String, name: &str, map: &tensogram::MetadataMap) {
        if !map.is_empty() {
            let _ = writeln!(text, "  {name}:");
            text.push_str(&outline(map, 4, self.args.all));
        }
    }

    fn object(&self, text: &mut String, object: usize) -> Result<()> {
        let (record, start) = (self.record, self.record.span().start);
        if let Some(found) = record.surveyed(object) {
            // Objects that could not be told apart are left out; the others keep their places.
            let _ = writeln!(text, "  object {object}, frame at byte {}:", start + found.frame.start());
        } else {
            let _ = writeln!(text, "  tensor {}:", framewright::report::visible(&record.name(object)));
        }
        if let Some(keys) = &self.args.keys {
            let item = OneObject(record, object);
            for key in keys.paths() {
                let value = item.lookup(key).map_or_else(|| "-".to_owned(), |value| summary(&value, self.args.all));
                let _ = writeln!(text, "    {key}: {value}");
            }
        } else {
            self.described(text, object);
        }
        if self.args.data {
            let _ = writeln!(text, "    data: {}", self.sample(object)?.0);
        }
        Ok(())
    }

    fn described(&self, text: &mut String, object: usize) {
        let record = self.record;
        if let Some(entry) = record.entries().get(object) {
            let bytes = entry.byte_len().map_or_else(|_| "?".to_owned(), size);
            let _ = writeln!(text, "    {} {}, {bytes}", entry.type_name(), shape(&entry.shape));
            for (key, value) in &entry.attributes {
                let _ = writeln!(text, "    {key}: {value}");
            }
            return;
        }
        let Some(found) = record.surveyed(object) else { return };
        match &found.descriptor {
            Ok(descriptor) => {
                let _ = writeln!(
                    text,
                    "    {} {}, {} endian, {}, stored in {}",
                    descriptor.dtype,
                    shape(&descriptor.shape),
                    descriptor.byte_order,
                    super::ls::pipeline(descriptor),
                    size(found.parts.region.len())
                );
                text.push_str(&outline(&descriptor.params, 4, self.args.all));
                for (kind, mask) in descriptor.masks.iter().flat_map(|masks| masks.iter()) {
                    let _ = writeln!(text, "    mask {}: {}, {} bytes", kind.key(), mask.method, mask.length);
                }
            }
            Err(error) => drop(writeln!(text, "    descriptor cannot be read: {error}")),
        }
        if let Some(entry) = record.metadata().and_then(|metadata| metadata.base.get(object)) {
            let mut own = entry.clone();
            own.remove("_reserved_");
            text.push_str(&outline(&own, 4, self.args.all));
        }
    }

    /// The first and last elements of a tensor, and whether they were compared with a digest: where they are all of it.
    fn sample(&self, object: usize) -> Result<(String, bool)> {
        let named = self.record.named(object);
        let lens = named.map(|named| named.shape).unwrap_or_default();
        let elements = |selection: &Selection| -> Result<(String, bool)> {
            let part = self.opened.catalog.part(self.record, object, selection).map_err(look_failure)?;
            let values = framewright::stats::to_f64(part.dtype, &part.data)?;
            let texts: Vec<_> = values.iter().map(|value| Value::from(*value).to_text()).collect();
            Ok((texts.join(", "), part.is_verified))
        };
        let count: u64 = lens.iter().copied().fold(1, u64::saturating_mul);
        if count <= 2 * EDGE {
            let (texts, is_verified) = elements(&Selection::new())?;
            return Ok((format!("[{texts}]"), is_verified));
        }
        // Innermost rows: the beginning of the first, the end of the last.
        let row = |index: fn(u64) -> i64, ends: AxisSlice| -> Selection {
            let (_, outer) = lens.split_last().unwrap_or((&0, &[]));
            outer.iter().map(|len| AxisSlice::Index(index(*len))).chain([ends]).collect()
        };
        let width = lens.last().copied().unwrap_or(0).min(EDGE);
        let first = row(|_| 0, AxisSlice::Range { start: None, end: i64::try_from(width).ok(), step: 1 });
        let last =
            row(|_| -1, AxisSlice::Range { start: i64::try_from(width).ok().map(|width| -width), end: None, step: 1 });
        let between = count - 2 * width;
        let ((first, _), (last, _)) = (elements(&first)?, elements(&last)?);
        Ok((format!("[{first}, … {between} more …, {last}]"), false))
    }

    fn json(&self) -> Result<serde_json::Value> {
        let (record, span) = (self.record, self.record.span());
        let mut objects = Vec::new();
        for object in self.objects {
            let mut row = match &self.args.keys {
                Some(keys) => {
                    let item = OneObject(record, *object);
                    let values: serde_json::Map<_, _> =
                        keys.paths().iter().map(|key| (key.to_string(), json_of(item.lookup(key).as_ref()))).collect();
                    json!({ "object": object, "keys": values })
                }
                None => self.object_json(*object),
            };
            if self.args.data {
                let (sample, is_verified) = self.sample(*object)?;
                (row["data"], row["verified"]) = (sample.into(), is_verified.into());
            }
            objects.push(row);
        }
        let Some(message) = record.survey() else {
            return Ok(json!({ "message": 0, "offset": 0, "length": span.len(), "objects": objects }));
        };
        let metadata = match &message.metadata {
            Ok(metadata) => json!({
                "base": metadata.base, "_extra_": metadata.extra, "_reserved_": metadata.reserved,
            }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        let mut shown = json!({
            "message": record.index(),
            "offset": span.start,
            "length": span.len(),
            "flags": message.preamble.as_ref().map(|preamble| preamble.flags.0),
            "objects": objects,
            "findings": message.report.findings(),
        });
        if self.args.keys.is_none() {
            shown["metadata"] = metadata;
        }
        Ok(shown)
    }

    fn object_json(&self, object: usize) -> serde_json::Value {
        let (record, start) = (self.record, self.record.span().start);
        if let Some(entry) = record.entries().get(object) {
            return json!({
                "object": object, "name": entry.name, "dtype": entry.type_name(), "shape": entry.shape,
                "attributes": entry.attributes,
            });
        }
        let Some(found) = record.surveyed(object) else { return json!({ "object": object }) };
        match &found.descriptor {
            Ok(descriptor) => json!({
                "object": object,
                "frame": [start + found.frame.start(), start + found.frame.end()],
                "type": descriptor.obj_type,
                "ndim": descriptor.ndim,
                "shape": descriptor.shape,
                "strides": descriptor.strides,
                "dtype": descriptor.dtype.name(),
                "byte_order": descriptor.byte_order.name(),
                "encoding": descriptor.encoding,
                "filter": descriptor.filter,
                "compression": descriptor.compression,
                "params": descriptor.params,
                "masks": descriptor.masks.iter().flat_map(|masks| masks.iter()).map(|(kind, mask)| json!({
                    "kind": kind.key(), "method": mask.method, "offset": mask.offset, "length": mask.length,
                })).collect::<Vec<_>>(),
            }),
            Err(error) => json!({ "object": object, "error": error.to_string() }),
        }
    }
}

/// A map as an indented tree; small values stay on their line, the middle of long lists is left out.
fn outline(map: &tensogram::MetadataMap, indent: usize, all: bool) -> String {
    map.iter().map(|(key, value)| entry(key, value, indent, all)).collect()
}

fn entry(key: &str, value: &tensogram::Value, indent: usize, all: bool) -> String {
    let pad = " ".repeat(indent);
    let key = framewright::report::visible(key);
    let line = short(value, all);
    match value {
        tensogram::Value::Map(entries) if line.len() > 60 => {
            let members: String = entries
                .iter()
                .map(|(key, value)| match key {
                    tensogram::Value::Text(key) => entry(key, value, indent + 2, all),
                    other => entry(&short(other, all), value, indent + 2, all),
                })
                .collect();
            format!("{pad}{key}:\n{members}")
        }
        _ => format!("{pad}{key}: {line}\n"),
    }
}

/// A value on one line as JSON, the middle of long lists left out.
fn short(value: &tensogram::Value, all: bool) -> String {
    match value {
        tensogram::Value::Array(items) if !all => abridged(items.len(), |index| short(&items[index], all)),
        tensogram::Value::Map(entries) if !all => {
            let entries = entries.iter().map(|(key, value)| format!("{}:{}", short(key, all), short(value, all)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// The same for the value of a key.
fn summary(value: &Value<'_>, all: bool) -> String {
    match value {
        Value::Text(text) => framewright::report::visible(text).to_string(),
        other => nested(other, all),
    }
}

fn nested(value: &Value<'_>, all: bool) -> String {
    match value {
        Value::Array(items) if !all => {
            abridged(items.len(), |index| items.get(index).map_or_else(String::new, |item| nested(&item, all)))
        }
        Value::Map(map) if !all => {
            let entries =
                map.iter().map(|(key, value)| format!("{}:{}", Value::Text(key).to_json(), nested(&value, all)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        other => other.to_json(),
    }
}

/// A list of `len` items, the middle of a long one left out.
fn abridged(len: usize, item: impl Fn(usize) -> String) -> String {
    let joined = |range: std::ops::Range<usize>| range.map(&item).collect::<Vec<_>>().join(",");
    let edge = EDGE as usize;
    if len <= LONG {
        return format!("[{}]", joined(0..len));
    }
    format!("[{}, … {} more …, {}]", joined(0..edge), len - 2 * edge, joined(len - edge..len))
}

/// Lists longer than this are abridged.
const LONG: usize = 16;
/// Elements that are shown at each end.
const EDGE: u64 = 3;
