//! Frames to values and columns, and back; which framing bytes have.

use crate::codec::Codec;
use crate::columns::{Capture, Decoder};
use crate::error::Error;
use crate::json::EnumStyle;
use crate::value::Value;
use fw_bytes::interrupt;
use fw_schema::layout::Message;
use fw_schema::{Schema, records};
use fw_structframe::{
    Counters, Event, Frame, Frames, Framing, Header, HeaderKind, MessageInfo, PayloadKind, Profile, Stream, WriteError,
    frame_len, write,
};
use serde_json::Value as Json;

/// What frame readers look up, by ascending id. A message that no frame can carry is not among them.
pub fn message_infos(schema: &Schema) -> Vec<MessageInfo> {
    let short = |size: usize| u16::try_from(size).ok();
    let info = |record: fw_schema::Record| {
        Some(MessageInfo {
            id: record.id,
            max_size: short(record.max_size)?,
            base_size: short(record.base_size)?,
            min_size: short(record.min_size)?,
            magic: record.magic,
        })
    };
    records(schema).into_iter().filter_map(info).collect()
}

/// Reads and writes frames of one framing with the messages of a schema.
///
/// ```
/// use fw_dynamic::{Codec, FrameCodec};
/// use fw_structframe::{Event, Header, Profile};
///
/// let schema = fw_schema::check_text("demo.sf", "package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }")
///     .into_result()
///     .unwrap();
/// let codec = Codec::new(&schema);
/// let frames = FrameCodec::new(&codec, Profile::Standard.framing());
/// let mut bytes = Vec::new();
/// let json = serde_json::json!({"seq": 4660, "ack": true});
/// frames.write_json(schema.by_id(7).unwrap(), Header::default(), &json, &mut bytes).unwrap();
/// for event in frames.read(&bytes) {
///     let Event::Frame(frame) = event else { panic!() };
///     assert_eq!(serde_json::to_value(frames.decode(&frame).unwrap()).unwrap(), json);
/// }
/// ```
#[derive(Debug)]
pub struct FrameCodec<'c, 's> {
    codec: &'c Codec<'s>,
    framing: Framing,
    infos: Vec<MessageInfo>,
    enums: EnumStyle,
}

impl<'c, 's> FrameCodec<'c, 's> {
    /// A codec for frames of this framing.
    pub fn new(codec: &'c Codec<'s>, framing: Framing) -> Self {
        Self { codec, framing, infos: message_infos(codec.schema()), enums: EnumStyle::default() }
    }

    /// Chooses how lines show enums.
    #[must_use]
    pub const fn with_enums(mut self, enums: EnumStyle) -> Self {
        self.enums = enums;
        self
    }

    pub(crate) const fn codec(&self) -> &'c Codec<'s> {
        self.codec
    }

    pub(crate) const fn enums(&self) -> EnumStyle {
        self.enums
    }

