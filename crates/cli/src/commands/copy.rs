//! `fw copy`: selected messages and objects into files.

use super::weights::told_digests;
use super::{print_done, print_report};
use crate::args::Copy;
use crate::change::{existing, is_pipe, note_nothing, report_losses, source};
use crate::exit::{Outcome, Usage, aside};
use crate::input::Input;
use crate::render::{Progress, count, shown, size};
use anyhow::Result;
use framewright::convert::Loss;
use framewright::edit::{CopyOptions, CopyReport, Names, Unit, WrittenFile, copy, copy_to_stream};
use serde_json::json;
use std::io::{Write, stdout};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(args: &Copy) -> Result<Outcome> {
    let input = Input::of(&args.file, &args.common.store, "copy")?;
    copied(args, &input).map_err(|error| input.retold(error))
}

fn copied(args: &Copy, input: &Input) -> Result<Outcome> {
    let unit = if args.objects { Unit::Objects } else { Unit::Messages };
    let progress = Arc::new(Progress::bytes());
    let options = CopyOptions::new(args.select.filter())
        .with_unit(unit)
        .with_existing(existing(args.naming.force, args.append))
        .with_stored(args.trust.stored())
        .with_watch(progress.watch(input.name()));
    let source = source(input)?;
    if is_pipe(Some(&args.output)) {
        let mut sink = stdout().lock();
        let done = copy_to_stream(&source, &mut sink, &options)?;
        progress.clear();
        sink.flush()?;
        if done.copied_objects == 0 {
            note_nothing([input], &options.filter, args.common.json);
        }
        note_others(&done);
        return Ok(Outcome::Fine);
    }
    let names = names(&args.output, args.naming.missing.as_deref(), args.naming.parents)?;
    let done = copy(&source, &names, &options)?;
    progress.clear();
    if done.copied_objects == 0 {
        note_nothing([input], &options.filter, args.common.json);
    }
    let outcome = report_losses(&done.losses);
    if !args.common.json {
        note_others(&done);
        told_digests(done.ignored_digests, done.signature_dropped, input.name());
    }
    if args.common.json {
        let mut report = json!(done);
        report["losses"] = json!(Loss::grouped(&done.losses));
        report["format"] = json!(source.format);
        print_report("copy", true, report)?;
    } else {
        print_done(&text(&done))?;
    }
    Ok(outcome)
}

/// The names of outputs.
pub(super) fn names(output: &Path, missing: Option<&str>, parents: bool) -> Result<Names> {
    let Some(text) = output.to_str() else {
        return Err(Usage(format!("{}: the name is not UTF-8", output.display())).into());
    };
    if text.ends_with(std::path::is_separator) {
        let text = format!("{text}: is a directory\nhint: add a file name, such as {text}[index].tgm");
        return Err(Usage(text).into());
    }
    Ok(Names::parse(text)?.with_missing(missing.map(str::to_owned)).with_parents(parents))
}

/// Notes that whole messages hold more than was selected.
fn note_others(done: &CopyReport) {
    let others = done.copied_objects.saturating_sub(done.selected_objects);
    if others > 0 {
        let others = count(others, "object");
        aside(format_args!(
            "fw: note: whole messages are copied, with {others} that --where does not select; --objects leaves them out\n"
        ));
    }
}

fn text(done: &CopyReport) -> String {
    let mut text: String = done.files.iter().map(|file| line(file, true)).collect();
    if done.files.len() != 1 {
        let (files, bytes) = (count(done.files.len(), "file"), done.files.iter().map(|file| file.bytes).sum());
        let (messages, objects) = (count(done.messages, "message"), count(done.copied_objects, "object"));
        text.push_str(&format!("{files} from {messages}: {objects}, {}\n", size(bytes)));
    }
    text
}

/// What one file holds.
pub(super) fn line(file: &WrittenFile, messages: bool) -> String {
    let messages = if messages { format!("{}, ", count(file.messages, "message")) } else { String::new() };
    let objects = count(file.objects, "object");
    format!("wrote {}: {messages}{objects}, {}\n", shown(&file.path), size(file.bytes))
}
