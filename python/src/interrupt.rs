//! Long work: the interpreter is released, signals still arrive, and callers hear how far it is.

use framewright::primitives::interrupt::{stop, stoppable};
use framewright::source::Watch;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Does work without the interpreter. A signal that arrives meanwhile is handled, and stops the work when its handler raises.
///
/// # Errors
/// What the handler of a signal raised.
pub(crate) fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    watched(py, &Raised::default(), work)
}

/// The same with a callable that hears `(done, total)`; what it raises stops the work.
///
/// # Errors
/// What the callable or the handler of a signal raised.
pub(crate) fn reported<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Option<Progress>) -> T + Send,
) -> PyResult<T> {
    let raised = Raised::default();
    let progress = progress.map(|callable| Progress::new(callable.clone().unbind(), raised.clone()));
    let last = progress.clone();
    let done = watched(py, &raised, || work(progress))?;
    match last.map_or(Ok(()), |progress| progress.finish(py)) {
        Ok(()) => Ok(done),
        Err(error) => Err(error),
    }
}

fn watched<T: Send>(py: Python<'_>, raised: &Raised, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let asked = raised.clone();
    let done = py.detach(|| stoppable(move || asked.is_set() || asked.signals(), work));
    match (raised.take(), done) {
        (Some(error), _) => Err(error),
        (None, Ok(done)) => Ok(done),
        (None, Err(_)) => Err(PyKeyboardInterrupt::new_err(())),
    }
}

/// What Python code that ran in the middle of the work raised.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Runs the handlers of signals that have arrived; whether one of them raised.
    fn signals(&self) -> bool {
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                self.set(error);
                true
            }
        }
    }
}

/// A callable that hears how far work is, a few times a second and at the end.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Heard>);

struct Heard {
    callable: Py<PyAny>,
    raised: Raised,
    state: Mutex<State>,
}

struct State {
    told: Instant,
    /// What it was told last, and what it would be told next.
    last: Option<(u64, u64)>,
    next: Option<(u64, u64)>,
}

impl Progress {
    fn new(callable: Py<PyAny>, raised: Raised) -> Self {
        let state = State { told: Instant::now(), last: None, next: None };
        Self(Arc::new(Heard { callable, raised, state: Mutex::new(state) }))
    }

    /// As jobs of the library take it.
    pub(crate) fn watch(progress: Option<Self>) -> Watch {
        progress.map_or_else(Watch::default, |progress| Watch::new(move |done, total| progress.tell(done, total)))
    }

    /// Tells it, unless it was told just now.
    pub(crate) fn tell(&self, done: u64, total: u64) {
        {
            let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.next = Some((done, total));
            if state.last.is_some() && state.told.elapsed() < BETWEEN {
                return;
            }
            state.told = Instant::now();
            state.last = state.next;
        }
        if let Err(error) = Python::attach(|py| self.0.callable.call1(py, (done, total))) {
            self.0.raised.set(error);
            stop();
        }
    }

    /// Tells it the last state, when it has not heard it yet.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let next = {
            let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
            let next = state.next.filter(|next| state.last != Some(*next));
            state.last = state.next;
            next
        };
        match next {
            Some((done, total)) => self.0.callable.call1(py, (done, total)).map(drop),
            None => Ok(()),
        }
    }
}

/// Time between two calls.
const BETWEEN: Duration = Duration::from_millis(50);
