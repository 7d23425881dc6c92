//! `fw info` of a struct-frame capture: what was sent, what was damaged or lost, how often things came.

use super::summary::Summary;
use super::{print, print_report, schema};
use crate::args::Info;
use crate::exit::{Outcome, Usage, aside};
use crate::frames::{clock, filter, undetected};
use crate::input::Input;
use crate::render::Progress;
use anyhow::Result;
use framewright::convert::{
    CaptureInput, CaptureOptions, Clock, ConvertError, FieldStats, FrameFilter, FrameKeys, RowReader, Signal,
};
use framewright::dynamic::{Codec, FrameCodec, shown_name};
use framewright::recording::{Recording, is_recording, utc};
use framewright::schema::Schema;
use framewright::structframe::{Event, Framing};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

pub(crate) fn info(args: &Info, input: &Input) -> Result<Outcome> {
    let recording = if is_recording(input.path()) { Some(Recording::open(input.path())?) } else { None };
    let compiled = match (&args.schema, &recording) {
        (Some(path), _) => schema::compiled(path, &args.packing)?,
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
    let progress = Arc::new(Progress::of(name));
    let mut capture = CaptureInput::open(input.path())?.with_watch(progress.watch(name));
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
    let summary = read(&schema, framing, capture, asked)?;
    if let Some(clock) = &clock
        && summary.is_timeless()
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

/// Reads all of a capture. Rates are those of a field, or of the host's times in a recording.
fn read(schema: &Schema, framing: Framing, input: CaptureInput<'_>, asked: Asked<'_>) -> Result<Summary> {
    let codec = Codec::new(schema);
    let frames = FrameCodec::new(&codec, framing);
    let mut reading = Reading::new(&frames, asked);
    let counters = input.run(&frames, &mut |signal| {
        match signal {
            Signal::Arrived { len, time } => reading.arrived(len, time),
            Signal::Event(event) => return reading.event(event),
            Signal::Damage(what) => reading.summary.damage.push(what.to_string()),
        }
        Ok(())
    })?;
    reading.summary.counters = counters;
    Ok(reading.finish())
}

/// Rows have no conditions: what is left out is counted here.
static EVERY_FRAME: CaptureOptions = CaptureOptions::new();

/// What is wanted beside the counts.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) filter: Option<&'a FrameFilter>,
    pub(super) clock: Option<&'a Clock>,
    /// Whether fields have statistics.
    pub(super) fields: bool,
}

/// A capture that is being read, from a file or as it arrives.
pub(super) struct Reading<'a, 'c, 's> {
    pub(super) summary: Summary,
    asked: Asked<'a>,
    schema: &'s Schema,
    rows: RowReader<'c, 's>,
    stats: Option<FieldStats>,
    /// When the frames at hand arrived, in nanoseconds since 1970.
    time: Option<u64>,
}

impl<'a, 'c, 's> Reading<'a, 'c, 's> {
    pub(super) fn new(frames: &'c FrameCodec<'c, 's>, asked: Asked<'a>) -> Self {
        let mut summary = Summary::new(frames.framing());
        summary.left_out = asked.filter.map(|_| 0);
        Self {
            summary,
            asked,
            schema: frames.schema(),
            rows: RowReader::new(frames, &EVERY_FRAME),
            stats: asked.fields.then(FieldStats::new),
            time: None,
        }
    }

    /// Notes bytes from which the next events come.
    pub(super) fn arrived(&mut self, len: usize, time: Option<u64>) {
        self.summary.len += len as u64;
        self.time = time;
        self.rows.arrived(time);
    }

    /// Notes an event; a frame is counted unless a condition leaves it out.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Result<(), ConvertError> {
        let Event::Frame(frame) = event else {
            self.summary.other(event);
            return Ok(());
        };
        let Asked { filter, clock, .. } = self.asked;
        let (mut readable, mut wanted, mut seconds) = (false, filter.is_none(), None);
        let (schema, stats) = (self.schema, &mut self.stats);
        let known = schema.by_id(frame.id).is_some();
        if known {
            self.rows.event(event, &mut |row| {
                readable = true;
                wanted = filter.is_none_or(|filter| filter.matches(row));
                if wanted {
                    seconds = clock.and_then(|clock| clock.seconds(&row.values));
                    stats.iter_mut().for_each(|stats| stats.add(schema, row));
                }
                Ok(())
            })?;
        }
        if let Some(filter) = filter.filter(|_| !readable) {
            let message = schema.by_id(frame.id).map(|message| (shown_name(schema, message), message.index));
            let message = message.as_ref().map(|(name, index)| (name.as_str(), *index));
            let framing = self.summary.framing();
            wanted = filter.matches_keys(&FrameKeys::of_frame(frame, framing, message, self.time));
        }
        if !wanted {
            self.summary.leave_out();
            return Ok(());
        }
        // Rates are those of the field that was asked for, or of arrival.
        let arrival = || self.time.filter(|_| clock.is_none()).map(|time| time as f64 * 1e-9);
        self.summary.count(frame, known, readable, seconds.or_else(arrival));
        Ok(())
    }

    /// Brings the statistics of fields up to now.
    pub(super) fn settle(&mut self) {
        self.summary.fields = self.stats.clone().map(FieldStats::finish);
    }

    pub(super) fn finish(mut self) -> Summary {
        self.summary.fields = self.stats.take().map(FieldStats::finish);
        self.summary
    }
}

/// Enough to tell what a file is.
const HEAD_LEN: u64 = 64 << 10;
