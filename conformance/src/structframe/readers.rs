//! One input through every reader: whole buffer, chunks, byte by byte.

use fw_structframe::{Counters, Event, Frames, Framing, Header, HeaderKind, MessageInfo, PayloadKind, Profile, Stream};

use crate::row::Row;

/// An event that outlives its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A good frame.
    Frame {
        /// Effective id.
        id: u16,
        /// SEQ, SYS and COMP.
        header: Header,
        /// Its payload.
        payload: Vec<u8>,
        /// Where it begins.
        start: u64,
        /// Bytes of the frame.
        size: u64,
        /// Whether it was found in damaged bytes.
        recovered: bool,
    },
    /// A wrong checksum, with the bytes of the frame.
    BadChecksum(u64),
    /// Bytes between frames.
    Skipped(u64),
    /// An incomplete frame at the end.
    Truncated(u64),
}

/// What reading came to, the same for all readers.
pub struct Outcome {
    /// Everything, the end of the input included.
    pub events: Vec<Seen>,
    /// How many of them came before the end of the input was told.
    pub before_end: usize,
    /// Bytes of an incomplete frame, before the end of the input was told.
    pub partial: u64,
    /// Noise that no event had told of by then.
    pub noise: u64,
    /// The counters by then.
    pub counters: Counters,
}

/// The framing that a manifest names.
pub fn framing(profile: &str, header: Option<&str>, payload: Option<&str>) -> Option<Framing> {
    if let Ok(profile) = profile.parse::<Profile>() {
        return Some(profile.framing());
    }
    let header = HeaderKind::ALL.into_iter().find(|kind| Some(kind.name()) == header)?;
    let payload = PayloadKind::ALL.into_iter().find(|kind| Some(kind.name()) == payload)?;
    Some(Framing::new(header, payload))
}

/// Reads the input in every way; readers that disagree are a deviation. Chunk lengths are repeated as often as needed.
pub fn read(
    framing: Framing,
    infos: &[MessageInfo],
    bytes: &[u8],
    chunks: &[usize],
    capacity: usize,
    row: &mut Row,
) -> Outcome {
    let whole = read_whole(framing, infos, bytes);
    for (name, lens) in [("chunks", chunks), ("bytes", &[1][..])] {
        let found = read_chunks(framing, infos, bytes, lens, capacity);
        let same = found.events == whole.events
            && (found.before_end, found.partial, found.noise) == (whole.before_end, whole.partial, whole.noise)
            && found.counters == whole.counters;
        if !same {
            row.deviates(format!("{name}: {:?}, the whole buffer gives {:?}", found.events, whole.events));
        }
    }
    whole
}

/// Reads the input in chunks.
pub fn read_chunks(framing: Framing, infos: &[MessageInfo], bytes: &[u8], lens: &[usize], capacity: usize) -> Outcome {
    let mut stream = Stream::new(framing, infos, vec![0; capacity]);
    let (mut events, mut rest) = (Vec::new(), bytes);
    for len in lens.iter().filter(|len| **len > 0).cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, behind) = rest.split_at((*len).min(rest.len()));
        stream.read(chunk, |event| events.push(see(&event)));
        rest = behind;
    }
    let (before_end, partial, noise) = (events.len(), stream.partial_len(), stream.pending_noise());
    let counters = stream.counters();
    stream.finish(|event| events.push(see(&event)));
    Outcome { events, before_end, partial, noise, counters }
}

fn read_whole(framing: Framing, infos: &[MessageInfo], bytes: &[u8]) -> Outcome {
    let mut frames = Frames::new(framing, infos, bytes);
    let mut events = Vec::new();
    while let Some(event) = frames.next_event() {
        events.push(see(&event));
    }
    let (before_end, partial, noise) = (events.len(), frames.partial_len(), frames.pending_noise());
    let counters = frames.counters();
    events.extend(frames.map(|event| see(&event)));
    Outcome { events, before_end, partial, noise, counters }
}

fn see(event: &Event<'_>) -> Seen {
    match event {
        Event::Frame(frame) => Seen::Frame {
            id: frame.id,
            header: frame.header,
            payload: frame.payload.to_vec(),
            start: frame.span.start,
            size: frame.span.len(),
            recovered: frame.recovered,
        },
        Event::BadChecksum(bad) => Seen::BadChecksum(bad.span.len()),
        Event::Skipped(span) => Seen::Skipped(span.len()),
        Event::Truncated(span) => Seen::Truncated(span.len()),
    }
}
