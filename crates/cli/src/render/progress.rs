//! Progress on a terminal: one line on standard error with rate and time left, gone when the work is done.

use super::middle;
use crate::terminal::Terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A line that shows how far a long job is. Jobs of less than half a second show none, and so do jobs whose standard error
/// is not a terminal, or that were asked for JSON or quiet.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    unit: Unit,
    state: Mutex<State>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    Items(&'static str),
}

struct State {
    started: Instant,
    is_shown: bool,
    total: Option<u64>,
}

impl Progress {
    /// Counts bytes.
    pub(crate) fn bytes() -> Self {
        Self::new(Unit::Bytes)
    }

    /// Counts things, named by a plural such as `messages`.
    #[allow(dead_code, reason = "for commands that count messages or objects")]
    pub(crate) fn items(plural: &'static str) -> Self {
        Self::new(Unit::Items(plural))
    }

    fn new(unit: Unit) -> Self {
        let bar = || ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let state = State { started: Instant::now(), is_shown: false, total: None };
        Self { bar: Terminal::current().progress.then(bar), unit, state: Mutex::new(state) }
    }

    /// Shows how far the job is; `total` is 0 where nobody knows, `what` is what it is busy with. Cheap enough to be called
    /// after every piece, from any thread.
    pub(crate) fn show(&self, done: u64, total: u64, what: &str) {
        let Some(bar) = &self.bar else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.started.elapsed() < DELAY {
            return;
        }
        let total = (total > 0).then_some(total);
        if !state.is_shown || state.total != total {
            bar.set_style(style(self.unit, total.is_some()));
            match total {
                Some(total) => bar.set_length(total),
                None => bar.unset_length(),
            }
            state.total = total;
        }
        bar.set_message(plain(what));
        bar.set_position(done);
        if !state.is_shown {
            state.is_shown = true;
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
    }

    /// Takes the line away, so that something else can be printed.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn style(unit: Unit, has_total: bool) -> ProgressStyle {
    let template = match (unit, has_total) {
        (Unit::Bytes, true) => {
            "[{bar:24}] {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta} left  {msg}"
                .to_owned()
        }
        (Unit::Bytes, false) => "{spinner} {binary_bytes}  {binary_bytes_per_sec}  {elapsed}  {msg}".to_owned(),
        (Unit::Items(plural), true) => {
            format!("[{{bar:24}}] {{percent:>3}} %  {{pos}} of {{len}} {plural}  {{per_sec}}  {{eta}} left  {{msg}}")
        }
        (Unit::Items(plural), false) => format!("{{spinner}} {{pos}} {plural}  {{per_sec}}  {{elapsed}}  {{msg}}"),
    };
    let style = ProgressStyle::with_template(&template).expect("the templates above are well-formed");
    style.progress_chars("#>-").tick_chars("|/-\\ ")
}

/// Names come from files: what a terminal would obey is left out.
fn plain(what: &str) -> String {
    let text: String = what.chars().map(|char| if char.is_control() { '?' } else { char }).collect();
    middle(&text, NAME_COLUMNS)
}

const DELAY: Duration = Duration::from_millis(500);

const NAME_COLUMNS: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_well_formed() {
        for unit in [Unit::Bytes, Unit::Items("messages")] {
            let _ = (style(unit, true), style(unit, false));
        }
    }

    #[test]
    fn names_are_plain_and_short() {
        assert_eq!(plain("a\x1b]0;b\x07\nc"), "a?]0;b??c");
        assert_eq!(plain(&"x".repeat(100)).chars().count(), NAME_COLUMNS);
    }

    #[test]
    fn nothing_is_shown_where_nobody_looks() {
        let progress = Progress::bytes();
        assert!(progress.bar.is_none());
        progress.show(1, 2, "w");
    }
}
