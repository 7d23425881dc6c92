//! Awaitables of Python for work of Rust.
//!
//! The work runs on the runtime of `fw-source`; its result is handed to the event loop by a thread that may wait for the
//! interpreter. A thread that needs the interpreter while that ends brings the process down, so the interpreter waits, before it
//! ends, until every result is handed over and its thread has let go.

use framewright::source::nonblocking::{handle, off_runtime};
use futures_util::FutureExt;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyTuple};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// An awaitable of `work`; cancelling it ends the work where that next waits.
///
/// # Errors
/// When no event loop is running.
pub(crate) fn awaitable<'py, R>(
    py: Python<'py>,
    work: impl Future<Output = PyResult<R>> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>>
where
    R: for<'a> IntoPyObject<'a> + Send + 'static,
{
    settle_at_exit(py)?;
    let event_loop = py.import("asyncio")?.call_method0("get_running_loop")?;
    let future = event_loop.call_method0("create_future")?;
    let (flight, target) = (Flight::begin(), (event_loop.unbind(), future.clone().unbind()));
    let task = handle().spawn(async move {
        let panicked =
            |_| Err(PyRuntimeError::new_err("internal error: please report it with the message on standard error"));
        let done = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(panicked);
        // Dropped last: when it is gone, the thread is through with the interpreter.
        let handed = off_runtime(move || {
            Python::attach(|py| hand_over(py, target, done));
            drop(flight);
            std::io::Result::Ok(())
        });
        drop(handed.await);
    });
    let stop = task.abort_handle();
    let on_done = PyCFunction::new_closure(py, None, None, move |arguments: &Bound<'_, PyTuple>, _| -> PyResult<()> {
        if arguments.get_item(0)?.call_method0("cancelled")?.is_truthy()? {
            stop.abort();
        }
        Ok(())
    })?;
    future.call_method1("add_done_callback", (on_done,))?;
    Ok(future)
}

/// Gives a result to the future, by its event loop.
fn hand_over<R>(py: Python<'_>, (event_loop, future): (Py<PyAny>, Py<PyAny>), done: PyResult<R>)
where
    R: for<'a> IntoPyObject<'a>,
{
    let (method, value) = match done.and_then(|value| value.into_py_any(py)) {
        Ok(value) => ("set_result", value),
        Err(error) => ("set_exception", error.into_value(py).into_any()),
    };
    // A loop that was closed meanwhile has nobody to tell.
    let _ = settle(py)
        .and_then(|settle| event_loop.bind(py).call_method1("call_soon_threadsafe", (settle, &future, method, value)));
}

/// A function that sets the future, unless it was cancelled meanwhile.
fn settle(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static SETTLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = SETTLE.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
        let set = |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, pyo3::types::PyDict>>| -> PyResult<()> {
            let (future, method, value): (Bound<'_, PyAny>, String, Bound<'_, PyAny>) = arguments.extract()?;
            if !future.call_method0("done")?.is_truthy()? {
                future.call_method1(method.as_str(), (value,))?;
            }
            Ok(())
        };
        Ok(PyCFunction::new_closure(py, None, None, set)?.into_any().unbind())
    })?;
    Ok(made.bind(py))
}

/// Work whose result is not handed over yet.
struct Flight;

static IN_FLIGHT: AtomicUsize = AtomicUsize::new(0);

impl Flight {
    fn begin() -> Self {
        IN_FLIGHT.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        IN_FLIGHT.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Makes the interpreter wait before it ends.
fn settle_at_exit(py: Python<'_>) -> PyResult<()> {
    static REGISTERED: PyOnceLock<()> = PyOnceLock::new();
    REGISTERED.get_or_try_init(py, || {
        let wait = |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, pyo3::types::PyDict>>| {
            arguments.py().detach(|| {
                let begun = Instant::now();
                while IN_FLIGHT.load(Ordering::SeqCst) > 0 && begun.elapsed() < LONGEST {
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        };
        let wait = PyCFunction::new_closure(py, None, None, wait)?;
        py.import("atexit")?.call_method1("register", (wait,)).map(drop)
    })?;
    Ok(())
}

/// Work that itself waits for others, a server for example, is not waited for.
const LONGEST: Duration = Duration::from_secs(1);
