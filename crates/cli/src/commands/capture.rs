//! `fw info` of a struct-frame capture: what was sent, what was damaged or lost, how often things came.

use super::{print, print_report, schema};
use crate::args::Info;
use crate::exit::{Outcome, Usage, aside};
use crate::frames::{clock, filter, undetected};
use crate::input::Input;
use crate::render::{Table, count, size};
use anyhow::Result;
use framewright::convert::{
    CaptureInput, CaptureOptions, Clock, ConvertError, FieldKind, FieldStats, FieldSummary, FrameFilter, MessageFields,
    RowReader, Signal,
};
use framewright::dynamic::{Codec, FrameCodec, shown_name};
use framewright::recording::{Recording, is_recording, utc};
use framewright::schema::Schema;
use framewright::stats::Scalar;
use framewright::structframe::{Counters, Event, Frame, Framing};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

pub(crate) fn info(args: &Info, input: &Input) -> Result<Outcome> {
    let recording = if is_recording(input.path()) { Some(Recording::open(input.path())?) } else { None };
    let compiled = match (&args.schema, &recording) {
        (Some(path), _) => schema::compiled(path, args.packing)?,
        (None, Some(recording)) => schema::recorded(recording)?,
        (None, None) => return Err(Usage(format!("{}: requires --schema", input.name())).into()),
    };
    let schema = match compiled {
        Ok(schema) => schema,
        Err(faults) => return schema::refused("info", args.common.json, &faults),
    };
    let name = input.name();
    let filter = filter(&schema, &args.select)?;
    let clock = clock(args.time.as_deref())?;
    let mut capture = CaptureInput::open(input.path())?;
    let framing = match capture.framing(args.profile.profile, &schema) {
        Ok(framing) => framing,
        Err(error) if error.code() == "no_profile" => {
            let mut head = Vec::new();
            File::open(input.path())?.take(HEAD_LEN).read_to_end(&mut head)?;
            let len = std::fs::metadata(input.path()).map_or(0, |file| file.len());
            return Err(undetected(name, &head, len));
        }
        Err(error) => return input.named(error),
    };
    let asked = Asked { filter: filter.as_ref(), clock: clock.as_ref(), fields: args.fields };
    let summary = Summary::of(&schema, framing, capture, &asked)?;
    if let Some(clock) = &clock
        && summary.messages.values().all(|kind| kind.pace.is_none())
    {
        let text = format!("--time {}: no message in {name} has a numeric field of that name", clock.field());
        return Err(Usage(text).into());
    }
    let named = recording.as_ref().is_some_and(|recording| recording.framing().is_some());
    let detected = args.profile.profile.is_none() && !named;
    if args.common.json {
        let mut json = summary.json(&schema);
        json["file"] = name.into();
        json["detected"] = detected.into();
        if let Some(recording) = &recording {
            let files: Vec<_> = recording.files().map(|file| file.display().to_string()).collect();
            json["recording"] = json!({
                "address": recording.address(), "start": utc(recording.start()), "files": files,
                "damage": summary.damage,
            });
        }
        print_report("info", summary.damage.is_empty(), json)?;
    } else {
        let how = if detected { " (found by content)" } else { "" };
        print(&summary.text(&schema, name, how, recording.as_ref()))?;
        summary.damage.iter().for_each(|damage| aside(format_args!("fw: {damage}\n")));
    }
    Ok(if summary.damage.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

/// What is wanted beside the counts.
struct Asked<'a> {
    filter: Option<&'a FrameFilter>,
    clock: Option<&'a Clock>,
    fields: bool,
}

/// Enough to tell what a file is.
const HEAD_LEN: u64 = 64 << 10;

/// All of a capture in numbers.
pub(super) struct Summary {
    pub(super) len: u64,
    framing: Framing,
    pub(super) counters: Counters,
    skipped: u64,
    truncated: u64,
    messages: BTreeMap<u16, Kind>,
    sources: BTreeMap<(u8, u8), Source>,
    /// Frames that a condition left out.
    left_out: Option<u64>,
    fields: Option<Vec<MessageFields>>,
    /// What is damaged in a recording, or missing.
    damage: Vec<String>,
    /// When the frames at hand arrived, where that tells their rate.
    arrived: Option<f64>,
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
    count: u64,
    longest: f64,
}

impl Summary {
    pub(super) fn new(framing: Framing) -> Self {
        Self {
            len: 0,
            framing,
            counters: Counters::default(),
            skipped: 0,
            truncated: 0,
            messages: BTreeMap::new(),
            sources: BTreeMap::new(),
            left_out: None,
            fields: None,
            damage: Vec::new(),
            arrived: None,
        }
    }

    /// Notes what a reader of live data found, and when it arrived.
    pub(super) fn event(&mut self, schema: &Schema, event: &Event<'_>, time: Option<i64>) {
        match event {
            Event::Frame(frame) => {
                self.arrived = time.map(|time| time as f64 * 1e-9);
                self.count(frame, schema.by_id(frame.id).is_some(), true, None);
            }
            Event::Skipped(span) => self.skipped += span.len(),
            Event::Truncated(span) => self.truncated += span.len(),
            Event::BadChecksum(_) => {}
        }
    }

    /// Reads all of a capture. Rates are those of a field, or of the host's times in a recording.
    fn of(schema: &Schema, framing: Framing, input: CaptureInput<'_>, asked: &Asked<'_>) -> Result<Self> {
        let codec = Codec::new(schema);
        let frames = FrameCodec::new(&codec, framing);
        let mut summary = Self { left_out: asked.filter.map(|_| 0), ..Self::new(framing) };
        let mut stats = asked.fields.then(FieldStats::new);
        // Rows have no condition: what is left out is counted here, and damage is counted by the stream.
        let options = CaptureOptions::new();
        let mut rows = RowReader::new(&frames, &options);
        summary.counters = input.run(&frames, &mut |signal| {
            match signal {
                Signal::Arrived { len, time } => {
                    summary.len += len as u64;
                    summary.arrived = time.filter(|_| asked.clock.is_none()).map(|time| time as f64 * 1e-9);
                }
                Signal::Event(Event::Frame(frame)) => {
                    return summary.frame(schema, frame, asked, &mut rows, stats.as_mut());
                }
                Signal::Event(Event::Skipped(span)) => summary.skipped += span.len(),
                Signal::Event(Event::Truncated(span)) => summary.truncated += span.len(),
                Signal::Event(Event::BadChecksum(_)) => {}
                Signal::Damage(what) => summary.damage.push(what.to_string()),
            }
            Ok(())
        })?;
        summary.fields = stats.map(FieldStats::finish);
        Ok(summary)
    }

    /// Counts a frame, unless a condition leaves it out.
    fn frame(
        &mut self,
        schema: &Schema,
        frame: &Frame<'_>,
        asked: &Asked<'_>,
        rows: &mut RowReader<'_, '_>,
        stats: Option<&mut FieldStats>,
    ) -> Result<(), ConvertError> {
        let (mut readable, mut wanted, mut seconds) = (false, asked.filter.is_none(), None);
        let known = schema.by_id(frame.id).is_some();
        if known {
            let mut stats = stats;
            rows.event(&Event::Frame(*frame), &mut |row| {
                readable = true;
                wanted = asked.filter.is_none_or(|filter| filter.matches(row));
                if wanted {
                    seconds = asked.clock.and_then(|clock| clock.seconds(&row.values));
                    if let Some(stats) = &mut stats {
                        stats.add(schema, row);
                    }
                }
                Ok(())
            })?;
        }
        if !wanted {
            self.left_out = self.left_out.map(|count| count + 1);
            return Ok(());
        }
        self.count(frame, known, readable, seconds);
        Ok(())
    }

    fn count(&mut self, frame: &Frame<'_>, known: bool, readable: bool, seconds: Option<f64>) {
        let kind = self.messages.entry(frame.id).or_default();
        kind.known = known;
        kind.frames += 1;
        kind.bytes += frame.span.len();
        kind.unreadable += u64::from(known && !readable);
        if let Some(seconds) = seconds.or(self.arrived) {
            kind.pace = Some(Pace::next(kind.pace.take(), seconds));
        }
        if self.framing.has_sequence() {
            let source = self.sources.entry((frame.header.system, frame.header.component)).or_default();
            source.next(frame.header.sequence);
        }
    }

    pub(super) fn gaps(&self) -> (u64, u64) {
        let sum = |field: fn(&Source) -> u64| self.sources.values().map(field).sum();
        (sum(|source| source.gaps), sum(|source| source.missing))
    }

    pub(super) fn text(&self, schema: &Schema, name: &str, how: &str, recording: Option<&Recording>) -> String {
        let counters = &self.counters;
        let format = if recording.is_some() { "recording of struct-frame frames" } else { "struct-frame capture" };
        let name = framewright::report::visible(name);
        let mut lines = vec![("file", format!("{name}, {}", size(self.len))), ("format", format.to_owned())];
        if let Some(recording) = recording {
            lines.push(("from", framewright::report::visible(recording.address()).into_owned()));
            lines.push(("begun", utc(recording.start())));
        }
        lines.extend([
            ("profile", format!("{}{how}", self.framing)),
            ("frames", format!("{} good, {}", counters.frames, count(counters.crc_failures as usize, "bad checksum"))),
        ]);
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
        if let Some(left_out) = self.left_out {
            lines.push(("left out", format!("{} that --where does not select", count(left_out as usize, "frame"))));
        }
        // Between frames that were left out there are no gaps to count.
        if self.framing.has_sequence() && self.left_out.is_none() {
            let (gaps, missing) = self.gaps();
            let words = format!("{}, at least {missing} frames missing", count(gaps as usize, "gap"));
            lines.push(("sequence", if gaps == 0 { "no gap".to_owned() } else { words }));
        }
        let mut text: String = lines.iter().map(|(name, value)| format!("{name:<10} {value}\n")).collect();
        if !self.messages.is_empty() {
            text.push('\n');
            text.push_str(&self.table(schema).render());
        }
        if self.sources.len() > 1 && self.left_out.is_none() {
            let mut table = Table::new(&[">system", ">component", ">frames", ">gaps", ">missing"]);
            for ((system, component), source) in &self.sources {
                let numbers = [u64::from(*system), u64::from(*component), source.frames, source.gaps, source.missing];
                table.row(numbers.map(|number| number.to_string()));
            }
            text.push('\n');
            text.push_str(&table.render());
        }
        if let Some(fields) = &self.fields {
            text.push_str(&fields_text(fields));
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
                    Some(pace) => [Some(pace.first), Some(pace.last), pace.rate(), Some(pace.longest)]
                        .map(|number| number.map_or("-".to_owned(), |number| format!("{number:.3}"))),
                    None => ["-", "-", "-", "-"].map(str::to_owned),
                });
            }
            table.row(cells);
        }
        table
    }

    pub(super) fn json(&self, schema: &Schema) -> Json {
        let counters = &self.counters;
        let messages = self.messages.iter().map(|(id, kind)| {
            let mut json =
                json!({ "id": id, "frames": kind.frames, "bytes": kind.bytes, "unreadable": kind.unreadable });
            json["message"] = schema.by_id(*id).map(|message| shown_name(schema, message)).into();
            if let Some(pace) = &kind.pace {
                json["time"] =
                    json!({ "first": pace.first, "last": pace.last, "rate": pace.rate(), "longest_pause": pace.longest });
            }
            json
        });
        let sources = self.sources.iter().map(|((system, component), source)| {
            json!({ "system": system, "component": component, "frames": source.frames, "gaps": source.gaps,
                "missing": source.missing })
        });
        let (gaps, missing) = self.gaps();
        let gapped = self.framing.has_sequence() && self.left_out.is_none();
        let mut json = json!({
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
            "sequence": gapped.then(|| json!({ "gaps": gaps, "missing": missing,
                "sources": sources.collect::<Vec<_>>() })),
            "messages": messages.collect::<Vec<_>>(),
        });
        if let Some(left_out) = self.left_out {
            json["left_out"] = left_out.into();
        }
        if let Some(fields) = &self.fields {
            json["fields"] = fields_json(fields);
        }
        json
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
    /// The pace with one message more.
    fn next(before: Option<Self>, time: f64) -> Self {
        match before {
            None => Self { first: time, last: time, count: 1, longest: 0.0 },
            Some(Self { first, last, count, longest }) => {
                Self { first, last: time, count: count + 1, longest: longest.max(time - last) }
            }
        }
    }

    /// Messages in a second; `None` when no time passed.
    fn rate(&self) -> Option<f64> {
        let passed = self.last - self.first;
        (passed > 0.0).then(|| (self.count - 1) as f64 / passed)
    }
}

