//! What was saved, as JSON (feature `serde`).

use super::{MessageState, RecoveredMessage, Recovery};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

impl Serialize for Recovery {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("complete", &self.is_complete())?;
        map.serialize_entry("messages", &self.messages)?;
        map.serialize_entry("findings", self.report.findings())?;
        map.end()
    }
}

impl Serialize for RecoveredMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("message", &self.number)?;
        map.serialize_entry("source", &[self.source.start, self.source.end])?;
        map.serialize_entry("output", &[self.output.start, self.output.end])?;
        let state = match self.state {
            MessageState::Intact => "intact",
            MessageState::Rebuilt => "rebuilt",
            MessageState::Partial => "partial",
        };
        map.serialize_entry("state", state)?;
        map.serialize_entry("object_count", &self.object_count)?;
        map.serialize_entry("expected_count", &self.expected_count)?;
        map.end()
    }
}
