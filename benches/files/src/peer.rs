//! The reference's side of every row, through its public functions.

use fw_tensogram::{MetadataMap, Value};
use std::collections::BTreeMap;
use std::path::Path;
use tensogram::{DecodeOptions, GlobalMetadata, TensogramFile};

/// Opens a file and counts its messages.
pub(crate) fn count(path: &Path) -> usize {
    open(path).message_count().expect("counts")
}

/// Opens a file and reads the metadata of its first message.
pub(crate) fn metadata(path: &Path) -> GlobalMetadata {
    open(path).decode_metadata(0).expect("metadata")
}

/// Decodes one object of a message in memory.
pub(crate) fn object(message: &[u8], index: usize) -> Vec<u8> {
    tensogram::decode_object(message, index, &DecodeOptions::default()).expect("decodes").2
}

/// Maps a file and decodes the first object of its first message.
pub(crate) fn first_mapped(path: &Path) -> Vec<u8> {
    let file = TensogramFile::open_mmap(path).expect("maps");
    let (_, objects) = file.decode_message(0, &DecodeOptions::default()).expect("decodes");
    objects.into_iter().next().expect("one object").1
}

/// Opens a file and reads ranges (first element, elements) of one object of its first message.
pub(crate) fn ranges(path: &Path, object: usize, ranges: &[(u64, u64)]) -> Vec<Vec<u8>> {
    let message = open(path).read_message(0).expect("reads");
    tensogram::decode_range(&message, object, ranges, &DecodeOptions::default()).expect("decodes").1
}

/// The peer's metadata as ours, to be compared.
pub(crate) fn as_ours(metadata: &GlobalMetadata) -> fw_tensogram::GlobalMetadata {
    fw_tensogram::GlobalMetadata {
        base: metadata.base.iter().map(map).collect(),
        reserved: map(&metadata.reserved),
        extra: map(&metadata.extra),
    }
}

fn open(path: &Path) -> TensogramFile {
    TensogramFile::open(path).expect("opens")
}

fn map(entries: &BTreeMap<String, ciborium::Value>) -> MetadataMap {
    entries.iter().map(|(key, entry)| (key.clone(), value(entry))).collect()
}

fn value(from: &ciborium::Value) -> Value {
    use ciborium::Value as From;
    match from {
        From::Null => Value::Null,
        From::Bool(bool) => Value::Bool(*bool),
        From::Integer(integer) => Value::Integer(i128::from(*integer)),
        From::Float(float) => Value::Float(*float),
        From::Text(text) => Value::Text(text.clone()),
        From::Bytes(bytes) => Value::Bytes(bytes.clone()),
        From::Array(values) => Value::Array(values.iter().map(value).collect()),
        From::Map(entries) => Value::Map(entries.iter().map(|(key, entry)| (value(key), value(entry))).collect()),
        From::Tag(tag, inner) => Value::Tag(*tag, Box::new(value(inner))),
        other => panic!("the fixtures hold nothing like {other:?}"),
    }
}
