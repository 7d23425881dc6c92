//! What is measured of ours. A test of the project runs all of it once on little data, without the peers.

use fw_bytes::checksum::Fletcher16;
use fw_dynamic::columns::Capture;
use fw_dynamic::{Codec, FrameCodec};
use fw_structframe::{Event, Frames, Header, Message, MessageInfo, Profile, Stream, read_message, write_message};

/// What our generator makes of `bench.sf`; a test of the generator holds it to that.
#[path = "generated.rs"]
#[rustfmt::skip]
#[allow(unreachable_pub, reason = "generated code is for any crate")]
mod generated;

pub(crate) use generated::{Large, Small};

pub(crate) const INFOS: [MessageInfo; 2] = [Small::INFO, Large::INFO];

pub(crate) fn small_messages(count: usize) -> Vec<Small> {
    let message = |at: u32| Small {
        stamp: at.wrapping_mul(2_654_435_761),
        x: at as f32 * 0.5,
        y: -1.25,
        z: (at as f32).sin(),
        status: at as u16,
        mode: (at % 5) as u8,
        ok: at.is_multiple_of(3),
    };
    (0..count as u32).map(message).collect()
}

pub(crate) fn large_messages(count: usize) -> Vec<Large> {
    let byte = |at: u32, place: usize| ((at.wrapping_add(place as u32)).wrapping_mul(2_654_435_761) >> 19) as u8;
    let message =
        |at: u32| Large { stamp: at, frame: at * 3, flags: 7, body: std::array::from_fn(|place| byte(at, place)) };
    (0..count as u32).map(message).collect()
}

/// Inlined, as is [`parse`]: in a caller's code the profile is a constant, and so it is in the peers'.
#[inline(always)]
fn encode<M: Message>(profile: Profile, messages: &[M], out: &mut [u8]) -> usize {
    let mut at = 0;
    for message in messages {
        let frame = write_message(profile.framing(), Header::default(), message, &mut out[at..]);
        at += frame.map_or(0, <[u8]>::len);
    }
    at
}

pub(crate) fn encode_small(messages: &[Small], out: &mut [u8]) -> usize {
    encode(Profile::Standard, messages, out)
}

pub(crate) fn encode_large(messages: &[Large], out: &mut [u8]) -> usize {
    encode(Profile::Bulk, messages, out)
}

#[inline(always)]
fn parse<M: Message>(profile: Profile, bytes: &[u8], look: impl Fn(&M) -> u64) -> u64 {
    let framing = profile.framing();
    let mut sum = 0;
    for event in Frames::new(framing, INFOS, bytes) {
        if let Event::Frame(frame) = event
            && let Ok(message) = read_message::<M>(framing, &frame)
        {
            sum += look(&message);
        }
    }
    sum
}

pub(crate) fn parse_small(bytes: &[u8]) -> u64 {
    parse::<Small>(Profile::Standard, bytes, |message| u64::from(message.stamp) + u64::from(message.status))
}

/// Frames and checksums alone: payloads are borrowed, two of their bytes are looked at.
pub(crate) fn frames_large(bytes: &[u8]) -> u64 {
    let mut sum = 0;
    for event in Frames::new(Profile::Bulk.framing(), INFOS, bytes) {
        if let Event::Frame(frame) = event {
            sum += ends(frame.payload);
        }
    }
    sum
}

/// What is looked at of a payload that is not decoded.
pub(crate) fn ends(payload: &[u8]) -> u64 {
    payload.first().zip(payload.last()).map_or(0, |(first, last)| u64::from(*first) + u64::from(*last))
}

pub(crate) fn parse_large(bytes: &[u8]) -> u64 {
    // Kept from being looked through: of a copy nobody sees, only two numbers would be made.
    parse::<Large>(Profile::Bulk, bytes, |message| {
        let message = std::hint::black_box(message);
        u64::from(message.stamp) + u64::from(message.body[2047])
    })
}

pub(crate) fn bytewise_small(bytes: &[u8]) -> u64 {
    let framing = Profile::Standard.framing();
    let mut stream = Stream::new(framing, INFOS, [0; 1024]);
    let mut sum = 0;
    for byte in bytes {
        stream.read(std::slice::from_ref(byte), |event| {
            if let Event::Frame(frame) = event
                && let Ok(message) = read_message::<Small>(framing, &frame)
            {
                sum += u64::from(message.stamp) + u64::from(message.status);
            }
        });
    }
    sum
}

pub(crate) fn columns<'s>(codec: &Codec<'s>, profile: Profile, bytes: &[u8]) -> Capture<'s> {
    let (capture, _) = FrameCodec::new(codec, profile.framing()).columns(bytes).expect("few columns");
    capture
}

/// The bytes of one column of the only message that was captured.
pub(crate) fn column<'c>(capture: &'c Capture<'_>, path: &str) -> &'c [u8] {
    let [table] = capture.tables.as_slice() else { panic!("one kind of message") };
    &table.columns.iter().find(|column| column.path == path).expect("a field of the message").data
}

pub(crate) fn fletcher(bytes: &[u8]) -> [u8; 2] {
    let mut sums = Fletcher16::new();
    sums.update(bytes);
    sums.value()
}
