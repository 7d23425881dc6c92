//! `fw decode`: the frames of a capture or a live stream, a line of JSON each, or a table per message type.

use super::summary::Sources;
use super::{fields, print_report, schema};
use crate::args::Decode;
use crate::exit::{Outcome, Usage, aside};
use crate::frames::{Feed, chosen, complaint, filter};
use crate::render::{Progress, Table};
use anyhow::Result;
use framewright::convert::{CaptureOptions, FieldStats, FrameFilter, FrameKeys, RowReader};
use framewright::dynamic::{
    Codec, EnumStyle, FrameCodec, FrameLine, LineWriter, Strictness, Value, message_infos, shown_name,
};
use framewright::recording::utc;
use framewright::schema::Schema;
use framewright::structframe::Event;
use serde_json::json;
use std::io::Write;

pub(crate) fn run(args: &Decode) -> Result<Outcome> {
    let timed = args.host_time || args.select.asks_for_times();
    let mut feed = Feed::open(&args.file, "decode", timed)?;
    if args.limit.is_some() && !feed.is_live() {
        return Err(Usage(format!("{}: --for is for links, devices and pipes", feed.name())).into());
    }
    feed.ends_after(args.limit);
    if args.table || args.fields {
        feed.ends_on_interrupt()?;
    }
    let schema = match feed.schema(args.schema.as_deref(), &args.packing)? {
        Ok(schema) => schema,
        Err(faults) => return schema::refused("decode", args.json, &faults),
    };
    let strictness = if args.strict { Strictness::Strict } else { Strictness::Lenient };
    let codec = Codec::new(&schema).with_strictness(strictness);
    let wanted = chosen(&schema, &args.message)?;
    let filter = filter(&schema, &args.select)?;
    let Some(framing) = feed.framing(args.profile.profile, &message_infos(&schema))? else {
        return Ok(Outcome::Fine);
    };
    let enums = if args.enum_numbers { EnumStyle::Numbers } else { EnumStyle::Names };
    let frames = FrameCodec::new(&codec, framing).with_enums(enums);
    let live = feed.is_live();
    let mut out = Printer {
        frames: &frames,
        lines: LineWriter::new(&frames),
        wanted: &wanted,
        filter: filter.as_ref(),
        name: feed.name().to_owned(),
        text: Vec::with_capacity(BUFFER + (BUFFER >> 2)),
        out: std::io::stdout().lock(),
        tables: args.table.then(Tables::default),
        fields: args.fields.then(|| Fields { rows: RowReader::new(&frames, &EVERY_FRAME), stats: FieldStats::new() }),
        sources: (live && framing.has_sequence()).then(Sources::default),
        damage: 0,
        time: None,
        received: None,
        failure: None,
    };
    let mut stream = frames.stream();
    let (mut current, mut time) = (0, None);
    let (progress, total) = (feed.file_len().map(|_| Progress::of_output(feed.name())), feed.file_len().unwrap_or(0));
    let (name, mut done) = (feed.name().to_owned(), 0u64);
    feed.run(|piece| {
        done = done.saturating_add(piece.bytes.len() as u64);
        if let Some(progress) = &progress {
            progress.show(done.min(total), total, &name);
        }
        // A frame does not continue on another connection.
        if piece.stream != current {
            stream.finish(|event| out.event(&event));
            current = piece.stream;
        }
        if piece.time != time {
            time = piece.time;
            out.time = time.and_then(|time| u64::try_from(time).ok());
            out.received = time.filter(|_| args.host_time).map(utc);
        }
        stream.read(piece.bytes, |event| out.event(&event));
        if live { out.flush() } else { out.check() }
    })?;
    stream.finish(|event| out.event(&event));
    drop(progress);
    out.check()?;
    if let Some(tables) = out.tables.take() {
        out.text.extend_from_slice(tables.text().as_bytes());
    }
    let fields = out.fields.take().map(|fields| fields.stats.finish());
    if let Some(fields) = fields.as_ref().filter(|_| !args.json) {
        out.text.extend_from_slice(fields::text(fields).trim_start_matches('\n').as_bytes());
    }
    out.flush()?;
    if let Some(words) = out.sources.as_ref().and_then(Sources::gaps_in_words) {
        aside(format_args!("fw: {}: {words}\n", out.name));
    }
    for damage in feed.damage() {
        out.damage += 1;
        aside(format_args!("fw: {damage}\n"));
    }
    if let Some(fields) = fields.filter(|_| args.json) {
        let report = json!({ "file": feed.name(), "profile": framing.to_string(), "fields": fields::json(&fields) });
        print_report("decode", true, report)?;
    }
    Ok(if out.damage == 0 { Outcome::Fine } else { Outcome::Lossy })
}

