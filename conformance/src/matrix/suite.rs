//! A group of vectors as cases that a program of any language can hold.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use fw_dynamic::testing::value as random_value;
use fw_dynamic::{Codec, FrameCodec, Layout, Value};
use fw_schema::Schema;
use fw_schema::layout::Message;
use fw_schema::testing::Entropy;
use fw_structframe::{Event, Framing, Header, HeaderKind, PayloadKind, Profile};
use serde_json::Value as Json;

use super::c::has_nan;
use super::program::Findings;

use crate::structframe::model;
use crate::structframe::readers::framing;

/// One schema and its cases.
pub struct Suite {
    /// Name of the group, fit for a folder.
    pub name: String,
    /// The schema file; what it imports lies beside it.
    pub schema_path: PathBuf,
    /// The schema, compiled.
    pub schema: Schema,
    /// Every frame of the group.
    pub cases: Vec<Case>,
    /// The framings that occur, without repetition; damaged frames are told by their place here.
    pub framings: Vec<Framing>,
    /// True when peers take part; their generators do not get through everything that ours must.
    pub peers: bool,
    hostile: Vec<(u8, Vec<u8>)>,
}

/// One message in one framing.
pub struct Case {
    /// Message, values and framing, by name.
    pub id: String,
    /// Name of the message, as [`Schema::find`] takes it.
    pub message: String,
    /// Bytes around the payload.
    pub framing: Framing,
    /// SEQ, SYS and COMP as given to the writer; a framing without them reads zeros.
    pub header: Header,
    /// The frame that must be written; `None` when the framing cannot carry this id and the writer must refuse.
    pub frame: Option<Vec<u8>>,
    /// The fixed layout of the value.
    image: Vec<u8>,
    values: Json,
}

impl Case {
    /// The member that the vectors name for a union of the message; in a union without a tag nothing else tells it.
    pub fn chosen(&self, union: &str) -> Option<String> {
        self.values[union]["which"].as_str().map(str::to_owned)
    }
}

impl Suite {
    /// The message type of a case.
    pub fn message(&self, case: &Case) -> &Message {
        self.schema.find(&case.message).expect("checked when the suite was loaded")
    }

    /// The value of a case: as a reader gets it back, so that a union without a tag is its region's bytes.
    ///
    /// # Panics
    /// Never: the image was encoded when the suite was loaded.
    pub fn value(&self, case: &Case) -> Value<'_> {
        let codec = Codec::new(&self.schema);
        codec.decode(self.message(case), Layout::Fixed, &case.image).expect("checked when the suite was loaded")
    }

    pub(super) fn hostile_records(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (framing, bytes) in &self.hostile {
            out.push(*framing);
            out.extend(u32::try_from(bytes.len()).expect("records are short").to_le_bytes());
            out.extend(bytes);
        }
        out
    }

    /// What our runtime and the dynamic codec find in the damaged records.
    pub(super) fn hostile_expected(&self) -> Findings {
        let codec = Codec::new(&self.schema);
        let frames: Vec<_> = self.framings.iter().map(|framing| FrameCodec::new(&codec, *framing)).collect();
        let mut found = Findings::default();
        for (framing, bytes) in &self.hostile {
            let frames = &frames[usize::from(*framing)];
            for event in frames.read(bytes) {
                match event {
                    Event::Frame(frame) => {
                        found.frames += 1;
                        let Some(message) = self.schema.by_id(frame.id) else { continue };
                        let Ok(value) = frames.decode(&frame) else { continue };
                        let mut again = Vec::new();
                        frames.write(message, frame.header, &value, &mut again).expect("what was read can be written");
                        found.accept(&again);
                    }
                    Event::BadChecksum(_) => found.bad += 1,
                    _ => {}
                }
            }
        }
        found
    }
}

/// Every group of frame vectors below a folder.
pub(super) fn load(vectors: &Path) -> Result<Vec<Suite>> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(vectors)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.sort();
    let manifests = folders.into_iter().map(|folder| folder.join("manifest.json")).filter(|path| path.is_file());
    let mut suites = Vec::new();
    for path in manifests {
        let json: Json = serde_json::from_slice(&std::fs::read(&path)?)?;
        if json["format"] == "struct-frame-vectors/1" {
            suites.push(suite(&path, json).with_context(|| path.display().to_string())?);
        }
    }
    Ok(suites)
}

