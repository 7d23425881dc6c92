//! `fw merge`: many files into one.

use super::weights::told_digests;
use super::{print_done, print_report};
use crate::args::{Merge, Strategy};
use crate::change::{existing, is_pipe, note_nothing, report_losses, source};
use crate::exit::{Outcome, Usage, aside};
use crate::input::Input;
use crate::inputs::expanded;
use crate::render::{Progress, count, shown, size};
use anyhow::Result;
use framewright::convert::Loss;
use framewright::edit::{self, MergeOptions, MergeReport, Target, merge};
use framewright::report::visible;
use serde_json::json;
use std::io::{Write, stdout};
use std::sync::Arc;

pub(crate) fn run(args: &Merge) -> Result<Outcome> {
    if args.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        return Err(Usage("standard input can be one of the files only once".to_owned()).into());
    }
    let mut files = Vec::new();
    for word in &args.files {
        match expanded(word)? {
            None => files.push(word.clone()),
            Some(found) => files.extend(found.into_iter().map(|(_, path)| path)),
        }
    }
    let inputs: Vec<Input> =
        files.iter().map(|file| Input::of(file, &args.common.store, "merge")).collect::<Result<_>>()?;
    merged(args, &inputs).map_err(|error| inputs.iter().fold(error, |error, input| input.retold(error)))
}

fn merged(args: &Merge, inputs: &[Input]) -> Result<Outcome> {
    let strategy = args.strategy.map(|strategy| match strategy {
        Strategy::First => edit::Strategy::First,
        Strategy::Last => edit::Strategy::Last,
        Strategy::Error => edit::Strategy::Error,
    });
    let progress = Arc::new(Progress::bytes());
    let watch = progress.watch(&args.output.display().to_string());
    let options = MergeOptions::new(args.select.filter()).with_strategy(strategy).with_stored(args.trust.stored());
    let options = options.with_watch(watch);
    let sources = inputs.iter().map(source).collect::<Result<Vec<_>>>()?;
    let done = if is_pipe(Some(&args.output)) {
        let mut sink = stdout().lock();
        let done = merge(&sources, Target::Stream(&mut sink), &options)?;
        sink.flush()?;
        done
    } else {
        merge(&sources, Target::File { path: &args.output, existing: existing(args.force, false) }, &options)?
    };
    progress.clear();
    if done.objects == 0 {
        note_nothing(inputs, &options.filter, args.common.json);
    }
    for dropped in &done.dropped {
        let what = if dropped.tensor { "tensor" } else { "value" };
        aside(format_args!("fw: {}: the {what} of {} was dropped\n", visible(&dropped.key), dropped.file));
    }
    if !args.common.json {
        let names: Vec<&str> = inputs.iter().map(Input::name).collect();
        told_digests(done.ignored_digests, done.signature_dropped, &names.join(", "));
    }
    let outcome = report_losses(&done.losses);
    if args.common.json && !is_pipe(Some(&args.output)) {
        let mut report = json!(done);
        report["losses"] = json!(Loss::grouped(&done.losses));
        report["file"] = args.output.display().to_string().into();
        print_report("merge", true, report)?;
    } else if !is_pipe(Some(&args.output)) {
        print_done(&text(args, &done))?;
    }
    // Values that the chosen strategy drops do not count as losses.
    Ok(if done.dropped.is_empty() || strategy.is_some() { outcome } else { Outcome::Lossy })
}

fn text(args: &Merge, done: &MergeReport) -> String {
    let (objects, files) = (count(done.objects, "object"), count(done.files, "file"));
    format!("wrote {}: {objects} from {files}, {}\n", shown(&args.output), size(done.bytes))
}
