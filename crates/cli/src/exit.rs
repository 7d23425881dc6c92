//! What the process returns, and what it says when it failed: words for people, an object for programs.
//!
//! 0 fine; 1 failed, invalid or different; 2 usage, which a file that is not there or cannot be opened is, too; 3 done with loss.

use crate::render::{Ink, beside, findings_error};
use crate::terminal::{self, Terminal};
use framewright::bintensors::BinTensorError;
use framewright::convert::ConvertError;
use framewright::edit::EditError;
use framewright::recording::RecordingError;
use framewright::report::{visible_json, visible_lines};
use framewright::tensogram::TensogramError;
use serde_json::{Value, json};
use std::io::{self, Write};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Fine,
    /// The command worked, and what it looked at is wrong, or two things differ.
    Invalid,
    /// The command worked, and something could not be kept.
    Lossy,
    /// One of several files is not there or cannot be opened.
    Unopened,
}

impl Outcome {
    /// How two parts of a command ended together: the worse of both.
    pub(crate) const fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Lossy => 1,
            Self::Invalid => 2,
            Self::Unopened => 3,
        }
    }
}

/// How failures are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A line on standard error.
    Words,
    /// An object on standard output.
    Json,
}

/// Turns the end of a command into an exit code, and says what went wrong.
pub(crate) fn code(command: &str, voice: Voice, result: anyhow::Result<Outcome>) -> u8 {
    match result {
        Ok(Outcome::Fine) => 0,
        Ok(Outcome::Invalid) => 1,
        Ok(Outcome::Lossy) => 3,
        Ok(Outcome::Unopened) => 2,
        // A reader that closed its end has seen enough: `fw ls big.tgm | head` is no failure.
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => {
            tell(command, voice, &fault(&error));
            // Where 1 means "different", trouble is 2, as with diff(1).
            if command == "diff" || is_usage(Retold::inner(&error)) { 2 } else { 1 }
        }
    }
}

/// Says what went wrong: an object with at least `code` and `message`.
pub(crate) fn tell(command: &str, voice: Voice, fault: &Value) {
    terminal::caught_fault(fault);
    match voice {
        Voice::Words => {
            let message = fault["message"].as_str().unwrap_or_default();
            let hint = fault["hint"].as_str().map_or_else(String::new, |hint| format!("hint: {hint}\n"));
            let words = format!("{message}\n{hint}");
            write_error(&format!("{} {}", Ink::Bad.paint_error("fw:"), visible_lines(&words)));
        }
        Voice::Json => {
            let object = json!({ "command": command, "ok": false, "error": fault });
            // Where nothing can be written, the exit code still tells.
            let _ = print(format!("{}\n", object_text(command, &object)).as_bytes());
        }
    }
}

/// Results go to standard output in one write, or to the caller who catches them.
pub(crate) fn print(bytes: &[u8]) -> io::Result<()> {
    if terminal::caught_result(bytes) {
        return Ok(());
    }
    beside(|| {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    })
}

/// An object as a command prints it: among lines it is a line.
pub(crate) fn object_text(command: &str, object: &Value) -> String {
    let text = if matches!(command, "decode" | "get") { object.to_string() } else { format!("{object:#}") };
    visible_json(&text).into_owned()
}

/// Words beside the result, on standard error: notes, warnings and losses, which `--quiet` leaves out.
pub(crate) fn aside(words: std::fmt::Arguments<'_>) {
    if !Terminal::current().quiet {
        complain(words);
    }
}

/// What is wrong, on standard error. Where nobody can hear it, it is lost, and nothing else is.
pub(crate) fn complain(words: std::fmt::Arguments<'_>) {
    write_error(&findings_error(&visible_lines(&words.to_string())));
}

fn write_error(text: &str) {
    if terminal::caught_words(text) {
        return;
    }
    // In one write, so that lines of several processes do not mix.
    let _ = beside(|| io::stderr().write_all(text.as_bytes()));
}

/// A request that cannot be served as it was put.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Standard output cannot be written, which is no fault of the file that is read.
#[derive(Debug)]
pub(crate) struct Unwritten(pub(crate) io::Error);

impl std::fmt::Display for Unwritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "standard output: {}", self.0)
    }
}

impl std::error::Error for Unwritten {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// What is wrong with a file, where no library has a code for it.
#[derive(Debug)]
pub(crate) struct Failure {
    code: &'static str,
    text: String,
    position: Option<u64>,
}

impl Failure {
    pub(crate) const fn new(code: &'static str, text: String) -> Self {
        Self { code, text, position: None }
    }

    /// The byte where it is wrong.
    pub(crate) const fn at(mut self, position: u64) -> Self {
        self.position = Some(position);
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Failure {}

/// An error about a copy of a file, to be reported under the name that the user knows.
#[derive(Debug)]
pub(crate) struct Retold {
    error: anyhow::Error,
    copy: String,
    name: String,
}

impl Retold {
    pub(crate) const fn new(error: anyhow::Error, copy: String, name: String) -> Self {
        Self { error, copy, name }
    }

    /// The error as it came up, under whichever name.
    fn inner(mut error: &anyhow::Error) -> &anyhow::Error {
        while let Some(retold) = error.downcast_ref::<Self>() {
            error = &retold.error;
        }
        error
    }

    fn renamed(&self, text: &str) -> String {
        text.replace(&self.copy, &self.name)
    }
}

impl std::fmt::Display for Retold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.renamed(&message_of(&self.error)))
    }
}

