//! Progress on a terminal: one line on standard error with rate and time left, gone when the work is done.

use super::middle;
use crate::terminal::Terminal;
use framewright::source::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A line that shows how far a long job is. Jobs of less than half a second show none, and so do jobs whose standard error
/// is not a terminal, or that were asked for JSON or quiet.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    /// Who else wants to know.
    listener: Option<Listener>,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    is_shown: bool,
    total: Option<u64>,
    /// Bytes of all parts.
    done: u64,
}

impl Progress {
    /// Counts bytes.
    pub(crate) fn bytes() -> Self {
        let bar = || ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let state = State { started: Instant::now(), is_shown: false, total: None, done: 0 };
        let listener = LISTENER.with_borrow(Clone::clone);
        Self { bar: Terminal::current().progress.then(bar), listener, state: Mutex::new(state) }
    }

    /// Lets a library show how far it is; `what` is what it is busy with.
    pub(crate) fn watch(self: &Arc<Self>, what: &str) -> Watch {
        self.watched(what, |progress, what, done, total| progress.show(done, total, what))
    }

    /// The same for one of several parts, which have `total` bytes together.
    pub(crate) fn part(self: &Arc<Self>, what: &str, total: u64) -> Watch {
        let seen = AtomicU64::new(0);
        self.watched(what, move |progress, what, done, _| {
            let more = done.saturating_sub(seen.swap(done, Ordering::Relaxed));
            let done = {
                let mut state = progress.state();
                state.done = state.done.saturating_add(more);
                state.done
            };
            progress.show(done, total, what);
        })
    }

    fn watched(self: &Arc<Self>, what: &str, show: impl Fn(&Self, &str, u64, u64) + Send + Sync + 'static) -> Watch {
        if self.bar.is_none() && self.listener.is_none() {
            return Watch::default();
        }
        let (progress, what) = (Arc::clone(self), what.to_owned());
        Watch::new(move |done, total| show(&progress, &what, done, total))
    }

    /// Shows how far the job is; `total` is 0 where it is not known, `what` is what it is busy with. Cheap enough to be called
    /// after every piece, from any thread.
    pub(crate) fn show(&self, done: u64, total: u64, what: &str) {
        if let Some(listener) = &self.listener {
            listener(done, total);
        }
        let Some(bar) = &self.bar else { return };
        let mut state = self.state();
        if state.started.elapsed() < DELAY {
            return;
        }
        let total = (total > 0).then_some(total);
        if !state.is_shown || state.total != total {
            bar.set_style(style(total.is_some()));
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

    /// Prints something while the line is not there.
    pub(crate) fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the line away, so that something else can be printed.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Hears how far long work is: what is done and the total, which is 0 where nobody knows it.
pub(crate) type Listener = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Runs `work`, with `listener` told of the progress of what this thread begins.
pub(crate) fn heard<R>(listener: Option<Listener>, work: impl FnOnce() -> R) -> R {
    struct Restored(Option<Listener>);
    impl Drop for Restored {
        fn drop(&mut self) {
            LISTENER.set(self.0.take());
        }
    }
    let _before = Restored(LISTENER.replace(listener));
    work()
}

thread_local! {
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn style(has_total: bool) -> ProgressStyle {
    let template = match has_total {
        true => {
            "[{bar:24}] {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta} left  {msg}"
        }
        false => "{spinner} {binary_bytes}  {binary_bytes_per_sec}  {elapsed}  {msg}",
    };
    let style = ProgressStyle::with_template(template).expect("the templates above are well-formed");
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
        let _ = (style(true), style(false));
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
