//! An open checkpoint: the archive, its pickle, and where each tensor lies.

use super::flatten::flatten;
use super::gather::Placed;
use super::pickle::{self, Pickle, Storage, Tensor, Value};
use crate::archive::{AnySource, Archive, Member};
use crate::model::{Entry, Pieces, TensorFile, cut, slice_range};
use crate::{ConvertError, Feature, Format, Loss};
use fw_tensor::{ByteOrder, Selection};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

pub(super) struct TorchFile {
    pub(super) archive: Archive,
    entries: Vec<Entry>,
    placed: Vec<Placed>,
    metadata: BTreeMap<String, String>,
    json_keys: BTreeSet<String>,
    remarks: Vec<Loss>,
}

/// Opens a checkpoint: the directory, the pickle and the local headers are read, no tensor.
pub(super) fn open(source: AnySource) -> Result<TorchFile, ConvertError> {
    let archive = Archive::open(source)?;
    let (place, folder) = pickle_of(&archive)?;
    let members: HashMap<&str, &Member> =
        archive.members().iter().map(|member| (member.name.as_str(), member)).collect();
    if members.contains_key(format!("{folder}constants.pkl").as_str()) {
        let message = "a TorchScript archive holds a program beside its tensors; save them in Python: \
                       torch.save(torch.jit.load(FILE).state_dict(), NEW)";
        return Err(ConvertError::unsupported("torchscript", message));
    }
    let order = byte_order(&archive, &folder)?;
    let member = &archive.members()[place];
    let bytes = whole(&archive, place, MAX_PICKLE, "too_large_pickle")?;
    let pickle = pickle::run(&bytes, (!member.compressed).then_some(member.data.start))?;
    let flat = flatten(&pickle, bytes.len())?;
    drop(bytes);
    let (mut entries, mut placed) = (Vec::new(), Vec::new());
    let mut remarks = Vec::new();
    let mut holders: HashMap<&str, usize> = HashMap::new();
    for (name, tensor) in flat.tensors {
        let (storage, member) = storage_of(&pickle, tensor, &folder, &members, &name)?;
        let one = place_tensor(tensor, storage, member, order).map_err(|error| in_tensor(error, &name))?;
        let span = one.rows().filter(|_| one.is_little());
        let holder = *holders.entry(&storage.key).or_insert(entries.len());
        if holder != entries.len() {
            let other = entries.get(holder).map_or("", |entry: &Entry| entry.name.as_str());
            let what = format!("shares its storage with {other:?}: each is written with its own data");
            remarks.push(Loss::new(Feature::SharedStorage, Some(name.clone()), what));
        }
        entries.push(Entry::new(name, tensor.dtype, tensor.shape.clone(), span));
        placed.push(one);
    }
    let text_form = match flat.json_keys.len() {
        0 => None,
        1 => Some("1 value that is not text becomes JSON text".to_owned()),
        count => Some(format!("{count} values that are not text become JSON text")),
    };
    remarks.extend(text_form.map(|what| Loss::new(Feature::MetadataForm, None, what)));
    for key in &flat.lossy_keys {
        let what = format!("{key:?} becomes text that does not give its value back");
        remarks.push(Loss::new(Feature::Metadata, None, what));
    }
    let (metadata, json_keys) = (flat.metadata, flat.json_keys);
    Ok(TorchFile { archive, entries, placed, metadata, json_keys, remarks })
}

/// The pickle of an archive, and the folder that it lies in.
fn pickle_of(archive: &Archive) -> Result<(usize, String), ConvertError> {
    let found = archive.members().iter().enumerate().find_map(|(place, member)| {
        let folder = member.name.strip_suffix(PICKLE)?;
        // The folder is one level deep.
        (folder.ends_with('/') && folder.matches('/').count() == 1).then(|| (place, folder.to_owned()))
    });
    found.ok_or_else(|| ConvertError::format("not_a_checkpoint", "the zip archive has no data.pkl", None))
}

/// The order that the file was written in; files that do not say are little endian.
fn byte_order(archive: &Archive, folder: &str) -> Result<ByteOrder, ConvertError> {
    let name = format!("{folder}byteorder");
    let Some(place) = archive.members().iter().position(|member| member.name == name) else {
        return Ok(ByteOrder::Little);
    };
    match &whole(archive, place, 64, "invalid_byte_order")?[..] {
        b"little" => Ok(ByteOrder::Little),
        b"big" => Ok(ByteOrder::Big),
        other => {
            let message = format!("the byte order is {:?}, expected little or big", String::from_utf8_lossy(other));
            Err(ConvertError::format("invalid_byte_order", message, archive.members()[place].data.start))
        }
    }
}

/// A small entry.
fn whole(archive: &Archive, place: usize, most: u64, code: &'static str) -> Result<Vec<u8>, ConvertError> {
    let member = &archive.members()[place];
    if member.len > most {
        let message = format!("{}: {} bytes, at most {most} are read", member.name, member.len);
        return Err(ConvertError::format(code, message, member.data.start));
    }
    let mut bytes = Vec::new();
    if member.compressed {
        archive.read(place, |entry| {
            entry.take(most).read_to_end(&mut bytes).map_err(crate::archive::entry_error)?;
            Ok(())
        })?;
    } else {
        // Not through the checksum: PyTorch may have been told to leave it out.
        bytes.resize(usize::try_from(member.len).map_err(std::io::Error::other)?, 0);
        archive.source().read_exact_at(member.data.start, &mut bytes)?;
    }
    Ok(bytes)
}

