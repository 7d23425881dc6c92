//! Frames to MCAP.

use crate::error::TelemetryError;
use crate::proto::Protobuf;
use fw_convert::{CaptureInput, CaptureOptions, Feature, FrameRow, Loss, Losses, each_row};
use fw_schema::Schema;
use fw_source::AtomicFile;
use fw_structframe::Framing;
use mcap::records::{MessageHeader, Metadata};
use mcap::{Compression, WriteOptions, Writer};
use std::collections::{BTreeMap, HashMap};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A finished conversion to MCAP.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McapConverted {
    /// The file written.
    pub file: PathBuf,
    /// The framing of the capture.
    pub framing: Framing,
    /// Good frames in the capture.
    pub frames: u64,
    /// Messages written.
    pub selected: u64,
    /// Channels written.
    pub channels: usize,
    /// Bytes of the frames that were written.
    pub bytes: u64,
    /// What could not be kept.
    pub losses: Vec<Loss>,
    /// What has another form: times that no clock gave.
    pub notes: Vec<Loss>,
}

/// Writes the frames of a capture as an MCAP file: a channel per message type, and per system and component where the framing has
/// them, with protobuf messages and their descriptors, zstd chunks, indexes, statistics and a summary.
///
/// The time of a message is that of the clock field, or of its arrival at the host. A capture that has neither gets a
/// millisecond per frame, which a note says. Memory holds a chunk (1 MiB) and its compressor.
///
/// # Errors
/// When the capture cannot be read, no framing fits, or writing fails. No output is left behind then.
pub fn capture_to_mcap(
    mut input: CaptureInput<'_>,
    output: impl AsRef<Path>,
    schema: &Schema,
    options: &CaptureOptions,
) -> Result<McapConverted, TelemetryError> {
    let output = output.as_ref();
    let framing = input.framing(options.framing, schema)?;
    let times = match (&options.clock, input.has_times()?) {
        (Some(_), _) => Times::Field,
        (None, true) => Times::Host,
        (None, false) => Times::Place,
    };
    let writer = WriteOptions::new()
        .compression(Some(Compression::Zstd))
        // The same bytes on every machine.
        .compression_threads(0)
        .library(concat!("framewright ", env!("CARGO_PKG_VERSION")))
        .create(BufWriter::with_capacity(1 << 18, AtomicFile::create(output)?))?;
    let mut channels = Channels {
        protobuf: Protobuf::new(schema),
        writer,
        schemas: HashMap::new(),
        channels: HashMap::new(),
        bytes: Vec::new(),
        times,
        losses: Losses::default(),
    };
    channels.describe(schema, framing)?;
    let totals = each_row(input, schema, &options.clone().with_framing(framing), &mut |row| Ok(channels.add(row)?))?;
    channels.writer.finish()?;
    let count = channels.channels.len();
    let file = channels.writer.into_inner().into_inner().map_err(std::io::IntoInnerError::into_error)?;
    file.commit()?;
    let notes = (times == Times::Place && totals.selected > 0).then(|| {
        let what = "the capture has no times: messages are a millisecond apart; name a field that holds the time, or record \
                    with fw record";
        Loss::new(Feature::Encoding, None, what.to_owned())
    });
    let mut losses = totals.losses;
    losses.extend(channels.losses.finish());
    Ok(McapConverted {
        file: output.to_path_buf(),
        framing,
        frames: totals.frames,
        selected: totals.selected,
        channels: count,
        bytes: totals.bytes,
        losses,
        notes: notes.into_iter().collect(),
    })
}

/// Where the times of messages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Field,
    Host,
    /// The frame's place in the capture.
    Place,
}

struct Channels<'s> {
    protobuf: Protobuf<'s>,
    writer: Writer<BufWriter<AtomicFile>>,
    schemas: HashMap<u16, u16>,
    /// By id, system and component.
    channels: HashMap<(u16, u8, u8), u16>,
    bytes: Vec<u8>,
    times: Times,
    losses: Losses,
}

impl Channels<'_> {
    /// Where the data came from, so that the file explains itself.
    fn describe(&mut self, schema: &Schema, framing: Framing) -> Result<(), TelemetryError> {
        let clock = match self.times {
            Times::Field => "field",
            Times::Host => "host",
            Times::Place => "none",
        };
        let mut metadata =
            BTreeMap::from([("framing".to_owned(), framing.to_string()), ("clock".to_owned(), clock.to_owned())]);
        for file in schema.sources().files() {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            metadata.insert(format!("schema/{name}"), file.text.to_string());
        }
        self.writer.write_metadata(&Metadata { name: CAPTURE.to_owned(), metadata })?;
        Ok(())
    }

    fn add(&mut self, row: &FrameRow<'_, '_>) -> Result<(), TelemetryError> {
        let channel_id = self.channel(row)?;
        self.bytes.clear();
        let kept = self.protobuf.encode(row.message, &row.values, &mut self.bytes);
        if kept.bad_text > 0 {
            self.losses
                .leave_out(&format!("text of {} that is not UTF-8: written with replacement characters", row.name));
        }
        if kept.unknown_tags > 0 {
            self.losses.leave_out(&format!("a oneof of {} with an unknown tag", row.name));
        }
        let time = match self.times {
            Times::Field | Times::Host => row.time.unwrap_or(0),
            Times::Place => row.arrival.saturating_mul(MILLISECOND),
        };
        let header =
            MessageHeader { channel_id, sequence: row.header.sequence.into(), log_time: time, publish_time: time };
        Ok(self.writer.write_to_known_channel(&header, &self.bytes)?)
    }

    fn channel(&mut self, row: &FrameRow<'_, '_>) -> Result<u16, TelemetryError> {
        let key = (row.id, row.header.system, row.header.component);
        if let Some(channel) = self.channels.get(&key) {
            return Ok(*channel);
        }
        let schema = match self.schemas.get(&row.id) {
            Some(schema) => *schema,
            None => {
                let descriptors = self.protobuf.descriptors(row.message);
                let schema = self.writer.add_schema(self.protobuf.name(row.message), PROTOBUF, &descriptors)?;
                self.schemas.insert(row.id, schema);
                schema
            }
        };
        let mut metadata = BTreeMap::from([("id".to_owned(), row.id.to_string())]);
        if row.framing.has_system() {
            metadata.insert("system".to_owned(), row.header.system.to_string());
            metadata.insert("component".to_owned(), row.header.component.to_string());
        }
        let channel = self.writer.add_channel(schema, &topic(row), PROTOBUF, &metadata)?;
        self.channels.insert(key, channel);
        Ok(channel)
    }
}

/// `/Pose`, or `/1/2/Pose` where frames name a system and a component.
pub(crate) fn topic(row: &FrameRow<'_, '_>) -> String {
    match row.framing.has_system() {
        true => format!("/{}/{}/{}", row.header.system, row.header.component, row.name),
        false => format!("/{}", row.name),
    }
}

/// What both a schema and its messages are in.
pub(crate) const PROTOBUF: &str = "protobuf";

/// The record that says where the data came from.
const CAPTURE: &str = "fw.capture";

const MILLISECOND: u64 = 1_000_000;
