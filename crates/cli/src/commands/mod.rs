//! One file per command; each builds its text in a function that returns a string.

mod capture;
pub(crate) mod cat;
mod convert;
mod decode;
mod diff;
pub(crate) mod dump;
mod encode;
mod generate;
pub(crate) mod info;
pub(crate) mod ls;
mod ls_stream;
mod recover;
mod schema;
mod tour;
mod validate;

use crate::args::Command;
use crate::exit::{Outcome, Usage};
use anyhow::Result;
use std::io::Write;

/// Runs a command.
///
/// # Errors
/// Whatever the command could not do.
pub(crate) fn run(command: &Command) -> Result<Outcome> {
    match command {
        Command::Info(args) => info::run(args),
        Command::Ls(args) => ls::run(args),
        Command::Dump(args) => dump::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Cat(args) => cat::run(args),
        Command::Recover(args) => recover::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Decode(args) => decode::run(args),
        Command::Encode(args) => encode::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Gen(args) => generate::run(args),
        Command::Tour => tour::run(),
    }
}

/// Results go to standard output in one write.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints what a command found as JSON: every such object says which command it is from and whether all is well.
pub(crate) fn print_report(command: &str, ok: bool, mut report: serde_json::Value) -> Result<()> {
    report["command"] = command.into();
    report["ok"] = ok.into();
    print_json(&report)
}

fn print_json(value: &serde_json::Value) -> Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// An output that is there already is replaced only on request.
fn unclaimed(output: &std::path::Path, force: bool) -> Result<()> {
    if !force && output.exists() {
        return Err(Usage(format!("{}: it is there already; --force replaces it", output.display())).into());
    }
    Ok(())
}
