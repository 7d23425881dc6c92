//! A changed checkpoint before it is written.

use super::digests::{self, Kept};
use super::narrow::{CastError, CastType, Caster};
use crate::error::{EditError, Result};
use crate::meter::Meter;
use crate::target::{Input, Target};
use crate::tensors::{Picked, Writing, write_tensors};
use fw_bintensors::{Algorithm, HeaderAlignment, ReadOptions};
use fw_convert::{ConvertError, Entry, Format, Located, Loss, Pieces, StoredUse, TensorFile};
use fw_look::{Catalog, FileRecord};
use fw_source::Watch;
use fw_tensor::Selection;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// How a checkpoint is changed.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WeightsOptions {
    /// What to do with the digests that files keep of their tensors.
    pub stored: StoredUse,
    /// Where the data of the output begins; by default where that of the input was aligned to.
    pub align: Option<HeaderAlignment>,
    /// Is told how much is done.
    pub watch: Watch,
}

impl WeightsOptions {
    /// Chooses what to do with digests.
    #[must_use]
    pub const fn with_stored(mut self, stored: StoredUse) -> Self {
        self.stored = stored;
        self
    }

    /// Chooses where the data begins.
    #[must_use]
    pub const fn with_align(mut self, align: Option<HeaderAlignment>) -> Self {
        self.align = align;
        self
    }

    /// Watches progress.
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }
}

/// What became of digests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DigestsKept {
    /// Tensors whose data was compared with a digest.
    pub checked: usize,
    /// Tensors with a digest that was not looked at, because that was asked for.
    pub ignored: usize,
    /// Tensors that got a new digest.
    pub made: usize,
    /// Tensors that had a digest and have none now: they changed, and their old digest was not looked at.
    pub dropped: Vec<String>,
    /// The digest of the manifest of the output, where it has one.
    pub manifest: Option<String>,
    /// Whether the input was signed, and the output is not.
    pub signature_dropped: bool,
}

/// What a change wrote.
pub(super) struct Finished {
    pub(super) tensors: usize,
    pub(super) bytes: u64,
    pub(super) digests: DigestsKept,
    pub(super) losses: Vec<Loss>,
    /// What casts did, by the places of tensors.
    pub(super) casts: HashMap<usize, CastError>,
}

/// A checkpoint that is being changed.
pub(super) struct Draft<'a> {
    input: Input<'a>,
    /// The format of the output: of several files with an index one is made.
    format: Format,
    picked: Picked,
    /// Where the files lie that tensors are from.
    paths: Vec<&'a Path>,
    /// Tensors of other files: the algorithm of the digest that the replaced one had, if it had one.
    replaced: HashMap<usize, Option<Algorithm>>,
    casts: HashMap<usize, CastType>,
    saturates: bool,
}

impl<'a> Draft<'a> {
    /// All tensors of a checkpoint; `command` is what people call the change.
    ///
    /// # Errors
    /// `not_weights` for other formats, `index_in_place`; when it cannot be read.
    pub(super) fn open(
        input: &Input<'a>,
        target: &Target<'_>,
        command: Command,
        options: &WeightsOptions,
    ) -> Result<Self> {
        let format = command.format(input, target)?;
        // What may not be written is known before much is read.
        target.checked(&Input { format, ..*input })?;
        let file = input
            .format
            .open(input.path, &ReadOptions::default())
            .map_err(|error| EditError::from(error).in_file(input.path))?;
        if options.stored == StoredUse::Verify {
            fw_convert::check_manifest(&*file).map_err(|error| EditError::from(error).in_file(input.path))?;
        }
        let picked = Picked::of_file(format, file, None);
        Ok(Self {
            input: *input,
            format,
            picked,
            paths: vec![input.path],
            replaced: HashMap::new(),
            casts: HashMap::new(),
            saturates: false,
        })
    }