fn suite(manifest: &Path, json: Json) -> Result<Suite> {
    let folder = manifest.parent().context("a manifest lies in a folder")?;
    let vectors: model::Vectors = serde_json::from_value(json)?;
    let schema_path = folder.join(&vectors.schema);
    let schema = fw_schema::check(&schema_path).into_result().map_err(|faults| anyhow!("{faults}"))?;
    let (mut cases, mut framings) = (Vec::new(), Vec::new());
    for entry in vectors.cases {
        let name = entry["id"].as_str().unwrap_or_default().to_owned();
        let case: model::Case = serde_json::from_value(entry)?;
        let message = schema.find(&case.message).with_context(|| format!("message {}", case.message))?;
        for frame in &case.frames {
            let framing = framing(&frame.profile, frame.header.as_deref(), frame.payload_type.as_deref())
                .with_context(|| format!("framing {}", frame.profile))?;
            let refused = !framing.has_package() && message.id.is_some_and(|id| id > 255);
            let case = Case {
                id: format!("{name}.{}", frame.profile),
                message: case.message.clone(),
                framing,
                header: Header { sequence: case.seq, system: case.sys_id, component: case.comp_id },
                frame: (!refused).then(|| std::fs::read(folder.join(&frame.file))).transpose()?,
                image: image(&schema, message, &case.values).with_context(|| name.clone())?,
                values: case.values.clone(),
            };
            if !framings.contains(&framing) {
                framings.push(framing);
            }
            cases.push(case);
        }
    }
    let hostile = hostile(&schema, &cases, &framings)?;
    Ok(Suite { name: vectors.group, schema_path, schema, cases, framings, peers: true, hostile })
}

/// The schema made to hurt, with random values; there are no vectors for it, so the dynamic codec says what is right.
pub(super) fn torture(schema_path: &Path) -> Result<Suite> {
    const ROUNDS: usize = 4;
    let schema = fw_schema::check(schema_path).into_result().map_err(|faults| anyhow!("{faults}"))?;
    // Ids of packages with an id fit only where there is a byte for it; the others must refuse.
    let framings = vec![
        Profile::Bulk.framing(),
        Profile::Network.framing(),
        Framing::new(HeaderKind::Tiny, PayloadKind::ExtendedMultiSystemStream),
        Profile::Standard.framing(),
        Profile::Ipc.framing(),
    ];
    let codec = Codec::new(&schema);
    let mut next = random();
    let mut cases = Vec::new();
    for (id, message) in schema.ids() {
        for round in 0..ROUNDS {
            let framing = framings[if round == 0 { next(framings.len()) } else { round - 1 }];
            let entropy: Vec<u8> = (0..4096).map(|_| next(256) as u8).collect();
            let value = match round {
                0 => codec.default_value(message),
                _ => random_value(&schema, message, &mut Entropy::new(&entropy)),
            };
            if has_nan(&value) {
                continue; // its bits may not survive a language's numbers
            }
            let header = Header { sequence: next(256) as u8, system: next(256) as u8, component: next(256) as u8 };
            let mut frame = Vec::new();
            let written = FrameCodec::new(&codec, framing).write(message, header, &value, &mut frame);
            ensure!(written.is_ok() == framing.has_package() || id <= 255, "{}: {written:?}", message.name);
            cases.push(Case {
                id: format!("{}-{round}", message.name),
                message: schema.qualified(message),
                framing,
                header,
                frame: written.is_ok().then_some(frame),
                image: codec.encode(message, Layout::Fixed, &value)?,
                values: Json::Null,
            });
        }
    }
    let hostile = hostile(&schema, &cases, &framings)?;
    let schema_path = schema_path.to_owned();
    Ok(Suite { name: "torture".to_owned(), schema_path, schema, cases, framings, peers: false, hostile })
}

fn image(schema: &Schema, message: &Message, values: &Json) -> Result<Vec<u8>> {
    let codec = Codec::new(schema);
    let value = codec.value_from_json(&schema[message.index], values)?;
    let image = codec.encode(message, Layout::Fixed, &value)?;
    codec.decode(&schema[message.index], Layout::Fixed, &image)?;
    Ok(image)
}

