//! Where frames come from: a file, a recording, a live pipe or a link, and which framing they have.

use crate::args::{FrameSelect, Packing};
use crate::commands::schema;
use crate::exit::{Failure, Usage, aside};
use crate::input;
use anyhow::{Context, Result, bail};
use framewright::convert::{Clock, Format, FrameFilter};
use framewright::dynamic::{detect, shown_name};
use framewright::recording::{Capture, Damage, Recording, is_recording, now};
use framewright::schema::{Diagnostics, Schema};
use framewright::structframe::{BadChecksum, Event, Framing, MessageInfo};
use std::fs::File;
use std::io::{Read, Stdin};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes as they come.
pub(crate) struct Feed {
    name: String,
    source: Source,
    /// What was read to find the framing, and not handed on yet.
    held: Vec<Held>,
    /// Whether pieces must keep their borders, because each has a time of its own.
    timed: bool,
    /// What pipes and devices are read into.
    chunk: Vec<u8>,
    /// When live input ends, although its source goes on.
    ending: Ending,
}

/// An end that the reader sets.
#[derive(Default)]
struct Ending {
    deadline: Option<Instant>,
    stop: Option<Arc<AtomicBool>>,
}

impl Ending {
    fn is_due(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// How long nothing needs to be looked at, and no longer than that.
    #[cfg(feature = "link")]
    fn patience(&self, timeout: Option<Duration>) -> Option<Duration> {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let pulse = self.stop.as_ref().map(|_| crate::links::PULSE);
        [timeout, left, pulse].into_iter().flatten().min()
    }
}

enum Source {
    Pipe(Stdin),
    /// A FIFO, a socket or a device that is no serial port: what is read may be all there is for a while.
    Device(File),
    /// A file or a recording.
    Capture(Capture),
    #[cfg(feature = "link")]
    Link(crate::links::LinkFeed),
}

/// Some bytes, and when they arrived where that is known.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) time: Option<i64>,
    /// Which unbroken stream of bytes they belong to: a frame does not continue in another.
    pub(crate) stream: u64,
}

struct Held {
    bytes: Vec<u8>,
    time: Option<i64>,
    stream: u64,
}

/// How one step of reading ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Data,
    /// Nothing came in time.
    #[cfg_attr(not(feature = "link"), allow(dead_code, reason = "only links are waited for"))]
    Idle,
    End,
}

