//! A new file: one message, an object per tensor, written as the tensors come.

use super::bits::{Storage, storage, unrestored};
use super::{carry, json, names};
use crate::model::Attributes;
use crate::{ConvertError, NanBits};
use fw_source::AtomicFile;
use fw_tensogram::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, MetadataMap, StreamingEncoder, Value};
use fw_tensor::{ByteOrder, DType};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufWriter;
use std::path::Path;

/// A text map as a message has it: texts, and the values that the texts of `json_keys` stand for.
pub(crate) fn values(texts: Option<&BTreeMap<String, String>>, json_keys: &BTreeSet<String>) -> MetadataMap {
    let value = |key: &String, text: &String| {
        let json = json_keys.contains(key).then(|| serde_json::from_str(text).ok()).flatten();
        json.map_or_else(|| Value::from(text.as_str()), |json| json::to_value(&json))
    };
    texts.into_iter().flatten().map(|(key, text)| (key.clone(), value(key, text))).collect()
}

/// What is said about a tensor: its name, for a carried type the type and shape it stands for, and its attributes.
pub(crate) fn described(name: &str, logical: Option<&(DType, Vec<u64>)>, attributes: &Attributes) -> MetadataMap {
    let mut entry: MetadataMap = attributes.iter().map(|(key, value)| (key.clone(), json::to_value(value))).collect();
    entry.insert(names::OURS.to_owned(), Value::from(name));
    if let Some((dtype, shape)) = logical {
        entry.insert(carry::KEY.to_owned(), carry::value(*dtype, shape));
    }
    entry
}

/// Writes a file whole or not at all.
pub(crate) struct Writer {
    stream: StreamingEncoder<BufWriter<AtomicFile>>,
    /// What is said about the tensors to come.
    entries: std::vec::IntoIter<MetadataMap>,
    nan_bits: NanBits,
}

impl Writer {
    /// Begins a file of such tensors, with this said about all of them.
    pub(crate) fn create(
        path: &Path,
        base: Vec<MetadataMap>,
        extra: MetadataMap,
        nan_bits: NanBits,
    ) -> Result<Self, ConvertError> {
        let metadata = GlobalMetadata { base, extra, ..GlobalMetadata::default() };
        let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
        let sink = BufWriter::with_capacity(1 << 20, AtomicFile::create(path)?);
        let stream = StreamingEncoder::new(sink, &metadata, &options)?;
        Ok(Self { stream, entries: metadata.base.into_iter(), nan_bits })
    }

    /// Adds a tensor of little-endian elements, and says how many of them will come back with other bits.
    pub(crate) fn put(&mut self, dtype: DType, shape: &[u64], data: &[u8]) -> Result<u64, ConvertError> {
        let mut descriptor = DataObjectDescriptor::new(dtype, shape)?;
        descriptor.byte_order = ByteOrder::Little;
        // A stream declares that its objects are announced, and whoever reads it as it comes wants the name first.
        if let Some(entry) = self.entries.next() {
            self.stream.write_preceder(&entry)?;
        }
        if self.nan_bits == NanBits::Keep && storage(dtype, data) == Storage::AsIs {
            self.stream.write_object_pre_encoded(&descriptor, data)?;
            return Ok(0);
        }
        self.stream.write_object(&descriptor, data)?;
        Ok(unrestored(dtype, data))
    }

    pub(crate) fn finish(self) -> Result<(), ConvertError> {
        let sink = self.stream.finish_with_backfill()?;
        sink.into_inner().map_err(|error| ConvertError::Io(error.into_error()))?.commit()?;
        Ok(())
    }
}
