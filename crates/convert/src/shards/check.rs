//! Every fault of a checkpoint in several files: of each shard, named by it, and of the index that joins them.

use super::folder::{Checkpoint, find};
use super::{Index, Sharded, plain_name, read};
use crate::digests::{Job, Pass, described, stored_digests};
use crate::model::TensorFile;
use crate::{ConvertError, Format, report};
use fw_bintensors::validate::{DIGESTS_CHECKED, DataChecks, TENSORS, ValidateOptions};
use fw_bintensors::{DIGEST_KEY_PREFIX, ReadOptions, digest_subject};
use fw_report::{Finding, Report};
use fw_source::{FileSource, ReadAt};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Gives the bytes of a file beside an index, by its name.
pub type Beside<'a> = dyn Fn(&str) -> Result<Box<dyn ReadAt + Send + Sync>, ConvertError> + 'a;

/// What is in a shard.
#[derive(Default)]
struct Held {
    tensors: BTreeSet<String>,
    /// Those that it keeps a digest of itself.
    digested: HashSet<String>,
}

/// Checks the shards of an index, or of a directory, by the rules of their own formats, and what joins them.
///
/// # Errors
/// Only when the index or directory cannot be read.
pub(crate) fn validate(path: &Path, options: &ValidateOptions) -> Result<Report, ConvertError> {
    let in_folder = |folder: &Path, name: &str| -> Result<Box<dyn ReadAt + Send + Sync>, ConvertError> {
        match FileSource::open(folder.join(name)) {
            Ok(source) => Ok(Box::new(source)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(ConvertError::format("missing_shard", "the file does not exist", None))
            }
            Err(error) => Err(error.into()),
        }
    };
    let checkpoint = if path.is_dir() { find(path)? } else { Checkpoint::Index(path.to_owned()) };
    match checkpoint {
        Checkpoint::Index(path) => {
            let folder = path.parent().unwrap_or_else(|| Path::new(""));
            let beside = |name: &str| in_folder(folder, name);
            Ok(validate_index(&read(&path)?, &path.display().to_string(), options, &beside))
        }
        Checkpoint::Shards(names) => Ok(checked(None, &names, options, &|name| in_folder(path, name))),
    }
}

/// Checks a checkpoint from the text of its index, in a store for example: every shard by the rules of its own format, and what joins
/// them. `name` names the index in findings. What is wrong, and files that cannot be read, are in the report.
pub fn validate_index(text: &[u8], name: &str, options: &ValidateOptions, beside: &Beside<'_>) -> Report {
    match Index::parse(text, name) {
        Ok(index) => {
            let names: Vec<String> = index.files().into_iter().map(str::to_owned).collect();
            checked(Some(&index), &names, options, beside)
        }
        Err(error) => {
            let mut report = Report::new();
            report.push(report::fault(&error).level("structure"));
            report
        }
    }
}

fn checked(index: Option<&Index>, names: &[String], options: &ValidateOptions, beside: &Beside<'_>) -> Report {
    let mut report = Report::new();
    let (mut held, mut opened) = (BTreeMap::new(), HashMap::new());
    for name in names {
        match shard(name, options, beside, &mut report) {
            Ok(Some(file)) => {
                held.insert(name.as_str(), Held::of(&*file));
                opened.insert(name.as_str(), file);
            }
            Ok(None) => {}
            Err(error) => report.push(in_shard(name, report::fault(&error)).level("structure")),
        }
    }
    if let Some(index) = index {
        compare(index, &held, &mut report);
    }
    let opened = RefCell::new(opened);
    // What is wrong with a shard that was not opened was reported just now.
    let open = |name: &str| {
        let missing = || ConvertError::format("missing_shard", format!("{name} cannot be read"), None);
        opened.borrow_mut().remove(name).ok_or_else(missing)
    };
    let joined = match index {
        Some(index) => Sharded::of(index, open),
        None => Sharded::without_index(names, open),
    };
    match joined {
        Ok(file) => check_joined(&file, index, &held, options, &mut report),
        // Its reason is among the findings, or is one of its own.
        Err(error) if report.is_ok() => report.push(report::fault(&error).level("structure")),
        Err(_) => {}
    }
    report
}

/// A finding about a shard.
fn in_shard(name: &str, mut finding: Finding) -> Finding {
    finding.path = if finding.path.is_empty() { name.to_owned() } else { format!("{name}: {}", finding.path) };
    finding
}

