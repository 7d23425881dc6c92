//! An open file of messages. Opening walks the frames and reads metadata and descriptors, no data.

use super::message::Message;
use super::{carry, json, names, object};
use crate::model::{Attributes, Entry, Pieces, TensorFile, Unreadable, cut, slice_range, stream_range};
use crate::{ConvertError, Feature, Format, Loss};
use fw_bytes::{Limits, Span, Step};
use fw_source::plan::{Cost, READ_WHOLE};
use fw_source::{Buffers, ReadAt, drive_all};
use fw_tensogram::access::{ObjectFrame, ReadHead, ReadMachine, ReadSlice, run};
use fw_tensogram::frame::{FrameRef, ObjectRef};
use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, DecodedObject, GlobalMetadata, MetadataMap, ReadSurvey, ScanOptions,
    TensogramError, Value, scan_source,
};
use fw_tensor::{ByteOrder, Selection};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

pub(super) const RESERVED: &str = "_reserved_";

pub(super) struct MessagesFile<S> {
    pub(super) source: S,
    /// Where the messages stand.
    pub(super) messages: Vec<Span>,
    entries: Vec<Entry>,
    /// The frame of each entry, in the file.
    frames: Vec<FrameRef>,
    /// Message and object of each entry.
    pub(super) numbers: Vec<(usize, usize)>,
    /// The message of each entry and its number there; `None` where the entry has another type than the object that carries it.
    places: Vec<Option<(Span, usize)>>,
    metadata: Option<BTreeMap<String, String>>,
    json_keys: BTreeSet<String>,
    unreadable: Vec<Unreadable>,
    /// The messages of those.
    pub(super) incomplete: Vec<usize>,
    remarks: Vec<Loss>,
}

/// Opens the messages of a source; `name` is for errors.
pub(super) fn open<S: ReadAt + Send + Sync>(source: S, name: &str) -> Result<MessagesFile<S>, ConvertError> {
    let spans = scan_source(&source, &ScanOptions::of(&source.cost()))?;
    if spans.is_empty() {
        let message = format!("{name}: contains no Tensogram message");
        return Err(ConvertError::format("no_message", message, None));
    }
    let mut reading = Reading::of(&source, &spans)?;
    let outside = source.len()?.saturating_sub(spans.iter().map(|span| span.len()).sum());
    if outside > 0 {
        let what = format!("{outside} bytes are not part of any readable message; run fw validate for details");
        reading.remarks.push(Loss::new(Feature::UnreadableBytes, None, what));
    }
    if spans.len() > 1 {
        let what = format!("{} messages become one list; names start with the number of their message", spans.len());
        reading.remarks.push(Loss::new(Feature::Messages, None, what));
    }
    let given: Vec<_> =
        reading.objects.iter().map(|object| (object.message, object.number, object.name.clone())).collect();
    let names = names::unique(&given, spans.len());
    let said = merged(&reading.texts);
    let mut file = MessagesFile {
        source,
        messages: spans,
        entries: Vec::new(),
        frames: Vec::new(),
        numbers: Vec::new(),
        places: Vec::new(),
        json_keys: said.iter().filter(|(_, text)| text.is_json).map(|(key, _)| key.clone()).collect(),
        metadata: (!said.is_empty()).then(|| said.into_iter().map(|(key, text)| (key, text.text)).collect()),
        unreadable: reading.unreadable,
        incomplete: reading.incomplete,
        remarks: reading.remarks,
    };
    for (object, name) in reading.objects.into_iter().zip(names) {
        if !object.other_keys.is_empty() {
            let what = object.other_keys.join(", ");
            file.remarks.push(Loss::new(Feature::TensorMetadata, Some(name.clone()), what));
        }
        if !object.descriptor.is_raw() {
            let stages: Vec<&str> = object.descriptor.stages().collect();
            file.remarks.push(Loss::decoded(&stages.join("+"), &name));
        }
        let place = file.messages.get(object.message).map(|span| (*span, object.number));
        file.places.push(place.filter(|_| object.logical.is_none()));
        let (dtype, shape) = object.logical.unwrap_or((object.descriptor.dtype, object.descriptor.shape));
        let entry = Entry::new(name, dtype, shape, object.direct);
        file.entries.push(Entry { attributes: object.attributes, ..entry });
        file.frames.push(object.frame);
        file.numbers.push((object.message, object.number));
    }
    Ok(file)
}

