//! An open npz file: a zip of npy arrays, stored or deflated; and writing one, stored.

use super::header::{Layout, NOT_A_TENSOR};
use super::{NpyHeader, array, npy::direct_span};
use crate::archive::{AnySource, Archive, zip_error};
use crate::model::{Entry, Pieces, TensorFile, Unreadable, slice_range};
use crate::{ConvertError, Feature, Format, Loss};
use fw_bytes::Span;
use fw_source::AtomicFile;
use fw_tensor::{ByteOrder, Selection};
use std::collections::BTreeMap;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(super) struct NpzFile {
    archive: Archive,
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
    /// The npy in the file, as it lies there.
    pub(super) data: Span,
    pub(super) deflated: bool,
}

pub(super) fn open(source: AnySource) -> Result<NpzFile, ConvertError> {
    let archive = Archive::open(source)?;
    let (mut entries, mut members, mut unreadable, mut others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (place, member) in archive.members().iter().enumerate() {
        let Some(name) = member.name.strip_suffix(".npy") else {
            others.push(member.name.clone());
            continue;
        };
        let header = match archive.read(place, |input| NpyHeader::read(input, name)) {
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
        if header.len.checked_add(len) != Some(member.len) {
            let message = format!("array {name:?} needs {len} bytes of data, its zip entry has {} in all", member.len);
            return Err(ConvertError::format("tensor_size_mismatch", message, None));
        }
        let (data, deflated) = (member.data, member.compressed);
        let span = if deflated { None } else { direct_span(&header, data.start, len) };
        entries.push(Entry::new(name.to_owned(), header.dtype, header.shape.clone(), span));
        members.push(Member { place, header, data, deflated });
    }
    Ok(NpzFile { archive, entries, members, unreadable, others })
}

impl NpzFile {
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The runs of a selection while the array is unpacked: only what lies between the first and the last of them is read, and
    /// runs that come in order are all that is held.
    fn unpacked_part(
        &self,
        entry: &Entry,
        held: &Member,
        width: u64,
        selection: &Selection,
    ) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let plan = selection.plan(&entry.shape)?;
        let bounds = plan.bounds();
        let is_ordered = plan.runs().zip(plan.runs().skip(1)).all(|(one, next)| one.end <= next.start);
        if !is_ordered {
            let between = bounds.end.saturating_sub(bounds.start).saturating_mul(width);
            check_inflation(entry, held, between)?;
        }
        check_inflation(entry, held, plan.element_count().saturating_mul(width))?;
        let mut taken = Vec::new();
        self.archive.read(held.place, |input| {
            NpyHeader::read(input, &entry.name)?;
            let mut at = 0u64;
            let mut read = |from: u64, to: u64, out: &mut Vec<u8>| -> Result<(), ConvertError> {
                std::io::copy(&mut input.take(from.saturating_sub(at)), &mut std::io::sink())?;
                let before = out.len() as u64;
                input.take(to.saturating_sub(from)).read_to_end(out)?;
                let have = (out.len() as u64).saturating_sub(before);
                if have != to.saturating_sub(from) {
                    let message =
                        format!("{}: need {} bytes of data, have {have}", entry.name, to.saturating_sub(from));
                    return Err(ConvertError::format("truncated", message, None));
                }
                at = to;
                Ok(())
            };
            if is_ordered {
                return plan.runs().try_for_each(|run| {
                    fw_bytes::interrupt::check();
                    read(run.start.saturating_mul(width), run.end.saturating_mul(width), &mut taken)
                });
            }
            let mut between = Vec::new();
            read(bounds.start.saturating_mul(width), bounds.end.saturating_mul(width), &mut between)?;
            for run in plan.runs() {
                let byte = |element: u64| (element.saturating_sub(bounds.start).saturating_mul(width)) as usize;
                taken.extend_from_slice(between.get(byte(run.start)..byte(run.end)).unwrap_or_default());
            }
            Ok(())
        })?;
        if held.header.order == ByteOrder::Big {
            fw_tensor::swap_in_place(&mut taken, entry.dtype.swap_unit());
        }
        Ok((plan.shape().to_vec(), taken))
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
        self.archive.read(held.place, |input| {
            NpyHeader::read(input, &entry.name)?;
            if held.header.layout == Layout::Columns {
                check_inflation(entry, held, entry.byte_len()?)?;
            }
            array::stream(&held.header, input, &entry.name, take)?;
            // Reading to the end makes the zip compare its checksum.
            if input.read(&mut [0u8; 1])? != 0 {
                let message = format!("array {:?}: its zip entry has more bytes after the data", entry.name);
                return Err(ConvertError::format("trailing_bytes", message, None));
            }
            Ok(())
        })
    }

    fn check_held(&self, index: usize) -> Result<(), ConvertError> {
        match self.entries.get(index).zip(self.members.get(index)) {
            Some((entry, held)) => check_inflation(entry, held, entry.byte_len()?),
            None => Ok(()),
        }
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
            Some(span) => slice_range(&&**self.archive.source(), entry, span, selection),
            None => {
                let held = self.members.get(index).ok_or_else(|| ConvertError::NotFound(format!("#{index}")))?;
                let in_rows = held.header.layout == Layout::Rows || entry.shape.len() <= 1;
                if let Some(width) = entry.dtype.byte_width().filter(|_| in_rows) {
                    return self.unpacked_part(entry, held, width as u64, selection);
                }
                crate::model::cut(entry, &self.data(index)?, selection)
            }
        }
    }
}

/// Refuses to hold much that unpacks from little. Streams of it are read all the same, piece by piece.
fn check_inflation(entry: &Entry, held: &Member, len: u64) -> Result<(), ConvertError> {
    let stored = held.data.len();
    if !held.deflated || len <= HELD_ALWAYS || len <= stored.saturating_mul(HELD_RATIO) {
        return Ok(());
    }
    let message = format!(
        "array {:?}: {len} bytes would be unpacked into memory from {stored} bytes of the file; read it in slices, or store it \
         with numpy.savez",
        entry.name
    );
    Err(ConvertError::unsupported("deflate_bomb", message))
}

/// Bytes that are unpacked into memory, however few they come from.
const HELD_ALWAYS: u64 = 256 << 20;
/// Real arrays deflate to a hundredth at best, but for constants.
const HELD_RATIO: u64 = 128;

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
