//! A new file: one message, an object per tensor, written as the tensors come.

use super::bits::{self, unrestored};
use super::{Messages, carry, has, json, names, stored_shape};
use crate::contract::{Carried, MetadataPlace, Storage, Writable};
use crate::contract::{Output, Planned};
use crate::loss::Item;
use crate::model::{Attributes, Entry};
use crate::{ConvertError, Feature, Loss, NanBits};
use fw_source::AtomicFile;
use fw_tensogram::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, MetadataMap, StreamingEncoder, Value};
use fw_tensor::{ByteOrder, DType};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufWriter;
use std::path::Path;

impl Writable for Messages {
    fn storage(&self, entry: &Entry) -> Result<Storage, ConvertError> {
        if has(entry.dtype) {
            return Ok(Storage::Native);
        }
        Ok(Storage::Carried(Carried {
            dtype: DType::UInt8,
            shape: stored_shape(entry.dtype, &entry.shape)?,
            logical: Some((entry.dtype, entry.shape.clone())),
            metadata: Vec::new(),
        }))
    }

    fn metadata_place(&self) -> MetadataPlace {
        MetadataPlace::Values
    }

    fn outcome(&self, item: Item) -> &'static str {
        match item {
            Item::Names | Item::Metadata | Item::MetadataValues | Item::TensorMetadata | Item::Order => "kept",
            Item::EmptyMetadata => "dropped",
            Item::MetadataBeyondJson => "as text, type lost",
            Item::NanBits | Item::HalfFinite => "lost, or kept on request",
        }
    }

    fn write(&self, output: &mut Output<'_, '_>) -> Result<Vec<Loss>, ConvertError> {
        let (source, tensors, mut losses) = (output.source(), output.tensors(), Vec::new());
        let said = |tensor: &&Planned| {
            let none = Attributes::new();
            let attributes = source.entries().get(tensor.index).map_or(&none, |entry| &entry.attributes);
            described(&tensor.name, tensor.logical.as_ref(), attributes)
        };
        let extra = values(output.metadata().as_ref(), source.json_keys());
        let base = tensors.iter().map(said).collect();
        let mut out = Writer::create(output.path(), base, extra, output.options().nan_bits)?;
        let mut data = Vec::new();
        for tensor in tensors {
            // A frame begins with what is known only at the end of its data: one tensor is held at a time.
            source.check_held(tensor.index)?;
            data.clear();
            output.stream(tensor, |piece| {
                data.extend_from_slice(piece);
                Ok(())
            })?;
            if out.put(tensor.dtype, &tensor.shape, &data)? > 0 {
                let what = "NaN with payload bits, or a half-finite complex number, is read back as plain NaN";
                losses.push(Loss::new(Feature::NanBits, Some(tensor.name.clone()), what.to_owned()));
            }
        }
        out.finish()?;
        Ok(losses)
    }
}

/// A text map as a message has it: texts, and the values that the texts of `json_keys` stand for.
fn values(texts: Option<&BTreeMap<String, String>>, json_keys: &BTreeSet<String>) -> MetadataMap {
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
        if self.nan_bits == NanBits::Keep && bits::storage(dtype, data) == bits::Storage::AsIs {
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
