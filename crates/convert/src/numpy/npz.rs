//! An open npz file: a zip of npy arrays, stored or deflated; and writing one, stored.

use super::{NpyHeader, array, header::NOT_A_TENSOR, npy::direct_span, reader::SourceReader};
use crate::contract::AnySource;
use crate::model::{Entry, Pieces, TensorFile, Unreadable, slice_range};
use crate::{ConvertError, Feature, Format, Loss};
use fw_source::{AtomicFile, ReadAt};
use fw_tensor::Selection;
use std::collections::{BTreeMap, HashSet};
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

pub(super) struct NpzFile {
    source: Arc<dyn ReadAt + Send + Sync>,
    /// Copied for every read: the directory is shared, the position is not.
    archive: ZipArchive<SourceReader>,
    entries: Vec<Entry>,
    members: Vec<Member>,
    /// Arrays that are not tensors.
    unreadable: Vec<Unreadable>,
    /// Members that are no arrays.
    pub(super) others: Vec<String>,
}

/// One array of the zip.
pub(super) struct Member {
    place: usize,
    header: NpyHeader,
    /// First byte of the npy in the file, and its bytes as they lie there.
    pub(super) start: u64,
    pub(super) stored_len: u64,
    pub(super) deflated: bool,
}

pub(super) fn open(source: AnySource) -> Result<NpzFile, ConvertError> {
    let source: Arc<dyn ReadAt + Send + Sync> = source.into();
    let mut archive = ZipArchive::new(SourceReader::new(Arc::clone(&source))?).map_err(zip_error)?;
    let (mut entries, mut members, mut unreadable, mut others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut names = HashSet::new();
    for place in 0..archive.len() {
        let mut member = archive.by_index(place).map_err(zip_error)?;
        let full = member.name().map_err(zip_error)?.into_owned();
        let Some(name) = full.strip_suffix(".npy") else {
            others.push(full);
            continue;
        };
        if !names.insert(name.to_owned()) {
            return Err(ConvertError::format("duplicate_tensor_name", format!("array {name:?} appears twice"), None));
        }
        let deflated = member.compression() != CompressionMethod::Stored;
        let header = match NpyHeader::read(&mut member, name) {
            Ok(header) => header,
            // One array of text must not keep anyone from the others.
            Err(ConvertError::Unsupported { code: NOT_A_TENSOR, message }) => {
                let what = message.strip_prefix(&format!("{name}: ")).unwrap_or(&message).to_owned();
                unreadable.push(Unreadable { name: name.to_owned(), what, code: None });
                continue;
            }
            Err(error) => return Err(error),
        };
        let len = fw_tensor::byte_len(header.dtype, &header.shape)?;
        // What the zip says and what the array says must agree before anyone reserves memory for either.
        if header.len.checked_add(len) != Some(member.size()) {
            let message =
                format!("array {name:?} needs {len} bytes of data, its zip entry has {} in all", member.size());
            return Err(ConvertError::format("tensor_size_mismatch", message, None));
        }
        let start = member.data_start().unwrap_or_default();
        let span = if deflated { None } else { direct_span(&header, start, len) };
        entries.push(Entry::new(name.to_owned(), header.dtype, header.shape.clone(), span));
        members.push(Member { place, header, start, stored_len: member.compressed_size(), deflated });
    }
    Ok(NpzFile { source, archive, entries, members, unreadable, others })
}

impl NpzFile {
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }
}

impl TensorFile for NpzFile {
    fn format(&self) -> Format {
        Format::Npz
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        None
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let missing = || ConvertError::NotFound(format!("#{index}"));
        let (entry, held) = self.entries.get(index).zip(self.members.get(index)).ok_or_else(missing)?;
        let mut archive = self.archive.clone();
        let mut member = archive.by_index(held.place).map_err(zip_error)?;
        NpyHeader::read(&mut member, &entry.name)?;
        array::stream(&held.header, &mut member, &entry.name, take)?;
        // Reading to the end makes the zip compare its checksum.
        if member.read(&mut [0u8; 1])? != 0 {
            let message = format!("array {:?}: its zip entry has more bytes after the data", entry.name);
            return Err(ConvertError::format("trailing_bytes", message, None));
        }
        Ok(())
    }

    fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    fn remarks(&self) -> Vec<Loss> {
        let others =
            self.others.iter().map(|name| Loss::new(Feature::Member, None, format!("{name:?} is not an array")));
        let deflated = self.entries.iter().zip(&self.members).filter(|(_, member)| member.deflated);
        others.chain(deflated.map(|(entry, _)| Loss::decoded("deflate", &entry.name))).collect()
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let entry = self.entries.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
        match entry.span {
            Some(span) => slice_range(&&*self.source, entry, span, selection),
            None => crate::model::cut(entry, &self.data(index)?, selection),
        }
    }
}

/// Writes a stored npz, array after array.
pub(super) struct NpzWriter {
    zip: ZipWriter<BufWriter<AtomicFile>>,
}

impl NpzWriter {
    pub(super) fn create(path: &Path) -> Result<Self, ConvertError> {
        Ok(Self { zip: ZipWriter::new(BufWriter::with_capacity(1 << 20, AtomicFile::create(path)?)) })
    }

    /// Begins an array; its `len` bytes of data follow by [`NpzWriter::put`].
    pub(super) fn begin(&mut self, name: &str, header: &[u8], len: u64) -> Result<(), ConvertError> {
        let total = len.saturating_add(header.len() as u64);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(total >= u64::from(u32::MAX))
            // No clock: the same arrays make the same bytes.
            .last_modified_time(zip::DateTime::default());
        self.zip.start_file(format!("{name}.npy"), options).map_err(zip_error)?;
        Ok(self.zip.write_all(header)?)
    }

    pub(super) fn put(&mut self, piece: &[u8]) -> Result<(), ConvertError> {
        Ok(self.zip.write_all(piece)?)
    }

    pub(super) fn finish(self) -> Result<(), ConvertError> {
        let buffered = self.zip.finish().map_err(zip_error)?;
        buffered.into_inner().map_err(|error| ConvertError::Io(error.into_error()))?.commit()?;
        Ok(())
    }
}

fn zip_error(error: zip::result::ZipError) -> ConvertError {
    match error {
        zip::result::ZipError::Io(error) => ConvertError::Io(error),
        other => ConvertError::format("invalid_zip", format!("not a readable zip archive: {other}"), None),
    }
}
