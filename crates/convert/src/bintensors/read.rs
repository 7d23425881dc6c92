//! An open BinTensors file. Carried element types appear as what they are.

use crate::model::{Entry, Located, Pieces, TensorFile, alignment_of, slice_range, stream_range};
use crate::{ConvertError, Format, attributes};
use fw_bintensors::{DTYPE_KEY_PREFIX, HeaderAlignment, ReadOptions, Reader, SHAPE_KEY_PREFIX, logical};
use fw_source::ReadAt;
use fw_tensor::Selection;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct BinTensorsFile<S> {
    reader: Reader<S>,
    entries: Vec<Entry>,
    metadata: Option<BTreeMap<String, String>>,
    json_keys: BTreeSet<String>,
}

/// A file behind any source; opening reads its header only.
pub(super) fn open<S: ReadAt>(source: S, options: &ReadOptions) -> Result<BinTensorsFile<S>, ConvertError> {
    let reader = Reader::new(source, options)?;
    let header = reader.metadata();
    let mut metadata = header.metadata().map(|user| user.to_map());
    let get = |key: &str| metadata.as_ref().and_then(|map| map.get(key)).map(String::as_str);
    let mut entries: Vec<Entry> = header
        .infos()
        .map(|info| {
            let (dtype, shape) = logical(&info, get);
            Entry::new(info.name.to_owned(), dtype, shape, Some(header.span(&info)))
        })
        .collect();
    // The entries above say what these keys said; other formats have no use for them.
    if let Some(map) = &mut metadata {
        let had = map.len();
        for entry in entries.iter().filter(|entry| fw_bintensors::Dtype::from_common(entry.dtype).is_none()) {
            map.remove(&format!("{DTYPE_KEY_PREFIX}{}", entry.name));
            map.remove(&format!("{SHAPE_KEY_PREFIX}{}", entry.name));
        }
        if had > 0 && map.is_empty() {
            metadata = None;
        }
    }
    attributes::restore(&mut entries, &mut metadata);
    let json_keys = attributes::restore_keys(&mut metadata);
    Ok(BinTensorsFile { reader, entries, metadata, json_keys })
}

impl<S: ReadAt + Send + Sync + 'static> TensorFile for BinTensorsFile<S> {
    fn format(&self) -> Format {
        Format::BinTensors
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

    fn located(&self, index: usize) -> Option<Located<'_>> {
        Located::of(self.reader.source(), self.entries().get(index))
    }

    fn alignment(&self) -> HeaderAlignment {
        let header = self.reader.metadata();
        alignment_of(header.data_start(), header.header_len().saturating_sub(header.body_len()))
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        match self.entries.get(index).and_then(|entry| entry.span) {
            Some(span) => stream_range(self.reader.source(), span, take),
            None => Err(ConvertError::NotFound(format!("#{index}"))),
        }
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let entry = self.entries.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        slice_range(self.reader.source(), entry, entry.span.unwrap_or_default(), selection)
    }
}