impl<S: ReadAt + Send + Sync> TensorFile for MessagesFile<S> {
    fn format(&self) -> Format {
        Format::Tensogram
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        self.metadata.as_ref()
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        &self.json_keys
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        match self.entries.get(index) {
            Some(Entry { span: Some(span), .. }) if !self.fetches_once(*span) => {
                self.verify(index)?;
                stream_range(&self.source, *span, take)
            }
            _ => take(&self.data(index)?),
        }
    }

    fn verifies(&self, index: usize) -> bool {
        self.frames.get(index).is_some_and(FrameRef::has_hash)
    }

    fn data(&self, index: usize) -> Result<Vec<u8>, ConvertError> {
        let Some(Entry { span: Some(span), .. }) = self.entries.get(index) else {
            let frame = self.fetched(index)?;
            self.verify_in(&frame, index)?;
            return self.decode(frame, index);
        };
        if self.fetches_once(*span) {
            let frame = self.fetched(index)?;
            self.verify_in(&frame, index)?;
            return Ok(frame.part(*span));
        }
        // The walk proved that the file has these bytes.
        let mut data = Vec::with_capacity(usize::try_from(span.len()).map_err(io::Error::other)?);
        self.stream(index, &mut |piece| {
            data.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(data)
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let entry = self.entries.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        match entry.span {
            Some(span) => slice_range(&self.source, entry, span, selection),
            None => match self.places.get(index) {
                Some(Some((message, object))) => self.part(*message, *object, selection),
                _ => cut(entry, &self.decode(self.fetched(index)?, index)?, selection),
            },
        }
    }

    fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    fn remarks(&self) -> Vec<Loss> {
        self.remarks.clone()
    }
}

impl<S: ReadAt> MessagesFile<S> {
    /// Compares the digest of an object with its bytes, where it has one.
    pub(super) fn verify(&self, index: usize) -> Result<(), ConvertError> {
        self.verify_in(&self.source, index)
    }

    /// The same with the bytes of `source`, which has the whole frame.
    fn verify_in(&self, source: &impl ReadAt, index: usize) -> Result<(), ConvertError> {
        object::verify(source, self.frame(index)?.span(), || self.place(index))
    }

    fn frame(&self, index: usize) -> Result<&FrameRef, ConvertError> {
        self.frames.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))
    }

    /// Whether elements that stand in the file as they are come with their frame, in one go: verifying a digest first reads
    /// everything twice, which takes no time from a file and much from a store.
    fn fetches_once(&self, span: Span) -> bool {
        self.source.cost().in_flight > 1 && span.len() <= READ_WHOLE
    }

    /// The frame of an object. The walk proved that the file has these bytes.
    fn fetched(&self, index: usize) -> Result<Fetched, ConvertError> {
        let span = self.frame(index)?.span();
        let mut bytes = vec![0; usize::try_from(span.len()).map_err(io::Error::other)?];
        self.source.read_exact_at(span.start, &mut bytes)?;
        Ok(Fetched { start: span.start, bytes })
    }

    /// The metadata of a message, with the keys of each object's preceder.
    pub(super) fn global_metadata(&self, number: usize) -> Result<GlobalMetadata, ConvertError> {
        let span = self.messages.get(number).copied().unwrap_or_default();
        let message = Message { source: &self.source, span };
        let mut buffers = Buffers::new();
        let read = message.outline(&mut buffers).and_then(|outline| message.metadata(&outline, &mut buffers));
        Ok(read.map_err(|error| error.shifted(span.start).on(format!("message[{number}]")))?)
    }

    /// What an object is, as its file has it.
    pub(super) fn descriptor(&self, index: usize) -> Result<DataObjectDescriptor, ConvertError> {
        // Positions are those of the file, of which the frame is a part.
        let whole = Message { source: &self.source, span: Span::new(0, self.source.len()?) };
        Ok(whole.object(self.frame(index)?, &mut Buffers::new())?.0)
    }

    /// An object by its place, with its name: `message 3, object 1 ("2t")`.
    fn place(&self, index: usize) -> String {
        let (message, object) = self.numbers.get(index).copied().unwrap_or_default();
        let name = self.entries.get(index).map_or("", |entry| entry.name.as_str());
        format!("message {message}, object {object} ({name:?})")
    }

