//! An open npy file: one array, named after the file.

use super::{NpyHeader, array};
use crate::contract::AnySource;
use crate::model::{Entry, Pieces, TensorFile, slice_range, stream_range};
use crate::{ConvertError, Format};
use fw_bytes::Span;
use fw_source::ReadAt;
use fw_tensor::{ByteOrder, Selection};
use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::Path;

pub(super) struct NpyFile {
    source: AnySource,
    pub(super) header: NpyHeader,
    entries: [Entry; 1],
}

/// Opens an array, which is called after the file.
pub(super) fn open(source: AnySource, path: &Path) -> Result<NpyFile, ConvertError> {
    let name = path.file_stem().map_or_else(|| NAMELESS.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let file_len = source.len()?;
    let header = NpyHeader::read(&mut RangeReader::new(&*source, 0, file_len), &name)?;
    let len = fw_tensor::byte_len(header.dtype, &header.shape)?;
    let have = file_len.saturating_sub(header.len);
    if have < len {
        let message = format!("{name}: need {len} bytes of data, have {have}");
        return Err(ConvertError::format("truncated", message, header.len));
    }
    let span = direct_span(&header, 0, len);
    let entries = [Entry::new(name, header.dtype, header.shape.clone(), span)];
    Ok(NpyFile { source, header, entries })
}

/// Where the data lies as it is, when the file keeps little-endian rows.
pub(super) fn direct_span(header: &NpyHeader, start: u64, len: u64) -> Option<Span> {
    let rows = header.layout == super::header::Layout::Rows || header.shape.len() <= 1;
    let little = header.order == ByteOrder::Little || header.dtype.swap_unit() == 1;
    Span::sized(start.checked_add(header.len)?, len).filter(|_| rows && little)
}

impl TensorFile for NpyFile {
    fn format(&self) -> Format {
        Format::Npy
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        None
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let entry = self.entries.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        if let Some(span) = entry.span {
            return stream_range(&self.source, span, take);
        }
        let input = RangeReader::new(&*self.source, self.header.len, self.source.len()?);
        // As much at a time as suits the source.
        let room = self.source.cost().stream_len().min(entry.byte_len()?);
        let mut input = BufReader::with_capacity(usize::try_from(room).map_err(std::io::Error::other)?, input);
        array::stream(&self.header, &mut input, &entry.name, take)
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let entry = self.entries.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        match entry.span {
            Some(span) => slice_range(&self.source, entry, span, selection),
            None => crate::model::cut(entry, &self.data(index)?, selection),
        }
    }
}

/// What an array without a file name is called.
const NAMELESS: &str = "array";

/// Part of a source as a stream.
pub(super) struct RangeReader<'a> {
    source: &'a dyn ReadAt,
    position: u64,
    end: u64,
}

impl<'a> RangeReader<'a> {
    pub(super) const fn new(source: &'a dyn ReadAt, position: u64, end: u64) -> Self {
        Self { source, position, end }
    }
}

impl Read for RangeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.end.saturating_sub(self.position).min(buffer.len() as u64) as usize;
        self.source.read_exact_at(self.position, buffer.get_mut(..len).unwrap_or(&mut []))?;
        self.position = self.position.saturating_add(len as u64);
        Ok(len)
    }
}
