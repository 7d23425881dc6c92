//! MCAP to columns.

use super::describe::{Declared, Fields};
use super::records::{Kind, Record, Totals, each_record};
use super::shred::{Out, Shredder, Topic};
use crate::error::TelemetryError;
use fw_convert::{ColumnSpool, Feature, Loss};
use fw_tensogram::{MetadataMap, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A finished conversion from MCAP.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McapRead {
    /// The file written.
    pub file: PathBuf,
    /// Messages read.
    pub messages: u64,
    /// Channels that have messages.
    pub channels: usize,
    /// Columns in the Tensogram file.
    pub columns: usize,
    /// What could not be kept.
    pub losses: Vec<Loss>,
}

/// Writes the messages of an MCAP file as columns to a Tensogram file: every field of every channel, beside `@log_time`,
/// `@publish_time` and `@sequence`. Names are those of the topic and the field: `Pose.position.x`. Descriptors and metadata records
/// are kept in the message's own metadata.
///
/// Channels must be in protobuf; others are refused by name. Checksums are compared, and the file must be whole. The file is
/// read once, from front to back; memory holds the current message, a few MiB of columns, and one column while it is written.
///
/// # Errors
/// When the file cannot be read or is wrong, a channel has another encoding, a chunk another compression than zstd or lz4, or
/// writing fails. No output is left behind then.
pub fn mcap_to_columns(input: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<McapRead, TelemetryError> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let file = File::open(input)
        .map_err(|error| std::io::Error::new(error.kind(), format!("{}: {error}", input.display())))?;
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut columns = Columns {
        declared: Declared::default(),
        spool: ColumnSpool::new(folder),
        shredders: BTreeMap::new(),
        names: BTreeSet::new(),
        header: MetadataMap::new(),
        metadata: Vec::new(),
        metadata_len: 0,
        messages: 0,
        attachments: 0,
    };
    each_record(file, &mut |record, totals| columns.take(record, totals))?;
    columns.finish(output)
}

struct Columns {
    declared: Declared,
    spool: ColumnSpool,
    shredders: BTreeMap<u16, Shredder>,
    /// First parts of column names that are taken.
    names: BTreeSet<String>,
    header: MetadataMap,
    metadata: Vec<Value>,
    metadata_len: usize,
    messages: u64,
    attachments: u64,
}

impl Columns {
    fn take(&mut self, record: &Record<'_>, totals: &Totals) -> Result<(), TelemetryError> {
        let (body, at) = (record.body, record.at);
        match record.kind {
            Kind::Header => {
                let mut fields = Fields { rest: body, what: "the header", at };
                for key in ["profile", "library"] {
                    self.header.insert(key.to_owned(), Value::from(fields.text()?));
                }
                Ok(())
            }
            Kind::Schema => self.declared.schema(body, at),
            Kind::Channel => self.declared.channel(body, at),
            Kind::Message => self.message(body, at, totals),
            Kind::Metadata => {
                self.metadata_len = self.metadata_len.saturating_add(body.len());
                if self.metadata_len > MOST_METADATA {
                    let message = format!("metadata records have more than {MOST_METADATA} bytes");
                    return Err(TelemetryError::format("too_much_metadata", message, at));
                }
                let mut fields = Fields { rest: body, what: "a metadata record", at };
                let name = fields.text()?;
                let entries = fields.map()?.into_iter().map(|(key, value)| (Value::from(key), Value::from(value)));
                let values = (Value::from("values"), Value::Map(entries.collect()));
                self.metadata.push(Value::Map(vec![(Value::from("name"), Value::from(name)), values]));
                Ok(())
            }
            Kind::Attachment => {
                self.attachments = self.attachments.saturating_add(1);
                Ok(())
            }
        }
    }

    fn message(&mut self, body: &[u8], at: u64, totals: &Totals) -> Result<(), TelemetryError> {
        let mut fields = Fields { rest: body, what: "a message", at };
        let (id, sequence) = (fields.u16()?, fields.u32()?);
        let (log_time, publish_time) = (fields.u64()?, fields.u64()?);
        let room = ROOM.saturating_add(totals.record_len.saturating_mul(EXPANSION));
        let mut out = Out { spool: &mut self.spool, room, at };
        let shredder = match self.shredders.entry(id) {
            std::collections::btree_map::Entry::Occupied(shredder) => shredder.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                let (channel, message) = self.declared.message_type(id, at)?;
                // `/Pose` reads better as `Pose`, but two channels of one topic stay apart.
                let mut name = channel.topic.trim_start_matches('/').to_owned();
                if !self.names.insert(name.clone()) {
                    name = format!("{}#{id}", channel.topic);
                    self.names.insert(name.clone());
                }
                let topic = Topic { topic: channel.topic.clone(), name, message: message.full_name().to_owned() };
                place.insert(Shredder::new(topic, &message, &mut out)?)
            }
        };
        shredder.add((log_time, publish_time, sequence), fields.rest, &mut out)?;
        self.messages = self.messages.saturating_add(1);
        Ok(())
    }

    fn finish(self, output: &Path) -> Result<McapRead, TelemetryError> {
        let mut losses = Vec::new();
        let mut lose = |count: u64, what: &str| {
            if count > 0 {
                losses.push(Loss::new(Feature::Bytes, None, format!("{count} {what}")));
            }
        };
        lose(self.attachments, if self.attachments == 1 { "attachment" } else { "attachments" });
        let unknown = self.shredders.values().fold(0u64, |sum, one| sum.saturating_add(one.unknown));
        lose(unknown, "protobuf fields that the descriptors do not have");
        let channels = self.shredders.len();
        let extra = described(&self.declared, self.header, self.metadata);
        let columns = self.spool.finish(output, extra)?;
        Ok(McapRead { file: output.to_path_buf(), messages: self.messages, channels, columns, losses })
    }
}

/// What the file said about itself.
fn described(declared: &Declared, header: MetadataMap, metadata: Vec<Value>) -> MetadataMap {
    let text = |text: &str| Value::from(text);
    let schemas = declared.schemas.values().map(|schema| {
        Value::Map(vec![
            (text("name"), text(&schema.name)),
            (text("encoding"), text(&schema.encoding)),
            (text("data"), Value::Bytes(schema.data.clone())),
        ])
    });
    let channels = declared.channels.values().map(|channel| {
        let metadata = channel.metadata.iter().map(|(key, value)| (text(key), text(value))).collect();
        let schema = declared.schemas.get(&channel.schema).map_or(Value::Null, |schema| text(&schema.name));
        Value::Map(vec![
            (text("topic"), text(&channel.topic)),
            (text("schema"), schema),
            (text("encoding"), text(&channel.encoding)),
            (text("metadata"), Value::Map(metadata)),
        ])
    });
    let mut entries = vec![
        (text("version"), Value::Integer(1)),
        (text("schemas"), Value::Array(schemas.collect())),
        (text("channels"), Value::Array(channels.collect())),
        (text("metadata"), Value::Array(metadata)),
    ];
    entries.extend(header.into_iter().map(|(key, value)| (Value::from(key), value)));
    MetadataMap::from([(MCAP.to_owned(), Value::Map(entries))])
}

/// The key in the message's own metadata.
const MCAP: &str = "fw.mcap";

/// Columns may have this many times the bytes of the records, beyond the room that every file has: a message without a byte is a row
/// of zeros.
const EXPANSION: u64 = 256;
const ROOM: u64 = 64 << 20;

const MOST_METADATA: usize = 16 << 20;
