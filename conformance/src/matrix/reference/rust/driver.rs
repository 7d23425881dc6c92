//! The part of a program that does not depend on the group; `main.rs` holds the cases.

use std::fmt::Debug;
use std::io::Write as _;

use struct_frame_sdk as sdk;

use sdk::frame_base::{FrameMsgInfo, StructFrameMessage};
use sdk::frame_headers::HeaderConfig;
use sdk::frame_profiles::{
    AccumulatingReader, BufferReader, ProfileConfig, encode_message, encode_with_crc_ext,
};
use sdk::payload_types::{PayloadConfig, PayloadType};

/// One message in one framing.
pub struct Case {
    pub id: u16,
    pub config: ProfileConfig,
    /// SEQ, SYS and COMP.
    pub ids: [u8; 3],
    pub build: Box<dyn Literal>,
}

/// What makes a message.
pub trait Literal {
    fn encode(&self, case: &Case) -> Option<Vec<u8>>;
    fn compare(&self, frame: &FrameMsgInfo) -> Result<(), String>;
}

const ROOM: usize = 140_000;

impl<M: StructFrameMessage + Debug, F: Fn() -> M> Literal for F {
    fn encode(&self, case: &Case) -> Option<Vec<u8>> {
        let (message, config) = (self(), &case.config);
        let mut out = vec![0; ROOM];
        let payload = &config.payload;
        let len = if payload.has_seq || payload.has_sys_id {
            // The call for messages cannot set them; the one for payloads can.
            let mut content = vec![0; ROOM];
            let len = message.pack(&mut content);
            if !payload.has_pkg_id && M::MSG_ID > 255 {
                return None; // as the other call does
            }
            let [seq, sys, comp] = case.ids;
            let [pkg, id] = M::MSG_ID.to_be_bytes();
            let content = &content[..len];
            encode_with_crc_ext(
                config, &mut out, seq, sys, comp, pkg, id, content, M::MAGIC1, M::MAGIC2, M::BASE_SIZE,
            )
        } else {
            encode_message(config, &mut out, &message, 0)
        };
        out.truncate(len);
        (len > 0).then_some(out)
    }

    fn compare(&self, frame: &FrameMsgInfo) -> Result<(), String> {
        let found = M::unpack(&frame.msg_data).ok_or("not decoded")?;
        // Every field is in it, and a NaN equals a NaN.
        let [found, expected] = [format!("{found:?}"), format!("{:?}", self())];
        if found == expected { Ok(()) } else { Err(format!("read {found}")) }
    }
}

/// Of a message that the package's code does not have.
pub struct Absent;

impl Literal for Absent {
    fn encode(&self, _: &Case) -> Option<Vec<u8>> {
        None
    }

    fn compare(&self, _: &FrameMsgInfo) -> Result<(), String> {
        Err("no such message".to_owned())
    }
}

/// A configuration; the package has constants for four of the nine payload kinds, the others are put together.
pub fn config(header: HeaderConfig, kind: u8) -> ProfileConfig {
    use PayloadType::*;
    let payload_type = [
        Minimal,
        Default,
        ExtendedMsgIds,
        ExtendedLength,
        Extended,
        SysComp,
        Seq,
        MultiSystemStream,
        ExtendedMultiSystemStream,
    ][usize::from(kind)];
    let payload = PayloadConfig {
        payload_type,
        has_length: kind > 0,
        length_bytes: [0, 1, 1, 2, 2, 1, 1, 1, 2][usize::from(kind)],
        has_crc: kind > 0,
        has_pkg_id: matches!(kind, 2 | 4 | 8),
        has_seq: kind >= 6,
        has_sys_id: matches!(kind, 5 | 7 | 8),
        has_comp_id: matches!(kind, 5 | 7 | 8),
    };
    ProfileConfig::new(header, payload)
}

pub fn real(bits: u64) -> f64 {
    f64::from_bits(bits)
}

pub fn main(cases: &[Case]) {
    let words: Vec<String> = std::env::args().collect();
    match words[1].as_str() {
        "load" => {}
        "encode" => encode(cases, &words[2]),
        "decode" => decode(cases, &std::fs::read(&words[2]).unwrap()),
        verb => panic!("no verb {verb}"),
    }
}

fn encode(cases: &[Case], path: &str) {
    let mut out = Vec::new();
    for case in cases {
        let frame = case.build.encode(case);
        let len = frame.as_ref().map_or(u32::MAX, |frame| frame.len() as u32);
        out.extend(len.to_le_bytes());
        out.extend(frame.unwrap_or_default());
    }
    std::fs::File::create(path).unwrap().write_all(&out).unwrap();
}

fn decode(cases: &[Case], mut records: &[u8]) {
    std::panic::set_hook(Box::new(|_| ())); // told in the case's line
    for case in cases {
        let (len, rest) = records.split_first_chunk().unwrap();
        records = rest;
        let len = u32::from_le_bytes(*len);
        if len == u32::MAX {
            println!("ok");
            continue;
        }
        let (frame, rest) = records.split_at(len as usize);
        records = rest;
        let verdict = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(case, frame)));
        match verdict.unwrap_or_else(|_| Err("a panic".to_owned())) {
            Ok(()) => println!("ok"),
            Err(why) => println!("bad {}", why.replace('\n', " ")),
        }
    }
}

fn check(case: &Case, bytes: &[u8]) -> Result<(), String> {
    let lookup = &sdk::get_message_info;
    let mut whole = BufferReader::new(case.config, bytes.to_vec());
    one(case, "whole", std::iter::from_fn(|| whole.try_next(lookup)).take(3).collect())?;
    let mut reader = AccumulatingReader::new(case.config, ROOM);
    let frames = bytes.iter().filter_map(|byte| reader.push_byte(*byte, lookup).filter(|frame| frame.valid));
    one(case, "byte by byte", frames.collect())?;
    let mut reader = AccumulatingReader::new(case.config, ROOM);
    let mut frames = Vec::new();
    for chunk in bytes.chunks(7) {
        reader.add_data(chunk);
        frames.extend(std::iter::from_fn(|| reader.try_next(lookup)).take(3));
    }
    one(case, "in chunks", frames)
}

fn one(case: &Case, how: &str, frames: Vec<FrameMsgInfo>) -> Result<(), String> {
    let [frame] = frames.as_slice() else { return Err(format!("{how}: {} frames", frames.len())) };
    let payload = &case.config.payload;
    let [seq, sys, comp] = case.ids;
    let has = |there: bool, value: u8| if there { value } else { 0 };
    let expected = [has(payload.has_seq, seq), has(payload.has_sys_id, sys), has(payload.has_comp_id, comp)];
    let found = [frame.sequence, frame.system_id, frame.component_id];
    if !frame.valid {
        Err(format!("{how}: {:?}", frame.status))
    } else if frame.msg_id != case.id {
        Err(format!("{how}: id {}", frame.msg_id))
    } else if found != expected {
        Err(format!("{how}: header {found:?}, expected {expected:?}"))
    } else {
        case.build.compare(frame).map_err(|why| format!("{how}: {why}"))
    }
}
