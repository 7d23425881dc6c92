//! Pieces with the times of their arrival.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Pieces that arrived since the last batch, and what happened to the link. A batch is reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
    events: Vec<Event>,
    /// Bytes of pieces that arrived after those of this batch and did not fit into the queue.
    dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    time: i64,
    end: usize,
    connection: u32,
}

/// A piece as one read returned it: a datagram, a message, or some bytes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk<'a> {
    /// When it arrived, by this machine's clock: nanoseconds since 1970-01-01T00:00:00Z.
    pub time: i64,
    /// Over which connection, from 0.
    pub connection: u32,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// What happened to a link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The other side is there; where known, who it is.
    Connected(Option<String>),
    /// The other side left, or the link broke.
    Disconnected(Option<String>),
    /// The link could not be opened; the next attempt follows after a pause.
    Retrying(String, Duration),
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Connected(None) => f.write_str("connected"),
            Self::Connected(Some(peer)) => write!(f, "connected to {peer}"),
            Self::Disconnected(None) => f.write_str("the other side closed the connection"),
            Self::Disconnected(Some(why)) => write!(f, "the link broke: {why}"),
            Self::Retrying(why, pause) => write!(f, "cannot open the link: {why}; next attempt in {pause:.1?}"),
        }
    }
}

impl Batch {
    /// The pieces, in the order of their arrival.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = Chunk<'_>> + DoubleEndedIterator {
        self.marks.iter().enumerate().map(|(index, mark)| {
            let begin = index.checked_sub(1).and_then(|before| self.marks.get(before)).map_or(0, |before| before.end);
            let bytes = self.bytes.get(begin..mark.end).unwrap_or_default();
            Chunk { time: mark.time, connection: mark.connection, bytes }
        })
    }

    /// The bytes of all pieces.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What happened to the link meanwhile.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Bytes of pieces that arrived after these and did not fit into the queue.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.marks.clear();
        self.events.clear();
        self.dropped = 0;
        // A burst does not hold memory for ever.
        self.bytes.shrink_to(KEPT);
    }

    /// What it holds in memory, roughly: pieces without bytes count, too.
    pub(crate) fn weight(&self) -> usize {
        self.bytes.len() + self.marks.len() * size_of::<Mark>()
    }

    /// Room to read into: what is appended becomes a piece by [`mark`](Self::mark).
    pub(crate) fn room(&mut self, len: usize) -> &mut Vec<u8> {
        self.bytes.reserve(len);
        &mut self.bytes
    }

    /// Makes a piece of what was appended since the last one.
    pub(crate) fn mark(&mut self, connection: u32) {
        self.marks.push(Mark { time: now(), end: self.bytes.len(), connection });
    }

    pub(crate) fn push(&mut self, connection: u32, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.mark(connection);
    }

    pub(crate) fn tell(&mut self, event: Event) {
        // Somebody who never reads does not fill the memory.
        if self.events.len() < EVENTS {
            self.events.push(event);
        }
    }

    pub(crate) fn drop_bytes(&mut self, bytes: u64) {
        self.dropped = self.dropped.saturating_add(bytes);
    }

    /// Moves all pieces of another batch to the end of this one.
    pub(crate) fn append(&mut self, other: &mut Self) {
        if self.marks.is_empty() && self.bytes.is_empty() {
            std::mem::swap(&mut self.bytes, &mut other.bytes);
            std::mem::swap(&mut self.marks, &mut other.marks);
        } else {
            let shift = self.bytes.len();
            self.bytes.extend_from_slice(&other.bytes);
            self.marks.extend(other.marks.iter().map(|mark| Mark { end: mark.end + shift, ..*mark }));
        }
        other.bytes.clear();
        other.marks.clear();
    }

    pub(crate) fn lens(&self) -> (usize, usize) {
        (self.bytes.len(), self.marks.len())
    }
}

fn now() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

/// Bytes of memory that an empty batch keeps.
const KEPT: usize = 4 << 20;

/// Events that a batch holds at most.
const EVENTS: usize = 64;
