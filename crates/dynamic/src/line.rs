//! Frames as lines of JSON, and lines as frames: what `fw decode` prints and `fw encode` reads.

use crate::error::Error;
use crate::frames::FrameCodec;
use crate::json::{EnumStyle, bytes_from_json, to_hex, whole};
use crate::value::Value;
use fw_schema::Schema;
use fw_schema::layout::Message;
use fw_structframe::{Frame, Header};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// One frame, as an object of JSON.
///
/// `at` is the frame's first byte in the capture, `received` the host time of its arrival where that is known and asked for; `sequence`, `system` and `component` are there when the framing has them.
/// `values` holds the message, in the conventions of [`Value`] but with enums as [`EnumStyle`] says, and beside an unknown `oneof` tag what stands in its
/// `region`, so that [`write_line`](FrameCodec::write_line) writes the same bytes again. A frame of an unknown id, or a payload that cannot be read
/// (`error` says why), has `payload` instead.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameLine<'s> {
    /// First byte of the frame.
    pub at: u64,
    /// Effective id.
    pub id: u16,
    /// The message's name, qualified where the bare one would find another; `None` for an unknown id.
    pub message: Option<String>,
    /// SEQ.
    pub sequence: Option<u8>,
    /// SYS.
    pub system: Option<u8>,
    /// COMP.
    pub component: Option<u8>,
    /// True when it was found inside damaged bytes.
    pub recovered: bool,
    /// The message.
    pub values: Option<Value<'s>>,
    /// Why the payload cannot be read.
    pub error: Option<Error>,
    /// The payload's bytes.
    pub payload: Option<Vec<u8>>,
    /// How enums are shown.
    pub enums: EnumStyle,
    /// When it arrived, as text; `None` where nobody recorded it.
    pub received: Option<String>,
}

impl Serialize for FrameLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("at", &self.at)?;
        if let Some(received) = &self.received {
            line.serialize_entry("received", received)?;
        }
        line.serialize_entry("id", &self.id)?;
        if let Some(message) = &self.message {
            line.serialize_entry("message", message)?;
        }
        for (name, byte) in [("sequence", self.sequence), ("system", self.system), ("component", self.component)] {
            if let Some(byte) = byte {
                line.serialize_entry(name, &byte)?;
            }
        }
        if self.recovered {
            line.serialize_entry("recovered", &true)?;
        }
        // With what stands behind unknown tags, so that a line gives its frame back.
        if let Some(values) = &self.values {
            line.serialize_entry("values", &whole(values, self.enums))?;
        }
        if let Some(error) = &self.error {
            let words = BTreeMap::from([("code", error.code.to_owned()), ("message", error.to_string())]);
            line.serialize_entry("error", &words)?;
        }
        if let Some(payload) = &self.payload {
            line.serialize_entry("payload", &BTreeMap::from([("hex", to_hex(payload))]))?;
        }
        line.end()
    }
}