    /// Part of one object, little endian: only the blocks of its codec that hold it are read and decoded.
    fn part(&self, message: Span, object: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let (options, mut buffers) = (DecodeOptions::default(), Buffers::new());
        let head = run(&self.source, &mut buffers, ReadHead::new(message, object, options.limits))?;
        let dtype = head.descriptor.dtype;
        let part = run(&self.source, &mut buffers, ReadSlice::new(head, selection.clone(), &options)?)?;
        let (shape, mut data) = (part.shape().to_vec(), part.into_data());
        if ByteOrder::NATIVE == ByteOrder::Big {
            fw_tensor::swap_in_place(&mut data, dtype.swap_unit());
        }
        Ok((shape, data))
    }

    /// The elements of one object, little endian.
    fn decode(&self, fetched: Fetched, index: usize) -> Result<Vec<u8>, ConvertError> {
        let (message, object) = self.numbers.get(index).copied().unwrap_or_default();
        let mut buffers = Buffers::new();
        buffers.insert(fetched.start, fetched.bytes);
        let frame = ObjectFrame { index: object, frame: *self.frame(index)? };
        let decoded = frame.decode(&buffers, &DecodeOptions::default());
        let DecodedObject { descriptor, bytes: mut data } =
            decoded.map_err(|error| error.on(format!("message[{message}]")))?;
        if ByteOrder::NATIVE == ByteOrder::Big {
            fw_tensor::swap_in_place(&mut data, descriptor.dtype.swap_unit());
        }
        Ok(data)
    }
}

/// What is known of a file while its messages are opened one after the other.
#[derive(Default)]
struct Reading {
    objects: Vec<Object>,
    /// The text map of each message.
    texts: Vec<BTreeMap<String, Text>>,
    /// Objects that are not described in a way that can be read.
    unreadable: Vec<Unreadable>,
    incomplete: Vec<usize>,
    remarks: Vec<Loss>,
}

/// A value of the metadata as text.
#[derive(Clone, PartialEq)]
struct Text {
    text: String,
    /// The text is the JSON of the value, which gives the value back.
    is_json: bool,
}

/// One text map for all messages: a key whose messages contradict each other appears once per message, as tensors do.
fn merged(messages: &[BTreeMap<String, Text>]) -> BTreeMap<String, Text> {
    let mut all = BTreeMap::new();
    for (key, text) in messages.iter().flatten() {
        let agreed = messages.iter().filter_map(|texts| texts.get(key)).all(|other| other == text);
        if agreed {
            all.insert(key.clone(), text.clone());
        } else {
            let held = messages.iter().enumerate().filter_map(|(number, texts)| Some((number, texts.get(key)?)));
            all.extend(held.map(|(number, text)| (format!("{number}/{key}"), text.clone())));
        }
    }
    all
}

struct Object {
    message: usize,
    number: usize,
    name: Option<String>,
    /// Its base entry, as far as JSON has a form for it.
    attributes: Attributes,
    /// What is said about it beyond that, which no other format has a place for.
    other_keys: Vec<String>,
    descriptor: DataObjectDescriptor,
    logical: Option<(fw_tensor::DType, Vec<u64>)>,
    frame: FrameRef,
    direct: Option<Span>,
}

impl Reading {
    /// Reads what the messages at `spans` say, frame after frame. Where requests take long, all that describes a number of
    /// messages is asked for together first.
    fn of(source: &impl ReadAt, spans: &[Span]) -> Result<Self, TensogramError> {
        let mut reading = Self::default();
        let is_far = source.cost().in_flight > 1;
        if is_far {
            source.prepare((spans.len().div_ceil(TOGETHER) as u64).saturating_mul(ROUNDS))?;
        }
        let mut number = 0;
        for some in spans.chunks(TOGETHER) {
            let mut fetched = Buffers::new();
            if is_far {
                let limits = Limits::default();
                let mut surveys: Vec<_> = some.iter().map(|span| ReadSurvey::new(*span, limits)).collect();
                drive_all::<_, TensogramError>(source, &mut fetched, some.len(), |place, have| {
                    surveys.get_mut(place).map_or(Ok(Step::need(Span::default())), |survey| survey.poll(have))
                })?;
            }
            for span in some {
                let message = Message { source, span: *span };
                let placed = |error: TensogramError| error.shifted(span.start).on(format!("message[{number}]"));
                reading.message(number, &message, &mut fetched).map_err(placed)?;
                fetched.release_before(span.end);
                number += 1;
            }
        }
        Ok(reading)
    }

