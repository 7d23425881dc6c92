//! `fw set`: keys of messages, objects and files.

use super::weights::told_digests;
use super::{print_done, print_report};
use crate::args::Set;
use crate::change::{called, is_pipe, note_nothing, report_losses, source, with_target};
use crate::exit::{Outcome, aside};
use crate::input::Input;
use crate::render::{Progress, count, size};
use anyhow::{Context, Result};
use framewright::convert::Loss;
use framewright::edit::{Change, Edit, SetOptions, SetReport, set};
use framewright::report::visible;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn run(args: &Set) -> Result<Outcome> {
    let changes = changes(args)?;
    let input = Input::of(&args.file, &args.common.store, "set")?;
    changed(args, &changes, &input).map_err(|error| input.retold(error))
}

fn changed(args: &Set, changes: &[Change], input: &Input) -> Result<Outcome> {
    let progress = Arc::new(Progress::bytes());
    let options = SetOptions::default()
        .with_whole_messages(args.messages)
        .with_stored(args.trust.stored())
        .with_watch(progress.watch(input.name()));
    let source = source(input)?;
    let output = args.output.as_deref();
    let done = with_target(&args.file, input, output, args.place, |target| set(&source, target, changes, &options))?;
    progress.clear();
    if done.selected_messages == 0 {
        note_nothing([input], &args.select.filter(), args.common.json);
    }
    for key in &done.missing_keys {
        aside(format_args!("fw: note: no selected object has the key {key}\n"));
    }
    if !args.common.json {
        told_digests(done.ignored_digests, done.signature_dropped, input.name());
    }
    let name = called(output, input);
    let outcome = report_losses(&done.losses);
    if args.common.json && !is_pipe(output) {
        let mut report = json!(done);
        report["losses"] = json!(Loss::grouped(&done.losses));
        report["file"] = name.into();
        report["format"] = json!(source.format);
        print_report("set", true, report)?;
    } else if !is_pipe(output) {
        print_done(&text(&name, &done))?;
    }
    Ok(outcome)
}

fn changes(args: &Set) -> Result<Vec<Change>> {
    let mut edits = Vec::new();
    for text in &args.set {
        edits.extend(Edit::parse(text)?);
    }
    for key in &args.delete {
        edits.push(Edit::delete(key)?);
    }
    let filter = args.select.filter();
    let mut changes = if edits.is_empty() { Vec::new() } else { vec![Change::new(filter.clone(), edits)] };
    if let Some(path) = &args.edits {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        for change in Change::parse_file(&text).with_context(|| path.display().to_string())? {
            // Clauses of the command line hold for everything.
            changes.push(Change::new(change.filter.clone().and(&filter), change.edits));
        }
    }
    Ok(changes)
}

fn text(name: &str, done: &SetReport) -> String {
    let messages = count(done.messages, "message");
    format!("wrote {}: {} of {messages} changed, {}\n", visible(name), done.changed_messages, size(done.bytes))
}
