//! Many files into one: all objects of Tensogram files in one message, all tensors of other files in one file.

use crate::error::{EditError, Result};
use crate::messages::Messages;
use crate::meter::Meter;
use crate::output::Output;
use crate::target::{Existing, Input, Target, check_format, check_output};
use crate::tensors::{Picked, Writing, opened, write_tensors, write_to};
use fw_convert::{Format, Loss, StoredUse, TensorFile};
use fw_look::Catalog;
use fw_query::Where;
use fw_source::{FileSource, Watch};
use fw_tensogram::{GlobalMetadata, MessagePlan, MetadataMap, Provenance, StoredObject};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

/// Which of several values stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Strategy {
    /// That of the first input.
    First,
    /// That of the last input.
    Last,
    /// None: different values are an error.
    Error,
}

/// What is merged, and how.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MergeOptions {
    /// Which objects.
    pub filter: Where,
    /// What to do with keys of messages or files that have different values. By default the first value stays, and tensors of
    /// one name are an error.
    pub strategy: Option<Strategy>,
    /// Fixed provenance for messages of different ones, for reproducible output.
    pub provenance: Option<Provenance>,
    /// What to do with the digests that files keep of tensors; objects of messages have digests of their own.
    pub stored: StoredUse,
    /// Is told how much is written.
    pub watch: Watch,
}

impl MergeOptions {
    /// The objects that a filter selects.
    #[must_use]
    pub fn new(filter: Where) -> Self {
        Self { filter, ..Self::default() }
    }

    /// Chooses what to do with different values.
    #[must_use]
    pub const fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.strategy = strategy;
        self
    }

    /// Chooses what to do with the digests that files keep of tensors.
    #[must_use]
    pub const fn with_stored(mut self, stored: StoredUse) -> Self {
        self.stored = stored;
        self
    }

    /// Watches progress.
    #[must_use]
    pub fn with_watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MergeReport {
    /// Files that were read.
    pub files: usize,
    /// Messages that were read; of formats without messages one per file.
    pub messages: usize,
    /// Objects in the result.
    pub objects: usize,
    /// Bytes of the result.
    pub bytes: u64,
    /// What was decided between different values.
    pub strategy: Strategy,
    /// Values, and tensors, that gave way to others.
    pub dropped: Vec<Dropped>,
    /// What the format could not keep.
    pub losses: Vec<Loss>,
    /// Tensors whose digests were carried along without a look, because that was asked for.
    pub ignored_digests: usize,
    /// Whether a file was signed, and the result is not: it has other tensors.
    pub signature_dropped: bool,
}

/// A value, or a tensor, that is not in the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// The key; of a tensor its name.
    pub key: String,
    /// The file that it was in.
    pub file: String,
    /// Whether it was a tensor.
    pub tensor: bool,
}

/// Puts all selected objects of all messages of all inputs into one message, in order; of other formats all tensors into one
/// file. Object frames are copied as they are. A result of messages with one provenance keeps it; otherwise it gets its own.
///
/// # Errors
/// Inputs of different formats, files that cannot be read, different values with [`Strategy::Error`] (`conflicting_key`),
/// tensors of one name without a strategy (`conflicting_tensor`), outputs that may not be written.
pub fn merge(inputs: &[Input<'_>], target: Target<'_>, options: &MergeOptions) -> Result<MergeReport> {
    let Some(first) = inputs.first() else {
        return Err(EditError::refused("no_input", "no input to merge"));
    };
    if let Some(other) = inputs.iter().find(|input| input.format != first.format) {
        let message = format!("{} is {}, and {} is {}", first.name, first.format, other.name, other.format);
        return Err(EditError::refused("format_differs", message).with_hint("use fw convert to give them one format"));
    }
    let path = checked(inputs, &target)?;
    match first.format {
        Format::Tensogram => merge_messages(inputs, target, path, options),
        _ => merge_tensors(inputs, first, target, path, options),
    }
}

fn checked<'t>(inputs: &[Input<'_>], target: &Target<'t>) -> Result<Option<&'t Path>> {
    match target {
        Target::File { path, existing: Existing::Append } => {
            let message = format!("{}: a merge writes a new file and cannot append", path.display());
            Err(EditError::refused("not_appendable", message)
                .with_hint("use fw copy --append to add messages to a file"))
        }
        Target::File { path, existing } => {
            let paths: Vec<&Path> = inputs.iter().map(|input| input.path).collect();
            check_output(&paths, path, *existing)?;
            inputs.first().map_or(Ok(()), |input| check_format(input.format, path))?;
            Ok(Some(path))
        }
        Target::InPlace => Err(EditError::refused("no_output", "a merge needs an output file other than its inputs")),
        Target::Stream(_) => Ok(None),
    }
}

