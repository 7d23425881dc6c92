//! Keys of messages, objects and files.

mod apply; // changes to metadata in memory
mod assign; // changes as people write them

pub use assign::{Change, Edit};

use crate::error::{EditError, Result};
use crate::messages::{Changed, Messages};
use crate::meter::Meter;
use crate::target::{Input, Target};
use crate::tensors::{Picked, Writing, write_tensors};
use apply::{apply, check_allowed, on_map};
use assign::{Action, Scope};
use fw_bytes::Limits;
use fw_convert::{Format, Loss, StoredUse, TensorFile};
use fw_look::{Catalog, FileRecord};
use fw_query::{Record, Segment, Where};
use fw_source::Watch;
use fw_tensogram::{StoredMessage, Value};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How keys are set.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SetOptions {
    /// Change every object of a message in which the filter selects one, instead of the selected ones.
    pub whole_messages: bool,
    /// What to do with the digests that files keep of tensors; objects of messages have digests of their own.
    pub stored: StoredUse,
    /// Is told how much is written.
    pub watch: Watch,
}

impl SetOptions {
    /// Chooses whether the filter selects messages or objects.
    #[must_use]
    pub const fn with_whole_messages(mut self, whole: bool) -> Self {
        self.whole_messages = whole;
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SetReport {
    /// Messages in the file; 1 for formats without messages.
    pub messages: usize,
    /// Messages that the filters selected.
    pub selected_messages: usize,
    /// Messages that changed.
    pub changed_messages: usize,
    /// Keys to delete that nothing selected had.
    pub missing_keys: Vec<String>,
    /// Bytes written.
    pub bytes: u64,
    /// What the format could not keep.
    pub losses: Vec<Loss>,
    /// Tensors whose digests were carried along without a look, because that was asked for.
    pub ignored_digests: usize,
    /// Whether a file was signed, and the result is not: it has other tensors.
    pub signature_dropped: bool,
}

/// Changes keys in a file. In a Tensogram file only the metadata of selected messages is written anew, with their index before
/// their objects; object frames and all other messages are copied as they are. In other formats keys are those of the file.
///
/// Every filter is judged by the metadata that the file has before the first change.
///
/// # Errors
/// Keys that describe stored bytes (`immutable_key`) or belong to encoders (`reserved_key`), values of another type than the key
/// has (`type_mismatch`), formats without metadata (`no_metadata`), files that cannot be read, outputs that may not be written.
pub fn set(input: &Input<'_>, target: Target<'_>, changes: &[Change], options: &SetOptions) -> Result<SetReport> {
    for edit in changes.iter().flat_map(|change| &change.edits) {
        check_allowed(edit)?;
    }
    target.checked(input)?;
    match input.format {
        Format::Tensogram => set_messages(input, target, changes, options),
        _ => set_tensors(input, target, changes, options),
    }
}

fn set_messages(input: &Input<'_>, target: Target<'_>, changes: &[Change], options: &SetOptions) -> Result<SetReport> {
    let file = Messages::open(input)?;
    let mut report = SetReport { messages: file.catalog.record_count(), ..SetReport::default() };
    let (mut changed, mut hits) = (Vec::new(), Hits::new(changes));
    // Several changes may select different messages: then each is looked at.
    let everything = Where::default();
    let filter = match changes {
        [only] => &only.filter,
        _ => &everything,
    };
    for record in file.records_where(filter) {
        let record = record?;
        let selections: Vec<Option<Vec<usize>>> =
            changes.iter().map(|change| selection(&record, change, options)).collect();
        if selections.iter().all(Option::is_none) {
            continue;
        }
        report.selected_messages += 1;
        let before = file.stored(&record)?;
        let mut after = before.clone();
        for (number, (change, selected)) in changes.iter().zip(&selections).enumerate() {
            let Some(selected) = selected else { continue };
            for (place, edit) in change.edits.iter().enumerate() {
                let hit = match edit.scope {
                    Scope::Descriptor(object) => set_parameter(&file, &mut after, object, edit),
                    _ => apply(edit, &mut after.metadata, selected),
                };
                hits.note(number, place, hit.map_err(|error| error.at(file.place(record.index())))?);
            }
        }
        if after != before {
            let plan = after.plan().map_err(|error| EditError::from(error).at(file.place(record.index())))?;
            changed.push(Changed { span: record.span(), plan, elsewhere: Vec::new() });
        }
    }
    report.changed_messages = changed.len();
    report.missing_keys = hits.missing(changes);
    report.bytes = file.rewrite(input, target, &changed, &options.watch)?;
    Ok(report)
}

/// The objects of a message that a change is for; `None` when it is not for this message.
fn selection(record: &FileRecord, change: &Change, options: &SetOptions) -> Option<Vec<usize>> {
    if options.whole_messages || record.object_count() == 0 {
        return record.matches(&change.filter).then(|| (0..record.object_count()).collect());
    }
    Some(record.selected(&change.filter)).filter(|selected| !selected.is_empty())
}

/// Changes a parameter in the descriptor of an object, which gives its frame another digest.
fn set_parameter(file: &Messages, message: &mut StoredMessage, object: usize, edit: &Edit) -> Result<bool> {
    let count = message.objects.len();
    let Some(stored) = message.objects.get_mut(object) else {
        let text = format!("{}: object {object} does not exist; the message has {count}", edit.key());
        return Err(EditError::refused("no_such_object", text));
    };
    let head = stored.head(&*file.source, object, &Limits::default())?;
    let mut descriptor = stored.descriptor().cloned().unwrap_or_else(|| head.descriptor.clone());
    let hit = on_map(edit, &mut descriptor.params)?;
    if hit {
        *stored = stored.with_descriptor(&*file.source, &head, &descriptor)?;
    }
    Ok(hit)
}

/// Keys of a file without messages: a map from text to text.
fn set_tensors(input: &Input<'_>, target: Target<'_>, changes: &[Change], options: &SetOptions) -> Result<SetReport> {
    let mut picked = Picked::open(input, None, options.stored)?;
    let catalog = Catalog::open_as(input.path, input.format, input.name)?;
    let record = catalog.record(0)?;
    let mut report = SetReport { messages: 1, ..SetReport::default() };
    if !input.format.holds_metadata() {
        let message = format!("{}: {} files hold no metadata", input.name, input.format);
        return Err(
            EditError::refused("no_metadata", message).with_hint("convert it to Tensogram, BinTensors or safetensors")
        );
    }
    let (before, before_json) = (picked.metadata().cloned().unwrap_or_default(), picked.json_keys().clone());
    let (mut map, mut json) = (before.clone(), before_json.clone());
    let mut hits = Hits::new(changes);
    for (number, change) in changes.iter().enumerate().filter(|(_, change)| record.matches(&change.filter)) {
        report.selected_messages = 1;
        for (place, edit) in change.edits.iter().enumerate() {
            hits.note(number, place, set_text(input, edit, &mut map, &mut json)?);
        }
    }
    let changed = map != before || json != before_json;
    report.changed_messages = usize::from(changed);
    report.missing_keys = hits.missing(changes);
    if matches!(target, Target::InPlace) && !changed {
        report.bytes = catalog.file_len();
        return Ok(report);
    }
    let keeps = !map.is_empty() || picked.metadata().is_some();
    picked.set_metadata(keeps.then_some(map), json);
    let meter = Meter::new(&options.watch, picked.data_len());
    let done = write_tensors((&picked, picked.is_signed()), input, target, &meter, Writing::of(options.stored))?;
    (report.bytes, report.losses) = (done.bytes, done.losses);
    (report.ignored_digests, report.signature_dropped) = (done.ignored, done.signature_dropped);
    Ok(report)
}

/// Sets one key of a text map; keys with dots are keys like any other.
fn set_text(
    input: &Input<'_>,
    edit: &Edit,
    map: &mut BTreeMap<String, String>,
    json: &mut BTreeSet<String>,
) -> Result<bool> {
    let keys = edit.path.segments().iter().map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    let key = match (edit.scope, keys.collect::<Option<Vec<_>>>()) {
        (Scope::Selected | Scope::Message, Some(keys)) => keys.join("."),
        _ => {
            let message = format!("{}: {} files have keys of the file only, without lists", edit.key(), input.format);
            return Err(EditError::refused("no_such_key", message));
        }
    };
    match &edit.action {
        Action::Delete => {
            json.remove(&key);
            return Ok(map.remove(&key).is_some());
        }
        Action::Text(text) => {
            json.remove(&key);
            map.insert(key, text.clone());
        }
        Action::Value(Value::Text(text)) => {
            json.remove(&key);
            map.insert(key, text.clone());
        }
        Action::Value(value) => {
            let text = serde_json::to_string(value)
                .map_err(|error| EditError::refused("invalid_json", format!("{}: {error}", edit.key())))?;
            json.insert(key.clone());
            map.insert(key, text);
        }
    }
    Ok(true)
}

/// Which edits found their key in anything that was selected.
struct Hits(Vec<Vec<bool>>);

impl Hits {
    fn new(changes: &[Change]) -> Self {
        Self(changes.iter().map(|change| vec![false; change.edits.len()]).collect())
    }

    fn note(&mut self, change: usize, edit: usize, hit: bool) {
        if let Some(found) = self.0.get_mut(change).and_then(|edits| edits.get_mut(edit)) {
            *found |= hit;
        }
    }

    fn missing(&self, changes: &[Change]) -> Vec<String> {
        let edits = changes.iter().zip(&self.0).flat_map(|(change, hits)| change.edits.iter().zip(hits));
        let deleted = edits.filter(|(edit, hit)| !**hit && matches!(edit.action, Action::Delete));
        deleted.map(|(edit, _)| edit.key()).collect()
    }
}