impl Feed {
    /// Opens a file, a recording or a link; `-` is standard input. With `timed`, pieces keep their borders and times.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(path: &Path, command: &str, timed: bool) -> Result<Self> {
        let feed = |name: String, source| Self {
            name,
            source,
            held: Vec::new(),
            timed,
            chunk: vec![0; CHUNK],
            ending: Ending::default(),
        };
        if path == Path::new("-") {
            return Ok(feed("standard input".to_owned(), Source::Pipe(std::io::stdin())));
        }
        let path = match input::word(path) {
            input::Word::Link(address) => {
                #[cfg(feature = "link")]
                return crate::links::LinkFeed::open(&address)
                    .map(|link| feed(address.into_owned(), Source::Link(link)));
                #[cfg(not(feature = "link"))]
                return Err(input::no_links(&address));
            }
            input::Word::Path(path) => path,
        };
        let name = path.display().to_string();
        if path.is_dir() && is_recording(path) {
            return Ok(feed(name, Source::Capture(Capture::open(path)?)));
        }
        let file = input::file(path, command)?;
        let regular = file.metadata().with_context(|| name.clone())?.is_file();
        let source = if regular { Source::Capture(Capture::open(path)?) } else { Source::Device(file) };
        Ok(feed(name, source))
    }

    /// Ends live input after this long. Pipes and devices are looked at when data arrives, links at once.
    pub(crate) fn ends_after(&mut self, limit: Option<Duration>) {
        self.ending.deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    }

    /// Ends live input when Ctrl-C is pressed, so that what is printed at the end is printed.
    ///
    /// # Errors
    /// When signals cannot be caught.
    pub(crate) fn ends_on_interrupt(&mut self) -> Result<()> {
        #[cfg(feature = "link")]
        if self.is_live() {
            self.ending.stop = Some(crate::links::interrupted()?);
        }
        Ok(())
    }

    /// What to call it in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The size of a file in bytes; `None` for streams and for several files.
    pub(crate) fn file_len(&self) -> Option<u64> {
        let Source::Capture(_) = &self.source else { return None };
        std::fs::metadata(&self.name).ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
    }

    /// True when somebody may be waiting at the other end.
    pub(crate) fn is_live(&self) -> bool {
        !matches!(self.source, Source::Capture(_))
    }

    /// The recording, where it is one.
    pub(crate) fn recording(&self) -> Option<&Recording> {
        match &self.source {
            Source::Capture(capture) => capture.recording(),
            _ => None,
        }
    }

    /// What could not be read of a recording, or is missing in it.
    pub(crate) fn damage(&self) -> &[Damage] {
        match &self.source {
            Source::Capture(capture) => capture.damage(),
            _ => &[],
        }
    }

    /// The schema that was asked for, or the one in the recording.
    ///
    /// # Errors
    /// When there is neither, or it cannot be read.
    pub(crate) fn schema(&self, wanted: Option<&Path>, packing: &Packing) -> Result<Result<Schema, Diagnostics>> {
        match (wanted, self.recording()) {
            (Some(path), _) => schema::compiled(path, packing),
            (None, Some(recording)) => schema::recorded(recording),
            (None, None) => Err(Usage(format!(
                "{}: requires --schema\nhint: only recordings hold their schema; add --schema robot.sf",
                self.name
            ))
            .into()),
        }
    }

    /// Hands pieces to `take` as they come, until the end or until it has enough.
    ///
    /// # Errors
    /// When reading fails, and those of `take`.
    pub(crate) fn run(&mut self, mut take: impl FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
        while self.step(None, &mut take)? != Step::End {}
        Ok(())
    }

    /// Hands on what is there, or waits for it: on a link up to `timeout`, elsewhere as long as it takes.
    ///
    /// # Errors
    /// When reading fails, and those of `take`.
    pub(crate) fn step(
        &mut self,
        timeout: Option<Duration>,
        take: &mut dyn FnMut(Piece<'_>) -> Result<()>,
    ) -> Result<Step> {
        if !self.held.is_empty() {
            for Held { bytes, time, stream } in std::mem::take(&mut self.held) {
                take(Piece { bytes: &bytes, time, stream })?;
            }
            return Ok(Step::Data);
        }
        self.read(timeout, take)
    }

    /// The framing that was asked for, the one that a recording names, or the one that the first bytes have. `None` for an empty
    /// input.
    ///
    /// # Errors
    /// When reading fails, or no framing fits.
    pub(crate) fn framing(&mut self, wanted: Option<Framing>, infos: &[MessageInfo]) -> Result<Option<Framing>> {
        let recorded = || self.recording()?.framing()?.parse().ok();
        if let Some(framing) = wanted.or_else(recorded) {
            return Ok(Some(framing));
        }
        let (mut sample, mut held) = (Vec::new(), std::mem::take(&mut self.held));
        loop {
            let step = self.read(None, &mut |piece: Piece<'_>| {
                sample.extend_from_slice(piece.bytes);
                held.push(Held { bytes: piece.bytes.to_vec(), time: piece.time, stream: piece.stream });
                Ok(())
            })?;
            if step == Step::Idle {
                continue;
            }
            let enough = if self.is_live() { PATIENCE } else { CHUNK };
            let done = step == Step::End || sample.len() >= enough;
            // Whoever watches a live stream does not wait for all of the sample, if what is there speaks clearly.
            let found = detect(infos, &sample).filter(|found| done || found.is_clear());
            match found {
                Some(found) => {
                    self.held = held;
                    return Ok(Some(found.framing));
                }
                None if !done => {}
                None if sample.is_empty() => {
                    if self.is_live() {
                        aside(format_args!("fw: {}: no data arrived\n", self.name));
                    }
                    return Ok(None);
                }
                None => return Err(undetected(&self.name, &sample, sample.len() as u64)),
            }
        }
    }

    fn read(&mut self, timeout: Option<Duration>, take: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<Step> {
        if self.ending.is_due() {
            return Ok(Step::End);
        }
        let chunk = &mut self.chunk;
        let read = match &mut self.source {
            Source::Pipe(pipe) => pipe.read(chunk),
            Source::Device(file) => match file.read(chunk) {
                // The other side of a pseudoterminal was closed.
                Err(error) if error.raw_os_error() == Some(EIO) => Ok(0),
                result => result,
            },
            Source::Capture(capture) => {
                let Some(chunk) = capture.next_chunk()? else { return Ok(Step::End) };
                take(Piece { bytes: chunk.bytes, time: chunk.time, stream: chunk.stream })?;
                return Ok(Step::Data);
            }
            #[cfg(feature = "link")]
            Source::Link(link) => {
                let step = link.step(self.ending.patience(timeout), self.timed, take)?;
                return Ok(if step == Step::Idle && self.ending.is_due() { Step::End } else { step });
            }
        };
        let _ = (timeout, self.timed);
        match read.with_context(|| self.name.clone())? {
            0 => Ok(Step::End),
            len => {
                let time = Some(now());
                take(Piece { bytes: chunk.get(..len).unwrap_or_default(), time, stream: 0 })?;
                Ok(Step::Data)
            }
        }
    }
}

