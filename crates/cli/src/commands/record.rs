//! `fw record`: what a link delivers, with the host's time of every piece.

use super::{print_done, print_report, schema};
use crate::args::Record;
use crate::exit::{Outcome, Usage, aside};
use crate::links::{LinkFeed, interrupted, take};
use crate::render::{count, parse_size, size};
use crate::terminal::Terminal;
use anyhow::Result;
use framewright::dynamic::{detect, message_infos};
use framewright::link::{Batch, InputOptions, Wait};
use framewright::recording::{Recorded, Recorder, RecorderOptions, now};
use framewright::schema::{Bundle, Schema};
use framewright::structframe::{Counters, Framing, MessageInfo, Stream, frame_len};
use framewright::tensogram::Durability;
use serde_json::json;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub(crate) fn run(args: &Record) -> Result<Outcome> {
    let schema = match args.schema.as_deref().map(|path| schema::compiled(path, &args.packing)).transpose()? {
        None => None,
        Some(Ok(schema)) => Some(schema),
        Some(Err(faults)) => return schema::refused("record", args.json, &faults),
    };
    if args.schema.is_none()
        && (args.profile.profile.is_some() || args.packing.no_packed || !args.packing.include.is_empty())
    {
        return Err(Usage("--profile, --no-packed and --include require --schema".to_owned()).into());
    }
    let stop = interrupted()?;
    let address = crate::input::address(&args.address);
    let mut feed =
        LinkFeed::open_with(&address, &InputOptions::default().with_capacity(bytes(&args.buffer, "--buffer")?))?;
    let mut recorder = begin(args, &address, schema.as_ref())?;
    let infos = schema.as_ref().map(message_infos);
    let mut frames = infos.as_deref().map(|infos| FrameCount::new(infos, args.profile.profile));
    let (begun, mut status) = (Instant::now(), Status::new());
    loop {
        let over = args.limit.is_some_and(|limit| begun.elapsed() >= limit);
        if over || stop.load(Ordering::Relaxed) {
            break;
        }
        let left = args.limit.map_or(PULSE, |limit| limit.saturating_sub(begun.elapsed()).min(PULSE));
        let (wait, batch) = feed.next(Some(left))?;
        take(&mut recorder, batch)?;
        if let Some(frames) = &mut frames {
            frames.take(batch);
        }
        match wait {
            Wait::End => break,
            Wait::Timeout => recorder.tick(now())?,
            _ => {}
        }
        status.show(&address, &recorder, frames.as_ref());
    }
    status.clear();
    // What arrived until now belongs to it; what comes later does not.
    let (_, batch) = feed.next(Some(Duration::ZERO))?;
    take(&mut recorder, batch)?;
    if let Some(frames) = &mut frames {
        frames.take(batch);
    }
    let waited = feed.input().statistics().waited;
    let done = recorder.finish()?;
    report(args, &address, &done, frames.as_ref(), begun.elapsed(), waited)?;
    Ok(if done.dropped == 0 { Outcome::Fine } else { Outcome::Lossy })
}

fn bytes(text: &str, option: &str) -> Result<usize> {
    let bytes = parse_size(text).filter(|bytes| *bytes > 0).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| Usage(format!("{option} {text}: must be a size such as 64MiB or 1GB")).into())
}

fn begin(args: &Record, address: &str, schema: Option<&Schema>) -> Result<Recorder> {
    let size = args.rotate_size.as_deref().map(|text| bytes(text, "--rotate-size")).transpose()?;
    let mut options = RecorderOptions::new(address)
        .with_rotation(size.map(|size| size as u64), args.rotate_after)
        .with_durability(if args.sync { Durability::Synced } else { Durability::Written });
    if let Some(schema) = schema {
        options = options.with_schema(Bundle::of(schema));
    }
    if let Some(framing) = args.profile.profile {
        options = options.with_framing(framing.to_string());
    }
    let one = args.output.extension().is_some_and(|end| end == "tgm") && !args.output.is_dir();
    if one && args.output.exists() {
        return Err(
            Usage(format!("{}: already exists; recordings are never overwritten", args.output.display())).into()
        );
    }
    if one && (args.rotate_size.is_some() || args.rotate_after.is_some()) {
        let text = format!("{}: a file cannot rotate; record into a directory", args.output.display());
        return Err(Usage(text).into());
    }
    Ok(if one { Recorder::create_file(&args.output, options) } else { Recorder::create(&args.output, options) }?)
}

/// Counts frames as they pass.
struct FrameCount<'i> {
    infos: &'i [MessageInfo],
    framing: Option<Framing>,
    /// Bytes that wait for a framing that fits.
    sample: Vec<u8>,
    stream: Option<Stream<&'i [MessageInfo], Vec<u8>>>,
    connection: u32,
}

impl<'i> FrameCount<'i> {
    fn new(infos: &'i [MessageInfo], framing: Option<Framing>) -> Self {
        let mut count = Self { infos, framing: None, sample: Vec::new(), stream: None, connection: 0 };
        count.settle(framing);
        count
    }

