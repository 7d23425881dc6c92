//! One message of a file, or all tensors of a file without messages: what queries look keys up in.

use super::value::{cbor, cbor_at, cbor_map, json_at, json_map, of_json};
use fw_bytes::Span;
use fw_convert::{Entry, Format, Named, named_objects};
use fw_query::{Map, OneObject, Record, Segment, Value, Where, WholeRecord, leaf_keys};
use fw_tensogram::{DataObjectDescriptor, GlobalMetadata, Survey, SurveyedObject, wire};
use serde_json as json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A message of a Tensogram file; for any other format all tensors of the file, as if it were one message.
///
/// Keys are looked up as [`Record`] says. Besides the fields that it names, an object has `name` (what `fw ls` calls it),
/// `type`, `byte_order`, `ndim`, `strides`, `masks`, `hashed`, `file`, and the parameters of its codecs, such as
/// `objects[0].sp_bits_per_value`.
#[derive(Debug)]
pub struct FileRecord {
    /// Position of the message in its file.
    index: usize,
    /// The bytes of the message in its file.
    span: Span,
    file: Arc<str>,
    content: Content,
    names: OnceLock<Vec<String>>,
}

#[derive(Debug)]
enum Content {
    Message(Box<Survey>),
    Tensors(Arc<Tensors>),
}

/// What a file without messages holds.
#[derive(Debug)]
pub(crate) struct Tensors {
    pub(super) format: Format,
    pub(super) entries: Vec<Entry>,
    pub(super) extra: json::Map<String, json::Value>,
}

impl Tensors {
    /// The text map as values: texts that stand for values of another kind become those.
    pub(super) fn extra(
        metadata: Option<&BTreeMap<String, String>>,
        is_json: impl Fn(&str) -> bool,
    ) -> json::Map<String, json::Value> {
        let value = |key: &str, text: &str| {
            let parsed = is_json(key).then(|| json::from_str(text).ok()).flatten();
            parsed.unwrap_or_else(|| json::Value::from(text))
        };
        metadata.into_iter().flatten().map(|(key, text)| (key.clone(), value(key, text))).collect()
    }
}

/// What the descriptor of an object says, whatever the format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObjectInfo<'r> {
    /// Position among the objects of the record.
    pub index: usize,
    /// Its descriptor, in a Tensogram message whose descriptor can be read.
    pub descriptor: Option<&'r DataObjectDescriptor>,
    /// Its entry, in any other format.
    pub entry: Option<&'r Entry>,
}

impl FileRecord {
    pub(super) fn message(index: usize, span: Span, file: Arc<str>, survey: Survey) -> Self {
        Self { index, span, file, content: Content::Message(Box::new(survey)), names: OnceLock::new() }
    }

    pub(super) fn tensors(span: Span, file: Arc<str>, tensors: Arc<Tensors>) -> Self {
        Self { index: 0, span, file, content: Content::Tensors(tensors), names: OnceLock::new() }
    }

    /// Position of the message in its file, from 0 on.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The bytes of the message in its file; of a format without messages all bytes.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// The file it is from, as the user calls it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The format of the file.
    pub fn format(&self) -> Format {
        match &self.content {
            Content::Message(_) => Format::Tensogram,
            Content::Tensors(tensors) => tensors.format,
        }
    }

    /// What could be read of a Tensogram message; `None` for other formats. Positions of frames count from the first byte of the
    /// message.
    pub fn survey(&self) -> Option<&Survey> {
        match &self.content {
            Content::Message(survey) => Some(survey),
            Content::Tensors(_) => None,
        }
    }

    /// The metadata of a Tensogram message, where it can be read.
    pub fn metadata(&self) -> Option<&GlobalMetadata> {
        self.survey()?.metadata.as_ref().ok()
    }

