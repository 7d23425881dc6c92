//! `fw`: one tool for Tensogram, BinTensors and struct-frame data.
#![forbid(unsafe_code)]
// These panic where nothing can be written: see `exit::aside` and `commands::print`.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args; // what the user may say
mod commands; // one file per command
mod exit; // what the process returns
mod frames; // where frames come from
mod input; // where files come from
#[cfg(feature = "remote")]
mod remote; // files in stores, by URL
mod render; // text for people, JSON for programs
mod selection; // parts of tensors as people write them

use clap::{CommandFactory, Parser};
use exit::Voice;

fn main() -> std::process::ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        // Programs that ask for JSON get it, whatever is wrong.
        Err(error) if error.use_stderr() && std::env::args().any(|word| word == "--json") => {
            exit::tell(&named_command(), Voice::Json, &misused(&error));
            return std::process::ExitCode::from(2);
        }
        Err(error) => error.exit(),
    };
    exit::code(args.command.name(), args.command.voice(), commands::run(&args.command))
}

/// What is wrong with the command line, all of it: the message on one line, and how it is meant as a hint.
fn misused(error: &clap::Error) -> serde_json::Value {
    let words = error.to_string();
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return serde_json::json!({ "code": "usage", "message": "a command is missing", "hint": words.trim_end() });
    }
    let (what, usage) = words.split_once("\nUsage: ").unwrap_or((&words, ""));
    let lines = |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let mut message: Vec<String> = lines(what);
    message.retain(|line| !line.starts_with("For more information"));
    let tips = message.extract_if(.., |line| line.starts_with("tip: ")).collect::<Vec<_>>();
    let usage = usage.lines().next().map(|line| format!("usage: {line}"));
    let hint = tips.into_iter().chain(usage).collect::<Vec<_>>().join("; ");
    let message = message.join(" ");
    let mut fault = serde_json::json!({ "code": "usage", "message": message.trim_start_matches("error: ") });
    if !hint.is_empty() {
        fault["hint"] = hint.into();
    }
    fault
}

/// The command that was meant, where the words on the command line name one.
fn named_command() -> String {
    let known = args::Args::command();
    let meant = std::env::args().skip(1).find(|word| known.get_subcommands().any(|one| one.get_name() == word));
    meant.unwrap_or_default()
}
