//! What must hold for any bytes, any damage and any split (SF-14).

use fw_structframe::{
    Counters, Event, Frames, Framing, Header, HeaderKind, MessageInfo, PayloadKind, Profile, Stream, write,
};
use proptest::prelude::*;

/// Small messages, one with extensions, one with a large id, one that is long.
const MESSAGES: [MessageInfo; 5] = [
    MessageInfo { id: 1, max_size: 3, base_size: 3, min_size: 3, magic: [2, 9] },
    MessageInfo { id: 7, max_size: 8, base_size: 3, min_size: 3, magic: [7, 11] },
    MessageInfo { id: 9, max_size: 40, base_size: 40, min_size: 2, magic: [0x5a, 0xa5] },
    MessageInfo { id: 0x90, max_size: 0, base_size: 0, min_size: 0, magic: [0x90, 0x71] },
    MessageInfo { id: 0x171, max_size: 300, base_size: 300, min_size: 1, magic: [1, 255] },
];

/// An event that can outlive its reader.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Frame { id: u16, header: Header, payload: Vec<u8>, at: u64, recovered: bool },
    Other(String),
}

fn see(event: Event<'_>) -> Seen {
    match event {
        Event::Frame(frame) => Seen::Frame {
            id: frame.id,
            header: frame.header,
            payload: frame.payload.to_vec(),
            at: frame.span.start,
            recovered: frame.recovered,
        },
        other => Seen::Other(format!("{other:?}")),
    }
}

fn whole(framing: Framing, bytes: &[u8]) -> (Vec<Seen>, Counters) {
    let mut frames = Frames::new(framing, MESSAGES, bytes);
    let seen = frames.by_ref().map(see).collect();
    (seen, frames.counters())
}

fn chunked(
    framing: Framing,
    bytes: &[u8],
    capacity: usize,
    lens: impl IntoIterator<Item = usize>,
) -> (Vec<Seen>, Counters) {
    let mut stream = Stream::new(framing, MESSAGES, vec![0; capacity]);
    let (mut seen, mut rest) = (Vec::new(), bytes);
    for len in lens {
        let (chunk, behind) = rest.split_at(len.min(rest.len()));
        stream.read(chunk, |event| seen.push(see(event)));
        rest = behind;
    }
    stream.read(rest, |event| seen.push(see(event)));
    stream.finish(|event| seen.push(see(event)));
    (seen, stream.counters())
}

fn framing() -> impl Strategy<Value = Framing> {
    let profile = (0..5_usize).prop_map(|at| Profile::ALL[at].framing());
    let any = (0..3_usize, 0..9_usize).prop_map(|(h, p)| Framing::new(HeaderKind::ALL[h], PayloadKind::ALL[p]));
    prop_oneof![profile, any]
}

/// Bytes in which start bytes, small lengths and known ids are frequent.
fn tempting(max: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => prop::sample::select(vec![0x90_u8, 0x70, 0x71, 0x74, 0x78]),
        3 => 0..12_u8,
        2 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..max)
}

/// A message with a payload that the framing can carry, and its header.
fn message(framing: Framing) -> impl Strategy<Value = (MessageInfo, Header, Vec<u8>)> {
    let count = if framing.has_package() { MESSAGES.len() } else { MESSAGES.len() - 1 };
    (0..count, any::<[u8; 3]>(), tempting(300), any::<prop::sample::Index>()).prop_map(
        move |(at, header, mut payload, cut)| {
            let info = MESSAGES[at];
            let (max, min) = (usize::from(info.max_size), usize::from(info.min_size));
            let len = if framing.has_length() { min + cut.index(max - min + 1) } else { max };
            payload.resize(len.min(framing.max_payload_len()), 0x71);
            let [sequence, system, component] = header;
            (info, Header { sequence, system, component }, payload)
        },
    )
}

fn frame_bytes(framing: Framing, (info, header, payload): &(MessageInfo, Header, Vec<u8>)) -> Vec<u8> {
    let mut out = vec![0; 600];
    write(framing, *header, info, payload, &mut out).unwrap().to_vec()
}

fn stream_of(framing: Framing) -> impl Strategy<Value = (Framing, Vec<Vec<u8>>)> {
    prop::collection::vec(message(framing).prop_map(move |message| frame_bytes(framing, &message)), 1..8)
        .prop_map(move |frames| (framing, frames))
}