    /// The tensors of a file without messages; empty for a Tensogram message.
    pub fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Message(_) => &[],
            Content::Tensors(tensors) => &tensors.entries,
        }
    }

    /// The positions of the objects, first to last. A damaged message may have lost some.
    pub fn objects(&self) -> Vec<usize> {
        match &self.content {
            Content::Message(survey) => survey.objects.iter().map(|object| object.index).collect(),
            Content::Tensors(tensors) => (0..tensors.entries.len()).collect(),
        }
    }

    /// What is known of the object at `index`.
    pub fn object(&self, index: usize) -> Option<ObjectInfo<'_>> {
        match &self.content {
            Content::Message(_) => {
                let descriptor = self.surveyed(index)?.descriptor.as_ref().ok();
                Some(ObjectInfo { index, descriptor, entry: None })
            }
            Content::Tensors(tensors) => {
                Some(ObjectInfo { index, descriptor: None, entry: Some(tensors.entries.get(index)?) })
            }
        }
    }

    /// The object at `index` of a Tensogram message.
    pub fn surveyed(&self, index: usize) -> Option<&SurveyedObject> {
        let objects = &self.survey()?.objects;
        // Only damaged messages lack objects.
        let at = |place: &usize| objects.get(*place).is_some_and(|object| object.index == index);
        let place = Some(index).filter(at).or_else(|| objects.iter().position(|object| object.index == index));
        objects.get(place?)
    }

    /// What the object at `index` is called, made unique within the record: by `name`, `param`, `mars.param`, `short_name` or
    /// `shortName` in a Tensogram message, `object_0` where none of them is present.
    pub fn name(&self, index: usize) -> Cow<'_, str> {
        match &self.content {
            Content::Tensors(tensors) => {
                tensors.entries.get(index).map_or(Cow::Borrowed(""), |entry| entry.name.as_str().into())
            }
            Content::Message(_) => {
                let names = self.names.get_or_init(|| self.metadata().map_or_else(Vec::new, named_objects));
                names.get(index).map_or_else(|| Cow::Owned(format!("object_{index}")), |name| name.as_str().into())
            }
        }
    }

    /// Element type and shape of the object at `index` as its user sees them: a type that Tensogram does not have, carried as
    /// bytes, is what it stands for.
    pub fn named(&self, index: usize) -> Option<Named> {
        match &self.content {
            Content::Message(survey) => {
                let descriptor = self.surveyed(index)?.descriptor.as_ref().ok()?;
                Some(match &survey.metadata {
                    Ok(metadata) => Named::new(descriptor, metadata, index),
                    Err(_) => Named::of(descriptor),
                })
            }
            Content::Tensors(tensors) => {
                let entry = tensors.entries.get(index)?;
                Some(Named { dtype: entry.dtype, shape: entry.shape.clone(), carried: false })
            }
        }
    }

    /// The objects that a filter selects, each judged by its own metadata.
    pub fn selected(&self, filter: &Where) -> Vec<usize> {
        let mut objects = self.objects();
        if !filter.is_empty() {
            objects.retain(|index| filter.matches(&OneObject(self, *index)));
        }
        objects
    }

    /// Whether a filter selects the message: one of its objects, or the message itself when it has none.
    pub fn matches(&self, filter: &Where) -> bool {
        if filter.is_empty() {
            return true;
        }
        let objects = self.objects();
        match objects.is_empty() {
            true => filter.matches(&WholeRecord(self)),
            false => objects.iter().any(|index| filter.matches(&OneObject(self, *index))),
        }
    }

    /// The keys that a user can select by, as they are written: those of the metadata of every object and of the message. Fields
    /// such as `shape` are not among them.
    pub fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        let maps = self.objects().into_iter().filter_map(|index| self.base(index)).chain(self.extra());
        for map in maps {
            for key in leaf_keys(&Value::Map(map)) {
                let key = key.to_string();
                if !key.starts_with(RESERVED) && !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        keys
    }
}

impl Record for FileRecord {
    fn object_count(&self) -> usize {
        match &self.content {
            Content::Message(survey) => survey.objects.last().map_or(0, |object| object.index.saturating_add(1)),
            Content::Tensors(tensors) => tensors.entries.len(),
        }
    }

