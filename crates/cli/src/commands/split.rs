//! `fw split`: one file per object.

use super::copy::{line, names};
use super::weights::told_digests;
use super::{print_done, print_report};
use crate::args::Split;
use crate::change::{existing, note_nothing, report_losses, source};
use crate::exit::Outcome;
use crate::input::Input;
use crate::render::{Progress, count, size};
use anyhow::Result;
use framewright::convert::Loss;
use framewright::edit::{SplitOptions, SplitReport, split};
use serde_json::json;
use std::sync::Arc;

pub(crate) fn run(args: &Split) -> Result<Outcome> {
    let input = Input::of(&args.file, &args.common.store, "split")?;
    parted(args, &input).map_err(|error| input.retold(error))
}

fn parted(args: &Split, input: &Input) -> Result<Outcome> {
    let names = names(&args.output, args.naming.missing.as_deref(), args.naming.parents)?;
    let progress = Arc::new(Progress::bytes());
    let options = SplitOptions::new(args.select.filter())
        .with_existing(existing(args.naming.force, false))
        .with_stored(args.trust.stored())
        .with_watch(progress.watch(input.name()));
    let source = source(input)?;
    let done = split(&source, &names, &options)?;
    progress.clear();
    if done.files.is_empty() {
        note_nothing([input], &options.filter, args.common.json);
    }
    if !args.common.json {
        told_digests(done.ignored_digests, done.signature_dropped, input.name());
    }
    let outcome = report_losses(&done.losses);
    if args.common.json {
        let mut report = json!(done);
        report["losses"] = json!(Loss::grouped(&done.losses));
        report["format"] = json!(source.format);
        print_report("split", true, report)?;
    } else {
        print_done(&text(&done))?;
    }
    Ok(outcome)
}

fn text(done: &SplitReport) -> String {
    let mut text: String = done.files.iter().map(|file| line(file, false)).collect();
    if done.files.len() != 1 {
        let bytes = done.files.iter().map(|file| file.bytes).sum();
        let (files, messages) = (count(done.files.len(), "file"), count(done.messages, "message"));
        text.push_str(&format!("{files} from {messages}, {}\n", size(bytes)));
    }
    text
}