    fn settle(&mut self, framing: Option<Framing>) {
        self.framing = framing;
        self.stream = framing.map(|framing| {
            let room = 2 * frame_len(framing, framing.max_payload_len());
            Stream::new(framing, self.infos, vec![0; room])
        });
    }

    fn take(&mut self, batch: &Batch) {
        for chunk in batch.chunks() {
            match &mut self.stream {
                Some(stream) => {
                    if chunk.connection != self.connection {
                        stream.finish(|_| {});
                        self.connection = chunk.connection;
                    }
                    stream.read(chunk.bytes, |_| {});
                }
                None => self.look(chunk.bytes),
            }
        }
    }

    /// Looks for the framing in the first bytes. Without one, frames are not counted; the recording has them all the same.
    fn look(&mut self, bytes: &[u8]) {
        let had = self.sample.len();
        if had >= SAMPLE {
            return;
        }
        self.sample.extend_from_slice(bytes);
        // A few times while the sample grows, not with every piece.
        if had > 0 && self.sample.len() / LOOK == had / LOOK {
            return;
        }
        let enough = self.sample.len() >= SAMPLE;
        let found = detect(self.infos, &self.sample).filter(|found| enough || found.is_clear());
        self.settle(found.map(|found| found.framing));
        if let Some(stream) = &mut self.stream {
            stream.read(&std::mem::take(&mut self.sample), |_| {});
        }
    }

    fn counters(&self) -> Counters {
        self.stream.as_ref().map_or_else(Counters::default, Stream::counters)
    }
}

/// A line on the terminal that says how it goes.
struct Status {
    is_terminal: bool,
    begun: Instant,
    shown: Instant,
    bytes: u64,
}

impl Status {
    fn new() -> Self {
        let now = Instant::now();
        Self { is_terminal: Terminal::current().progress, begun: now, shown: now, bytes: 0 }
    }

    fn show(&mut self, address: &str, recorder: &Recorder, frames: Option<&FrameCount<'_>>) {
        let passed = self.shown.elapsed();
        if !self.is_terminal || passed < REFRESH {
            return;
        }
        let recorded = recorder.recorded();
        let rate = recorded.bytes.saturating_sub(self.bytes) as f64 / passed.as_secs_f64();
        let files = count(recorded.files.len(), "file");
        let mut line = format!(
            "recording {address}  {:.0} s  {} in {files}  {}/s",
            self.begun.elapsed().as_secs_f64(),
            size(recorded.bytes),
            size(rate as u64)
        );
        if let Some(frames) = frames {
            let Counters { frames, seq_gaps: gaps, .. } = frames.counters();
            line += &format!("  {frames} frames  {}", count(gaps as usize, "gap"));
        }
        if recorded.dropped > 0 {
            line += &format!("  {} dropped", size(recorded.dropped));
        }
        (self.shown, self.bytes) = (Instant::now(), recorded.bytes);
        let line = line.replace(char::is_control, "?");
        // A line that goes on in the next row could not be written over.
        let room = terminal_size::terminal_size_of(std::io::stderr()).map_or(usize::MAX, |(width, _)| width.0.into());
        let line: String = line.chars().take(room.saturating_sub(1)).collect();
        let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
    }

    fn clear(&self) {
        if self.is_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn report(
    args: &Record,
    address: &str,
    done: &Recorded,
    frames: Option<&FrameCount<'_>>,
    took: Duration,
    waited: Duration,
) -> Result<()> {
    let files: Vec<_> = done.files.iter().map(|file| file.display().to_string()).collect();
    if args.json {
        let frames = frames.map(|frames| {
            let Counters { frames: good, crc_failures, seq_gaps, .. } = frames.counters();
            let profile = frames.framing.map(|framing| framing.to_string());
            json!({ "profile": profile, "frames": good, "bad_checksums": crc_failures, "sequence_gaps": seq_gaps })
        });
        let report = json!({
            "address": address, "files": files, "bytes": done.bytes, "chunks": done.chunks, "blocks": done.blocks,
            "file_bytes": done.file_bytes, "dropped_bytes": done.dropped, "seconds": took.as_secs_f64(),
            "waited_seconds": waited.as_secs_f64(), "frames": frames,
        });
        return print_report("record", true, report);
    }
    if done.dropped > 0 {
        aside(format_args!("fw: dropped {} bytes, because they arrived too fast\n", done.dropped));
    }
    let last = files.last().map_or("", String::as_str);
    let more = if files.len() > 1 { format!(" and {} before it", files.len() - 1) } else { String::new() };
    let pieces = count(done.chunks as usize, "piece");
    print_done(&format!("wrote {last}{more}: {}, {pieces}, {:.1} s\n", size(done.bytes), took.as_secs_f64()))
}

/// How often a quiet link is looked at.
const PULSE: Duration = Duration::from_millis(50);
const REFRESH: Duration = Duration::from_millis(500);
/// Bytes in which a framing is looked for.
const SAMPLE: usize = 64 << 10;
/// Bytes after which it is looked for again.
const LOOK: usize = 1 << 10;