    fn message(&mut self, number: usize, message: &Message<'_>, buffers: &mut Buffers) -> Result<(), TensogramError> {
        let outline = message.outline(buffers)?;
        let metadata = message.metadata(&outline, buffers)?;
        for (place, found) in outline.objects.iter().enumerate() {
            let object = message
                .object(&found.frame, buffers)
                .and_then(|(descriptor, region)| {
                    Object::new((number, place), message, found, &metadata, descriptor, region)
                })
                .map_err(|error| error.on(format!("object[{place}]")));
            match object {
                Ok(object) => self.objects.push(object),
                Err(error) if error.is_io() => return Err(error),
                // The others can be read.
                Err(error) => {
                    let (name, code) = (format!("message {number}, object {place}"), Some(error.code()));
                    let what = error.shifted(message.span.start).on(format!("message[{number}]")).to_string();
                    self.unreadable.push(Unreadable { name, what, code });
                    self.incomplete.push(number);
                }
            }
        }
        let texts = metadata.extra.iter().map(|(key, value)| (key.clone(), self.text(key, value))).collect();
        self.texts.push(texts);
        Ok(())
    }

    /// Text is kept; any other value becomes its JSON, which is told once per key, and is a loss where JSON has no form for it.
    fn text(&mut self, key: &str, value: &Value) -> Text {
        if let Value::Text(text) = value {
            return Text { text: text.clone(), is_json: false };
        }
        let json = json::from_value(value);
        let is_json = json.is_some();
        let remark = if is_json {
            Loss::new(Feature::MetadataForm, None, format!("{key:?} becomes JSON text"))
        } else {
            Loss::new(Feature::Metadata, None, format!("{key:?} becomes text; its type is lost"))
        };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
        let text = json.map_or_else(|| serde_json::to_string(value).unwrap_or_default(), |json| json.to_string());
        Text { text, is_json }
    }
}

impl Object {
    fn new(
        (message, number): (usize, usize),
        held: &Message<'_>,
        found: &ObjectRef,
        metadata: &GlobalMetadata,
        descriptor: DataObjectDescriptor,
        region: Span,
    ) -> Result<Self, TensogramError> {
        let empty = MetadataMap::new();
        let entry = metadata.base.get(number).unwrap_or(&empty);
        let given = names::given(metadata, number);
        let key = given.as_ref().map(|(key, _)| *key);
        let logical = carry::logical(&descriptor, entry);
        let mut attributes = Attributes::new();
        let mut other_keys = Vec::new();
        for (other, value) in entry {
            let said = other == RESERVED || other == carry::KEY && logical.is_some();
            if said || other == names::OURS && key == Some(names::OURS) {
                continue;
            }
            match json::from_value(value) {
                Some(value) => drop(attributes.insert(other.clone(), value)),
                None => other_keys.push(other.clone()),
            }
        }
        other_keys
            .extend(descriptor.params.keys().filter(|_| descriptor.is_raw()).map(|key| format!("descriptor {key}")));
        let frame = found.frame.shifted(held.span.start);
        let direct = object::direct(&descriptor, region)?.map(|span| held.in_file(span));
        let name = given.map(|(_, name)| name);
        Ok(Self { message, number, name, attributes, other_keys, descriptor, logical, frame, direct })
    }
}

/// The frame of an object, with its place in the file.
struct Fetched {
    start: u64,
    bytes: Vec<u8>,
}

impl Fetched {
    /// The bytes at `span` of the file, which lies in the frame.
    fn part(mut self, span: Span) -> Vec<u8> {
        let within = |position: u64| (position.saturating_sub(self.start) as usize).min(self.bytes.len());
        let (start, end) = (within(span.start), within(span.end));
        self.bytes.truncate(end);
        self.bytes.drain(..start.min(end));
        self.bytes
    }
}

impl ReadAt for Fetched {
    fn len(&self) -> io::Result<u64> {
        Ok(self.start.saturating_add(self.bytes.len() as u64))
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.bytes[..].read_exact_at(offset.saturating_sub(self.start), buffer)
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}

/// Messages that are asked about together, from a store.
const TOGETHER: usize = 64;
/// Rounds of requests that this takes.
const ROUNDS: u64 = 4;
