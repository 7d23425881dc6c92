//! An open safetensors file.

use super::header::{Header, header_len, parse};
use crate::model::{Entry, Located, Pieces, TensorFile, alignment_of, slice_range, stream_range};
use crate::report::SIZE_LEN;
use crate::{ConvertError, Format, attributes};
use fw_bintensors::HeaderAlignment;
use fw_source::ReadAt;
use fw_tensor::Selection;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct SafeTensorsFile<S> {
    source: S,
    header: Header,
    json_keys: BTreeSet<String>,
}

/// A file behind any source; opening reads its header only.
pub(super) fn open<S: ReadAt>(source: S) -> Result<SafeTensorsFile<S>, ConvertError> {
    let bytes = read_head(&source)?;
    let mut header = parse(&bytes, source.len()?)?;
    attributes::restore(&mut header.entries, &mut header.metadata);
    let json_keys = attributes::restore_keys(&mut header.metadata);
    Ok(SafeTensorsFile { source, header, json_keys })
}

impl<S> SafeTensorsFile<S> {
    /// Keys of the metadata that appear more than once.
    pub(super) fn repeated(&self) -> &[String] {
        &self.header.repeated
    }
}

/// The length field and the header.
fn read_head(source: &impl ReadAt) -> Result<Vec<u8>, ConvertError> {
    let file_len = source.len()?;
    let mut size = vec![0u8; file_len.min(SIZE_LEN) as usize];
    source.read_exact_at(0, &mut size)?;
    let len = header_len(&size, file_len)?;
    // The file has proved to be that long.
    let mut bytes = vec![0u8; usize::try_from(SIZE_LEN.saturating_add(len)).map_err(std::io::Error::other)?];
    source.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

impl<S: ReadAt + Send + Sync + 'static> TensorFile for SafeTensorsFile<S> {
    fn format(&self) -> Format {
        Format::SafeTensors
    }

    fn entries(&self) -> &[Entry] {
        &self.header.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        self.header.metadata.as_ref()
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        &self.json_keys
    }

    fn located(&self, index: usize) -> Option<Located<'_>> {
        Located::of(&self.source, self.entries().get(index))
    }

    fn alignment(&self) -> HeaderAlignment {
        alignment_of(self.header.data_start, self.header.padding)
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        match self.header.entries.get(index).and_then(|entry| entry.span) {
            Some(span) => stream_range(&self.source, span, take),
            None => Err(ConvertError::NotFound(format!("#{index}"))),
        }
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let entry = self.entries().get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        slice_range(&self.source, entry, entry.span.unwrap_or_default(), selection)
    }
}
