//! `fw reshuffle`: index and digests before the objects.

use super::{print_done, print_report};
use crate::args::Reshuffle;
use crate::change::{called, is_pipe, source, with_target};
use crate::exit::Outcome;
use crate::input::Input;
use crate::render::{Progress, count, size};
use anyhow::Result;
use framewright::edit::{ReshuffleOptions, reshuffle};
use framewright::report::visible;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn run(args: &Reshuffle) -> Result<Outcome> {
    let input = Input::of(&args.file, &args.common.store, "reshuffle")?;
    shuffled(args, &input).map_err(|error| input.retold(error))
}

fn shuffled(args: &Reshuffle, input: &Input) -> Result<Outcome> {
    let source = source(input)?;
    let output = args.output.as_deref();
    let progress = Arc::new(Progress::bytes());
    let options = ReshuffleOptions::default().with_watch(progress.watch(input.name()));
    let done = with_target(&args.file, input, output, args.place, |target| reshuffle(&source, target, &options))?;
    progress.clear();
    let name = called(output, input);
    if args.common.json && !is_pipe(output) {
        let mut report = json!(done);
        report["file"] = name.into();
        print_report("reshuffle", true, report)?;
    } else if !is_pipe(output) {
        let messages = count(done.messages, "message");
        print_done(&format!(
            "wrote {}: {} of {messages} changed, {}\n",
            visible(&name),
            done.changed_messages,
            size(done.bytes)
        ))?;
    }
    Ok(Outcome::Fine)
}
