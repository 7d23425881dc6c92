//! One file per command; each builds its text in a function that returns a string.

mod bridge;
mod capture;
pub(crate) mod cat;
mod convert;
mod convert_capture;
mod copy;
mod decode;
mod diff;
mod digest;
mod doctor;
mod dump;
mod encode;
mod fields;
mod generate;
mod get;
mod info;
mod live;
mod ls;
mod ls_stream;
mod manual;
#[cfg(feature = "link")]
mod play;
mod plot;
mod merge;
mod recode;
#[cfg(feature = "link")]
mod record;
mod recover;
mod reshuffle;
pub(crate) mod schema;
mod stats;
mod set;
mod sign;
mod split;
mod summary;
mod tour;
mod validate;
mod verify;
mod weights;

use crate::args::{Command, Store};
use crate::exit::{self, Outcome, Usage};
use crate::input::Input;
#[cfg(feature = "remote")]
use crate::opened::Opened;
use crate::render::Progress;
use crate::terminal::Terminal;
use anyhow::Result;
use framewright::convert::TensorFile;
use framewright::source::same_file;
use std::path::Path;

/// Runs a command.
///
/// # Errors
/// Whatever the command could not do.
pub(crate) fn run(command: &Command) -> Result<Outcome> {
    match command {
        Command::Info(args) => info::run(args),
        Command::Ls(args) => ls::run(args),
        Command::Get(args) => get::run(args),
        Command::Dump(args) => dump::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Digest(args) => args.threads.within(|| digest::run(args)),
        Command::Sign(args) => args.threads.within(|| sign::run(args)),
        Command::Verify(args) => args.threads.within(|| verify::run(args)),
        Command::Stats(args) => stats::run(args),
        Command::Plot(args) => args.threads.within(|| plot::run(args)),
        #[cfg(feature = "remote")]
        Command::Cat(args) if crate::remote::url(&args.file).is_some() && !args.select.filter().is_empty() => {
            let opened = Opened::open(&args.file, &args.store, "cat")?;
            run(&Command::Cat(cat::by_keys(args, &opened.catalog)?))
        }
        Command::Cat(args) => {
            args.threads.within(|| look(command, &args.file, &args.store, |input| cat::run(args, input)))
        }
        Command::Recover(args) => recover::run(args),
        Command::Convert(args) => args.threads.within(|| convert::run(args)),
        Command::Set(args) => set::run(args),
        Command::Copy(args) => copy::run(args),
        Command::Merge(args) => merge::run(args),
        Command::Split(args) => split::run(args),
        Command::Reshuffle(args) => reshuffle::run(args),
        Command::Recode(args) => recode::run(args),
        Command::Rename(args) => weights::rename(args),
        Command::Subset(args) => weights::subset(args),
        Command::Replace(args) => weights::replace(args),
        Command::Cast(args) => weights::cast(args),
        Command::Diff(args) => args.threads.within(|| diff::run(args)),
        Command::Decode(args) => decode::run(args),
        Command::Encode(args) => encode::run(args),
        Command::Bridge(args) => bridge::run(args),
        #[cfg(feature = "link")]
        Command::Record(args) => record::run(args),
        #[cfg(feature = "link")]
        Command::Play(args) => play::run(args),
        #[cfg(not(feature = "link"))]
        Command::Record(args) => Err(crate::input::no_links(&args.address)),
        #[cfg(not(feature = "link"))]
        Command::Play(args) => Err(crate::input::no_links(&args.address)),
        Command::Schema(args) => schema::run(args),
        Command::Gen(args) => generate::run(args),
        Command::Tour(args) => tour::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
    }
}

/// Looks at a file: part by part when it is in a store and the command can do with parts, else at all of it.
fn look(command: &Command, file: &Path, store: &Store, run: impl FnOnce(&Input) -> Result<Outcome>) -> Result<Outcome> {
    let _progress = Progress::of_output(&file.display().to_string());
    #[cfg(feature = "remote")]
    let input = match crate::remote::url(file) {
        Some(url) => match crate::remote::look(command, url, store)? {
            crate::remote::Looked::Done(outcome) => return Ok(outcome),
            crate::remote::Looked::Copied(input) => input,
        },
        None => Input::of(file, store, command.name())?,
    };
    #[cfg(not(feature = "remote"))]
    let input = Input::of(file, store, command.name())?;
    run(&input).map_err(|error| input.retold(error))
}

/// Hands the tensors of a file to `work`, with what people call it; digests are left to `work`. A file in a store is read where it
/// is, in parts, where its format allows.
fn with_file<R>(
    word: &Path,
    store: &Store,
    command: &str,
    work: impl FnOnce(&dyn TensorFile, &str) -> Result<R>,
) -> Result<R> {
    #[cfg(feature = "remote")]
    if let Some(url) = crate::remote::url(word)
        && let Some(file) = crate::remote::tensor_file(url, store, command)?
    {
        return work(&*file, url)
            .map_err(|error| if error.is::<Usage>() { error } else { error.context(url.to_owned()) });
    }
    let input = Input::of(word, store, command)?;
    let run = || -> Result<R> {
        let file = input.unchecked_tensors()?;
        match work(&*file, input.name()) {
            Err(error) if !error.is::<Usage>() => input.named(error),
            done => done,
        }
    };
    run().map_err(|error| input.retold(error))
}

/// Results go to standard output in one write.
pub(crate) fn print(text: &str) -> Result<()> {
    Ok(exit::print(text.as_bytes())?)
}

/// Says what was done, for commands whose result is a file: `--quiet` leaves it out.
pub(crate) fn print_done(text: &str) -> Result<()> {
    if Terminal::current().quiet { Ok(()) } else { print(text) }
}

/// Prints what a command found as JSON: every such object says which command it is from and whether all is well.
pub(crate) fn print_report(command: &str, ok: bool, mut report: serde_json::Value) -> Result<()> {
    report["command"] = command.into();
    report["ok"] = ok.into();
    print(&format!("{}\n", exit::object_text(command, &report)))
}

/// An output that exists is replaced only on request; a directory, and a file that the command reads, never.
fn unclaimed(output: &Path, force: bool, inputs: &[&Path]) -> Result<()> {
    if output.is_dir() {
        return Err(Usage(format!("{}: is a directory; name a file to write", output.display())).into());
    }
    if inputs.iter().any(|input| same_file(input, output)) {
        let text = format!("{}: input and output are the same file; name another output", output.display());
        return Err(Usage(text).into());
    }
    if !force && output.exists() {
        return Err(Usage(format!("{}: already exists; use --force to overwrite it", output.display())).into());
    }
    Ok(())
}
