//! `fw rename`, `subset`, `replace` and `cast`: tensors of checkpoints.

use super::{print_done, print_report};
use crate::args::{Cast, Changed, Rename, Replace, Subset, Tensors, Trust};
use crate::change::{called, is_pipe, report_losses, source, with_target};
use crate::exit::{Outcome, Usage, aside};
use crate::input::Input;
use crate::render::{Progress, Table, count, shape, size};
use anyhow::Result;
use framewright::bintensors::HeaderAlignment;
use framewright::convert::Loss;
use framewright::edit::{
    self, CastError, CastOptions, CastReport, Choice, DigestsKept, EditError, Misfit, RenameReport, RenameRule,
    ReplaceOptions, ReplaceReport, SubsetReport, Target, WeightsOptions,
};
use framewright::report::visible;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn rename(args: &Rename) -> Result<Outcome> {
    if args.from.len() != args.to.len() {
        return Err(Usage("every --from needs its --to".to_owned()).into());
    }
    let pairs = args.from.iter().zip(&args.to).map(|(from, to)| RenameRule::new(from, to));
    let mut rules = pairs.collect::<Result<Vec<_>, EditError>>()?;
    rules.extend(args.map.iter().cloned());
    let edit = Job { file: &args.file, changed: &args.changed, command: "rename" };
    edit.run(
        |input, target, options| edit::rename(input, target, &rules, &options),
        |report: &RenameReport| Told {
            digests: &report.digests,
            losses: &report.losses,
            bytes: report.bytes,
            done: format!("{} of {} renamed", report.renamed.len(), count(report.tensors, "tensor")),
            notes: report.unused_rules.iter().map(|rule| format!("no tensor has a name for {rule}")).collect(),
            outcome: Outcome::Fine,
            json: json!(report),
        },
    )
}

pub(crate) fn subset(args: &Subset) -> Result<Outcome> {
    let choice = choice(&args.tensors);
    let edit = Job { file: &args.file, changed: &args.changed, command: "subset" };
    edit.run(
        |input, target, options| edit::subset(input, target, &choice, &options),
        |report: &SubsetReport| Told {
            digests: &report.digests,
            losses: &report.losses,
            bytes: report.bytes,
            done: format!("{} of {}", report.tensors, count(report.tensors + report.left_out, "tensor")),
            notes: unused(&report.unused_patterns),
            outcome: Outcome::Fine,
            json: json!(report),
        },
    )
}

pub(crate) fn replace(args: &Replace) -> Result<Outcome> {
    let (path, name) = split_name(&args.from);
    let other = Input::of(&path, &args.changed.common.store, "replace")?;
    let from = source(&other)?;
    let misfit = match (args.reshape, args.adopt) {
        (true, _) => Misfit::Reshape,
        (_, true) => Misfit::Adopt,
        _ => Misfit::Refuse,
    };
    let edit = Job { file: &args.file, changed: &args.changed, command: "replace" };
    let done = edit.run(
        |input, target, options| {
            let options = ReplaceOptions::new(options).with_misfit(misfit);
            edit::replace(input, target, &args.tensor, (&from, name.as_deref()), &options)
        },
        |report: &ReplaceReport| {
            let (before, after) = (&report.before, &report.after);
            let old = format!("{} {}", before.dtype, shape(&before.shape));
            let new = format!("{} {} of {}", after.dtype, shape(&after.shape), visible(other.name()));
            Told {
                digests: &report.digests,
                losses: &report.losses,
                bytes: report.bytes,
                done: format!("{} ({old}) is {} ({new})", visible(&before.name), visible(&after.name)),
                notes: Vec::new(),
                outcome: Outcome::Fine,
                json: json!(report),
            }
        },
    );
    done.map_err(|error| other.retold(error))
}

pub(crate) fn cast(args: &Cast) -> Result<Outcome> {
    let choice = choice(&args.tensors);
    let edit = Job { file: &args.file, changed: &args.changed, command: "cast" };
    edit.run(
        |input, target, options| {
            let options = CastOptions::new(args.to(), options).with_choice(choice.clone());
            edit::cast(input, target, &options.with_saturation(args.saturate))
        },
        |report: &CastReport| {
            let mut notes = unused(&report.unused_patterns);
            if !report.not_castable.is_empty() {
                let tensors = count(report.not_castable.len(), "tensor");
                notes.push(format!("not floats of whole bytes, so not cast: {tensors}"));
            }
            if report.error.overflow > 0 {
                let (elements, range) = (count(report.error.overflow as usize, "element"), args.to.as_str());
                let became = if args.saturate { "got its greatest value" } else { "became infinite or NaN" };
                notes.push(format!("{elements} beyond the range of {range} {became}"));
            }
            let is_lossy = report.error.overflow > 0 && !args.saturate;
            Told {
                digests: &report.digests,
                losses: &report.losses,
                bytes: report.bytes,
                done: cast_text(report),
                notes,
                outcome: if is_lossy { Outcome::Lossy } else { Outcome::Fine },
                json: json!(report),
            }
        },
    )
}

/// A change of one checkpoint.
struct Job<'a> {
    file: &'a Path,
    changed: &'a Changed,
    command: &'static str,
}

/// The report of such a change.
struct Told<'r> {
    digests: &'r DigestsKept,
    losses: &'r [Loss],
    bytes: u64,
    /// In words; a table before it ends with a line feed.
    done: String,
    notes: Vec<String>,
    outcome: Outcome,
    /// Everything, for programs.
    json: Value,
}

