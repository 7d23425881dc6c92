//! Progress on a terminal: one line on standard error with rate and time left, gone when the work is done.

use super::middle;
use crate::terminal::Terminal;
use framewright::source::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A line that shows how far a long job is: at least that it goes on, and what it is busy with. Jobs of less than half a second
/// show none, and so do jobs whose standard error is not a terminal, or that were asked for JSON or quiet.
///
/// A command has one line: progress that is begun while there is one continues it.
pub(crate) struct Progress {
    line: Option<Arc<Line>>,
    /// Whether the line goes when this goes.
    is_owner: bool,
    /// Bytes of all parts.
    done: AtomicU64,
    /// Who else wants to know.
    listener: Option<Listener>,
}

/// The line on the terminal.
struct Line {
    bar: ProgressBar,
    state: Mutex<State>,
    /// Told when the work is over.
    over: Condvar,
}

struct State {
    started: Instant,
    is_shown: bool,
    is_over: bool,
    template: &'static str,
    total: Option<u64>,
}

impl Progress {
    /// Counts bytes.
    pub(crate) fn bytes() -> Self {
        Self::begun(Terminal::current().progress, "")
    }

    /// Counts bytes; `what` is what the command is busy with until it knows more.
    pub(crate) fn of(what: &str) -> Self {
        Self::begun(Terminal::current().progress, what)
    }

    /// The same for a command that writes elements or text to standard output as it goes: nothing is shown where both would
    /// mix on a terminal.
    pub(crate) fn of_output(what: &str) -> Self {
        let terminal = Terminal::current();
        Self::begun(terminal.progress && terminal.output_is_file, what)
    }

    fn begun(is_wanted: bool, what: &str) -> Self {
        let listener = LISTENER.with_borrow(Clone::clone);
        if !is_wanted {
            return Self { line: None, is_owner: false, done: AtomicU64::new(0), listener };
        }
        let running = LINE.with_borrow(Clone::clone).filter(|line| !line.state().is_over);
        let is_owner = running.is_none();
        let line = running.unwrap_or_else(|| {
            let line = Line::begun(what);
            LINE.set(Some(Arc::clone(&line)));
            line
        });
        if !what.is_empty() {
            line.bar.set_message(plain(what));
        }
        Self { line: Some(line), is_owner, done: AtomicU64::new(0), listener }
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
            let done = progress.done.fetch_add(more, Ordering::Relaxed).saturating_add(more);
            progress.show(done, total, what);
        })
    }

    fn watched(self: &Arc<Self>, what: &str, show: impl Fn(&Self, &str, u64, u64) + Send + Sync + 'static) -> Watch {
        if self.line.is_none() && self.listener.is_none() {
            return Watch::default();
        }
        let (progress, what) = (Arc::clone(self), what.to_owned());
        Watch::new(move |done, total| show(&progress, &what, done, total))
    }

    /// Shows how far the job is; `total` is 0 where it is not known, `what` is what it is busy with. Cheap enough to be called
    /// after every piece, from any thread.
    pub(crate) fn show(&self, done: u64, total: u64, what: &str) {
        self.hear(done, total);
        if let Some(line) = &self.line {
            let total = (total > 0).then_some(total);
            line.show(if total.is_some() { MEASURED } else { UNMEASURED }, done, total, what);
        }
    }

    /// The same for work that is counted in other things than bytes.
    pub(crate) fn show_items(&self, done: u64, total: u64, what: &str) {
        self.hear(done, total);
        if let Some(line) = &self.line {
            line.show(COUNTED, done, Some(total), what);
        }
    }

    fn hear(&self, done: u64, total: u64) {
        if let Some(listener) = &self.listener {
            listener(done, total);
        }
    }

    /// Takes the line away for good.
    pub(crate) fn clear(&self) {
        if let Some(line) = &self.line {
            line.end();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_owner {
            self.clear();
        }
    }
}

impl Line {
    fn begun(what: &str) -> Arc<Self> {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_message(plain(what));
        let state = State { started: Instant::now(), is_shown: false, is_over: false, template: BUSY, total: None };
        let line = Arc::new(Self { bar, state: Mutex::new(state), over: Condvar::new() });
        let waiting = Arc::clone(&line);
        // Work that cannot tell how far it is shows at least that it goes on. Without the thread nothing but that is missing.
        let _ = std::thread::Builder::new().spawn(move || waiting.wait());
        line
    }

    fn wait(&self) {
        let goes_on = |state: &mut State| !state.is_over && !state.is_shown;
        let waited = self.over.wait_timeout_while(self.state(), DELAY, goes_on);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if goes_on(&mut state) {
            self.bar.set_style(style(BUSY));
            self.appear(&mut state);
        }
    }

    fn appear(&self, state: &mut State) {
        state.is_shown = true;
        self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        self.bar.enable_steady_tick(TICK);
    }

    fn show(&self, template: &'static str, done: u64, total: Option<u64>, what: &str) {
        let mut state = self.state();
        if state.is_over || state.started.elapsed() < DELAY {
            return;
        }
        if state.template != template {
            state.template = template;
            self.bar.set_style(style(template));
        }
        if state.total != total {
            state.total = total;
            match total {
                Some(total) => self.bar.set_length(total),
                None => self.bar.unset_length(),
            }
        }
        self.bar.set_message(plain(what));
        self.bar.set_position(done);
        if !state.is_shown {
            self.appear(&mut state);
        }
    }

    fn end(self: &Arc<Self>) {
        self.state().is_over = true;
        self.over.notify_all();
        self.bar.finish_and_clear();
        LINE.with_borrow_mut(|line| line.take_if(|line| Arc::ptr_eq(line, self)));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints something while no line of progress is there.
pub(crate) fn beside<R>(print: impl FnOnce() -> R) -> R {
    match LINE.with_borrow(Clone::clone) {
        Some(line) => line.bar.suspend(print),
        None => print(),
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
    static LINE: RefCell<Option<Arc<Line>>> = const { RefCell::new(None) };
}

/// Work of known size.
const MEASURED: &str =
    "[{bar:24}] {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta} left  {msg}";
/// Work that ends some time.
const UNMEASURED: &str = "{spinner} {binary_bytes}  {binary_bytes_per_sec}  {elapsed}  {msg}";
/// Work on a known number of things.
const COUNTED: &str = "[{bar:24}] {percent:>3} %  {pos} of {len}  {eta} left  {msg}";
/// Work that says nothing about itself.
const BUSY: &str = "{spinner} {elapsed}  {msg}";

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the templates above are well-formed");
    style.progress_chars("#>-").tick_chars("|/-\\ ")
}

/// Names come from files: what a terminal would obey is left out.
fn plain(what: &str) -> String {
    let text: String = what.chars().map(|char| if char.is_control() { '?' } else { char }).collect();
    middle(&text, NAME_COLUMNS)
}

const DELAY: Duration = Duration::from_millis(500);

const TICK: Duration = Duration::from_millis(100);

const NAME_COLUMNS: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_well_formed() {
        let _ = [MEASURED, UNMEASURED, COUNTED, BUSY].map(style);
    }

    #[test]
    fn names_are_plain_and_short() {
        assert_eq!(plain("a\x1b]0;b\x07\nc"), "a?]0;b??c");
        assert_eq!(plain(&"x".repeat(100)).chars().count(), NAME_COLUMNS);
    }

    #[test]
    fn nothing_is_shown_where_nobody_looks() {
        let progress = Progress::bytes();
        assert!(progress.line.is_none());
        progress.show(1, 2, "w");
    }
}
