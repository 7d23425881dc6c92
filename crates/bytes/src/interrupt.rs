//! Long work that can be stopped from outside, without an error path through every function.
//!
//! [`stoppable`] runs work and, about twenty times a second, asks its caller whether to go on. Loops over pieces of data call
//! [`check`], which costs a few nanoseconds where nothing is being watched; when the answer is to stop, `check` unwinds to
//! `stoppable`. Everything on the way is dropped as after an error, so temporary files go and locks open. Work on other threads
//! takes part when it runs in [`Watch::enter`].
//!
//! ```
//! use fw_bytes::interrupt::{Interrupted, check, stoppable};
//! use std::time::{Duration, Instant};
//!
//! let begun = Instant::now();
//! let endless = || loop {
//!     check();
//! };
//! let stopped: Result<(), Interrupted> = stoppable(move || begun.elapsed() > Duration::from_millis(120), endless);
//! assert!(stopped.is_err());
//! assert_eq!(stoppable(|| false, || 7), Ok(7));
//! ```

use core::cell::RefCell;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The work was stopped by the one who asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// How long work goes on between two questions.
pub const PAUSE: Duration = Duration::from_millis(50);

/// Runs `work`, and stops it at its next [`check`] after `stop` returned true. `stop` is asked on the calling thread only, at most
/// once per [`PAUSE`].
///
/// Calls may be nested: the inner one is watched by its own question.
///
/// # Errors
/// [`Interrupted`] when the work was stopped. Other panics of the work go on.
pub fn stoppable<R>(stop: impl FnMut() -> bool + 'static, work: impl FnOnce() -> R) -> Result<R, Interrupted> {
    let watch = Watch { stopped: Arc::new(AtomicBool::new(false)) };
    let asked = Asking { stop: Box::new(stop), last: Instant::now() };
    let before = CURRENT.replace(Some(Watched { watch, asking: Some(asked) }));
    // What the work was busy with is dropped by the unwinding and never looked at again.
    let done = catch_unwind(AssertUnwindSafe(work));
    CURRENT.set(before);
    done.map_err(|panic| match panic.downcast::<Interrupted>() {
        Ok(interrupted) => *interrupted,
        Err(other) => resume_unwind(other),
    })
}

/// Unwinds to [`stoppable`] when the work was asked to stop; otherwise, and where nothing is watched, does nothing.
///
/// To be called once per piece of work of between a microsecond and a few milliseconds.
pub fn check() {
    // The state is free while the question is asked: asking may itself do work that checks.
    let asking = CURRENT.with_borrow_mut(|current| {
        let Some(watched) = current else { return Next::GoOn };
        if watched.watch.stopped.load(Ordering::Relaxed) {
            return Next::Stop;
        }
        match &mut watched.asking {
            Some(asking) if asking.last.elapsed() >= PAUSE => watched.asking.take().map_or(Next::GoOn, Next::Ask),
            _ => Next::GoOn,
        }
    });
    match asking {
        Next::GoOn => {}
        Next::Stop => throw(),
        Next::Ask(mut asking) => {
            let stop = (asking.stop)();
            asking.last = Instant::now();
            CURRENT.with_borrow_mut(|current| {
                if let Some(watched) = current {
                    if stop {
                        watched.watch.stopped.store(true, Ordering::Relaxed);
                    }
                    watched.asking = Some(asking);
                }
            });
            if stop {
                throw();
            }
        }
    }
}

/// Asks the work of this thread to stop, and that of every thread that takes part in it: the next [`check`] of each unwinds. For
/// callers in the middle of the work, who hear how far it is.
///
/// ```
/// use fw_bytes::interrupt::{Interrupted, check, stop, stoppable};
///
/// let work = || {
///     stop();
///     check();
/// };
/// assert_eq!(stoppable(|| false, work), Err(Interrupted));
/// ```
pub fn stop() {
    CURRENT.with_borrow(|current| {
        if let Some(watched) = current {
            watched.watch.stopped.store(true, Ordering::Relaxed);
        }
    });
}

/// Whether the work of this thread is being watched: waiting should then be done in steps of [`PAUSE`] with a [`check`] between.
pub fn is_watched() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// The watch over the work of one thread, to be carried to the threads that it starts.
#[derive(Clone, Debug)]
pub struct Watch {
    stopped: Arc<AtomicBool>,
}

impl Watch {
    /// The watch over this thread, if any.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(|current| current.as_ref().map(|watched| watched.watch.clone()))
    }

    /// Runs `work` on this thread under a watch of another one, and unwinds when that one is stopped: join the thread, or let
    /// its scope end.
    pub fn enter<R>(watch: Option<Self>, work: impl FnOnce() -> R) -> R {
        let before = CURRENT.replace(watch.map(|watch| Watched { watch, asking: None }));
        let done = catch_unwind(AssertUnwindSafe(work));
        CURRENT.set(before);
        done.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

enum Next {
    GoOn,
    Stop,
    Ask(Asking),
}

struct Watched {
    watch: Watch,
    /// Set on the thread that asks, taken while it does.
    asking: Option<Asking>,
}

struct Asking {
    stop: Box<dyn FnMut() -> bool>,
    last: Instant,
}

/// Not a panic: nothing is printed, and only `stoppable` catches it.
fn throw() -> ! {
    resume_unwind(Box::new(Interrupted))
}

std::thread_local! {
    static CURRENT: RefCell<Option<Watched>> = const { RefCell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn nothing_is_asked_of_short_work() {
        assert_eq!(stoppable(|| unreachable!("asked"), check), Ok(()));
        assert!(!is_watched());
        check();
    }

    #[test]
    fn work_on_other_threads_stops_too() {
        let begun = Instant::now();
        let stopped = stoppable(
            || true,
            || {
                let watch = Watch::current();
                std::thread::scope(|scope| {
                    let _others: Vec<_> = (0..3)
                        .map(|_| {
                            let watch = watch.clone();
                            scope.spawn(|| {
                                Watch::enter(watch, || {
                                    loop {
                                        check();
                                        std::thread::yield_now();
                                    }
                                })
                            })
                        })
                        .collect();
                    loop {
                        check();
                    }
                });
            },
        );
        assert_eq!(stopped, Err(Interrupted));
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert!(!is_watched());
    }

    #[test]
    fn other_panics_go_on_and_leave_nothing_behind() {
        let caught = catch_unwind(|| stoppable(|| false, || resume_unwind(Box::new(7u8))));
        assert_eq!(caught.unwrap_err().downcast_ref::<u8>(), Some(&7));
        assert!(!is_watched());
    }

    #[test]
    fn what_was_held_is_dropped() {
        struct Held(Arc<AtomicBool>);
        impl Drop for Held {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let dropped = Arc::new(AtomicBool::new(false));
        let held = Held(Arc::clone(&dropped));
        let stopped: Result<(), _> = stoppable(
            || true,
            move || {
                let _held = held;
                loop {
                    check();
                }
            },
        );
        assert_eq!((stopped, dropped.load(Ordering::Relaxed)), (Err(Interrupted), true));
    }
}
