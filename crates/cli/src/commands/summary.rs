//! A struct-frame capture in numbers: what was sent, what was damaged or lost, how often things came.

use super::fields;
use crate::render::{Table, count, size};
use framewright::convert::MessageFields;
use framewright::dynamic::shown_name;
use framewright::recording::{Recording, utc};
use framewright::schema::Schema;
use framewright::structframe::{Counters, Event, Frame, Framing, Header};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// All of a capture in numbers.
pub(super) struct Summary {
    pub(super) len: u64,
    framing: Framing,
    pub(super) counters: Counters,
    skipped: u64,
    truncated: u64,
    messages: BTreeMap<u16, Kind>,
    sources: Sources,
    /// Frames that a condition left out.
    pub(super) left_out: Option<u64>,
    pub(super) fields: Option<Vec<MessageFields>>,
    /// What is damaged in a recording, or missing.
    pub(super) damage: Vec<String>,
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

/// Who sends frames with sequence numbers, by system and component.
#[derive(Default)]
pub(super) struct Sources(BTreeMap<(u8, u8), Source>);

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
            sources: Sources::default(),
            left_out: None,
            fields: None,
            damage: Vec::new(),
        }
    }

    pub(super) const fn framing(&self) -> Framing {
        self.framing
    }

    /// Notes what is not a frame.
    pub(super) fn other(&mut self, event: &Event<'_>) {
        match event {
            Event::Skipped(span) => self.skipped += span.len(),
            Event::Truncated(span) => self.truncated += span.len(),
            Event::BadChecksum(_) | Event::Frame(_) => {}
        }
    }

    /// Notes a frame that a condition left out.
    pub(super) fn leave_out(&mut self) {
        self.left_out = self.left_out.map(|count| count + 1);
    }

    /// True when no message had a time.
    pub(super) fn is_timeless(&self) -> bool {
        self.messages.values().all(|kind| kind.pace.is_none())
    }

    /// Notes a frame.
    pub(super) fn count(&mut self, frame: &Frame<'_>, known: bool, readable: bool, seconds: Option<f64>) {
        let kind = self.messages.entry(frame.id).or_default();
        kind.known = known;
        kind.frames += 1;
        kind.bytes += frame.span.len();
        kind.unreadable += u64::from(known && !readable);
        if let Some(seconds) = seconds {
            kind.pace = Some(Pace::next(kind.pace.take(), seconds));
        }
        if self.framing.has_sequence() {
            self.sources.note(frame.header);
        }
    }

    pub(super) fn gaps(&self) -> (u64, u64) {
        self.sources.gaps()
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
        // Sequence numbers of unselected frames are unknown, so gaps cannot be counted.
        if self.framing.has_sequence() && self.left_out.is_none() {
            let words = self.sources.gaps_in_words();
            lines.push(("sequence", words.unwrap_or_else(|| "no gap".to_owned())));
        }
        let mut text: String = lines.iter().map(|(name, value)| format!("{name:<10} {value}\n")).collect();
        if !self.messages.is_empty() {
            text.push('\n');
            text.push_str(&self.table(schema).render());
        }
        if self.sources.0.len() > 1 && self.left_out.is_none() {
            let mut table = Table::new(&[">system", ">component", ">frames", ">gaps", ">missing"]);
            for ((system, component), source) in &self.sources.0 {
                let numbers = [u64::from(*system), u64::from(*component), source.frames, source.gaps, source.missing];
                table.row(numbers.map(|number| number.to_string()));
            }
            text.push('\n');
            text.push_str(&table.render());
        }
        if let Some(fields) = &self.fields {
            text.push_str(&fields::text(fields));
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
        let sources = self.sources.0.iter().map(|((system, component), source)| {
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
            json["fields"] = fields::json(fields);
        }
        json
    }
}

impl Sources {
    /// Notes a frame.
    pub(super) fn note(&mut self, header: Header) {
        self.0.entry((header.system, header.component)).or_default().next(header.sequence);
    }

    /// Gaps, and how many frames are missing in them at least.
    fn gaps(&self) -> (u64, u64) {
        let sum = |field: fn(&Source) -> u64| self.0.values().map(field).sum();
        (sum(|source| source.gaps), sum(|source| source.missing))
    }

    /// The same in words; `None` when nothing is missing.
    pub(super) fn gaps_in_words(&self) -> Option<String> {
        let (gaps, missing) = self.gaps();
        (gaps > 0).then(|| format!("{}, at least {missing} frames missing", count(gaps as usize, "gap")))
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