fn merge_messages(
    inputs: &[Input<'_>],
    target: Target<'_>,
    path: Option<&Path>,
    options: &MergeOptions,
) -> Result<MergeReport> {
    let mut report = MergeReport::new(inputs.len(), options);
    let (mut metadata, mut objects, mut owners) = (GlobalMetadata::default(), Vec::<StoredObject>::new(), Vec::new());
    let (mut extra, mut provenance) = (Merged::new(options.strategy), Vec::<MetadataMap>::new());
    for (number, input) in inputs.iter().enumerate() {
        let file = Messages::open(input)?;
        report.messages += file.catalog.record_count();
        for record in file.records_where(&options.filter) {
            let record = record?;
            if !record.matches(&options.filter) {
                continue;
            }
            let stored = file.stored(&record)?;
            for object in record.selected(&options.filter) {
                metadata.base.push(stored.metadata.base.get(object).cloned().unwrap_or_default());
                objects.extend(stored.objects.get(object).cloned());
                owners.push(number);
            }
            extra.add(input.name, stored.metadata.extra)?;
            if !provenance.contains(&stored.metadata.reserved) {
                provenance.push(stored.metadata.reserved);
            }
        }
    }
    (metadata.extra, report.dropped) = extra.finish();
    metadata.reserved = match &provenance[..] {
        [one] => one.clone(),
        _ => options.provenance.clone().unwrap_or_else(Provenance::now).to_map(),
    };
    report.objects = objects.len();
    let plan = MessagePlan::new(&metadata, objects)?;
    let meter = Meter::new(&options.watch, plan.len());
    let mut output = match (target, path) {
        (Target::Stream(sink), _) => Output::stream(sink, &meter),
        (_, Some(path)) => Output::file(path, &meter)?,
        (_, None) => return Ok(report),
    };
    // One file is open at a time: objects stand in the order of the inputs.
    let mut open: Option<(usize, Rc<FileSource>)> = None;
    output.message(&plan, |object| {
        let owner = owners.get(object).copied().unwrap_or_default();
        match &open {
            Some((number, source)) if *number == owner => Ok(Rc::clone(source)),
            _ => {
                let path = inputs.get(owner).map_or_else(|| Path::new(""), |input| input.path);
                let source = Rc::new(FileSource::open(path)?);
                open = Some((owner, Rc::clone(&source)));
                Ok(source)
            }
        }
    })?;
    report.bytes = output.finish()?;
    Ok(report)
}

fn merge_tensors(
    inputs: &[Input<'_>],
    first: &Input<'_>,
    target: Target<'_>,
    path: Option<&Path>,
    options: &MergeOptions,
) -> Result<MergeReport> {
    let mut report = MergeReport::new(inputs.len(), options);
    let mut files: Vec<Box<dyn TensorFile>> = Vec::new();
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut named: HashMap<String, usize> = HashMap::new();
    let mut texts = Merged::new(options.strategy);
    let (mut json, mut any) = (BTreeSet::new(), false);
    for (number, input) in inputs.iter().enumerate() {
        let file = opened(input, options.stored)?;
        let catalog = Catalog::open_as(input.path, input.format, input.name)?;
        report.messages += 1;
        for tensor in catalog.record(0)?.selected(&options.filter) {
            let Some(entry) = file.entries().get(tensor) else { continue };
            match named.get(&entry.name).copied() {
                None => {
                    named.insert(entry.name.clone(), places.len());
                    places.push((number, tensor));
                }
                Some(place) => {
                    let loser = match options.strategy {
                        Some(Strategy::First) => number,
                        Some(Strategy::Last) => {
                            let old = places.get(place).map_or(number, |(file, _)| *file);
                            if let Some(kept) = places.get_mut(place) {
                                *kept = (number, tensor);
                            }
                            old
                        }
                        Some(Strategy::Error) | None => return Err(same_name(&entry.name, input.name)),
                    };
                    let file = inputs.get(loser).map_or_else(String::new, |input| input.name.to_owned());
                    report.dropped.push(Dropped { key: entry.name.clone(), file, tensor: true });
                }
            }
        }
        any |= file.metadata().is_some();
        texts.add(input.name, file.metadata().cloned().unwrap_or_default())?;
        json.extend(file.json_keys().iter().cloned());
        files.push(file);
    }
    let (map, dropped): (BTreeMap<String, String>, _) = texts.finish();
    report.dropped.extend(dropped);
    json.retain(|key| map.contains_key(key));
    report.objects = places.len();
    let mut picked = Picked::of(first.format, files, places);
    picked.set_metadata(any.then_some(map), json);
    let meter = Meter::new(&options.watch, picked.data_len());
    let (writing, tensors) = (Writing::of(options.stored), (&picked as &dyn TensorFile, picked.is_signed()));
    let done = match path {
        Some(path) => write_to(tensors, first, path, &meter, writing)?,
        None => write_tensors(tensors, first, target, &meter, writing)?,
    };
    (report.bytes, report.losses) = (done.bytes, done.losses);
    (report.ignored_digests, report.signature_dropped) = (done.ignored, done.signature_dropped);
    Ok(report)
}

fn same_name(name: &str, file: &str) -> EditError {
    let message = format!("{file}: tensor {name:?} is also in an earlier input");
    EditError::refused("conflicting_tensor", message).with_hint("use --strategy first or --strategy last to choose one")
}

impl MergeReport {
    fn new(files: usize, options: &MergeOptions) -> Self {
        let strategy = options.strategy.unwrap_or(Strategy::First);
        let (dropped, losses) = (Vec::new(), Vec::new());
        let (ignored_digests, signature_dropped) = (0, false);
        Self { files, messages: 0, objects: 0, bytes: 0, strategy, dropped, losses, ignored_digests, signature_dropped }
    }
}

/// Keys of several files as one map.
struct Merged<V> {
    strategy: Strategy,
    /// Each with the file it is from.
    map: BTreeMap<String, (V, String)>,
    dropped: Vec<Dropped>,
}

impl<V: PartialEq> Merged<V> {
    fn new(strategy: Option<Strategy>) -> Self {
        Self { strategy: strategy.unwrap_or(Strategy::First), map: BTreeMap::new(), dropped: Vec::new() }
    }

    fn add(&mut self, file: &str, more: BTreeMap<String, V>) -> Result<()> {
        // What is about all tensors of one file says nothing about those of several.
        for (key, value) in more.into_iter().filter(|(key, _)| !fw_convert::is_seal_key(key)) {
            match self.map.get_mut(&key) {
                None => drop(self.map.insert(key, (value, file.to_owned()))),
                Some((old, _)) if *old == value => {}
                Some((old, owner)) => {
                    let loser = match self.strategy {
                        Strategy::First => file.to_owned(),
                        Strategy::Last => {
                            *old = value;
                            std::mem::replace(owner, file.to_owned())
                        }
                        Strategy::Error => {
                            let message = format!("{}: {owner} and {file} have different values", key.escape_debug());
                            return Err(EditError::refused("conflicting_key", message)
                                .with_hint("use --strategy first or --strategy last to choose one"));
                        }
                    };
                    self.dropped.push(Dropped { key, file: loser, tensor: false });
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> (BTreeMap<String, V>, Vec<Dropped>) {
        (self.map.into_iter().map(|(key, (value, _))| (key, value)).collect(), self.dropped)
    }
}
