//! A group of vectors as cases that a program of any language can hold.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use fw_dynamic::{Codec, Layout, Value, message_infos};
use fw_schema::Schema;
use fw_schema::layout::Message;
use fw_structframe::{Event, Frames, Framing, Header};
use serde_json::Value as Json;

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
    /// Never: the suite was loaded through the same steps.
    pub fn value(&self, case: &Case) -> Value<'_> {
        value(&self.schema, case).expect("checked when the suite was loaded")
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

    /// Frames and wrong checksums that our runtime finds in the damaged records.
    pub(super) fn hostile_expected(&self) -> (u64, u64) {
        let infos = message_infos(&self.schema);
        let (mut good, mut bad) = (0, 0);
        for (framing, bytes) in &self.hostile {
            for event in Frames::new(self.framings[usize::from(*framing)], infos.as_slice(), bytes) {
                match event {
                    Event::Frame(_) => good += 1,
                    Event::BadChecksum(_) => bad += 1,
                    _ => {}
                }
            }
        }
        (good, bad)
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
                values: case.values.clone(),
            };
            value(&schema, &case).with_context(|| case.id.clone())?;
            if !framings.contains(&framing) {
                framings.push(framing);
            }
            cases.push(case);
        }
    }
    let hostile = damage(&cases, &framings);
    Ok(Suite { name: vectors.group, schema_path, schema, cases, framings, hostile })
}

fn value<'s>(schema: &'s Schema, case: &Case) -> Result<Value<'s>> {
    let codec = Codec::new(schema);
    let message = schema.find(&case.message).context("no such message")?;
    let value = codec.value_from_json(message, &case.values)?;
    Ok(codec.decode(message, Layout::Fixed, &codec.encode(message, Layout::Fixed, &value)?)?)
}

/// Frames of one framing one behind the other, damaged in ways that repeat on every run: bytes changed, cut out, doubled,
/// set to the largest value, the end missing; and pure noise.
fn damage(cases: &[Case], framings: &[Framing]) -> Vec<(u8, Vec<u8>)> {
    const ROUNDS: usize = 40;
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below.max(1) as u64) as usize
    };
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