/// What there is to say about fields, one line each.
fn fields_text(fields: &[MessageFields]) -> String {
    let mut text = String::new();
    for message in fields {
        let mut table =
            Table::new(&["field", ">values", ">minimum", ">maximum", ">mean", ">standard deviation", "counts"]);
        for field in &message.fields {
            let mut cells = vec![field.path.clone(), field.count.to_string()];
            cells.extend(match &field.kind {
                FieldKind::Number(summary) => {
                    let scalar = |value: Option<Scalar>| value.map_or("-".to_owned(), |value| value.to_string());
                    let float = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.6}"));
                    let odd = [("NaN", summary.nan), ("inf", summary.pos_inf), ("-inf", summary.neg_inf)];
                    let odd = odd.iter().filter(|(_, count)| *count > 0);
                    let odd: Vec<_> = odd.map(|(name, count)| format!("{name} {count}")).collect();
                    [scalar(summary.min), scalar(summary.max), float(summary.mean), float(summary.std), odd.join(", ")]
                }
                FieldKind::Counts(counts) => {
                    let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
                    ["-".to_owned(), "-".to_owned(), "-".to_owned(), "-".to_owned(), counts.join(", ")]
                }
                FieldKind::Length { min, max } => {
                    let bytes = |len: &Option<u64>| len.map_or("-".to_owned(), size);
                    [bytes(min), bytes(max), "-".to_owned(), "-".to_owned(), String::new()]
                }
                _ => Default::default(),
            });
            table.row(cells);
        }
        text.push_str(&format!(
            "\n{} (id {}), {}\n",
            message.message,
            message.id,
            count(message.rows as usize, "frame")
        ));
        text.push_str(&table.render());
    }
    text
}

