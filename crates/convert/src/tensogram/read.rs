//! An open file of messages. Opening walks the frames and reads metadata and descriptors, no data.

use super::{carry, json, names, object};
use crate::model::{Attributes, Entry, Pieces, TensorFile, Unreadable, cut, slice_range, stream_range};
use crate::{ConvertError, Feature, Format, Loss};
use fw_bytes::{Limits, Span};
use fw_source::{Buffers, ReadAt, drive};
use fw_tensogram::access::{ObjectFrame, ReadHead, ReadSlice, run};
use fw_tensogram::frame::{FrameRef, ObjectRef, Outline, OutlineBuilder, object_parts};
use fw_tensogram::{
    DataObjectDescriptor, DecodeOptions, DecodedObject, GlobalMetadata, MetadataMap, TensogramError, Value, scan_source,
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
    let spans = scan_source(&source, &Default::default())?;
    if spans.is_empty() {
        let message = format!("{name}: contains no Tensogram message");
        return Err(ConvertError::format("no_message", message, None));
    }
    let mut reading = Reading::default();
    for (number, span) in spans.iter().enumerate() {
        let message = Message { source: &source, span: *span };
        let placed = |error: TensogramError| error.shifted(span.start).on(format!("message[{number}]"));
        reading.message(number, &message).map_err(placed)?;
    }
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
        self.verify(index)?;
        match self.entries.get(index) {
            Some(Entry { span: Some(span), .. }) => stream_range(&self.source, *span, take),
            _ => take(&self.decoded(index)?),
        }
    }

    fn data(&self, index: usize) -> Result<Vec<u8>, ConvertError> {
        let Some(Entry { span: Some(span), .. }) = self.entries.get(index) else {
            self.verify(index)?;
            return self.decoded(index);
        };
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
                _ => cut(entry, &self.decoded(index)?, selection),
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
        let frame = self.frames.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        object::verify(&self.source, frame.span(), || self.place(index))
    }

    /// The metadata of a message, with the keys of each object's preceder.
    pub(super) fn global_metadata(&self, number: usize) -> Result<GlobalMetadata, ConvertError> {
        let span = self.messages.get(number).copied().unwrap_or_default();
        let message = Message { source: &self.source, span };
        let read = message.outline(&mut Buffers::new()).and_then(|outline| message.metadata(&outline));
        Ok(read.map_err(|error| error.shifted(span.start).on(format!("message[{number}]")))?)
    }

    /// What an object is, as its file has it.
    pub(super) fn descriptor(&self, index: usize) -> Result<DataObjectDescriptor, ConvertError> {
        let frame = self.frames.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        // Positions are those of the file, of which the frame is a part.
        let whole = Message { source: &self.source, span: Span::new(0, self.source.len()?) };
        Ok(whole.object(&ObjectRef { frame: *frame, preceder: None }, &mut Buffers::new())?.0)
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
    fn decoded(&self, index: usize) -> Result<Vec<u8>, ConvertError> {
        let (Some(frame), Some((message, object))) = (self.frames.get(index), self.numbers.get(index)) else {
            return Err(ConvertError::NotFound(format!("#{index}")));
        };
        let span = frame.span();
        // The walk proved that the file has these bytes.
        let mut bytes = vec![0; usize::try_from(span.len()).map_err(io::Error::other)?];
        self.source.read_exact_at(span.start, &mut bytes)?;
        let mut buffers = Buffers::new();
        buffers.insert(span.start, bytes);
        let frame = ObjectFrame { index: *object, frame: *frame };
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
    fn message(&mut self, number: usize, message: &Message<'_>) -> Result<(), TensogramError> {
        let mut buffers = Buffers::new();
        let outline = message.outline(&mut buffers)?;
        let metadata = message.metadata(&outline)?;
        for (place, found) in outline.objects.iter().enumerate() {
            let object = message
                .object(found, &mut buffers)
                .and_then(|(descriptor, region)| {
                    Object::new((number, place), message, found, &metadata, descriptor, region)
                })
                .map_err(|error| error.on(format!("object[{place}]")));
            match object {
                Ok(object) => self.objects.push(object),
                Err(error @ TensogramError::Io(_)) => return Err(error),
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

/// One message of the file, read range by range; positions count from its first byte.
struct Message<'a> {
    source: &'a dyn ReadAt,
    span: Span,
}

impl ReadAt for Message<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.span.len())
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.source.read_exact_at(self.span.start.saturating_add(offset), buffer)
    }
}

impl Message<'_> {
    fn in_file(&self, span: Span) -> Span {
        Span::new(self.span.start.saturating_add(span.start), self.span.start.saturating_add(span.end))
    }

    fn outline(&self, buffers: &mut Buffers) -> Result<Outline, TensogramError> {
        let mut builder = OutlineBuilder::new(self.span.len(), Limits::default());
        drive(self, buffers, |have| builder.poll(have))
    }

    /// The last metadata frame, with the keys of each object's preceder on top.
    fn metadata(&self, outline: &Outline) -> Result<GlobalMetadata, TensogramError> {
        let mut metadata = match outline.metadata() {
            Some(frame) => self.metadata_frame(&frame)?,
            None => GlobalMetadata::default(),
        };
        let (entries, objects) = (metadata.base.len(), outline.objects.len());
        if entries > objects {
            // Which object was lost cannot be told, and so not what the others are called.
            let text = format!("{entries} base entries for {objects} objects; run fw recover to save what is intact");
            let fault = fw_tensogram::Fault::format("base_count_exceeds_objects", text);
            return Err(TensogramError::Metadata(fault));
        }
        metadata.base.resize_with(objects, Default::default);
        for (entry, object) in metadata.base.iter_mut().zip(&outline.objects) {
            if let Some(preceder) = &object.preceder {
                entry.extend(self.metadata_frame(preceder)?.base.into_iter().flatten());
            }
        }
        Ok(metadata)
    }

    fn metadata_frame(&self, frame: &FrameRef) -> Result<GlobalMetadata, TensogramError> {
        GlobalMetadata::from_cbor(&self.bytes(frame.body())?, frame.body().start, &Limits::default())
    }

    fn object(
        &self,
        object: &ObjectRef,
        buffers: &mut Buffers,
    ) -> Result<(DataObjectDescriptor, Span), TensogramError> {
        let parts = drive(self, buffers, |have| object_parts(&object.frame, have))?;
        buffers.release_before(object.frame.end());
        let cbor = self.bytes(parts.descriptor)?;
        let descriptor = DataObjectDescriptor::from_cbor(&cbor, parts.descriptor.start, &Limits::default())?;
        Ok((descriptor, parts.region))
    }

    /// Bytes of the message, which the walk proved to exist.
    fn bytes(&self, span: Span) -> Result<Vec<u8>, TensogramError> {
        let limit = Limits::default().metadata_len;
        if span.len() > limit {
            let message = format!("metadata of {} bytes is above the limit of {limit}", span.len());
            return Err(TensogramError::Metadata(
                fw_tensogram::Fault::limit("limit_metadata_len", message).at(span.start),
            ));
        }
        let mut bytes = vec![0; usize::try_from(span.len()).map_err(io::Error::other)?];
        self.read_exact_at(span.start, &mut bytes)?;
        Ok(bytes)
    }
}
