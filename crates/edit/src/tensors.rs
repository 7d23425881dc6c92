//! Tensors of formats without messages, picked from files, as a file of their own.

use crate::error::{EditError, Result};
use crate::meter::Meter;
use crate::target::{Input, Target};
use fw_bintensors::{HeaderAlignment, ReadOptions};
use fw_convert::{
    ConvertError, ConvertOptions, Entry, Format, Located, Loss, Pieces, StoredUse, TensorFile, belongs_to,
    stored_digests,
};
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
    pub(crate) fn open(input: &Input<'_>, places: Option<&[usize]>, stored: StoredUse) -> Result<Self> {
        Ok(Self::of_file(input.format, opened(input, stored)?, places))
    }

    /// The same of a file that is open.
    pub(crate) fn of_file(format: Format, file: Box<dyn TensorFile>, places: Option<&[usize]>) -> Self {
        let (metadata, json) = (file.metadata().cloned(), file.json_keys().clone());
        let all = 0..file.entries().len();
        let places = places.map_or_else(|| all.collect(), <[usize]>::to_vec);
        let mut picked = Self::of(format, vec![file], places.into_iter().map(|place| (0, place)).collect());
        picked.set_metadata(metadata, json);
        picked.drop_strangers();
        picked
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

    /// Leaves out all tensors but these, and what is said about the others.
    pub(crate) fn keep(&mut self, indices: &[usize]) {
        self.places = indices.iter().filter_map(|index| self.places.get(*index).copied()).collect();
        self.entries = indices.iter().filter_map(|index| self.entries.get(*index).cloned()).collect();
        self.drop_strangers();
    }

    /// Whether a file is signed that tensors are from.
    pub(crate) fn is_signed(&self) -> bool {
        self.files.iter().any(|file| stored_digests(&**file).signature().is_some())
    }

    /// Its text map, to be changed.
    pub(crate) const fn metadata_mut(&mut self) -> &mut Option<BTreeMap<String, String>> {
        &mut self.metadata
    }

    /// What is said about a tensor in the new file.
    pub(crate) fn entry_mut(&mut self, index: usize) -> Option<&mut Entry> {
        self.entries.get_mut(index)
    }

    /// Puts a tensor of another file in the place of one; it keeps its name.
    pub(crate) fn replace(&mut self, index: usize, file: Box<dyn TensorFile>, place: usize) {
        let (Some(slot), Some(old), Some(new)) =
            (self.places.get_mut(index), self.entries.get_mut(index), file.entries().get(place))
        else {
            return;
        };
        *slot = (self.files.len(), place);
        let (name, attributes) = (std::mem::take(&mut old.name), std::mem::take(&mut old.attributes));
        *old = new.clone();
        (old.name, old.attributes) = (name, attributes);
        self.files.push(file);
    }

    /// The files that tensors are from.
    pub(crate) fn files(&self) -> &[Box<dyn TensorFile>] {
        &self.files
    }

    /// The file that a tensor is from, and its place there.
    pub(crate) fn origin(&self, index: usize) -> Option<(usize, usize)> {
        self.places.get(index).copied()
    }

    /// The tensor as the file that it is from describes it.
    pub(crate) fn source(&self, index: usize) -> Option<&Entry> {
        let (file, place) = self.origin(index)?;
        self.files.get(file)?.entries().get(place)
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

    fn located(&self, index: usize) -> Option<Located<'_>> {
        let (file, place) = self.place(index).ok()?;
        file.located(place)
    }

    fn alignment(&self) -> HeaderAlignment {
        self.files.first().map(|file| file.alignment()).unwrap_or_default()
    }

    // Nobody chose the order of several files.
    fn has_order(&self) -> bool {
        self.files.len() < 2 && self.whole().is_none_or(TensorFile::has_order)
    }
}

/// Opens a file of a format without messages. Arrays that are not tensors would be lost, so that a file with such is refused.
pub(crate) fn opened(input: &Input<'_>, stored: StoredUse) -> Result<Box<dyn TensorFile>> {
    let file = input.format.open(input.path, &ReadOptions::default())?;
    if stored == StoredUse::Verify {
        // Tensors that are picked from it have another manifest.
        fw_convert::check_manifest(&*file)?;
    }
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

/// How tensors are written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Writing {
    /// What to do with the digests that files keep of them.
    pub(crate) stored: StoredUse,
    /// Where the data begins; where the file that is changed has it when nothing is said.
    pub(crate) align: Option<HeaderAlignment>,
}

impl Writing {
    /// With the data where it begins in the file that is changed.
    pub(crate) const fn of(stored: StoredUse) -> Self {
        Self { stored, align: None }
    }
}

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Bytes of the file.
    pub(crate) bytes: u64,
    /// What could not be kept.
    pub(crate) losses: Vec<Loss>,
    /// Tensors whose digests were carried along without a look.
    pub(crate) ignored: usize,
    /// The digest of the manifest, where the file has one.
    pub(crate) manifest: Option<String>,
    /// Whether a file was signed, and this one is not: its tensors are others.
    pub(crate) signature_dropped: bool,
}

/// Writes tensors in their format, maybe of a file that was signed.
pub(crate) fn write_tensors(
    (tensors, was_signed): (&dyn TensorFile, bool),
    input: &Input<'_>,
    target: Target<'_>,
    meter: &Meter,
    writing: Writing,
) -> Result<Written> {
    match target.checked(input)? {
        Some(path) => write_to((tensors, was_signed), input, &path, meter, writing),
        None => {
            let Target::Stream(sink) = target else { return Ok(Written::default()) };
            let folder = tempfile::tempdir()?;
            let path = folder.path().join(format!("tensors.{}", tensors.format().extension()));
            let written = write_to((tensors, was_signed), input, &path, meter, writing)?;
            std::io::copy(&mut std::fs::File::open(&path)?, sink)?;
            Ok(written)
        }
    }
}

/// The same to a path that may be written.
pub(crate) fn write_to(
    (tensors, was_signed): (&dyn TensorFile, bool),
    input: &Input<'_>,
    path: &Path,
    meter: &Meter,
    writing: Writing,
) -> Result<Written> {
    let mut options = ConvertOptions::new().with_progress(meter.within()).with_stored(writing.stored);
    options.format = Some(tensors.format());
    let held = stored_digests(tensors);
    if tensors.format().keeps_digests() {
        // The others begin where they begin.
        options.align = writing.align.unwrap_or_else(|| tensors.alignment());
    }
    let done = fw_convert::write_tensors(tensors, input.path, path, &options).map_err(EditError::from)?;
    meter.advance(done.bytes);
    let is_signed = held.signature().is_some() && done.digests.manifest.is_some();
    let is_same = held.manifest().zip(done.digests.manifest.as_deref()).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
    Ok(Written {
        bytes: std::fs::metadata(path)?.len(),
        losses: done.losses,
        ignored: done.digests.ignored,
        manifest: done.digests.manifest,
        signature_dropped: was_signed && !(is_signed && is_same),
    })
}
