//! `fw`: one tool for Tensogram, BinTensors and struct-frame data, as a library.
//!
//! [`run`] is the whole command line. The program `fw` calls it, and so does the console script of the Python package. [`answer`]
//! returns what a command found to a program.
//!
//! ```
//! assert_eq!(fw_cli::run(["fw", "ls", "absent.tgm"]), 2);
//! ```
#![forbid(unsafe_code)]
// These panic where nothing can be written: see `exit::aside` and `commands::print`.
#![deny(clippy::print_stderr, clippy::print_stdout, clippy::exit)]

mod args; // what the user may say
mod budget; // how much files may make a command take
mod change; // what commands that change files share
mod commands; // one file per command
mod exit; // what the process returns
mod frames; // where frames come from
mod input; // where files come from
mod inputs; // many of them
#[cfg(feature = "link")]
mod links; // links, as commands read them
mod opened; // files as catalogs
#[cfg(feature = "remote")]
mod remote; // files in stores, by URL
mod pairs; // which file is compared with which
mod render; // text for people, JSON for programs
mod screen; // which pictures the terminal can show
mod selected; // what commands that select by keys share
mod selection; // parts of tensors as people write them
mod terminal; // what the output may look like

use clap::{ColorChoice, CommandFactory, FromArgMatches};
use exit::Voice;
use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;
use terminal::Terminal;

/// Runs a command line, whose first word is the name of the program, and returns its exit code.
///
/// Results go to standard output, everything else to standard error. The exit codes are 0 (fine), 1 (failed, invalid or
/// different), 2 (usage) and 3 (done, and something was lost). The call never ends the process and changes no signal
/// handlers, except that `fw record` ends in good order on SIGINT and SIGTERM: a caller that handles SIGINT itself restores the default handler first if Ctrl-C is to stop the command.
pub fn run<I>(words: I) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let parsed = args::Args::command().color(wanted_colour(&words)).try_get_matches_from(&words);
    let code = match parsed.and_then(|matches| args::Args::from_arg_matches(&matches)) {
        Ok(args) => {
            Terminal::settle(&args.look, args.command.voice() == Voice::Json).enter();
            let _budget = budget::Budget::of(&args.look);
            exit::code(args.command.name(), args.command.voice(), commands::run(&args.command))
        }
        // Programs that ask for JSON get it, whatever is wrong.
        Err(mut error) if error.use_stderr() && words.iter().any(|word| word == "--json") => {
            advise(&mut error, &named_command(&words), &words);
            exit::tell(&named_command(&words), Voice::Json, &misused(&error));
            2
        }
        Err(mut error) => {
            advise(&mut error, &named_command(&words), &words);
            // Help or usage; where it cannot be written, the exit code still tells.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(2)
        }
    };
    // A library has no exit of the process that would flush what is left.
    let _ = std::io::stdout().flush();
    code
}

/// What a command line returned to a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The exit code.
    pub code: u8,
    /// What the command would have printed on standard output: with `--json` the objects that `docs/json.md` describes, one
    /// after the other; for a picture its bytes.
    pub output: Vec<u8>,
    /// Why the command failed, where it did: `code`, `message`, and where known `file`, `position` and `hint`.
    pub fault: Option<serde_json::Value>,
}

/// Hears how far a command is, on the thread that does the work: bytes or items done, and how many there are (0: unknown).
pub type ProgressListener = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Runs a command line, whose first word is the name of the program, for a program: nothing is printed, `progress` hears how
/// far the command is, and what it found is returned.
///
/// ```
/// let answer = fw_cli::answer(["fw", "info", "--json", "absent.tgm"], None);
/// assert_eq!(answer.code, 2);
/// assert_eq!(answer.fault.unwrap()["code"], "not_found");
/// ```
///
/// Commands that write data to standard output (`cat`, `decode`, an output named `-`) write it there, except pictures.
pub fn answer<I>(words: I, progress: Option<ProgressListener>) -> Answer
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let (code, caught) = render::heard(progress, || terminal::catching(Terminal::default(), || command(&words)));
    Answer { code, output: caught.results, fault: caught.fault }
}

/// Runs a command line whose results are text, and returns its exit code and what it printed. Tables are as wide as a page.
fn captured(words: impl IntoIterator<Item = String>) -> (u8, String) {
    let page = Terminal { width: Some(100), ..Terminal::default() };
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let (code, caught) = terminal::catching(page, || command(&words));
    (code, caught.all)
}

/// Runs a command line as the thread talks now.
fn command(words: &[OsString]) -> u8 {
    match <args::Args as clap::Parser>::try_parse_from(words) {
        Ok(args) => {
            let _budget = budget::Budget::of(&args.look);
            exit::code(args.command.name(), args.command.voice(), commands::run(&args.command))
        }
        Err(error) => {
            terminal::caught_fault(&misused(&error));
            exit::complain(format_args!("{error}"));
            2
        }
    }
}