fn fields_json(fields: &[MessageFields]) -> Json {
    let scalar = |value: Option<Scalar>| match value {
        None => Json::Null,
        Some(Scalar::Integer(value)) => {
            i64::try_from(value).map(Json::from).unwrap_or_else(|_| value.to_string().into())
        }
        Some(Scalar::Float(value)) => value.into(),
    };
    let field = |field: &FieldSummary| {
        let mut json = json!({ "field": field.path, "values": field.count });
        match &field.kind {
            FieldKind::Number(summary) => {
                json["min"] = scalar(summary.min);
                json["max"] = scalar(summary.max);
                json["mean"] = summary.mean.into();
                json["std"] = summary.std.into();
                json["zeros"] = summary.zeros.into();
                json["nan"] = summary.nan.into();
                json["pos_inf"] = summary.pos_inf.into();
                json["neg_inf"] = summary.neg_inf.into();
            }
            FieldKind::Counts(counts) => json["counts"] = json!(counts),
            FieldKind::Length { min, max } => {
                json["min_bytes"] = (*min).into();
                json["max_bytes"] = (*max).into();
            }
            _ => {}
        }
        json
    };
    let messages = fields.iter().map(|message| {
        let fields: Vec<_> = message.fields.iter().map(field).collect();
        json!({ "id": message.id, "message": message.message, "frames": message.rows, "fields": fields })
    });
    messages.collect::<Vec<_>>().into()
}
