//! `fw bridge`: live struct-frame data for other programs.

use super::{print, schema};
use crate::args::Bridge as Args;
use crate::exit::{Outcome, aside};
use crate::frames::{Feed, chosen, clock, complaint, filter};
use crate::render::count;
use anyhow::Result;
use framewright::convert::{CaptureOptions, ConvertError, RowReader};
use framewright::dynamic::{Codec, FrameCodec, message_infos};
use framewright::recording::now;
use framewright::structframe::Event;
#[cfg(feature = "telemetry")]
use framewright::telemetry::Bridge;
use serde_json::json;
use std::time::Duration;
#[cfg(not(feature = "telemetry"))]
use without::Bridge;

/// Serves frames as they come, until the input ends.
#[cfg_attr(
    not(feature = "telemetry"),
    allow(
        clippy::useless_conversion,
        clippy::needless_question_mark,
        reason = "the bridge of the feature has an error of its own"
    )
)]
pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut feed = Feed::open(&args.file, "bridge", true)?;
    let schema = match feed.schema(args.schema.as_deref(), &args.packing)? {
        Ok(schema) => schema,
        Err(faults) => return schema::refused("bridge", args.json, &faults),
    };
    let options = CaptureOptions::new()
        .with_messages(chosen(&schema, &args.message)?)
        .with_filter(filter(&schema, &args.select)?)
        .with_clock(clock(args.time.as_deref())?);
    let mut bridge = Bridge::start(&schema, &args.host, args.port).map_err(ConvertError::from)?;
    let url = bridge.url();
    print(&match args.json {
        true => format!("{}\n", json!({ "command": "bridge", "ok": true, "url": url })),
        false => format!("serving {} at {url}\n", feed.name()),
    })?;
    while args.wait && bridge.client_count() == 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let Some(framing) = feed.framing(args.profile.profile, &message_infos(&schema))? else {
        bridge.stop();
        return Ok(Outcome::Fine);
    };
    let codec = Codec::new(&schema);
    let frames = FrameCodec::new(&codec, framing);
    let mut rows = RowReader::new(&frames, &options);
    let mut stream = frames.stream();
    let (name, mut damage, mut failed) = (feed.name().to_owned(), 0usize, Ok(()));
    let mut event = |rows: &mut RowReader<'_, '_>, failed: &mut Result<(), ConvertError>, event: &Event<'_>| {
        if let Some(words) = complaint(&schema, event) {
            damage += 1;
            aside(format_args!("fw: {name}: {words}\n"));
        }
        // Events cannot stop their reader.
        if failed.is_ok() {
            *failed = rows.event(event, &mut |row| Ok(bridge.send(row)?));
        }
    };
    let mut current = 0;
    feed.run(|piece| {
        if piece.stream != current {
            stream.finish(|found| event(&mut rows, &mut failed, &found));
            current = piece.stream;
        }
        rows.arrived(piece.time.and_then(|time| u64::try_from(time).ok()).or_else(|| u64::try_from(now()).ok()));
        stream.read(piece.bytes, |found| event(&mut rows, &mut failed, &found));
        Ok(std::mem::replace(&mut failed, Ok(()))?)
    })?;
    stream.finish(|found| event(&mut rows, &mut failed, &found));
    failed?;
    let totals = rows.finish();
    bridge.stop();
    if args.json {
        let done = json!({ "command": "bridge", "ok": true, "url": url, "profile": framing.to_string(),
            "frames": totals.frames, "sent": totals.selected });
        print(&format!("{done}\n"))?;
    } else {
        print(&format!("sent {} ({framing})\n", count(totals.selected as usize, "message")))?;
    }
    Ok(if damage == 0 { Outcome::Fine } else { Outcome::Lossy })
}

/// A bridge that cannot be started, so that there is one command in every build.
#[cfg(not(feature = "telemetry"))]
mod without {
    use anyhow::Result;
    use framewright::convert::{ConvertError, FrameRow};
    use framewright::schema::Schema;
    use std::convert::Infallible;
    use std::marker::PhantomData;

    pub(super) struct Bridge<'s>(Infallible, PhantomData<&'s Schema>);

    impl<'s> Bridge<'s> {
        pub(super) fn start(_: &'s Schema, _: &str, _: u16) -> Result<Self, ConvertError> {
            Err(super::super::convert_capture::no_telemetry("fw bridge"))
        }

        pub(super) fn url(&self) -> String {
            match self.0 {}
        }

        pub(super) fn client_count(&self) -> usize {
            match self.0 {}
        }

        pub(super) fn send(&mut self, _: &FrameRow<'_, '_>) -> Result<(), ConvertError> {
            match self.0 {}
        }

        pub(super) fn stop(self) {
            match self.0 {}
        }
    }
}