fn storage_of<'a>(
    pickle: &'a Pickle,
    tensor: &Tensor,
    folder: &str,
    members: &HashMap<&str, &'a Member>,
    name: &str,
) -> Result<(&'a Storage, &'a Member), ConvertError> {
    let Value::Storage(storage) = pickle.get(tensor.storage) else {
        return Err(ConvertError::format("invalid_pickle", format!("tensor {name:?} has no storage"), None));
    };
    let entry = format!("{folder}data/{}", storage.key);
    let Some(member) = members.get(entry.as_str()).copied() else {
        let message = format!("tensor {name:?}: the archive has no entry {entry:?}");
        return Err(ConvertError::format("missing_storage", message, None));
    };
    if member.compressed {
        let message = format!(
            "tensor {name:?}: its data is compressed, which torch.save never does; unpack the zip and store it"
        );
        return Err(ConvertError::unsupported("compressed_storage", message));
    }
    let width = storage.dtype.byte_width().unwrap_or(1) as u64;
    if storage.count.checked_mul(width).is_none_or(|len| len > member.len) {
        let message = format!(
            "tensor {name:?}: its storage has {} elements of {}, its data {} bytes",
            storage.count, storage.dtype, member.len
        );
        return Err(ConvertError::format("tensor_size_mismatch", message, member.data.start));
    }
    Ok((storage, member))
}

/// Proves that a tensor lies in its storage.
fn place_tensor(tensor: &Tensor, storage: &Storage, member: &Member, order: ByteOrder) -> Result<Placed, ConvertError> {
    let width = tensor.dtype.byte_width().unwrap_or(1) as u64;
    let held = storage.count.saturating_mul(storage.dtype.byte_width().unwrap_or(1) as u64);
    let len = fw_tensor::byte_len(tensor.dtype, &tensor.shape)?;
    let outside = || {
        let message = format!(
            "shape {:?}, strides {:?} and offset {} reach outside of its storage of {held} bytes",
            tensor.shape, tensor.strides, tensor.offset
        );
        ConvertError::format("invalid_offset", message, member.data.start)
    };
    // The first byte after the last element.
    let mut last = Some(tensor.offset);
    for (length, stride) in tensor.shape.iter().zip(&tensor.strides) {
        let reach = length.saturating_sub(1).checked_mul(*stride);
        last = last.zip(reach).and_then(|(last, reach)| last.checked_add(reach));
    }
    let end = last.and_then(|last| last.checked_add(1)).and_then(|end| end.checked_mul(width));
    if len > 0 && end.is_none_or(|end| end > held) {
        return Err(outside());
    }
    if len > EXPANDED.max(held.saturating_mul(EXPANSION)) {
        let message = format!(
            "shape {:?} and strides {:?} expand {held} bytes to {len}; save it again after contiguous()",
            tensor.shape, tensor.strides
        );
        return Err(ConvertError::unsupported("expanded_tensor", message));
    }
    let offset = tensor.offset.checked_mul(width).filter(|offset| *offset <= held);
    let start = member.data.start.saturating_add(if len == 0 { 0 } else { offset.ok_or_else(outside)? });
    let strides = tensor.strides.iter().map(|stride| stride.saturating_mul(width)).collect();
    let unit = tensor.dtype.swap_unit();
    Ok(Placed { start, len, shape: tensor.shape.clone(), strides, width, unit, order })
}

fn in_tensor(error: ConvertError, name: &str) -> ConvertError {
    match error {
        ConvertError::Format { code, message, at } => {
            ConvertError::format(code, format!("tensor {name:?}: {message}"), at)
        }
        ConvertError::Unsupported { code, message } => {
            ConvertError::unsupported(code, format!("tensor {name:?}: {message}"))
        }
        other => other,
    }
}

impl TorchFile {
    fn held(&self, index: usize) -> Result<(&Entry, &Placed), ConvertError> {
        let held = self.entries.get(index).zip(self.placed.get(index));
        held.ok_or_else(|| ConvertError::NotFound(format!("#{index}")))
    }
}

impl TensorFile for TorchFile {
    fn format(&self) -> Format {
        Format::Torch
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        Some(&self.metadata).filter(|metadata| !metadata.is_empty())
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        &self.json_keys
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        self.held(index)?.1.stream(&**self.archive.source(), take)
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let (entry, placed) = self.held(index)?;
        let Some(span) = placed.rows() else { return cut(entry, &self.data(index)?, selection) };
        let (shape, mut part) = slice_range(&&**self.archive.source(), entry, span, selection)?;
        if !placed.is_little() {
            fw_tensor::swap_in_place(&mut part, placed.unit);
        }
        Ok((shape, part))
    }

    /// Tensors of a dictionary are found by their names.
    fn has_order(&self) -> bool {
        false
    }

    fn remarks(&self) -> Vec<Loss> {
        self.remarks.clone()
    }
}

/// How the name of the pickle ends.
pub(super) const PICKLE: &str = "data.pkl";
/// Pickles of the largest models have a few megabytes.
const MAX_PICKLE: u64 = 256 << 20;
/// A view may show so many bytes, however small its storage is …
const EXPANDED: u64 = 16 << 20;
/// … or so many times those of its storage.
const EXPANSION: u64 = 16;
