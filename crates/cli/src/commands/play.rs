//! `fw play`: a recording, sent again at the pace it arrived at.

use super::{print_done, print_report};
use crate::args::Play;
use crate::exit::{Outcome, aside};
use crate::render::{count, size};
use anyhow::Result;
use framewright::link::{Address, Output, OutputOptions, Retry};
use framewright::recording::Capture;
use serde_json::json;
use std::time::{Duration, Instant};

pub(crate) fn run(args: &Play) -> Result<Outcome> {
    let mut capture = Capture::open(&args.recording)?;
    if capture.recording().is_none() {
        let name = args.recording.display();
        aside(format_args!("fw: {name}: not a recording, so it has no times; sent without pauses\n"));
    }
    let address: Address = crate::input::address(&args.address).parse()?;
    let mut out = Output::open(&address, &OutputOptions::default().with_retry(Retry::Forever))?;
    if let Some(local) = out.local() {
        aside(format_args!("fw: {address}: waiting for a peer at {local}\n"));
    }
    let begun = Instant::now();
    let mut clock = Clock { speed: args.speed.0, begun: None, stream: 0 };
    let mut rounds = 0_u64;
    loop {
        while let Some(chunk) = capture.next_chunk()? {
            if let Some(time) = chunk.time {
                clock.wait(time, chunk.stream);
            }
            out.send(chunk.bytes)?;
        }
        rounds += 1;
        if !args.repeat || out.statistics().bytes == 0 {
            break;
        }
        capture = Capture::open(&args.recording)?;
        clock.begun = None;
    }
    let damage: Vec<String> = capture.damage().iter().map(ToString::to_string).collect();
    let sent = out.finish()?;
    let seconds = begun.elapsed().as_secs_f64();
    if args.json {
        let report = json!({
            "file": args.recording.display().to_string(), "address": address.text(), "bytes": sent.bytes,
            "chunks": sent.chunks, "connections": sent.connections, "seconds": seconds, "rounds": rounds,
            "damage": damage,
        });
        print_report("play", damage.is_empty(), report)?;
    } else {
        let pieces = count(sent.chunks as usize, "piece");
        print_done(&format!("sent {} to {address}: {pieces}, {seconds:.1} s\n", size(sent.bytes)))?;
        damage.iter().for_each(|damage| aside(format_args!("fw: {damage}\n")));
    }
    Ok(if damage.is_empty() { Outcome::Fine } else { Outcome::Lossy })
}

/// When pieces are due.
struct Clock {
    /// How many times as fast; infinite without pauses.
    speed: f64,
    /// The time of a piece in the recording, and when it was sent.
    begun: Option<(i64, Instant)>,
    stream: u64,
}

impl Clock {
    /// Waits until a piece is due.
    fn wait(&mut self, time: i64, stream: u64) {
        let now = Instant::now();
        let (first, sent) = *self.begun.get_or_insert((time, now));
        let passed = time.saturating_sub(first).max(0) as f64 * 1e-9 / self.speed;
        let due = sent + Duration::try_from_secs_f64(passed).unwrap_or(Duration::ZERO);
        let pause = due.saturating_duration_since(now);
        // Between connections and sessions nothing happens: nobody waits for hours there.
        let pause = if stream == self.stream { pause } else { pause.min(BETWEEN) };
        // A clock that was set, or another stream, begins a new count.
        if stream != self.stream || time < first {
            (self.begun, self.stream) = (Some((time, now + pause)), stream);
        }
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
    }
}

/// The longest pause between connections and sessions.
const BETWEEN: Duration = Duration::from_secs(1);
