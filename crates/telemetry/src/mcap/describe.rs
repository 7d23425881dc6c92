//! Schemas and channels.

use super::write::PROTOBUF;
use crate::error::TelemetryError;
use prost::Message;
use prost_reflect::{DescriptorPool, MessageDescriptor};
use prost_types::FileDescriptorSet;
use std::collections::BTreeMap;

/// What the file has declared so far.
#[derive(Default)]
pub(super) struct Declared {
    pub(super) schemas: BTreeMap<u16, Schema>,
    pub(super) channels: BTreeMap<u16, Channel>,
    /// Bytes of schemas and channels that are kept.
    held: usize,
}

#[derive(PartialEq, Eq)]
pub(super) struct Schema {
    pub(super) name: String,
    pub(super) encoding: String,
    pub(super) data: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) schema: u16,
    pub(super) topic: String,
    pub(super) encoding: String,
    pub(super) metadata: BTreeMap<String, String>,
}

impl Declared {
    pub(super) fn schema(&mut self, body: &[u8], at: u64) -> Result<(), TelemetryError> {
        let mut fields = Fields { rest: body, what: "a schema", at };
        let id = fields.u16()?;
        let (name, encoding) = (fields.text()?, fields.text()?);
        let data = fields.bytes()?.to_vec();
        if id == 0 {
            return Err(TelemetryError::format("bad_record", format!("schema {name:?} has the id 0"), at));
        }
        let schema = Schema { name, encoding, data };
        match self.schemas.get(&id) {
            Some(known) if *known != schema => {
                let message = format!("schema {id} is declared twice, as {:?} and as {:?}", known.name, schema.name);
                Err(TelemetryError::format("conflicting_schema", message, at))
            }
            Some(_) => Ok(()),
            None => {
                self.hold(body.len(), at)?;
                self.schemas.insert(id, schema);
                Ok(())
            }
        }
    }

    pub(super) fn channel(&mut self, body: &[u8], at: u64) -> Result<(), TelemetryError> {
        let mut fields = Fields { rest: body, what: "a channel", at };
        let (id, schema) = (fields.u16()?, fields.u16()?);
        let (topic, encoding) = (fields.text()?, fields.text()?);
        let metadata = fields.map()?;
        let channel = Channel { schema, topic, encoding, metadata };
        match self.channels.get(&id) {
            Some(known) if *known != channel => {
                let message =
                    format!("channel {id} is declared twice, as {:?} and as {:?}", known.topic, channel.topic);
                Err(TelemetryError::format("conflicting_channel", message, at))
            }
            Some(_) => Ok(()),
            None => {
                self.hold(body.len(), at)?;
                self.channels.insert(id, channel);
                Ok(())
            }
        }
    }

    /// The message type of a channel, and the channel.
    pub(super) fn message_type(&self, id: u16, at: u64) -> Result<(&Channel, MessageDescriptor), TelemetryError> {
        let channel = self.channels.get(&id).ok_or_else(|| {
            TelemetryError::format("unknown_channel", format!("a message of channel {id}, which is not declared"), at)
        })?;
        let topic = &channel.topic;
        if channel.encoding != PROTOBUF {
            let message = format!("topic {topic:?} has messages in {:?}; only protobuf can be read", channel.encoding);
            return Err(TelemetryError::unsupported("unsupported_encoding", message));
        }
        let schema = self.schemas.get(&channel.schema).ok_or_else(|| {
            let message = format!("topic {topic:?} refers to schema {}, which is not declared", channel.schema);
            TelemetryError::format("unknown_schema", message, at)
        })?;
        if schema.encoding != PROTOBUF {
            let message = format!("topic {topic:?} has a schema in {:?}; only protobuf can be read", schema.encoding);
            return Err(TelemetryError::unsupported("unsupported_encoding", message));
        }
        let invalid = |error: &dyn std::fmt::Display| {
            let message = format!("schema {:?} is not a valid FileDescriptorSet: {error}", schema.name);
            TelemetryError::format("bad_schema", message, at)
        };
        // The pool panics at files in a syntax that it does not know.
        let files = FileDescriptorSet::decode(schema.data.as_slice()).map_err(|error| invalid(&error))?;
        if let Some(file) = files.file.iter().find(|file| !matches!(file.syntax(), "" | "proto2" | "proto3")) {
            let message = format!(
                "schema {:?} has a file in the syntax {:?}; expected proto2 or proto3",
                schema.name,
                file.syntax()
            );
            return Err(TelemetryError::unsupported("unsupported_syntax", message));
        }
        let pool = DescriptorPool::decode(schema.data.as_slice()).map_err(|error| invalid(&error))?;
        let descriptor = pool.get_message_by_name(&schema.name).ok_or_else(|| {
            let message = format!("schema {:?}: its FileDescriptorSet has no message of that name", schema.name);
            TelemetryError::format("bad_schema", message, at)
        })?;
        Ok((channel, descriptor))
    }

    fn hold(&mut self, len: usize, at: u64) -> Result<(), TelemetryError> {
        self.held = self.held.saturating_add(len);
        if self.held > MOST_HELD {
            let message = format!("schemas and channels have {} bytes, expected up to {MOST_HELD}", self.held);
            return Err(TelemetryError::format("too_many_schemas", message, at));
        }
        Ok(())
    }
}

/// The fields of a record, first to last.
pub(super) struct Fields<'r> {
    pub(super) rest: &'r [u8],
    /// What the record is, for messages.
    pub(super) what: &'static str,
    pub(super) at: u64,
}

impl<'r> Fields<'r> {
    fn take(&mut self, len: usize) -> Result<&'r [u8], TelemetryError> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            let message = format!("{}: need {len} bytes, the record has {} more", self.what, self.rest.len());
            return Err(TelemetryError::format("bad_record", message, self.at));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], TelemetryError> {
        Ok(self.take(N)?.first_chunk().copied().unwrap_or([0; N]))
    }

    pub(super) fn u16(&mut self) -> Result<u16, TelemetryError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, TelemetryError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, TelemetryError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn bytes(&mut self) -> Result<&'r [u8], TelemetryError> {
        let len = self.u32()?;
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    pub(super) fn text(&mut self) -> Result<String, TelemetryError> {
        let bytes = self.bytes()?;
        let text = std::str::from_utf8(bytes).map_err(|_| {
            TelemetryError::format("bad_record", format!("{}: text that is not UTF-8", self.what), self.at)
        })?;
        Ok(text.to_owned())
    }

    pub(super) fn map(&mut self) -> Result<BTreeMap<String, String>, TelemetryError> {
        let mut entries = Fields { rest: self.bytes()?, ..*self };
        let mut map = BTreeMap::new();
        while !entries.rest.is_empty() {
            let (key, value) = (entries.text()?, entries.text()?);
            map.insert(key, value);
        }
        Ok(map)
    }
}

/// Schemas of real files have kilobytes.
const MOST_HELD: usize = 64 << 20;
