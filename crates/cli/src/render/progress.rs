//! Progress on a terminal: one line on standard error, gone when the work is done.

use super::size;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A line that shows how far a long job has come. Quick jobs show none.
pub(crate) struct Bar {
    state: Option<Mutex<State>>,
}

struct State {
    started: Instant,
    shown: Option<Instant>,
}

impl Bar {
    /// On a terminal; anywhere else nothing is shown.
    pub(crate) fn on_terminal() -> Self {
        let state = State { started: Instant::now(), shown: None };
        Self { state: std::io::stderr().is_terminal().then_some(Mutex::new(state)) }
    }

    /// Nothing, ever.
    pub(crate) const fn silent() -> Self {
        Self { state: None }
    }

    /// Shows how far things are, at most ten times a second and not in the first half second.
    pub(crate) fn show(&self, done: u64, total: u64, what: &str) {
        let Some(state) = &self.state else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = state.shown.is_some_and(|shown| shown.elapsed() < Duration::from_millis(100));
        if recent || state.started.elapsed() < Duration::from_millis(500) {
            return;
        }
        state.shown = Some(Instant::now());
        let _ = write!(std::io::stderr(), "\r\x1b[2K{}", line(done, total, what));
        let _ = std::io::stderr().flush();
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        let Some(state) = &self.state else { return };
        if state.lock().unwrap_or_else(PoisonError::into_inner).shown.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

fn line(done: u64, total: u64, what: &str) -> String {
    let part = if total == 0 { 1.0 } else { (done as f64 / total as f64).min(1.0) };
    let full = (part * WIDTH as f64) as usize;
    let name: String = what.chars().take(30).collect();
    let bar = format!("{}{}", "#".repeat(full), "-".repeat(WIDTH.saturating_sub(full)));
    format!("[{bar}] {:3.0} %  {} of {}  {name}", part * 100.0, size(done), size(total)).trim_end().to_owned()
}

const WIDTH: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_a_terminal() {
        assert_eq!(line(0, 4096, "w"), "[------------------------]   0 %  0 B of 4.00 KiB  w");
        assert_eq!(line(4096, 4096, ""), "[########################] 100 %  4.00 KiB of 4.00 KiB");
        assert_eq!(line(1, 0, ""), "[########################] 100 %  1 B of 0 B");
        assert!(line(u64::MAX, u64::MAX, &"x".repeat(500)).chars().count() <= 96);
    }
}