    /// What the file is called.
    pub(super) const fn name(&self) -> &'a str {
        self.input.name
    }

    /// Its tensors as they will be.
    pub(super) fn entries(&self) -> &[Entry] {
        self.picked.entries()
    }

    /// Its tensors as records with keys.
    pub(super) fn record(&self) -> Result<FileRecord> {
        Ok(Catalog::open_as(self.input.path, self.input.format, self.input.name)?.record(0)?)
    }

    /// Keeps only these tensors.
    pub(super) fn keep(&mut self, places: &[usize]) {
        self.picked.keep(places);
    }

    pub(super) fn rename(&mut self, index: usize, name: String) {
        if let Some(entry) = self.picked.entry_mut(index) {
            entry.name = name;
        }
    }

    pub(super) fn cast(&mut self, index: usize, to: CastType, saturates: bool) {
        self.saturates = saturates;
        if let Some(entry) = self.picked.entry_mut(index) {
            entry.dtype = to.dtype();
            self.casts.insert(index, to);
        }
    }

    pub(super) fn reshape(&mut self, index: usize, shape: Vec<u64>) {
        if let Some(entry) = self.picked.entry_mut(index) {
            entry.shape = shape;
        }
    }

    pub(super) fn replace(&mut self, index: usize, file: Box<dyn TensorFile>, place: usize, path: &'a Path) {
        self.replaced.insert(index, digests::algorithm_of(&self.picked, index));
        self.paths.push(path);
        self.picked.replace(index, file, place);
    }

    /// Compares digests, makes new ones, and writes the file.
    ///
    /// # Errors
    /// `name_collision`, `checksum_mismatch`; when reading or writing fails.
    pub(super) fn finish(mut self, target: Target<'_>, options: &WeightsOptions) -> Result<Finished> {
        self.check_names()?;
        let Kept { keys, mut report, casts, bytes } = digests::settle(&self, options)?;
        let is_digest = |key: &String| fw_convert::is_digest_key(key) && !fw_convert::is_seal_key(key);
        let map = self.picked.metadata_mut();
        if let Some(map) = map {
            map.retain(|key, _| !is_digest(key));
        }
        if !keys.is_empty() {
            map.get_or_insert_default().extend(keys);
        }
        let meter = Meter::after(&options.watch, bytes, self.picked.data_len());
        // They are settled: what is carried was compared, or was not to be.
        let writing = Writing { stored: StoredUse::Ignore, align: options.align };
        let tensors = self.picked.entries().len();
        let input = Input { format: self.format, ..self.input };
        let written = write_tensors((&self, self.picked.is_signed()), &input, target, &meter, writing)?;
        report.manifest = written.manifest;
        report.signature_dropped = written.signature_dropped;
        Ok(Finished { tensors, bytes: written.bytes, digests: report, losses: written.losses, casts })
    }

    /// Two tensors of one name cannot be told apart.
    fn check_names(&self) -> Result<()> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, entry) in self.entries().iter().enumerate() {
            if let Some(first) = seen.insert(&entry.name, index) {
                let old = |index| self.picked.source(index).map_or("", |entry| &*entry.name);
                let (first, second) = (old(first), old(index));
                let message =
                    format!("{}: tensors {first:?} and {second:?} would both be {:?}", self.input.name, entry.name);
                return Err(EditError::refused("name_collision", message));
            }
        }
        Ok(())
    }

    pub(super) const fn picked(&self) -> &Picked {
        &self.picked
    }

    /// The file that a tensor is from, by its number.
    pub(super) fn path(&self, file: usize) -> &'a Path {
        self.paths.get(file).copied().unwrap_or(self.input.path)
    }

    /// What a tensor is cast to, if it is.
    pub(super) fn caster(&self, index: usize) -> Option<Caster> {
        let to = *self.casts.get(&index)?;
        Some(Caster::new(self.picked.source(index)?.dtype, to, self.saturates))
    }

    /// Whether a tensor came from another file, and the algorithm of the digest that its predecessor had.
    pub(super) fn replaced(&self, index: usize) -> Option<Option<Algorithm>> {
        self.replaced.get(&index).copied()
    }
}

impl TensorFile for Draft<'_> {
    fn format(&self) -> Format {
        self.picked.format()
    }

    fn entries(&self) -> &[Entry] {
        self.picked.entries()
    }

    fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        self.picked.metadata()
    }

    fn json_keys(&self) -> &BTreeSet<String> {
        self.picked.json_keys()
    }

    fn stream(&self, index: usize, take: &mut Pieces<'_>) -> Result<(), ConvertError> {
        match self.caster(index) {
            None => self.picked.stream(index, take),
            Some(mut caster) => self.picked.stream(index, &mut |piece| caster.push(piece, take)),
        }
    }

    fn slice(&self, index: usize, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>), ConvertError> {
        self.picked.slice(index, selection)
    }

    fn located(&self, index: usize) -> Option<Located<'_>> {
        if self.casts.contains_key(&index) { None } else { self.picked.located(index) }
    }

    fn alignment(&self) -> HeaderAlignment {
        self.picked.alignment()
    }

    // Other names and types have another order: that of the format.
    fn has_order(&self) -> bool {
        false
    }
}

/// A command for checkpoints, and what does its work for other files.
#[derive(Clone, Copy)]
pub(super) struct Command {
    pub(super) name: &'static str,
    /// What to use for Tensogram files.
    pub(super) tensogram: &'static str,
}

impl Command {
    /// The format of the output.
    fn format(self, input: &Input<'_>, target: &Target<'_>) -> Result<Format> {
        let kept = || Format::listed(|format| format.keeps_digests() && format.is_writable(), "or");
        match (input.format, target) {
            (Format::ShardIndex, Target::File { path, .. }) => {
                let named = Format::of_name(path).filter(|format| format.keeps_digests() && format.is_writable());
                named.ok_or_else(|| {
                    let message =
                        format!("{}: the output of fw {} must be a {} file", path.display(), self.name, kept());
                    EditError::refused("unknown_format", message)
                        .with_hint("name a file that ends in .bt or .safetensors")
                })
            }
            (Format::ShardIndex, _) => {
                let message =
                    format!("{}: fw {} does not change a checkpoint in several files itself", input.name, self.name);
                Err(EditError::refused("index_in_place", message)
                    .with_hint("name one file to write, and split that with fw convert --max-shard-size"))
            }
            (format, _) if format.keeps_digests() && format.is_writable() => Ok(format),
            (format, _) => {
                let message =
                    format!("{}: fw {} works on {} files; this one is {format}", input.name, self.name, kept());
                let hint = match format {
                    Format::Tensogram => self.tensogram,
                    _ => "convert it with fw convert first",
                };
                Err(EditError::refused("not_weights", message).with_hint(hint))
            }
        }
    }
}