impl<'s> FrameCodec<'_, 's> {
    /// A frame as a line. What cannot be read is shown as bytes, never left out.
    pub fn line(&self, frame: &Frame<'_>) -> FrameLine<'s> {
        let framing = self.framing();
        let Header { sequence, system, component } = frame.header;
        let mut line = FrameLine {
            at: frame.span.start,
            id: frame.id,
            message: None,
            sequence: framing.has_sequence().then_some(sequence),
            system: framing.has_system().then_some(system),
            component: framing.has_system().then_some(component),
            recovered: frame.recovered,
            values: None,
            error: None,
            payload: None,
            enums: self.enums(),
            received: None,
        };
        let schema = self.schema();
        if let Some(message) = schema.by_id(frame.id) {
            line.message = Some(shown_name(schema, message));
            match self.decode(frame) {
                Ok(values) => line.values = Some(values),
                Err(error) => line.error = Some(error),
            }
        }
        if line.values.is_none() {
            line.payload = Some(frame.payload.to_vec());
        }
        line
    }

    /// Appends the frame that a line describes: `message` or `id`; `values` (missing fields take their defaults) or
    /// `payload` as bytes; `sequence`, `system` and `component`, for which `header` steps in.
    ///
    /// # Errors
    /// When the line is no such object, and as [`write_json`](Self::write_json). Nothing is appended then.
    pub fn write_line(&self, line: &Json, header: Header, out: &mut Vec<u8>) -> Result<(), Error> {
        let object = line.as_object().ok_or_else(|| Error::new("wrong_type", "expected an object for each frame"))?;
        const KEYS: [&str; 11] = [
            "at",
            "received",
            "id",
            "message",
            "sequence",
            "system",
            "component",
            "recovered",
            "values",
            "error",
            "payload",
        ];
        if let Some(stranger) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let words = format!("unknown key; a frame has {}", KEYS.join(", "));
            return Err(Error::new("unknown_key", words).inside(stranger));
        }
        let header = Header {
            sequence: byte(object, "sequence")?.unwrap_or(header.sequence),
            system: byte(object, "system")?.unwrap_or(header.system),
            component: byte(object, "component")?.unwrap_or(header.component),
        };
        let (id, message) = self.addressee(object)?;
        if let Some(payload) = object.get("payload").filter(|_| !object.contains_key("values")) {
            let bytes = bytes_from_json(payload);
            let bytes = bytes.ok_or_else(|| Error::new("wrong_type", "expected {\"hex\": \"…\"}").inside("payload"))?;
            return self.write_payload(id, header, &bytes, out);
        }
        let message = message.ok_or_else(|| {
            Error::new("unknown_id", format!("no message has the id {id}; give its bytes as `payload`"))
        })?;
        let empty = Json::Object(Map::new());
        self.write_json(message, header, object.get("values").unwrap_or(&empty), out)
            .map_err(|error| error.inside(&message.name))
    }

    /// Which message a line is about. An id that comes with a name must be the name's.
    fn addressee(&self, object: &Map<String, Json>) -> Result<(u16, Option<&'s Message>), Error> {
        let schema = self.schema();
        let given = match object.get("id") {
            None => None,
            Some(id) => {
                let number = id.as_u64().and_then(|id| u16::try_from(id).ok());
                Some(number.ok_or_else(|| Error::new("wrong_type", "expected 0 to 65535").inside("id"))?)
            }
        };
        let Some(name) = object.get("message") else {
            let id = given.ok_or_else(|| Error::new("missing_field", "a frame needs a `message` or an `id`"))?;
            return Ok((id, schema.by_id(id)));
        };
        let name = name.as_str().ok_or_else(|| Error::new("wrong_type", "expected a name").inside("message"))?;
        let message = schema.find(name).ok_or_else(|| {
            let known: Vec<String> = schema.ids().map(|(_, message)| shown_name(schema, message)).collect();
            Error::new("unknown_message", format!("no message `{name}`; the schema has {}", known.join(", ")))
        })?;
        let id = message
            .id
            .ok_or_else(|| Error::new("no_message_id", format!("message `{name}` has no id and cannot be framed")))?;
        if given.is_some_and(|given| given != id) {
            let words = format!("message `{name}` has the id {id}");
            return Err(Error::new("id_mismatch", words).inside("id"));
        }
        Ok((id, Some(message)))
    }
}

/// The bare name, or the qualified one when the bare one finds another message.
pub fn shown_name(schema: &Schema, message: &Message) -> String {
    let bare = schema.find_index(&message.name) == Some(message.index);
    if bare { message.name.clone() } else { schema.qualified(message) }
}

