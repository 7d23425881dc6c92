//! Tensors of formats without messages, picked from one file or several, as a file of their own.

use crate::error::{EditError, Result};
use crate::meter::Meter;
use crate::target::{Input, Target};
use fw_bintensors::ReadOptions;
use fw_convert::{Block, ConvertError, ConvertOptions, Entry, Format, Loss, Pieces, TensorFile, belongs_to};
use fw_tensor::Selection;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// Some tensors of some files, in an order of their own, with metadata of their own.
pub(crate) struct Picked {
    format: Format,
    files: Vec<Box<dyn TensorFile>>,
    /// Which file, and which of its tensors.
    places: Vec<(usize, usize)>,
    entries: Vec<Entry>,
    metadata: Option<BTreeMap<String, String>>,
    json: BTreeSet<String>,
}

impl Picked {
    /// Some tensors of a file, with what its metadata says about the file and about them; without `places` all of them.
    pub(crate) fn open(input: &Input<'_>, places: Option<&[usize]>) -> Result<Self> {
        let file = opened(input)?;
        let (metadata, json) = (file.metadata().cloned(), file.json_keys().clone());
        let all = 0..file.entries().len();
        let places = places.map_or_else(|| all.collect(), <[usize]>::to_vec);
        let mut picked = Self::of(input.format, vec![file], places.into_iter().map(|place| (0, place)).collect());
        picked.set_metadata(metadata, json);
        picked.drop_strangers();
        Ok(picked)
    }

    /// Tensors of several files, without metadata yet.
    pub(crate) fn of(format: Format, files: Vec<Box<dyn TensorFile>>, places: Vec<(usize, usize)>) -> Self {
        let entry = |(file, place): &(usize, usize)| files.get(*file)?.entries().get(*place).cloned();
        let entries = places.iter().filter_map(entry).collect();
        Self { format, files, places, entries, metadata: None, json: BTreeSet::new() }
    }

    /// Gives it another text map, of which these keys hold JSON.
    pub(crate) fn set_metadata(&mut self, metadata: Option<BTreeMap<String, String>>, json: BTreeSet<String>) {
        (self.metadata, self.json) = (metadata, json);
    }

    /// Leaves out entries about tensors of its files that are not picked.
    fn drop_strangers(&mut self) {
        let all: HashSet<&str> = self.files.iter().flat_map(|file| file.entries()).map(|entry| &*entry.name).collect();
        let held: HashSet<&str> = self.entries.iter().map(|entry| &*entry.name).collect();
        let stays = |key: &String| belongs_to(key).is_none_or(|name| held.contains(name) || !all.contains(name));
        if let Some(map) = &mut self.metadata {
            map.retain(|key, _| stays(key));
        }
    }

    /// Bytes of all its tensors; one whose size does not fit in 64 bits is refused when it is written.
    pub(crate) fn data_len(&self) -> u64 {
        self.entries.iter().filter_map(|entry| entry.byte_len().ok()).fold(0, u64::saturating_add)
    }

    fn place(&self, index: usize) -> Result<(&dyn TensorFile, usize), ConvertError> {
        let found = self.places.get(index).and_then(|(file, place)| Some((&**self.files.get(*file)?, *place)));
        found.ok_or_else(|| ConvertError::NotFound(format!("#{index}")))
    }

    /// The one file, when all of its tensors are picked in its order.
    fn whole(&self) -> Option<&dyn TensorFile> {
        let [file] = &self.files[..] else { return None };
        let all = (0..file.entries().len()).map(|place| (0, place));
        self.places.iter().copied().eq(all).then_some(&**file)
    }
}

impl TensorFile for Picked {
    fn format(&self) -> Format {
        self.format
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        self.metadata.as_ref()
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        &self.json
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        let (file, place) = self.place(index)?;
        file.stream(place, take)
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        let (file, place) = self.place(index)?;
        file.slice(place, selection)
    }

    fn block(&self) -> Option<Block<'_>> {
        self.whole()?.block()
    }

    fn has_order(&self) -> bool {
        self.whole().is_none_or(TensorFile::has_order)
    }
}

/// Opens a file of a format without messages. Arrays that are not tensors would be lost, so that a file with such is refused.
pub(crate) fn opened(input: &Input<'_>) -> Result<Box<dyn TensorFile>> {
    let file = input.format.open(input.path, &ReadOptions::default())?;
    // Tensors that are picked from it have another manifest.
    fw_convert::check_manifest(&*file)?;
    if let Some(array) = file.unreadable().first() {
        let message = format!("{}: array {:?}: {}; it cannot be copied", input.name, array.name, array.what);
        return Err(EditError::refused("not_a_tensor", message));
    }
    if !input.format.is_writable() {
        let message = format!("{}: {} files can be read but not written", input.name, input.format);
        return Err(EditError::refused("not_writable", message).with_hint("use fw convert to write another format"));
    }
    Ok(file)
}

/// Writes picked tensors in the format of their file; returns bytes of the file and what could not be kept.
pub(crate) fn write_tensors(
    picked: &Picked,
    input: &Input<'_>,
    target: Target<'_>,
    meter: &Meter,
) -> Result<(u64, Vec<Loss>)> {
    match target.checked(input)? {
        Some(path) => write_to(picked, input, &path, meter),
        None => {
            let Target::Stream(sink) = target else { return Ok((0, Vec::new())) };
            let folder = tempfile::tempdir()?;
            let path = folder.path().join(format!("tensors.{}", input.format.extension()));
            let written = write_to(picked, input, &path, meter)?;
            std::io::copy(&mut std::fs::File::open(&path)?, sink)?;
            Ok(written)
        }
    }
}

/// The same to a path that may be written.
pub(crate) fn write_to(picked: &Picked, input: &Input<'_>, path: &Path, meter: &Meter) -> Result<(u64, Vec<Loss>)> {
    let mut options = ConvertOptions::new().with_progress(meter.within());
    options.format = Some(picked.format);
    let done = fw_convert::write_tensors(picked, input.path, path, &options).map_err(EditError::from)?;
    meter.advance(done.bytes);
    Ok((std::fs::metadata(path)?.len(), done.losses))
}
