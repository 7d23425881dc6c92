//! A new file: one message, an object per tensor, written as the tensors come.

use super::bits::{Storage, storage};
use super::carry;
use crate::ConvertError;
use fw_source::AtomicFile;
use fw_tensogram::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, MetadataMap, StreamingEncoder, Value};
use fw_tensor::{ByteOrder, DType};
use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::Path;

/// The metadata of a message of such tensors: the name, and for a carried type the type and shape it stands for.
pub(crate) fn metadata<'a>(
    tensors: impl Iterator<Item = (&'a str, Option<&'a (DType, Vec<u64>)>)>,
    texts: Option<&BTreeMap<String, String>>,
) -> GlobalMetadata {
    let entry = |(name, logical): (&str, Option<&(DType, Vec<u64>)>)| {
        let mut entry = MetadataMap::from([("name".to_owned(), Value::from(name))]);
        if let Some((dtype, shape)) = logical {
            entry.insert(carry::KEY.to_owned(), carry::value(*dtype, shape));
        }
        entry
    };
    let extra = texts.into_iter().flatten().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect();
    GlobalMetadata { base: tensors.map(entry).collect(), extra, ..GlobalMetadata::default() }
}

/// Writes a file whole or not at all.
pub(crate) struct Writer {
    stream: StreamingEncoder<BufWriter<AtomicFile>>,
    /// What is said about the tensors to come.
    entries: std::vec::IntoIter<MetadataMap>,
}

impl Writer {
    pub(crate) fn create(path: &Path, metadata: &GlobalMetadata) -> Result<Self, ConvertError> {
        let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
        let sink = BufWriter::with_capacity(1 << 20, AtomicFile::create(path)?);
        let stream = StreamingEncoder::new(sink, metadata, &options)?;
        Ok(Self { stream, entries: metadata.base.clone().into_iter() })
    }

    /// Adds a tensor of little-endian elements.
    pub(crate) fn put(&mut self, dtype: DType, shape: &[u64], data: &[u8]) -> Result<(), ConvertError> {
        let mut descriptor = DataObjectDescriptor::new(dtype, shape)?;
        descriptor.byte_order = ByteOrder::Little;
        // A stream declares that its objects are announced, and whoever reads it as it comes wants the name first.
        if let Some(entry) = self.entries.next() {
            self.stream.write_preceder(&entry)?;
        }
        match storage(dtype, data) {
            Storage::Masked => self.stream.write_object(&descriptor, data)?,
            Storage::AsIs => self.stream.write_object_pre_encoded(&descriptor, data)?,
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), ConvertError> {
        let sink = self.stream.finish_with_backfill()?;
        sink.into_inner().map_err(|error| ConvertError::Io(error.into_error()))?.commit()?;
        Ok(())
    }
}