/// Conditions are looked at where frames are printed.
static EVERY_FRAME: CaptureOptions = CaptureOptions::new();

/// Bytes of text that are written at once.
const BUFFER: usize = 256 << 10;

struct Printer<'a, 's, W> {
    frames: &'a FrameCodec<'a, 's>,
    lines: LineWriter<'a, 's>,
    /// Ids to print; none is all.
    wanted: &'a [u16],
    filter: Option<&'a FrameFilter>,
    name: String,
    /// Lines that are not written yet.
    text: Vec<u8>,
    out: W,
    tables: Option<Tables<'s>>,
    fields: Option<Fields<'a, 's>>,
    /// Who sends, where frames may be lost on the way: in a file they are lost for good.
    sources: Option<Sources>,
    /// Events and payloads that could not be understood.
    damage: usize,
    /// When the bytes at hand arrived, in nanoseconds since 1970.
    time: Option<u64>,
    /// The same as text, where it is to be shown.
    received: Option<String>,
    /// The first write that failed: events cannot stop their reader.
    failure: Option<std::io::Error>,
}

impl<W: Write> Printer<'_, '_, W> {
    fn event(&mut self, event: &Event<'_>) {
        if let (Event::Frame(frame), Some(sources)) = (event, &mut self.sources) {
            sources.note(frame.header);
        }
        let frame = match event {
            Event::Frame(frame) if self.wanted.is_empty() || self.wanted.contains(&frame.id) => frame,
            event => {
                if let Some(words) = complaint(self.frames.schema(), event) {
                    self.complain(&words);
                }
                return;
            }
        };
        let schema = self.frames.schema();
        if let Some(fields) = &mut self.fields {
            fields.rows.arrived(self.time);
            if fields.take(schema, event, self.filter) {
                return;
            }
        }
        // Values in between are only made where something looks at them.
        let line = (self.filter.is_some() || self.tables.is_some()).then(|| self.frames.line(frame));
        let wanted = match (&line, self.filter) {
            (Some(line), Some(filter)) => filter.matches_keys(&FrameKeys::of_line(schema, line, self.time)),
            _ => true,
        };
        let error = match (line, &mut self.tables) {
            (Some(line), _) if !wanted => line.error,
            (line, _) if self.fields.is_some() => line.unwrap_or_else(|| self.frames.line(frame)).error,
            (Some(mut line), Some(tables)) => {
                line.received = self.received.clone();
                let error = line.error.clone();
                tables.add(line);
                error
            }
            _ => self.lines.write(frame, self.received.as_deref(), &mut self.text),
        };
        if let Some(error) = error {
            let message = schema.by_id(frame.id).map_or_else(String::new, |message| shown_name(schema, message));
            let at = frame.span.start;
            self.complain(&format!("payload of {message} in the frame at byte {at} cannot be read: {error}"));
        }
        if self.text.len() >= BUFFER && self.failure.is_none() {
            self.failure = self.write().err();
        }
    }

    fn write(&mut self) -> std::io::Result<()> {
        let written = self.out.write_all(&self.text);
        self.text.clear();
        written
    }

    fn complain(&mut self, words: &str) {
        self.damage += 1;
        aside(format_args!("fw: {}: {words}\n", self.name));
    }

    fn check(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), |error| Err(error.into()))
    }

    fn flush(&mut self) -> Result<()> {
        self.check()?;
        self.write()?;
        Ok(self.out.flush()?)
    }
}

/// Statistics of fields, instead of lines.
struct Fields<'a, 's> {
    rows: RowReader<'a, 's>,
    stats: FieldStats,
}