fn byte(object: &Map<String, Json>, key: &str) -> Result<Option<u8>, Error> {
    let Some(json) = object.get(key) else { return Ok(None) };
    let byte = json.as_u64().and_then(|number| u8::try_from(number).ok());
    byte.map(Some).ok_or_else(|| Error::new("wrong_type", "expected 0 to 255").inside(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Codec;
    use fw_structframe::{Event, Profile};

    const TEXT: &str = "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }
        message Trace { option msgid = 8; option variable = true; repeated uint8 v = 1 [max_size=4]; }";

    #[test]
    fn lines_there_and_back() {
        let schema = fw_schema::check_text("demo.sf", TEXT).into_result().unwrap();
        let codec = Codec::new(&schema);
        let frames = FrameCodec::new(&codec, Profile::Network.framing());
        let lines = [
            r#"{"at":0,"id":7,"message":"Ping","sequence":5,"system":1,"component":2,"values":{"seq":4660,"ack":true}}"#,
            r#"{"at":14,"id":99,"sequence":6,"system":1,"component":2,"payload":{"hex":"0102"}}"#,
            r#"{"at":27,"id":8,"message":"Trace","sequence":7,"system":1,"component":2,"error":{"code":"count_exceeds_bound","message":"v: count 9 exceeds the bound 4 at byte 0 (0x0)"},"payload":{"hex":"09"}}"#,
        ];
        let mut bytes = Vec::new();
        for line in lines {
            frames.write_line(&serde_json::from_str(line).unwrap(), Header::default(), &mut bytes).unwrap();
        }
        let shown: Vec<_> = frames
            .read(&bytes)
            .map(|event| match event {
                Event::Frame(frame) => serde_json::to_string(&frames.line(&frame)).unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(shown, lines);
    }

    /// A tag that only a newer peer knows travels through a line with the bytes behind it.
    #[test]
    fn unknown_tags_keep_their_region() {
        let members = |more: &str| {
            let text = format!(
                "package d; message A {{ uint8 a = 1; }} message B {{ uint32 b = 1; }} message M {{ option msgid = 1;
                 uint8 n = 1; oneof o {{ option discriminator = field_order; A a = 1; B b = 2; {more} }} }}"
            );
            fw_schema::check_text("d.sf", &text).into_result().unwrap()
        };
        let (old, new) = (members(""), members("uint16 c = 3;"));
        let standard = Profile::Standard.framing();
        let (old_codec, new_codec) = (Codec::new(&old), Codec::new(&new));
        let (old_frames, new_frames) = (FrameCodec::new(&old_codec, standard), FrameCodec::new(&new_codec, standard));
        let line = serde_json::json!({"message": "M", "values": {"n": 1, "o": {"which": "c", "value": 0x0102}}});
        let mut payload = Vec::new();
        new_frames.write_line(&line, Header::default(), &mut payload).unwrap();
        // The checksum of another peer has other seeds: only the payload travels.
        let mut bytes = Vec::new();
        old_frames.write_payload(1, Header::default(), &payload[4..payload.len() - 2], &mut bytes).unwrap();
        let Some(Event::Frame(frame)) = old_frames.read(&bytes).next() else { panic!() };
        let shown = serde_json::to_value(old_frames.line(&frame)).unwrap();
        let region = serde_json::json!({"unknown_discriminator": 3, "region": {"hex": "02010000"}});
        assert_eq!(shown["values"]["o"], region);
        let mut again = Vec::new();
        old_frames.write_line(&shown, Header::default(), &mut again).unwrap();
        assert_eq!(again, bytes);
        let wrong = serde_json::json!({"id": 1, "values": {"o": {"unknown_discriminator": 3, "region": "0201"}}});
        let error = old_frames.write_line(&wrong, Header::default(), &mut again).unwrap_err();
        assert_eq!(error.to_string(), "M.o.region: expected {\"hex\": \"…\"}, found \"0201\"");
    }

    #[test]
    fn wrong_lines_say_what_is_wrong() {
        let schema = fw_schema::check_text("demo.sf", TEXT).into_result().unwrap();
        let codec = Codec::new(&schema);
        let frames = FrameCodec::new(&codec, Profile::Standard.framing());
        for (line, words) in [
            ("[]", "expected an object for each frame"),
            ("{}", "a frame needs a `message` or an `id`"),
            (r#"{"message":"Pong"}"#, "no message `Pong`; the schema has Ping, Trace"),
            (r#"{"message":"Ping","id":8}"#, "id: message `Ping` has the id 7"),
            (
                r#"{"message":"Ping","value":{}}"#,
                "value: unknown key; a frame has at, received, id, message, sequence, system, component, recovered, values, error, payload",
            ),
            (r#"{"message":"Ping","values":{"seq":70000}}"#, "Ping.seq: 70000 does not fit uint16"),
            (r#"{"message":"Ping","sequence":256}"#, "sequence: expected 0 to 255"),
            (r#"{"id":70000}"#, "id: expected 0 to 65535"),
            (r#"{"id":99}"#, "no message has the id 99; give its bytes as `payload`"),
            (r#"{"id":99,"payload":"01"}"#, "payload: expected {\"hex\": \"…\"}"),
        ] {
            let mut out = vec![1];
            let line = serde_json::from_str(line).unwrap();
            let error = frames.write_line(&line, Header::default(), &mut out).unwrap_err();
            assert_eq!((error.to_string().as_str(), out.as_slice()), (words, &[1][..]));
        }
    }
}
