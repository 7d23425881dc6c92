//! `fw recover`: what is intact of a damaged Tensogram file.

use super::{print, print_report};
use crate::args::Recover;
use crate::exit::{Failure, Outcome, aside};
use crate::input::Input;
use crate::render::{Progress, count, shown, size};
use anyhow::Result;
use framewright::convert::Format;
use framewright::source::{FileSource, Watched};
use framewright::tensogram::{MessageState, RecoverOptions, Recovery, TensogramError, Unverified, recover_to_file};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(args: &Recover) -> Result<Outcome> {
    let input = Input::of(&args.file, &args.common.store, "recover")?;
    recover(args, &input).map_err(|error| input.retold(error))
}

fn recover(args: &Recover, input: &Input) -> Result<Outcome> {
    super::unclaimed(&args.output, args.force, &[input.path()])?;
    let mut options = RecoverOptions::default();
    if args.unverified {
        options.unverified = Unverified::Keep;
    }
    let progress = Arc::new(Progress::bytes());
    // Digests are compared first, then what is intact is copied.
    let source = Watched::new(FileSource::open(input.path())?, 2, progress.watch(input.name()))?;
    let recovered = recover_to_file(&source, &args.output, &options);
    progress.clear();
    let recovery = match recovered {
        Ok(recovery) => recovery,
        Err(TensogramError::Io(error)) => return Err(error.into()),
        Err(error) if error.code() == "nothing_recovered" => return Err(hopeless(input)?.into()),
        Err(error) => return input.named(error),
    };
    if args.common.json {
        print_report("recover", recovery.is_complete(), serde_json::to_value(&recovery)?)?;
    } else {
        for finding in recovery.report.findings() {
            aside(format_args!("{finding}\n"));
        }
        print(&summary(&recovery, &args.output))?;
    }
    if args.sync {
        framewright::source::sync_directory_of(&args.output)?;
    }
    Ok(if recovery.is_complete() { Outcome::Fine } else { Outcome::Lossy })
}

/// Why nothing could be saved.
fn hopeless(input: &Input) -> Result<Failure> {
    let what = match (std::fs::metadata(input.path())?.len(), input.format()) {
        (0, _) => return Ok(Failure::new("empty_file", format!("{}: the file is empty", input.name()))),
        (_, Ok(format)) if format != Format::Tensogram => {
            format!("the file is {format}; only Tensogram files can be recovered")
        }
        (len, _) => format!("none of its {len} bytes belong to an object whose digest matches"),
    };
    let text = format!("{}: nothing could be recovered: {what}; no output was written", input.name());
    Ok(Failure::new("nothing_recovered", text))
}

fn summary(recovery: &Recovery, output: &Path) -> String {
    let number = |state| recovery.messages.iter().filter(|message| message.state == state).count();
    let written = recovery.messages.last().map_or(0, |message| message.output.end);
    format!(
        "{}: {}, {} in {} ({} intact, {} rebuilt, {} with losses)\n",
        shown(output),
        size(written),
        count(recovery.object_count(), "object"),
        count(recovery.messages.len(), "message"),
        number(MessageState::Intact),
        number(MessageState::Rebuilt),
        number(MessageState::Partial),
    )
}