/// No framing fits.
pub(crate) fn undetected(name: &str, bytes: &[u8], len: u64) -> anyhow::Error {
    let (code, text) = match (len, Format::of_bytes(bytes)) {
        (0, _) => ("empty_file", format!("{name}: the file is empty")),
        (_, Some(format)) => (
            "not_a_capture",
            format!("{name}: is a {format} file, not a struct-frame capture\nhint: run fw info without --schema"),
        ),
        _ => {
            let text = format!(
                "{name}: no profile matches: {len} bytes contain no frame of a message in the schema\nhint: choose a \
                 profile with --profile"
            );
            ("no_frame", text)
        }
    };
    Failure::new(code, text).into()
}

/// The messages that were asked for by name or id; nothing asked for is all of them.
///
/// # Errors
/// When the schema has no such message.
pub(crate) fn chosen(schema: &Schema, names: &[String]) -> Result<Vec<u16>> {
    let mut ids = Vec::new();
    for name in names {
        let found = schema.find(name).and_then(|message| message.id).or_else(|| name.parse().ok());
        let Some(id) = found else {
            let known: Vec<_> = schema.ids().map(|(_, message)| shown_name(schema, message)).collect();
            bail!(Usage(format!(
                "--message {name}: the schema has no such message with an id; it has {}",
                known.join(", ")
            )));
        };
        ids.push(id);
    }
    Ok(ids)
}

/// The conditions that were given on fields; `None` without any.
///
/// # Errors
/// When the schema has no such field.
pub(crate) fn filter(schema: &Schema, select: &FrameSelect) -> Result<Option<FrameFilter>> {
    if select.is_empty() {
        return Ok(None);
    }
    let filter = FrameFilter::new(schema, select.filter());
    Ok(Some(filter.map_err(|error| Usage(format!("--where {error}")))?))
}

/// The field that holds the time, when one was given.
///
/// # Errors
/// When its unit is unknown.
pub(crate) fn clock(text: Option<&str>) -> Result<Option<Clock>> {
    let clock = text.map(str::parse::<Clock>).transpose();
    Ok(clock.map_err(|error| Usage(format!("--time {error}")))?)
}

/// What an event says that is not a good frame; `None` for a good one.
pub(crate) fn complaint(schema: &Schema, event: &Event<'_>) -> Option<String> {
    let place = |at: u64| format!("at byte {at} (0x{at:x})");
    Some(match event {
        Event::Frame(_) => return None,
        Event::BadChecksum(BadChecksum { id, span, expected, found, .. }) => {
            let name = schema.by_id(*id).map_or("unknown".to_owned(), |message| shown_name(schema, message));
            let hex = |pair: &[u8; 2]| format!("{:02x} {:02x}", pair[0], pair[1]);
            format!(
                "bad checksum in a frame of {} bytes {}: id {id} ({name}), computed {}, found {}",
                span.len(),
                place(span.start),
                hex(expected),
                hex(found)
            )
        }
        Event::Skipped(span) => format!("{} bytes {} are not part of a frame", span.len(), place(span.start)),
        Event::Truncated(span) => format!("incomplete frame of {} bytes {}", span.len(), place(span.start)),
    })
}

/// Bytes read at a time, and looked at to find the framing of a file.
const CHUNK: usize = 64 << 10;

/// What Linux answers when nobody holds the other side of a pseudoterminal.
const EIO: i32 = 5;

/// Bytes of a live stream after which any framing that fits is taken.
const PATIENCE: usize = 4 << 10;
