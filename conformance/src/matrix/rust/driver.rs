//! The command line of a program of the matrix; see `Program` for what the verbs do. `main.rs` holds the cases.

use crate::messages::{AnyMessage, MESSAGES};
use fw_structframe::{
    Event, FitError, Frame, Frames, Framing, Header, HeaderKind, Message, MessageInfo, PayloadKind, Stream, read_message,
    write_message,
};
use std::io::Write as _;

/// One message in one framing.
pub struct Case {
    pub framing: Framing,
    pub header: Header,
    pub message: &'static dyn Literal,
}

/// A message as a literal.
pub trait Literal: Sync {
    fn encode(&self, case: &Case) -> Option<Vec<u8>>;
    fn compare(&self, case: &Case, frame: &Frame<'_>) -> Result<(), String>;
}

pub struct Typed<M>(pub fn() -> Result<M, FitError>);

const ROOM: usize = 70_000;

impl<M: Message + PartialEq + std::fmt::Debug> Literal for Typed<M> {
    fn encode(&self, case: &Case) -> Option<Vec<u8>> {
        let mut out = vec![0xee; ROOM];
        let frame = write_message(case.framing, case.header, &(self.0)().ok()?, &mut out);
        frame.ok().map(<[u8]>::to_vec)
    }

    fn compare(&self, case: &Case, frame: &Frame<'_>) -> Result<(), String> {
        let mine = (self.0)().map_err(|error| error.to_string())?;
        let read: M = read_message(case.framing, frame).map_err(|error| error.to_string())?;
        // A message with a NaN in it equals nothing: then the bytes decide.
        #[allow(clippy::eq_op)]
        let same = if mine == mine { read == mine } else { image(&read) == image(&mine) };
        if same { Ok(()) } else { Err(format!("read {read:?}")) }
    }
}

fn image<M: Message>(message: &M) -> Vec<u8> {
    let mut out = vec![0; M::MAX_SIZE];
    let len = message.encode(fw_structframe::Layout::Fixed, &mut out).unwrap_or_default();
    out.truncate(len);
    out
}

pub fn main(cases: &[Case], framings: &[Framing]) {
    let arguments: Vec<String> = std::env::args().collect();
    let path = &arguments[2];
    match arguments[1].as_str() {
        "encode" => encode(cases, path),
        "decode" => decode(cases, &std::fs::read(path).unwrap()),
        "hostile" => hostile(framings, &std::fs::read(path).unwrap()),
        verb => panic!("no verb {verb}"),
    }
}

fn encode(cases: &[Case], path: &str) {
    let mut out = std::fs::File::create(path).unwrap();
    for case in cases {
        match case.message.encode(case) {
            Some(frame) => {
                out.write_all(&(frame.len() as u32).to_le_bytes()).unwrap();
                out.write_all(&frame).unwrap();
            }
            None => out.write_all(&u32::MAX.to_le_bytes()).unwrap(),
        }
    }
}

fn decode(cases: &[Case], mut records: &[u8]) {
    for case in cases {
        let len = take_len(&mut records);
        if len == u32::MAX {
            println!("ok");
            continue;
        }
        let (frame, rest) = records.split_at(len as usize);
        records = rest;
        match read_every_way(case, frame) {
            Ok(()) => println!("ok"),
            Err(why) => println!("bad {}", why.replace('\n', " ")),
        }
    }
}

fn read_every_way(case: &Case, bytes: &[u8]) -> Result<(), String> {
    let mut verdict = Verdict { case, found: None };
    for event in Frames::new(case.framing, MESSAGES, bytes) {
        verdict.take(event);
    }
    verdict.end("buffer")?;
    for step in [1, 7] {
        let mut verdict = Verdict { case, found: None };
        let mut stream = Stream::new(case.framing, MESSAGES, vec![0; 2 * ROOM]);
        for chunk in bytes.chunks(step) {
            stream.read(chunk, |event| verdict.take(event));
        }
        stream.finish(|event| verdict.take(event));
        verdict.end(&format!("chunks of {step}"))?;
    }
    Ok(())
}

struct Verdict<'c> {
    case: &'c Case,
    found: Option<Result<(), String>>,
}

impl Verdict<'_> {
    fn take(&mut self, event: Event<'_>) {
        let case = self.case;
        self.found = Some(match event {
            Event::Frame(_) if self.found.is_some() => Err("a second frame".to_owned()),
            Event::Frame(frame) => {
                let has = |there: bool, value: u8| if there { value } else { 0 };
                let expected = Header {
                    sequence: has(case.framing.has_sequence(), case.header.sequence),
                    system: has(case.framing.has_system(), case.header.system),
                    component: has(case.framing.has_system(), case.header.component),
                };
                if frame.header == expected {
                    case.message.compare(case, &frame)
                } else {
                    Err(format!("header {:?}, expected {expected:?}", frame.header))
                }
            }
            other => Err(format!("{other:?}")),
        });
    }

    fn end(self, how: &str) -> Result<(), String> {
        let found = self.found.unwrap_or(Err("no frame".to_owned()));
        found.map_err(|why| format!("{how}: {why}"))
    }
}

fn hostile(framings: &[Framing], mut records: &[u8]) {
    let (mut good, mut bad) = (0u64, 0u64);
    let (mut accepted, mut sum) = (0u64, 0u32);
    let mut out = vec![0; ROOM];
    while let Some((framing, rest)) = records.split_first() {
        records = rest;
        let framing = framings[usize::from(*framing)];
        let len = take_len(&mut records) as usize;
        let (bytes, rest) = records.split_at(len);
        records = rest;
        let before = (good, bad);
        for event in Frames::new(framing, MESSAGES, bytes) {
            match event {
                Event::Frame(frame) => {
                    good += 1;
                    if let Ok(Some(message)) = AnyMessage::read(framing, &frame) {
                        accepted += 1;
                        for byte in message.write(framing, frame.header, &mut out).unwrap() {
                            sum = sum.wrapping_mul(31).wrapping_add(u32::from(*byte));
                        }
                    }
                }
                Event::BadChecksum(_) => bad += 1,
                _ => {}
            }
        }
        let (mut again, mut failed) = before;
        let mut tell = |event: Event<'_>| match event {
            Event::Frame(_) => again += 1,
            Event::BadChecksum(_) => failed += 1,
            _ => {}
        };
        let mut stream = Stream::new(framing, MESSAGES, vec![0; 2 * ROOM]);
        bytes.chunks(7).for_each(|chunk| stream.read(chunk, &mut tell));
        stream.finish(&mut tell);
        assert_eq!((again, failed), (good, bad), "chunks give what the buffer gives");
    }
    println!("done {good} {bad} {accepted} {sum}");
}

fn take_len(records: &mut &[u8]) -> u32 {
    let (len, rest) = records.split_first_chunk().expect("a length");
    *records = rest;
    u32::from_le_bytes(*len)
}

/// A framing by its numbers.
pub const fn framing(header: usize, payload: usize) -> Framing {
    Framing::new(HeaderKind::ALL[header], PayloadKind::ALL[payload])
}

/// The lookup is a plain table.
const _: &[MessageInfo] = &MESSAGES;
