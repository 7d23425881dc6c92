//! Chunks of bytes, with times where there are some.

use crate::ConvertError;
use fw_dynamic::{FrameCodec, detect, message_infos};
use fw_recording::Capture;
use fw_schema::Schema;
use fw_source::Watch;
use fw_structframe::{Counters, Event, Framing};
use std::collections::VecDeque;
use std::path::Path;

/// Where the bytes of a capture come from, in order.
pub trait Chunks {
    /// Replaces the content of `chunk` by the next bytes; an empty chunk is the end.
    ///
    /// # Errors
    /// When reading fails.
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> Result<Arrival, ConvertError>;

    /// The framing, where the source names it.
    fn framing(&self) -> Option<Framing> {
        None
    }

    /// What could not be read so far.
    fn damage(&self) -> Vec<String> {
        Vec::new()
    }
}

/// When and on which connection bytes arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Nanoseconds since 1970, where that is known.
    pub time: Option<u64>,
    /// Number of the unbroken stream: a frame does not continue in another one.
    pub stream: u64,
}

/// What reading a capture brings up.
#[derive(Debug)]
pub enum Signal<'e, 'b> {
    /// The next events come from these bytes.
    Arrived {
        /// When they arrived, in nanoseconds since 1970, where that is known.
        time: Option<u64>,
        /// How many there are.
        len: usize,
    },
    /// A frame, or something that is none.
    Event(&'e Event<'b>),
    /// A part of a recording that cannot be read.
    Damage(String),
}

/// A capture to read once, from front to back.
pub struct CaptureInput<'c> {
    name: String,
    chunks: Box<dyn Chunks + 'c>,
    /// What was read to find the framing, and not handed on yet.
    held: VecDeque<(Vec<u8>, Arrival)>,
    watch: Watch,
    /// Bytes on disk, or 0 where nobody knows.
    total: u64,
}

impl std::fmt::Debug for CaptureInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaptureInput").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'c> CaptureInput<'c> {
    /// Opens a recording, which is a file or a directory, or a plain file of bytes.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ConvertError> {
        let path = path.as_ref();
        let input = Self::from_chunks(path.display().to_string(), Capture::open(path)?);
        let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
        Ok(Self { total: file.map_or(0, |file| file.len()), ..input })
    }

    /// Reads bytes that are in memory.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self::from_chunks(name, InMemory(Some(bytes)))
    }

    /// Reads from anything that gives chunks; `name` is what messages call it.
    pub fn from_chunks(name: impl Into<String>, chunks: impl Chunks + 'c) -> Self {
        Self { name: name.into(), chunks: Box::new(chunks), held: VecDeque::new(), watch: Watch::default(), total: 0 }
    }

    /// Tells how many of its bytes were read.
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The framing that was asked for, that a recording names, or that the first bytes have.
    ///
    /// # Errors
    /// When reading fails, or no framing fits (`no_profile`).
    pub fn framing(&mut self, wanted: Option<Framing>, schema: &Schema) -> Result<Framing, ConvertError> {
        if let Some(framing) = wanted.or_else(|| self.chunks.framing()) {
            return Ok(framing);
        }
        let mut sample: Vec<u8> = self.held.iter().flat_map(|(chunk, _)| chunk).copied().collect();
        while sample.len() < SAMPLE_LEN {
            let mut chunk = Vec::new();
            let arrival = self.chunks.next_chunk(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            sample.extend_from_slice(&chunk);
            self.held.push_back((chunk, arrival));
        }
        let found = detect(&message_infos(schema), &sample).map(|found| found.framing);
        found.ok_or_else(|| {
            let first = if sample.len() >= SAMPLE_LEN { "the first " } else { "" };
            let message = format!(
                "{}: no profile matches: {first}{} bytes contain no frame of a message in the schema",
                self.name,
                sample.len()
            );
            ConvertError::unsupported("no_profile", message)
        })
    }

    /// True when the chunks have times, as far as the first one tells.
    ///
    /// # Errors
    /// When reading fails.
    pub fn has_times(&mut self) -> Result<bool, ConvertError> {
        if self.held.is_empty() {
            let mut chunk = Vec::new();
            let arrival = self.chunks.next_chunk(&mut chunk)?;
            self.held.push_back((chunk, arrival));
        }
        Ok(self.held.front().is_some_and(|(_, arrival)| arrival.time.is_some()))
    }

    /// Reads to the end and hands everything to `take`, whose first failure ends the reading. Memory holds a chunk and a frame.
    ///
    /// # Errors
    /// When reading fails, and those of `take`.
    pub fn run(
        mut self,
        frames: &FrameCodec<'_, '_>,
        take: &mut dyn FnMut(Signal<'_, '_>) -> Result<(), ConvertError>,
    ) -> Result<Counters, ConvertError> {
        let mut stream = frames.stream();
        let (mut chunk, mut current, mut done) = (Vec::new(), None, 0u64);
        // Events cannot stop their reader: what comes after a failure is not handed on.
        let mut fault = None;
        let mut event = |event: Event<'_>, take: &mut dyn FnMut(Signal<'_, '_>) -> Result<(), ConvertError>| {
            if fault.is_none() {
                fault = take(Signal::Event(&event)).err();
            }
            fault.is_some()
        };
        let mut failed = false;
        loop {
            let arrival = self.next_chunk(&mut chunk)?;
            if chunk.is_empty() || failed {
                break;
            }
            if current.replace(arrival.stream).is_some_and(|before| before != arrival.stream) {
                stream.finish(|found| failed |= event(found, take));
            }
            done = done.saturating_add(chunk.len() as u64);
            // A recording has more bytes than the stream in it.
            self.watch.tell(if self.total > 0 { done.min(self.total) } else { done }, self.total);
            take(Signal::Arrived { time: arrival.time, len: chunk.len() })?;
            stream.read(&chunk, |found| failed |= event(found, take));
        }
        stream.finish(|found| failed |= event(found, take));
        fault.map_or(Ok(()), Err)?;
        self.chunks.damage().into_iter().try_for_each(|what| take(Signal::Damage(what)))?;
        Ok(stream.counters())
    }

    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> Result<Arrival, ConvertError> {
        match self.held.pop_front() {
            Some((held, arrival)) => {
                *chunk = held;
                Ok(arrival)
            }
            None => self.chunks.next_chunk(chunk),
        }
    }
}

impl Chunks for Capture {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> Result<Arrival, ConvertError> {
        chunk.clear();
        let Some(found) = Self::next_chunk(self)? else { return Ok(Arrival::default()) };
        chunk.extend_from_slice(found.bytes);
        Ok(Arrival { time: found.time.and_then(|time| u64::try_from(time).ok()), stream: found.stream })
    }

    fn framing(&self) -> Option<Framing> {
        self.recording()?.framing()?.parse().ok()
    }

    fn damage(&self) -> Vec<String> {
        Self::damage(self).iter().map(ToString::to_string).collect()
    }
}

struct InMemory(Option<Vec<u8>>);

impl Chunks for InMemory {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> Result<Arrival, ConvertError> {
        *chunk = self.0.take().unwrap_or_default();
        Ok(Arrival::default())
    }
}

/// Enough to tell the framing.
const SAMPLE_LEN: usize = 64 << 10;