    fn base(&self, index: usize) -> Option<Map<'_>> {
        match &self.content {
            Content::Message(_) => self.metadata()?.base.get(index).map(cbor_map),
            Content::Tensors(tensors) => tensors.entries.get(index).map(|entry| json_map(&entry.attributes)),
        }
    }

    fn extra(&self) -> Option<Map<'_>> {
        match &self.content {
            Content::Message(_) => Some(cbor_map(&self.metadata()?.extra)),
            Content::Tensors(tensors) => Some(json_map(&tensors.extra)),
        }
    }

    fn base_value(&self, index: usize, path: &[Segment]) -> Option<Value<'_>> {
        match &self.content {
            Content::Message(_) => cbor_at(self.metadata()?.base.get(index)?, path),
            Content::Tensors(tensors) => json_at(&tensors.entries.get(index)?.attributes, path),
        }
    }

    fn extra_value(&self, path: &[Segment]) -> Option<Value<'_>> {
        match &self.content {
            Content::Message(_) => cbor_at(&self.metadata()?.extra, path),
            Content::Tensors(tensors) => {
                // Keys of text maps often hold dots of their own, such as `general.architecture`.
                json_at(&tensors.extra, path).or_else(|| of_json(tensors.extra.get(&dotted(path)?)?).into())
            }
        }
    }

    fn object_field(&self, index: usize, field: &str) -> Option<Value<'_>> {
        match field {
            "file" => return Some(Value::from(self.file())),
            "format" => return Some(Value::from(self.format().name())),
            _ => {}
        }
        match &self.content {
            Content::Message(_) => {
                let object = self.surveyed(index)?;
                if field == "name" {
                    return Some(Value::Text(self.name(index)));
                }
                descriptor_field(object, field)
            }
            Content::Tensors(tensors) => {
                let entry = tensors.entries.get(index)?;
                Some(match field {
                    "name" => Value::from(entry.name.as_str()),
                    "shape" => Value::from(&entry.shape[..]),
                    "dtype" => Value::from(entry.type_name()),
                    "encoding" if entry.block_type.is_some() => Value::from(entry.type_name()),
                    "encoding" | "filter" | "compression" => Value::from("none"),
                    "nbytes" => Value::from(entry.byte_len().ok()?),
                    "stored_bytes" => Value::from(entry.span?.len()),
                    "ndim" => Value::from(entry.shape.len() as u64),
                    "byte_order" => Value::from("little"),
                    _ => return None,
                })
            }
        }
    }

    fn message_field(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "index" => Value::from(self.index as u64),
            "offset" => Value::from(self.span.start),
            "length" => Value::from(self.span.len()),
            _ => return None,
        })
    }

    fn version(&self) -> Option<Value<'_>> {
        self.survey().map(|_| Value::from(wire::VERSION))
    }
}

/// What the descriptor of an object says under a name of ours, else the codec parameter of that name.
fn descriptor_field<'r>(object: &'r SurveyedObject, field: &str) -> Option<Value<'r>> {
    let stored = || Value::from(object.parts.region.len());
    let Ok(descriptor) = &object.descriptor else { return (field == "stored_bytes").then(stored) };
    Some(match field {
        "shape" => Value::from(&descriptor.shape[..]),
        "dtype" => Value::from(descriptor.dtype.name()),
        "encoding" => Value::from(descriptor.encoding.as_str()),
        "filter" => Value::from(descriptor.filter.as_str()),
        "compression" => Value::from(descriptor.compression.as_str()),
        "nbytes" => Value::from(descriptor.decoded_len().ok()?),
        "stored_bytes" => stored(),
        "type" => Value::from(descriptor.obj_type.as_str()),
        "byte_order" => Value::from(descriptor.byte_order.name()),
        "ndim" => Value::from(descriptor.ndim),
        "strides" => Value::from(&descriptor.strides[..]),
        "hashed" => Value::from(object.frame.has_hash()),
        "masks" => {
            let masks = descriptor.masks.iter().flat_map(|masks| masks.iter());
            Value::from(masks.map(|(kind, _)| Value::from(kind.key())).collect::<Vec<_>>())
        }
        other => cbor(descriptor.params.get(other)?),
    })
}

/// A path of keys as one key with dots.
fn dotted(path: &[Segment]) -> Option<String> {
    let keys = path.iter().map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    Some(keys.collect::<Option<Vec<_>>>()?.join("."))
}

const RESERVED: &str = "_reserved_";
