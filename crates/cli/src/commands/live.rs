//! `fw info --live`: rates, gaps and damage while data arrives.

use super::capture::{Asked, Reading};
use super::summary::Summary;
use super::{fields, print, schema};
use crate::args::Info;
use crate::exit::Outcome;
use crate::frames::{Feed, Step, filter};
use crate::render::{count, size};
use anyhow::Result;
use framewright::dynamic::{Codec, FrameCodec, message_infos};
use framewright::schema::Schema;
use framewright::structframe::Event;
use serde_json::json;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) fn run(args: &Info, file: &Path) -> Result<Outcome> {
    let mut feed = Feed::open(file, "info", true)?;
    feed.ends_after(args.limit);
    let schema = match feed.schema(args.schema.as_deref(), &args.packing)? {
        Ok(schema) => schema,
        Err(faults) => return schema::refused("info", args.common.json, &faults),
    };
    let Some(framing) = feed.framing(args.profile.profile, &message_infos(&schema))? else {
        return Ok(Outcome::Fine);
    };
    let filter = filter(&schema, &args.select)?;
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, framing);
    let mut stream = frames.stream();
    let mut reading = Reading::new(&frames, Asked { filter: filter.as_ref(), clock: None, fields: args.fields });
    let mut view = View::new(args, feed.name(), &schema);
    let (mut current, mut failed) = (0, Ok(()));
    loop {
        let step = feed.step(Some(view.patience()), &mut |piece| {
            // Events cannot stop their reader.
            let mut take = |reading: &mut Reading<'_, '_, '_>, event: &Event<'_>| {
                if failed.is_ok() {
                    failed = reading.event(event);
                }
            };
            if piece.stream != current {
                stream.finish(|event| take(&mut reading, &event));
                current = piece.stream;
            }
            reading.arrived(piece.bytes.len(), piece.time.and_then(|time| u64::try_from(time).ok()));
            stream.read(piece.bytes, |event| take(&mut reading, &event));
            Ok(std::mem::replace(&mut failed, Ok(()))?)
        })?;
        let over = step == Step::End;
        if over {
            stream.finish(|event| drop(reading.event(&event)));
        }
        if over || view.is_due() {
            reading.summary.counters = stream.counters();
            reading.settle();
            view.show(&reading.summary, over)?;
        }
        if over {
            return Ok(Outcome::Fine);
        }
    }
}

/// What is shown, and when.
struct View<'a> {
    name: String,
    schema: &'a Schema,
    json: bool,
    /// Whether the screen is drawn anew; else there is a line each time.
    screen: bool,
    every: Duration,
    begun: Instant,
    shown: Instant,
    /// Frames and bytes when something was shown last.
    before: (u64, u64),
}

impl<'a> View<'a> {
    fn new(args: &Info, name: &str, schema: &'a Schema) -> Self {
        let screen = std::io::stdout().is_terminal() && !args.common.json;
        let now = Instant::now();
        let every = args.every.max(Duration::from_millis(10));
        Self {
            name: name.to_owned(),
            schema,
            json: args.common.json,
            screen,
            every,
            begun: now,
            shown: now,
            before: (0, 0),
        }
    }

    /// How long nothing needs to be shown.
    fn patience(&self) -> Duration {
        self.every.saturating_sub(self.shown.elapsed())
    }

    fn is_due(&self) -> bool {
        self.shown.elapsed() >= self.every
    }

    fn show(&mut self, summary: &Summary, over: bool) -> Result<()> {
        let passed = self.shown.elapsed().as_secs_f64().max(1e-9);
        let now = (u64::from(summary.counters.frames), summary.len);
        let rate =
            (now.0.saturating_sub(self.before.0) as f64 / passed, now.1.saturating_sub(self.before.1) as f64 / passed);
        (self.shown, self.before) = (Instant::now(), now);
        let seconds = self.begun.elapsed().as_secs_f64();
        if self.json {
            let mut report = summary.json(self.schema);
            report["file"] = self.name.as_str().into();
            report["live"] = json!({ "seconds": seconds, "frames_per_second": rate.0, "bytes_per_second": rate.1 });
            report["command"] = "info".into();
            report["ok"] = true.into();
            return print(&format!("{report}\n"));
        }
        // Sequence numbers of unselected frames are unknown, so gaps cannot be counted.
        let whole = match summary.left_out {
            Some(left_out) => format!("{} selected", now.0.saturating_sub(left_out)),
            None => {
                let (gaps, missing) = summary.gaps();
                format!("{} ({missing} missing)", count(gaps as usize, "gap"))
            }
        };
        let line = format!(
            "{seconds:8.1} s  {:.0} frames/s  {}/s  {} frames  {whole}  {}\n",
            rate.0,
            size(rate.1 as u64),
            now.0,
            count(summary.counters.crc_failures as usize, "bad checksum"),
        );
        if !self.screen {
            let fields = summary.fields.as_deref().filter(|_| over).map(fields::text);
            return print(&(line + &fields.unwrap_or_default()));
        }
        // Home, the text with every line cleared to its end, then everything below cleared.
        let text = format!("{line}\n{}", summary.text(self.schema, &self.name, "", None));
        let text = text.replace('\n', "\x1b[K\n");
        print(&format!("\x1b[H{text}\x1b[J"))
    }
}
