//! What is measured of ours. A test of the project runs all of it once on little data, without the peers.

use fw_bytes::checksum::Fletcher16;
use fw_dynamic::columns::Capture;
use fw_dynamic::{Codec, FrameCodec};
use fw_structframe::{
    Event, Frames, Header, Layout, Message, MessageError, MessageInfo, Profile, Stream, read_message, write_message,
};

/// As our generator prints it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Small {
    pub(crate) stamp: u32,
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
    pub(crate) status: u16,
    pub(crate) mode: u8,
    pub(crate) ok: bool,
}

impl Message for Small {
    const INFO: MessageInfo = MessageInfo { id: 1, max_size: 20, base_size: 20, min_size: 20, magic: [68, 1] };

    #[inline]
    fn encode(&self, _: Layout, out: &mut [u8]) -> Result<usize, MessageError> {
        let have = out.len();
        let out = out.first_chunk_mut::<20>().ok_or(MessageError::BufferTooShort { need: 20, have })?;
        out[0..4].copy_from_slice(&self.stamp.to_le_bytes());
        out[4..8].copy_from_slice(&self.x.to_le_bytes());
        out[8..12].copy_from_slice(&self.y.to_le_bytes());
        out[12..16].copy_from_slice(&self.z.to_le_bytes());
        out[16..18].copy_from_slice(&self.status.to_le_bytes());
        out[18] = self.mode;
        out[19] = self.ok.into();
        Ok(20)
    }

    #[inline]
    fn decode(_: Layout, payload: &[u8]) -> Result<Self, MessageError> {
        let mut image = [0; 20];
        let bytes = match payload.first_chunk::<20>() {
            Some(bytes) => bytes,
            None => {
                image[..payload.len()].copy_from_slice(payload);
                &image
            }
        };
        let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        Ok(Self {
            stamp: u32::from_le_bytes(four(0)),
            x: f32::from_le_bytes(four(4)),
            y: f32::from_le_bytes(four(8)),
            z: f32::from_le_bytes(four(12)),
            status: u16::from_le_bytes([bytes[16], bytes[17]]),
            mode: bytes[18],
            ok: bytes[19] != 0,
        })
    }
}

/// As our generator prints it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Large {
    pub(crate) stamp: u32,
    pub(crate) frame: u32,
    pub(crate) flags: u32,
    pub(crate) body: [u8; 2048],
}

impl Message for Large {
    const INFO: MessageInfo = MessageInfo { id: 2, max_size: 2060, base_size: 2060, min_size: 2060, magic: [26, 66] };

    #[inline]
    fn encode(&self, _: Layout, out: &mut [u8]) -> Result<usize, MessageError> {
        let have = out.len();
        let out = out.first_chunk_mut::<2060>().ok_or(MessageError::BufferTooShort { need: 2060, have })?;
        out[0..4].copy_from_slice(&self.stamp.to_le_bytes());
        out[4..8].copy_from_slice(&self.frame.to_le_bytes());
        out[8..12].copy_from_slice(&self.flags.to_le_bytes());
        out[12..].copy_from_slice(&self.body);
        Ok(2060)
    }

    #[inline]
    fn decode(_: Layout, payload: &[u8]) -> Result<Self, MessageError> {
        let mut image = [0; 2060];
        let bytes = match payload.first_chunk::<2060>() {
            Some(bytes) => bytes,
            None => {
                image[..payload.len()].copy_from_slice(payload);
                &image
            }
        };
        let four = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let mut body = [0; 2048];
        body.copy_from_slice(&bytes[12..]);
        Ok(Self { stamp: four(0), frame: four(4), flags: four(8), body })
    }
}

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

pub(crate) fn encode<M: Message>(profile: Profile, messages: &[M], out: &mut [u8]) -> usize {
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
    parse::<Large>(Profile::Bulk, bytes, |message| u64::from(message.stamp) + u64::from(message.body[2047]))
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

pub(crate) fn fletcher(bytes: &[u8]) -> [u8; 2] {
    let mut sums = Fletcher16::new();
    sums.update(bytes);
    sums.value()
}