impl Fields<'_, '_> {
    /// Takes a frame that is selected; false when its payload has no values.
    fn take(&mut self, schema: &Schema, event: &Event<'_>, filter: Option<&FrameFilter>) -> bool {
        let (mut readable, stats) = (false, &mut self.stats);
        let rows = self.rows.event(event, &mut |row| {
            readable = true;
            if filter.is_none_or(|filter| filter.matches(row)) {
                stats.add(schema, row);
            }
            Ok(())
        });
        rows.is_ok() && readable
    }
}

/// A table per message type, in order of first arrival.
#[derive(Default)]
struct Tables<'s> {
    groups: Vec<(u16, Vec<FrameLine<'s>>)>,
}

impl<'s> Tables<'s> {
    fn add(&mut self, line: FrameLine<'s>) {
        match self.groups.iter_mut().find(|(id, _)| *id == line.id) {
            Some((_, lines)) => lines.push(line),
            None => self.groups.push((line.id, vec![line])),
        }
    }

    fn text(&self) -> String {
        let texts = self.groups.iter().map(|(id, lines)| {
            let name = lines.iter().find_map(|line| line.message.clone()).unwrap_or_else(|| "unknown".to_owned());
            format!("{name} (id {id})\n{}", table(lines).render())
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A name, and where its value stands in a line.
type HeaderField = (&'static str, fn(&FrameLine<'_>) -> Option<u8>);

fn table(lines: &[FrameLine<'_>]) -> Table {
    let mut heads = vec![">at".to_owned()];
    let first = lines.first();
    let timed = lines.iter().any(|line| line.received.is_some());
    heads.extend(timed.then(|| "received".to_owned()));
    let has = |field: fn(&FrameLine<'_>) -> Option<u8>| first.is_some_and(|line| field(line).is_some());
    let header: [HeaderField; 3] =
        [("sequence", |line| line.sequence), ("system", |line| line.system), ("component", |line| line.component)];
    let header = header.map(|(name, field)| has(field).then_some((name, field)));
    heads.extend(header.iter().flatten().map(|(name, _)| format!(">{name}")));
    // Every readable line of a message has the same columns; unreadable ones show their bytes behind them.
    let readable = lines.iter().find_map(|line| line.values.as_ref());
    let mut columns = Vec::new();
    if let Some(values) = readable {
        flatten("", values, &mut |name, value| columns.push((name, is_number(value))));
    }
    heads.extend(columns.iter().map(|(name, number)| if *number { format!(">{name}") } else { name.clone() }));
    let unreadable = lines.iter().any(|line| line.values.is_none());
    if unreadable {
        heads.push("payload".to_owned());
    }
    let mut table = Table::new(&heads);
    for line in lines {
        let mut cells = vec![line.at.to_string()];
        cells.extend(timed.then(|| line.received.clone().unwrap_or_default()));
        cells.extend(header.iter().flatten().map(|(_, field)| field(line).unwrap_or_default().to_string()));
        match &line.values {
            Some(values) => flatten("", values, &mut |_, value| cells.push(cell(value, line.enums))),
            None => cells.extend(columns.iter().map(|_| String::new())),
        }
        if unreadable {
            let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            cells.push(line.payload.as_ref().map_or_else(String::new, hex));
        }
        table.row(cells);
    }
    table
}

/// Nested messages one level after the other; arrays and oneofs stay whole.
fn flatten(path: &str, value: &Value<'_>, take: &mut dyn FnMut(String, &Value<'_>)) {
    match value {
        Value::Message(entries) => {
            for (name, value) in entries {
                let joint = if path.is_empty() { "" } else { "." };
                flatten(&format!("{path}{joint}{name}"), value, take);
            }
        }
        value => take(path.to_owned(), value),
    }
}

fn is_number(value: &Value<'_>) -> bool {
    use Value::{Double, Float, Signed, Signed64, Unsigned, Unsigned64};
    matches!(value, Unsigned(_) | Signed(_) | Unsigned64(_) | Signed64(_) | Float(_) | Double(_))
}

/// Bare names of enums and bare text; everything else as in the lines.
fn cell(value: &Value<'_>, enums: EnumStyle) -> String {
    match value {
        Value::Enum(_, Some(name)) if enums == EnumStyle::Names => (*name).to_owned(),
        Value::Text(text) => text.escape_debug().to_string(),
        Value::Unsigned64(number) => number.to_string(),
        Value::Signed64(number) => number.to_string(),
        value => serde_json::to_string(&value.shown(enums)).unwrap_or_default(),
    }
}
