//! What the output may look like: width, colour, progress and words beside the result.
//!
//! [`run`](crate::run) settles it once per command line, from the options, the environment and the kind of the streams. It
//! is state of the thread, so that two callers of the library do not disturb each other.

use crate::args::{Colour, Look};
use std::cell::{Cell, RefCell};
use std::io::IsTerminal;

/// How one command line talks to its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Columns that tables may take; `None` where nothing limits them.
    pub(crate) width: Option<usize>,
    /// Whether results are coloured.
    pub(crate) colour: bool,
    /// Whether words on standard error are coloured.
    pub(crate) error_colour: bool,
    /// Whether long work shows how far it is.
    pub(crate) progress: bool,
    /// Whether results go to a file, where they do not mix with what is on the terminal.
    pub(crate) output_is_file: bool,
    /// Whether only errors are told beside the result.
    pub(crate) quiet: bool,
}

impl Terminal {
    /// What the options and the surroundings ask for.
    pub(crate) fn settle(look: &Look, json: bool) -> Self {
        let streams = Streams::now();
        Self::of(look, json, &streams)
    }

    fn of(look: &Look, json: bool, streams: &Streams) -> Self {
        let coloured = |is_terminal: bool| match look.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => is_terminal && !streams.no_color && !streams.dumb,
        };
        Self {
            width: streams.columns.or(streams.terminal_width),
            colour: coloured(streams.out) && !json,
            error_colour: coloured(streams.err),
            progress: streams.err && !streams.dumb && !look.quiet && !json,
            output_is_file: streams.out_is_file,
            quiet: look.quiet,
        }
    }

    /// Makes this the way that this thread talks.
    pub(crate) fn enter(self) {
        CURRENT.set(self);
    }

    /// How this thread talks.
    pub(crate) fn current() -> Self {
        CURRENT.get()
    }
}

/// The streams and the variables that matter.
#[derive(Debug, Default)]
struct Streams {
    out: bool,
    out_is_file: bool,
    err: bool,
    no_color: bool,
    dumb: bool,
    columns: Option<usize>,
    terminal_width: Option<usize>,
}

impl Streams {
    fn now() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            out: std::io::stdout().is_terminal(),
            out_is_file: is_file(),
            err: std::io::stderr().is_terminal(),
            no_color: set("NO_COLOR").is_some(),
            dumb: set("TERM").is_some_and(|term| term == "dumb"),
            columns: set("COLUMNS").and_then(|text| text.to_str()?.parse().ok()).filter(|columns| *columns > 0),
            // A pipe has no width: names that a program will read are never shortened.
            terminal_width: terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into()),
        }
    }
}

/// Whether standard output is a file.
#[cfg(unix)]
fn is_file() -> bool {
    rustix::fs::fstat(std::io::stdout()).is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_file())
}

#[cfg(not(unix))]
fn is_file() -> bool {
    false
}

/// What a thread printed while it was being caught.
#[derive(Debug, Default)]
pub(crate) struct Caught {
    /// Results, as they would be on standard output.
    pub(crate) results: Vec<u8>,
    /// Results and words together, in the order in which they were printed.
    pub(crate) all: String,
    /// What went wrong, in the form of `--json`.
    pub(crate) fault: Option<serde_json::Value>,
}

/// Runs `work` and returns its result with everything that this thread printed meanwhile.
pub(crate) fn catching<R>(look: Terminal, work: impl FnOnce() -> R) -> (R, Caught) {
    let _before = Restored { look: Terminal::current(), caught: CAUGHT.replace(Some(Caught::default())) };
    look.enter();
    let result = work();
    (result, CAUGHT.take().unwrap_or_default())
}

/// Puts back how the thread talked before, also when the work is stopped.
struct Restored {
    look: Terminal,
    caught: Option<Caught>,
}

impl Drop for Restored {
    fn drop(&mut self) {
        self.look.enter();
        CAUGHT.set(self.caught.take());
    }
}

/// Keeps a result where printing is being caught, and tells whether it is.
pub(crate) fn caught_result(bytes: &[u8]) -> bool {
    with_caught(|caught| {
        caught.results.extend_from_slice(bytes);
        caught.all.push_str(&String::from_utf8_lossy(bytes));
    })
}

/// The same for words beside the result.
pub(crate) fn caught_words(text: &str) -> bool {
    with_caught(|caught| caught.all.push_str(text))
}

/// The same for what went wrong.
pub(crate) fn caught_fault(fault: &serde_json::Value) -> bool {
    with_caught(|caught| caught.fault = Some(fault.clone()))
}

fn with_caught(keep: impl FnOnce(&mut Caught)) -> bool {
    CAUGHT.with_borrow_mut(|caught| caught.as_mut().map(keep).is_some())
}

thread_local! {
    static CAUGHT: RefCell<Option<Caught>> = const { RefCell::new(None) };
    static CURRENT: Cell<Terminal> = const {
        Cell::new(Terminal {
            width: None,
            colour: false,
            error_colour: false,
            progress: false,
            output_is_file: false,
            quiet: false,
        })
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(color: Colour, streams: &Streams) -> Terminal {
        Terminal::of(&Look { color, ..Look::default() }, false, streams)
    }

    #[test]
    fn colour_only_where_somebody_sees_it() {
        let terminal = Streams { out: true, err: true, terminal_width: Some(132), ..Streams::default() };
        let pipe = Streams::default();
        let no_color = Streams { no_color: true, out: true, err: true, ..Streams::default() };
        let dumb = Streams { dumb: true, out: true, err: true, ..Streams::default() };
        let found = |color, streams: &Streams| (of(color, streams).colour, of(color, streams).error_colour);
        assert_eq!(found(Colour::Auto, &terminal), (true, true));
        for quiet in [&pipe, &no_color, &dumb] {
            assert_eq!(found(Colour::Auto, quiet), (false, false), "{quiet:?}");
            assert_eq!(found(Colour::Always, quiet), (true, true), "{quiet:?}");
        }
        assert_eq!(found(Colour::Never, &terminal), (false, false));
        let json = Terminal::of(&Look { color: Colour::Always, ..Look::default() }, true, &terminal);
        assert!(!json.colour && !json.progress, "JSON is for programs");
    }

    #[test]
    fn the_width_is_that_of_the_terminal_unless_somebody_says_otherwise() {
        let terminal = Streams { out: true, terminal_width: Some(132), ..Streams::default() };
        assert_eq!(of(Colour::Auto, &terminal).width, Some(132));
        assert_eq!(of(Colour::Auto, &Streams { columns: Some(80), ..terminal }).width, Some(80));
        assert_eq!(of(Colour::Auto, &Streams::default()).width, None);
    }

    #[test]
    fn progress_needs_eyes() {
        let terminal = Streams { err: true, ..Streams::default() };
        assert!(of(Colour::Auto, &terminal).progress);
        assert!(!of(Colour::Auto, &Streams::default()).progress);
        assert!(!Terminal::of(&Look { quiet: true, ..Look::default() }, false, &terminal).progress);
    }
}