/// What is wrong with the command line, all of it: the message on one line, and how it is meant as a hint.
fn misused(error: &clap::Error) -> serde_json::Value {
    let words = error.to_string();
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return serde_json::json!({ "code": "usage", "message": "missing command", "hint": words.trim_end() });
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

/// Says how something is done here that other programs, or other commands, do otherwise.
fn advise(error: &mut clap::Error, command: &str, words: &[OsString]) {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => of(ContextKind::InvalidArg).and_then(|option| elsewhere(command, option)),
        ErrorKind::InvalidSubcommand => of(ContextKind::InvalidSubcommand).and_then(foreign).map(str::to_owned),
        ErrorKind::MissingRequiredArgument => left_out(command, words).map(str::to_owned),
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Where an option of other commands is found in this one.
fn elsewhere(command: &str, option: &str) -> Option<String> {
    Some(match (option, command) {
        ("-o" | "--output", "set" | "copy" | "convert" | "recode") => {
            format!("name the output after the input: 'fw {command} FILE OUTPUT'")
        }
        ("-t" | "--tensor", "ls" | "get" | "stats" | "dump" | "set" | "copy" | "split" | "merge" | "recode") => {
            "select a tensor by its name with '--where name=NAME'".to_owned()
        }
        (name, "cat") if !name.starts_with('-') => format!("choose a tensor by its name with '--tensor {name}'"),
        _ => return None,
    })
}

/// What is done here by a command of another name.
fn foreign(name: &str) -> Option<&'static str> {
    let (_, tip) = FOREIGN.iter().find(|(names, _)| names.contains(&name))?;
    Some(tip)
}

/// Names that people try, and what they look for.
const FOREIGN: &[(&[&str], &str)] = &[
    (
        &["keys", "meta", "metadata", "header", "show", "print"],
        "'fw dump FILE' prints every key, 'fw get FILE -p KEYS' values",
    ),
    (&["watch", "tail", "follow"], "'tail -c +1 -f FILE | fw ls -' lists a growing file"),
    (&["list"], "'fw ls FILE' lists what a file holds"),
    (
        &["export", "extract", "save"],
        "'fw cat' writes one tensor, 'fw copy -w' what is selected, 'fw convert' a whole file",
    ),
    (&["filter", "select", "grep", "find"], "'fw ls -w' lists what is selected, 'fw copy -w' copies it"),
    (&["delete", "rm", "remove"], "'fw set -d KEY' deletes a key, 'fw copy -w' leaves out what is not selected"),
    (&["compare", "cmp"], "'fw diff FIRST SECOND' compares files"),
    (&["check", "verify", "test"], "'fw validate FILE' checks a file"),
    (&["join", "concat"], "'fw merge FILES -o OUTPUT' makes one message of many files"),
    (&["repair", "fix", "rescue"], "'fw recover FILE -o OUTPUT' saves what is intact"),
    (&["draw", "view", "image", "picture"], "'fw plot FILE' draws a tensor"),
    (&["compress", "pack", "reencode"], "'fw recode FILE OUTPUT' codes objects anew"),
];

/// What was probably meant by a command line that lacks something.
fn left_out(command: &str, words: &[OsString]) -> Option<&'static str> {
    let is_assignment =
        |word: &OsString| word.to_str().is_some_and(|word| !word.starts_with('-') && word.contains('='));
    match command {
        "get" => Some("'fw dump FILE' prints every key"),
        "set" if words.iter().any(is_assignment) => {
            Some("give each change its own --set (-s): 'fw set -s KEY=VALUE FILE OUTPUT'")
        }
        _ => None,
    }
}

/// How help and usage errors are coloured: they are told before the options are known.
fn wanted_colour(words: &[OsString]) -> ColorChoice {
    let values = words.iter().zip(words.iter().skip(1).map(Some).chain([None]));
    let said = values.filter_map(|(word, next)| match word.to_str()? {
        "--color" => next?.to_str(),
        word => word.strip_prefix("--color="),
    });
    said.last().and_then(|value| value.parse().ok()).unwrap_or(ColorChoice::Auto)
}

/// The command that was meant, where the words on the command line name one.
fn named_command(words: &[OsString]) -> String {
    let known = args::Args::command();
    let names = words.iter().skip(1).filter_map(|word| word.to_str());
    let meant = names.into_iter().find(|word| known.get_subcommands().any(|one| one.get_name() == *word));
    meant.unwrap_or_default().to_owned()
}
