//! `fw reshuffle`: index and digests before the objects.

use super::{print_done, print_report};
use crate::args::Reshuffle;
use crate::change::{called, is_pipe, source, with_target};
use crate::exit::Outcome;
use crate::input::Input;
use crate::render::{count, size};
use anyhow::Result;
use framewright::edit::reshuffle;
use framewright::report::visible;
use serde_json::json;

pub(crate) fn run(args: &Reshuffle) -> Result<Outcome> {
    let input = Input::of(&args.file, &args.common.store, "reshuffle")?;
    shuffled(args, &input).map_err(|error| input.retold(error))
}

fn shuffled(args: &Reshuffle, input: &Input) -> Result<Outcome> {
    let source = source(input)?;
    let output = args.output.as_deref();
    let done = with_target(&args.file, input, output, args.place, |target| reshuffle(&source, target))?;
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
