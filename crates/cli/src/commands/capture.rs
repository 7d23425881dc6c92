//! `fw info` of a struct-frame capture: what was sent, what was damaged or lost, how often things came.

use super::{print, print_report, schema};
use crate::args::Info;
use crate::exit::{Outcome, Usage};
use crate::frames::undetected;
use crate::input::Input;
use crate::render::{Table, count, size};
use anyhow::{Context, Result};
use framewright::dynamic::columns::{Capture, Column, Decoder, Role};
use framewright::dynamic::{Codec, FrameCodec, detect, message_infos, shown_name};
use framewright::schema::Schema;
use framewright::structframe::{Counters, Event, Framing};
use framewright::tensor::DType;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn info(args: &Info, input: &Input, schema: &Path) -> Result<Outcome> {
    let schema = match schema::compiled(schema, args.packing)? {
        Ok(schema) => schema,
        Err(faults) => return schema::refused("info", args.json, &faults),
    };
    let name = input.name();
    let bytes = std::fs::read(input.path()).with_context(|| name.to_owned())?;
    let found = detect(&message_infos(&schema), &bytes);
    let framing = match (args.profile.profile, found) {
        (Some(framing), _) => framing,
        (None, Some(found)) => found.framing,
        (None, None) => return Err(undetected(name, &bytes)),
    };
    let time = args.time.as_deref().map(Clock::parse).transpose()?;
    let summary = Summary::of(&schema, framing, &bytes, time.as_ref())?;
    if let Some(clock) = &time
        && summary.messages.values().all(|kind| kind.pace.is_none())
    {
        let text = format!("--time {}: no message in {name} has a numeric field of that name", clock.field);
        return Err(Usage(text).into());
    }
    if args.json {
        let mut json = summary.json(&schema);
        json["file"] = name.into();
        json["detected"] = args.profile.profile.is_none().into();
        print_report("info", true, json)?;
    } else {
        let how = if args.profile.profile.is_none() { " (found by content)" } else { "" };
        print(&summary.text(&schema, name, how))?;
    }
    Ok(Outcome::Fine)
}

/// A field that holds the time, and seconds in its unit.
struct Clock {
    field: String,
    unit: f64,
}

impl Clock {
    fn parse(text: &str) -> Result<Self> {
        let (field, unit) = text.rsplit_once(':').unwrap_or((text, "s"));
        let unit = match unit {
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            "ns" => 1e-9,
            other => return Err(Usage(format!("--time {text}: unknown unit {other:?}; use s, ms, us or ns")).into()),
        };
        Ok(Self { field: field.to_owned(), unit })
    }
}

/// All of a capture in numbers.
struct Summary {
    len: u64,
    framing: Framing,
    counters: Counters,
    skipped: u64,
    truncated: u64,
    messages: BTreeMap<u16, Kind>,
    sources: BTreeMap<(u8, u8), Source>,
}

/// One message type.
#[derive(Default)]
struct Kind {
    known: bool,
    frames: u64,
    bytes: u64,
    unreadable: u64,
    pace: Option<Pace>,
}

/// One sender of sequence numbers.
#[derive(Default)]
struct Source {
    last: Option<u8>,
    frames: u64,
    gaps: u64,
    /// At least this many frames are missing: a sequence number says no more.
    missing: u64,
}

/// When the messages of one type came.
struct Pace {
    first: f64,
    last: f64,
    /// Messages in a second; `None` when no time passed.
    rate: Option<f64>,
    longest: f64,
}

