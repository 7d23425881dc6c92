//! Every fault of a checkpoint in several files: of each shard, named by it, and of the index that joins them.

use super::folder::{Checkpoint, find};
use super::{Index, open_beside, plain_name, read};
use crate::digests::{Job, Pass, described, stored_digests};
use crate::model::TensorFile;
use crate::{ConvertError, Format, report};
use fw_bintensors::validate::{DIGESTS_CHECKED, DataChecks, TENSORS, ValidateOptions};
use fw_bintensors::{DIGEST_KEY_PREFIX, digest_subject};
use fw_report::{Finding, Report};
use fw_source::FileSource;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// Opens a file by what it is.
type Opener<'a> = dyn Fn(&Path) -> Result<Box<dyn TensorFile>, ConvertError> + 'a;

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
pub(crate) fn validate(path: &Path, options: &ValidateOptions, open: &Opener<'_>) -> Result<Report, ConvertError> {
    let mut report = Report::new();
    let checkpoint = if path.is_dir() { find(path) } else { Ok(Checkpoint::Index(path.to_owned())) };
    let (folder, index, names) = match &checkpoint {
        Ok(Checkpoint::Index(path)) => match Index::parse(&read(path)?, &path.display().to_string()) {
            Ok(index) => {
                let names: Vec<String> = index.files().into_iter().map(str::to_owned).collect();
                (path.parent().unwrap_or_else(|| Path::new("")), Some(index), names)
            }
            Err(error) => return faulty(report, error),
        },
        Ok(Checkpoint::Shards(names)) => (path, None, names.clone()),
        Err(_) => return checkpoint.map(|_| report),
    };
    let mut held: BTreeMap<&str, Held> = BTreeMap::new();
    for name in &names {
        match checked(&folder.join(name), name, options, open, &mut report) {
            Ok(found) => {
                held.insert(name, found);
            }
            Err(error) => report.push(in_shard(name, report::fault(&error)).level("structure")),
        }
    }
    if let Some(index) = &index {
        compare(index, &held, &mut report);
    }
    match open_beside(path, open) {
        Ok(file) => joined(&*file, index.as_ref(), &held, options, &mut report),
        // Its reason is among the findings, or is one of its own.
        Err(error) if report.is_ok() => report.push(report::fault(&error).level("structure")),
        Err(_) => {}
    }
    Ok(report)
}

fn faulty(mut report: Report, error: ConvertError) -> Result<Report, ConvertError> {
    report.push(report::finding(error)?);
    Ok(report)
}

/// A finding about a shard.
fn in_shard(name: &str, mut finding: Finding) -> Finding {
    finding.path = if finding.path.is_empty() { name.to_owned() } else { format!("{name}: {}", finding.path) };
    finding
}

/// Checks one shard, and opens it.
fn checked(
    path: &Path,
    name: &str,
    options: &ValidateOptions,
    open: &Opener<'_>,
    report: &mut Report,
) -> Result<Held, ConvertError> {
    plain_name(name)?;
    let source = match FileSource::open(path) {
        Ok(source) => source,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ConvertError::format("missing_shard", "the file does not exist", None));
        }
        Err(error) => return Err(error.into()),
    };
    let format = Format::of_source(&source, path)?.ok_or_else(|| Format::unknown(path))?;
    let found = format.validate(path, options)?;
    let is_ok = found.is_ok();
    report.extend(found.into_iter().map(|finding| in_shard(name, finding)));
    let file = match open(path) {
        Ok(file) => file,
        // What is wrong with it was reported just now.
        Err(_) if !is_ok => return Ok(Held::default()),
        Err(error) => return Err(error),
    };
    let keys = file.metadata().into_iter().flat_map(|map| map.keys());
    Ok(Held {
        tensors: file.entries().iter().map(|entry| entry.name.clone()).collect(),
        digested: keys.filter_map(|key| Some(key.strip_prefix(DIGEST_KEY_PREFIX)?.to_owned())).collect(),
    })
}

/// What an index says against what is there.
fn compare(index: &Index, held: &BTreeMap<&str, Held>, report: &mut Report) {
    for (name, file) in &index.weight_map {
        if let Some(found) = held.get(file.as_str())
            && !found.tensors.is_empty()
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
fn joined(
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