/// Checks one shard, and opens it; `None` when it is too wrong for that.
fn shard(
    name: &str,
    options: &ValidateOptions,
    beside: &Beside<'_>,
    report: &mut Report,
) -> Result<Option<Box<dyn TensorFile>>, ConvertError> {
    plain_name(name)?;
    let source = beside(name)?;
    let format = Format::of_source(&*source, Path::new(name))?.ok_or_else(|| Format::unknown(Path::new(name)))?;
    let found = format.validate_source(source, name, options)?;
    let is_ok = found.is_ok();
    report.extend(found.into_iter().map(|finding| in_shard(name, finding)));
    let read = ReadOptions::new().with_profile(options.profile);
    match format.open_source(beside(name)?, name, &read) {
        Ok(file) => Ok(Some(file)),
        Err(_) if !is_ok => Ok(None),
        Err(error) => Err(error),
    }
}

impl Held {
    fn of(file: &dyn TensorFile) -> Self {
        let keys = file.metadata().into_iter().flat_map(|map| map.keys());
        Self {
            tensors: file.entries().iter().map(|entry| entry.name.clone()).collect(),
            digested: keys.filter_map(|key| Some(key.strip_prefix(DIGEST_KEY_PREFIX)?.to_owned())).collect(),
        }
    }
}

/// What an index says against what is there.
fn compare(index: &Index, held: &BTreeMap<&str, Held>, report: &mut Report) {
    for (name, file) in &index.weight_map {
        if let Some(found) = held.get(file.as_str())
            && !found.tensors.contains(name)
        {
            let message = format!("the index lists tensor {name:?} in {file}, which does not contain it");
            report.push(Finding::error("missing_tensor", message).on(file).level("structure"));
        }
    }
    for (file, found) in held {
        for name in &found.tensors {
            let finding = match index.weight_map.get(name) {
                Some(listed) if listed == file => continue,
                Some(listed) => {
                    let message = format!("tensor {name:?} is here too; the index lists it in {listed}");
                    Finding::warning("overlapping_shards", message)
                }
                None => Finding::warning("unlisted_tensor", format!("tensor {name:?} is not listed in the index")),
            };
            report.push(finding.on(*file).level("structure"));
        }
    }
}

/// What joins the shards: sizes, digests that the index keeps, the manifest.
fn check_joined(
    file: &dyn TensorFile,
    index: Option<&Index>,
    held: &BTreeMap<&str, Held>,
    options: &ValidateOptions,
    report: &mut Report,
) {
    let sizes = file.entries().iter().map(|entry| entry.byte_len().unwrap_or(u64::MAX));
    let total = sizes.fold(0, u64::saturating_add);
    if let Some(claimed) = index.and_then(|index| index.metadata.get("total_size"))
        && claimed.as_u64() != Some(total)
        && claimed.as_f64() != Some(total as f64)
    {
        let message = format!("the index gives {claimed} bytes as total size, its tensors have {total}");
        report.push(Finding::warning("total_size_mismatch", message).level("structure"));
    }
    let stored = stored_digests(file);
    if let Err(error) = stored.check_manifest(described(file)) {
        report.push(Finding::error(error.code(), error.detail()).level("data"));
    }
    for key in stored.strays() {
        let name = digest_subject(key).unwrap_or_default();
        let message = format!("a digest is kept for {name:?}, but there is no such tensor");
        report.push(Finding::warning("digest_without_tensor", message).on(format!("metadata[{key:?}]")));
    }
    if options.data != DataChecks::Full {
        return;
    }
    // What a shard keeps itself was compared with the shard.
    let is_new = |place: &usize| {
        let entry = file.entries().get(*place);
        let shard = entry.and_then(|entry| Some((held.get(entry.shard.as_deref()?)?, &entry.name)));
        let is_in_shard = shard.is_some_and(|(shard, name)| shard.digested.contains(name));
        stored.of_tensor(*place).is_some() && index.is_some() && !is_in_shard
    };
    let jobs = stored.places().filter(is_new).map(|place| Job { place, wanted: None }).collect();
    for (place, verdict) in (Pass { file, stored: Some(&stored) }).verdicts(jobs, &|_| {}) {
        if let (Err(error), Some(entry)) = (verdict, file.entries().get(place)) {
            let finding = report::fault(&error).on(format!("tensors[{:?}]", entry.name)).object(place as u64);
            report.push(in_shard(entry.shard.as_deref().unwrap_or_default(), finding).level("data"));
        }
    }
    report.tally(TENSORS, file.entries().len() as u64);
    report.tally(DIGESTS_CHECKED, stored.count() as u64);
}