impl Summary {
    fn of(schema: &Schema, framing: Framing, bytes: &[u8], clock: Option<&Clock>) -> Result<Self> {
        let codec = Codec::new(schema);
        let frames = FrameCodec::new(&codec, framing);
        let mut decoder = Decoder::new(&codec, framing.layout());
        let mut summary = Self {
            len: bytes.len() as u64,
            framing,
            counters: Counters::default(),
            skipped: 0,
            truncated: 0,
            messages: BTreeMap::new(),
            sources: BTreeMap::new(),
        };
        let mut events = frames.read(bytes);
        for event in events.by_ref() {
            match event {
                Event::Frame(frame) => {
                    let kind = summary.messages.entry(frame.id).or_default();
                    kind.known = schema.by_id(frame.id).is_some();
                    kind.frames += 1;
                    kind.bytes += frame.span.len();
                    if framing.has_sequence() {
                        let source = summary.sources.entry((frame.header.system, frame.header.component)).or_default();
                        source.next(frame.header.sequence);
                    }
                    decoder.push(frame.id, frame.header, frame.payload)?;
                }
                Event::Skipped(span) => summary.skipped += span.len(),
                Event::Truncated(span) => summary.truncated += span.len(),
                Event::BadChecksum(_) => {}
            }
        }
        summary.counters = events.counters();
        summary.add_columns(&decoder.finish(), clock);
        Ok(summary)
    }

    fn add_columns(&mut self, capture: &Capture<'_>, clock: Option<&Clock>) {
        for stray in capture.strays.iter().filter(|stray| stray.fault.is_some()) {
            self.messages.entry(stray.id).or_default().unreadable += 1;
        }
        let Some(clock) = clock else { return };
        for table in &capture.tables {
            let column =
                table.column(&clock.field).filter(|column| column.role == Role::Value && column.dims.is_empty());
            let pace = column.and_then(|column| Pace::of(column, clock.unit));
            if let Some(id) = table.message.id {
                self.messages.entry(id).or_default().pace = pace;
            }
        }
    }

    fn gaps(&self) -> (u64, u64) {
        let sum = |field: fn(&Source) -> u64| self.sources.values().map(field).sum();
        (sum(|source| source.gaps), sum(|source| source.missing))
    }

    fn text(&self, schema: &Schema, name: &str, how: &str) -> String {
        let counters = &self.counters;
        let mut lines = vec![
            ("file", format!("{name}, {}", size(self.len))),
            ("format", "struct-frame capture".to_owned()),
            ("profile", format!("{}{how}", self.framing)),
            ("frames", format!("{} good, {}", counters.frames, count(counters.crc_failures as usize, "bad checksum"))),
        ];
        if counters.recovered > 0 {
            lines.push(("recovered", format!("{} good frames inside damaged bytes", counters.recovered)));
        }
        if self.skipped + self.truncated > 0 {
            let words = format!("{} bytes between frames, {} in an incomplete one", self.skipped, self.truncated);
            lines.push(("other", words));
        }
        if counters.len_errors > 0 {
            lines.push(("lengths", format!("{} frames whose length does not match the schema", counters.len_errors)));
        }
        if self.framing.has_sequence() {
            let (gaps, missing) = self.gaps();
            let words = format!("{}, at least {missing} frames missing", count(gaps as usize, "gap"));
            lines.push(("sequence", if gaps == 0 { "no gap".to_owned() } else { words }));
        }
        let mut text: String = lines.iter().map(|(name, value)| format!("{name:<10} {value}\n")).collect();
        if !self.messages.is_empty() {
            text.push('\n');
            text.push_str(&self.table(schema).render());
        }
        if self.sources.len() > 1 {
            let mut table = Table::new(&[">system", ">component", ">frames", ">gaps", ">missing"]);
            for ((system, component), source) in &self.sources {
                let numbers = [u64::from(*system), u64::from(*component), source.frames, source.gaps, source.missing];
                table.row(numbers.map(|number| number.to_string()));
            }
            text.push('\n');
            text.push_str(&table.render());
        }
        text
    }

    fn table(&self, schema: &Schema) -> Table {
        let timed = self.messages.values().any(|kind| kind.pace.is_some());
        let mut heads = vec![">id", "message", ">frames", ">bytes", ">unreadable"];
        if timed {
            heads.extend([">first s", ">last s", ">per second", ">longest pause s"]);
        }
        let mut table = Table::new(&heads);
        for (id, kind) in &self.messages {
            let name = schema.by_id(*id).map_or("unknown".to_owned(), |message| shown_name(schema, message));
            let numbers = [kind.frames, kind.bytes, kind.unreadable].map(|number| number.to_string());
            let mut cells = vec![id.to_string(), name];
            cells.extend(numbers);
            if timed {
                cells.extend(match &kind.pace {
                    Some(pace) => [Some(pace.first), Some(pace.last), pace.rate, Some(pace.longest)]
                        .map(|number| number.map_or("-".to_owned(), |number| format!("{number:.3}"))),
                    None => ["-", "-", "-", "-"].map(str::to_owned),
                });
            }
            table.row(cells);
        }
        table
    }