    /// The framing.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// The schema.
    pub fn schema(&self) -> &'s Schema {
        self.codec.schema()
    }

    /// What frame readers look up.
    pub fn infos(&self) -> &[MessageInfo] {
        &self.infos
    }

    /// Reads a whole buffer.
    pub fn read<'b>(&self, bytes: &'b [u8]) -> Frames<'b, &[MessageInfo]> {
        Frames::new(self.framing, &self.infos, bytes)
    }

    /// A reader for chunks, with room for two of the longest frames that the framing allows.
    pub fn stream(&self) -> Stream<&[MessageInfo], Vec<u8>> {
        let room = 2 * frame_len(self.framing, self.framing.max_payload_len());
        Stream::new(self.framing, &self.infos, vec![0; room])
    }

    /// The value in a frame.
    ///
    /// # Errors
    /// When the schema does not know the id, and as [`Codec::decode`].
    pub fn decode(&self, frame: &Frame<'_>) -> Result<Value<'s>, Error> {
        let schema: &'s Schema = self.codec.schema();
        let message = schema.by_id(frame.id).ok_or_else(|| {
            Error::new("unknown_id", format!("no message has the id {}; {} bytes", frame.id, frame.payload.len()))
        })?;
        self.codec.decode(message, self.framing.layout(), frame.payload)
    }

    /// Appends a value as a frame.
    ///
    /// # Errors
    /// As [`Codec::encode`]; also when the message has no id or the framing cannot carry it.
    pub fn write(&self, message: &Message, header: Header, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let payload = self.codec.encode(message, self.framing.layout(), value)?;
        let id = message.id.ok_or_else(|| {
            Error::new("no_message_id", format!("message `{}` has no id and cannot be framed", message.name))
        })?;
        self.write_payload(id, header, &payload, out)
    }

    /// Appends a JSON value as a frame.
    ///
    /// # Errors
    /// As [`write`](Self::write) and [`Codec::value_from_json`].
    pub fn write_json(
        &self,
        message: &'s Message,
        header: Header,
        json: &Json,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let value = self.codec.value_from_json(message, json)?;
        self.write(message, header, &value, out)
    }

    /// Appends a payload as a frame. For an unknown id the seeds are zero (SF-12.3).
    ///
    /// # Errors
    /// When the framing cannot carry the id or the payload.
    pub fn write_payload(&self, id: u16, header: Header, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let at = self.infos.binary_search_by_key(&id, |info| info.id);
        let known = at.ok().and_then(|at| self.infos.get(at)).copied();
        if known.is_none() && !self.framing.has_length() {
            return Err(Error::new(
                "unknown_id",
                format!("no message has the id {id}: no reader could decode its frame"),
            ));
        }
        let unknown = MessageInfo { id, max_size: u16::MAX, base_size: u16::MAX, min_size: 0, magic: [0; 2] };
        let info = known.unwrap_or(unknown);
        let begin = out.len();
        out.resize(begin + frame_len(self.framing, payload.len()), 0);
        let room = out.get_mut(begin..).unwrap_or_default();
        let written = write(self.framing, header, &info, payload, room).map(|_| ());
        written.map_err(|fault: WriteError| {
            out.truncate(begin);
            Error::new(fault.code(), fault.to_string())
        })
    }

    /// Decodes all good frames of a capture into columns; the counters tell about the others.
    ///
    /// # Errors
    /// As [`Decoder::push`].
    pub fn columns(&self, bytes: &[u8]) -> Result<(Capture<'s>, Counters), Error> {
        let mut decoder = Decoder::new(self.codec, self.framing.layout());
        let mut events = self.read(bytes);
        for (number, event) in events.by_ref().enumerate() {
            // A frame takes some tens of nanoseconds.
            if number.is_multiple_of(BETWEEN_CHECKS) {
                interrupt::check();
            }
            if let Event::Frame(frame) = event {
                decoder.push(frame.id, frame.header, frame.payload)?;
            }
        }
        Ok((decoder.finish(), events.counters()))
    }

    /// Appends the frames of a capture in the order of their arrival: what [`columns`](Self::columns) read from clean bytes
    /// gives these bytes again.
    ///
    /// # Errors
    /// As [`write_payload`](Self::write_payload).
    pub fn write_columns(&self, capture: &Capture<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        capture.payloads().try_for_each(|(id, header, payload)| self.write_payload(id, header, &payload, out))
    }
}

/// Frames between two questions whether to go on.
const BETWEEN_CHECKS: usize = 1 << 12;

/// A framing that bytes seem to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detection {
    /// The framing.
    pub framing: Framing,
    /// How many of the bytes looked at lie in good frames of known messages.
    pub covered: u64,
    /// How many bytes were looked at.
    pub looked_at: u64,
}

impl Detection {
    /// True when no more bytes are needed to be sure, so that readers of live streams need not wait for a whole sample: the
    /// framing has start bytes and lengths, and most bytes lie in good frames.
    pub fn is_clear(&self) -> bool {
        let marked = self.framing.header != HeaderKind::None && self.framing.has_length();
        marked && self.covered.saturating_mul(2) >= self.looked_at
    }
}

/// Finds the framing of a capture by its content: the one whose good frames of known messages cover most of its first bytes.
/// A framing without checksum counts only if it explains every byte; the five profiles are preferred to other framings.
///
/// Framings without start bytes can be indistinguishable: a short length in two bytes looks like one beside a package id
/// of zero.
pub fn detect(infos: &[MessageInfo], bytes: &[u8]) -> Option<Detection> {
    let sample = bytes.get(..SAMPLE_LEN).unwrap_or(bytes);
    let profiles = Profile::ALL.map(Profile::framing);
    let all = HeaderKind::ALL.iter().rev().flat_map(|header| PayloadKind::ALL.map(|kind| Framing::new(*header, kind)));
    let others = all.filter(|framing| framing.profile().is_none());
    let mut best: Option<Detection> = None;
    for framing in profiles.into_iter().chain(others) {
        let covered = coverage(framing, infos, sample);
        if covered > best.map_or(0, |best| best.covered) {
            best = Some(Detection { framing, covered, looked_at: sample.len() as u64 });
        }
    }
    best
}

fn coverage(framing: Framing, infos: &[MessageInfo], sample: &[u8]) -> u64 {
    let mut covered = 0;
    for event in Frames::new(framing, infos, sample) {
        match event {
            Event::Frame(frame) if frame.info.is_some() => covered += frame.span.len(),
            Event::Skipped(_) if !framing.has_length() => return 0,
            _ => {}
        }
    }
    covered
}

/// How many bytes tell enough about a capture.
const SAMPLE_LEN: usize = 64 << 10;