impl std::error::Error for Retold {}

/// Whether the reader of our results closed its end.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    io_kind(Retold::inner(error)) == Some(io::ErrorKind::BrokenPipe)
}

/// Whether the user could have asked otherwise: wrong arguments, or a file that is not there or cannot be opened.
pub(crate) fn is_usage_error(error: &anyhow::Error) -> bool {
    is_usage(Retold::inner(error))
}

fn is_usage(error: &anyhow::Error) -> bool {
    use io::ErrorKind::{InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    let opened = [InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied];
    let refused = error.chain().find_map(|cause| cause.downcast_ref::<EditError>()).is_some_and(EditError::is_misuse);
    refused
        || error.is::<Usage>()
        || is_wrong_address(error)
        || io_kind(error).is_some_and(|kind| opened.contains(&kind))
}

/// The code of an error of a link.
#[cfg(feature = "link")]
fn link_code(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    cause.downcast_ref::<framewright::link::LinkError>().map(framewright::link::LinkError::code)
}

#[cfg(not(feature = "link"))]
fn link_code(_: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    None
}

#[cfg(feature = "link")]
fn is_wrong_address(error: &anyhow::Error) -> bool {
    error.downcast_ref::<framewright::link::LinkError>().is_some_and(framewright::link::LinkError::is_misuse)
}

#[cfg(not(feature = "link"))]
fn is_wrong_address(_: &anyhow::Error) -> bool {
    false
}

fn io_kind(error: &anyhow::Error) -> Option<io::ErrorKind> {
    error.chain().find_map(|cause| match cause.downcast_ref::<ConvertError>() {
        Some(error) => error.io().map(io::Error::kind),
        None => cause.downcast_ref::<io::Error>().map(io::Error::kind),
    })
}

/// What went wrong from the outside in, each thing once: some causes repeat themselves in what they caused.
fn message_of(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let words = cause.to_string();
        if text.is_empty() {
            text = words;
        } else if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
    }
    text
}

/// Code, words, and where known the file and the byte.
pub(crate) fn fault(error: &anyhow::Error) -> Value {
    if let Some(retold) = error.downcast_ref::<Retold>() {
        let mut fault = fault(&retold.error);
        for key in ["message", "hint", "file"] {
            if let Some(text) = fault.get(key).and_then(Value::as_str) {
                fault[key] = retold.renamed(text).into();
            }
        }
        return fault;
    }
    let mut code = if error.is::<Usage>() { Some("usage") } else { None };
    let (mut position, mut file, mut hint) = (None, None, None);
    for cause in error.chain() {
        let found = if let Some(error) = cause.downcast_ref::<EditError>() {
            hint = hint.or_else(|| error.hint().map(str::to_owned));
            Some((error.code(), error.position()))
        } else if let Some(error) = cause.downcast_ref::<ConvertError>() {
            file = error.path().map(|path| path.display().to_string());
            Some((error.code(), error.position()))
        } else if let Some(error) = cause.downcast_ref::<TensogramError>() {
            Some((error.code(), error.offset()))
        } else if let Some(error) = cause.downcast_ref::<RecordingError>() {
            Some((error.code(), error.position()))
        } else if let Some(code) = link_code(cause) {
            Some((code, None))
        } else if let Some(failure) = cause.downcast_ref::<Failure>() {
            Some((failure.code, failure.position))
        } else {
            cause.downcast_ref::<BinTensorError>().map(|error| (error.code(), error.position()))
        };
        if let Some((known, at)) = found {
            code = code.or(Some(known));
            position = position.or(at);
        }
    }
    #[cfg(feature = "remote")]
    let code = code.or_else(|| {
        use framewright::source::remote::RemoteError;
        error.chain().find_map(|cause| Some(RemoteError::of(cause.downcast_ref::<io::Error>()?)?.code()))
    });
    let code = code.or_else(|| {
        Some(match io_kind(error)? {
            io::ErrorKind::NotFound => "not_found",
            io::ErrorKind::PermissionDenied => "permission_denied",
            _ => "io_error",
        })
    });
    let words = message_of(error);
    // What to do about it is a line of its own.
    let message = match words.split_once("\nhint: ") {
        Some((what, advice)) => {
            hint = hint.or_else(|| Some(advice.to_owned()));
            what
        }
        None => words.as_str(),
    };
    if code == Some("remote_redirect") && message.contains("allow_redirects") {
        hint = hint.or_else(|| Some("add --allow-redirects to follow it".to_owned()));
    }
    if code == Some("limit_expansion_ratio") {
        hint =
            hint.or_else(|| Some("add --limit SIZE to decode larger objects, or --trust for trusted files".to_owned()));
    }
    let mut fault = json!({ "code": code.unwrap_or("failed"), "message": message });
    if let Some(position) = position {
        fault["position"] = position.into();
    }
    if let Some(file) = file {
        fault["file"] = file.into();
    }
    if let Some(hint) = hint {
        fault["hint"] = hint.into();
    }
    fault
}