    fn json(&self, schema: &Schema) -> Json {
        let counters = &self.counters;
        let messages = self.messages.iter().map(|(id, kind)| {
            let mut json =
                json!({ "id": id, "frames": kind.frames, "bytes": kind.bytes, "unreadable": kind.unreadable });
            json["message"] = schema.by_id(*id).map(|message| shown_name(schema, message)).into();
            if let Some(pace) = &kind.pace {
                json["time"] =
                    json!({ "first": pace.first, "last": pace.last, "rate": pace.rate, "longest_pause": pace.longest });
            }
            json
        });
        let sources = self.sources.iter().map(|((system, component), source)| {
            json!({ "system": system, "component": component, "frames": source.frames, "gaps": source.gaps,
                "missing": source.missing })
        });
        let (gaps, missing) = self.gaps();
        json!({
            "format": "struct-frame",
            "bytes": self.len,
            "profile": self.framing.to_string(),
            "frames": counters.frames,
            "recovered": counters.recovered,
            "unknown_ids": counters.unknown_ids,
            "bad_checksums": counters.crc_failures,
            "length_errors": counters.len_errors,
            "skipped_bytes": self.skipped,
            "truncated_bytes": self.truncated,
            "sequence": self.framing.has_sequence().then(|| json!({ "gaps": gaps, "missing": missing,
                "sources": sources.collect::<Vec<_>>() })),
            "messages": messages.collect::<Vec<_>>(),
        })
    }
}

impl Source {
    fn next(&mut self, sequence: u8) {
        self.frames += 1;
        if let Some(last) = self.last.replace(sequence) {
            let missing = sequence.wrapping_sub(last).wrapping_sub(1);
            self.gaps += u64::from(missing != 0);
            self.missing += u64::from(missing);
        }
    }
}

impl Pace {
    /// `None` when the column holds no times.
    fn of(column: &Column, unit: f64) -> Option<Self> {
        let ticks = ticks(column)?;
        let (first, last) = (*ticks.first()?, *ticks.last()?);
        let passed = (last - first) * unit;
        let longest = ticks.windows(2).map(|pair| (pair[1] - pair[0]) * unit).fold(0.0, f64::max);
        let rate = (passed > 0.0).then(|| (ticks.len() - 1) as f64 / passed);
        Some(Self { first: first * unit, last: last * unit, rate, longest })
    }
}

/// The elements of a column of numbers.
fn ticks(column: &Column) -> Option<Vec<f64>> {
    fn each<const N: usize>(data: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        data.as_chunks::<N>().0.iter().map(|bytes| number(*bytes)).collect()
    }
    let data = &column.data;
    Some(match column.dtype {
        DType::UInt8 => each(data, |bytes| u8::from_le_bytes(bytes).into()),
        DType::UInt16 => each(data, |bytes| u16::from_le_bytes(bytes).into()),
        DType::UInt32 => each(data, |bytes| u32::from_le_bytes(bytes).into()),
        DType::UInt64 => each(data, |bytes| u64::from_le_bytes(bytes) as f64),
        DType::Int8 => each(data, |bytes| i8::from_le_bytes(bytes).into()),
        DType::Int16 => each(data, |bytes| i16::from_le_bytes(bytes).into()),
        DType::Int32 => each(data, |bytes| i32::from_le_bytes(bytes).into()),
        DType::Int64 => each(data, |bytes| i64::from_le_bytes(bytes) as f64),
        DType::Float32 => each(data, |bytes| f32::from_le_bytes(bytes).into()),
        DType::Float64 => each(data, f64::from_le_bytes),
        _ => return None,
    })
}