/// Frames, damaged frames and noise, in any order.
fn storm() -> impl Strategy<Value = (Framing, Vec<u8>)> {
    framing().prop_flat_map(|framing| {
        let good = message(framing).prop_map(move |message| frame_bytes(framing, &message)).boxed();
        let damaged = (good.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(mut frame, at, byte)| {
            let at = at.index(frame.len());
            frame[at] = byte;
            frame
        });
        let cut = (good.clone(), any::<prop::sample::Index>()).prop_map(|(mut frame, at)| {
            frame.truncate(at.index(frame.len()));
            frame
        });
        let part = prop_oneof![3 => good, 2 => damaged, 1 => cut, 1 => tempting(20)];
        prop::collection::vec(part, 0..12).prop_map(move |parts| (framing, parts.concat()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_split_gives_the_same_events((framing, bytes) in storm(), lens in prop::collection::vec(0..70_usize, 0..40)) {
        let expected = whole(framing, &bytes);
        let room = 70_000;
        prop_assert_eq!(&chunked(framing, &bytes, room, lens), &expected);
        prop_assert_eq!(&chunked(framing, &bytes, room, vec![1; bytes.len()]), &expected);
    }

    #[test]
    fn any_split_gives_the_same_events_in_a_small_buffer(
        (framing, bytes) in storm(),
        capacity in 0..90_usize,
        lens in prop::collection::vec(0..70_usize, 0..40),
    ) {
        let expected = chunked(framing, &bytes, capacity, []);
        prop_assert_eq!(&chunked(framing, &bytes, capacity, lens), &expected);
        prop_assert_eq!(&chunked(framing, &bytes, capacity, vec![1; bytes.len()]), &expected);
    }

    #[test]
    fn arbitrary_bytes_are_accounted_for(framing in framing(), bytes in tempting(600)) {
        let mut next = 0;
        for event in Frames::new(framing, MESSAGES, &bytes) {
            let span = match event {
                Event::Frame(frame) if frame.recovered => {
                    // Inside what was reported, or reaching beyond it.
                    prop_assert!(frame.span.start < next);
                    next = next.max(frame.span.end);
                    continue;
                }
                Event::Frame(frame) => frame.span,
                Event::BadChecksum(bad) => bad.span,
                Event::Skipped(span) | Event::Truncated(span) => span,
            };
            prop_assert_eq!(span.start, next);
            next = span.end;
        }
        prop_assert_eq!(next, bytes.len() as u64);
    }

    #[test]
    fn frames_come_back((framing, frames) in framing().prop_flat_map(stream_of)) {
        let bytes = frames.concat();
        let (seen, counters) = whole(framing, &bytes);
        prop_assert_eq!(seen.len(), frames.len());
        prop_assert_eq!(counters.frames as usize, frames.len());
        prop_assert_eq!(counters.crc_failures + counters.sync_recoveries + counters.noise_bytes, 0);
    }

    /// One damaged byte costs one frame at most, whatever it hits.
    #[test]
    fn one_damaged_byte_costs_one_frame(
        (framing, frames) in prop_oneof![Just(Profile::Standard), Just(Profile::Bulk), Just(Profile::Network)]
            .prop_flat_map(|profile| stream_of(profile.framing())),
        hit in any::<prop::sample::Index>(),
        flip in 1..=255_u8,
    ) {
        let clean = frames.concat();
        let (before, _) = whole(framing, &clean);
        let mut bytes = clean;
        let hit = hit.index(bytes.len());
        bytes[hit] ^= flip;
        let (after, _) = whole(framing, &bytes);
        let good = |seen: &[Seen]| -> Vec<Seen> {
            seen.iter().filter_map(|seen| match seen.clone() {
                Seen::Frame { id, header, payload, at, .. } =>
                    Some(Seen::Frame { id, header, payload, at, recovered: false }),
                Seen::Other(_) => None,
            }).collect()
        };
        let (before, after) = (good(&before), good(&after));
        let mut start = 0;
        for (frame, seen) in frames.iter().zip(&before) {
            let span = start..start + frame.len();
            start = span.end;
            if span.contains(&hit) {
                prop_assert!(!after.contains(seen), "the damaged frame was delivered unchanged");
            } else if !after.contains(seen) {
                // Only a checksum that truly collides may stand in the way: a frame that nobody wrote.
                let in_the_way = after.iter().any(|other| match other {
                    Seen::Frame { at, payload, .. } => {
                        let end = *at as usize + framing.overhead() + payload.len();
                        !before.contains(other) && (*at as usize) < span.end && span.start < end
                    }
                    Seen::Other(_) => false,
                });
                prop_assert!(in_the_way, "frame at {} was lost to a damage at {hit}: {after:?}", span.start);
            }
        }
    }
}

/// Every one-byte damage behind the start bytes of every profile with a checksum: a single change always alters the first sum.
#[test]
fn every_damaged_byte_is_noticed() {
    for profile in [Profile::Standard, Profile::Bulk, Profile::Network] {
        let framing = profile.framing();
        for info in MESSAGES.iter().filter(|info| info.id < 256 || framing.has_package()) {
            let payload: Vec<u8> = (0..info.max_size).map(|at| (at * 37) as u8).collect();
            let header = Header { sequence: 3, system: 4, component: 5 };
            let frame = frame_bytes(framing, &(*info, header, payload));
            for at in 0..frame.len() {
                for flip in 1..=255 {
                    let mut damaged = frame.clone();
                    damaged[at] ^= flip;
                    let mut events = Frames::new(framing, MESSAGES, &damaged);
                    let whole = events.find(|event| match event {
                        Event::Frame(seen) => seen.span.len() == frame.len() as u64,
                        _ => false,
                    });
                    // Where a damaged id chooses other seeds, sums can collide; then the frame is good by its own bytes.
                    if let Some(Event::Frame(seen)) = whole {
                        assert_ne!(seen.id, info.id, "{profile:?}: byte {at} ^ {flip:#x} went unnoticed");
                    }
                }
            }
        }
    }
}