impl Job<'_> {
    fn run<R>(
        &self,
        change: impl FnOnce(&edit::Input<'_>, Target<'_>, WeightsOptions) -> Result<R, EditError>,
        told: impl FnOnce(&R) -> Told<'_>,
    ) -> Result<Outcome> {
        let align = align(self.changed.align)?;
        let input = Input::of(self.file, &self.changed.common.store, self.command)?;
        self.changed.threads.within(|| {
            let run = || self.changed(&input, align, change, told);
            run().map_err(|error| input.retold(error))
        })
    }

    fn changed<R>(
        &self,
        input: &Input,
        align: Option<HeaderAlignment>,
        change: impl FnOnce(&edit::Input<'_>, Target<'_>, WeightsOptions) -> Result<R, EditError>,
        told: impl FnOnce(&R) -> Told<'_>,
    ) -> Result<Outcome> {
        let progress = Arc::new(Progress::bytes());
        let stored = self.changed.trust.stored();
        let watch = progress.watch(input.name());
        let options = WeightsOptions::default().with_stored(stored).with_align(align).with_watch(watch);
        let source = source(input)?;
        let output = self.changed.output().map(PathBuf::as_path);
        let place = self.changed.place;
        let report = with_target(self.file, input, output, place, |target| change(&source, target, options))?;
        progress.clear();
        let (name, is_json) = (called(output, input), self.changed.common.json);
        let told = told(&report);
        if is_json && !is_pipe(output) {
            let mut json = told.json;
            json["losses"] = json!(Loss::grouped(told.losses));
            json["file"] = name.into();
            print_report(self.command, true, json)?;
        } else {
            if !is_pipe(output) {
                let (table, done) =
                    told.done.rsplit_once('\n').map_or(("", &*told.done), |(table, done)| (table, done));
                let table = if table.is_empty() { String::new() } else { format!("{table}\n") };
                print_done(&format!("{table}wrote {}: {done}, {}\n", visible(&name), size(told.bytes)))?;
            }
            told.notes.iter().for_each(|note| aside(format_args!("fw: note: {}\n", visible(note))));
            tell_digests(told.digests, input.name());
        }
        Ok(report_losses(told.losses).or(told.outcome))
    }
}

/// Says what became of digests, where somebody may rely on them.
fn tell_digests(digests: &DigestsKept, name: &str) {
    if !digests.dropped.is_empty() {
        let tensors = count(digests.dropped.len(), "tensor");
        aside(format_args!(
            "fw: note: digests of {tensors} that changed were dropped, because they were not compared\n"
        ));
    }
    told_digests(digests.ignored, digests.signature_dropped, name);
}

/// Says that so many digests were not compared, and that a signature was dropped.
pub(super) fn told_digests(ignored: usize, signature_dropped: bool, name: &str) {
    Trust::told(ignored, name);
    if signature_dropped {
        aside(format_args!(
            "fw: note: the signature was dropped, because the tensors are others; fw sign makes a new one\n"
        ));
    }
}

fn cast_text(report: &CastReport) -> String {
    let columns = ["tensor", "from", "to", ">max error", ">rms error", ">overflow", ">underflow", ">nan"];
    let mut table = Table::new(&columns);
    for row in &report.cast {
        table.row(cells(&visible(&row.name), row.from, row.to, &row.error));
    }
    if report.cast.len() > 1 {
        table.row(cells("all", "", "", &report.error));
    }
    let table = if report.cast.is_empty() { String::new() } else { table.render() };
    let (tensors, all) = (report.cast.len(), count(report.tensors, "tensor"));
    let (before, after) = report.data_bytes;
    format!("{table}{tensors} of {all} cast, {} -> {}", size(before), size(after))
}

fn cells(name: &str, from: &str, to: &str, error: &CastError) -> [String; 8] {
    let number = |value: f64| format!("{value:.3e}");
    let CastError { overflow, underflow, nan, .. } = error;
    let counts = [overflow, underflow, nan].map(u64::to_string);
    let [overflow, underflow, nan] = counts;
    let (max, rms) = (number(error.max_error), number(error.rms_error));
    [name.to_owned(), from.to_owned(), to.to_owned(), max, rms, overflow, underflow, nan]
}

fn choice(tensors: &Tensors) -> Choice {
    let mut choice = Choice::default()
        .with_filter(tensors.select.filter())
        .with_included(&tensors.tensor)
        .with_excluded(&tensors.exclude);
    choice.layers = tensors.layers.clone();
    choice
}

fn unused(patterns: &[String]) -> Vec<String> {
    patterns.iter().map(|pattern| format!("no tensor has a name for {pattern}")).collect()
}

/// The alignment that was asked for.
///
/// # Errors
/// `Usage` for a number that is none.
fn align(bytes: Option<u64>) -> Result<Option<HeaderAlignment>> {
    let of = |bytes| {
        let refused = || Usage(format!("--align {bytes}: must be a power of two from 8 to 1048576"));
        HeaderAlignment::new(bytes).ok_or_else(refused)
    };
    Ok(bytes.map(of).transpose()?)
}

/// `FILE[:NAME]`: the longest file that is there, and what follows it. A word without such a file is one.
fn split_name(word: &Path) -> (PathBuf, Option<String>) {
    let whole = (word.to_owned(), None);
    let Some(text) = word.to_str().filter(|_| !word.exists()) else { return whole };
    // Of a URL the part after its last colon is a name, unless that is the one after its scheme or before its port.
    let is_there = |path: &str| Path::new(path).exists() || path.contains("://") && !path.ends_with('/');
    let mut colons = text.char_indices().rev().filter(|(_, letter)| *letter == ':').map(|(at, _)| at);
    let found = colons.find_map(|at| {
        let (path, name) = (text.get(..at)?, text.get(at + 1..)?);
        let is_part_of_url = name.is_empty() || path.contains("://") && name.contains('/');
        (!is_part_of_url && is_there(path)).then(|| (PathBuf::from(path), Some(name.to_owned())))
    });
    found.unwrap_or(whole)
}