/// Damaged frames, and frames that are whole around payloads that are not: a checksum keeps nobody from sending those.
/// What a language reads from them must not be a NaN, whose bits it may not keep, nor too long to be written again once
/// missing bytes are filled up.
fn hostile(schema: &Schema, cases: &[Case], framings: &[Framing]) -> Result<Vec<(u8, Vec<u8>)>> {
    let codec = Codec::new(schema);
    let mut records = damage(cases, framings);
    records.extend(sealed(schema, framings)?);
    records.retain(|(framing, bytes)| {
        let frames = FrameCodec::new(&codec, framings[usize::from(*framing)]);
        frames.read(bytes).all(|event| match event {
            Event::Frame(frame) => match (schema.by_id(frame.id), frames.decode(&frame)) {
                (Some(message), Ok(value)) => {
                    !has_nan(&value) && frames.write(message, frame.header, &value, &mut Vec::new()).is_ok()
                }
                _ => true,
            },
            _ => true,
        })
    });
    Ok(records)
}

/// Random payloads of every message, with small numbers among them, which make counts and tags that mean something, and
/// large ones, which make counts and lengths that lie.
fn sealed(schema: &Schema, framings: &[Framing]) -> Result<Vec<(u8, Vec<u8>)>> {
    const ROUNDS: usize = 12;
    let codec = Codec::new(schema);
    let mut next = random();
    let mut records = Vec::new();
    for (place, framing) in framings.iter().enumerate() {
        let (place, frames) = (u8::try_from(place)?, FrameCodec::new(&codec, *framing));
        for (id, message) in schema.ids().filter(|(id, _)| *id <= 255 || framing.has_package()) {
            for round in 0..ROUNDS {
                let full = message.sizes.max;
                let len = match (framing.has_length(), round % 3) {
                    (false, _) => full,
                    (true, 0) => full.min(framing.max_payload_len()),
                    (true, _) => next(full.min(framing.max_payload_len()) + 1),
                };
                let payload: Vec<u8> = (0..len)
                    .map(|_| match next(6) {
                        0 => 0xff,
                        1 => next(256) as u8,
                        _ => next(4) as u8,
                    })
                    .collect();
                let mut bytes = Vec::new();
                frames.write_payload(id, Header::default(), &payload, &mut bytes)?;
                records.push((place, bytes));
            }
        }
    }
    Ok(records)
}

/// Numbers below a bound, the same on every run.
fn random() -> impl FnMut(usize) -> usize {
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    move |below| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below.max(1) as u64) as usize
    }
}

/// Frames of one framing one behind the other, damaged in ways that repeat on every run: bytes changed, cut out, doubled,
/// set to the largest value, the end missing; and pure noise.
fn damage(cases: &[Case], framings: &[Framing]) -> Vec<(u8, Vec<u8>)> {
    const ROUNDS: usize = 40;
    let mut next = random();
    let mut records = Vec::new();
    for (place, framing) in framings.iter().enumerate() {
        let place = u8::try_from(place).expect("there are fewer than 256 framings");
        let frames: Vec<&Vec<u8>> =
            cases.iter().filter(|case| case.framing == *framing).filter_map(|case| case.frame.as_ref()).collect();
        for round in 0..ROUNDS {
            let mut bytes: Vec<u8> = Vec::new();
            for _ in 0..=next(4) {
                if let Some(frame) = frames.get(next(frames.len())) {
                    bytes.extend_from_slice(frame);
                }
            }
            for _ in 0..round % 5 {
                let at = next(bytes.len());
                match (next(5), bytes.get_mut(at)) {
                    (_, None) => {}
                    (0, Some(byte)) => *byte ^= 1 << next(8),
                    (1, Some(byte)) => *byte = 0xff,
                    (2, Some(_)) => drop(bytes.remove(at)),
                    (3, Some(&mut byte)) => bytes.insert(at, byte),
                    (_, Some(_)) => bytes.truncate(at),
                }
            }
            if round + 1 == ROUNDS {
                bytes = (0..200).map(|_| [0x90, 0x70, 0x71, 0x74, 0xff, 0, 1, 7][next(8)]).collect();
            }
            records.push((place, bytes));
        }
    }
    records
}

/// Where two frames part, for people.
pub(super) fn difference(expected: Option<&[u8]>, found: Option<&[u8]>) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match (expected, found) {
        (Some(expected), Some(found)) => {
            let at = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
            let near = |bytes: &[u8]| hex(bytes.get(at..bytes.len().min(at + 16)).unwrap_or_default());
            let (want, have) = (expected.len(), found.len());
            format!("from byte {at} on {} of {have} bytes, expected {} of {want}", near(found), near(expected))
        }
        (Some(_), None) => "refused".to_owned(),
        (None, Some(found)) => format!("{} bytes, expected a refusal of the id", found.len()),
        (None, None) => "no difference".to_owned(),
    }
}
